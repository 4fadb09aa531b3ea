"""Runner: runs long tasks on an executor, with progress, an estimate of the time left, and a memory that lets
an interrupted run continue.

The tasks are points of a sweep, checks of a proof, parts of a fault campaign or chunks of vectors. Only the
process with the executor records results, each as soon as its worker returns it. An interruption (Ctrl-C,
SIGKILL, a full disk) therefore loses only the tasks in flight.
"""

import itertools
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from ...fl.errors import BadInput
from ..errors import NoMeasurement
from ..progress import Progress, duration
from .executors import PAUSE, Executor, Here
from .store.store import Store, result_of
from .task import Cost, Estimate, Report, Task, TaskOutcome

AGAIN = "the same command goes on from there"
ENDINGS = (signal.SIGINT, signal.SIGTERM)  # Ctrl-C, and the signal of `timeout` or a queue


class Memory(Protocol):
    """A store of outcomes."""

    def recall(self, tasks: Mapping[str, Any]) -> Iterable[TaskOutcome]:
        """The known outcomes of these tasks, which are given by key."""

    def keep(self, outcomes: Sequence[TaskOutcome]) -> Iterable[TaskOutcome]:
        """Record outcomes, and return those that count."""


class Results:
    """Task results in a store, as JSON. Errors are not stored; without a store nothing is."""

    def __init__(self, store: Store | None) -> None:
        self._store = store

    def recall(self, tasks: Mapping[str, Any]) -> Iterator[TaskOutcome]:
        known = self._store.results(list(tasks)) if self._store else {}
        for key, (result, seconds) in known.items():
            yield TaskOutcome(tasks[key], result, seconds=seconds, reused=True)

    def keep(self, outcomes: Sequence[TaskOutcome]) -> Sequence[TaskOutcome]:
        if self._store:
            good = [outcome for outcome in outcomes if not outcome.error]
            self._store.add([result_of(done.task.key, done.result, done.seconds) for done in good])
        return outcomes


class Runner:
    """Tasks on an executor; `run` may be called several times, as a search does."""

    def __init__(
        self, executor: Executor, progress: Progress | Report, memory: Memory | None = None, total: int = 0
    ) -> None:
        """total: the number of steps of all runs; 0: only those of the tasks given so far."""
        self.executor, self.progress, self.total = executor, progress, total
        self._memory = memory or Results(None)
        if isinstance(executor, Here):
            executor.report = self.step
        self.estimate = Estimate()
        self.new = 0  # tasks that succeeded in this run
        self.shared = False  # another process runs some of these tasks
        self.words: Callable[[], str] = str  # text shown before the time left
        self._known = self._done = self._ended = 0  # the first two count steps, the last counts tasks
        self._seconds = 0.0  # of ended tasks
        self._left: Counter[Cost] = Counter()
        self._begun: dict[str, tuple[Task, float]] = {}  # by key: tasks in flight, and since when
        self._meanwhile: list[TaskOutcome] = []

    @property
    def dropped(self) -> int:
        """The number of tasks in flight at the interruption."""
        return len(self._begun)

    def run(self, tasks: Iterable[Task]) -> Iterator[TaskOutcome]:
        """Yield outcomes as they arrive, remembered ones first. KeyboardInterrupt if a signal stopped the
        run; BadInput if continuing is pointless.
        """
        by_key = {task.key: task for task in tasks}
        self._known += sum(task.size for task in by_key.values())
        known = {outcome.task.key: outcome for outcome in self._memory.recall(by_key)}
        for outcome in (known[key] for key in by_key if key in known):
            yield self._counted(outcome)
        waiting = deque(task for key, task in by_key.items() if key not in known)
        self._left = Counter(task.cost for task in waiting)
        self.show()
        shown = 0.0
        with _asked_to_end(self.executor.breaks_off) as stopped:
            try:
                ended = self.executor.outcomes(self._begin(waiting, stopped), stopped)
                for outcomes in itertools.chain(ended, [[]]):
                    yield from self._taken(outcomes)
                    found, self._meanwhile = self._meanwhile, []
                    yield from map(self._counted, found)
                    if time.monotonic() - shown > PAUSE:
                        self.show()
                        shown = time.monotonic()
            finally:
                self.show()
            if stopped():
                raise KeyboardInterrupt

    def results(self, tasks: Iterable[Task]) -> Iterator[TaskOutcome]:
        """The same outcomes, for a caller that needs every result: an error becomes an exception."""
        for outcome in self.run(tasks):
            if outcome.error:
                raise (BadInput if outcome.refused else NoMeasurement)(outcome.error)
            yield outcome

    def _begin(self, waiting: deque[Task], stopped: Callable[[], bool]) -> Iterator[Task]:
        """Yield the tasks that remain, each when a worker is free for it."""
        while waiting and not stopped():
            task = waiting.popleft()
            if found := list(self._memory.recall({task.key: task})):  # done by another process
                if not self.shared:  # the other process took its tasks from this end
                    waiting.reverse()
                self.shared = True
                self._left[task.cost] -= 1
                self._meanwhile += found
                continue
            self._begun[task.key] = task, time.monotonic()
            if isinstance(self.progress, Progress) and self.executor.breaks_off and task.text:
                self.progress.describe(task.text)
            yield task

    def _taken(self, outcomes: Sequence[TaskOutcome]) -> Iterator[TaskOutcome]:
        """Record the outcomes of tasks; BadInput, after the others are recorded, if one is fatal."""
        usual = [outcome for outcome in outcomes if not outcome.fatal]
        for outcome in usual:
            self._left[outcome.task.cost] -= 1
            self._begun.pop(outcome.task.key, None)
        try:
            kept = self._memory.keep(usual)
        except BadInput as full:
            raise BadInput(f"{full}; {AGAIN}") from None
        yield from map(self._counted, kept)
        for outcome in outcomes:
            if outcome.fatal:
                raise BadInput(
                    f"{outcome.error}; {self.new} results of this run are in the store, and {AGAIN}"
                )

    def _counted(self, outcome: TaskOutcome) -> TaskOutcome:
        self._done += outcome.task.size
        if not outcome.error:
            if outcome.seconds:  # reference results do not have theirs
                self.estimate.learn(outcome.task.cost, outcome.seconds)
                self._ended, self._seconds = self._ended + 1, self._seconds + outcome.seconds
            self.new += not outcome.reused
        return outcome

    # ---- progress

    def step(self, done: int, _total: int) -> None:
        """Report the steps of the task that runs in this process."""
        self.progress(self._done + done, max(self.total, self._known))

    def show(self) -> None:
        if isinstance(self.progress, Progress):
            workers, seconds = self.executor.workers, self.seconds_left()
            left = (
                "waiting for workers" if not workers else f"{duration(seconds)} left" if seconds >= 1 else ""
            )
            self.progress.note(", ".join(filter(None, (self.words(), left))))
        self.step(0, 0)

    def seconds_left(self) -> float:
        """The estimated seconds left; tasks not yet given to `run` count as average ones."""
        seconds = sum(count * self.estimate.seconds(cost) for cost, count in self._left.items())
        under_way = [
            (self.estimate.seconds(task.cost), time.monotonic() - since)
            for task, since in self._begun.values()
        ]
        # until a task has ended here, the task that exceeds its guess most scales the guesses of all
        late = [1.0, *(passed / expected for expected, passed in under_way if expected)]
        slower = 1.0 if self.new else max(late)
        seconds = slower * seconds - sum(min(passed, slower * expected) for expected, passed in under_way)
        if self.total > self._known and self._ended:
            seconds += (self.total - self._known) * self._seconds / self._ended
        return seconds / max(self.executor.workers, 1)


@contextmanager
def _asked_to_end(breaks_off: bool) -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C or SIGTERM has arrived. The first signal interrupts
    nothing, unless the task runs in this process; the second one raises KeyboardInterrupt.
    """
    told = False

    def note(number: int, frame: Any) -> None:
        nonlocal told
        if told:
            raise KeyboardInterrupt
        told = True

    mine = threading.current_thread() is threading.main_thread()  # other threads cannot handle signals
    before = {} if breaks_off or not mine else {number: signal.signal(number, note) for number in ENDINGS}
    try:
        yield lambda: told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
