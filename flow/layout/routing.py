"""A routed design as data: the path of every net, and the utilisation of the layers, in the file
routing.json.
"""

from dataclasses import dataclass

import msgspec

from ..kit.lef import dbu
from ..product import Product

Rect = tuple[int, int, int, int]  # left, bottom, right, top in database units


@dataclass
class Wire:
    """A straight piece of a net on a layer, or with `via` the via at its first end; in database units."""

    layer: str
    x0: int
    y0: int
    x1: int
    y1: int
    via: str = ""
    width: int = 0  # of a rail or strap; 0 is the layer's own

    @property
    def outline(self) -> Rect:
        """The metal of a rail or strap, which ends where it ends."""
        dx, dy = (0, self.width // 2) if self.y0 == self.y1 else (self.width // 2, 0)
        return self.x0 - dx, self.y0 - dy, self.x1 + dx, self.y1 + dy


NetWires = dict[str, list[Wire]]  # by the name of the net


class Overflow(msgspec.Struct):
    """Overflow of the global router: borders of squares that are too full, the excess wires, and the number
    of rounds.
    """

    borders: int
    wires: int
    rounds: int


class InDetail(msgspec.Struct):
    """Result of detailed routing; without rounds it was not tried."""

    done: bool
    why_not: str
    seconds: float
    rounds: int

    @property
    def failed(self) -> bool:
        """Whether the router ran and left nets in conflict."""
        return not self.done and self.rounds > 0


# a layer and the two ends of a wire; or a via, its lower layer, and where it is
Segment = tuple[str, float, float, float, float]
ViaPlace = tuple[str, str, float, float]


class RoutedNet(msgspec.Struct, omit_defaults=True):
    """The segments of the global routing of a net and, where it was routed in detail, its wires and vias;
    lengths in um.
    """

    length_um: float
    segments: list[Segment]
    wires: list[Segment] = []
    vias: list[ViaPlace] = []


class Routing(Product):
    """A routed design: routing.json."""

    FILE = "routing.json"
    STEP = "route"

    success: bool  # detailed routing is complete, or was not tried and global routing has no overflow
    overflow: Overflow  # where it found none
    seconds: dict[str, float]
    detailed: InDetail
    nets: dict[str, RoutedNet]

    @property
    def failure(self) -> str:
        """Why routing failed; empty if it succeeded."""
        if self.success:
            return ""
        if self.detailed.failed:
            return self.detailed.why_not
        borders, wires = self.overflow.borders, self.overflow.wires
        return f"{borders:,} borders have {wires:,} wires too many: a lower density gives more room"

    @property
    def length_um(self) -> float:
        """Length of all wires."""
        return sum(net.length_um for net in self.nets.values())

    def wires(self) -> NetWires:
        """By net, the wires and vias of the detailed routing: none without one."""
        found = {}
        for name, net in self.nets.items():
            pieces = [Wire(layer, dbu(x0), dbu(y0), dbu(x1), dbu(y1)) for layer, x0, y0, x1, y1 in net.wires]
            for via, layer, x, y in net.vias:
                pieces.append(Wire(layer, dbu(x), dbu(y), dbu(x), dbu(y), via))
            if pieces:
                found[name] = pieces
        return found


@dataclass
class Ways:
    """The segments of each net, and where there are more than the borders of squares have room for."""

    segments: dict[int, list[Segment]]
    overflow: Overflow
    seconds: float  # of the processor, ours and the router's
