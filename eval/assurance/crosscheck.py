"""Crosschecks of area, timing, power and layout figures with other tools (flow/check), for one point or a
whole space.

A point first goes through the flow, most of which the cache has; a store keeps the comparison. An
interrupted command therefore continues where it stopped.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from ...fl.errors import BadInput
from ...flow.check import check
from ...flow.check.report import Compared, FiguresReport
from ...flow.kit import kit
from ...flow.timing import opensta
from ...rtl.sim import cache, sources
from ..lab.asic_run import run_asic, targets
from ..lab.executors import Executor, Report
from ..lab.flow_settings import EQUIVALENCE, KIT, check_flow
from ..lab.point import Point
from ..lab.runner import Results, Runner, Task
from ..lab.space import Space
from ..lab.stages import FLOW, LAYOUT
from ..lab.store.store import Store
from ..progress import Progress

PLACES = (FLOW, LAYOUT)


class Opinion(NamedTuple):
    """The result of another tool for one point; without a report, the reason."""

    point: Point
    report: FiguresReport | None
    error: str = ""

    @property
    def wrong(self) -> list[Compared]:
        """The unexplained differences."""
        return self.report.wrong if self.report is not None else []

    @property
    def good(self) -> bool:
        """All figures agree, or the reason for the difference is known."""
        return self.report is not None and not self.report.wrong


def points(space: Space) -> list[Point]:
    """The points of a space that have a netlist, without repetition; BadInput if there are none."""
    found = [point for point in dict.fromkeys(space.points()) if point.stage in PLACES]
    if not found:
        raise BadInput(
            f"no point of this space is at a stage with a netlist: give one with {' or '.join(PLACES)}"
        )
    return found


@dataclass(frozen=True)
class Asking(Task):
    """The task of running the other tools on a point."""

    point: Point
    say: Callable[[str], None]
    jobs: int  # parallel steps of its flow

    @property
    def key(self) -> str:  # type: ignore[override]
        return cache.key(self.point.version, opensta.version(), sources.digest("flow.check.check"))

    def run(self, report: Report) -> Any:
        return msgspec.to_builtins(compared(self.point, self.say, self.jobs))


def _silent(_step: str) -> None:
    """Report nothing: a worker has no progress line."""


def opinions(
    chosen: Sequence[Point], executor: Executor, progress: Progress, store: Store
) -> Iterator[Opinion]:
    """Yield the opinions, known ones first; an impossible point or a failing tool does not end the run. A bug
    ends the run only if it occurs in this process; in a worker it becomes the error of that netlist.
    """
    check.require()
    say = progress.describe if executor.breaks_off else _silent
    jobs = 2 if len(chosen) == 1 else 1  # the points of a space occupy the cores
    with executor:
        tasks = [Asking(point, say, jobs) for point in chosen]
        for outcome in Runner(executor, progress, Results(store)).run(tasks):
            report = None if outcome.error else msgspec.convert(outcome.result, FiguresReport)
            yield Opinion(outcome.task.point, report, outcome.error)


def compared(point: Point, say: Callable[[str], None], jobs: int) -> FiguresReport:
    """The figures of a point compared with those of the other tools."""
    point.check()
    flow = {name: value for name, value in point.flow if name not in (EQUIVALENCE, KIT)}
    adk = kit.named(point.kit) if point.kit else None
    wanted = targets(layout=point.stage == LAYOUT, skip=(EQUIVALENCE,))
    say(f"{point}: flow")
    outcome, _ = run_asic(
        wanted,
        point.chip(),
        check_flow(flow),
        lambda event: say(f"{point}: {event.step}"),
        jobs=jobs,
        adk=adk,
    )
    return check.figures(outcome.files(), lambda what: say(f"{point}: {what}"), adk=adk)
