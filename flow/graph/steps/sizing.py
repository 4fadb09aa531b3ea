"""Step sizing: drive strengths and buffers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ... import metric
from ...metric import Value
from .. import tools
from ..common import OF_AREA, Cornered, Styled, values_of_area
from ..step import File, Job, Step, Tool, param


@dataclass(frozen=True)
class Parameters(Styled, Cornered):
    """Whether the netlist is sized."""

    sized: bool = param(True, "False leaves the netlist of synthesis as it is")


class Sizing(Step[Parameters]):
    """Drive strengths and buffers by the timing of the whole netlist.

    A wire has the kit's capacitance per fan-out. The style optimised also exchanges equivalent inputs and
    chooses full-adder cells.
    """

    name = "sizing"
    params = Parameters
    reads = ("adk", "design.json", "mapped.json", "mapped_hierarchy.json")
    writes = (
        File("netlist.v", "the netlist of library cells as Verilog"),
        File("netlist.json", "the netlist, in Yosys' JSON"),
        File("hierarchy.json", "the module of each cell"),
        File("area.json", "area by module"),
        File("sizing.json", "cells that sizing changed; slacks before and after"),
    )
    tool = Tool("modexlab", tools.compiled)
    metrics = OF_AREA
    netlist = metric.SIZED

    def run(self, job: Job[Parameters]) -> None:
        """Write the outputs."""
        from ...kit import kit
        from ...netlist.hierarchy import Hierarchy
        from ...synth.plain import STYLE
        from ...synth.sizing import sizing

        before = job.out / "before"  # the names that sizing expects next to each other
        before.mkdir()
        for name in ("netlist.json", Hierarchy.FILE):
            mapped = "mapped.json" if name == "netlist.json" else f"mapped_{name}"
            (before / name).symlink_to(job[mapped].absolute())
        sizing.size(
            before / "netlist.json",
            job.out,
            clock_ns=job.params.clock_period,
            clock_port=job.design.clock_port,
            kit_directory=job.adk,
            corner=job.params.corner or kit.SLOW,
            plain=job.params.style == STYLE,
            sized=job.params.sized,
        )

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """The area of the sized netlist."""
        return values_of_area(outputs["area.json"])
