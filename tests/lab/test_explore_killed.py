"""A sweep that is killed at any moment goes on: nothing finished is lost, nothing is measured twice."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from modexlab.eval.lab.space import Space

from tests.harness import examples
from tests.paths import ROOT

from .explore_counted import PLACE

JOBS, KILLS, EARLY = 2, min(20, examples(4)), 2
SECONDS = 300.0

SPACE = """
title = "killed"
[[part]]
designs = ["mont", "naive", "scaled", "ssmm"]
nbits = {from = 16, to = 140, step = 2}
workloads = ["encrypt", "decrypt"]
stages = ["formula"]
"""


class Killed:
    """A sweep in a process of its own, again and again, with one ledger."""

    def __init__(self, directory: Path, compiled: Path) -> None:
        self.ledger = directory / "ledger.sqlite"
        self.begun = directory / "begun"
        self.space = directory / "space.toml"
        self.space.write_text(SPACE)
        self._environment = {**os.environ, PLACE: str(self.begun)}
        if self._environment.pop("PYTHONDONTWRITEBYTECODE", None):  # there are many starts
            self._environment["PYTHONPYCACHEPREFIX"] = str(compiled)

    def start(self) -> subprocess.Popen[str]:
        code = "import sys; from tests.lab.explore_counted import main; sys.exit(main())"
        command = [sys.executable, "-c", code, "explore", str(self.space), "--ledger", str(self.ledger)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(
            [*command, "--jobs", str(JOBS)], cwd=ROOT, env=self._environment, start_new_session=True, **pipes
        )

    def keys(self) -> list[str]:
        """Of all measurements that were ever recorded."""
        if not self.ledger.exists():
            return []
        connection = sqlite3.connect(self.ledger, timeout=SECONDS)
        try:
            return [key for (key,) in connection.execute("SELECT key FROM measurement ORDER BY id")]
        except sqlite3.OperationalError as error:
            assert "no such table" in str(error)  # it was killed while it made the file
            return []
        finally:
            connection.close()

    def begins(self) -> list[tuple[int, str]]:
        """Workers, and the keys of the points that they began."""
        if not self.begun.exists():
            return []
        words = (line.split() for line in self.begun.read_text().splitlines())
        return [(int(pid), key) for pid, key in words]

    def wait_for(self, count: int, process: subprocess.Popen[str]) -> None:
        """Until so many points have begun."""
        end = time.monotonic() + SECONDS
        while len(self.begins()) < count:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.01)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def killed(tmp_path: Path, compiled: Path) -> Killed:
    return Killed(tmp_path, compiled)


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.regress
def test_killed_at_any_moment(killed: Killed) -> None:
    expected = {point.key for point in Space.load(killed.space).points()}
    assert len(expected) == 504
    generator = random.Random(6)
    before: list[str] = []
    for number in range(KILLS):
        with killed.start() as process:
            try:
                if number < EARLY:  # while it starts
                    time.sleep(generator.uniform(0.05, 1.0))
                else:
                    killed.wait_for(len(killed.begins()) + generator.randrange(1, 25), process)
                    time.sleep(generator.uniform(0, 0.02))
                assert process.poll() is None, "it has ended before it could be killed"
            finally:
                process.kill()
            process.communicate()
        now = killed.keys()
        assert now[: len(before)] == before, "what was recorded stays"
        assert len(set(now)) == len(now), "nothing was measured that was there"
        assert len(killed.begins()) - len(now) <= JOBS * (number + 1), "a worker loses a point at most"
        before = now
    assert 0 < len(before) < len(expected)
    with killed.start() as process:
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    assert f"{len(expected) - len(before)} measured" in out
    assert f"{len(before)} were in the ledger" in out
    assert Counter(killed.keys()) == Counter(dict.fromkeys(expected, 1))
    begins = killed.begins()
    assert {key for _, key in begins} == expected
    assert len(begins) <= len(expected) + JOBS * KILLS
    assert all(gone(pid) for pid, _ in begins), "no worker outlives its parent"


def test_ctrl_c(killed: Killed) -> None:
    """What has ended is written down, and how to go on is said (that it does: see above)."""
    with killed.start() as process:
        killed.wait_for(40, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, err
    done = killed.keys()
    assert 38 <= len(done) == len(set(done)) < 504
    assert f"Interrupted: {len(done)} of 504 points are in the ledger" in out
    assert f"To go on: modexlab explore {killed.space} --ledger {killed.ledger} --jobs 2" in out
    assert "Traceback" not in err
    assert len(killed.begins()) - len(done) <= JOBS
    assert all(gone(pid) for pid, _ in killed.begins())


@pytest.mark.regress
def test_two_sweeps_share_a_ledger(killed: Killed) -> None:
    """They take points from both ends; each reports all of them, and nothing is written down twice."""
    count = len({point.key for point in Space.load(killed.space).points()})
    with killed.start() as first:
        killed.wait_for(20, first)
        with killed.start() as second:
            told = [process.communicate(timeout=SECONDS) for process in (second, first)]
    assert first.returncode == second.returncode == 0, told
    keys = killed.keys()
    assert len(keys) == len(set(keys)) == count
    assert all(f"{count} points" in out for out, _ in told)
    assert len(killed.begins()) <= count + 4 * JOBS, "both were at the same points"
