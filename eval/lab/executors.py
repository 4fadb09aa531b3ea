"""Executors: run tasks in this process or in worker processes on this computer; cluster.py has those of a
cluster.

An executor accepts tasks (points of a sweep, chunks of test vectors) and returns a TaskOutcome for each, in
the order in which they end. A worker runs one task at a time, because elaborating hardware is not
thread-safe. Short tasks travel to a worker in bundles, because a message costs as much as several tasks by
formula.

Local workers are forked while the parent has a single thread: they share its loaded modules and start at
once. Later, when a thread draws the progress, workers come from Python's fork server, as do replacements of
crashed workers. Each worker leads its own process group: Ctrl-C in a terminal reaches only the parent, and
the tools of a worker end with it. A worker ends as soon as its parent is gone.
"""

import contextlib
import importlib
import math
import multiprocessing
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import connection
from pathlib import Path
from typing import Any

from ...fl.closing import Closing
from ...flow import isolated
from .task import LATE, Estimate, Report, Task, TaskOutcome, attempt

Bundle = Sequence[Task]  # a message to a worker
PAUSE = 0.5  # seconds between checks for Ctrl-C, and between updates of the time left
KILL_SECONDS = 5.0  # for killed processes to end
PRELOAD = (
    "modexlab.eval.lab.measure",
    "modexlab.eval.designs.catalogue",
    "modexlab.flow.graph.run_step",
)  # modules that workers need


class Executor(Closing, ABC):
    """An executor of tasks."""

    name: str  # for the user
    workers: int  # current number of workers
    breaks_off = False  # Ctrl-C ends the task in flight, not only the tasks after it
    bundle_seconds = 0.2  # estimated work of a bundle
    bundle_tasks = 500  # at most

    def __init__(self) -> None:
        self._estimate = Estimate()
        self._open: list[Task] = []  # the bundle that is being filled
        self._open_seconds = 0.0

    @property
    @abstractmethod
    def free(self) -> bool:
        """Whether another bundle would find a worker."""

    @abstractmethod
    def start(self, bundle: Bundle) -> None:
        """Send a bundle to a free worker."""

    @abstractmethod
    def ended(self, timeout: float) -> list[TaskOutcome]:
        """The tasks that have ended; waits for the first one at most `timeout` seconds."""

    @abstractmethod
    def close(self) -> None:
        """End all workers that we started, with their tasks."""

    def submit(self, task: Task) -> None:
        """Start a task, alone or with others."""
        self._open.append(task)
        self._open_seconds += self._estimate.seconds(task.cost)
        if self._open_seconds >= self.bundle_seconds or len(self._open) == self.bundle_tasks:
            self._start_open()

    def _start_open(self) -> None:
        bundle, self._open, self._open_seconds = self._open, [], 0.0
        self.start(bundle)

    def collect(self, timeout: float) -> list[TaskOutcome]:
        """The tasks that have ended; waits for the first one at most `timeout` seconds."""
        if self._open and self.free:
            self._start_open()
        outcomes = self.ended(timeout)
        for outcome in outcomes:
            if not outcome.error:
                self._estimate.learn(outcome.task.cost, outcome.seconds)
        return outcomes

    def outcomes(self, tasks: Iterator[Task], stopped: Callable[[], bool]) -> Iterator[list[TaskOutcome]]:
        """Run all tasks. Yield outcomes as they arrive, or an empty list after PAUSE, until `stopped`."""
        under_way = 0
        while True:
            while self.free and (task := next(tasks, None)) is not None:
                self.submit(task)
                under_way += 1
            if not under_way:
                return
            if stopped():
                yield self.stop()
                return
            ended = self.collect(PAUSE)
            under_way -= len(ended)
            yield ended

    def stop(self) -> list[TaskOutcome]:
        """Stop after an interruption, and return the outcomes of tasks that have ended."""
        return self.ended(0.0)


class Here(Executor):
    """This process, which runs one task at a time. `report` receives the steps of the task."""

    name = "this process"
    breaks_off = True
    workers = 1
    bundle_tasks = 1

    def __init__(self) -> None:
        super().__init__()
        self.report: Report = lambda *_: None
        self._tasks: list[Task] = []

    @property
    def free(self) -> bool:
        return not self._tasks

    def start(self, bundle: Bundle) -> None:
        self._tasks += bundle

    def ended(self, timeout: float) -> list[TaskOutcome]:
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
            bundle = pipe.recv()
        except EOFError:
            return
        for task in bundle:
            pipe.send(attempt(task))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os.killpg(0, signal.SIGKILL)


class _Worker:
    """A worker process and its tasks."""

    def __init__(self, method: str, directory: Path) -> None:
        context: Any = multiprocessing.get_context(method)  # the type stub lacks Process
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, directory), daemon=True)
        self.process.start()
        theirs.close()
        self.tasks: deque[Task] = deque()  # the first one is running
        self.begun = 0.0
        self._killed = False

    def begin(self, bundle: Bundle) -> None:
        self.tasks, self.begun = deque(bundle), time.perf_counter()
        with contextlib.suppress(BrokenPipeError):  # the worker has ended; `outcomes` reports it
            self.pipe.send(bundle)

    def outcomes(self) -> Iterator[TaskOutcome]:
        """The outcomes that the worker has sent, the last one an error if the worker died."""
        while self.tasks and self.pipe.poll():
            try:
                outcome = self.pipe.recv()
            except (EOFError, OSError):  # it died before or while it sent the outcome
                yield self.lost(f"the worker {self._ending()}")
                return
            self.tasks.popleft()
            self.begun = time.perf_counter()
            yield outcome

    def stop(self) -> Iterator[TaskOutcome]:
        """Kill the worker, and yield the outcomes that it had sent."""
        self._kill_process()
        with contextlib.suppress(EOFError, OSError):
            while self.tasks and self.pipe.poll():
                outcome = self.pipe.recv()
                self.tasks.popleft()
                yield outcome

    def lost(self, why: str) -> TaskOutcome:
        """The error of the running task."""
        return TaskOutcome(self.tasks.popleft(), None, why, time.perf_counter() - self.begun)

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
        self._kill_process()
        self.pipe.close()

    def _kill_process(self) -> None:
        pid = self.process.pid
        assert pid is not None
        if not self._killed:  # later, the number may be that of another group
            try:
                os.killpg(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):  # its group does not exist yet, or is empty
                self.process.kill()
        self._killed = True
        self.process.join(KILL_SECONDS)


class Processes(Executor):
    """Worker processes on this computer. A task that takes longer than `timeout` seconds is ended."""

    def __init__(self, jobs: int, timeout: float = math.inf) -> None:
        super().__init__()
        self.workers = jobs
        self._timeout = timeout
        self._directory = Path.cwd()
        self._workers: list[_Worker] = []
        self.name = f"{jobs} process{'es' if jobs > 1 else ''} here"

    def __enter__(self) -> "Processes":
        if threading.active_count() == 1:
            for module in PRELOAD:
                importlib.import_module(module)
            self._workers = [_Worker("fork", self._directory) for _ in range(self.workers)]
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

    @property
    def free(self) -> bool:
        return sum(bool(worker.tasks) for worker in self._workers) < self.workers

    def start(self, bundle: Bundle) -> None:
        idle = next((worker for worker in self._workers if not worker.tasks), None)
        (idle or self._another()).begin(bundle)

    def ended(self, timeout: float) -> list[TaskOutcome]:
        busy = {worker.pipe: worker for worker in self._workers if worker.tasks}
        outcomes: list[TaskOutcome] = []
        for pipe in connection.wait(list(busy), timeout):
            worker = busy[pipe]
            outcomes += worker.outcomes()
            if not worker.process.is_alive():
                self._end(worker)
        late = time.perf_counter() - self._timeout
        for worker in [worker for worker in self._workers if worker.tasks and worker.begun < late]:
            outcomes.append(worker.lost(f"{LATE} {self._timeout:,.0f} s"))
            self._end(worker)
        return outcomes

    def _end(self, worker: _Worker) -> None:
        """End a worker; another one gets the rest of its bundle."""
        worker.kill()
        self._workers.remove(worker)
        if worker.tasks:
            self.start(worker.tasks)

    def stop(self) -> list[TaskOutcome]:
        return [outcome for worker in self._workers for outcome in worker.stop()]

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()
        self._workers = []
