"""A sweep that is killed at any moment goes on: nothing finished is lost, nothing is measured twice."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from modexlab.eval.lab.space import Space

from tests.harness import examples

from .sweep_process import JOBS, SECONDS, SweepProcess, gone

KILLS, EARLY = min(20, examples(4)), 2

SPACE = """
title = "killed"
[[part]]
designs = ["mont", "naive", "scaled", "ssmm"]
nbits = {from = 16, to = 140, step = 2}
workloads = ["encrypt", "decrypt"]
stages = ["formula"]
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def killed(tmp_path: Path, compiled: Path) -> SweepProcess:
    return SweepProcess(tmp_path, SPACE, compiled)


@pytest.mark.regress
def test_killed_at_any_moment(killed: SweepProcess) -> None:
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


def test_ctrl_c(killed: SweepProcess) -> None:
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
def test_two_sweeps_share_a_ledger(killed: SweepProcess) -> None:
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
