"""Routing, and the wires as the analyses read them."""

from __future__ import annotations

from .....rtl.sim import toolchain
from ... import tools
from ...job import Job


def version() -> str:
    """Ours; the routers are compiled."""
    toolchain.compiler()
    return tools.ours()


def run(job: Job) -> None:
    """Make the outputs of the step."""
    from ....layout.route import route
    from ....layout.wires import extract

    placement, netlist = job.inputs["placement.json"], job.inputs["netlist_placed.json"]
    route(
        placement,
        netlist,
        job.out,
        in_detail=job.parameters["detailed"],
        most_cells=job.parameters["detailed_cells"],
        adk=job.adk,
    )
    extract(placement, netlist, job.out, routing_json=job.out / "routing.json", adk=job.adk)
