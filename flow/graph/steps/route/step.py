"""Route step: routing, and the wires for the analyses."""

from .... import product
from ....kit import kit
from ... import tools
from ...job import Job

version = tools.compiled


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....layout.placed import Placed
    from ....layout.placement import Placement
    from ....layout.route import route
    from ....layout.wires import extract
    from ....netlist.netlist import read

    files = kit.find(job.adk)
    placement = product.read(job["placement.json"], Placement)
    netlist = read(job["netlist_placed.json"], files.library)
    placed = Placed(netlist, placement, files.library, files.geometry)
    routing = route(
        placed, job.out, in_detail=job.parameters["detailed"], most_cells=job.parameters["detailed_cells"]
    )
    extract(placed, job.out, routing)
