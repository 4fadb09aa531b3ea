"""Floorplan, placement, clock tree, and the area with what they add."""

from __future__ import annotations

import json

from ....files import replace_json
from ....kit import kit
from ....layout import coriolis_job
from ...job import Job


def version() -> str:
    """The version of the tool."""
    return coriolis_job.version()


def run(job: Job) -> None:
    """Make the outputs of the step."""
    from ....layout.place import place
    from ....synth.synthesis import area_report

    place(
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
    hierarchy = json.loads((job.out / "hierarchy_placed.json").read_text())
    netlist = json.loads((job.out / "netlist_placed.json").read_text())["modules"][job.design.top]
    report = area_report(netlist, hierarchy["cells"], hierarchy["modules"], library)
    replace_json(job.out / "area_placed.json", report)
