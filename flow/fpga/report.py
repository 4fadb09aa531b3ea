"""Report of a design's FPGA resources, and the cache of the parts of a run."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...rtl.sim import cache, sources
from ..product import Product
from ..progress import Event, Report, stopwatch

Number = int | float  # of a resource; block RAMs are counted in halves


def made(part: str, name: str, parts: Collection[str], build: Callable[[Path], None], report: Report) -> Path:
    """The cache directory of one part of a run, built if it is missing."""
    entry = cache.tree_name(name, cache.key(*parts, sources.digest("flow.fpga.fpga")))
    elapsed = stopwatch()

    def timed(directory: Path) -> None:
        report(Event(part, "begins"))
        build(directory)
        report(Event(part, "done", elapsed()))

    return cache.cached_tree(entry, timed)


class DeviceReport(Product, omit_defaults=True):
    """Counts of one family."""

    FILE = "counts.json"
    STEP = "fpga"

    family: str
    part: str
    luts: Number
    ffs: Number
    dsps: Number
    brams: Number
    carries: Number
    capacity: dict[str, int]
    shares: dict[str, float]
    fits: bool
    cells: dict[str, int]
    counting: str
    tool: str
    seconds: float
    peak_memory_mib: float
    alms: Number | None = None
    slices: Number | None = None

    def count(self, resource: str) -> Number | None:
        """The count of a resource by its name; None if the family lacks it."""
        found: Number | None = getattr(self, resource)
        return found


class FpgaRun(msgspec.Struct):
    """Figures and identity of a design, or of Verilog from elsewhere."""

    name: str
    top: str
    nbits: int | None
    interface: str
    parameters: Mapping[str, Any]
    devices: dict[str, DeviceReport]
    seconds: float
