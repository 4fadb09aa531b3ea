"""Layout step: layout files for other tools, and pictures."""

from .... import product
from ....kit import kit
from ... import tools
from ...job import Job


def version() -> str:
    """The version of the tool."""
    tools.package("matplotlib", "matplotlib", "picture")
    return tools.package("KLayout", "klayout", "GDS and no picture of the layout")


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....layout import layout, pictures
    from ....layout.placed import Placed
    from ....layout.routing import Routing
    from ....netlist import hierarchy
    from ....timing.report import TimingReport

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
