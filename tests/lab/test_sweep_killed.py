"""Ctrl-C in a sweep, and two sweeps with one store; tests/bench kills sweeps."""

import signal

import pytest
from modexlab.eval.lab.space import Space

from .sweep_process import JOBS, SECONDS, SweepProcess, gone

SPACE = """
title = "killed"
[[part]]
designs = ["mont", "naive", "heap", "ssmm"]
nbits = {from = 16, to = 140, step = 2}
workloads = ["encrypt", "decrypt"]
stages = ["formula"]
"""


@pytest.fixture
def killed(tmp_path):
    return SweepProcess(tmp_path, SPACE)


def test_ctrl_c(killed):
    """The points that have ended are in the store, and the output shows how to resume."""
    with killed.start() as process:
        killed.wait_for(40, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, err
    done = killed.keys()
    assert 38 <= len(done) == len(set(done)) < 504
    assert f"Interrupted: {len(done)} of 504 points are in the store" in out
    assert f"To go on: modexlab sweep {killed.space} --own --store {killed.store} --jobs 2" in out
    assert "Traceback" not in err
    assert len(killed.begins()) - len(done) <= JOBS
    assert all(gone(pid) for pid, _ in killed.begins())


@pytest.mark.regress
def test_two_sweeps_share_a_store(killed):
    """They take points from both ends; each reports all of them, and none is recorded twice."""
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
