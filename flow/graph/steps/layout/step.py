"""The layout as files for other tools, and its pictures."""

from __future__ import annotations

from ... import tools
from ...job import Job


def version() -> str:
    """The version of the tool."""
    tools.package("matplotlib", "matplotlib", "matplotlib==3.11.2", "picture")
    return tools.package("KLayout", "klayout", "klayout==0.30.12", "GDS and no picture of the layout")


def run(job: Job) -> None:
    """Make the outputs of the step."""
    from ....layout import layout, pictures

    placement, netlist = job.inputs["placement.json"], job.inputs["netlist_placed.json"]
    layout.write_layout(placement, netlist, job.out, routing_json=job.inputs["routing.json"], adk=job.adk)
    pictures.amoeba(
        placement,
        job.inputs["hierarchy_placed.json"],
        job.out / "amoeba.png",
        timing_json=job.inputs["timing_post.json"],
        adk=job.adk,
    )
    pictures.density(placement, job.out / "density.png", routing_json=job.inputs["routing.json"], adk=job.adk)
    pictures.layout(job.out / "layout.gds", placement, job.out / "layout.png", adk=job.adk)
    pictures.layer_properties(job.out / "layout.gds", job.out / "layout.lyp", adk=job.adk)
