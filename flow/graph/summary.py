"""Summary of a run: every figure in summary.json, and a one-screen text (summary_text.py).

A figure counts as comparable only if its netlist passed the tests, was not disproved, and meets its clock:
`marks` lists the reasons why it does not, a missed clock first. A time is the number of cycles times the
period that timing found to be met, `met_ns`; without a verdict on the clock there is no time. Figures at
the top level are those after layout if there is one; `before_layout` and `after_layout` have both.
With a placed netlist whose timing was not analysed there is no verdict either: that before layout is of
another netlist.
`left_out` has the steps that could not be done, with the reasons.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from .. import description, product
from ..files import replace_text
from ..layout.placement import Placement
from ..layout.route import Routing
from ..layout.wires import WiresSummary
from ..power import energy
from ..power.report import PowerReport
from ..product import Product, StepRun
from ..prove.report import Equivalence
from ..synth.area import PLACED, Area
from ..synth.synthesis import SynthesisReport
from ..timing.clock_search import HighestClocks, Searched
from ..timing.report import NO_PATHS, TimingReport
from ..timing.wire_table import Source
from ..workload import Simulated
from . import graph
from .figures import MHZ, Core, Figures, Ran, Step, Summary, Verdict, WorstPath
from .summary_text import text

P = TypeVar("P", bound=Product)
MOST_NAMED = 4  # rows that failed, in a mark
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
SUPPOSED = "; before layout a period is met if it is met with the wires that sizing supposes as well"


class Read:
    """The outputs of the steps that there are."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        def found(kind: type[P], name: str = "") -> P | None:
            name = name or kind.FILE
            return product.read(files[name], kind) if name in files else None

        self.design = description.load(files["design.json"])
        self.synthesis = found(SynthesisReport)
        self.mapped, self.placed = found(Area), found(Area, PLACED)
        self.timing, self.timing_post = found(TimingReport), found(TimingReport, "timing_post.json")
        self.power, self.power_post = found(PowerReport), found(PowerReport, "power_post.json")
        self.placement, self.routing = found(Placement), found(Routing)
        self.wires = found(WiresSummary)
        self.proof = found(Equivalence)
        every = {name: found(Simulated, file) for name, file in SIMULATED.items()}
        self.simulated = {name: result for name, result in every.items() if result is not None}
        runs = (found(StepRun, graph.declaration(name).run_file) for name in graph.ORDER)
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

    fresh: steps that ran now; seconds: of the whole run; searched: how the clock was found.
    """
    read = Read(files)
    design, area = read.design, read.placed or read.mapped
    before = _figures(read.mapped, read.timing, read.power)
    after = _layout(read, _figures(read.placed, read.timing_post, read.power_post))
    last = None
    if searched is not None:
        last = searched.after_layout or searched.before_layout
        _take(before, searched.before_layout)
        _take(after, searched.after_layout)
    laid_out = read.placed is not None or after.verdict is not None
    best = after if laid_out else before  # of one netlist: layout changes cells
    tests = {name: Ran(result.tests_passed, result.tests_failed) for name, result in read.simulated.items()}
    cycles = next((result.cycles for result in reversed(read.simulated.values())), {})
    proof = read.proof
    report = Summary(
        design=design.name,
        top=design.top,
        nbits=design.nbits,
        interface=design.interface,
        place=design.place,
        parameters=design.parameters,
        clock_ns=clock_ns,
        met=best.met,
        met_ns=best.met_ns,
        style=read.synthesis.style if read.synthesis else None,
        area_um2=area.area_um2 if area else None,
        area_by_module=area.by_module if area else [],
        cells=area.cells if area else None,
        flops=area.flops if area else None,
        clock_gates=area.clock_gates if area else None,
        wns_ns=best.wns_ns,
        hold_wns_ns=best.hold_wns_ns,
        fmax_mhz=best.fmax_mhz,
        power_mw=best.power_mw,
        energy_nj=best.energy_nj,
        energy_with_glitches_nj=best.energy_with_glitches_nj,
        energy_inertial_nj=best.energy_inertial_nj,
        energy_spread_nj=best.energy_spread_nj,
        cycles=cycles,
        time_ns={}
        if best.met_ns is None
        else {name: round(count * best.met_ns, 3) for name, count in cycles.items()},
        tests_passed=sum(test.passed for test in tests.values()),
        tests_failed=sum(test.failed for test in tests.values()),
        tests=tests,
        equivalence=Verdict(proof.equivalent, proof.refuted, proof.summary) if proof else None,
        worst_path=best.worst_path,
        before_layout=before if before.any else None,
        after_layout=after if after.any else None,
        steps=[Step(**msgspec.structs.asdict(run), cached=run.name not in fresh) for run in read.runs],
        paper=energy.compare(best.energy_nj or {}, design.published),
        left_out=dict(left_out or {}),
        seconds=seconds,
        marks=[],
        comparable=False,
        caveats=_caveats(read),
        period_ns=last.period_ns if last is not None else None,
        trials=last.trials if last is not None else [],
    )
    if searched is not None:
        report.caveats.append(f"the clock was searched in {_trials(searched)}{SUPPOSED}")
    report.core = _core(design.core, area, best)
    report.caveats += _caveats_of_core(report)
    failures = {
        name: [failure.name for failure in simulated.failures] for name, simulated in read.simulated.items()
    }
    report.marks = _marks(report, failures, before, after, read.placed is not None)
    report.comparable = not report.marks
    if out is not None:
        report.write(out)
        replace_text(out / "summary.txt", text(report) + "\n")
    return report


def good(report: Summary, targets: Collection[str]) -> bool:
    """Nothing is wrong with the figures, and everything that was asked for has been done."""
    wrong = [mark for mark in report.marks if mark not in (NOT_TESTED, NOT_TIMED, NO_PATHS)]
    return not wrong and not any(name in report.left_out for name in targets if not _excused(report, name))


def _excused(report: Summary, name: str) -> bool:
    """Verilog without vectors has no tests: nothing failed."""
    reason = report.left_out.get(name, "")
    return reason == graph.NO_VECTORS or (
        name in graph.WITH_VECTORS and graph.NO_VECTORS in report.left_out.values()
    )


def _figures(area: Area | None, timing: TimingReport | None, power: PowerReport | None) -> Figures:
    """Area, timing and power of one netlist."""
    figures = Figures(area_um2=area.area_um2 if area else None)
    if timing is not None:
        figures.wns_ns, figures.tns_ns, figures.met = timing.wns_ns, timing.tns_ns, timing.met
        figures.met_ns, figures.wns_by_model_ns = timing.met_ns, timing.wns_by_model_ns or None
        figures.wires, figures.verdict = timing.wires, timing.verdict
        # from register to register: what drives the inputs, and when, the flow does not know
        figures.hold_wns_ns = timing.hold_inside_wns_ns
        figures.fmax_mhz, figures.fmax_by = timing.fmax_mhz, "search"
        if timing.fmax_mhz is None:
            figures.fmax_by = "slack"
            if timing.wns_ns is not None:
                figures.fmax_mhz = round(MHZ / (timing.clock_ns - timing.wns_ns), 3)
        figures.timing_engine = timing.engine
        for path in timing.paths[:1]:
            figures.worst_path = WorstPath(path.start, path.end, path.slack_ns, path.modules, path.cells)
    if power is not None:
        figures.power_mw, figures.energy_nj = power.total_mw, power.energy_nj
        figures.power_by_group, figures.power_by_module = power.by_group, power.by_module
        figures.energy_by_mode_nj, figures.glitch_ratio = power.energy_by_mode_nj, power.glitch_ratio
        if power.with_glitches is not None:
            figures.energy_with_glitches_nj = power.with_glitches.energy_nj
        if power.inertial is not None:
            figures.energy_inertial_nj = power.inertial.energy_nj
            figures.energy_spread_nj = power.inertial.spread_nj or None
    return figures


def _take(figures: Figures, searched: Searched | None) -> None:
    """The highest clock that trials have found, in place of what this netlist's slack says."""
    if searched is not None and searched.period_ns is not None:
        figures.fmax_mhz, figures.fmax_by = searched.fmax_mhz, "trials"
        figures.period_ns, figures.trials = searched.period_ns, searched.trials


def _trials(searched: HighestClocks) -> str:
    """How many, in words."""
    before, after = searched.before_layout.trials, searched.after_layout
    return f"{len(before)} trials" + (f" before layout and {len(after.trials)} after" if after else "")


def _layout(read: Read, figures: Figures) -> Figures:
    """With what a layout has alone."""
    if read.placement is not None:
        figures.die_um, figures.density = read.placement.die_um, read.placement.density
        figures.clock_tree = read.placement.clock_tree
    figures.wires_total = read.wires
    if read.routing is not None:
        figures.routed = read.routing.success
        figures.wire_um = round(read.routing.length_um)
    return figures


def _core(instance: str, area: Area | None, figures: Figures) -> Core | None:
    """Area of an instance; power and energies by its share of the power."""
    own = (
        next((module_area for module_area in area.by_module if module_area.path == instance), None)
        if area
        else None
    )
    if not instance or own is None:
        return None
    power = next(
        (module_power for module_power in figures.power_by_module or () if module_power.path == instance),
        None,
    )

    def shared(values: Mapping[str, float] | None) -> dict[str, float] | None:
        return (
            None
            if values is None or power is None
            else {name: value * power.share for name, value in values.items()}
        )

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


# ---- what is wrong, and what is to be known


def _caveats_of_core(report: Summary) -> list[str]:
    core = report.core
    if core is None:
        return []
    told = [
        f"area, power and energy of {core.instance} alone count; what is around it only drives it, and is "
        "in the figures of the whole; "
        "energies by its share of the power of both operations"
    ]
    path = report.worst_path
    if path is not None and not all(end.startswith(f"{core.instance}.") for end in (path.start, path.end)):
        told.append(
            f"the worst path begins or ends outside {core.instance}: by itself it is as fast or faster"
        )
    return told


def _failed(names: Sequence[str]) -> str:
    """The rows that failed, by name."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _marks(
    report: Summary,
    failures: Mapping[str, Sequence[str]],
    before: Figures,
    after: Figures,
    placed: bool,
) -> list[str]:
    """Return what is wrong, a missed clock first; failures: names of rows that failed, by where they ran."""
    last, where = (after, "after layout ") if placed or after.verdict is not None else (before, "")
    marks = [f"{where}{last.verdict}"] if last.met is False else []
    for name, where in TESTED.items():
        if name in report.tests and report.tests[name].failed:
            marks.append(f"{where} fails {report.tests[name].failed} of its tests: {_failed(failures[name])}")
    if "gates" not in report.tests and report.cells is not None:
        marks.append(NOT_TESTED)
    if last.met is None and report.cells is not None:
        marks.append(last.verdict or NOT_TIMED)
    if report.equivalence is not None and report.equivalence.refuted:
        marks.append(f"the netlist is not what the design says: {report.equivalence.summary}")
    if last is after and before.met is False:
        marks.append(f"before layout {before.verdict}")
    if after.routed is False:
        marks.append("the router left overflows: too many wires for the layers")
    return marks


def _wires(read: Read, source: Source) -> str:
    """Where the wires are from."""
    in_detail = source == "routing" and read.routing is not None and read.routing.detailed.done
    return IN_DETAIL if in_detail else WIRES[source]


def _caveats(read: Read) -> list[str]:
    caveats = list(read.synthesis.caveats) if read.synthesis else []
    if (timing := read.timing_post or read.timing) is not None:
        caveats.append(f"one corner, typical ({timing.corner}); {_wires(read, timing.wires)}")
        caveats.append(f"timing by {timing.engine} {timing.engine_version}".strip())
        caveats += timing.caveats
    if (power := read.power_post or read.power) is not None:
        how = f"{ACTIVITY[power.mode]}; {_wires(read, power.wires)}"
        caveats.append(f"power: activity of the netlist by simulation, {how}")
        caveats += power.caveats
    proof = read.proof
    if proof is not None and not proof.equivalent and not proof.refuted:
        caveats.append(f"equivalence: {proof.summary}; the tests speak for the rest")
    return caveats
