"""Progress of a step, sent from the code that works to the process that runs the step.

A step is a process of its own (graph/run_step.py); it writes its progress to stderr, as lines that begin with
MARK. Nothing is written before `listen` is called, as in tests and notebooks.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

MARK = "modexlab-going "
PAUSE_S = 1.0  # seconds until the remaining time is estimated
_listening = False


class Event(NamedTuple):
    """A step begins, is in progress (with a `message`), or is done after `seconds`; `cached`: taken from the
    cache.

    The trials of a search for the highest clock (graph/fmax.py) are reported in the same way, with the result
    of a finished trial as its message, and so are the parts of an FPGA run.
    """

    step: str
    state: str  # begins, going, done, cached, failed
    seconds: float = 0.0
    message: str = ""


Report = Callable[[Event], None]


def stopwatch() -> Callable[[], float]:
    """Return a function that returns the seconds since now, to the hundredth."""
    start = time.perf_counter()
    return lambda: round(time.perf_counter() - start, 2)


def duration(seconds: float) -> str:
    """A rounded duration, for example "3 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def listen() -> None:
    """Report progress from now on."""
    global _listening
    _listening = True


def say(what: str, fraction: float | None = None) -> None:
    """Report the current activity and, if known, the fraction done."""
    if _listening:
        print(MARK + json.dumps([what, fraction]), file=sys.stderr, flush=True)


def heard(line: str) -> tuple[str, float | None] | None:
    """(activity, fraction done) from a line of progress; None for any other line."""
    if not line.startswith(MARK):
        return None
    what, fraction = json.loads(line.removeprefix(MARK))
    return what, fraction


class Running:
    """The steps in progress, from the events of a run."""

    def __init__(self) -> None:
        self._far: dict[str, str] = {}

    def take(self, name: str, state: str, message: str = "") -> bool:
        """Process an event; return whether it ends a step in progress."""
        if state == "begins":
            self._far[name] = ""
        elif state == "going":
            self._far[name] = f" ({message})"
        else:
            return self._far.pop(name, None) is not None
        return False

    def __str__(self) -> str:
        return ", ".join(f"{name}{far}" for name, far in self._far.items())


class Remaining:
    """Estimates the remaining time from the times and fractions so far."""

    def __init__(self) -> None:
        self._what, self._first = "", (0.0, 0.0)

    def told(self, what: str, fraction: float | None) -> str:
        """The progress as text, with the remaining time if it is known."""
        now = time.monotonic()
        if what != self._what:
            self._what, self._first = what, (now, fraction or 0.0)
        if fraction is None:
            return what
        started, before = self._first
        text = f"{what} {fraction:.0%}"
        if fraction > before and now - started > PAUSE_S:
            left = (now - started) * (1 - fraction) / (fraction - before)
            text += f", {duration(left)} left"
        return text
