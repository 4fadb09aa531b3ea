"""Parameters and metrics that several steps share."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import metric, product
from ..kit.constraints import CLOCK_NS, CORNERS, DENSITY, LONGEST_NS, SHORTEST_NS
from ..metric import Value
from .step import Params, param

STYLE = "style"  # value of an option that the style decides
FLAGS = (STYLE, "True", "False")
STYLES = ("plain", "optimised")


@dataclass(frozen=True)
class Clocked(Params):
    """The clock."""

    clock_period: float = param(CLOCK_NS, "clock period", unit="ns", least=SHORTEST_NS, most=LONGEST_NS)


@dataclass(frozen=True)
class Cornered(Clocked):
    """The clock and the corner."""

    corner: str = param(
        "",
        "corner for all figures; without it setup is at slow, hold at fast, and power at typical",
        choices=("", *CORNERS),
    )


@dataclass(frozen=True)
class Styled(Params):
    """The style of synthesis."""

    style: str = param(
        STYLES[0],
        "`plain`: a script of at most forty lines that leaves sums as they are written. "
        "`optimised`: rewrites arithmetic before mapping, so designs that differ only in the form of a sum "
        "get nearly the same netlist",
        choices=STYLES,
    )


@dataclass(frozen=True)
class Timed(Cornered):
    """Parameters of timing analysis."""

    fmax: bool = param(
        False,
        "report the highest clock of this netlist; `modexlab asic --fmax` searches with other netlists",
    )


@dataclass(frozen=True)
class WireLoaded(Params):
    """The wires before layout."""

    wire_load: str = param("", "wire-load model of the library to use before layout")


@dataclass(frozen=True)
class Placing(Cornered):
    """Parameters of placement."""

    density: float = param(
        DENSITY,
        "share of the core area that placement fills",
        least=0.05,
        most=0.95,
    )
    routes_above: int = param(
        80_000,
        "designs of more cells are sized by their global routes as well, which takes minutes",
        unit="cells",
        least=0,
    )


# ---- metrics

OF_AREA = (metric.AREA, metric.CELLS, metric.FLOPS)


def values_of_area(path: Path) -> Iterator[Value]:
    """The values of a netlist's area."""
    from ..synth.area import Area

    area = product.read(path, Area)
    yield Value(metric.AREA.name, area.area_um2)
    yield Value(metric.CELLS.name, area.cells)
    yield Value(metric.FLOPS.name, area.flops)


def values_of_simulation(path: Path) -> Iterator[Value]:
    """The cycles of each operation."""
    from ..workload import Simulated

    cycles = product.read(path, Simulated).cycles
    return metric.of_operations(metric.CYCLES, cycles)
