"""Activity: how often each net of a netlist moves, and how long it is at 1, while it does an energy workload.

The step gate-sim: `gate_sim` runs all rows of a workload on the netlist (gate_sim.json, like rtl_sim.json), then each energy workload
by itself, and writes what its nets did to activity/NAME.json, and with delays (glitches.py), to activity/NAME.timed.json:

{"workload", "mode": "zero-delay" | "timed", "clock_ns", "window": {"cycles"}, "nets": {net: [toggles, fraction of the time at 1]},
 "clock_nets": [...], and of "timed": "late_events" after the end of the clock's period, "latest_ns"}

The window is the kernel's: from the clock edge that takes the first request to the one that takes the last response, with nothing
before it in the machine; of a program, the cycles with stats_en. Nets have the name that netlist.py gives them.

`write_saif` writes the same as SAIF 2.0, for other tools.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput
from ...rtl.sim.protocol import RESET_CYCLES, Run
from .. import workload
from ..description import Description
from ..files import replace_json, replace_text
from ..kit import kit
from ..netlist import netlist
from ..timing import nldm
from .engine import Counts, Engine, GateTables
from .gates import GateProcSimulation, GateSimulation

INPUT_NS = 0.1  # inputs change when a flip-flop outside, with an average load, has answered
STATS = "stats_en"  # port of a processor: 1 inside the window
ZERO_DELAY, TIMED = "zero-delay", "timed"


def gate_sim(
    netlist_json: Path,
    design: Description,
    workload_json: Path,
    out_dir: Path,
    *,
    clock_ns: float = 3.0,
    timed: bool = True,
    wires: Path | None = None,
    propagated: bool = False,
    adk: Path | None = None,
) -> dict[str, Any]:
    """Write gate_sim.json and activity/; a wrong answer is a failed test and no error.

    Delays are those with `wires`, a wires.json, or with the library's own wire-load model.
    """
    start = time.perf_counter()
    work = workload.load(workload_json)
    library = kit.find(adk).library
    nets = netlist.read(netlist_json, library, design.top)
    clock_port = work.names.get("clk") or design.clock_port or "clk"
    timing = None
    if timed and work.energy:
        timing = nldm.analyze(
            nets,
            library,
            library.constraints(clock_ns, clock_port, propagated=propagated),
            wires=json.loads(wires.read_text()) if wires else None,
            wire_load=None if wires else library.default_wire_load or None,
        )
    tables = GateTables(nets, library, timing=timing, clock_port=clock_port)
    out_dir = Path(out_dir)
    (out_dir / "activity").mkdir(parents=True, exist_ok=True)
    modes = [ZERO_DELAY, TIMED] if timing else [ZERO_DELAY]
    run = _programs if work.protocol == workload.SYSTEM else _streams
    report, activities = run(tables, work, modes, clock_ns)
    for name, (mode, counts) in activities:
        replace_json(_path(out_dir, name, mode), activity(tables, counts, name, mode, clock_ns))
    report["seconds"] = round(time.perf_counter() - start, 2)
    replace_json(out_dir / "gate_sim.json", report)
    return report


Activities = list[tuple[str, tuple[str, Counts]]]


def _path(out_dir: Path, name: str, mode: str) -> Path:
    return out_dir / "activity" / f"{name}{'.timed' if mode == TIMED else ''}.json"


def _streams(
    tables: GateTables, work: workload.Workload, modes: list[str], clock_ns: float
) -> tuple[dict[str, Any], Activities]:
    assert work.ports is not None
    found: Activities = []
    with GateSimulation.of(tables, work.ports, names=work.names) as simulation:
        report = workload.run_streams(simulation, work)
        for name in report["cycles"]:
            for mode in modes:
                counts = kernel(simulation, work.energy[name], clock_ns, timed=mode == TIMED)
                found.append((name, (mode, counts)))
    return report, found


def kernel(simulation: GateSimulation, row: workload.Row, clock_ns: float, *, timed: bool = False) -> Counts:
    """What moves while a machine does the requests of a row: from the first one's handshake to the last answer's."""
    unpack = simulation.ports.request.unpack
    requests = [unpack(request) for request in row.requests]

    def run() -> Run:
        return simulation.run(requests, statics=row.statics, source_delays=0, sink_delays=0)

    before = run()  # every run takes the same cycles: this one says which
    first = simulation.engine.edges + RESET_CYCLES
    _open(simulation.engine, first + before.accepted[0], first + before.done[-1], timed, clock_ns)
    again = run()
    if again.responses != before.responses or again.done != before.done:
        raise BadInput(
            f"{row.name}: the same requests take another course after a reset: reset all registers of control"
        )
    return simulation.engine.counts()


def _open(
    engine: Engine, first: int, last: int | None, timed: bool, clock_ns: float, signal: str | None = None
) -> None:
    engine.window(first, last, signal=signal, timed=timed, input_ns=INPUT_NS, clock_ns=clock_ns)


def _programs(
    tables: GateTables, work: workload.Workload, modes: list[str], clock_ns: float
) -> tuple[dict[str, Any], Activities]:
    """The programs of a workload; of the energy workloads and of the dummy, the activity in their windows."""
    cycles: dict[str, int] = {}
    failures = []
    found: Activities = []
    rows = [(row.name, row) for row in work.rows] + list(work.energy.items())
    with GateProcSimulation.of(tables) as simulation:
        for name, row in rows:
            counted = modes if name in work.energy or name == workload.DUMMY else modes[:1]
            for mode in counted:
                _open(simulation.engine, 0, None, mode == TIMED, clock_ns, signal=STATS)
                outcome = simulation.run(workload.program(row), max_cycles=work.max_cycles)
                counts = simulation.engine.counts()
                if len(counted) > 1 or name in work.energy or name == workload.DUMMY:
                    found.append((name, (mode, counts)))
            if outcome.exit_code:
                failures.append({"name": name, "exit_code": outcome.exit_code, "reason": outcome.reason})
            if outcome.window.cycles is not None:
                cycles[name] = outcome.window.cycles
    dummy = cycles.get(workload.DUMMY, 0)
    report = {
        "tests_passed": len(rows) - len(failures),
        "tests_failed": len(failures),
        "failures": failures,
        "cycles": {name: cycles[name] - dummy for name in work.energy if name in cycles},
    }
    return report, found


def activity(tables: GateTables, counts: Counts, name: str, mode: str, clock_ns: float) -> dict[str, Any]:
    """The contents of an activity file."""
    toggles = counts.timed if mode == TIMED else counts.toggles
    assert toggles is not None
    ones = counts.ones.round(6).tolist()
    moved = toggles.tolist()
    nets = tables.netlist.nets
    found: dict[str, Any] = {
        "workload": name,
        "mode": mode,
        "clock_ns": clock_ns,
        "window": {"cycles": counts.cycles},
        "nets": {net: [moved[index], ones[index]] for index, net in enumerate(nets)},
        "clock_nets": [net for index, net in enumerate(nets) if counts.clocked[index]],
    }
    if mode == TIMED:
        found |= {"late_events": counts.late, "latest_ns": round(counts.latest_ns, 4)}
    return found


def write_saif(path: Path, design: str, data: Mapping[str, Any]) -> None:
    """The contents of an activity file as SAIF 2.0 (IEEE 1801), times in ps."""
    duration = round(data["window"]["cycles"] * data["clock_ns"] * 1000)
    lines = [
        '(SAIFILE (SAIFVERSION "2.0") (DIRECTION "backward") (DIVIDER / ) (TIMESCALE 1 ps)',
        f"(DURATION {duration})",
        f"(INSTANCE {design}",
        "(NET",
    ]
    for net, (toggles, ones) in data["nets"].items():
        high = round(ones * duration)
        name = re.sub(r"(\W)", r"\\\1", net)
        lines.append(f"({name} (T0 {duration - high}) (T1 {high}) (TX 0) (TC {toggles}))")
    replace_text(path, "\n".join([*lines, ")", ")", ")"]) + "\n")
