"""Routing, and the wires as the analyses read them."""

from __future__ import annotations

from ....layout import coriolis_job
from ...job import Job


def version() -> str:
    """The version of the tool."""
    return coriolis_job.version()


def run(job: Job) -> None:
    """Make the outputs of the step."""
    from ....layout.route import route
    from ....layout.wires import extract

    placement, netlist = job.inputs["placement.json"], job.inputs["netlist_placed.json"]
    route(placement, netlist, job.out, in_detail=job.parameters["detailed"], adk=job.adk)
    extract(placement, netlist, job.out, routing_json=job.out / "routing.json", adk=job.adk)
