"""Step place: floorplan, placement, clock tree, and the resulting area."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ... import metric, product
from ...metric import Value
from .. import tools
from ..common import OF_AREA, Placing, values_of_area
from ..step import File, Job, Step, Tool


class Place(Step[Placing]):
    """Floorplan, placement, sizing by the placed wires, clock tree, and delay buffers for hold."""

    name = "place"
    params = Placing
    reads = ("adk", "design.json", "netlist.json", "hierarchy.json")
    writes = (
        File("placement.json", "die, rows, and the place of every cell"),
        File("netlist_placed.json", "the placed netlist, in Yosys' JSON"),
        File("netlist_placed.v", "the placed netlist as Verilog"),
        File("hierarchy_placed.json", "the module of each of its cells"),
        File("area_placed.json", "its area by module"),
    )
    tool = Tool("modexlab", tools.compiled)
    metrics = (*OF_AREA, metric.DIE)
    netlist = metric.PLACED

    def run(self, job: Job[Placing]) -> None:
        """Write the outputs."""
        from ...kit import kit
        from ...layout.place import place
        from ...netlist import document, hierarchy
        from ...synth.area import PLACED, area

        place(
            job["netlist.json"],
            job["hierarchy.json"],
            job.out,
            density=job.params.density,
            clock_ns=job.params.clock_period,
            clock_port=job.design.clock_port,
            adk=job.adk,
            corner=job.params.corner or None,
            routes_above=job.params.routes_above,
        )
        # with the cells that placement added
        library = kit.find(job.adk).library
        known = hierarchy.load(job.out / hierarchy.PLACED)
        netlist = document.module(job.out / "netlist_placed.json", job.design.top)
        area(netlist, known.cells, known.modules, library).write(job.out, PLACED)

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """The area of the placed netlist and of the die."""
        from ...layout.placement import Placement

        width, height = product.read(outputs["placement.json"], Placement).die_um
        yield from values_of_area(outputs["area_placed.json"])
        yield Value(metric.DIE.name, round(width * height, 3))
