"""Step elaborate: the design as plain Verilog for the tools of others."""

from ...netlist import yosys
from ..step import File, Job, Params, Step, Tool


class Elaborate(Step[Params]):
    """The elaborated design as Verilog, without parameters, SystemVerilog and system functions."""

    name = "elaborate"
    in_order = False
    reads = ("design.sv", "design.json")
    writes = (
        File("design.v", "the elaborated design as Verilog"),
        File("elaborated.json", "the elaborated design, in Yosys' JSON"),
    )
    tool = Tool("Yosys", yosys.version)

    def run(self, job: Job[Params]) -> None:
        """Write the outputs."""
        from ...synth.elaborate import elaborate

        elaborate(job["design.sv"], job.design.top, job.out)
