"""Static timing of a mapped netlist: worst paths, setup and hold, the histogram of slacks, and the highest clock.

The engine is OpenSTA as Debian 12 packages it (`sta`, version 2.0.17 of 2019), run once with a script that prints marked sections.
Where it is missing the flow's own estimate (flow/timing/nldm.py) takes its place, and timing.json says so: "engine": "nldm". Both have
the same constraints (flow/kit/constraints.py), also written to constraints.sdc.

Wires: none; a wire-load model of the Liberty; or those of wires.spef and wires.json (one is made from the other for the
engine that cannot read it). The library's default model, which OpenSTA would take by itself, is displaced by one of no wires.

Hold is judged on paths that start at registers (hold_inside_wns_ns); from inputs it depends on what drives them, and is only told.

The highest clock is that of this netlist: slack is linear in the period as long as all paths take a whole cycle, so that
period minus slack is it; both engines run again with that period, and OpenSTA searches by bisection if the slack there is not 0.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput, unknown
from ..files import replace_json, replace_text
from ..kit import kit
from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.netlist import Netlist, read
from . import nldm, opensta
from .opensta import DIGITS, MARGIN_NS, Result, pin_name, rounded
from .spef import spef as spef_text

ENGINES = ("opensta", "nldm")
WIRES = ("none", "model", "placement", "routing")
BINS = 20  # of the histogram, about
FAR_NS = 1e9


def version(engine: str) -> str:
    """The version of an engine, for reports; BadInput if it is missing."""
    return "modexlab" if engine == "nldm" else opensta.version()


def analyze(
    netlist_v: str | Path,
    top: str,
    out_dir: str | Path,
    *,
    clock_ns: float,
    clock_port: str | None = "clk",
    spef: str | Path | None = None,
    wires: str | Path | None = None,
    wire_load: str | None = None,
    hierarchy: str | Path | None = None,
    netlist_json: str | Path | None = None,
    fmax: bool = False,
    paths: int = 10,
    engine: str | None = None,
    adk: str | Path | None = None,
    **constraints: Any,
) -> dict[str, Any]:
    """Write timing.json and constraints.sdc; returns what timing.json says.

    `wires` is a wires.json, `spef` the same as SPEF; `wire_load` a model of the library. `hierarchy` is a hierarchy.json.
    netlist.json is looked for beside the netlist. `engine` is opensta or nldm, or None: opensta if it is there.
    Further keywords are those of Constraints: uncertainty_ns, propagated, ...
    """
    started = time.monotonic()
    out, netlist_v = Path(out_dir), Path(netlist_v)
    if engine not in (None, *ENGINES):
        raise unknown("engine", engine, ENGINES)
    if wire_load is not None and (spef or wires):
        raise BadInput("a wire-load model or wires: not both")
    files = kit.find(adk and Path(adk))
    library = files.library
    asked = library.constraints(clock_ns, clock_port, **constraints)
    if wire_load is not None and wire_load not in library.wire_loads:
        raise unknown("wire-load model", wire_load, library.wire_loads)
    if asked.driving_cell not in library.cells:
        raise unknown("driving cell", asked.driving_cell, library.cells)
    if not netlist_v.is_file():
        raise BadInput(f"the netlist {netlist_v} cannot be read: run the synthesis first")
    beside = Path(netlist_json) if netlist_json else netlist_v.with_suffix(".json")
    table, source = _wires(wires)
    if source == "none":
        source = "model" if wire_load else "placement" if spef else "none"
    caveats = []
    if engine is None:
        engine = "opensta"
        try:
            opensta.program()
        except BadInput as error:
            engine = "nldm"
            caveats.append(f"{error}: these times are the flow's own estimate")
    if engine == "opensta":
        netlist = read(beside, library) if table is not None or asked.propagated else None
        if netlist is not None and asked.propagated:
            asked = _with_latency(netlist, library, asked, table, wire_load)
        if netlist is not None and table is not None and spef is None:
            spef = out / "wires_star.spef"
            replace_text(spef, spef_text(netlist, table))
        result = opensta.run(netlist_v, top, files.lib, asked, spef, wire_load, paths, fmax)
        if netlist is not None and table is not None:
            _complete_loads(result, netlist, table)
    else:
        if spef is not None and table is None:
            raise BadInput(f"the engine nldm reads wires.json and no SPEF: give it beside {spef}")
        netlist = read(beside, library)
        if asked.propagated:
            asked = _with_latency(netlist, library, asked, table, wire_load)
        result = _nldm(netlist, library, asked, table, wire_load, paths, fmax)
    caveats += result.caveats
    modules = _modules(hierarchy)
    for path in (*result.paths, *result.hold_paths):
        for point in path["points"]:
            point["module"] = _module(point["cell"], modules)
        path["modules"] = list(dict.fromkeys(point["module"] for point in path["points"] if point["cell"]))
    for path in result.hold_paths[:1]:
        if path["slack_ns"] < 0 and not path["points"][0]["cell"]:
            caveats.append(
                f"hold at the input {path['start']} is missed by {-path['slack_ns']:.3f} ns, if what drives it answers "
                f"{asked.input_hold_ns:g} ns after the clock edge; not counted, as the flow does not know what does"
            )
    wns, hold_wns = (min(slacks.values(), default=None) for slacks in (result.setup, result.hold))
    report: dict[str, Any] = {
        "engine": engine,
        "engine_version": version(engine),
        "clock_ns": clock_ns,
        "met": (wns is None or wns >= 0) and (result.hold_inside is None or result.hold_inside >= 0),
        "verdict": "",
        "wns_ns": wns,
        "tns_ns": _total(result.setup),
        "hold_wns_ns": hold_wns,
        "hold_inside_wns_ns": result.hold_inside,
        "hold_tns_ns": _total(result.hold),
        "endpoints": len(result.setup),
        "setup_violations": sum(slack < 0 for slack in result.setup.values()),
        "hold_violations": sum(slack < 0 for slack in result.hold.values()),
        "fmax_mhz": 1000 / result.fmax[0] if result.fmax else None,
        "fmax": result.fmax and {"clock_ns": result.fmax[0], "slack_ns": result.fmax[1]},
        "wires": source,
        "wire_load": wire_load,
        "corner": f"{library.name}, {library.voltage} V, {library.temperature} C",
        "constraints": {key: value for key, value in vars(asked).items() if key != "clock_ns"},
        "histogram": histogram(result.setup.values()),
        "paths": result.paths,
        "hold_paths": result.hold_paths,
        "caveats": caveats,
        "seconds": 0.0,
    }
    report["verdict"] = verdict(report)
    report["seconds"] = round(time.monotonic() - started, 2)
    replace_text(out / "constraints.sdc", asked.sdc)
    replace_json(out / "timing.json", report)
    return report


def verdict(report: Mapping[str, Any]) -> str:
    """One line on whether the clock is met; if not, by how much it is missed, and on which path."""
    clock, wns, hold = report["clock_ns"], report["wns_ns"], report["hold_inside_wns_ns"]
    if wns is None:
        return "no path that a clock measures"
    parts = []
    if wns < 0:
        parts.append(f"{clock:g} ns is missed by {-wns:.3f} ns: {_told(report['paths'][0])}")
    if hold is not None and hold < 0:
        parts.append(f"hold is missed by {-hold:.3f} ns on a path from a register")
    return "; ".join(parts) or f"{clock:g} ns is met with {wns:.3f} ns to spare"


def _told(path: Mapping[str, Any]) -> str:
    cells = len({point["cell"] for point in path["points"]} - {""})
    through = ", ".join(module or "the top" for module in path["modules"][:6])
    more = ", ..." if len(path["modules"]) > 6 else ""
    return f"{path['start']} to {path['end']}, {cells} cells in {through}{more}"


def _total(slacks: Mapping[str, float]) -> float:
    return round(sum(min(slack, 0.0) for slack in slacks.values()), DIGITS)


def histogram(slacks: Any) -> list[dict[str, float]]:
    """About twenty bins of a round width, {from_ns, to_ns, endpoints}, without a gap."""
    values = sorted(slacks)
    if not values:
        return []
    spread = max(values[-1] - values[0], 1e-3)
    power = 10.0 ** math.floor(math.log10(spread / BINS))
    width = next(step * power for step in (1, 2, 5, 10) if step * power * BINS >= spread * 0.999)
    first = math.floor(values[0] / width)
    counts = [0] * (math.floor(values[-1] / width) - first + 1)
    for value in values:
        counts[math.floor(value / width) - first] += 1
    return [
        {
            "from_ns": round((first + k) * width, 9),
            "to_ns": round((first + k + 1) * width, 9),
            "endpoints": count,
        }
        for k, count in enumerate(counts)
    ]


def _wires(path: str | Path | None) -> tuple[dict[str, dict[str, Any]] | None, str]:
    """A wires.json, and where its wires come from."""
    if path is None:
        return None, "none"
    try:
        table = json.loads(Path(path).read_text())
        sources = {wire["source"] for wire in table.values()} or {"none"}
        for wire in table.values():
            if not 0 <= wire["cap_ff"] < math.inf:
                raise ValueError(f"cap_ff {wire['cap_ff']}")
    except OSError as error:
        raise BadInput(f"the wires {path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} is no wires.json ({error!r})") from None
    if not sources <= set(WIRES):
        raise BadInput(
            f"{path}: the source of wires is one of {', '.join(WIRES)}, not {', '.join(sorted(sources))}"
        )
    return table, max(sources, key=WIRES.index)


def _modules(path: str | Path | None) -> dict[str, str] | None:
    """The module path of every cell, from a hierarchy.json."""
    if path is None:
        return None
    try:
        cells = json.loads(Path(path).read_text())["cells"]
    except OSError as error:
        raise BadInput(f"the hierarchy {path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is no hierarchy.json ({error!r})") from None
    return dict(cells)


def _module(cell: str, modules: Mapping[str, str] | None) -> str:
    """The module that an instance is in; without a hierarchy.json what stands before the last dot of its name."""
    if modules is not None and cell in modules:
        return modules[cell]
    return cell.rpartition(".")[0]


def _with_latency(
    netlist: Netlist,
    library: Library,
    asked: Constraints,
    wires: Mapping[str, Mapping[str, float]] | None,
    wire_load: str | None,
) -> Constraints:
    """The constraints with the mean delay of the netlist's clock tree as that of the surroundings."""
    if asked.latency_ns:
        return asked
    found = nldm.analyze(netlist, library, asked, wires=wires, wire_load=wire_load)
    return replace(asked, latency_ns=round(found.clock_latency_ns, DIGITS))


def _complete_loads(result: Result, netlist: Netlist, wires: Mapping[str, Mapping[str, float]]) -> None:
    """The wires of nets with an output port: they are in the delays that OpenSTA finds, but not in the loads that it prints."""
    outputs = {net for _, net in netlist.port_bits("output")}
    caps = {
        net: wire["cap_ff"] for name, wire in wires.items() if (net := netlist.aliases.get(name)) in outputs
    }
    for path in (*result.paths, *result.hold_paths):
        for point in path["points"]:
            if point["load_ff"] is not None:
                point["load_ff"] = rounded(
                    point["load_ff"] + caps.get(netlist.aliases.get(point["net"], -1), 0.0)
                )


# -- the own estimate ---------------------------------------------------------------------------------------------------


def _nldm(
    netlist: Netlist,
    library: Library,
    asked: Constraints,
    wires: Mapping[str, Mapping[str, float]] | None,
    wire_load: str | None,
    paths: int,
    fmax: bool,
) -> Result:
    def at(constraints: Constraints) -> nldm.Timing:
        return nldm.analyze(netlist, library, constraints, wires=wires, wire_load=wire_load)

    timing = at(asked)
    inside = at(replace(asked, input_hold_ns=FAR_NS)).hold  # as if no input changed
    found = None
    if fmax and timing.setup:
        period = asked.clock_ns - timing.wns_ns + MARGIN_NS
        found = (period, at(replace(asked, clock_ns=period)).wns_ns) if period > 0 else None
    caveats = []
    if timing.unchecked:
        names = ", ".join(timing.unchecked[:3])
        caveats.append(
            f"{len(timing.unchecked)} latches or registers of an inverted clock are not checked: {names}"
        )
    return Result(
        setup={end.name: round(end.slack_ns, DIGITS) for end in timing.setup},
        hold={end.name: round(end.slack_ns, DIGITS) for end in timing.hold},
        hold_inside=rounded(next((end.slack_ns for end in inside if end.slack_ns < FAR_NS / 2), None)),
        paths=[_nldm_path(timing, end, False) for end in timing.setup[:paths]],
        hold_paths=[_nldm_path(timing, end, True) for end in timing.hold[:paths]],
        fmax=found,
        caveats=caveats,
    )


def _nldm_path(timing: nldm.Timing, end: nldm.Endpoint, earliest: bool) -> dict[str, Any]:
    points = [
        {
            "cell": point.cell,
            "type": point.kind,
            "pin": point.pin,
            "net": point.net,
            "edge": point.edge,
            "slew_ns": rounded(point.slew_ns),
            "load_ff": rounded(point.load_ff),
            "delay_ns": rounded(point.delay_ns),
            "arrival_ns": rounded(point.arrival_ns),
        }
        for point in timing.path(end, earliest)
    ]
    return {
        "start": pin_name(points[0]),
        "end": end.name,
        "slack_ns": rounded(end.slack_ns),
        "arrival_ns": rounded(end.arrival_ns),
        "required_ns": rounded(end.required_ns),
        "points": points,
    }
