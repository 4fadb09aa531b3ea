"""Sweep: the campaign that measures the points of a space, and their Pareto fronts.

Measured points are read from the ledger; failed points are not tried again unless requested.

Figures are compared only within one Work: the same width, operation, interface, stage, device and, for
machines that accept only one modulus, modulus. Each Work has its own front over the objectives that its stage
measures. At a stage without a clock, cycles replace the time. At a stage with a clock, the time replaces
cycles, because cycles at different clocks are not comparable (with flow.fmax each point runs at its own
highest clock). Points with marks (a missed clock), points that break a constraint, and the total of workload
exponents are on no front.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..designs.interfaces import DEFAULT
from ..designs.system_catalogue import HARDWARE, SOFTWARE
from ..designs.workload_names import EXPONENTS
from ..progress import Progress
from . import measure, pareto
from .campaign import Campaign
from .ledger.ledger import Ledger
from .metrics import METRICS, Figure, Measurement
from .point import Point, key_in
from .schedulers import Scheduler
from .search import Judged, Search
from .space import Space
from .stages import IMPLEMENTED, STAGES
from .task import Cost, Report, Task, TaskOutcome

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
    number: int  # of the measurement in the ledger
    reused: bool  # it was in the ledger before
    broken: tuple[str, ...] = ()  # constraints on figures that it violates

    @property
    def competes(self) -> bool:
        """Whether it may be on a front. The total of `exponents` is no cost: it only shows whether cycles
        depend on the exponent.
        """
        return not self.marks and not self.broken and self.point.workload != EXPONENTS


class Failed(NamedTuple):
    """A point without figures."""

    point: Point
    message: str
    earlier: bool  # in an earlier sweep, and not tried again


class Member(NamedTuple):
    """A point on a front, with its values in the order of the objectives."""

    measured: Measured
    values: tuple[float, ...]


def cost_of(stage: str, subject: str, nbits: int, searched: bool) -> Cost:
    """The cost of a point. At stages of the flow it is proportional to the width, as far as known beforehand,
    and several times as high with a search for the highest clock.
    """
    implemented = stage in IMPLEMENTED
    system = implemented and subject.startswith((SOFTWARE, HARDWARE))
    factor = (SYSTEM_FACTOR if system else 1.0) * (SEARCHES if searched else 1.0)
    weight = nbits / GUESSED_NBITS if implemented and nbits else 1.0
    return Cost(((stage, searched), subject, nbits), weight, STAGES[stage].seconds * factor * weight)


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
        return cost_of(point.stage, point.subject, point.nbits, bool(dict(point.flow).get("fmax")))

    def run(self, report: Report) -> Measurement:
        return measure.measure(self.point, jobs=1)  # points already occupy the cores


@dataclass(frozen=True)
class Points:
    """The measurements and failures of a ledger as the memory of a sweep; the results are Measured."""

    ledger: Ledger
    retry: bool = False

    def recall(self, tasks: Mapping[str, Measuring]) -> Iterator[TaskOutcome]:
        points = {key: task.point for key, task in tasks.items()}
        measured = read(self.ledger, points)
        for item in measured:
            yield TaskOutcome(tasks[item.point.key], item, seconds=item.seconds, reused=True)
        if not self.retry:
            for key, message in failures(self.ledger, points).items():
                yield TaskOutcome(tasks[key], None, message, reused=True)

    def keep(self, outcome: TaskOutcome) -> TaskOutcome:
        point, measurement = outcome.task.point, outcome.result
        if measurement is None:
            self.ledger.fail(point, outcome.error, outcome.seconds)
            return outcome
        number = self.ledger.record_first(point, measurement)
        if number is None:  # another sweep with the same ledger was faster
            for measured in read(self.ledger, {point.key: point}):
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
    ledger: Ledger
    search: Search
    retry: bool = False
    measured: dict[str, Measured] = field(default_factory=dict)  # by key
    failed: dict[str, Failed] = field(default_factory=dict)
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
        """The number of points that were in the ledger."""
        return len(self.measured) - self.new

    # ---- the run

    def run(self, scheduler: Scheduler, name: str, *, quiet: bool = False) -> "Sweep":
        """Measure until the search ends, or until Ctrl-C; BadInput if continuing is pointless."""
        start = time.monotonic()
        count = self.search.count
        with scheduler, Progress(name, count, unit="point", quiet=quiet) as progress:
            campaign = Campaign(scheduler, progress, Points(self.ledger, self.retry), count)
            campaign.words = self._words
            progress.say(f"{name}: {count} points, {scheduler.name}; the ledger is {self.ledger.path}")
            try:
                while batch := list(self.search.ask()):
                    for outcome in campaign.run(map(Measuring, batch)):
                        self._take(outcome, progress)
                    self.search.tell({point.key: self._judged(point.key) for point in batch})
            except KeyboardInterrupt:
                self.interrupted = True
            finally:
                self.shared, self.dropped = campaign.shared, campaign.dropped
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
            vector = pareto.to_minimise(values, goals)
            self.fronts.setdefault(work, pareto.Front()).add(vector, Member(measured, values))

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


# ---- reading the ledger


def read(ledger: Ledger, points: Mapping[str, Point]) -> list[Measured]:
    """The measured ones among these points, with their newest figures."""
    present = _present(ledger, points)
    return [
        Measured(present[name], found.figures, found.marks, found.seconds, number, reused=True)
        for name, number, found in ledger.newest(list(present))
    ]


def failures(ledger: Ledger, points: Mapping[str, Point]) -> dict[str, str]:
    """Why points failed on the current hardware, by key."""
    present = _present(ledger, points)
    return {present[failure.key].key: failure.message for failure in ledger.failures(list(present))}


def _present(ledger: Ledger, points: Mapping[str, Point]) -> dict[str, Point]:
    """The points that the ledger may know, by their current versions. Only their hardware is translated."""
    known = set(map(key_in, ledger.names()))
    return {point.version: point for key, point in points.items() if key in known}
