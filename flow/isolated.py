"""Starts Python processes that import nothing from the current directory, which may contain a random.py or a
json.py.

`python -P` needs Python 3.11, and `python -I` also hides packages of `pip install --user`.
"""

import contextlib
import os
import sys
from collections.abc import Iterator

# begins the code for `python -c`, which has the current directory on its path as ""
PREAMBLE = "import sys; sys.path = list(filter(None, sys.path)); "


def command(module: str, *arguments: str) -> list[str]:
    """The command that calls `main` of a module with these arguments and exits with its result."""
    return [sys.executable, "-c", f"{PREAMBLE}from {module} import main; sys.exit(main())", *arguments]


@contextlib.contextmanager
def workers() -> Iterator[None]:
    """Make processes of `multiprocessing` that the body starts begin in the root directory."""
    here = os.open(".", os.O_RDONLY)
    os.chdir("/")
    try:
        yield
    finally:
        os.fchdir(here)
        os.close(here)
