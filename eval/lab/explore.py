"""A sweep: the points of a space, measured by workers, written down one by one, and the fronts that they
form.

Only this process writes the ledger, a measurement as soon as its worker has handed it over. So whatever ends
the sweep - Ctrl-C, SIGKILL, a full disk - takes no more than the points under way, and the same command goes
on from there: what has been measured is read from the ledger, what failed is left alone unless it is to be
tried again.

Figures are compared only within one Work: the same width, operation, interface, stage, device and, of
machines that take no other, modulus. Each has a front of its own, over those objectives that its stage
measures; cycles stand for a time where there is no clock, and where there is one the time for cycles: cycles
of different clocks are no cost (with flow.fmax each point has the highest of its own). What the ledger has
marks for (a missed clock), what breaks a constraint, and the total of workload exponents are on none.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...fl.errors import BadInput
from ..designs.interfaces import DEFAULT
from ..designs.system_catalogue import HARDWARE, SOFTWARE
from ..designs.workload_names import EXPONENTS
from ..errors import NoMeasurement
from ..progress import Progress, duration
from . import pareto
from .metrics import METRICS
from .point import key_in
from .schedulers import PAUSE
from .search import Judged
from .stages import IMPLEMENTED, STAGES

if TYPE_CHECKING:
    from .ledger.ledger import Ledger
    from .metrics import Figure
    from .point import Point
    from .schedulers import Outcome, Scheduler
    from .search import Search
    from .space import Space

LONG_SECONDS = 2.0  # a point that takes longer gets a line of its own
AGAIN = "the same command goes on from there"

SYSTEM_FACTOR = 4.0  # of stages of the flow: with a processor
SEARCHES = 4.0  # likewise: where the highest clock is searched


@dataclass(frozen=True, order=True)
class Work:
    """Properties that figures must share to be comparable."""

    nbits: int
    operation: str
    stage: str
    interface: str
    device: str = ""
    modulus: int = 0

    @classmethod
    def of(cls, point: Point, operation: str) -> Work:
        device = str(dict(point.flow).get("device", ""))
        return cls(point.nbits, operation, point.stage, point.interface, device, point.modulus)

    def __str__(self) -> str:
        interface = "" if self.interface == DEFAULT.name else self.interface
        modulus = f"modulus {self.modulus:#x} alone" if self.modulus else ""
        words = (f"{self.nbits} bits", self.operation, self.stage, interface, self.device, modulus)
        return ", ".join(word for word in words if word)


@dataclass(frozen=True)
class Measured:
    """A point with its figures."""

    point: Point
    figures: tuple[Figure, ...]
    marks: tuple[str, ...]
    seconds: float
    number: int  # of the measurement in the ledger
    reused: bool  # it was there before
    broken: tuple[str, ...] = ()  # constraints on figures that it does not keep

    @property
    def competes(self) -> bool:
        """It may be on a front. The total of `exponents` is no cost: it is there for whether cycles depend on
        them.
        """
        return not self.marks and not self.broken and self.point.workload != EXPONENTS


@dataclass(frozen=True)
class Failed:
    """A point without figures."""

    point: Point
    message: str
    earlier: bool  # in a sweep before, and not tried again


@dataclass(frozen=True)
class Member:
    """A point on a front, with its values in the order of the objectives."""

    measured: Measured
    values: tuple[float, ...]


class Estimate:
    """How long points take: like those before, of the same subject, stage and width, or of the stage; else a
    rule of thumb.

    Stages of the flow take longer for a wider machine: as its width, as far as one can say beforehand; and a
    search of the highest clock is several runs.
    """

    def __init__(self) -> None:
        # of each kind of points the sums of seconds and bits, and how many they are
        self._taken: dict[tuple[Any, ...], tuple[float, int, int]] = {}

    @staticmethod
    def _kinds(stage: str, subject: str, nbits: int, searched: bool) -> tuple[tuple[Any, ...], ...]:
        return (stage, searched, subject, nbits), (stage, searched, subject), (stage, searched)

    def learn(self, stage: str, subject: str, seconds: float, nbits: int = 0, searched: bool = False) -> None:
        for kind in self._kinds(stage, subject, nbits, searched):
            total, width, count = self._taken.get(kind, (0.0, 0, 0))
            self._taken[kind] = total + seconds, width + nbits, count + 1

    def seconds(self, stage: str, subject: str, nbits: int = 0, searched: bool = False) -> float:
        for kind in self._kinds(stage, subject, nbits, searched):
            if kind in self._taken:
                total, width, count = self._taken[kind]
                wider = nbits * count / width if nbits and width and stage in IMPLEMENTED else 1.0
                return total / count * wider
        system = subject.startswith((SOFTWARE, HARDWARE)) and stage in IMPLEMENTED
        return STAGES[stage].seconds * (SYSTEM_FACTOR if system else 1.0) * (SEARCHES if searched else 1.0)

    def knows(self, stage: str) -> bool:
        """It has seen a point of this stage."""
        return (stage, False) in self._taken or (stage, True) in self._taken


def kind_of(point: Point) -> tuple[str, str, int, bool]:
    """Return the kind of a point for Estimate."""
    return point.stage, point.subject, point.nbits, bool(dict(point.flow).get("fmax"))


TIME, CYCLES = "time_ns", "cycles"


def metric_at(name: str, stage: str) -> str:
    """The metric that a front of this stage has: cycles for the time where it knows no clock, and the time
    for cycles where it does.
    """
    if name in (TIME, CYCLES):
        return TIME if stage in METRICS[TIME].stages else CYCLES
    return name


def goals_at(goals: Sequence[pareto.Goal], stage: str) -> tuple[pareto.Goal, ...]:
    """Return the goals that a stage measures, without repetition."""
    names = {goal: metric_at(goal.metric, stage) for goal in goals}
    found = {
        name: pareto.Goal(name, goal.sign) for goal, name in names.items() if stage in METRICS[name].stages
    }
    return tuple(found.values())


@dataclass
class Sweep:
    """The state of a sweep; `run` changes it."""

    space: Space
    ledger: Ledger
    search: Search
    retry: bool = False
    measured: dict[str, Measured] = field(default_factory=dict)  # by key
    failed: dict[str, Failed] = field(default_factory=dict)
    fronts: dict[Work, pareto.Front[Member]] = field(default_factory=dict)
    interrupted: bool = False
    shared: bool = False  # another sweep measures points of this one
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.goals = pareto.goals_of(self.space.objectives)
        self._metrics = [goal.metric for goal in self.goals]
        self._estimate = Estimate()
        # points to measure, as Estimate has them
        self._left: Counter[tuple[str, str, int, bool]] = Counter()
        self._begun: dict[str, tuple[Point, float]] = {}  # by key: under way, and since when

    def goals_at(self, stage: str) -> tuple[pareto.Goal, ...]:
        """The objectives of the fronts of this stage."""
        return goals_at(self.goals, stage)

    @property
    def dropped(self) -> int:
        """Points under way when it was interrupted."""
        return len(self._begun)

    @property
    def new(self) -> int:
        """Points measured now."""
        return sum(not point.reused for point in self.measured.values())

    # ---- the run

    def run(self, scheduler: Scheduler, name: str, *, quiet: bool = False) -> Sweep:
        """Measure until the search is over, or Ctrl-C; BadInput if something makes it senseless to go on."""
        start = time.monotonic()
        told = False
        try:
            with (
                scheduler,
                Progress(name, self.search.count, unit="point", quiet=quiet) as progress,
                _asked_to_end() as stopped,
            ):
                while not stopped():
                    batch = {point.key: point for point in self.search.ask()}
                    if not batch:
                        break
                    waiting = self._look_up(batch)
                    if waiting and not told:
                        count, place = self.search.count, self.ledger.path
                        progress.say(f"{name}: {count} points, {scheduler.name}; the ledger is {place}")
                        told = True
                    self._show(scheduler, progress)
                    self._measure(waiting, scheduler, progress, stopped)
                    if not stopped():
                        self.search.tell({key: self._judged(key) for key in batch})
                self.interrupted = stopped()
        finally:
            self.seconds = time.monotonic() - start
        return self

    def _look_up(self, batch: Mapping[str, Point]) -> deque[Point]:
        """Take from the ledger what it has; the rest is to be measured."""
        for measured in read(self.ledger, batch):
            self._add(measured)
        if not self.retry:
            for key, message in failures(self.ledger, batch).items():
                self.failed[key] = Failed(batch[key], message, earlier=True)
        waiting = deque(
            point for key, point in batch.items() if key not in self.measured and key not in self.failed
        )
        self._left = Counter(map(kind_of, waiting))
        return waiting

    def _measure(
        self, waiting: deque[Point], scheduler: Scheduler, progress: Progress, stopped: Callable[[], bool]
    ) -> None:
        shown = 0.0
        try:
            for outcomes in scheduler.outcomes(self._begin(waiting, stopped), stopped):
                # what is good is written first
                for outcome in sorted(outcomes, key=lambda ended: ended.fatal):
                    self._take(outcome, progress)
                if time.monotonic() - shown > PAUSE:
                    self._show(scheduler, progress)
                    shown = time.monotonic()
        finally:
            self._show(scheduler, progress)

    def _begin(self, waiting: deque[Point], stopped: Callable[[], bool]) -> Iterator[Point]:
        """Yield the points that are still to be measured, each when a worker is free for it."""
        while waiting and not stopped():
            point = waiting.popleft()
            if self._measured_meanwhile(point):
                if not self.shared:  # the other sweep came from this end
                    waiting.reverse()
                self.shared = True
                self._left[kind_of(point)] -= 1
                continue
            self._begun[point.key] = point, time.monotonic()
            yield point

    def _take(self, outcome: Outcome, progress: Progress) -> None:
        """Write down what became of a point."""
        point = outcome.task
        if outcome.fatal:
            raise BadInput(f"{outcome.error}; {self.new} points of this run are in the ledger, and {AGAIN}")
        self._left[kind_of(point)] -= 1
        self._begun.pop(point.key, None)
        error = outcome.error
        if outcome.result is not None:
            measurement = outcome.result
            try:
                number = self.ledger.record_first(point, measurement)
            except NoMeasurement as refused:
                error = str(refused)
            except BadInput as full:
                raise BadInput(f"{full}; {AGAIN}") from None
            else:
                if number is None:
                    self._measured_meanwhile(point)
                    return
                figures, marks = measurement.figures, measurement.marks
                self._add(Measured(point, figures, marks, outcome.seconds, number, reused=False))
                if outcome.seconds >= LONG_SECONDS:
                    progress.say(
                        f"{self._counted} {point}: {self._told(point) or 'ok'} ({outcome.seconds:.1f} s)"
                    )
                return
        self.ledger.fail(point, error, outcome.seconds)
        self.failed[point.key] = Failed(point, error, earlier=False)
        progress.say(f"{self._counted} {point}: failed: {error}")

    def _measured_meanwhile(self, point: Point) -> bool:
        """By another sweep with the same ledger: it is taken from there."""
        found = read(self.ledger, {point.key: point})
        for measured in found:
            self._add(measured)
        return bool(found)

    def _add(self, measured: Measured) -> None:
        """Take a point in, and onto the fronts where it belongs."""
        point = measured.point
        stage, subject, nbits, searched = kind_of(point)
        self._estimate.learn(stage, subject, measured.seconds, nbits, searched)
        broken = tuple(self.space.after(point, measured.figures))
        measured = replace(measured, broken=broken)
        self.measured[point.key] = measured
        if not measured.competes:
            return
        goals = self.goals_at(point.stage)
        metrics = [goal.metric for goal in goals]
        for operation, values in pareto.figures_by_operation(measured.figures, metrics).items():
            work = Work.of(point, operation or point.workload)
            vector = pareto.to_minimise(values, goals)
            self.fronts.setdefault(work, pareto.Front()).add(vector, Member(measured, values))

    def _judged(self, key: str) -> Judged:
        """Return the result for the search: the sum over the operations of a run, which respects every
        front.
        """
        measured = self.measured.get(key)
        if measured is None:
            return Judged(None)
        metrics = [TIME if name == CYCLES else name for name in self._metrics]
        if measured.point.stage not in METRICS[TIME].stages:
            metrics = self._metrics
        rows = list(pareto.figures_by_operation(measured.figures, metrics).values())
        if not rows:
            return Judged(None)
        sums = [sum(column) for column in zip(*rows, strict=True)]
        return Judged(pareto.to_minimise(sums, self.goals), len(measured.marks) + len(measured.broken))

    # ---- how it goes

    @property
    def _counted(self) -> str:
        return f"[{len(self.measured) + len(self.failed)}/{self.search.count}]"

    def _told(self, point: Point) -> str:
        """The objectives of a measured point, in words."""
        measured = self.measured[point.key]
        metrics = [goal.metric for goal in self.goals_at(point.stage)]
        rows = pareto.figures_by_operation(measured.figures, metrics)
        told = [
            " ".join([operation, *(f"{name} {value:,.6g}" for name, value in zip(metrics, row, strict=True))])
            for operation, row in rows.items()
        ]
        return "; ".join(mark.strip() for mark in (*told, *measured.marks, *measured.broken))

    def _show(self, scheduler: Scheduler, progress: Progress) -> None:
        words = [front_in_words(self.fronts, self.goals)]
        if self.failed:
            words.append(f"{len(self.failed)} failed")
        seconds = self.seconds_left(scheduler.workers)
        if scheduler.workers == 0:
            words.append("waiting for workers")
        elif seconds >= 1:
            words.append(f"{duration(seconds)} left")
        progress.note(", ".join(word for word in words if word))
        progress(len(self.measured) + len(self.failed), self.search.count)

    def seconds_left(self, workers: int) -> float:
        """Return the seconds left, from the points so far. For a search: the batch, and the batches to come,
        as if like this one.
        """
        known = sum(self._left.values())
        seconds = sum(count * self._estimate.seconds(*kind) for kind, count in self._left.items())
        under_way = [
            (self._estimate.seconds(*kind_of(point)), time.monotonic() - since)
            for point, since in self._begun.values()
        ]
        # as long as nothing is measured here, what takes longer than the rule says speaks for all
        late = [1.0, *(passed / expected for expected, passed in under_way if expected)]
        slower = 1.0 if self.new else max(late)
        seconds = slower * seconds - sum(min(passed, slower * expected) for expected, passed in under_way)
        more = self.search.count - len(self.measured) - len(self.failed) - known
        if more > 0 and self.measured:
            seconds += more * sum(item.seconds for item in self.measured.values()) / len(self.measured)
        return seconds / max(workers, 1)


ENDINGS = (signal.SIGINT, signal.SIGTERM)  # Ctrl-C; and what `timeout` or a queue sends


@contextmanager
def _asked_to_end() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, or the process was told to end. It breaks nothing off here; told once more
    it does.
    """
    told = False

    def note(number: int, frame: Any) -> None:
        nonlocal told
        if told:
            raise KeyboardInterrupt
        told = True

    mine = threading.current_thread() is threading.main_thread()  # elsewhere there are no signals
    before = {number: signal.signal(number, note) for number in ENDINGS} if mine else {}
    try:
        yield lambda: told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# ---- what is in the ledger


def read(ledger: Ledger, points: Mapping[str, Point]) -> list[Measured]:
    """Return the measured points, by key, with their newest figures."""
    from .metrics import Figure

    present = _present(ledger, points)
    rows: dict[str, list[Any]] = {}
    for row in ledger.rows(history=True, key=list(present)) if present else []:
        of_key = rows.setdefault(row.key, [])
        if of_key and of_key[0].measurement != row.measurement:  # an older one
            of_key.clear()
        of_key.append(row)
    return [
        Measured(
            present[name],
            tuple(Figure(row.metric, row.value, row.unit, row.operation) for row in of_key),
            of_key[0].marks,
            of_key[0].seconds,
            of_key[0].measurement,
            reused=True,
        )
        for name, of_key in rows.items()
    ]


def failures(ledger: Ledger, points: Mapping[str, Point]) -> dict[str, str]:
    """Return why points failed on the present hardware, by key."""
    present = _present(ledger, points)
    return {present[failure.key].key: failure.message for failure in ledger.failures(list(present))}


def _present(ledger: Ledger, points: Mapping[str, Point]) -> dict[str, Point]:
    """The points that the ledger may know, by the names that they have now: only those are translated."""
    known = set(map(key_in, ledger.names()))
    return {point.version: point for key, point in points.items() if key in known}


# ---- words


def front_in_words(fronts: Mapping[Work, pareto.Front[Member]], goals: Sequence[pareto.Goal]) -> str:
    """The best so far: the size of the front and the best value of each objective; of several fronts the
    sizes.
    """
    if not fronts:
        return ""
    if len(fronts) > 1:
        return f"{sum(map(len, fronts.values()))} on {len(fronts)} fronts"
    ((work, front),) = fronts.items()
    goals = goals_at(goals, work.stage)
    best = [min(column) for column in zip(*front.vectors, strict=True)]
    told = [f"{goal.metric} {goal.sign * value:,.6g}" for goal, value in zip(goals, best, strict=True)]
    return f"{len(front)} on the front, best {' and '.join(told)}"
