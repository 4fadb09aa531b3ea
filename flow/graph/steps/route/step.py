"""Route step: routing, and the wires for the analyses."""

from ....kit import kit
from ... import tools
from ...job import Job

version = tools.compiled


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....layout.placed import Placed
    from ....layout.route import route
    from ....layout.wires import extract

    placed = Placed.read(job.inputs, kit.find(job.adk))
    routing = route(
        placed, job.out, in_detail=job.parameters["detailed"], most_cells=job.parameters["detailed_cells"]
    )
    extract(placed, job.out, routing)
