"""Step constraints: the clock and the environment of a design, for the synthesis of others."""

from ...netlist import yosys
from ..common import Clocked
from ..step import File, Job, Step, Tool


class Constraints(Step[Clocked]):
    """The constraints of the design for another tool, with the kit's driving cell and load.

    Ports have their names, as Design Compiler, Innovus and OpenSTA list ports in different ways.
    """

    name = "constraints"
    in_order = False
    params = Clocked
    reads = ("adk", "design.sv", "design.json")
    writes = (File("constraints.tcl", "the constraints"),)
    tool = Tool("Yosys", yosys.version)

    def run(self, job: Job[Clocked]) -> None:
        """Write the outputs."""
        from ...files import replace_text
        from ...kit import kit
        from ...synth import elaborate

        library = kit.find(job.adk).library
        asked = library.constraints(job.params.clock_period, job.design.clock_port)
        inputs = elaborate.inputs(job["design.sv"], job.design.top, job.out)
        replace_text(job.out / "constraints.tcl", asked.named_sdc(inputs))
