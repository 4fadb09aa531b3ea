"""Parts of an FPGA run, their progress events, and the cache of their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from ...rtl.sim import cache, sources


@dataclass(frozen=True)
class Event:
    """A part of the work begins, or is done after so many seconds (0: it was in the cache)."""

    part: str
    state: str  # begins, done
    seconds: float = 0.0


Report = Callable[[Event], None]


def made(part: str, name: str, parts: Collection[str], build: Callable[[Path], None], report: Report) -> Path:
    """The directory in the cache that this part of the work makes."""
    entry = cache.tree_name(name, cache.key(*parts, sources.digest("flow.fpga.fpga")))
    start = time.perf_counter()

    def timed(directory: Path) -> None:
        report(Event(part, "begins"))
        build(directory)
        report(Event(part, "done", time.perf_counter() - start))

    return cache.cached_tree(entry, timed)


# ---- parts
