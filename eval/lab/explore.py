"""Sweep: the campaign that measures the points of a space, and their Pareto fronts.

What has been measured is read from the ledger; what failed is left alone unless it is to be tried again.

Figures are compared only within one Work: the same width, operation, interface, stage, device and, of
machines that take no other, modulus. Each has a front of its own, over those objectives that its stage
measures; cycles stand for a time where there is no clock, and where there is one the time for cycles: cycles
of different clocks are no cost (with flow.fmax each point has the highest of its own). What the ledger has
marks for (a missed clock), what breaks a constraint, and the total of workload exponents are on none.
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
from .task import Cost, Outcome, Report, Task

LONG_SECONDS = 2.0  # a point that takes longer gets a line of its own
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
    def of(cls, point: Point, operation: str) -> "Work":
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


class Failed(NamedTuple):
    """A point without figures."""

    point: Point
    message: str
    earlier: bool  # in a sweep before, and not tried again


class Member(NamedTuple):
    """A point on a front, with its values in the order of the objectives."""

    measured: Measured
    values: tuple[float, ...]


def cost_of(stage: str, subject: str, nbits: int, searched: bool) -> Cost:
    """How long a point takes: stages of the flow longer for a wider machine, in proportion as far as one can
    say beforehand, and several times as long where the highest clock is searched.
    """
    implemented = stage in IMPLEMENTED
    system = implemented and subject.startswith((SOFTWARE, HARDWARE))
    factor = (SYSTEM_FACTOR if system else 1.0) * (SEARCHES if searched else 1.0)
    weight = float(nbits) if implemented and nbits else 1.0
    return Cost(((stage, searched), subject, nbits), weight, STAGES[stage].seconds * factor)


@dataclass(frozen=True)
class Measuring(Task):
    """The task of measuring a point."""

    point: Point

    @property
    def key(self) -> str:  # type: ignore[override]
        return self.point.key

    @property
    def cost(self) -> Cost:  # type: ignore[override]
        point = self.point
        return cost_of(point.stage, point.subject, point.nbits, bool(dict(point.flow).get("fmax")))

    def run(self, report: Report) -> Measurement:
        return measure.measure(self.point, jobs=1)  # the cores are taken by points


@dataclass(frozen=True)
class Points:
    """The measurements and failures of a ledger as the memory of a sweep, whose results are Measured."""

    ledger: Ledger
    retry: bool = False

    def recall(self, tasks: Mapping[str, Measuring]) -> Iterator[Outcome]:
        points = {key: task.point for key, task in tasks.items()}
        measured = read(self.ledger, points)
        for item in measured:
            yield Outcome(tasks[item.point.key], item, seconds=item.seconds, reused=True)
        if not self.retry:
            for key, message in failures(self.ledger, points).items():
                yield Outcome(tasks[key], None, message, reused=True)

    def keep(self, outcome: Outcome) -> Outcome:
        point, measurement = outcome.task.point, outcome.result
        if measurement is None:
            self.ledger.fail(point, outcome.error, outcome.seconds)
            return outcome
        number = self.ledger.record_first(point, measurement)
        if number is None:  # another sweep with the same ledger was faster
            (measured,) = read(self.ledger, {point.key: point})
            return replace(outcome, result=measured, reused=True)
        figures, marks = measurement.figures, measurement.marks
        measured = Measured(point, figures, marks, outcome.seconds, number, reused=False)
        return replace(outcome, result=measured)


TIME, CYCLES = "time_ns", "cycles"


def metric_at(name: str, stage: str) -> str:
    """The metric that a front of this stage has: cycles for the time where it knows no clock, and the time
    for cycles where it does.
    """
    if name in (TIME, CYCLES):
        return TIME if stage in METRICS[TIME].stages else CYCLES
    return name


def goals_at(goals: pareto.Goals, stage: str) -> pareto.Goals:
    """Return the goals that a stage measures."""
    known = {metric_at(metric, stage): sign for metric, sign in goals.items()}
    return {metric: sign for metric, sign in known.items() if stage in METRICS[metric].stages}


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
    shared: bool = False  # another sweep measured points of this one
    dropped: int = 0  # points under way when it was interrupted
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.goals = pareto.goals_of(self.space.objectives)

    def goals_at(self, stage: str) -> pareto.Goals:
        """The objectives of the fronts of this stage."""
        return goals_at(self.goals, stage)

    @property
    def new(self) -> int:
        """Points measured now."""
        return sum(not point.reused for point in self.measured.values())

    # ---- the run

    def run(self, scheduler: Scheduler, name: str, *, quiet: bool = False) -> "Sweep":
        """Measure until the search is over, or Ctrl-C; BadInput if something makes it senseless to go on."""
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

    def _take(self, outcome: Outcome, progress: Progress) -> None:
        """Take a point in, and onto the fronts where it belongs."""
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
        """Return the result for the search: the sum over the operations of a run, which respects every
        front.
        """
        measured = self.measured.get(key)
        if measured is None:
            return Judged(None)
        metrics = [metric_at(metric, measured.point.stage) for metric in self.goals]
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
        goals = self.goals_at(point.stage)
        told = [
            " ".join([operation, *(f"{name} {value:,.6g}" for name, value in zip(goals, row, strict=True))])
            for operation, row in pareto.figures_by_operation(measured.figures, goals).items()
        ]
        return "; ".join(mark.strip() for mark in (*told, *measured.marks, *measured.broken))

    def _words(self) -> str:
        """The size of the front and the best value of each objective, of several fronts the sizes; and how
        many points failed.
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


# ---- what is in the ledger


def read(ledger: Ledger, points: Mapping[str, Point]) -> list[Measured]:
    """Return the measured points, by key, with their newest figures."""
    present = _present(ledger, points)
    return [
        Measured(present[name], found.figures, found.marks, found.seconds, number, reused=True)
        for name, number, found in ledger.newest(list(present))
    ]


def failures(ledger: Ledger, points: Mapping[str, Point]) -> dict[str, str]:
    """Return why points failed on the present hardware, by key."""
    present = _present(ledger, points)
    return {present[failure.key].key: failure.message for failure in ledger.failures(list(present))}


def _present(ledger: Ledger, points: Mapping[str, Point]) -> dict[str, Point]:
    """The points that the ledger may know, by the names that they have now: only those are translated."""
    known = set(map(key_in, ledger.names()))
    return {point.version: point for key, point in points.items() if key in known}
