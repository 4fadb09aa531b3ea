"""Static timing of a mapped netlist: worst paths, setup and hold, the histogram of slacks, and the highest
clock.

The engine is OpenSTA as Debian 12 packages it (`sta`, version 2.0.17 of 2019), run once with a script that
prints marked sections. Its endpoints are compared with those that the flow's own engine
(flow/timing/nldm.py) finds in the netlist: if one is missing, there is no verdict but a ToolError. Without
OpenSTA that engine takes its place, and timing.json says so: "engine": "nldm". Both have the same
constraints (flow/kit/constraints.py), also written to constraints.sdc.

Wires: none; a wire-load model of the Liberty; or those of wires.spef and wires.json (one is made from the
other for the engine that cannot read it). The library's default model, which OpenSTA would take by itself,
is displaced by one of no wires. Before there is a layout the setup slack is reported both without wires and
with the library's model; the verdict is that of the wires asked for.

A clock is met if all endpoints are judged and none is late, neither for setup nor for hold. `met_ns` is the
period that the netlist meets.

Hold is judged on paths that start at registers (hold_inside_wns_ns); from inputs it depends on what drives
them, and is only told.

The highest clock is that of this netlist: slack is linear in the period as long as all paths take a whole
cycle, so that period minus slack is it; both engines run again with that period, and OpenSTA searches by
bisection if the slack there is not 0.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput, unknown
from ..files import replace_text
from ..kit import kit
from ..kit.constraints import Constraints
from ..kit.kit import Kit
from ..kit.liberty import Library
from ..netlist import hierarchy as hierarchy_file
from ..netlist.netlist import Netlist, read
from . import nldm, opensta, wire_table
from . import spef as spef_file
from .opensta import MARGIN_NS, NO_WIRES, SHOWN, Endpoints, Result
from .report import DIGITS, HighestClock, PathPoint, TimingReport, histogram, rounded, verdict
from .wire_table import Source, WireTable

OPENSTA, NLDM = ENGINES = ("opensta", "nldm")
FAR_NS = 1e9


def version(engine: str) -> str:
    """The version of an engine, for reports; BadInput if it is missing."""
    return "modexlab" if engine == NLDM else opensta.version()


@dataclass(frozen=True)
class Subject:
    """Subject of an analysis: a netlist, its constraints, and its wires."""

    netlist_v: Path
    netlist_json: Path
    top: str
    kit: Kit
    asked: Constraints
    table: WireTable | None
    spef: Path | None  # the same wires
    wire_load: str | None
    paths: int
    fmax: bool

    @property
    def library(self) -> Library:
        return self.kit.library

    @property
    def source(self) -> Source:
        """Where the wires come from."""
        known = wire_table.source(self.table) if self.table is not None else "none"
        if known != "none":
            return known
        return "model" if self.wire_load else "placement" if self.spef else "none"

    @property
    def other_model(self) -> str | None:
        """The model, or NO_WIRES, whose setup slack is reported as well; None once the wires are known."""
        if self.source not in ("none", "model") or self.spef is not None:
            return None
        return NO_WIRES if self.wire_load else self.library.default_wire_load or None

    def check(self) -> None:
        """BadInput for what cannot be."""
        library = self.library
        if self.wire_load is not None and (self.spef or self.table is not None):
            raise BadInput("a wire-load model or wires: not both")
        if self.wire_load is not None and self.wire_load not in library.wire_loads:
            raise unknown("wire-load model", self.wire_load, library.wire_loads)
        if self.asked.driving_cell not in library.cells:
            raise unknown("driving cell", self.asked.driving_cell, library.cells)
        if not self.netlist_v.is_file():
            raise BadInput(f"the netlist {self.netlist_v} cannot be read: run the synthesis first")

    def netlist(self) -> Netlist:
        """Read."""
        return read(self.netlist_json, self.library)

    def with_latency(self, netlist: Netlist) -> Constraints:
        """The constraints with the mean delay of the netlist's clock tree as that of the surroundings."""
        if self.asked.latency_ns or not self.asked.propagated:
            return self.asked
        found = self.estimate(netlist, self.asked)
        return replace(self.asked, latency_ns=round(found.clock_latency_ns, DIGITS))

    def estimate(self, netlist: Netlist, asked: Constraints, model: str | None = None) -> nldm.Timing:
        """Analyse by the flow's own engine, with this wire-load model or the wires of the subject."""
        if model is not None:
            load = None if model == NO_WIRES else model
            return nldm.analyze(netlist, self.library, asked, wire_load=load)
        return nldm.analyze(netlist, self.library, asked, wires=self.table, wire_load=self.wire_load)


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
) -> TimingReport:
    """Write timing.json and constraints.sdc; returns what timing.json says.

    `wires` is a wires.json, `spef` the same as SPEF; `wire_load` a model of the library. `hierarchy` is a
    hierarchy.json. netlist.json is looked for beside the netlist. `engine` is opensta or nldm, or None:
    opensta if it is there. Further keywords are those of Constraints: uncertainty_ns, propagated, ...
    """
    started = time.monotonic()
    if engine not in (None, *ENGINES):
        raise unknown("engine", engine, ENGINES)
    out, files = Path(out_dir), kit.find(adk and Path(adk))
    subject = Subject(
        netlist_v=Path(netlist_v),
        netlist_json=Path(netlist_json) if netlist_json else Path(netlist_v).with_suffix(".json"),
        top=top,
        kit=files,
        asked=files.library.constraints(clock_ns, clock_port, **constraints),
        table=wire_table.load(wires) if wires else None,
        spef=Path(spef) if spef else None,
        wire_load=wire_load,
        paths=paths,
        fmax=fmax,
    )
    subject.check()
    engine, caveats = _engine(engine)
    asked, result = (_by_opensta if engine == OPENSTA else _by_nldm)(subject, out)
    owners = hierarchy_file.load(hierarchy).cells if hierarchy else {}
    for path in (*result.paths, *result.hold_paths):
        for point in path.points:
            # without a hierarchy.json the module is the name up to the last dot
            point.module = owners.get(point.cell, point.cell.rpartition(".")[0])
        path.modules = list(dict.fromkeys(point.module for point in path.points if point.cell))
    caveats += [*result.caveats, *_outside(result, asked)]
    report = _report(subject, engine, asked, result, caveats)
    report.seconds = round(time.monotonic() - started, 2)
    replace_text(out / "constraints.sdc", asked.sdc)
    report.write(out)
    return report


def _engine(asked: str | None) -> tuple[str, list[str]]:
    """The engine to take, and what is to be said of it."""
    if asked is not None:
        return asked, []
    try:
        opensta.program()
        return OPENSTA, []
    except BadInput as error:
        return NLDM, [f"{error}: these times are the flow's own estimate"]


def _outside(result: Result, asked: Constraints) -> list[str]:
    """A hold slack that depends on what drives an input."""
    return [
        f"hold at the input {path.start} is missed by {-path.slack_ns:.3f} ns, if what drives it answers "
        f"{asked.input_hold_ns:g} ns after the clock edge; not counted, as the flow does not know what does"
        for path in result.hold_paths[:1]
        if path.slack_ns < 0 and not path.points[0].cell
    ]


def _report(
    subject: Subject, engine: str, asked: Constraints, result: Result, caveats: list[str]
) -> TimingReport:
    """Return the content of timing.json."""
    wns, hold_wns, loaded = (
        min(slacks.values(), default=None) for slacks in (result.setup, result.hold, result.loaded)
    )
    library, inside = subject.library, result.hold_inside
    found = subject.fmax and result.fmax
    met, met_ns = _met(asked.clock_ns, wns, result)
    models = {subject.wire_load or "none": wns, (subject.other_model or "").replace(NO_WIRES, "none"): loaded}
    return TimingReport(
        engine=engine,
        engine_version=version(engine),
        clock_ns=asked.clock_ns,
        met=met,
        met_ns=met_ns,
        verdict=verdict(asked.clock_ns, met_ns, wns, result.unchecked, inside, result.paths),
        wns_ns=wns,
        wns_by_model_ns={}
        if subject.other_model is None
        else {name: slack for name, slack in models.items() if slack is not None},
        tns_ns=_total(result.setup),
        hold_wns_ns=hold_wns,
        hold_inside_wns_ns=inside,
        hold_tns_ns=_total(result.hold),
        endpoints=len(result.setup),
        setup_violations=sum(slack < 0 for slack in result.setup.values()),
        hold_violations=sum(slack < 0 for slack in result.hold.values()),
        fmax_mhz=1000 / found.clock_ns if found else None,
        fmax=found or None,
        wires=subject.source,
        wire_load=subject.wire_load,
        corner=library.corner,
        constraints={key: value for key, value in vars(asked).items() if key != "clock_ns"},
        histogram=histogram(result.setup.values()),
        paths=result.paths,
        hold_paths=result.hold_paths,
        caveats=caveats,
        seconds=0.0,
    )


def _met(clock_ns: float, wns_ns: float | None, result: Result) -> tuple[bool | None, float | None]:
    """Return whether the clock is met (None: not every endpoint is judged), and a period that is met."""
    hold = result.hold_inside is None or result.hold_inside >= 0
    if not hold or wns_ns is None:
        return (None if hold else False), None
    if wns_ns < 0:
        best = result.fmax
        known = best is not None and best.slack_ns >= 0 and not result.unchecked
        return False, math.ceil(best.clock_ns * 10**DIGITS) / 10**DIGITS if best and known else None
    return (None, None) if result.unchecked else (True, clock_ns)


def _total(slacks: dict[str, float]) -> float:
    return round(sum(min(slack, 0.0) for slack in slacks.values()), DIGITS)


# -- the engines
# --------------------------------------------------------------------------------------------------------


def _by_opensta(subject: Subject, out: Path) -> tuple[Constraints, Result]:
    asked, spef = subject.asked, subject.spef
    netlist = subject.netlist() if subject.table is not None or asked.propagated else None
    if netlist is not None:
        asked = subject.with_latency(netlist)
    if netlist is not None and subject.table is not None and spef is None:
        spef = out / "wires_star.spef"
        replace_text(spef, spef_file.stars(netlist, subject.table))
    result = opensta.run(
        subject.netlist_v,
        subject.top,
        subject.kit.lib,
        asked,
        spef,
        subject.wire_load,
        subject.paths,
        subject.fmax,
        subject.other_model,
    )
    netlist = netlist or subject.netlist()
    timing = subject.estimate(netlist, asked)
    result.require(_expected(subject, timing, asked, result))
    if timing.unclocked:
        caveats = [*result.caveats, _not_clocked(timing)]
        result = replace(result, caveats=caveats, unchecked=len(timing.unclocked))
    if subject.table is not None:
        _complete_loads(result, netlist, subject.table)
    return asked, result


def _complete_loads(result: Result, netlist: Netlist, wires: WireTable) -> None:
    """The wires of nets with an output port: they are in the delays that OpenSTA finds, but not in the loads
    that it prints.
    """
    outputs = {net for _, net in netlist.port_bits("output")}
    caps = {net: wire.cap_ff for name, wire in wires.items() if (net := netlist.aliases.get(name)) in outputs}
    for path in (*result.paths, *result.hold_paths):
        for point in path.points:
            if point.load_ff is not None:
                point.load_ff = rounded(
                    point.load_ff + caps.get(netlist.aliases.get(point.net or "", -1), 0.0)
                )


def _by_nldm(subject: Subject, _: Path) -> tuple[Constraints, Result]:
    if subject.spef is not None and subject.table is None:
        raise BadInput(f"the engine nldm reads wires.json and no SPEF: give it beside {subject.spef}")
    netlist = subject.netlist()
    asked = subject.with_latency(netlist)
    timing = subject.estimate(netlist, asked)
    inside = subject.estimate(netlist, _still(asked)).hold
    other = subject.other_model
    loaded = _slacks(subject.estimate(netlist, asked, other).setup) if other else {}
    found = None
    if timing.setup and (subject.fmax or timing.wns_ns < 0):
        period = asked.clock_ns - timing.wns_ns + MARGIN_NS
        if period > 0:
            slack = subject.estimate(netlist, replace(asked, clock_ns=period)).wns_ns
            found = HighestClock(period, slack)
    caveats = [_not_clocked(timing)] if timing.unclocked else []
    if others := sorted(timing.unchecked - timing.unclocked):
        names = ", ".join(others[:SHOWN])
        caveats.append(f"{len(others)} latches or registers of an inverted clock are not checked: {names}")
    return asked, Result(
        setup=_slacks(timing.setup),
        hold=_slacks(timing.hold),
        inside={name: slack for name, slack in _slacks(inside).items() if slack < FAR_NS / 2},
        loaded=loaded,
        paths=[timing.path(end) for end in timing.setup[: subject.paths]],
        hold_paths=[timing.path(end, earliest=True) for end in timing.hold[: subject.paths]],
        fmax=found,
        caveats=caveats,
        unchecked=len(timing.unchecked),
    )


def _still(asked: Constraints) -> Constraints:
    """Return the constraints as if no input changed."""
    return replace(asked, input_hold_ns=FAR_NS)


def _not_clocked(timing: nldm.Timing) -> str:
    """Return the caveat on registers without the clock."""
    names = sorted(timing.unclocked)
    said = f"{len(names)} registers are not checked, as the clock does not reach them"
    return f"{said}: {', '.join(names[:SHOWN])}"


def _expected(subject: Subject, timing: nldm.Timing, asked: Constraints, found: Result) -> Endpoints:
    """Return the endpoints that the flow's own engine finds in the netlist."""
    still = subject.estimate(timing.netlist, _still(asked))
    setup = {end.name for end in timing.setup}
    # a path on which the clock itself is the data starts at a port, not at a register
    inside = {
        end.name
        for end in still.hold
        if end.slack_ns < FAR_NS / 2
        and (
            end.name in found.inside
            or _from_register(still.path(end, earliest=True).points[0], subject.library)
        )
    }
    hold = {end.name for end in timing.hold}
    return Endpoints(setup=setup, hold=hold, inside=inside, loaded=setup if subject.other_model else set())


def _from_register(start: PathPoint, library: Library) -> bool:
    return bool(start.cell) and library.cells[start.type].pins[start.pin].clock


def _slacks(ends: Iterable[nldm.Endpoint]) -> dict[str, float]:
    return {end.name: round(end.slack_ns, DIGITS) for end in ends}
