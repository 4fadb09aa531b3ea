"""Starts Python processes that import nothing from the current directory, which may hold a random.py or a
json.py.

`python -P` needs Python 3.11, and `python -I` also hides packages of `pip install --user`.
"""

import contextlib
import os
import sys
from collections.abc import Iterator

# the first words of `python -c`, which has the current directory on its path as ""
PREAMBLE = "import sys; sys.path = list(filter(None, sys.path)); "


def command(module: str, *arguments: str) -> list[str]:
    """Run the `main` of a module with these arguments; it returns the exit code."""
    return [sys.executable, "-c", f"{PREAMBLE}from {module} import main; sys.exit(main())", *arguments]


@contextlib.contextmanager
def workers() -> Iterator[None]:
    """Start processes of `multiprocessing` inside; they begin in the root directory."""
    here = os.open(".", os.O_RDONLY)
    os.chdir("/")
    try:
        yield
    finally:
        os.fchdir(here)
        os.close(here)
