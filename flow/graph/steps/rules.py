"""Step rules: checks of the layout by the kit's design rules, and of its metal against the netlist."""

from ... import product
from ..step import File, Job, Params, Step, Tool


def _version() -> str:
    """The version of KLayout's application."""
    from ...check import deck

    return deck.version()


class Rules(Step[Params]):
    """Markers of the kit's deck of design rules, or by its table of values; opens and shorts; antennas;
    transistors against the netlist, if the kit has a deck for it.

    KLayout's application (package `klayout`) runs the deck, its Python package checks the table. A kit with
    neither is not checked. `klayout layout.gds -m rules.lyrdb` shows the markers.
    """

    name = "rules"
    reads = ("adk", "layout.gds", "netlist_placed.json", "placement.json", "routing.json")
    writes = (
        File("rules.json", "markers and faults by kind"),
        File("rules.lyrdb", "the markers for KLayout"),
    )
    tool = Tool("KLayout application", _version)
    own_estimate = True

    def run(self, job: Job[Params]) -> None:
        """Write the outputs."""
        from ...check import deck
        from ...kit import kit
        from ...layout.placed import Placed
        from ...layout.routing import Routing

        files = kit.find(job.adk)
        detailed = product.read(job["routing.json"], Routing).detailed
        checked = (files.drc or files.values) and detailed.done
        placed = Placed.read(job.inputs, files) if checked else None
        deck.check(job["layout.gds"], files, job.out, placed, detailed.why_not)
