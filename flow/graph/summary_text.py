"""The summary of a run on one screen."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..metric import KNOWN
from ..synth.area import ModuleArea
from ..timing.clock_search import MHZ
from . import graph
from .figures import Figures, Headline, Summary

MODULES = 12  # lines of the table
PATH_MODULES = 4  # modules named for the worst path
ONE_OF_MANY = re.compile(r"__\d+(?=\.|$)")  # suffix of a component in a list
SHARE = 0.01  # smaller modules are left out of the table
SHOWN = {metric.name for metric in KNOWN}  # metrics that have a place of their own
SMALL_UM2 = 1000  # below, areas of modules have decimals


def text(report: Summary) -> str:
    """The text of one screen."""
    return "\n".join(line.rstrip() for line in _lines(report))


def _lines(report: Summary) -> Iterator[str]:
    nbits = f", {report.nbits} bits" if report.nbits else ""
    parameters = " ".join(f"{name}={value}" for name, value in report.parameters.items())
    first = bool(report.unrouted) + (report.met is False)  # marks above the name
    yield from (f"! {mark}" for mark in report.marks[:first])
    yield f"{report.design}{nbits}{report.place}{': ' if parameters else ''}{parameters}"
    yield from (f"  ! {mark}" for mark in report.marks[first:])
    yield ""
    yield from (f"{name:<14}  {value}" for name, value in _rows(report) if value)
    modules = [found for found in _together(report.area_by_module) if found.path and found.share >= SHARE]
    if modules:
        yield ""
        yield f"{'module':<34} {'um^2':>10} {'share':>7}  {'cells':>7}"
    digits = 0 if (report.area_um2 or 0) >= SMALL_UM2 else 2
    for module in sorted(modules, key=lambda module: -module.area_um2)[:MODULES]:
        path = module.path if len(module.path) <= 34 else f"...{module.path[-31:]}"
        yield f"{path:<34} {module.area_um2:>10,.{digits}f} {module.share:>7.1%}  {module.cells:>7,}"
    if report.left_out or report.caveats:
        yield ""
    yield from (f"not done: {name}: {reason}" for name, reason in report.left_out.items())
    yield from (f"note: {caveat}" for caveat in report.caveats)
    steps = (f"{step.name} {step.seconds:.1f}{' (cached)' if step.cached else ''}" for step in report.steps)
    yield ""
    yield f"seconds: {', '.join(steps)}"
    if report.seconds is not None:
        yield f"all together {report.seconds:.1f} s"
    products = report.products or {}
    made = products.get("layout") or products.get("synthesis")
    if made:
        yield f"products: {Path(made)}"


def _together(modules: Sequence[ModuleArea]) -> Iterator[ModuleArea]:
    """Module areas, merging modules of one list that have the same number of cells."""
    groups = defaultdict(list)
    for module in modules:
        groups[ONE_OF_MANY.sub("", module.path), module.cells].append(module)
    for (path, cells), group in groups.items():
        name = f"{path} ({len(group)})" if len(group) > 1 else group[0].path
        area, share = sum(member.area_um2 for member in group), sum(member.share for member in group)
        yield ModuleArea(name, group[0].module, area, share=share, cells=cells * len(group))


def _rows(report: Summary) -> Iterator[tuple[str, str]]:
    both = _Both(report)
    before, after = both.before, both.after
    missed = "" if report.met is not False else ", missed"
    if missed and report.met_ns is not None:
        missed += f"; {report.met_ns:.3f} ns is met"
    yield "clock", f"{report.clock_ns:g} ns ({MHZ / report.clock_ns:.0f} MHz){missed}"
    if report.cells is not None:
        gates = f", {report.clock_gates:,} clock gates" if report.clock_gates else ""
        cells = f"{report.cells:,} cells, {report.flops:,} flip-flops{gates}"
        yield "area", f"{report.area_um2:,.0f} um^2: {cells}"
    if (core := report.core) is not None:
        power = "" if core.power_mw is None else f", {core.power_mw:.3f} mW"
        energies = "".join(f", {name} {value:.4g} nJ" for name, value in (core.energy_nj or {}).items())
        cells = f"{core.cells:,} cells, {core.flops:,} flip-flops{power}{energies}"
        yield f"{core.instance} alone", f"{core.area_um2:,.0f} um^2: {cells}"
    if after.die_um is not None:
        width, height = after.die_um
        wire = f", {after.wire_um / 1000:.1f} mm of wire" if after.wire_um is not None else ""
        yield "die", f"{width:.0f} x {height:.0f} um, rows {after.density:.0%} full{wire}"
    yield "slack", both.slack
    hold = after.hold_wns_ns
    yield "hold slack", f"{hold:+.3f} ns from registers" if hold is not None else ""
    if path := report.worst_path:
        yield "worst path", path.told(PATH_MODULES)
    yield "highest clock", both.text(before.fmax_mhz, after.fmax_mhz, "{:.1f} MHz")
    yield "period", both.text(before.period_ns, after.period_ns, "{:g} ns, searched")
    for figures, where in ((before, ""), (after, " after layout")):
        yield "tried (ns)", f"{', '.join(map(str, figures.trials))}{where}" if figures.trials else ""
    unreal = f" at {report.clock_ns:g} ns" if missed else ""
    yield "power", both.text(before.power_mw, after.power_mw, f"{{:.3f}} mW{unreal}")
    if after.drop_mv:
        yield "IR drop", ", ".join(f"{value:.2f} mV of {net}" for net, value in after.drop_mv.items())
    for name, cycles in report.cycles.items():
        time = f", {_short(report.time_ns[name])} ns" if name in report.time_ns else ""
        at = f" at {report.met_ns:.3f} ns" if time and missed else ""
        yield name, f"{cycles:,} cycles{time}{at}{_energy(both, name)}"
    yield from _others(report)
    ran = [f"{test.passed} passed, {test.failed} failed at {where}" for where, test in report.tests.items()]
    if len({*report.corners.values()}) > 1:
        values = {"setup": report.wns_ns, "hold": report.hold_wns_ns, "power": report.power_mw}
        forms = {"setup": "{:+.3f} ns", "hold": "{:+.3f} ns", "power": "{:.3f} mW"}
        for name, corner in report.corners.items():
            figure = "no figure" if values[name] is None else forms[name].format(values[name])
            yield f"{name} corner", f"{figure} at {corner}"
    if report.corner_ns:
        periods = (f"{value:.3f} ns {corner}" for corner, value in report.corner_ns.items())
        yield "shortest period", ", ".join(periods)
    if report.derate:
        yield (
            "derate",
            f"{report.derate:.0%} of cells' delays on data paths: later for setup, earlier for hold",
        )
    yield "design rules", report.rules.text if report.rules else ""
    if report.rules and report.rules.transistors:
        yield "transistors", report.rules.transistors.text
    yield "tests", "; ".join(ran) or "none"
    yield "equivalence", report.equivalence.summary if report.equivalence else ""


def _others(report: Summary) -> Iterator[tuple[str, str]]:
    """The values of metrics that have no place of their own on the screen."""
    metrics = graph.metrics()
    for value in report.values:
        if value.metric not in SHOWN:
            item = metrics[value.metric]
            of = f" of {value.operation}" if value.operation else ""
            yield item.title.lower(), f"{value.number:,g} {'' if item.counted else item.unit}{of}".strip()


def _short(value: float) -> str:
    """A number with three significant digits, or with all digits of its integer part."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


class _Both:
    """Figures before and after layout as text that names the netlist they belong to."""

    def __init__(self, report: Summary) -> None:
        self.report = report
        self.before, self.after = report.before_layout or Figures(), report.after_layout or Figures()
        self.of_layout = "by global routes" if report.unrouted else "after layout"
        self.of_netlist = "" if self.after.die_um is None else " before layout"  # of a layout without figures

    def text(self, first: float | None, second: float | None, form: str) -> str:
        """A figure after layout, followed by the one before it."""
        if second is None:
            return "" if first is None else f"{form.format(first)}{self.of_netlist}"
        before = "" if first is None else f" ({form.format(first)} before)"
        return f"{form.format(second)} {self.of_layout}{before}"

    @property
    def slack(self) -> str:
        """The slack after layout, or before it: first with the wires that decide, then with the others."""
        models = [*(self.before.wns_by_model_ns or {}).items()]
        if not models:
            return self.text(self.before.wns_ns, self.after.wns_ns, "{:+.3f} ns")
        slacks = [(models[0][0], self.before.wns_ns), *models[1:]]
        names = {"none": "without wires"}
        parts = ", ".join(
            f"{slack:+.3f} ns {names.get(name, f'with the wire load {name}')}" for name, slack in slacks
        )
        if self.after.wns_ns is None:
            return f"{parts}{self.of_netlist}"
        return f"{self.after.wns_ns:+.3f} ns {self.of_layout} ({parts} before)"


def _energy(both: _Both, name: str) -> str:
    """The energy of an operation in words: with partial-swing glitches, its bounds and its spread."""
    report = both.report
    if (report.energy_nj or {}).get(name) is not None:
        return _energy_of(report, report, name) + (f", {both.of_layout}" if report.unrouted else "")
    found = _energy_of(both.before, report, name)
    return found and f"{found}{both.of_netlist}"


def _energy_of(figures: Headline, report: Summary, name: str) -> str:
    without = (figures.energy_nj or {}).get(name)
    if without is None:
        return ""
    # the published figure, with the name of its publication
    published = (f"; {row.name}: {row.paper_nj:g} nJ" for row in report.paper if row.operation == name)
    bounds = f"{without:.4g} nJ without glitches{next(published, '')}"
    if (found := (figures.energy_inertial_nj or {}).get(name)) is None:
        return f", {bounds}"
    if (most := (figures.energy_with_glitches_nj or {}).get(name)) is not None:
        bounds += f", {most:.4g} nJ with full-swing glitches"
    drawn = ""
    if (spread := (figures.energy_spread_nj or {}).get(name)) is not None:
        drawn = f"; {spread.operations} drawn: {spread.mean_nj:.4g} +- {spread.std_nj:.2g}"
    return f", {found:.4g} nJ ({bounds}{drawn})"
