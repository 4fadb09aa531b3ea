"""Sweep: measures the points of a space and finds their Pareto fronts.

Measured points are read from the store, or else from its reference results; failed points are not tried again
unless requested.

Figures are compared only within one Work: the same width, operation, interface, stage, device and, for
machines that accept only one modulus, modulus. Each Work has its own front over the objectives that its stage
measures. At a stage without a clock, cycles replace the time. At a stage with a clock, the time replaces
cycles, because cycles at different clocks are not comparable (with flow.fmax each point runs at its own
highest clock). Points with marks (a missed clock), points that break a constraint, and the total of workload
exponents are on no front.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..designs.interfaces import DEFAULT, SYSTEM
from ..errors import NoMeasurement
from ..progress import Progress
from . import measure, pareto
from .executors import Executor
from .metrics import METRICS, Figure, Measurement
from .point import Point
from .runner import Runner
from .search import Judged, Search
from .space import Space
from .stages import IMPLEMENTED, STAGES
from .store.reference import Reference
from .store.rows import Row
from .store.store import NewEntry, Store, failed
from .task import Cost, Estimate, Report, Task, TaskOutcome

CHANGED = "its files changed during the sweep; run the same command again"
LONG_SECONDS = 2.0  # slower points are reported on a line of their own
GUESSED_NBITS = 32  # the width for which Stage.seconds estimates a stage of the flow
SYSTEM_FACTOR = 4.0  # factor at stages of the flow with a processor
SEARCHES = 4.0  # likewise with a search for the highest clock


class Work(NamedTuple):
    """Properties that figures must share to be comparable."""

    nbits: int
    operation: str
    stage: str
    interface: str
    device: str = ""
    modulus: int = 0

    @classmethod
    def of(cls, point: Point, operation: str) -> "Work":
        device = str(dict(point.flow).get("device", ""))
        return cls(point.nbits, operation, point.stage, point.interface, device, point.modulus)

    def __str__(self) -> str:
        interface = "" if self.interface == DEFAULT.name else self.interface
        modulus = f"modulus {self.modulus:#x} alone" if self.modulus else ""
        words = (f"{self.nbits} bits", self.operation, self.stage, interface, self.device, modulus)
        return ", ".join(filter(None, words))


@dataclass(frozen=True)
class Measured:
    """A point with its figures."""

    point: Point
    figures: tuple[Figure, ...]
    marks: tuple[str, ...]
    seconds: float
    number: int  # of the measurement in the store
    reused: bool  # it was in the store before, or is a reference result
    broken: tuple[str, ...] = ()  # constraints on figures that it violates

    @property
    def reference(self) -> bool:
        """Whether it is a reference result, not from the store."""
        return self.number < 0

    @property
    def competes(self) -> bool:
        """Whether it may be on a front."""
        return not self.marks and not self.broken and self.point.is_cost


class Failed(NamedTuple):
    """A point without figures."""

    point: Point
    message: str
    earlier: bool  # in an earlier sweep, and not tried again


class Member(NamedTuple):
    """A point on a front, with its values in the order of the objectives."""

    measured: Measured
    values: tuple[float, ...]


def cost_of(stage: str, subject: str, nbits: int, interface: str, searched: bool) -> Cost:
    """The cost of a point. At stages of the flow it is proportional to the width, as far as known beforehand,
    and several times as high with a search for the highest clock.
    """
    implemented = stage in IMPLEMENTED
    factor = (SYSTEM_FACTOR if implemented and interface == SYSTEM else 1.0) * (SEARCHES if searched else 1.0)
    weight = nbits / GUESSED_NBITS if implemented and nbits else 1.0
    return Cost(((stage, searched), subject, nbits), weight, STAGES[stage].seconds * factor * weight)


def estimate_from(rows: Iterable[Row]) -> Estimate:
    """An estimate that has learned from the points of these rows."""
    estimate = Estimate()
    for row in {row.measurement: row for row in rows if not row.reference}.values():
        searched = bool(row.flow.get("fmax"))
        estimate.learn(cost_of(row.stage, row.subject, row.nbits, row.interface, searched), row.seconds)
    return estimate


@dataclass(frozen=True)
class Measuring(Task):
    """The task that measures a point."""

    point: Point

    @property
    def key(self) -> str:  # type: ignore[override]
        return self.point.key

    @property
    def cost(self) -> Cost:  # type: ignore[override]
        point = self.point
        searched = bool(dict(point.flow).get("fmax"))
        return cost_of(point.stage, point.subject, point.nbits, point.interface, searched)

    def run(self, report: Report) -> Measurement:
        return measure.measure(self.point, jobs=1)  # points already occupy the cores


@dataclass(frozen=True)
class Points:
    """The measurements and failures of a store as the memory of a sweep; the results are Measured."""

    store: Store
    retry: bool = False

    def recall(self, tasks: Mapping[str, Measuring]) -> Iterator[TaskOutcome]:
        points = {key: task.point for key, task in tasks.items()}
        measured = read(self.store, points)
        for item in measured:
            yield TaskOutcome(tasks[item.point.key], item, seconds=item.seconds, reused=True)
        if not self.retry:
            for key, message in failures(self.store, points).items():
                yield TaskOutcome(tasks[key], None, message, reused=True)

    def keep(self, outcomes: Sequence[TaskOutcome]) -> list[TaskOutcome]:
        """Record outcomes in one write; figures that the store refuses are a failure."""
        entries, kept = [], []
        for outcome in outcomes:
            try:
                entries.append(self._entry(outcome))
            except NoMeasurement as refused:
                outcome = replace(outcome, result=None, error=str(refused))
                entries.append(self._entry(outcome))
            kept.append(outcome)
        numbers = self.store.add(entries, first=True)
        return list(map(self._numbered, kept, numbers))

    def _entry(self, outcome: TaskOutcome) -> NewEntry:
        point, measurement = outcome.task.point, outcome.result
        if measurement is None:
            return failed(point, outcome.error, outcome.seconds)
        return self.store.measured(point, measurement)

    def _numbered(self, outcome: TaskOutcome, number: int | None) -> TaskOutcome:
        """The outcome with a Measured in the place of a measurement."""
        point, measurement = outcome.task.point, outcome.result
        if measurement is None:
            return outcome
        if number is None:  # another sweep with the same store was faster
            for measured in read_own(self.store, {point.key: point}):
                return replace(outcome, result=measured, reused=True)
            return replace(outcome, result=None, error=CHANGED)
        figures, marks = measurement.figures, measurement.marks
        measured = Measured(point, figures, marks, outcome.seconds, number, reused=False)
        return replace(outcome, result=measured)


TIME, CYCLES = "time_ns", "cycles"


def metric_at(name: str, stage: str) -> str:
    """The metric of a front at this stage: cycles instead of time if the stage has no clock, and time instead
    of cycles if it has one.
    """
    if name in (TIME, CYCLES):
        return TIME if stage in METRICS[TIME].stages else CYCLES
    return name


def goals_at(goals: pareto.Goals, stage: str) -> pareto.Goals:
    """The goals that a stage measures."""
    known = {metric_at(metric, stage): sign for metric, sign in goals.items()}
    return {metric: sign for metric, sign in known.items() if stage in METRICS[metric].stages}


@dataclass
class Sweep:
    """The state of a sweep, which `run` updates."""

    space: Space
    store: Store
    search: Search
    retry: bool = False
    measured: dict[str, Measured] = field(default_factory=dict)  # by key
    failed: dict[str, Failed] = field(default_factory=dict)
    members: dict[Work, list[Member]] = field(default_factory=dict)  # of the fronts, and dominated ones
    fronts: dict[Work, pareto.Front[Member]] = field(default_factory=dict)
    interrupted: bool = False
    shared: bool = False  # another sweep measured points of this one
    dropped: int = 0  # points in flight at the interruption
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.goals = pareto.goals_of(self.space.objectives)

    def goals_at(self, stage: str) -> pareto.Goals:
        """The objectives of the fronts at this stage."""
        return goals_at(self.goals, stage)

    @property
    def new(self) -> int:
        """The number of points measured in this run."""
        return sum(not point.reused for point in self.measured.values())

    @property
    def reused(self) -> int:
        """The number of points that were in the store."""
        return len(self.measured) - self.new - self.reference

    @property
    def reference(self) -> int:
        """The number of points that are reference results."""
        return sum(point.reference for point in self.measured.values())

    # ---- the run

    def run(self, executor: Executor, name: str, *, quiet: bool = False) -> "Sweep":
        """Measure until the search ends, or until Ctrl-C; BadInput if continuing is pointless."""
        start = time.monotonic()
        count = self.search.count
        with executor, Progress(name, count, unit="point", quiet=quiet) as progress:
            runner = Runner(executor, progress, Points(self.store, self.retry), count)
            runner.words = self._words
            progress.say(f"{name}: {count} points, {executor.name}; the store is {self.store.path}")
            batch: list[Point] = []
            try:
                while batch := list(self.search.ask()):
                    for outcome in runner.run(map(Measuring, batch)):
                        self._take(outcome, progress)
                    self.search.tell({point.key: self._judged(point.key) for point in batch})
            except KeyboardInterrupt:
                self.interrupted = True
                # points that were recorded together with the last one
                left = {point.key: point for point in batch if point.key not in self.measured}
                for measured in read_own(self.store, left):
                    self._add(replace(measured, reused=False))
            finally:
                self.shared, self.dropped = runner.shared, runner.dropped
                self.seconds = time.monotonic() - start
        return self

    def _take(self, outcome: TaskOutcome, progress: Progress) -> None:
        """Add the outcome of a point to the results and to the fronts."""
        point, error = outcome.task.point, outcome.error
        if error:
            self.failed[point.key] = Failed(point, error, earlier=outcome.reused)
            if not outcome.reused:
                progress.say(f"{self._counted} {point}: failed: {error}")
            return
        self._add(outcome.result)
        if not outcome.reused and outcome.seconds >= LONG_SECONDS:
            progress.say(f"{self._counted} {point}: {self._told(point) or 'ok'} ({outcome.seconds:.1f} s)")

    def _add(self, measured: Measured) -> None:
        point = measured.point
        measured = replace(measured, broken=tuple(self.space.after(point, measured.figures)))
        self.measured[point.key] = measured
        if not measured.competes:
            return
        goals = self.goals_at(point.stage)
        for operation, values in pareto.figures_by_operation(measured.figures, goals).items():
            work = Work.of(point, operation or point.workload)
            member = Member(measured, values)
            self.members.setdefault(work, []).append(member)
            self.fronts.setdefault(work, pareto.Front()).add(pareto.to_minimise(values, goals), member)

    def _judged(self, key: str) -> Judged:
        """The result of a point for the search: the sum over its operations, which preserves dominance."""
        measured = self.measured.get(key)
        if measured is None:
            return Judged(None)
        metrics = [metric_at(metric, measured.point.stage) for metric in self.goals]
        rows = list(pareto.figures_by_operation(measured.figures, metrics).values())
        if not rows:
            return Judged(None)
        sums = [sum(column) for column in zip(*rows, strict=True)]
        return Judged(pareto.to_minimise(sums, self.goals), len(measured.marks) + len(measured.broken))

    # ---- progress

    @property
    def _counted(self) -> str:
        return f"[{len(self.measured) + len(self.failed)}/{self.search.count}]"

    def _told(self, point: Point) -> str:
        """The objectives of a measured point as text."""
        measured = self.measured[point.key]
        goals = self.goals_at(point.stage)
        told = [
            " ".join([operation, *(f"{name} {value:,.6g}" for name, value in zip(goals, row, strict=True))])
            for operation, row in pareto.figures_by_operation(measured.figures, goals).items()
        ]
        return "; ".join(mark.strip() for mark in (*told, *measured.marks, *measured.broken))

    def _words(self) -> str:
        """The number of points on the front and the best value of each objective, or the number on several
        fronts; and the number of failed points.
        """
        words = [f"{len(self.failed)} failed"] if self.failed else []
        if len(self.fronts) > 1:
            words.insert(0, f"{sum(map(len, self.fronts.values()))} on {len(self.fronts)} fronts")
        elif self.fronts:
            ((work, front),) = self.fronts.items()
            columns = zip(*(vector for vector, _ in front.sorted()), strict=True)
            goals = self.goals_at(work.stage).items()
            best = [
                f"{metric} {sign * min(column):,.6g}"
                for (metric, sign), column in zip(goals, columns, strict=True)
            ]
            words.insert(0, f"{len(front)} on the front, best {' and '.join(best)}")
        return ", ".join(words)


# ---- reading the store


def read(store: Store, points: Mapping[str, Point]) -> list[Measured]:
    """The measured ones among these points, with their newest figures, or else their reference results."""
    measured = read_own(store, points)
    reference = store.reference
    if not isinstance(reference, Reference):
        return measured
    own = {item.point.key for item in measured}
    others = ((point, reference.verified(point)) for key, point in points.items() if key not in own)
    return [*measured, *(_known(point, *found) for point, found in others if found is not None)]


def read_own(store: Store, points: Mapping[str, Point]) -> list[Measured]:
    """The points of the store itself, without its reference results."""
    present = _present(store, points)
    newest = store.newest(list(present))
    return [_known(present[name], number, found) for name, number, found in newest]


def _known(point: Point, number: int, found: Measurement) -> Measured:
    """A point that was measured before."""
    return Measured(point, found.figures, found.marks, found.seconds, number, reused=True)


def failures(store: Store, points: Mapping[str, Point]) -> dict[str, str]:
    """Why points failed on the current hardware, by key."""
    present = _present(store, points)
    return {present[failure.key].key: failure.message for failure in store.failures(list(present))}


def _present(store: Store, points: Mapping[str, Point]) -> dict[str, Point]:
    """The points that the store may know, by their current versions. Only their hardware is translated."""
    known = store.read().keys
    return {point.version: point for key, point in points.items() if key in known}
