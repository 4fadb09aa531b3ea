"""Steps gate-sim and gate-sim-post: simulation of the netlist before and after layout."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ... import metric, product
from ...metric import Value
from .. import tools
from ..common import Cornered, values_of_simulation
from ..step import File, Job, Step, Tool, param


@dataclass(frozen=True)
class Parameters(Cornered):
    """The modes of simulation."""

    glitches: bool = param(True, "simulate activity with delays as well")


class GateSim(Step[Parameters]):
    """The same test cases on the netlist; switching activity in three modes."""

    name = "gate-sim"
    params = Parameters
    reads: ClassVar[tuple[str, ...]] = ("adk", "design.json", "workload.json", "netlist.json")
    writes = (
        File("gate_sim.json", "tests that passed and failed on the netlist; cycles"),
        File("activity", "activity of every net during the energy workload"),
    )
    tool = Tool("Verilator", tools.verilator)
    metrics = (metric.CYCLES,)
    netlist = metric.SIZED
    judged_by = "timing"

    def run(self, job: Job[Parameters]) -> None:
        """Write the outputs."""
        from ...gates.activity import gate_sim
        from ...kit import kit

        gate_sim(
            job["netlist.json"],
            job.design,
            job["workload.json"],
            job.out,
            clock_ns=job.params.clock_period,
            timed=job.params.glitches,
            wires=job.inputs.get("wires.json"),
            adk=job.adk,
            corner=job.params.corner or kit.TYPICAL,
        )

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """The cycles of each operation."""
        return values_of_simulation(outputs["gate_sim.json"])

    def fault(self, outputs: Mapping[str, Path]) -> str:
        """The tests that fail."""
        from ...workload import Simulated

        return product.read(outputs["gate_sim.json"], Simulated).fault


class GateSimPost(GateSim):
    """Test cases and activity on the placed netlist, with the delays of its wires."""

    name = "gate-sim-post"
    reads = (*GateSim.reads, "wires.json")
    writes = (
        File("gate_sim.json", "tests that passed and failed on the placed netlist; cycles"),
        File("activity", "activity of every net of the placed netlist during the energy workload"),
    )
    names: ClassVar[Mapping[str, str]] = {
        "netlist.json": "netlist_placed.json",
        "gate_sim.json": "gate_sim_post.json",
        "activity": "activity_post",
    }
    netlist = metric.PLACED
    judged_by = "timing-post"
