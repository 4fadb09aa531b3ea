"""A model of the area that an interface adds to a machine with bare streams, fitted to results.

The added area is proportional to the bits of a request and its response, which the registers of the interface
hold. The factor is the largest among pairs of results: the same machine, at the same clock, behind the
interface and with bare streams. The model is certified if it has two pairs and its area is within TOLERANCE
of the result in each of them. It holds for the widths between those of its pairs, and for clocks that are no
faster.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...designs.interfaces import DEFAULT
from ...designs.runnable import Runnable
from ...json_values import canonical
from ..flow_settings import KIT
from ..point import Point
from ..stages import FLOW
from ..store.rows import Row

TOLERANCE = 0.1  # of the area behind the interface
AREA = "area_um2"


class Pair(NamedTuple):
    """The area of a machine with bare streams and behind an interface."""

    nbits: int
    message_nbits: int
    bare_um2: float
    whole_um2: float
    clock_ns: float
    stale: bool

    @property
    def um2_per_bit(self) -> float:
        return (self.whole_um2 - self.bare_um2) / self.message_nbits


class InterfaceModel(NamedTuple):
    """The area behind an interface, in one cell library and one style of synthesis."""

    um2_per_bit: float
    error: float  # the largest, as a share of the area behind the interface
    pairs: tuple[Pair, ...]

    def covers(self, nbits: int) -> bool:
        """Whether the model is certified at a width."""
        widths = [pair.nbits for pair in self.pairs]
        return len(widths) > 1 and self.error <= TOLERANCE and min(widths) <= nbits <= max(widths)

    @property
    def clock_ns(self) -> float:
        """The shortest clock period of the pairs."""
        return min(pair.clock_ns for pair in self.pairs)

    def area_um2(self, bare_um2: float, machine: Runnable) -> float:
        """The area of a machine behind the interface."""
        return bare_um2 + self.um2_per_bit * message_nbits(machine)

    @property
    def stale(self) -> bool:
        return any(pair.stale for pair in self.pairs)

    def __str__(self) -> str:
        return (
            f"model: {self.um2_per_bit:.3g} um2 for each bit of request and response; within "
            f"{self.error:.1%} of {len(self.pairs)} results"
        )


def message_nbits(machine: Runnable) -> int:
    """The bits of a request and its response."""
    return sum(nbits for _, nbits in (*machine.shape.request, *machine.shape.response))


def fitted(rows: Iterable[Row], interface: str, kit: str, style: str) -> InterfaceModel | None:
    """The model by these results; None without a pair."""
    areas = (row for row in rows if row.metric == AREA and row.stage == FLOW)
    pairs = tuple(_pairs(areas, interface, kit, style))
    if not pairs:
        return None
    factor = max(pair.um2_per_bit for pair in pairs)
    errors = (factor * pair.message_nbits + pair.bare_um2 - pair.whole_um2 for pair in pairs)
    error = max(abs(error) / pair.whole_um2 for error, pair in zip(errors, pairs, strict=True))
    return InterfaceModel(factor, error, pairs)


def _pairs(rows: Iterable[Row], interface: str, kit: str, style: str) -> Iterator[Pair]:
    """Pairs of results that differ only in the interface."""
    found: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows:
        searched = row.flow.get("fmax")  # each interface has its own clock
        if (
            row.comparable
            and not searched
            and row.flow.get(KIT, "") == kit
            and row.flow.get("style") == style
        ):
            machine = (row.subject, str(row.nbits), canonical(row.point["settings"]), canonical(row.flow))
            found.setdefault(machine, {})[row.interface] = row
    for same in found.values():
        if interface in same and DEFAULT.name in same:
            bare, whole = same[DEFAULT.name], same[interface]
            nbits = message_nbits(Point.from_json(bare.point).machine)
            clock_ns = float(bare.flow["clock_period"])
            yield Pair(bare.nbits, nbits, bare.value, whole.value, clock_ns, bare.stale or whole.stale)
