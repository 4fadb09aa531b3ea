"""A sweep on a real Slurm of one node, one of whose jobs is cancelled."""

import subprocess
import threading
import time

import pytest
from modexlab.eval.lab.store.store import Store

from tests.harness import regress

from . import daemons

MACHINES = """
[[part]]
designs = ["mont", "naive"]
nbits = {from = 8, to = 32, step = 2}
workloads = ["encrypt", "decrypt"]
stages = ["cl"]
"""
POINTS = 52
SOME = 8  # measured when the job is cancelled


@pytest.fixture
def configuration(tmp_path_factory, monkeypatch):
    if missing := daemons.missing():
        pytest.skip(f"not installed: {', '.join(missing)}")
    with daemons.slurm(tmp_path_factory.mktemp("slurm")) as file:
        monkeypatch.setenv("SLURM_CONF", file)
        yield file


def jobs():
    """The states of all jobs by their numbers."""
    listed = subprocess.run(
        ["squeue", "--noheader", "--states=all", "--format=%i %T"], capture_output=True, text=True, check=True
    )
    return dict(line.split() for line in listed.stdout.splitlines())


@regress
def test_a_sweep_loses_a_job(configuration, tmp_path, monkeypatch, cli):
    """Two jobs measure the points. The one that is left measures those of the one that is cancelled."""
    monkeypatch.chdir(tmp_path)  # for the logs of the jobs
    (tmp_path / "machines.toml").write_text(MACHINES)
    store, found, ended = Store(tmp_path / "store.jsonl"), [], threading.Event()

    def cancel():
        watcher = Store(store.path)
        while not ended.wait(0.05):
            measured = len({row.key for row in watcher.rows()})
            if (
                measured >= SOME
                and len(running := [job for job, state in jobs().items() if state == "RUNNING"]) == 2
            ):
                subprocess.run(["scancel", running[0]], check=True)
                found.append((running[0], measured))
                return

    canceller = threading.Thread(target=cancel)
    canceller.start()
    try:
        result = cli(f"sweep machines.toml --own --store {store.path} --slurm 2 --option memory=1GB --json")
    finally:
        ended.set()
        canceller.join()
    assert result.code == 0, result
    ((job, measured),) = found
    assert SOME <= measured < POINTS
    while "COMPLETING" in (states := jobs()).values():
        time.sleep(0.2)
    assert len(states) == 2 and states[job] == "CANCELLED"
    points = result.json()["points"]
    assert points["total"] == points["measured"] == POINTS
    keys = [entry.key for entry in store.entries()]
    assert len(keys) == len(set(keys)) == POINTS


@regress
def test_a_job_that_is_refused(configuration, tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "machines.toml").write_text(MACHINES)
    result = cli(f"sweep machines.toml --store {tmp_path / 'store'} --slurm 2 --option memory=4GB")
    error = result.err.splitlines()[-1]
    assert result.code == 2 and error.endswith("; change them by --option NAME=VALUE")
    assert "2 jobs of slurm: the queue refuses them: sbatch: error: " in error
