"""Changes that sizing made to a netlist: sizing.json."""

from collections.abc import Mapping

import msgspec

from ...product import Product


class Figures(msgspec.Struct):
    """A netlist, by its own estimate."""

    area_um2: float
    cells: int
    wns_ns: float
    tns_ns: float


class Round(msgspec.Struct):
    """Before and after, and how many of each kind of change."""

    before: Figures
    after: Figures
    moves: dict[str, int]


class Sizing(Product, omit_defaults=True):
    """The whole file, which is empty if sizing was not requested."""

    FILE = "sizing.json"
    STEP = "sizing"

    sized: bool
    before: Figures | None = None
    after: Figures | None = None
    moves: Mapping[str, int] = {}
    clock_ns: float | None = None
    wire_ff: float | None = None
    seconds: float | None = None
