"""Step route: routing, and the wires for the analyses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ... import metric, product
from ...metric import Value
from .. import tools
from ..step import File, Job, Params, Step, Tool, param


@dataclass(frozen=True)
class Parameters(Params):
    """Detailed routing."""

    detailed: bool = param(True, "route in detail")
    detailed_cells: int = param(80_000, "largest design that gets detailed routing", unit="cells", least=0)


class Route(Step[Parameters]):
    """Global routing, and detailed routing if the design is small enough; the capacitance and resistance of
    every wire.
    """

    name = "route"
    params = Parameters
    reads = ("adk", "design.json", "placement.json", "netlist_placed.json")
    writes = (
        File("routing.json", "the routes, and why they are incomplete"),
        File("wires.json", "capacitance and resistance of every wire"),
        File("wires.spef", "the wires as SPEF"),
        File("wires_summary.json", "sums over all wires"),
    )
    tool = Tool("modexlab", tools.compiled)
    metrics = (metric.WIRE,)
    netlist = metric.PLACED

    def run(self, job: Job[Parameters]) -> None:
        """Write the outputs."""
        from ...kit import kit
        from ...layout.placed import Placed
        from ...layout.route import route
        from ...layout.wires import extract

        placed = Placed.read(job.inputs, kit.find(job.adk))
        routing = route(placed, job.out, in_detail=job.params.detailed, most_cells=job.params.detailed_cells)
        extract(placed, job.out, routing)

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """The length of the wires."""
        from ...layout.routing import Routing

        yield Value(metric.WIRE.name, round(product.read(outputs["routing.json"], Routing).length_um))
