"""Timing analysis of a netlist: timing.json."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ..product import Product
from .clock_search import MHZ
from .wire_table import Source

NO_PATHS = "no path that a clock measures"  # the verdict where there is no endpoint
TOLD = 6  # modules of a path in the verdict
DIGITS = 6  # of times in ns and loads in fF


def rounded(value: float) -> float:
    """A time or load, rounded to the digits that OpenSTA prints."""
    return round(value, DIGITS)


class PathPoint(msgspec.Struct, kw_only=True):
    """A pin that a path goes through; a port has no cell."""

    cell: str
    type: str
    pin: str
    net: str | None
    edge: str
    slew_ns: float | None
    load_ff: float | None
    delay_ns: float | None
    arrival_ns: float | None
    module: str = ""

    @property
    def name(self) -> str:
        """The pin as one name."""
        return f"{self.cell}/{self.pin}" if self.cell else self.pin


class WorstPath(msgspec.Struct):
    """The longest path of a netlist, in short."""

    start: str
    end: str
    slack_ns: float
    modules: list[str]
    cells: int

    def told(self, most: int) -> str:
        """The path in words, with so many of its modules."""
        through = ", ".join(module or "the top" for module in self.modules[:most])
        more = ", ..." if len(self.modules) > most else ""
        return f"{self.start} to {self.end}, {self.cells} cells in {through}{more}"


class TimedPath(msgspec.Struct, kw_only=True):
    """One of the worst paths, from a register or port to another."""

    start: str = ""
    end: str = ""
    slack_ns: float = 0.0
    arrival_ns: float | None = None
    required_ns: float | None = None
    points: list[PathPoint] = []
    modules: list[str] = []  # that it goes through, in its order

    @property
    def short(self) -> WorstPath:
        """The path without its points."""
        cells = {point.cell for point in self.points} - {""}
        return WorstPath(self.start, self.end, self.slack_ns, self.modules, len(cells))


class HighestClock(msgspec.Struct):
    """The shortest period, and the slack at it."""

    clock_ns: float
    slack_ns: float


class TimingReport(Product, kw_only=True):
    """Content of timing.json."""

    FILE = "timing.json"
    STEP = "timing"

    engine: str
    engine_version: str
    clock_ns: float
    met: bool | None  # None: no endpoint, or one that is not judged
    met_ns: float | None  # a period that this netlist meets, setup and hold: the one asked for if that is met
    verdict: str
    wns_ns: float | None
    wns_by_model_ns: dict[
        str, float
    ]  # before layout: of "none", without wires, and of the library's wire-load model
    tns_ns: float
    hold_wns_ns: float | None  # of paths from registers: the flow does not know what drives the inputs
    endpoints: int
    fmax_mhz: float | None = None
    fmax: HighestClock | None = None
    wires: Source
    wire_load: str | None
    corner: str  # of setup
    hold_corner: str = ""
    corner_ns: Mapping[str, float] = {}  # the shortest period at each corner of a kit with several
    constraints: Mapping[str, Any]  # but for the clock's period
    paths: list[TimedPath]
    hold_paths: list[TimedPath]
    caveats: list[str]
    seconds: float = 0.0

    @property
    def highest_mhz(self) -> float | None:
        """The highest clock of this netlist: the one that was searched, or else from the slack."""
        if self.fmax_mhz is not None or self.wns_ns is None:
            return self.fmax_mhz
        return round(MHZ / (self.clock_ns - self.wns_ns), 3)


def verdict(
    clock_ns: float,
    met_ns: float | None,
    wns_ns: float | None,
    unchecked: int,
    hold_ns: float | None,
    paths: list[TimedPath],
) -> str:
    """Return one line: whether the clock is met; if not, by how much it is missed, and the period that is."""
    parts = []
    if hold_ns is not None and hold_ns < 0:
        parts.append(f"hold is missed by {-hold_ns:.3f} ns on a path from a register, whatever the period")
    if wns_ns is not None and wns_ns < 0:
        met = f"{met_ns:.3f} ns is met; " if met_ns is not None else ""
        worst = paths[0].short.told(TOLD)
        parts.insert(0, f"{clock_ns:g} ns is missed by {-wns_ns:.3f} ns: {met}worst path {worst}")
    if parts:
        return "; ".join(parts)
    if wns_ns is None:
        return NO_PATHS
    if unchecked:
        return f"no verdict on {clock_ns:g} ns: {unchecked} registers are not checked"
    return f"{clock_ns:g} ns is met with {wns_ns:.3f} ns to spare"
