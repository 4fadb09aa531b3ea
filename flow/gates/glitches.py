"""Glitches: how much more a netlist moves than its function asks, by simulation with the delays of its gates.

`measure` takes an energy workload on a machine's netlist and compares toggles with delays (glitches.cpp) with functional ones: in
all, and by module. Delays are those of nldm.py: every arc at the slews and loads of the netlist, with the wires that
are given. `vectors` does it for any circuit, cycle by cycle.

What the numbers leave out: the resistance of wires, the slews of glitches (delays are those of the worst slew at a pin), and how far a
short pulse gets: it is there or not, and counts as two whole toggles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...rtl.sim.ports import Ports
from .. import workload
from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.netlist import PORT, Netlist
from ..timing import nldm
from .activity import INPUT_NS, kernel
from .engine import Counts, Engine, GateTables
from .gates import GateSimulation


def measure(
    netlist: Netlist,
    library: Library,
    ports: Ports,
    row: workload.Row,
    constraints: Constraints,
    *,
    owners: Mapping[str, str] | None = None,
    wires: Mapping[str, Mapping[str, float]] | None = None,
    wire_load: str | None = None,
) -> dict[str, Any]:
    """The ratio for one workload; `owners` is the "cells" of hierarchy.json."""
    timing = nldm.analyze(netlist, library, constraints, wires=wires, wire_load=wire_load)
    tables = GateTables(netlist, library, timing=timing, clock_port=constraints.clock_port or "clk")
    with GateSimulation.of(tables, ports) as simulation:
        counts = kernel(simulation, row, constraints.clock_ns, timed=True)
    return report(netlist, counts, owners or {})


def vectors(
    netlist: Netlist,
    library: Library,
    values: Iterable[Mapping[str, int]],
    constraints: Constraints,
    *,
    wires: Mapping[str, Mapping[str, float]] | None = None,
    input_ns: float = INPUT_NS,
) -> Counts:
    """What a circuit does while its inputs take these values, one set a cycle; the first is only where it starts from."""
    timing = nldm.analyze(netlist, library, constraints, wires=wires)
    engine = Engine(GateTables(netlist, library, timing=timing, clock_port=constraints.clock_port or "clk"))
    for index, each in enumerate(values):
        if index == 1:
            engine.window(engine.edges, timed=True, input_ns=input_ns, clock_ns=constraints.clock_ns)
        if index:
            engine.cycle()
        engine.set(each)
        engine.settle()
    return engine.counts()


def report(netlist: Netlist, counts: Counts, owners: Mapping[str, str]) -> dict[str, Any]:
    """Toggles and ratios, without the clock's nets, which do not glitch; modules by the toggles that they waste."""
    timed, functional = counts.timed, counts.toggles
    assert timed is not None
    data = ~counts.clocked
    by_module: dict[str, Counter[str]] = {}
    for net in np.nonzero(data)[0]:
        driver = netlist.driver[net]
        if driver is None or driver[0] == PORT:
            continue
        of_module = by_module.setdefault(owners.get(driver[0], ""), Counter())
        of_module["functional"] += int(functional[net])
        of_module["timed"] += int(timed[net])
    wasted = sorted(by_module.items(), key=lambda item: item[1]["functional"] - item[1]["timed"])
    total = {"functional": int(functional[data].sum()), "timed": int(timed[data].sum())}
    return {
        "cycles": counts.cycles,
        **total,
        "ratio": _ratio(total),
        "latest_ns": round(counts.latest_ns, 4),
        "late_events": counts.late,
        "by_module": [{"path": path, **each, "ratio": _ratio(each)} for path, each in wasted],
    }


def _ratio(toggles: Mapping[str, int]) -> float | None:
    return round(toggles["timed"] / toggles["functional"], 3) if toggles["functional"] else None
