"""Steps adopt and adopt-layout: the netlist, or the layout, of another tool in place of ours."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from ... import metric
from ...metric import Value
from ...netlist import yosys
from ..common import OF_AREA, values_of_area
from ..step import File, Job, Params, Step, Tool

OUTSIDE, SPEF = "outside.v", "outside.spef"


class Adopt(Step[Params]):
    """The netlist of another tool, as it is, in place of those of synthesis and sizing.

    Its cells are the kit's. The modules of a flat netlist are found by names if `elaborated.json` is given.
    """

    name = "adopt"
    in_order = False
    reads: ClassVar[tuple[str, ...]] = ("adk", "design.json", OUTSIDE)
    optional = ("elaborated.json",)
    writes: ClassVar[tuple[File, ...]] = (
        File("netlist.v", "the netlist of library cells as Verilog"),
        File("netlist.json", "the netlist, in Yosys' JSON"),
        File("hierarchy.json", "the module of each cell"),
        File("area.json", "area by module"),
    )
    tool = Tool("Yosys", yosys.version)
    metrics = OF_AREA
    netlist = metric.SIZED

    def run(self, job: Job[Params]) -> None:
        """Write the outputs."""
        from ...kit import kit
        from ...synth.adopt import adopt

        elaborated = job.inputs.get("elaborated.json")
        adopt(job[OUTSIDE], job.design.top, job.out, kit.find(job.adk), elaborated)

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """The area of the netlist."""
        return values_of_area(outputs["area.json"])


class AdoptLayout(Adopt):
    """The netlist of a layout by another tool, and its wires, in place of those of place and route."""

    name = "adopt-layout"
    reads = (*Adopt.reads, SPEF)
    writes = (
        File("netlist.v", "the netlist of the layout as Verilog"),
        File("netlist.json", "the netlist of the layout, in Yosys' JSON"),
        File("hierarchy.json", "the module of each of its cells"),
        File("area.json", "its area by module"),
        File("wires.json", "capacitance and resistance of every wire"),
        File("wires.spef", "the wires as SPEF, with the names of the netlist"),
    )
    names: ClassVar[Mapping[str, str]] = {
        "netlist.v": "netlist_placed.v",
        "netlist.json": "netlist_placed.json",
        "hierarchy.json": "hierarchy_placed.json",
        "area.json": "area_placed.json",
    }
    netlist = metric.PLACED

    def run(self, job: Job[Params]) -> None:
        """Write the outputs."""
        from ...kit import kit
        from ...netlist.netlist import read
        from ...timing import spef

        super().run(job)
        netlist = read(job.out / "netlist.json", kit.find(job.adk).library, job.design.top)
        spef.adopt(job[SPEF], netlist, job.out)
