"""Glitches: how much more a netlist moves than its function asks, by simulation with the delays of its gates.

`measure` takes an energy workload on a machine's netlist and compares toggles with delays (glitches.cpp) with functional ones: in
all, and by module. Delays are those of nldm.py: every arc at the slews and loads of the netlist, with the wires that
are given. `vectors` does it for any circuit, cycle by cycle.

What the numbers leave out: the resistance of wires, the slews of glitches (delays are those of the worst slew at a pin), and how far a
short pulse gets: it is there or not, and counts as two whole toggles. `Counts.swings` has them as far as their ramps take them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ...rtl.sim.ports import Ports
from .. import workload
from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.netlist import PORT, Netlist
from ..timing import nldm
from ..timing.wire_table import WireTable
from .activity import INPUT_NS, kernel
from .engine import Counts, Engine, GateTables
from .gates import GateSimulation


@dataclass(frozen=True)
class Toggles:
    """Without delays, and with them."""

    functional: int
    timed: int

    @property
    def ratio(self) -> float | None:
        """How much more."""
        return round(self.timed / self.functional, 3) if self.functional else None


@dataclass(frozen=True)
class ModuleToggles(Toggles):
    """Of a module."""

    path: str


@dataclass(frozen=True)
class Glitches(Toggles):
    """Of a netlist; modules by what they waste."""

    cycles: int
    latest_ns: float
    late_events: int
    by_module: list[ModuleToggles]


def measure(
    netlist: Netlist,
    library: Library,
    ports: Ports,
    row: workload.Row,
    constraints: Constraints,
    *,
    owners: Mapping[str, str] | None = None,
    wires: WireTable | None = None,
    wire_load: str | None = None,
) -> Glitches:
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
    wires: WireTable | None = None,
    input_ns: float = INPUT_NS,
    slew_share: float | None = None,
) -> Counts:
    """What a circuit does while its inputs take these values, one set a cycle; the first is only where it starts from.

    slew_share: of the library (ramps.py), to count swings as well.
    """
    timing = nldm.analyze(netlist, library, constraints, wires=wires)
    clock_port = constraints.clock_port or "clk"
    engine = Engine(GateTables(netlist, library, timing=timing, clock_port=clock_port, slew_share=slew_share))
    for index, each in enumerate(values):
        if index == 1:
            engine.window(engine.edges, timed=True, input_ns=input_ns, clock_ns=constraints.clock_ns)
        if index:
            engine.cycle()
        engine.set(each)
        engine.settle()
    return engine.counts()


def report(netlist: Netlist, counts: Counts, owners: Mapping[str, str]) -> Glitches:
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
    return Glitches(
        functional=int(functional[data].sum()),
        timed=int(timed[data].sum()),
        cycles=counts.cycles,
        latest_ns=round(counts.latest_ns, 4),
        late_events=counts.late,
        by_module=[ModuleToggles(each["functional"], each["timed"], path) for path, each in wasted],
    )
