"""The summary of a run: everything that was measured in one dictionary (summary.json), and on one screen (summary.txt).

A figure counts as comparable only if its netlist passed the tests, was not refuted by the proof, and meets its clock: `marks` says
what is wrong with all others. Figures at the top level are those after layout where there is one; `before_layout` and
`after_layout` have both. What could not be done is in `left_out`, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ..description import Description
from ..files import replace_json, replace_text
from ..power import energy
from . import graph

MODULES = 12  # lines of the table
SHARE = 0.01  # smaller modules are left out of it
WIDTH = 100
WIRES = {
    "none": "no wires",
    "model": "wires by the library's wire-load model",
    "placement": "wires estimated from the placement",
    "routing": "wires by global routing",
}
SIMULATED = {"rtl": "rtl_sim.json", "gates": "gate_sim.json", "placed gates": "gate_sim_post.json"}
TESTED = {"rtl": "the design", "gates": "the netlist", "placed gates": "the placed netlist"}
ACTIVITY = {"zero-delay": "without glitches", "timed": "with the delays of the cells, glitches included"}
MHZ = 1000.0


def summarize(
    files: Mapping[str, Path],
    out: Path | None = None,
    *,
    clock_ns: float,
    left_out: Mapping[str, str] | None = None,
    fresh: Collection[str] = (),
    seconds: float | None = None,
) -> dict[str, Any]:
    """What the outputs of the steps say together; written to `out` if there is one.

    fresh: steps that ran now; seconds: of the whole run.
    """
    read = {name: json.loads(path.read_text()) for name, path in files.items() if _small(name)}
    design = Description.load(files["design.json"])
    mapped = read.get("area.json", {})
    area = read.get("area_placed.json", mapped)
    before = _figures(read, "timing.json", "power.json")
    after = _figures(read, "timing_post.json", "power_post.json") | _layout(read)
    best = {**before, **{name: value for name, value in after.items() if value is not None}}
    simulated = {name: read[file] for name, file in SIMULATED.items() if file in read}
    tests = {name: _tests(each) for name, each in simulated.items()}
    cycles: dict[str, int] = next((each["cycles"] for each in reversed(simulated.values())), {})
    report: dict[str, Any] = {
        "design": design.name,
        "top": design.top,
        "nbits": design.nbits,
        "interface": design.interface,
        "place": design.place,
        "parameters": design.parameters,
        "clock_ns": clock_ns,
        "style": read.get("synthesis.json", {}).get("style"),
        "area_um2": area.get("area_um2"),
        "area_by_module": area.get("by_module", []),
        "cells": area.get("cells"),
        "flops": area.get("flops"),
        "clock_gates": area.get("clock_gates"),
        "wns_ns": best.get("wns_ns"),
        "hold_wns_ns": best.get("hold_wns_ns"),
        "fmax_mhz": best.get("fmax_mhz"),
        "power_mw": best.get("power_mw"),
        "energy_nj": best.get("energy_nj"),
        "energy_with_glitches_nj": best.get("energy_with_glitches_nj"),
        "cycles": cycles,
        "time_ns": {name: round(count * clock_ns, 3) for name, count in cycles.items()},
        "tests_passed": sum(each["passed"] for each in tests.values()),
        "tests_failed": sum(each["failed"] for each in tests.values()),
        "tests": tests,
        "equivalence": _equivalence(read.get("equivalence.json")),
        "worst_path": best.get("worst_path"),
        "before_layout": {"area_um2": mapped.get("area_um2"), **before} if before or mapped else None,
        "after_layout": after or None,
        "steps": [
            _step(read[declared.run_file], fresh)
            for declared in map(graph.declaration, graph.ORDER)
            if declared.run_file in read
        ],
        "paper": energy.compare(best.get("energy_nj") or {}, design.published),
        "left_out": dict(left_out or {}),
        "seconds": seconds,
    }
    report["marks"] = _marks(report, before, after, best)
    report["comparable"] = not report["marks"]
    report["caveats"] = _caveats(read, best)
    if out is not None:
        replace_json(out / "summary.json", report)
        replace_text(out / "summary.txt", text(report) + "\n")
    return report


def good(report: Mapping[str, Any], targets: Collection[str]) -> bool:
    """Nothing is wrong with the figures, and everything that was asked for has been done."""
    wrong = [mark for mark in report["marks"] if mark not in (NOT_TESTED, NOT_TIMED)]
    return not wrong and not any(name in report["left_out"] for name in targets if not _excused(report, name))


NOT_TESTED = "the netlist has not been tested"
NOT_TIMED = "the netlist's timing has not been analysed"


def _excused(report: Mapping[str, Any], name: str) -> bool:
    """Verilog without vectors has no tests: nothing failed."""
    reason = report["left_out"].get(name, "")
    return reason == graph.NO_VECTORS or (
        name in graph.WITH_VECTORS and graph.NO_VECTORS in report["left_out"].values()
    )


def _small(name: str) -> bool:
    """The files that the summary reads."""
    return name in graph.declaration(graph.LENIENT).inputs


def _tests(simulated: Mapping[str, Any]) -> dict[str, int]:
    return {"passed": simulated["tests_passed"], "failed": simulated["tests_failed"]}


def _step(run: Mapping[str, Any], fresh: Collection[str]) -> dict[str, Any]:
    return {**run, "cached": run["name"] not in fresh}


def _equivalence(proof: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if proof is None:
        return None
    return {key: proof[key] for key in ("equivalent", "refuted", "summary")}


def _figures(read: Mapping[str, Any], timing_file: str, power_file: str) -> dict[str, Any]:
    """Timing and power of one netlist."""
    figures: dict[str, Any] = {}
    if (timing := read.get(timing_file)) is not None:
        figures |= {
            name: timing[name] for name in ("wns_ns", "tns_ns", "met", "fmax_mhz", "wires", "verdict")
        }
        # from register to register: what drives the inputs, and when, the flow does not know
        figures["hold_wns_ns"] = timing["hold_inside_wns_ns"]
        searched = timing["fmax_mhz"] is not None
        figures["fmax_by"] = "search" if searched else "slack"
        if not searched and timing["wns_ns"] is not None:
            # of paths that take a whole cycle the slack goes with the period
            figures["fmax_mhz"] = round(MHZ / (timing["clock_ns"] - timing["wns_ns"]), 3)
        figures["timing_engine"] = timing.get("engine")
        figures["worst_path"] = _path(timing["paths"][0]) if timing["paths"] else None
    if (power := read.get(power_file)) is not None:
        figures |= {
            "power_mw": power["total_mw"],
            "energy_nj": power["energy_nj"],
            "power_by_group": power["by_group"],
            "power_by_module": power["by_module"],
            "energy_by_mode_nj": power["energy_by_mode_nj"],
            "glitch_ratio": power["glitch_ratio"],
            "energy_with_glitches_nj": (power["with_glitches"] or {}).get("energy_nj"),
        }
    return figures


def _path(path: Mapping[str, Any]) -> dict[str, Any]:
    cells = {point["cell"] for point in path["points"]} - {""}
    return {**{key: path[key] for key in ("start", "end", "slack_ns", "modules")}, "cells": len(cells)}


def _layout(read: Mapping[str, Any]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    if (placement := read.get("placement.json")) is not None:
        figures |= {key: placement[key] for key in ("die_um", "density", "clock_tree")}
    if (area := read.get("area_placed.json")) is not None:
        figures["area_um2"] = area["area_um2"]
    if (wires := read.get("wires_summary.json")) is not None:
        figures["wires_total"] = wires
    if (routing := read.get("routing.json")) is not None:
        figures["routed"] = routing["success"]
        figures["wire_um"] = round(sum(net["length_um"] for net in routing["nets"].values()))
    return figures


# ---- what is wrong, and what is to be known


def _marks(
    report: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], best: Mapping[str, Any]
) -> list[str]:
    marks = []
    tests = report["tests"]
    for name, where in TESTED.items():
        if tests.get(name, {}).get("failed"):
            marks.append(f"{where} fails {tests[name]['failed']} of its tests")
    if "gates" not in tests and report["cells"] is not None:
        marks.append(NOT_TESTED)
    if "met" not in best and report["cells"] is not None:
        marks.append(NOT_TIMED)
    if (report["equivalence"] or {}).get("refuted"):
        marks.append(f"the netlist is not what the design says: {report['equivalence']['summary']}")
    for figures, where in ((before, ""), (after, "after layout ")):
        if figures.get("met") is False:
            marks.append(where + figures["verdict"])
    if after.get("routed") is False:
        marks.append("the router left overflows: too many wires for the layers")
    return marks


def _caveats(read: Mapping[str, Any], best: Mapping[str, Any]) -> list[str]:
    caveats = list(read.get("synthesis.json", {}).get("caveats", []))
    timing = read.get("timing_post.json") or read.get("timing.json")
    if timing is not None:
        wires = WIRES.get(timing["wires"], timing["wires"])
        caveats.append(f"one corner, typical ({timing['corner']}); {wires}")
        engine = f"{timing['engine']} {timing.get('engine_version', '')}".strip()
        caveats.append(f"timing by {engine}")
        caveats += timing.get("caveats", [])
    power = read.get("power_post.json") or read.get("power.json")
    if power is not None:
        wires = WIRES.get(power["wires"], power["wires"])
        caveats.append(
            f"power: activity of the netlist by simulation, {ACTIVITY.get(power['mode'], power['mode'])}; {wires}"
        )
        caveats += power.get("caveats", [])
    proof = read.get("equivalence.json")
    if proof is not None and not proof["equivalent"] and not proof["refuted"]:
        caveats.append(f"equivalence: {proof['summary']}; the tests speak for the rest")
    return caveats


# ---- the screen


def text(report: Mapping[str, Any]) -> str:
    """One screen."""
    nbits = f", {report['nbits']} bits" if report["nbits"] else ""
    parameters = " ".join(f"{name}={value}" for name, value in report["parameters"].items())
    lines = [
        f"{report['design']}{nbits}{report['place']}{': ' if parameters else ''}{parameters}",
        *(f"  ! {mark}" for mark in report["marks"]),
        "",
    ]
    lines += [f"{name:<14}  {value}" for name, value in _rows(report) if value]
    modules = [each for each in report["area_by_module"] if each["path"] and each["share"] >= SHARE]
    modules = sorted(modules, key=lambda each: -each["area_um2"])[:MODULES]
    if modules:
        lines += ["", f"{'module':<34} {'um^2':>10} {'share':>7}  {'cells':>7}"]
        for each in modules:
            path = each["path"] if len(each["path"]) <= 34 else f"...{each['path'][-31:]}"
            lines.append(f"{path:<34} {each['area_um2']:>10,.0f} {each['share']:>7.1%}  {each['cells']:>7,}")
    rest = [f"not done: {name}: {reason}" for name, reason in report["left_out"].items()]
    rest += [f"note: {caveat}" for caveat in report["caveats"]]
    lines += ["", *rest] if rest else []
    steps = ", ".join(
        f"{each['name']} {each['seconds']:.1f}{' (cached)' if each['cached'] else ''}"
        for each in report["steps"]
    )
    lines += ["", f"seconds: {steps}"]
    if report["seconds"] is not None:
        lines.append(f"all together {report['seconds']:.1f} s")
    products = report.get("products", {})
    for name in ("layout", "synthesis"):
        if name in products:
            lines.append(f"products: {Path(products[name])}")
            break
    return "\n".join(line.rstrip() for line in lines)


def _rows(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    before, after = report["before_layout"] or {}, report["after_layout"] or {}
    rows = [("clock", f"{report['clock_ns']:g} ns ({MHZ / report['clock_ns']:.0f} MHz)")]
    if report["cells"] is not None:
        gates = f", {report['clock_gates']:,} clock gates" if report["clock_gates"] else ""
        rows.append(
            (
                "area",
                f"{report['area_um2']:,.0f} um^2: {report['cells']:,} cells, {report['flops']:,} flip-flops{gates}",
            )
        )
    if "die_um" in after:
        width, height = after["die_um"]
        wire = f", {after['wire_um'] / 1000:.1f} mm of wire" if "wire_um" in after else ""
        rows.append(("die", f"{width:.0f} x {height:.0f} um, {after['density']:.0%} full{wire}"))
    rows.append(("slack", _both(before, after, "wns_ns", "{:+.3f} ns")))
    rows.append(
        ("hold slack", f"{after['hold_wns_ns']:+.3f} ns" if after.get("hold_wns_ns") is not None else "")
    )
    if path := report["worst_path"]:
        through = ", ".join(module or "the top" for module in path["modules"][:4])
        more = ", ..." if len(path["modules"]) > 4 else ""
        rows.append(
            ("worst path", f"{path['start']} to {path['end']}, {path['cells']} cells in {through}{more}")
        )
    rows.append(("highest clock", _both(before, after, "fmax_mhz", "{:.1f} MHz")))
    rows.append(("power", _both(before, after, "power_mw", "{:.3f} mW")))
    for name, cycles in report["cycles"].items():
        spent_nj = (report["energy_nj"] or {}).get(name)
        spent = (
            ""
            if spent_nj is None
            else f", {spent_nj:.4g} nJ{_glitches(after or before, name)}{_published(report, name)}"
        )
        rows.append((name, f"{cycles:,} cycles, {report['time_ns'][name]:,.0f} ns{spent}"))
    tests = report["tests"]
    told = [f"{each['passed']} passed, {each['failed']} failed at {where}" for where, each in tests.items()]
    rows.append(("tests", "; ".join(told) or "none"))
    rows.append(("equivalence", (report["equivalence"] or {}).get("summary", "")))
    return rows


def _published(report: Mapping[str, Any], name: str) -> str:
    """The published figure, by the name of the work that has it."""
    for row in report["paper"]:
        if row["operation"] == name:
            return f"; {row['name']}: {row['paper_nj']:g} nJ"
    return ""


def _glitches(figures: Mapping[str, Any], name: str) -> str:
    """An energy with glitches."""
    more = (figures.get("energy_with_glitches_nj") or {}).get(name)
    return "" if more is None else f" ({more:.4g} nJ with glitches)"


def _both(before: Mapping[str, Any], after: Mapping[str, Any], name: str, form: str) -> str:
    """A figure before layout and after it."""
    first, second = before.get(name), after.get(name)
    if second is None:
        return "" if first is None else form.format(first)
    return f"{form.format(second)} after layout" + (
        "" if first is None else f" ({form.format(first)} before)"
    )
