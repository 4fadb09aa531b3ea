"""Activity of a netlist during one energy workload: activity/NAME.json."""

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
    """The counted cycles."""

    cycles: int | float


class Activity(Product, omit_defaults=True, kw_only=True):
    """Toggles and fraction of the time at 1 of each net, by name."""

    STEP = "gate-sim"

    workload: str = ""
    mode: Mode = ZERO_DELAY
    clock_ns: float
    window: Window
    nets: dict[str, Moved]
    clock_nets: Sequence[str] = []
    late_events: int | None = None  # after the end of the clock period; only with delays
    latest_ns: float | None = None
    whole_cycles: int = 0  # of the operation that the window is part of; 0: the window is the whole operation
    drawn: int = 0  # number of the operation on random operands; 0: the operands of the workload

    @classmethod
    def of(
        cls,
        nets: Mapping[str, Moved],
        cycles: int | float,
        clock_ns: float,
        workload: str = "",
        mode: Mode = ZERO_DELAY,
    ) -> "Activity":
        """Build the activity from counters."""
        return cls(workload=workload, mode=mode, clock_ns=clock_ns, window=Window(cycles), nets=dict(nets))

    @property
    def cycles(self) -> int | float:
        """The cycles of the window."""
        return self.window.cycles

    @property
    def scale(self) -> float:
        """Cycles of the whole operation divided by those of the window."""
        return self.whole_cycles / self.cycles if self.whole_cycles else 1.0

    @property
    def file(self) -> str:
        """Its file name in the folder `activity`."""
        drawn = f".drawn{self.drawn}" if self.drawn else ""
        return f"{self.workload}{drawn}{SUFFIXES[self.mode]}.json"

    def check(self) -> None:
        """BadInput if the numbers are impossible."""
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


def load(path: Path) -> Activity:
    """Read an activity file; BadInput if it is invalid."""
    found = product.read(path, Activity, file="activity.json")
    found.workload = found.workload or path.name.partition(".")[0]
    found.check()
    return found
