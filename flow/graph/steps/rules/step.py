"""Rules step: checks the layout against the design rules of the kit, and its metal against the netlist."""

from .... import product
from ....check import deck
from ....kit import kit
from ...job import Job

version = deck.version


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....layout.placed import Placed
    from ....layout.placement import Placement
    from ....layout.routing import Routing
    from ....netlist.netlist import read

    files, placed = kit.find(job.adk), None
    detailed = product.read(job["routing.json"], Routing).detailed
    if (files.drc or files.values) and detailed.done:
        netlist = read(job["netlist_placed.json"], files.library)
        placement = product.read(job["placement.json"], Placement)
        placed = Placed(netlist, placement, files.library, files.geometry)
    deck.check(job["layout.gds"], files, job.out, placed, detailed.why_not)
