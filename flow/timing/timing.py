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

import time
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
from .opensta import DIGITS, MARGIN_NS, Result, rounded
from .report import HighestClock, PathPoint, TimedPath, TimingReport, histogram, verdict
from .spef import spef as spef_text
from .wire_table import Source, WireTable

OPENSTA, NLDM = ENGINES = ("opensta", "nldm")
FAR_NS = 1e9


def version(engine: str) -> str:
    """The version of an engine, for reports; BadInput if it is missing."""
    return "modexlab" if engine == NLDM else opensta.version()


@dataclass(frozen=True)
class Subject:
    """What is analysed: a netlist, what is asked of it, and its wires."""

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

    def estimate(self, netlist: Netlist, asked: Constraints) -> nldm.Timing:
        """By the own engine."""
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

    `wires` is a wires.json, `spef` the same as SPEF; `wire_load` a model of the library. `hierarchy` is a hierarchy.json.
    netlist.json is looked for beside the netlist. `engine` is opensta or nldm, or None: opensta if it is there.
    Further keywords are those of Constraints: uncertainty_ns, propagated, ...
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
            # without a hierarchy.json what stands before the last dot
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
    """What timing.json says."""
    wns, hold_wns = (min(slacks.values(), default=None) for slacks in (result.setup, result.hold))
    library, inside = subject.library, result.hold_inside
    return TimingReport(
        engine=engine,
        engine_version=version(engine),
        clock_ns=asked.clock_ns,
        met=(wns is None or wns >= 0) and (inside is None or inside >= 0),
        verdict=verdict(asked.clock_ns, wns, inside, result.paths),
        wns_ns=wns,
        tns_ns=_total(result.setup),
        hold_wns_ns=hold_wns,
        hold_inside_wns_ns=inside,
        hold_tns_ns=_total(result.hold),
        endpoints=len(result.setup),
        setup_violations=sum(slack < 0 for slack in result.setup.values()),
        hold_violations=sum(slack < 0 for slack in result.hold.values()),
        fmax_mhz=1000 / result.fmax.clock_ns if result.fmax else None,
        fmax=result.fmax,
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


def _total(slacks: dict[str, float]) -> float:
    return round(sum(min(slack, 0.0) for slack in slacks.values()), DIGITS)


# -- the engines --------------------------------------------------------------------------------------------------------


def _by_opensta(subject: Subject, out: Path) -> tuple[Constraints, Result]:
    asked, spef = subject.asked, subject.spef
    netlist = subject.netlist() if subject.table is not None or asked.propagated else None
    if netlist is not None:
        asked = subject.with_latency(netlist)
    if netlist is not None and subject.table is not None and spef is None:
        spef = out / "wires_star.spef"
        replace_text(spef, spef_text(netlist, subject.table))
    result = opensta.run(
        subject.netlist_v,
        subject.top,
        subject.kit.lib,
        asked,
        spef,
        subject.wire_load,
        subject.paths,
        subject.fmax,
    )
    if netlist is not None and subject.table is not None:
        _complete_loads(result, netlist, subject.table)
    return asked, result


def _complete_loads(result: Result, netlist: Netlist, wires: WireTable) -> None:
    """The wires of nets with an output port: they are in the delays that OpenSTA finds, but not in the loads that it prints."""
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
    # as if no input changed
    inside = subject.estimate(netlist, replace(asked, input_hold_ns=FAR_NS)).hold
    found = None
    if subject.fmax and timing.setup:
        period = asked.clock_ns - timing.wns_ns + MARGIN_NS
        if period > 0:
            slack = subject.estimate(netlist, replace(asked, clock_ns=period)).wns_ns
            found = HighestClock(period, slack)
    caveats = []
    if timing.unchecked:
        names = ", ".join(timing.unchecked[:3])
        caveats.append(
            f"{len(timing.unchecked)} latches or registers of an inverted clock are not checked: {names}"
        )
    return asked, Result(
        setup={end.name: round(end.slack_ns, DIGITS) for end in timing.setup},
        hold={end.name: round(end.slack_ns, DIGITS) for end in timing.hold},
        hold_inside=rounded(next((end.slack_ns for end in inside if end.slack_ns < FAR_NS / 2), None)),
        paths=[_path(timing, end, False) for end in timing.setup[: subject.paths]],
        hold_paths=[_path(timing, end, True) for end in timing.hold[: subject.paths]],
        fmax=found,
        caveats=caveats,
    )


def _path(timing: nldm.Timing, end: nldm.Endpoint, earliest: bool) -> TimedPath:
    points = [
        PathPoint(
            cell=point.cell,
            type=point.kind,
            pin=point.pin,
            net=point.net,
            edge=point.edge,
            slew_ns=rounded(point.slew_ns),
            load_ff=rounded(point.load_ff),
            delay_ns=rounded(point.delay_ns),
            arrival_ns=rounded(point.arrival_ns),
        )
        for point in timing.path(end, earliest)
    ]
    return TimedPath(
        start=points[0].name,
        end=end.name,
        slack_ns=round(end.slack_ns, DIGITS),
        arrival_ns=rounded(end.arrival_ns),
        required_ns=rounded(end.required_ns),
        points=points,
    )
