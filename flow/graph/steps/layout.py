"""Step layout: layout files for other tools, and pictures."""

from ... import product
from .. import tools
from ..step import File, Job, Params, Step, Tool


def _version() -> str:
    """The version of KLayout's Python package."""
    tools.package("matplotlib", "matplotlib", "picture")
    return tools.package("KLayout", "klayout", "GDS and no picture of the layout")


class Layout(Step[Params]):
    """DEF, GDS and pictures: modules with the worst path, density, all layers.

    `klayout layout.gds -l layout.lyp` shows the layers with their names and colours.
    """

    name = "layout"
    reads = (
        "adk",
        "design.json",
        "placement.json",
        "netlist_placed.json",
        "hierarchy_placed.json",
        "routing.json",
        "timing_post.json",
    )
    writes = (
        File("layout.def", "the layout as DEF"),
        File("layout.gds", "the layout as GDS"),
        File("layout.lyp", "names and colours of its layers for KLayout"),
        File("amoeba.png", "picture of the modules with the worst path"),
        File("density.png", "picture of the density of cells and wires"),
        File("layout.png", "picture of all layers"),
    )
    tool = Tool("KLayout", _version)

    def run(self, job: Job[Params]) -> None:
        """Write the outputs."""
        from ...kit import kit
        from ...layout import layout, pictures
        from ...layout.placed import Placed
        from ...layout.routing import Routing
        from ...netlist import hierarchy
        from ...timing.report import TimingReport

        files, out = kit.find(job.adk), job.out
        placed = Placed.read(job.inputs, files)
        routing, gds = product.read(job["routing.json"], Routing), out / "layout.gds"
        modules = hierarchy.load(job["hierarchy_placed.json"])
        timing = product.read(job["timing_post.json"], TimingReport)
        layout.write_layout(placed, routing, files, out)
        pictures.amoeba(placed, modules, timing, out / "amoeba.png")
        pictures.density(placed, routing, out / "density.png")
        pictures.layout(gds, placed, routing, out / "layout.png")
        pictures.layer_properties(gds, files.geometry, out / "layout.lyp")
