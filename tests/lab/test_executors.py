"""Executors: local workers that crash, a Dask cluster that loses a worker, and missing schedulers."""

import errno
import faulthandler
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from modexlab.eval.lab import cluster as cluster_module
from modexlab.eval.lab.cluster import (
    Dask,
    attempt_there,
    connect,
    executor_for,
    make_queue,
    stamp,
    start_queue,
)
from modexlab.eval.lab.executors import Processes
from modexlab.eval.lab.store.store import Store
from modexlab.eval.lab.task import Task, attempt
from modexlab.fl.errors import BadInput

from tests.command_line import picked
from tests.harness import module_fixture, parametrize, refused, regress
from tests.paths import ROOT

from .sweep_process import gone

SECONDS = 300.0  # before a test gives up on something that takes a moment


@dataclass(frozen=True)
class Doing(Task):
    """A task that calls a function, which workers find by its name."""

    number: int
    do: Callable[[int], Any]

    @property
    def key(self):
        return str(self.number)

    def run(self, report):
        return self.do(self.number)


def tasks(count, do):
    return [Doing(number, do) for number in range(count)]


# ---- tasks


def say_who(_):
    return os.getpid(), os.getpgid(0)


def crash_by_number(number):
    """End the process in three ways, for three of the numbers."""
    if number == 2:
        os._exit(3)
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 4:
        faulthandler.disable()  # pytest's own, which would print a report
        os.kill(os.getpid(), signal.SIGSEGV)
    return number


def start_a_tool(place, _):
    """Wait for a tool that runs for an hour; the file has the process ids of the worker and of the tool."""
    with subprocess.Popen(["sleep", "3600"]) as tool:
        place.with_suffix(".part").write_text(f"{os.getpid()} {tool.pid}")
        place.with_suffix(".part").rename(place)


def say_where(_):
    return str(Path.cwd())


def take_a_moment(_):
    time.sleep(0.05)
    return os.getpid()


def sleep_long(number):
    time.sleep(3600 * number)
    return number


def run(executor, wanted, there=0):
    """Run all tasks, and wait for the `there` tasks that were submitted before."""
    waiting, outcomes = list(wanted), []
    end = time.monotonic() + SECONDS
    while len(outcomes) < len(wanted) + there:
        assert time.monotonic() < end, "the executor does not end"
        while waiting and executor.free:
            executor.submit(waiting.pop(0))
        outcomes += executor.collect(0.5)
    return outcomes


def wait_until(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


# ---- one point


@parametrize(
    "error, message, fatal",
    [
        (BadInput("give another"), "give another", False),
        (BadInput("x: No space left on device"), "x: No space", True),
        (OSError(errno.ENOSPC, "No space left on device", "/x"), "/x: No space", True),
        (OSError(errno.EACCES, "Permission denied", "/x"), "/x: Permission", False),
        (RuntimeError("two\nlines"), "RuntimeError: two lines (", False),
        (KeyError("k"), "KeyError: 'k' (test_executors.py, line", False),
    ],
)
def test_whatever_happens_is_an_outcome(error, message, fatal):
    def fail(_):
        raise error

    (task,) = tasks(1, fail)
    outcome = attempt(task)
    assert outcome.result is None and outcome.fatal is fatal and outcome.seconds > 0
    assert outcome.error.startswith(message) and "\n" not in outcome.error


# ---- local processes


def test_local_workers_share_the_points():
    with Processes(2) as local:
        assert local.workers == 2 and local.name == "2 processes here"
        outcomes = run(local, tasks(9, say_who))
    assert {outcome.task.number for outcome in outcomes} == set(range(9))
    who = [outcome.result for outcome in outcomes]
    assert 1 <= len(set(who)) <= 2
    for pid, group in who:
        assert pid == group != os.getpgid(0), "Ctrl-C in our terminal is not theirs"
        assert gone(pid)


def test_workers_are_in_the_directory_of_the_command(tmp_path, monkeypatch):
    """A cache at a relative path must be the same one for them."""
    monkeypatch.chdir(tmp_path)
    with Processes(1) as local:
        (outcome,) = run(local, tasks(1, say_where))
    assert outcome.result == str(tmp_path)


def test_a_task_that_takes_too_long_is_ended():
    with Processes(1, timeout=1.0) as local:
        outcomes = run(local, tasks(2, sleep_long))
    assert [outcome.error for outcome in outcomes] == ["", "did not finish within 1 s"]


def test_a_worker_that_crashes_is_a_failed_point():
    with Processes(2) as local:
        ended = run(local, tasks(9, crash_by_number))
    outcomes = {outcome.task.number: outcome for outcome in ended}
    errors = {
        2: "the worker ended with exit code 3",
        3: "the worker was ended by SIGKILL: out of memory, or killed by hand",
        4: "the worker was ended by SIGSEGV",
    }
    assert len(outcomes) == 9
    for number, outcome in outcomes.items():
        expected = (None, errors[number]) if number in errors else (number, "")
        assert picked(outcome, "result error") == expected and not outcome.fatal


@pytest.fixture
def place(tmp_path):
    """The file in which `start_a_tool` names its processes."""
    return tmp_path / "pids"


def pids(place):
    """The process ids of the worker and its tool, once both run."""
    wait_until(place.exists)
    found = [int(word) for word in place.read_text().split()]
    assert not any(map(gone, found))
    return found


def test_closing_ends_the_tools_of_a_worker(place):
    with Processes(1) as local:
        local.submit(*tasks(1, partial(start_a_tool, place)))
        found = pids(place)
    wait_until(lambda: all(map(gone, found)))


def test_the_tools_of_a_worker_that_is_killed_end_with_it(place):
    """A worker that is killed, for example out of memory, leaves no compiler behind."""
    with Processes(1) as local:
        local.submit(*tasks(1, partial(start_a_tool, place)))
        worker, tool = pids(place)
        os.kill(worker, signal.SIGKILL)
        (outcome,) = run(local, [], there=1)
        assert "SIGKILL" in outcome.error
        wait_until(lambda: gone(tool))


PARENT = """
import sys
from functools import partial
from pathlib import Path
from tests.lab.test_executors import Processes, start_a_tool, tasks
with Processes(1) as local:
    local.submit(*tasks(1, partial(start_a_tool, Path(sys.argv[1]))))
    local.collect(3600)
"""


def test_workers_end_with_their_parent(place):
    """They end even after SIGKILL, which leaves the parent no time to clean up."""
    with subprocess.Popen([sys.executable, "-c", PARENT, str(place)], cwd=ROOT) as parent:
        try:
            found = pids(place)
        finally:
            parent.kill()
    wait_until(lambda: all(map(gone, found)))


# ---- Dask


# tests with it run in `make regress`, because each worker of xdist would start a cluster
@contextmanager
def local_cluster(workers, **settings):
    import dask
    from distributed import LocalCluster

    cluster_module._quiet()
    with (
        dask.config.set({"distributed.admin.tick.limit": "1h", **settings}),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as started,
    ):
        yield started


@module_fixture
def cluster():
    with local_cluster(2) as started:
        yield started


@regress
def test_the_workers_of_a_cluster(cluster):
    with connect(cluster.scheduler_address) as there:
        assert there.workers == 2
        outcomes = run(there, tasks(12, take_a_moment))
    assert {outcome.task.number for outcome in outcomes} == set(range(12))
    assert len({outcome.result for outcome in outcomes} - {os.getpid()}) == 2, "both processes"


@regress
def test_a_worker_of_the_cluster_is_killed(cluster):
    """Every task ends once; those of the killed worker run elsewhere."""
    with connect(cluster.scheduler_address) as there:
        some, more = tasks(8, take_a_moment), tasks(40, take_a_moment)[8:]
        outcomes = run(there, some)
        victim = outcomes[0].result  # has run some tasks, and gets more
        for task in more:
            there.submit(task)
        os.kill(victim, signal.SIGKILL)
        outcomes += run(there, [], there=32)
    assert sorted(outcome.task.number for outcome in outcomes) == list(range(40))
    assert all(outcome.result is not None for outcome in outcomes)
    assert gone(victim)


@regress
def test_short_tasks_travel_in_bundles(cluster):
    with connect(cluster.scheduler_address) as there:
        outcomes = run(there, tasks(20, int))
        outcomes += run(there, tasks(2000, int)[20:])
        assert there.messages < 100
    assert {outcome.result for outcome in outcomes} == set(range(2000))


def crash_at_77(number):
    if number == 77:
        os._exit(3)
    return number


@regress
def test_a_task_that_kills_its_worker_fails_alone():
    """The other tasks of its bundle are sent again one by one. Each death costs a worker, since none starts
    again under pytest.
    """
    with (
        local_cluster(4, **{"distributed.scheduler.allowed-failures": 0}) as cluster,
        connect(cluster.scheduler_address) as there,
    ):
        run(there, tasks(60, int))
        outcomes = run(there, tasks(100, crash_at_77)[60:])
    failed = [outcome for outcome in outcomes if outcome.error]
    assert [outcome.task.number for outcome in failed] == [77]
    assert failed[0].error == "the workers that had it were killed, one after the other"
    assert {outcome.result for outcome in outcomes} == {*range(60, 100), None} - {77}


MACHINES = """
[[part]]
designs = ["mont", "naive", "heap"]
nbits = {from = 16, to = 56, step = 2}
workloads = ["encrypt", "decrypt"]
stages = ["formula"]
"""


@regress
def test_a_sweep_on_a_cluster_that_loses_a_worker(cluster, tmp_path, cli):
    """The whole command: every point is in the store once."""
    path, store = tmp_path / "machines.toml", Store(tmp_path / "store.jsonl")
    path.write_text(MACHINES)
    ended = threading.Event()

    def kill():
        watcher = Store(store.path)
        while len(watcher.rows()) < 20 and not ended.wait(0.05):
            pass
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    address = cluster.scheduler_address
    result = cli(f"sweep {path} --own --store {store.path} --scheduler {address} --json")
    ended.set()
    killer.join()
    assert result.code == 0, result
    report = result.json()
    assert report["points"]["total"] == report["points"]["measured"] == 126
    keys = [row.key for row in store.rows(history=True)]
    assert len(keys) == len(set(keys)) == 126
    assert store.failures() == []


def test_figures_of_other_sources_are_refused():
    (task,) = tasks(1, int)
    right, outcome = attempt_there([(task, stamp(task)), (task, "a digest of other sources")])
    assert right.result == 0
    assert picked(outcome, "result fatal") == (None, True)
    assert "has other sources of modexlab, or other tools" in outcome.error


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1.0)


@parametrize("address", ["host", "tcp://127.0.0.1", "http://127.0.0.1:8786"])
def test_what_is_no_address(address, impatient):
    with refused(f"--scheduler {address}: .*give an address such as tcp://host:8786"):
        connect(address)


def test_something_else_listens_there(impatient):
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: server.accept()[0].sendall(b"HTTP/1.0 400 Bad\r\n" * 40)).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with refused(f"--scheduler {address}: .*dask scheduler"):
            connect(address)


@regress
def test_a_worker_is_no_scheduler():
    with local_cluster(1) as cluster:
        address = next(iter(cluster.workers.values())).worker_address
        with refused(f"--scheduler {address}: this is .*dask scheduler"):
            connect(address)


# ---- queues


@parametrize(
    "kind, lines",
    [
        (
            "slurm",
            ["#SBATCH -p long", "#SBATCH --cpus-per-task=2", "#SBATCH --mem=8G", "#SBATCH -t 04:00:00"],
        ),
        ("lsf", ["#BSUB -q long", "#BSUB -n 2", "#BSUB -W 04:00"]),
        ("pbs", ["#PBS -q long", "#PBS -l select=1:ncpus=2", "#PBS -l walltime=04:00:00"]),
    ],
)
def test_the_jobs_of_a_queue(kind, lines, monkeypatch):
    monkeypatch.setenv("MODEXLAB_CACHE", "/shared/cache")
    options = {"queue": "long", "cores": "2", "memory": "8GB", "job-extra-directives": "--special"}
    with make_queue(kind, options, []) as cluster:
        script = cluster.job_script().splitlines()
    for line in [*lines, "export MODEXLAB_CACHE=/shared/cache", "export PYTHONSAFEPATH=1"]:
        assert any(item.startswith(line) for item in script), script
    assert any("--special" in item for item in script)
    worker = script[-1] or script[-2]
    assert worker.startswith(f"{sys.executable} -m distributed.cli.dask_worker tcp://")
    assert "--nthreads 1 " in worker, "points are measured in processes, not in threads"
    assert "--nworkers 2 " in worker


@parametrize(
    "option, message",
    [
        (("quue", "long"), "--option quue=long: SLURMCluster has no such option; there are cores, memory"),
        (("memory", "lots"), "--slurm: "),
    ],
)
def test_an_option_that_is_none(option, message):
    with refused(f"^{re.escape(message)}"):
        make_queue("slurm", dict([option]), [])


@parametrize("kind, command", [("slurm", "sbatch"), ("lsf", "bsub"), ("pbs", "qsub")])
def test_no_queue_here(kind, command, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with refused(rf"--{kind} 4: there is no {command} here; run this where jobs"):
        start_queue(kind, 4, {})


@regress
def test_jobs_come_to_us(tmp_path, monkeypatch):
    """A substitute for sbatch starts the job at once on this computer."""
    sbatch = tmp_path / "sbatch"
    job = tmp_path / "job"  # the script is deleted when sbatch returns
    sbatch.write_text(
        f'#!/bin/sh\ncp "$1" {job}\nsetsid sh {job} >{job}.log 2>&1 &\necho Submitted batch job $!\n'
    )
    scancel = tmp_path / "scancel"
    scancel.write_text('#!/bin/sh\nfor job; do kill -- -"$job"; done\n')
    for command in (sbatch, scancel):
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # the task is a function of this module
    options = {"interface": "lo", "local-directory": str(tmp_path)}
    with start_queue("slurm", 1, options) as there:
        assert isinstance(there, Dask)
        assert there.name == "1 jobs of slurm"
        outcomes = run(there, tasks(3, take_a_moment))
    assert {outcome.task.number for outcome in outcomes} == {0, 1, 2}


def test_which_scheduler():
    local = executor_for(3, None, {}, {})
    assert isinstance(local, Processes)
    assert local.workers == 3
