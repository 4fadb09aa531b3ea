"""`modexlab sweep` whose workers note each point before they begin it: so a test sees what is lost, or done
twice.
"""

import os
import sys

from modexlab.eval.cli import main as cli
from modexlab.eval.lab import schedulers
from modexlab.eval.lab.schedulers import Local, attempt

PLACE = "MODEXLAB_TEST_COUNT"


def counted(task):
    """A line with the worker and the key, and then the figures."""
    line = f"{os.getpid()} {task.key}\n".encode()
    file = os.open(os.environ[PLACE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line)
    os.close(file)
    return attempt(task)


def here(jobs, *_):
    return Local(jobs, counted)


def main():
    schedulers.scheduler_for = here
    return cli.main(sys.argv[1:])
