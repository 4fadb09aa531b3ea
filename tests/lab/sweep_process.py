"""A sweep in a separate process, which can be restarted with the same ledger; tests see which points it began
and which it recorded.
"""

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from tests.paths import ROOT

from .explore_counted import PLACE

JOBS = 2
SECONDS = 300.0


class SweepProcess:
    """`modexlab sweep` whose workers record each point before they begin it (explore_counted.py)."""

    def __init__(self, directory, space):
        self.ledger = directory / "ledger.sqlite"
        self.begun = directory / "begun"
        self.space = directory / "space.toml"
        self.space.write_text(space)
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), PLACE: str(self.begun)}

    def start(self, *more):
        code = "import sys; from tests.lab.explore_counted import main; sys.exit(main())"
        command = [sys.executable, "-c", code, "sweep", str(self.space), "--ledger", str(self.ledger)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(
            [*command, "--jobs", str(JOBS), *more],
            cwd=ROOT,
            env=self._environment,
            start_new_session=True,
            **pipes,
        )

    def keys(self):
        """The keys of all recorded measurements."""
        if not self.ledger.exists():
            return []
        connection = sqlite3.connect(self.ledger, timeout=SECONDS)
        try:
            return [key for (key,) in connection.execute("SELECT key FROM measurement ORDER BY id")]
        except sqlite3.OperationalError as error:
            assert "no such table" in str(error)  # it was killed while it created the file
            return []
        finally:
            connection.close()

    def begins(self):
        """The points that were begun, as pairs of the worker and the key."""
        if not self.begun.exists():
            return []
        words = (line.split() for line in self.begun.read_text().splitlines())
        return [(int(pid), key) for pid, key in words]

    def wait_for(self, count, process):
        """Wait until this number of points has begun."""
        end = time.monotonic() + SECONDS
        while len(self.begins()) < count:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.01)


def gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True
