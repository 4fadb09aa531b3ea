"""Activity: toggle counts and duty cycle of each net of a netlist during an energy workload.

The step gate-sim: `gate_sim` runs all rows of a workload on the netlist (gate_sim.json, like rtl_sim.json).
It then runs each energy workload by itself and writes the activity of its nets to activity/NAME.json. With
delays (glitches.cpp), activity/NAME.timed.json counts each pulse as two toggles, and
activity/NAME.inertial.json counts a pulse shorter than its net's slew as a fraction. Operations on randomly
drawn operands have only the latter file, activity/NAME.drawnNUMBER.inertial.json:

{"workload", "mode": "zero-delay" | "timed" | "inertial", "clock_ns", "window": {"cycles"},
 "nets": {net: [toggles, fraction of the time at 1]}, "clock_nets": [...],
 with delays: "late_events" after the end of the clock period, "latest_ns"}

The window is the kernel: from the clock edge that accepts the first request to the edge that accepts the last
response, starting with a machine that is idle after its warm-up (kernel.py); for a program, the cycles with
stats_en. Names of nets are those of netlist.py.
"""

from pathlib import Path
from typing import NamedTuple

from ...rtl.sim.base import Options
from .. import workload
from ..description import Description
from ..kit import kit
from ..netlist import netlist
from ..progress import say, stopwatch
from ..timing import nldm, wire_table
from ..workload import Failure, Simulated, Workload
from .activity_file import INERTIAL, SUFFIXES, TIMED, ZERO_DELAY, Activity, Mode
from .engine import Counts, GateTables
from .gates import GateProcSimulation, GateSimulation
from .kernel import Kernel

FILE = "gate_sim.json"
FOLDER = "activity"
POWER_UP_SEED = 1  # registers and memories without reset hold random values until they are written
SWING_DIGITS = 3
STATS = "stats_en"  # port of a processor, 1 inside the window


class Recorded(NamedTuple):
    """The counts of one operation of a workload."""

    name: str
    counts: Counts
    drawn: int = 0  # see Activity


def gate_sim(
    netlist_json: Path,
    design: Description,
    workload_json: Path,
    out_dir: Path,
    *,
    clock_ns: float,
    timed: bool = True,
    wires: Path | None = None,
    adk: Path | None = None,
    corner: str = kit.TYPICAL,
) -> Simulated:
    """Write gate_sim.json and activity/; a wrong answer is a failed test, not an error.

    Delays use `wires`, the wires.json of a layout with its clock tree, or else the library's default
    wire-load model.
    """
    elapsed = stopwatch()
    work = workload.load(workload_json)
    library = kit.find(adk, corner).library
    nets = netlist.read(netlist_json, library, design.top)
    clock_port = work.names.get("clk") or design.clock_port or "clk"
    timing = None
    if timed and work.energy:
        timing = nldm.analyze(
            nets,
            library,
            library.constraints(clock_ns, clock_port, propagated=wires is not None, derate=0.0),
            wires=wire_table.load(wires) if wires else None,
            wire_load=None if wires else library.default_wire_load or None,
        )
    tables = GateTables(nets, library, timing=timing, clock_port=clock_port, swings=True)
    run = _programs if work.protocol == workload.SYSTEM else _streams
    report, found = run(tables, work, clock_ns if timing else None)
    (out_dir / FOLDER).mkdir(parents=True, exist_ok=True)
    modes = list(SUFFIXES) if timing else [ZERO_DELAY]
    for recorded in found:
        for mode in [INERTIAL] if recorded.drawn else modes:
            made = activity(tables, recorded, mode, clock_ns)
            if row := work.energy.get(made.workload):
                made.whole_cycles = row.whole_cycles
            made.write(out_dir / FOLDER, made.file)
    report.seconds = elapsed()
    report.write(out_dir, FILE)
    return report


def _streams(tables: GateTables, work: Workload, delays_ns: float | None) -> tuple[Simulated, list[Recorded]]:
    """Run the rows of a workload and record the activity of its operations; with `delays_ns`, the clock
    period, with delays.
    """
    assert work.ports is not None
    found = []
    options = Options(power_up_seed=POWER_UP_SEED)
    with GateSimulation(tables, work.ports, options, names=work.names) as simulation:
        report = workload.run_streams(simulation, work, lambda done, total: say("rows", done / total))
        kernel = Kernel(simulation, work, delays_ns)
        for name in report.cycles:
            say(f"activity of {name}")
            # a run with delays also counts the transitions without delays
            found.append(Recorded(name, kernel.count(work.energy[name])))
            for number, row in enumerate(work.drawn.get(name, ()) if delays_ns else (), 1):
                found.append(Recorded(name, kernel.count(row, checked=True), number))
    return report, found


def _programs(
    tables: GateTables, work: Workload, delays_ns: float | None
) -> tuple[Simulated, list[Recorded]]:
    """Run the programs of a workload and record the activity of the energy workloads and of the dummy in
    their windows.
    """
    cycles: dict[str, int] = {}
    failures: list[Failure] = []
    found = []
    with GateProcSimulation(tables) as simulation:
        for name, row in work.programs:
            recorded = name in work.energy or name == workload.DUMMY
            simulation.engine.window(signal=STATS, clock_ns=delays_ns if recorded else None)
            outcome = simulation.run(workload.program(row), max_cycles=work.max_cycles)
            counts = simulation.engine.counts()
            if recorded:
                found.append(Recorded(name, counts))
            workload.note_outcome(name, outcome, failures, cycles)
    return Simulated.of(work, failures, cycles), found


def activity(tables: GateTables, recorded: Recorded, mode: Mode, clock_ns: float) -> Activity:
    """The content of an activity file."""
    counts, nets = recorded.counts, tables.netlist.nets
    toggles = {ZERO_DELAY: counts.toggles, TIMED: counts.timed, INERTIAL: counts.swings}[mode]
    assert toggles is not None
    toggled = toggles.round(SWING_DIGITS).tolist()
    ones = counts.ones.round(6).tolist()
    moved = {net: (count, one) for net, count, one in zip(nets, toggled, ones, strict=True)}
    made = Activity.of(moved, counts.cycles, clock_ns, recorded.name, mode)
    made.drawn = recorded.drawn
    made.clock_nets = [net for net, clocked in zip(nets, counts.clocked, strict=True) if clocked]
    if mode != ZERO_DELAY:
        made.late_events = counts.late
        made.latest_ns = round(counts.latest_ns, 4)
    return made
