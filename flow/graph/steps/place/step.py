"""Floorplan, placement, clock tree, and the area with what they add."""

from __future__ import annotations

from ....kit import kit
from ....layout import coriolis_job
from ... import tools
from ...job import Job


def version() -> str:
    """The version of the tool."""
    return coriolis_job.version()


def run(job: Job) -> tuple[str, str] | None:
    """Make the outputs of the step, with our own placer where there are many cells."""
    from ....layout.place import OURS, place
    from ....netlist import document, hierarchy
    from ....synth.area import PLACED, area

    placement = place(
        job.inputs["netlist.json"],
        job.inputs["hierarchy.json"],
        job.out,
        density=job.parameters["density"],
        clock_ns=job.parameters["clock_period"],
        clock_port=job.design.clock_port,
        adk=job.adk,
    )
    # with what placement has added
    library = kit.find(job.adk).library
    known = hierarchy.load(job.out / hierarchy.PLACED)
    netlist = document.module(job.out / "netlist_placed.json", job.design.top)
    area(netlist, known.cells, known.modules, library).write(job.out, PLACED)
    return (OURS, tools.ours()) if placement.tool == OURS else None
