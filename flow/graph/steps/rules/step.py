"""Rules step: checks the layout against the design rules of the kit, and its metal against the netlist."""

from .... import product
from ....check import deck
from ....kit import kit
from ...job import Job

version = deck.version


def run(job: Job) -> None:
    """Write the outputs of the step."""
    from ....layout.placed import Placed
    from ....layout.routing import Routing

    files = kit.find(job.adk)
    detailed = product.read(job["routing.json"], Routing).detailed
    checked = (files.drc or files.values) and detailed.done
    placed = Placed.read(job.inputs, files) if checked else None
    deck.check(job["layout.gds"], files, job.out, placed, detailed.why_not)
