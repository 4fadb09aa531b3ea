"""The summary of a run on one screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..synth.area import ModuleArea
from ..timing import clock_search
from ..timing.report import told
from .figures import MHZ, Figures, Summary

MODULES = 12  # lines of the table
PATH_MODULES = 4  # of the worst path
ONE_OF_MANY = re.compile(r"__\d+(?=\.|$)")  # of components in a list
SHARE = 0.01  # smaller modules are left out of it


def text(report: Summary) -> str:
    """One screen."""
    nbits = f", {report.nbits} bits" if report.nbits else ""
    parameters = " ".join(f"{name}={value}" for name, value in report.parameters.items())
    first = report.met is False  # of the marks: the clock is missed
    lines = [
        *(f"! {mark}" for mark in report.marks[:first]),
        f"{report.design}{nbits}{report.place}{': ' if parameters else ''}{parameters}",
        *(f"  ! {mark}" for mark in report.marks[first:]),
        "",
    ]
    lines += [f"{name:<14}  {value}" for name, value in _rows(report) if value]
    modules = [
        module_area
        for module_area in _together(report.area_by_module)
        if module_area.path and module_area.share >= SHARE
    ]
    modules = sorted(modules, key=lambda module: -module.area_um2)[:MODULES]
    if modules:
        lines += ["", f"{'module':<34} {'um^2':>10} {'share':>7}  {'cells':>7}"]
        for module in modules:
            path = module.path if len(module.path) <= 34 else f"...{module.path[-31:]}"
            lines.append(f"{path:<34} {module.area_um2:>10,.0f} {module.share:>7.1%}  {module.cells:>7,}")
    rest = [f"not done: {name}: {reason}" for name, reason in report.left_out.items()]
    rest += [f"note: {caveat}" for caveat in report.caveats]
    lines += ["", *rest] if rest else []
    steps = ", ".join(
        f"{step.name} {step.seconds:.1f}{' (cached)' if step.cached else ''}" for step in report.steps
    )
    lines += ["", f"seconds: {steps}"]
    if report.seconds is not None:
        lines.append(f"all together {report.seconds:.1f} s")
    products = report.products or {}
    for name in ("layout", "synthesis"):
        if name in products:
            lines.append(f"products: {Path(products[name])}")
            break
    return "\n".join(line.rstrip() for line in lines)


def _together(modules: Sequence[ModuleArea]) -> Iterator[ModuleArea]:
    """Modules of one list with the same cells as one line."""
    groups: dict[tuple[str, int], list[ModuleArea]] = {}
    for module in modules:
        groups.setdefault((ONE_OF_MANY.sub("", module.path), module.cells), []).append(module)
    for (path, _), group in groups.items():
        name = f"{path} ({len(group)})" if len(group) > 1 else group[0].path
        area, share = sum(member.area_um2 for member in group), sum(member.share for member in group)
        yield ModuleArea(
            name, group[0].module, area, share=share, cells=sum(member.cells for member in group)
        )


def _rows(report: Summary) -> list[tuple[str, str]]:
    before, after = report.before_layout or Figures(), report.after_layout or Figures()
    missed = "" if report.met is not False else ", missed"
    if missed and report.met_ns is not None:
        missed += f"; {report.met_ns:.3f} ns is met"
    rows = [("clock", f"{report.clock_ns:g} ns ({MHZ / report.clock_ns:.0f} MHz){missed}")]
    if report.cells is not None:
        gates = f", {report.clock_gates:,} clock gates" if report.clock_gates else ""
        cells = f"{report.cells:,} cells, {report.flops:,} flip-flops{gates}"
        rows.append(("area", f"{report.area_um2:,.0f} um^2: {cells}"))
    if (core := report.core) is not None:
        power = "" if core.power_mw is None else f", {core.power_mw:.3f} mW"
        energies = "".join(f", {name} {value:.4g} nJ" for name, value in (core.energy_nj or {}).items())
        rows.append(
            (
                f"{core.instance} alone",
                f"{core.area_um2:,.0f} um^2: {core.cells:,} cells, {core.flops:,} "
                f"flip-flops{power}{energies}",
            )
        )
    if after.die_um is not None:
        width, height = after.die_um
        wire = f", {after.wire_um / 1000:.1f} mm of wire" if after.wire_um is not None else ""
        rows.append(("die", f"{width:.0f} x {height:.0f} um, {after.density:.0%} full{wire}"))
    hold = f"{after.hold_wns_ns:+.3f} ns" if after.hold_wns_ns is not None else ""
    rows.append(("slack", _slack(before, after)))
    rows.append(("hold slack", hold))
    if path := report.worst_path:
        rows.append(("worst path", told(path.start, path.end, path.cells, path.modules, PATH_MODULES)))
    rows.append(("highest clock", _both(before.fmax_mhz, after.fmax_mhz, "{:.1f} MHz")))
    rows.append(("period", _both(before.period_ns, after.period_ns, "{:g} ns, searched")))
    for figures, where in ((before, ""), (after, " after layout")):
        rows.append(("tried (ns)", f"{clock_search.told(figures.trials)}{where}" if figures.trials else ""))
    unreal = f" at {report.clock_ns:g} ns" if missed else ""
    rows.append(("power", _both(before.power_mw, after.power_mw, f"{{:.3f}} mW{unreal}")))
    for name, cycles in report.cycles.items():
        time = f", {_short(report.time_ns[name])} ns" if name in report.time_ns else ""
        at = f" at {report.met_ns:.3f} ns" if time and missed else ""
        rows.append((name, f"{cycles:,} cycles{time}{at}{_energy(report, name)}"))
    ran = [f"{test.passed} passed, {test.failed} failed at {where}" for where, test in report.tests.items()]
    rows.append(("tests", "; ".join(ran) or "none"))
    rows.append(("equivalence", report.equivalence.summary if report.equivalence else ""))
    return rows


def _short(value: float) -> str:
    """Return a number with three digits, or as many as it has before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _slack(before: Figures, after: Figures) -> str:
    """After layout, and before it by the wires that each slack is of."""
    models = (before.wns_by_model_ns or {}).items()
    names = {"none": "without wires"}
    parts = [f"{slack:+.3f} ns {names.get(name, f'with the wire load {name}')}" for name, slack in models]
    if after.wns_ns is None:
        return ", ".join(parts) or _both(before.wns_ns, None, "{:+.3f} ns")
    return f"{after.wns_ns:+.3f} ns after layout" + (f" ({', '.join(parts)} before)" if parts else "")


def _energy(report: Summary, name: str) -> str:
    """Describe the energy of an operation: with partial-swing glitches, its spread, and the bounds."""
    without = (report.energy_nj or {}).get(name)
    if without is None:
        return ""
    bounds = f"{without:.4g} nJ without glitches{_published(report, name)}"
    if (found := (report.energy_inertial_nj or {}).get(name)) is None:
        return f", {bounds}"
    if (most := (report.energy_with_glitches_nj or {}).get(name)) is not None:
        bounds += f", {most:.4g} nJ with all in full"
    drawn = ""
    if (spread := (report.energy_spread_nj or {}).get(name)) is not None:
        drawn = f"; {spread.operations} drawn: {spread.mean_nj:.4g} +- {spread.std_nj:.2g}"
    return f", {found:.4g} nJ ({bounds}{drawn})"


def _published(report: Summary, name: str) -> str:
    """The published figure, by the name of the work that has it."""
    found = (f"; {row.name}: {row.paper_nj:g} nJ" for row in report.paper if row.operation == name)
    return next(found, "")


def _both(first: float | None, second: float | None, form: str) -> str:
    """A figure before layout and after it."""
    if second is None:
        return "" if first is None else form.format(first)
    before = "" if first is None else f" ({form.format(first)} before)"
    return f"{form.format(second)} after layout{before}"
