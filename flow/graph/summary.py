"""Summary of a run: every figure in summary.json, and a one-screen text (summary_text.py).

A figure is comparable only if its netlist passed the tests, was not disproved, was routed and meets its
clock; `marks` lists the reasons why it is not, failed routing and a missed clock first. A time is the number
of cycles times a period that is known to be met, `met_ns`; without a verdict on the clock there is no time.
Top-level figures are those after layout if there is one; `before_layout` and `after_layout` have both. If the
timing of a placed netlist was not analysed there is no verdict either, as the one before layout belongs to
another netlist. `left_out` has the steps that could not run, with the reasons.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ...fl.errors import some
from .. import description, metric, product
from ..check.deck import Rules
from ..files import replace_text
from ..kit.kit import FAST
from ..layout.placement import Placement
from ..layout.route import Routing
from ..layout.wires import WiresSummary
from ..metric import NETLISTS, Value, counting
from ..power.report import NO_ENERGY, PowerReport, beside_published
from ..product import Product, StepRun
from ..prove.report import PROVED, REFUTED, UNDECIDED, Equivalence
from ..synth.area import MAPPED, PLACED, Area
from ..synth.synthesis import SynthesisReport
from ..timing.clock_search import HighestClocks, Searched
from ..timing.report import NO_PATHS, TimingReport, WorstPath
from ..timing.wire_table import Source
from ..workload import MOST_NAMED, Simulated
from . import graph
from .figures import Core, Figures, Headline, Ran, Step, Summary, Verdict
from .summary_text import text

P = TypeVar("P", bound=Product)
WIRES: dict[Source, str] = {
    "none": "no wires",
    "model": "wires by the library's wire-load model",
    "placement": "wires estimated from the placement",
    "routing": "wires by global routing",
}
IN_DETAIL = "wires as they are routed in detail"
SIMULATED = {"rtl": "rtl_sim.json", "gates": "gate_sim.json", "placed gates": "gate_sim_post.json"}
TESTED = {"rtl": "the design", "gates": "the netlist", "placed gates": "the placed netlist"}
ACTIVITY = {
    "zero-delay": "power is without glitches",
    "timed": "with the delays of the cells, glitches included",
}
NOT_TESTED = "the netlist has not been tested"
NOT_TIMED = "the netlist's timing has not been analysed"
PLACED_NOT_TIMED = (
    "the timing of the placed netlist has not been analysed: slacks and clocks are those before layout"
)
BY_GLOBAL_ROUTES = "the figures after layout are those of global routes, not of wires that can be built"
SUPPOSED = "; before layout a period is met if it is met with the wires that sizing supposes as well"
INCOMPLETE = (NOT_TESTED, NOT_TIMED, PLACED_NOT_TIMED, NO_PATHS)  # marks of figures that are not wrong


class Read:
    """The existing outputs of the steps."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        def found(kind: type[P], name: str = "") -> P | None:
            name = name or kind.FILE
            return product.read(files[name], kind) if name in files else None

        self.design = description.load(files["design.json"])
        self.synthesis = found(SynthesisReport)
        self.mapped = found(Area) or found(Area, MAPPED)
        self.placed = found(Area, PLACED)
        self.timing, self.timing_post = found(TimingReport), found(TimingReport, "timing_post.json")
        self.power, self.power_post = found(PowerReport), found(PowerReport, "power_post.json")
        self.last_timing, self.last_power = self.timing_post or self.timing, self.power_post or self.power
        self.placement, self.routing = found(Placement), found(Routing)
        self.wires = found(WiresSummary)
        self.proof = found(Equivalence)
        self.rules = found(Rules)
        every = {name: found(Simulated, file) for name, file in SIMULATED.items()}
        self.simulated = {name: result for name, result in every.items() if result is not None}
        runs = (found(StepRun, graph.step(name).run_file) for name in graph.ORDER)
        self.runs = [run for run in runs if run is not None]


def summarize(
    files: Mapping[str, Path],
    out: Path | None = None,
    *,
    clock_ns: float,
    left_out: Mapping[str, str] | None = None,
    fresh: Collection[str] = (),
    seconds: float | None = None,
    searched: HighestClocks | None = None,
) -> Summary:
    """Combine the outputs of the steps into one summary; write it to `out` if given.

    fresh: steps that ran now; seconds: duration of the whole run; searched: result of the clock search.
    """
    read = Read(files)
    design, area, proof = read.design, read.placed or read.mapped, read.proof
    before = _figures(read.mapped, read.timing, read.power)
    after = _layout(read, _figures(read.placed, read.timing_post, read.power_post))
    last = None
    if searched is not None:
        last = searched.after_layout or searched.before_layout
        _take(before, searched.before_layout)
        _take(after, searched.after_layout)
    # all from one netlist, as layout changes cells
    best = after if read.placed or after.verdict is not None else before
    tests = {name: Ran(result.tests_passed, result.tests_failed) for name, result in read.simulated.items()}
    cycles = next((result.cycles for result in reversed(read.simulated.values())), {})
    times = {} if best.met_ns is None else {name: round(n * best.met_ns, 3) for name, n in cycles.items()}
    report = Summary(
        design=design.name,
        top=design.top,
        nbits=design.nbits,
        interface=design.interface,
        place=design.place,
        parameters=design.parameters,
        clock_ns=clock_ns,
        style=read.synthesis.style if read.synthesis else None,
        cells=area.cells if area else None,
        flops=area.flops if area else None,
        clock_gates=area.clock_gates if area else None,
        area_by_module=area.by_module if area else [],
        **_headline(best, area, last),
        cycles=cycles,
        time_ns=times,
        tests_passed=sum(test.passed for test in tests.values()),
        tests_failed=sum(test.failed for test in tests.values()),
        tests=tests,
        equivalence=_verdict(proof) if proof else None,
        before_layout=before if before.any else None,
        after_layout=after if after.any else None,
        steps=[Step(**msgspec.structs.asdict(run), cached=run.name not in fresh) for run in read.runs],
        paper=beside_published(best.energy_nj or {}, design.published),
        left_out=dict(left_out or {}),
        seconds=seconds,
        marks=[],
        comparable=False,
        caveats=list(_caveats(read)),
        trials=last.trials if last is not None else [],
        corners=_corners(read),
        derate=_derate(read),
        rules=read.rules,
        unrouted=_unrouted(read, left_out or {}),
        corner_ns=read.last_timing.corner_ns if read.last_timing else {},
    )
    if searched is not None:
        trials = f"{len(searched.before_layout.trials)} trials"
        if searched.after_layout is not None:
            trials += f" before layout and {len(searched.after_layout.trials)} after"
        report.caveats.append(f"the clock was searched in {trials}{SUPPOSED}")
    report.core = _core(design.core, area, best)
    if report.core is not None:
        report.caveats += _caveats_of_core(report.core, report.worst_path)
    report.values = _values(report, read)
    report.marks += _marks(report, read, before, best)
    report.comparable = not report.marks
    if out is not None:
        report.write(out)
        replace_text(out / "summary.txt", text(report) + "\n")
    return report


def _values(report: Summary, read: Read) -> list[Value]:
    """The values that count, with those that follow from several steps; of a core, if one is measured."""
    counted = counting((value for run in read.runs for value in run.values), graph.metrics())
    last = max((value.netlist for value in counted), key=NETLISTS.index, default="")
    derived = {
        metric.TIME: report.time_ns,
        metric.CLOCK: {"": report.clock_ns},
        metric.HIGHEST_CLOCK: {} if report.fmax_mhz is None else {"": report.fmax_mhz},
    }
    if (core := report.core) is not None:
        derived |= {
            metric.AREA: {"": core.area_um2},
            metric.CELLS: {"": core.cells},
            metric.FLOPS: {"": core.flops},
            metric.POWER: {} if core.power_mw is None else {"": core.power_mw},
            metric.ENERGY: core.energy_nj or {},
            metric.ENERGY_WITH_GLITCHES: core.energy_with_glitches_nj or {},
            metric.ENERGY_INERTIAL: core.energy_inertial_nj or {},
            # the spread of the energy is known only for the whole top module
            metric.ENERGY_DRAWN: {},
            metric.ENERGY_DRAWN_STD: {},
        }
    replaced = {item.name for item in derived}
    values = [value for value in counted if value.metric not in replaced]
    for item, numbers in derived.items():
        values += [Value(item.name, number, operation, last) for operation, number in numbers.items()]
    order = [*graph.metrics()]
    return sorted(values, key=lambda value: order.index(value.metric))


def _headline(figures: Headline, area: Area | None, search: Searched | None) -> dict[str, Any]:
    """The main figures of a netlist as fields of a Summary, with the last area and the clock of a search."""
    values = msgspec.structs.asdict(figures)
    chosen = {name: values[name] for name in Headline.__struct_fields__}
    area_um2, period_ns = area.area_um2 if area else None, search.period_ns if search else None
    return chosen | {"area_um2": area_um2, "period_ns": period_ns}


def good(report: Summary, targets: Collection[str]) -> bool:
    """Whether nothing is wrong with the figures and all targets were done."""
    wrong = [mark for mark in report.marks if mark not in INCOMPLETE]
    return not wrong and not {*undone(report)} & {*targets}


def undone(report: Summary) -> dict[str, str]:
    """The steps left out, with the reasons, except those for which the design has no vectors or no energy
    rows.
    """
    return {name: why for name, why in report.left_out.items() if why not in (graph.NO_VECTORS, NO_ENERGY)}


def _figures(area: Area | None, timing: TimingReport | None, power: PowerReport | None) -> Figures:
    """Area, timing and power of one netlist."""
    figures = Figures(area_um2=area.area_um2 if area else None)
    if timing is not None:
        figures.wns_ns, figures.hold_wns_ns, figures.tns_ns = timing.wns_ns, timing.hold_wns_ns, timing.tns_ns
        figures.met, figures.met_ns, figures.verdict = timing.met, timing.met_ns, timing.verdict
        figures.wires = timing.wires
        figures.wns_by_model_ns = timing.wns_by_model_ns or None
        figures.timing_engine = timing.engine
        figures.fmax_by = "search" if timing.fmax_mhz is not None else "slack"
        figures.fmax_mhz = timing.highest_mhz
        for path in timing.paths[:1]:
            figures.worst_path = path.short
    if power is not None:
        figures.energy_nj, figures.power_mw = power.energy_nj, power.total_mw
        figures.power_by_group, figures.power_by_module = power.by_group, power.by_module
        figures.drop_mv = power.drop_mv
        if power.with_glitches is not None:
            figures.energy_with_glitches_nj = power.with_glitches.energy_nj
        if power.inertial is not None:
            figures.energy_inertial_nj = power.inertial.energy_nj
            figures.energy_spread_nj = power.inertial.spread_nj or None
    return figures


def _verdict(proof: Equivalence) -> Verdict:
    count = Counter(part.result for part in proof.parts)
    counts = {result: count[result] for result in (PROVED, REFUTED, UNDECIDED)}
    return Verdict(proof.equivalent, proof.refuted, proof.summary, **counts)


def _take(figures: Figures, searched: Searched | None) -> None:
    """Use the highest clock of the trials instead of the one from this netlist's slack."""
    if searched is not None and searched.period_ns is not None:
        figures.fmax_mhz, figures.fmax_by = searched.fmax_mhz, "trials"
        figures.period_ns, figures.trials = searched.period_ns, searched.trials


def _layout(read: Read, figures: Figures) -> Figures:
    """Add the figures that only a layout has."""
    if read.placement is not None:
        figures.die_um, figures.density = read.placement.die_um, read.placement.density
        figures.clock_tree = read.placement.clock_tree
    figures.wires_total = read.wires
    if read.routing is not None:
        figures.routed = read.routing.success
        figures.wire_um = round(read.routing.length_um)
    return figures


def _core(instance: str, area: Area | None, figures: Figures) -> Core | None:
    """Area of an instance, and its power and energies by its share of the power."""
    own = next((found for found in (area.by_module if area else ()) if found.path == instance), None)
    if not instance or own is None:
        return None
    power = next((found for found in figures.power_by_module or () if found.path == instance), None)

    def shared(energies: dict[str, float] | None) -> dict[str, float] | None:
        if power is None or energies is None:
            return None
        return {operation: value * power.share for operation, value in energies.items()}

    return Core(
        instance=instance,
        area_um2=own.area_um2,
        cells=own.cells,
        flops=own.flops,
        power_mw=power.total_mw if power else None,
        energy_nj=shared(figures.energy_nj),
        energy_with_glitches_nj=shared(figures.energy_with_glitches_nj),
        energy_inertial_nj=shared(figures.energy_inertial_nj),
    )


# ---- marks and caveats


def _caveats_of_core(core: Core, path: WorstPath | None) -> Iterator[str]:
    yield (
        f"area, power and energy of {core.instance} alone count; what is around it only drives it, and is "
        "in the figures of the whole; "
        "energies by its share of the power of both operations"
    )
    if path is not None and not all(end.startswith(f"{core.instance}.") for end in (path.start, path.end)):
        yield f"the worst path begins or ends outside {core.instance}: by itself it is as fast or faster"


def _marks(report: Summary, read: Read, before: Figures, last: Figures) -> Iterator[str]:
    """The reasons why the figures do not count, failed routing and a missed clock first."""
    if report.unrouted:
        yield f"routing failed: {report.unrouted}" + (f"; {BY_GLOBAL_ROUTES}" if read.routing else "")
    if last.met is False:
        yield f"{'' if last is before else 'after layout '}{last.verdict}"
    for name, where in TESTED.items():
        if name in report.tests and report.tests[name].failed:
            names = [failure.name for failure in read.simulated[name].failures]
            yield f"{where} fails {report.tests[name].failed} of its tests: {some(names, MOST_NAMED)}"
    if "gates" not in report.tests and report.cells is not None:
        yield NOT_TESTED
    if last.met is None and report.cells is not None:
        yield last.verdict or (NOT_TIMED if last is before else PLACED_NOT_TIMED)
    if report.equivalence is not None and report.equivalence.refuted:
        yield f"the netlist is not what the design says: {report.equivalence.summary}"
    if last is not before and before.met is False:
        yield f"before layout {before.verdict}"
    if read.rules is not None and read.rules.wrong:
        yield f"the layout has faults: {read.rules.text}"


def _unrouted(read: Read, left_out: Mapping[str, str]) -> str:
    """Why a placed netlist could not be routed; empty if it was routed, or if that was not asked for."""
    if read.routing is not None:
        return read.routing.failure
    return left_out.get(Routing.STEP, "") if read.placement is not None else ""


def _wires(read: Read, source: Source) -> str:
    """The source of the wires in words."""
    in_detail = source == "routing" and read.routing is not None and read.routing.detailed.done
    return IN_DETAIL if in_detail else WIRES[source]


def _corners(read: Read) -> dict[str, str]:
    """The corner of each kind of figure."""
    timing, power = read.last_timing, read.last_power
    corners = {"setup": timing.corner, "hold": timing.hold_corner} if timing else {}
    return corners | ({"power": power.corner} if power else {})


def _derate(read: Read) -> float:
    """The derate of timing."""
    return read.last_timing.constraints.get("derate", 0.0) if read.last_timing else 0.0


def _caveats(read: Read) -> Iterator[str]:
    if read.synthesis:
        yield from read.synthesis.caveats
    if (timing := read.last_timing) is not None:
        corners = _corners(read)
        derate = f", derate {_derate(read):.0%}" if _derate(read) else ""
        one = f"one corner, {timing.corner}{derate or ', no derate'}" if len({*corners.values()}) == 1 else ""
        no_fast = f"hold at {timing.hold_corner}: no fast corner"
        fast = "" if one or timing.hold_corner.startswith(FAST) else no_fast
        by = f"timing by {timing.engine} {timing.engine_version}".strip()
        yield "; ".join(filter(None, (by, one, fast, _wires(read, timing.wires))))
        yield from timing.caveats
    if (power := read.last_power) is not None:
        how = f"{ACTIVITY[power.mode]}; {_wires(read, power.wires)}"
        yield f"power: activity of the netlist by simulation, {how}"
        yield from power.caveats
    proof = read.proof
    if proof is not None and not proof.equivalent and not proof.refuted:
        yield f"equivalence: {proof.summary}; the tests speak for the rest"
