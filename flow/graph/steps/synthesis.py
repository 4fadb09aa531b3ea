"""Step synthesis: from Verilog to a mapped netlist."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from ... import metric
from ...metric import Value
from ...netlist import yosys
from ..common import FLAGS, OF_AREA, STYLE, Cornered, Styled, values_of_area
from ..step import File, Job, Step, Tool, param


@dataclass(frozen=True)
class Parameters(Styled, Cornered):
    """The style and its options. Only the style `optimised` has goal, adders and leave_out."""

    booth: str = param(STYLE, "Booth multipliers; `style`: the default of the style, True", choices=FLAGS)
    clock_gating: str = param(STYLE, "clock gates; `style`: the default of the style, True", choices=FLAGS)
    hierarchy: str = param(
        STYLE, "map each module separately; `style`: the default of the style, False", choices=FLAGS
    )
    goal: str = param(
        STYLE,
        "of the style optimised: `clock`, `area` (smaller, if there is slack) or `fast` (larger, for clocks "
        "that `clock` misses)",
        choices=(STYLE, "clock", "area", "fast"),
    )
    adders: str = param(STYLE, "of the style optimised: the kind of adder")
    leave_out: str = param(
        STYLE,
        "of the style optimised: passes that do not run, separated by commas, such as `sharing,carry-save`",
    )

    @property
    def options(self) -> dict[str, str | bool]:
        """The options that are not left to the style."""
        given = {name: value for name, value in asdict(self).items() if name in OPTIONS and value != STYLE}
        return {name: value == "True" if value in FLAGS else value for name, value in given.items()}


OPTIONS = ("booth", "clock_gating", "hierarchy", "goal", "adders", "leave_out")


class Synthesis(Step[Parameters]):
    """A flat netlist; the module that each cell comes from; the folder `script`, with which Yosys gives the
    same netlist by hand.
    """

    name = "synthesis"
    params = Parameters
    reads = ("adk", "design.sv", "design.json")
    writes = (
        File("netlist.json", "the netlist of library cells before sizing, in Yosys' JSON"),
        File("hierarchy.json", "the module of each of its cells"),
        File("area.json", "its area by module"),
        File("script", "script and inputs with which Yosys gives the netlist by hand"),
        File("synthesis.json", "style and options of the netlist"),
    )
    names: ClassVar[Mapping[str, str]] = {
        "netlist.json": "mapped.json",
        "hierarchy.json": "mapped_hierarchy.json",
        "area.json": "mapped_area.json",
    }
    tool = Tool("Yosys", yosys.version)
    metrics = OF_AREA
    netlist = metric.MAPPED

    def run(self, job: Job[Parameters]) -> None:
        """Write the outputs."""
        from ...kit import kit
        from ...synth.synthesis import synthesize

        synthesize(
            job["design.sv"],
            job.design.top,
            job.out,
            clock_ns=job.params.clock_period,
            style=job.params.style,
            kit_directory=job.adk,
            corner=job.params.corner or kit.SLOW,
            **job.params.options,
        )

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """The area of the netlist before sizing."""
        return values_of_area(outputs["area.json"])
