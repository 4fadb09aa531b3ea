"""Tasks of campaigns, and what became of them."""

import errno
import os
import time
import traceback
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ...fl.errors import BadInput

Report = Callable[[int, int], None]
LATE = "did not finish within"  # so many seconds: the message of a task that was ended


class Cost(NamedTuple):
    """Properties that decide how long a task takes."""

    kind: tuple[Hashable, ...] = ()  # coarse first
    weight: float = 1.0  # tasks of a kind take time in proportion to it
    guess: float = 1.0  # seconds, as long as no task of the kind has ended


class Task:
    """A piece of work that goes to another process; equal keys mean equal results."""

    key: str
    cost = Cost()
    size = 1  # its steps of the progress bar
    text = ""  # shown while it runs alone

    def run(self, report: Report) -> Any:
        """Return the result, or raise; `report` receives the steps done, and how many there are."""
        raise NotImplementedError


@dataclass(frozen=True)
class Outcome:
    """The result of a task, or the reason why there is none."""

    task: Any
    result: Any
    error: str = ""
    seconds: float = 0.0
    fatal: bool = False  # the reason holds for any task: it makes no sense to go on
    refused: bool = False  # the reason is the input's: BadInput
    reused: bool = False  # it is of an earlier run


def attempt(task: Task, report: Report = lambda *_: None, bugs: bool = True) -> Outcome:
    """Run a task and report any failure as an Outcome; bugs: an exception that nobody expects as well."""
    start = time.perf_counter()
    fatal = refused = False
    try:
        return Outcome(task, task.run(report), seconds=time.perf_counter() - start)
    except BadInput as error:
        message, refused = str(error), True
        fatal = os.strerror(errno.ENOSPC) in message  # the cache cannot be written
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        fatal = error.errno in (errno.ENOSPC, errno.EDQUOT)
    except Exception as error:  # a bug in one corner of the space must not cost the rest of it
        ours = isinstance(error, RuntimeError) and type(error).__module__.startswith("modexlab.")
        if not (ours or bugs):
            raise
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"({Path(place.filename).name}, line {place.lineno})"
        message = str(error) if ours else f"{type(error).__name__}: {error} {where}"
    return Outcome(task, None, " ".join(message.split()), time.perf_counter() - start, fatal, refused)
