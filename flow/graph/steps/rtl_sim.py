"""Step rtl-sim: simulation of the design."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ... import metric, product
from ...metric import Value
from .. import tools
from ..common import values_of_simulation
from ..step import File, Job, Params, Step, Tool


class RtlSim(Step[Params]):
    """The test cases and the workload, simulated on the RTL."""

    name = "rtl-sim"
    reads = ("design.sv", "design.json", "workload.json")
    writes = (File("rtl_sim.json", "tests that passed and failed on the design; cycles"),)
    tool = Tool("Verilator", tools.verilator)
    metrics = (metric.CYCLES,)
    netlist = metric.RTL

    def run(self, job: Job[Params]) -> None:
        """Write the outputs."""
        from ...workload import simulate_rtl

        simulate_rtl(job["design.sv"], job.design, job["workload.json"], job.out)

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """The cycles of each operation."""
        return values_of_simulation(outputs["rtl_sim.json"])

    def fault(self, outputs: Mapping[str, Path]) -> str:
        """The tests that fail."""
        from ...workload import Simulated

        return product.read(outputs["rtl_sim.json"], Simulated).fault
