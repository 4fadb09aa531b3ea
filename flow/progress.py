"""Progress of a step, reported by the code that works to whoever runs the step.

A step is a process of its own (graph/step.py); what it says goes to stderr as lines that begin with MARK.
Where nobody listens (a test, a notebook) nothing is said.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

MARK = "modexlab-going "
PAUSE_S = 1.0  # after which the rest is estimated
_listening = False


class Event(NamedTuple):
    """A step begins, goes on (`message` says how far it is), or is done after so many seconds; `cached`: it
    was there.

    A search of the highest clock (graph/fmax.py) tells its trials alike; `message` has what became of one
    that is done. The parts of an FPGA run are such steps, too; seconds are 0 for one from the cache.
    """

    step: str
    state: str  # begins, going, done, cached, failed
    seconds: float = 0.0
    message: str = ""


Report = Callable[[Event], None]


def listen() -> None:
    """From now on say how far the work is."""
    global _listening
    _listening = True


def say(what: str, fraction: float | None = None) -> None:
    """Print the current activity and, if known, the fraction done."""
    if _listening:
        print(MARK + json.dumps([what, fraction]), file=sys.stderr, flush=True)


def heard(line: str) -> tuple[str, float | None] | None:
    """Parse such a line; None for any other."""
    if not line.startswith(MARK):
        return None
    what, fraction = json.loads(line.removeprefix(MARK))
    return what, fraction


class Running:
    """Steps in progress, by the events of a run."""

    def __init__(self) -> None:
        self._far: dict[str, str] = {}

    def take(self, name: str, state: str, message: str = "") -> bool:
        """An event; whether it is the end of what was running."""
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
    """Seconds that are left, from how far the work was and when."""

    def __init__(self) -> None:
        self._what, self._first = "", (0.0, 0.0)

    def told(self, what: str, fraction: float | None) -> str:
        """Format the progress as text."""
        now = time.monotonic()
        if what != self._what:
            self._what, self._first = what, (now, fraction or 0.0)
        if fraction is None:
            return what
        started, before = self._first
        text = f"{what} {fraction:.0%}"
        if fraction > before and now - started > PAUSE_S:
            left = (now - started) * (1 - fraction) / (fraction - before)
            text += f", {_duration(left)} left"
        return text


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
