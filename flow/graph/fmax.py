"""Search for the highest clock of a design, by synthesis or by layout (timing/clock_search.py chooses the
trials).

Before layout a clock is met if the engine of the step timing meets it without wires and sizing meets it with
its assumed wires. The search with layout begins where the search before layout ended, and uses the wires and
the clock tree of each layout. It may end at a shorter period, as the wires that sizing assumes may be longer
than those of the layout. A trial is a run of the graph up to timing, so that all trials are cached; the flow
at the found clock, and the same search again, take them from the cache.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import product
from ..kit.constraints import CLOCK_NS
from ..layout.routing import Routing
from ..progress import Event, Report, stopwatch
from ..source import Source
from ..synth.area import PLACED, Area
from ..synth.sizing.report import Sizing
from ..timing.clock_search import ClockSearch, HighestClocks, Searched, Trial
from ..timing.report import TimingReport
from .runner import JOBS, FlowError, FlowResult, run_flow

FMAX = "fmax"  # name of the parameter
BEFORE, AFTER = "timing", "timing-post"  # the steps that decide


def highest_clocks(
    design: Source,
    parameters: Mapping[str, Any],
    report: Report = lambda _: None,
    *,
    layout: bool = False,
    adk: Path | None = None,
    jobs: int = JOBS,
) -> HighestClocks:
    """Search, starting at the clock of these parameters; if that is not the default, the answer is expected
    near it.
    """

    def outcome(step: str) -> Callable[[float], FlowResult]:
        return lambda clock_ns: run_flow(
            [step], design, {**parameters, "clock_period": clock_ns, FMAX: False}, report, adk=adk, jobs=jobs
        )

    start_ns = parameters["clock_period"]
    search = ClockSearch(start_ns, near=start_ns != CLOCK_NS)
    before = searched(search, outcome(BEFORE), report, "")
    if not layout:
        return HighestClocks(before)
    again = ClockSearch(before.clock_ns, near=True)
    return HighestClocks(before, searched(again, outcome(AFTER), report, "layout, "))


def searched(
    search: ClockSearch,
    run: Callable[[float], FlowResult],
    report: Report = lambda _: None,
    what: str = "",
) -> Searched:
    """Run the flow at the clocks that the search requests."""
    whole = stopwatch()
    while (clock_ns := search.ask()) is not None:
        name, elapsed = f"{what}trial {len(search.trials) + 1}", stopwatch()
        report(Event(name, "begins"))
        report(Event(name, "going", message=_expected(search, clock_ns, whole())))
        trial = judged(run(clock_ns), clock_ns)
        search.tell(trial)
        area = "" if trial.area_um2 is None else f", {trial.area_um2:,.0f} um^2"
        report(Event(name, "done", elapsed(), f"{trial}{area}"))
    return Searched(search.best.clock_ns if search.best else None, list(search.trials))


def _expected(search: ClockSearch, clock_ns: float, seconds: float) -> str:
    """The clock, its current bounds, and the remaining trials and time."""
    left, done = search.left, len(search.trials)
    words = (
        f"{clock_ns:g} ns",
        f"{search.missed_ns:g} missed" if search.missed_ns else "",
        f"{search.best.clock_ns:g} met" if search.best else "",
        f"about {left} trial{'s' if left > 1 else ''} left",
        f"{left * seconds / done:.0f} s" if done else "",
    )
    return ", ".join(filter(None, words))


def judged(outcome: FlowResult, clock_ns: float) -> Trial:
    """The trial of a run: its slack, area, and whether it met the clock; FlowError if its timing could not be
    analysed or its layout not be routed.
    """
    files = outcome.files()
    after = "timing_post.json" in files
    timing = "timing_post.json" if after else TimingReport.FILE
    if timing not in files:
        lost = {**outcome.left_out, **outcome.failed}
        reasons = "; ".join(f"step {name}: {reason}" for name, reason in lost.items())
        raise FlowError(f"there is no verdict on {clock_ns:g} ns: {reasons}")
    if after and (why := product.read(files[Routing.FILE], Routing).failure):
        raise FlowError(f"there is no verdict on {clock_ns:g} ns: routing failed: {why}")
    slack = product.read(files[timing], TimingReport).wns_ns
    area = product.read(files[PLACED if after else Area.FILE], Area).area_um2
    sized = None if after else product.read(files[Sizing.FILE], Sizing).after
    if slack is not None and sized is not None:
        slack = min(slack, sized.wns_ns)
    return Trial(clock_ns, slack, area, slack is not None and slack >= 0)
