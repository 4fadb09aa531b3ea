"""A sweep in a separate process, which can be restarted with the same store; tests see which points it began
and which it recorded.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from modexlab.eval.lab.store.entries import MeasurementEntry
from modexlab.eval.lab.store.store import Store

from tests.paths import ROOT

from .sweep_counted import PLACE

JOBS = 2
SECONDS = 300.0


class SweepProcess:
    """`modexlab sweep` whose workers record each point before they begin it (sweep_counted.py)."""

    def __init__(self, directory, space):
        self.store = directory / "store.jsonl"
        self.begun = directory / "begun"
        self.space = directory / "space.toml"
        self.space.write_text(space)
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), PLACE: str(self.begun)}

    def start(self, *more):
        code = "import sys; from tests.lab.sweep_counted import main; sys.exit(main())"
        command = [sys.executable, "-c", code, "sweep", str(self.space), "--own", "--store", str(self.store)]
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
        if not self.store.exists():
            return []
        return [entry.key for entry in Store(self.store).entries() if isinstance(entry, MeasurementEntry)]

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
