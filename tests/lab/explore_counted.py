"""`modexlab sweep` whose workers note each point before they begin it: so a test sees what is lost, or done
twice.
"""

from __future__ import annotations

import os
import sys

from modexlab.eval.cli import main as cli
from modexlab.eval.lab import schedulers
from modexlab.eval.lab.explore import Measuring
from modexlab.eval.lab.schedulers import Local, Outcome, Scheduler, attempt

PLACE = "MODEXLAB_TEST_COUNT"


def counted(task: Measuring) -> Outcome:
    """A line with the worker and the key, and then the figures."""
    line = f"{os.getpid()} {task.key}\n".encode()
    file = os.open(os.environ[PLACE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line)
    os.close(file)
    return attempt(task)


def here(jobs: int, *_: object) -> Scheduler:
    return Local(jobs, counted)


def main() -> int:
    schedulers.scheduler_for = here
    return cli.main(sys.argv[1:])
