"""Static timing of a mapped netlist: worst paths, setup and hold, and the highest clock.

The engine is OpenSTA as Debian 12 packages it (`sta`, version 2.0.17 of 2019), run once with a script that
prints marked sections. Its endpoints are compared with those that the flow's own engine
(flow/timing/nldm.py) finds in the netlist: if one is missing, there is no verdict but a ToolError. Without
OpenSTA that engine takes its place, and timing.json says so: "engine": "nldm". Both have the same
constraints (flow/kit/constraints.py), also written to constraints.sdc.

Wires: none; a wire-load model of the Liberty; or those of a SPEF file or wires.json (one is made from the
other for the engine that cannot read it). A model without wires replaces the library's default model, which
OpenSTA would otherwise use. Before layout, the setup slack is reported both without wires and with the
library's model; the requested wires determine the verdict.

A clock is met if all endpoints are judged and none is late, neither for setup nor for hold. `met_ns` is the
period that the netlist meets.

Setup is judged at the slow corner of the kit and hold at the fast one; a corner that the kit lacks is
replaced by the typical one. `corner_ns` has the shortest period of the same netlist at every corner, by the
flow's own engine.

Hold is judged on paths that start at registers (hold_wns_ns). On paths from inputs it depends on their
drivers: a miss there is a caveat.

The highest clock is that of this netlist: slack is linear in the period as long as all paths take a whole
cycle, so that period minus slack is it; both engines run again with that period, and OpenSTA searches by
bisection if the slack there is not 0.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput, unknown
from ..files import replace_text
from ..kit import kit
from ..netlist import hierarchy as hierarchy_file
from ..netlist.netlist import PORT, read
from ..progress import stopwatch
from . import nldm, opensta, wire_table
from .graph import openers
from .opensta import MARGIN_NS, SHOWN, Result
from .report import DIGITS, HighestClock, TimingReport, rounded, verdict
from .spef import Spef
from .subject import NO_WIRES, Subject

OPENSTA, NLDM = ENGINES = ("opensta", "nldm")


def version(engine: str) -> str:
    """The version of an engine, for reports; BadInput if it is missing."""
    return "modexlab" if engine == NLDM else opensta.version()


def analyze(
    netlist_v: Path,
    top: str,
    out_dir: Path,
    *,
    clock_ns: float,
    clock_port: str | None = "clk",
    spef: Path | None = None,
    wires: Path | None = None,
    wire_load: str | None = None,
    hierarchy: Path | None = None,
    netlist_json: Path | None = None,
    fmax: bool = False,
    paths: int = 10,
    engine: str | None = None,
    adk: Path | None = None,
    corner: str | None = None,
    **constraints: Any,
) -> TimingReport:
    """Write timing.json and constraints.sdc; return the content of timing.json.

    `wires` is a wires.json, `spef` the same as SPEF, or alone the wires of another tool; `wire_load` a model
    of the library. `hierarchy` is a hierarchy.json. netlist.json is by default next to the netlist. `engine`
    is opensta or nldm, or None: opensta if it is installed. Further keywords are those of Constraints:
    input_hold_ns, propagated, ...
    """
    elapsed = stopwatch()
    if engine not in (None, *ENGINES):
        raise unknown("engine", engine, ENGINES)
    files, fast = (kit.find(adk, corner or own) for own in (kit.SLOW, kit.FAST))
    if wire_load is not None and (spef or wires):
        raise BadInput("wires or a wire-load model: not both")
    if wire_load is not None and wire_load not in files.library.wire_loads:
        raise unknown("wire-load model", wire_load, files.library.wire_loads)
    asked = files.library.constraints(clock_ns, clock_port, **constraints)
    if not netlist_v.is_file():
        raise BadInput(f"the netlist {netlist_v} cannot be read: run the synthesis first")
    netlist = read(netlist_json or netlist_v.with_suffix(".json"), files.library)
    table = wire_table.load(wires) if wires else Spef(spef, netlist).table() if spef else None
    subject = with_openers(Subject(netlist_v, netlist, top, files, asked, table, spef, wire_load))
    engine, caveats = (engine, []) if engine else _available_engine()
    by_engine = _by_opensta if engine == OPENSTA else _by_nldm
    subject = _with_latency(subject)
    result = by_engine(subject, paths, fmax)
    if fast.corner != files.corner:
        early = by_engine(_with_latency(replace(subject, kit=fast, asked=asked)), paths, False)
        slacks = result.slacks | {check: early.slacks[check] for check in ("hold", "inside")}
        result = replace(result, slacks=slacks, hold_paths=early.hold_paths)
    owners = hierarchy_file.load(hierarchy).cells if hierarchy else {}
    for path in (*result.paths, *result.hold_paths):
        for point in path.points:
            # without a hierarchy.json the module is the name up to the last dot
            point.module = owners.get(point.cell, point.cell.rpartition(".")[0])
        path.modules = list(dict.fromkeys(point.module for point in path.points if point.cell))
    report = _report(subject, engine, result)
    report.caveats[:0] = caveats
    report.hold_corner = fast.at
    report.corner_ns = {} if corner else _periods(subject, adk)
    report.fmax = result.fmax if fmax else None
    report.fmax_mhz = 1000 / report.fmax.clock_ns if report.fmax else None
    report.seconds = elapsed()
    replace_text(out_dir / "constraints.sdc", subject.asked.sdc)
    report.write(out_dir)
    return report


def _available_engine() -> tuple[str, list[str]]:
    """Return opensta if it is installed; otherwise nldm and a caveat."""
    try:
        opensta.program()
    except BadInput as error:
        return NLDM, [f"{error}: these times are the flow's own estimate"]
    return OPENSTA, []


def with_openers(subject: Subject) -> Subject:
    """The flip-flops that open latches, and when they do."""
    pins = dict.fromkeys(openers(subject.netlist, subject.library).values())
    if not pins:
        return subject
    timing = subject.estimate()
    opened = []
    for cell, pin in pins:
        arrivals = timing.arrivals_ns[subject.netlist.cells[cell].pins[pin]]
        opened.append((f"{cell}/{pin}", round(float(max(arrivals)), DIGITS)))
    return replace(subject, asked=replace(subject.asked, openers=tuple(opened)))


def _periods(subject: Subject, adk: Path | None) -> dict[str, float]:
    """The shortest period by setup at each corner of the kit; nothing where it has one."""
    found: dict[str, float] = {}
    asked = replace(subject.asked, latency_ns=0.0)
    for corner in subject.kit.libraries if len(subject.kit.libraries) > 1 else ():
        at = replace(subject, kit=kit.find(adk, corner), asked=asked)
        if subject.wire_load in (None, *at.library.wire_loads):
            slack_ns = _with_latency(with_openers(at)).estimate().wns_ns
            found |= {corner: round(asked.clock_ns - slack_ns, DIGITS)} if math.isfinite(slack_ns) else {}
    return found


def _with_latency(subject: Subject) -> Subject:
    """The flip-flops outside have a clock tree of the same mean delay."""
    if not subject.asked.propagated or subject.asked.latency_ns:
        return subject
    latency_ns = round(subject.estimate().clock_latency_ns, DIGITS)
    return replace(subject, asked=replace(subject.asked, latency_ns=latency_ns))


def _report(subject: Subject, engine: str, result: Result) -> TimingReport:
    """Return the content of timing.json."""
    asked = subject.asked
    setup = result.slacks["setup"]
    wns, inside = result.worst("setup"), result.worst("inside")
    met, met_ns = _met(asked.clock_ns, wns, inside, result)
    models = {}
    if other := subject.other_model:
        models = {subject.wire_load or "none": wns, other.replace(NO_WIRES, "none"): result.worst("loaded")}
    outside = [  # a hold slack that depends on what drives an input
        f"hold at the input {path.start} is missed by {-path.slack_ns:.3f} ns, if what drives it answers "
        f"{asked.input_hold_ns:g} ns after the clock edge; not counted, as the flow does not know what does"
        for path in result.hold_paths[:1]
        if path.slack_ns < 0 and not path.points[0].cell
    ]
    return TimingReport(
        engine=engine,
        engine_version=version(engine),
        clock_ns=asked.clock_ns,
        met=met,
        met_ns=met_ns,
        verdict=verdict(asked.clock_ns, met_ns, wns, result.unchecked, inside, result.paths),
        wns_ns=wns,
        wns_by_model_ns={name: slack for name, slack in models.items() if slack is not None},
        tns_ns=round(sum(min(slack, 0.0) for slack in setup.values()), DIGITS),
        hold_wns_ns=inside,
        endpoints=len(setup),
        wires=subject.source,
        wire_load=subject.wire_load,
        corner=subject.kit.at,
        constraints={key: value for key, value in vars(asked).items() if key not in ("clock_ns", "openers")},
        paths=result.paths,
        hold_paths=result.hold_paths,
        caveats=[*result.caveats, *outside],
    )


def _met(
    clock_ns: float, wns_ns: float | None, hold_ns: float | None, result: Result
) -> tuple[bool | None, float | None]:
    """Return whether the clock is met (None: not every endpoint is judged), and a period that is met."""
    if hold_ns is not None and hold_ns < 0:
        return False, None
    if wns_ns is None:
        return None, None
    if wns_ns < 0:
        best = result.fmax
        known = best is not None and best.slack_ns >= 0 and not result.unchecked
        return False, math.ceil(best.clock_ns * 10**DIGITS) / 10**DIGITS if best and known else None
    return (None, None) if result.unchecked else (True, clock_ns)


# -- the engines
# --------------------------------------------------------------------------------------------------------


def _by_opensta(subject: Subject, paths: int, fmax: bool) -> Result:
    timing = subject.estimate()  # which refuses what makes no sense
    result = opensta.run(subject, paths, fmax, subject.other_model)
    result.require(_expected(subject, timing, result))
    if timing.unclocked:
        caveats = [*result.caveats, _not_clocked(timing)]
        result = replace(result, caveats=caveats, unchecked=len(timing.unclocked))
    # the wires of nets with an output port are in the delays that OpenSTA finds, but not in the loads that it
    # prints
    aliases = subject.netlist.aliases
    table = subject.table or {}
    outputs = {net for _, net in subject.netlist.port_bits("output")}
    caps = {net: wire.cap_ff for name, wire in table.items() if (net := aliases.get(name)) in outputs}
    for path in (*result.paths, *result.hold_paths):
        for point in path.points:
            if point.load_ff is not None:
                point.load_ff = rounded(point.load_ff + caps.get(aliases.get(point.net or "", -1), 0.0))
    return result


def _by_nldm(subject: Subject, paths: int, fmax: bool) -> Result:
    timing = subject.estimate()
    slacks = {
        "setup": _slacks(timing.setup),
        "hold": _slacks(timing.hold),
        "inside": _slacks(subject.estimate_inside()[1]),
    }
    if other := subject.other_model:
        slacks["loaded"] = _slacks(replace(subject, table=None, wire_load=other).estimate().setup)
    found = None
    if timing.setup and (fmax or timing.wns_ns < 0):
        period = subject.asked.clock_ns - timing.wns_ns + MARGIN_NS
        if period > 0:
            slack = subject.estimate(replace(subject.asked, clock_ns=period)).wns_ns
            found = HighestClock(period, slack)
    caveats = [_not_clocked(timing)] if timing.unclocked else []
    if others := sorted(timing.unchecked - timing.unclocked):
        names = ", ".join(others[:SHOWN])
        caveats.append(f"{len(others)} latches or registers of an inverted clock are not checked: {names}")
    return Result(
        slacks,
        paths=[timing.path(end) for end in timing.setup[:paths]],
        hold_paths=[timing.path(end, earliest=True) for end in timing.hold[:paths]],
        fmax=found,
        caveats=caveats,
        unchecked=len(timing.unchecked),
    )


def _not_clocked(timing: nldm.Timing) -> str:
    """Return the caveat on registers without the clock."""
    names = sorted(timing.unclocked)
    said = f"{len(names)} registers are not checked, as the clock does not reach them"
    return f"{said}: {', '.join(names[:SHOWN])}"


def _expected(subject: Subject, timing: nldm.Timing, found: Result) -> dict[str, set[str]]:
    """Return the endpoints that the flow's own engine finds in the netlist, by check."""
    still, ends = subject.estimate_inside()

    def from_register(end: nldm.Endpoint) -> bool:
        # a path on which the clock itself is the data starts at a port, not at a register
        start = still.path(end, earliest=True).points[0]
        return bool(start.cell) and subject.library.cells[start.type].pins[start.pin].clock

    behind = _behind(subject, timing.unclocked)  # OpenSTA follows no path from a latch without a clock
    setup = {end.name for end in timing.setup} - behind
    inside = {end.name for end in ends if end.name in found.slacks["inside"] or from_register(end)}
    return {
        "setup": setup,
        "hold": {end.name for end in timing.hold} - behind,
        "inside": inside - behind,
        "loaded": setup if subject.other_model else set(),
    }


def _behind(subject: Subject, names: Collection[str]) -> set[str]:
    """Return the endpoints that the latches among these cells reach through gates."""
    netlist, cells = subject.netlist, subject.library.cells
    todo = [name for name in names if cells[netlist.cells[name].kind].latch]
    seen, ends = set(todo), set()
    for name in todo:  # grows
        instance = netlist.cells[name]
        for output in instance.pins.keys() & cells[instance.kind].outputs:
            for reader, pin in netlist.sinks[instance.pins[output]]:
                if reader == PORT or cells[netlist.cells[reader].kind].sequential:
                    ends.add(f"{reader}/{pin}" if reader else pin)
                elif reader not in seen:
                    seen.add(reader)
                    todo.append(reader)
    return ends


def _slacks(ends: Iterable[nldm.Endpoint]) -> dict[str, float]:
    return {end.name: round(end.slack_ns, DIGITS) for end in ends}
