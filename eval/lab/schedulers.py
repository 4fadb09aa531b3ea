"""Schedulers: run the tasks of a campaign in worker processes here or on a Dask cluster.

A scheduler accepts tasks (points of a sweep, chunks of test vectors) and returns a TaskOutcome for each, in
the order in which they end. Only the process with the scheduler records results. A worker runs one task at a
time, because elaborating hardware is not thread-safe.

Local workers are forked while the parent has a single thread: they share its loaded modules and start at
once. Later, when a thread draws the progress, workers come from Python's fork server, as do replacements of
crashed workers. Each worker leads its own process group: Ctrl-C in a terminal reaches only the parent, and
the tools of a worker end with it. A worker ends as soon as its parent is gone.
"""

import asyncio
import contextlib
import importlib
import itertools
import logging
import math
import multiprocessing
import os
import queue
import shutil
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...fl.closing import Closing
from ...fl.errors import BadInput
from ...flow import isolated
from . import keys
from .task import LATE, Report, Task, TaskOutcome, attempt

if TYPE_CHECKING:
    from distributed import Client, Future

PAUSE = 0.5  # seconds between checks for Ctrl-C, and between updates of the time left
CONNECT_SECONDS = 10.0
LOOK_SECONDS = 2.0  # between queries for the number of workers of a cluster
KILL_SECONDS = 5.0  # for killed processes to end
ENVIRONMENT = ("MODEXLAB_CACHE", "XDG_CACHE_HOME")  # variables that workers on other computers share with us
PRELOAD = (
    "modexlab.eval.lab.measure",
    "modexlab.eval.designs.catalogue",
    "modexlab.flow.graph.step",
)  # modules that workers need


class Scheduler(Closing, ABC):
    """An executor of tasks."""

    name: str  # for the user
    slots: int  # the number of tasks in flight that keeps every worker busy; it may change
    workers: int  # current number of workers
    breaks_off = False  # Ctrl-C ends the task in flight instead of the campaign after it

    @abstractmethod
    def submit(self, task: Task) -> None:
        """Start a task."""

    @abstractmethod
    def collect(self, timeout: float) -> list[TaskOutcome]:
        """The tasks that have ended; waits for the first one at most `timeout` seconds."""

    @abstractmethod
    def close(self) -> None:
        """End all workers that we started, with their tasks."""

    def outcomes(self, tasks: Iterator[Task], stopped: Callable[[], bool]) -> Iterator[list[TaskOutcome]]:
        """Run all tasks. Yield outcomes as they arrive, or an empty list after PAUSE, until `stopped`."""
        under_way = 0
        while True:
            for task in itertools.islice(tasks, max(0, self.slots - under_way)):
                self.submit(task)
                under_way += 1
            if not under_way:
                return
            ended = self.collect(0.0 if stopped() else PAUSE)
            under_way -= len(ended)
            yield ended
            if stopped() and not ended:
                return


class Here(Scheduler):
    """This process, which runs one task at a time. `report` receives the steps of the task."""

    name = "this process"
    breaks_off = True
    slots = workers = 1

    def __init__(self) -> None:
        self.report: Report = lambda *_: None
        self._tasks: list[Task] = []

    def submit(self, task: Task) -> None:
        self._tasks.append(task)

    def collect(self, timeout: float) -> list[TaskOutcome]:
        return [attempt(self._tasks.pop(), self.report, bugs=False)] if self._tasks else []

    def close(self) -> None:
        self._tasks.clear()


# ---- local processes


def _serve(pipe: connection.Connection, directory: Path) -> None:
    """Run tasks in the parent's working directory, so that a relative cache path stays valid."""
    os.setsid()
    os.chdir(directory)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.dup2(2, 1)  # keeps the output of tools out of the parent's output
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(attempt(task))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os.killpg(0, signal.SIGKILL)


class _Worker:
    """A worker process and its current task."""

    def __init__(self, method: str, directory: Path) -> None:
        context: Any = multiprocessing.get_context(method)  # the type stub lacks Process
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, directory), daemon=True)
        self.process.start()
        theirs.close()
        self.task: Any = None
        self.begun = 0.0

    def begin(self, task: Any) -> None:
        self.task, self.begun = task, time.perf_counter()
        with contextlib.suppress(BrokenPipeError):  # the worker has ended; `outcome` reports it
            self.pipe.send(task)

    def outcome(self) -> TaskOutcome:
        """The outcome that the worker sent, or an error if the worker died."""
        try:
            outcome = self.pipe.recv()
        except (EOFError, OSError):  # it died before or while it sent the outcome
            seconds = time.perf_counter() - self.begun
            outcome = TaskOutcome(self.task, None, f"the worker {self._ending()}", seconds)
        self.task = None
        return outcome

    def _ending(self) -> str:
        self.process.join(KILL_SECONDS)
        code = self.process.exitcode
        if code is None:
            return "closed its pipe"
        if code >= 0:
            return f"ended with exit code {code}"
        hint = ": out of memory, or killed by hand" if -code == signal.SIGKILL else ""
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}{hint}"
        return f"was ended by signal {-code}"

    def kill(self) -> None:
        """Kill the worker and its tools, which would otherwise outlive it."""
        pid = self.process.pid
        assert pid is not None
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # its process group does not exist yet, or is empty
            self.process.kill()
        self.pipe.close()
        self.process.join(KILL_SECONDS)


class Local(Scheduler):
    """Worker processes on this computer. A task that takes longer than `timeout` seconds is ended."""

    def __init__(self, jobs: int, timeout: float = math.inf) -> None:
        self.slots = self.workers = jobs
        self._timeout = timeout
        self._directory = Path.cwd()
        self._workers: list[_Worker] = []
        self.name = f"{jobs} process{'es' if jobs > 1 else ''} here"

    def __enter__(self) -> "Local":
        if threading.active_count() == 1:
            for module in PRELOAD:
                importlib.import_module(module)
            self._workers = [_Worker("fork", self._directory) for _ in range(self.slots)]
        return self

    def _another(self) -> _Worker:
        from multiprocessing.forkserver import ensure_running, set_forkserver_preload

        set_forkserver_preload(list(PRELOAD))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # only the parent handles Ctrl-C
        try:
            with isolated.workers():
                ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        worker = _Worker("forkserver", self._directory)
        self._workers.append(worker)
        return worker

    def submit(self, task: Task) -> None:
        idle = next((worker for worker in self._workers if worker.task is None), None)
        (idle or self._another()).begin(task)

    def collect(self, timeout: float) -> list[TaskOutcome]:
        busy = {worker.pipe: worker for worker in self._workers if worker.task is not None}
        outcomes = []
        for pipe in connection.wait(list(busy), timeout):
            worker = busy[pipe]
            outcomes.append(worker.outcome())
            if not worker.process.is_alive():
                self._end(worker)
        late = time.perf_counter() - self._timeout
        for worker in [worker for worker in self._workers if worker.task is not None and worker.begun < late]:
            outcomes.append(TaskOutcome(worker.task, None, f"{LATE} {self._timeout:,.0f} s", self._timeout))
            self._end(worker)
        return outcomes

    def _end(self, worker: _Worker) -> None:
        worker.kill()
        self._workers.remove(worker)

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()
        self._workers = []


# ---- Dask

_ONE_AT_A_TIME = threading.Lock()


def stamp(task: Task) -> str:
    """The key of a task and the digest of all hardware, which must be the same on a remote worker."""
    return f"{task.key} {keys.sources_of_answers()}"


def attempt_there(task: Task, expected: str) -> TaskOutcome:
    """Run a task on a worker of Dask, which computes the key anew: its sources and tools must be the same as
    ours, otherwise its result would belong to another task.
    """
    with _ONE_AT_A_TIME:  # even if the worker was started with several threads
        if stamp(task) != expected:
            message = "has other sources of modexlab, or other tools; give it the same, and start it again"
            return TaskOutcome(task, None, f"a worker on {os.uname().nodename} {message}", fatal=True)
        return attempt(task)


class Cluster(Scheduler):
    """The workers of a Dask scheduler. If a worker dies, Dask gives its task to another one."""

    def __init__(self, client: "Client", name: str, cluster: Any = None) -> None:
        self._client, self._cluster = client, cluster
        self.name = name
        self._ended: queue.SimpleQueue[tuple[Task, float, Future]] = queue.SimpleQueue()
        self._futures: dict[Future, None] = {}
        self._count = 0
        self._workers, self._looked = 0, -LOOK_SECONDS

    @property
    def workers(self) -> int:  # type: ignore[override]
        if time.monotonic() - self._looked > LOOK_SECONDS:
            with contextlib.suppress(OSError):  # gone: `collect` reports it
                self._workers = len(self._client.scheduler_info()["workers"])
            self._looked = time.monotonic()
        return self._workers

    @property
    def slots(self) -> int:  # type: ignore[override]
        return 2 * max(self.workers, 1)  # one running and one queued per worker

    def submit(self, task: Task) -> None:
        self._count += 1
        begun = time.perf_counter()
        key = f"modexlab-{os.getpid()}-{self._count}"
        future = self._client.submit(attempt_there, task, stamp(task), key=key, pure=False)
        self._futures[future] = None
        future.add_done_callback(lambda ended: self._ended.put((task, begun, ended)))

    def collect(self, timeout: float) -> list[TaskOutcome]:
        outcomes = []
        with contextlib.suppress(queue.Empty):
            outcomes.append(self._outcome(*self._ended.get(timeout=timeout)))
            while True:
                outcomes.append(self._outcome(*self._ended.get_nowait()))
        if not outcomes and self._futures and self._client.status not in ("running", "connecting"):
            raise BadInput(f"{self.name}: the scheduler is gone; start it again")
        return outcomes

    def _outcome(self, task: Task, begun: float, future: "Future") -> TaskOutcome:
        from distributed import KilledWorker

        self._futures.pop(future, None)
        seconds = time.perf_counter() - begun
        if future.cancelled() or future.status == "lost":
            return TaskOutcome(
                task, None, f"{self.name}: the scheduler is gone; start it again", seconds, True
            )
        error = future.exception()
        if error is None:
            return future.result()
        if isinstance(error, KilledWorker):
            return TaskOutcome(
                task, None, "the workers that had it were killed, one after the other", seconds
            )
        reason = f"{self.name}: a worker cannot take points ({type(error).__name__}: {error})"
        return TaskOutcome(task, None, f"{reason}; give it the same modexlab", seconds, True)

    def close(self) -> None:
        if self._futures:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.cancel(list(self._futures), force=True)
        self._client.close(timeout=KILL_SECONDS)
        if self._cluster is not None:
            self._cluster.close(timeout=KILL_SECONDS)


def connect(address: str) -> Cluster:
    """Connect to the Dask scheduler at an address; BadInput if it does not respond within CONNECT_SECONDS or
    has no workers.
    """
    from distributed import Client  # slow to import, which must not count towards the timeout

    _quiet()
    timeout = CONNECT_SECONDS
    remedy = "start one by `dask scheduler --port 8786`, or leave --scheduler out to measure here"
    try:
        found = asyncio.run(asyncio.wait_for(_identity(address, timeout), timeout + 1))
    except ValueError as error:
        raise BadInput(f"--scheduler {address}: {error}; give an address such as tcp://host:8786") from None
    except (OSError, TimeoutError, asyncio.TimeoutError):
        raise BadInput(f"--scheduler {address}: no answer in {timeout:.0f} s; {remedy}") from None
    except Exception as error:  # a server of another kind
        said = str(error) or type(error).__name__
        raise BadInput(f"--scheduler {address}: this is no Dask scheduler ({said}); {remedy}") from None
    if found.get("type") != "Scheduler":
        raise BadInput(f"--scheduler {address}: this is a {found.get('type', 'stranger').lower()}; {remedy}")
    if not found["workers"]:
        raise BadInput(
            f"--scheduler {address}: it has no workers; start some: dask worker {address} --nworkers 2 "
            "--nthreads 1"
        )
    return Cluster(Client(address, timeout=timeout, set_as_default=False), address)


async def _identity(address: str, timeout: float) -> dict[str, Any]:
    """The identity of the server. Without a server, a Client would take ten more seconds to end."""
    from distributed.core import rpc

    async with rpc(address, timeout=timeout) as there:
        return await there.identity()


# by kind of queue: the class in dask-jobqueue, and the command that submits jobs
QUEUES = {"slurm": ("SLURMCluster", "sbatch"), "lsf": ("LSFCluster", "bsub"), "pbs": ("PBSCluster", "qsub")}
# defaults of one job: a point needs one core, and the flow at 64 bits needs 2 GB
JOB = {"cores": 1, "memory": "4GB", "walltime": "04:00"}


def make_queue(kind: str, options: Sequence[str]) -> Any:
    """A dask-jobqueue cluster without jobs; `options` are settings of that cluster, as name=value."""
    dask_jobqueue = _imported("dask_jobqueue")
    _quiet()
    given = dict(map(_option, options))
    values = {
        **JOB,
        "walltime": JOB["walltime"] if kind == "lsf" else f"{JOB['walltime']}:00",
        "python": sys.executable,
        "scheduler_options": {"dashboard_address": ":0"},
        **given,
    }
    values.setdefault("processes", values["cores"])
    exports = [f"export {name}={os.environ[name]}" for name in ENVIRONMENT if name in os.environ]
    exports.append("export PYTHONSAFEPATH=1")  # since Python 3.11: import nothing from the job's directory
    values["job_script_prologue"] = [*exports, *values.get("job_script_prologue", [])]
    try:
        return getattr(dask_jobqueue, QUEUES[kind][0])(**values)
    except (TypeError, ValueError) as error:
        wrong = next((name for name in given if f"'{name}'" in str(error)), None)
        if wrong is not None:
            raise BadInput(
                f"--option {wrong}={given[wrong]}: {QUEUES[kind][0]} has no such option; there are cores, "
                "memory, processes, "
                "walltime, queue, account (LSF: project), interface, local_directory, log_directory, "
                "job_extra_directives"
            ) from None
        raise BadInput(
            f"--{kind}: {' '.join(str(error).split())}; change it by --option NAME=VALUE"
        ) from None


def _imported(name: str) -> Any:
    """A module whose import replaces the handler of SIGINT; the handler stays the present one."""
    before = signal.getsignal(signal.SIGINT)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return importlib.import_module(name)
    finally:
        signal.signal(signal.SIGINT, before)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _option(text: str) -> tuple[str, Any]:
    """Parse name=value. Whole numbers become numbers; options that are lists get one entry."""
    name, equals, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if not (name and equals and value):
        raise BadInput(f"--option {text}: give it as NAME=VALUE, as in --option memory=8GB")
    if name in ("job_extra_directives", "job_script_prologue", "worker_extra_args", "job_directives_skip"):
        return name, [value]
    return name, int(value) if value.isdigit() else value


def start_queue(kind: str, jobs: int, options: Sequence[str]) -> Cluster:
    """Submit jobs whose workers connect to a scheduler in this process."""
    command = QUEUES[kind][1]
    if shutil.which(command) is None:
        raise BadInput(
            f"--{kind} {jobs}: there is no {command} here; run this where jobs are handed in (a login node), "
            "or leave it out to measure here"
        )
    from distributed import Client

    cluster = make_queue(kind, options)
    cluster.scale(jobs=jobs)
    return Cluster(Client(cluster, set_as_default=False), f"{jobs} jobs of {kind}", cluster)


def _quiet() -> None:
    """Silence the loggers of Dask, which report every event of a worker on stderr; failures arrive as
    outcomes. Some of these loggers have a level of their own.
    """
    importlib.import_module("distributed")  # sets the levels
    for name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def scheduler_for(
    jobs: int,
    address: str | None,
    queues: Mapping[str, int],
    options: Sequence[str],
    timeout: float = math.inf,
) -> Scheduler:
    """The scheduler that the user selected; timeout: for tasks of local workers."""
    if address is not None:
        return connect(address)
    for kind, count in queues.items():
        return start_queue(kind, count, options)
    return Local(jobs, timeout)
