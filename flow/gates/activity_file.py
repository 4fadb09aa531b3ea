"""Activity of a netlist during one energy workload: activity/NAME.json."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ...fl.errors import BadInput
from .. import product
from ..product import Product

Mode = Literal["zero-delay", "timed", "inertial"]
ZERO_DELAY: Mode = "zero-delay"
TIMED: Mode = "timed"
INERTIAL: Mode = "inertial"
SUFFIXES: dict[Mode, str] = {ZERO_DELAY: "", TIMED: ".timed", INERTIAL: ".inertial"}
# toggles, and the fraction of the time at 1
Moved = tuple[int | float, int | float]


class Window(msgspec.Struct):
    """The time that counts."""

    cycles: int | float


class Activity(Product, omit_defaults=True, kw_only=True):
    """Toggles, and the fraction of the time at 1, by the name of the net."""

    STEP = "gate-sim"

    workload: str = ""
    mode: Mode = ZERO_DELAY
    clock_ns: float
    window: Window
    nets: dict[str, Moved]
    clock_nets: Sequence[str] = []
    late_events: int | None = None  # after the end of the clock's period; of "timed" alone
    latest_ns: float | None = None
    whole_cycles: int = 0  # of the operation of which the window is a part; 0: it is the whole
    drawn: int = (
        0  # which operation of the same kind on drawn operands this is; 0: the one that the workload names
    )

    @classmethod
    def of(
        cls,
        nets: Mapping[str, Moved],
        cycles: int | float,
        clock_ns: float,
        workload: str = "",
        mode: Mode = ZERO_DELAY,
    ) -> Activity:
        """Build the activity from counters."""
        return cls(workload=workload, mode=mode, clock_ns=clock_ns, window=Window(cycles), nets=dict(nets))

    @property
    def cycles(self) -> int | float:
        """Return the cycles of the window."""
        return self.window.cycles

    @property
    def scale(self) -> float:
        """The operation's cycles by those of the window."""
        return self.whole_cycles / self.cycles if self.whole_cycles else 1.0

    @property
    def file(self) -> str:
        """Its name in the folder `activity`."""
        drawn = f".drawn{self.drawn}" if self.drawn else ""
        return f"{self.workload}{drawn}{SUFFIXES[self.mode]}.json"

    def check(self) -> None:
        """BadInput if these numbers can be of no window."""
        if not self.cycles > 0:
            raise BadInput(
                f"the activity of {self.workload} has a window of {self.cycles} cycles: record at least one"
            )
        for name, (toggles, ones) in self.nets.items():
            if not (0 <= toggles < math.inf and 0 <= ones <= 1):
                raise BadInput(
                    f"the activity of {self.workload}: {name} has {toggles} toggles and is {ones} of the "
                    "time at 1"
                )


def load(path: Path | str) -> Activity:
    """An activity file; BadInput if it is none."""
    found = product.read(path, Activity, file="activity.json")
    found.workload = found.workload or Path(path).name.partition(".")[0]
    found.check()
    return found
