"""Tasks, their outcomes, and how long they take."""

import errno
import os
import time
import traceback
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ...fl.errors import BadInput
from ..mistakes import mistake

Report = Callable[[int, int], None]
LATE = "did not finish within"  # in the message of a task that exceeded its time limit
LARGE = "would take some"  # in that of a design that is too large to be synthesized here


class Cost(NamedTuple):
    """Properties that determine how long a task takes."""

    kind: tuple[Hashable, ...] = ()  # coarse first
    weight: float = 1.0  # duration within a kind is proportional to it
    guess: float = 1.0  # in seconds, until a task of the kind has ended


class Task:
    """A piece of work that may run in another process; equal keys mean equal results."""

    key: str
    cost = Cost()
    size = 1  # steps in the progress bar
    text = ""  # shown while it runs alone

    def run(self, report: Report) -> Any:
        """Compute the result, or raise; `report` receives the number of finished steps and of all steps."""
        raise NotImplementedError


@dataclass(frozen=True)
class TaskOutcome:
    """The result of a task, or the reason why there is none."""

    task: Any
    result: Any
    error: str = ""
    seconds: float = 0.0
    fatal: bool = False  # the reason applies to every task, so continuing is pointless
    refused: bool = False  # the input is wrong: BadInput
    reused: bool = False  # from an earlier run


def attempt(task: Task, report: Report = lambda *_: None, bugs: bool = True) -> TaskOutcome:
    """Run a task and return a failure as a TaskOutcome; bugs: including unexpected exceptions."""
    start = time.perf_counter()
    fatal = refused = False
    try:
        return TaskOutcome(task, task.run(report), seconds=time.perf_counter() - start)
    except BadInput as error:
        message, refused = str(error), True
        fatal = os.strerror(errno.ENOSPC) in message  # the cache cannot be written
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        fatal = error.errno in (errno.ENOSPC, errno.EDQUOT)
    except (Exception, SystemExit) as error:  # a bug in one corner must not cost the rest of the space
        ours = isinstance(error, RuntimeError) and type(error).__module__.startswith("modexlab.")
        found = None if ours else mistake(error)
        if found is None and (isinstance(error, SystemExit) or not (ours or bugs)):
            raise
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"({Path(place.filename).name}, line {place.lineno})"
        message = str(found or error) if ours or found else f"{type(error).__name__}: {error} {where}"
        refused = found is not None
    return TaskOutcome(task, None, " ".join(message.split()), time.perf_counter() - start, fatal, refused)


class Estimate:
    """Estimated durations of tasks: learned from finished tasks of the same kind, or else their own guess."""

    def __init__(self) -> None:
        self._taken: dict[tuple[Hashable, ...], tuple[float, float]] = {}  # by kind: seconds, weights

    def learn(self, cost: Cost, seconds: float) -> None:
        for end in range(len(cost.kind) + 1):
            known, weight = self._taken.get(cost.kind[:end], (0.0, 0.0))
            self._taken[cost.kind[:end]] = known + seconds, weight + cost.weight

    def seconds(self, cost: Cost) -> float:
        for end in range(len(cost.kind), 0 if cost.kind else -1, -1):
            if cost.kind[:end] in self._taken:
                seconds, weight = self._taken[cost.kind[:end]]
                return seconds / weight * cost.weight
        return cost.guess

    def knows(self, *kind: Hashable) -> bool:
        """Whether a task of this kind has ended."""
        return kind in self._taken
