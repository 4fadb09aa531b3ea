"""Power of every cell of a mapped netlist under an activity, by the rules that power.py states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec
import numpy as np

from ...fl.errors import BadInput
from ..gates.activity_file import Activity
from ..kit.liberty import Library
from ..netlist.hierarchy import Hierarchy
from ..netlist.netlist import Netlist
from ..timing import nldm
from ..timing.cells import RISE
from ..timing.tables import Tables
from ..timing.wire_table import WireTable
from . import energy
from .cell_energy import KindEnergy, Members, Term

P = TypeVar("P", bound="Parts")
GROUPS = ("clock", "registers", "combinational")
CLOCK, REGISTERS, COMBINATIONAL = range(3)
SEPARATOR = "."
FJ_PER_NS_TO_MW = 1e-3  # 1 fJ/ns = 1 uW
NW_TO_MW = 1e-6


class Parts(msgspec.Struct, kw_only=True):
    """Power by what takes it."""

    internal_mw: float = 0.0
    switching_mw: float = 0.0
    leakage_mw: float = 0.0
    total_mw: float = 0.0

    @classmethod
    def of(cls, internal_mw: float, switching_mw: float, leakage_mw: float) -> Parts:
        return cls(
            internal_mw=internal_mw,
            switching_mw=switching_mw,
            leakage_mw=leakage_mw,
            total_mw=internal_mw + switching_mw + leakage_mw,
        )

    def times(self: P, factor: float) -> P:
        """Scaled."""
        return self._with({name: value * factor for name, value in self._amounts().items()})

    def plus(self: P, other: Parts) -> P:
        """Added up."""
        more = other._amounts()
        return self._with({name: value + more[name] for name, value in self._amounts().items()})

    def _amounts(self) -> dict[str, float]:
        return {
            name: value
            for name, value in msgspec.structs.asdict(self).items()
            if name.endswith("_mw") and isinstance(value, float)
        }

    def _with(self: P, amounts: Mapping[str, float]) -> P:
        return msgspec.structs.replace(self, **amounts)


class ModulePower(Parts, kw_only=True):
    """Power of a module with its submodules, and `own_mw` without them."""

    path: str
    module: str
    own_mw: float = 0.0
    share: float = 0.0


@dataclass
class Estimate:
    """Power by instance; arrays in the order of `names`."""

    names: list[str]
    clock_ns: float
    cycles: float
    internal_mw: np.ndarray
    switching_mw: np.ndarray
    leakage_mw: np.ndarray
    clock_pins_mw: np.ndarray  # part of the internal power
    group: np.ndarray
    clock_port_mw: float
    inputs_mw: float
    twice_mw: float
    derived: list[str] = field(default_factory=list)  # nets whose activity was not recorded

    @property
    def total_mw(self) -> float:
        """All groups."""
        parts = self.internal_mw.sum() + self.switching_mw.sum() + self.leakage_mw.sum()
        return float(parts) + self.clock_port_mw

    @property
    def energy_nj(self) -> float:
        """Return the energy of the window."""
        return energy.energy_nj(self.total_mw, self.cycles, self.clock_ns)

    def by_group(self) -> dict[str, Parts]:
        """Parts by group."""
        found = {}
        pins = float(self.clock_pins_mw[self.group == REGISTERS].sum())
        for number, name in enumerate(GROUPS):
            own = self.group == number
            internal, switching, leakage = (
                float(part[own].sum()) for part in (self.internal_mw, self.switching_mw, self.leakage_mw)
            )
            if number == CLOCK:
                internal += pins
                switching += self.clock_port_mw
            elif number == REGISTERS:
                internal -= pins
            found[name] = Parts.of(internal, switching, leakage)
        return found

    def by_module(self, hierarchy: Hierarchy | None) -> list[ModulePower]:
        """Every module with all that is below it, and `own_mw` without: the sum of these is the total."""
        modules = dict(hierarchy.modules if hierarchy is not None else {}) or {"": ""}
        cells = hierarchy.cells if hierarchy is not None else {}
        sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4))
        parts = np.stack([self.internal_mw, self.switching_mw, self.leakage_mw], axis=1)
        own: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(3))
        for name, row in zip(self.names, parts, strict=True):
            own[_known(cells.get(name, name.rpartition(SEPARATOR)[0]), modules)] += row
        own[""][1] += self.clock_port_mw
        for path, row in own.items():
            sums[path][3] += row.sum()
            at = path
            while True:
                sums[at][:3] += row
                if not at:
                    break
                at = _known(at.rpartition(SEPARATOR)[0], modules)
        total = self.total_mw
        found = []
        for path in modules:
            if path in sums:
                parts_of = Parts.of(*map(float, sums[path][:3]))
                share = round(parts_of.total_mw / total, 4) if total else 0.0
                found.append(
                    ModulePower(
                        path=path,
                        module=modules[path],
                        **msgspec.structs.asdict(parts_of),
                        own_mw=float(sums[path][3]),
                        share=share,
                    )
                )
        return found


def _known(path: str, modules: Mapping[str, str]) -> str:
    """The nearest module above, or this one."""
    while path and path not in modules:
        path = path.rpartition(SEPARATOR)[0]
    return path


class Estimator:
    """A netlist with its slews and loads, for any number of activities."""

    def __init__(
        self,
        netlist: Netlist,
        library: Library,
        clock_ns: float,
        *,
        clock_port: str | None = "clk",
        wires: WireTable | None = None,
        wire_load: str | None = None,
        propagated: bool = False,
    ) -> None:
        self.netlist, self.library, self.clock_ns = netlist, library, clock_ns
        self.clock_port = clock_port
        constraints = library.constraints(clock_ns, clock_port, propagated=propagated)
        timing = nldm.analyze(netlist, library, constraints, wires=wires, wire_load=wire_load)
        self.slews = timing.slews_ns
        self.clock_nets = timing.clock_nets
        self._settled = _settled(timing, clock_ns, propagated)
        self.members: dict[str, list[str]] = defaultdict(list)
        for name, instance in netlist.cells.items():
            self.members[instance.kind].append(name)
        self.models = {kind: KindEnergy(library.cells[kind]) for kind in self.members}
        self.nets = {kind: self._pins(kind) for kind in self.members}
        self.loads = self._loads(timing)
        self._tables = Tables()

    def _pins(self, kind: str) -> dict[str, np.ndarray]:
        """The net at each pin of all instances of a kind, -1 for none."""
        cells, names = self.netlist.cells, self.members[kind]
        return {
            pin: np.array([cells[name].pins.get(pin, -1) for name in names], int)
            for pin in self.library.cells[kind].pins
        }

    def _loads(self, timing: nldm.Timing) -> np.ndarray:
        """Wires and pins, with the one capacitance of a pin in place of that of its rising edge."""
        loads = timing.loads_ff[:, RISE].copy()
        for kind, pins in self.nets.items():
            for name, nets in pins.items():
                pin = self.library.cells[kind].pins[name]
                if pin.direction == "input":
                    np.add.at(loads, nets[nets >= 0], pin.cap_ff - pin.cap_rise_ff)
        return loads

    # -- activity by net
    # ------------------------------------------------------------------------------------------------

    def activity(self, activity: Activity) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Toggles and time at 1 of every net, and the names of those that were not recorded."""
        activity.check()
        netlist, size = self.netlist, len(self.netlist.nets)
        toggles, ones = np.full(size, np.nan), np.full(size, np.nan)
        named = False
        for name, (count, high) in activity.nets.items():
            net = netlist.aliases.get(name)
            if net is not None:
                named = True
                toggles[net], ones[net] = count, high
        if not named:
            raise BadInput(
                f"the activity of {activity.workload} names no net of {netlist.name}: record it on this "
                "netlist"
            )
        for net, bit in netlist.constants.items():
            toggles[net], ones[net] = 0.0, float(bit == "1")
        direction, clocks = netlist.ports.get(self.clock_port or "", ("", []))
        if direction == "input":
            for net in clocks:
                if not toggles[net] > 0:
                    toggles[net], ones[net] = 2 * activity.cycles, 0.5
        derived = [netlist.nets[net] for net in self._derive(toggles, ones)]
        lost = [
            netlist.nets[net] for net in np.nonzero(np.isnan(toggles))[0] if netlist.driver[net] is not None
        ]
        if lost:
            raise BadInput(
                f"the activity of {activity.workload} has no net {lost[0]} ({len(lost)} of {size} are "
                "missing): "
                f"record it on this netlist"
            )
        toggles[np.isnan(toggles)] = ones[np.isnan(ones)] = 0.0  # nothing drives them
        return toggles, ones, derived

    def _derive(self, toggles: np.ndarray, ones: np.ndarray) -> list[int]:
        """Fill in, through buffers, inverters and constants, what was not recorded; the nets."""
        netlist = self.netlist
        steps: dict[int, list[tuple[int, bool]]] = defaultdict(list)
        found: list[int] = []
        for instance in netlist.cells.values():
            cell = self.library.cells[instance.kind]
            if cell.sequential or len(cell.inputs) > 1:
                continue
            for pin in cell.outputs:
                net = instance.pins.get(pin)
                if net is None:
                    continue
                if not cell.inputs:
                    if np.isnan(toggles[net]):
                        toggles[net], ones[net] = 0.0, float(cell.pins[pin].function == "1")
                        found.append(net)
                    continue
                start = instance.pins.get(cell.inputs[0])
                inverts = cell.pins[pin].function.strip("() ").startswith("!")
                if start is not None:
                    steps[start].append((net, inverts))
                    steps[net].append((start, inverts))
        ahead = [net for net in steps if not np.isnan(toggles[net])]
        while ahead:
            net = ahead.pop()
            for other, inverts in steps[net]:
                if np.isnan(toggles[other]):
                    toggles[other], ones[other] = toggles[net], 1 - ones[net] if inverts else ones[net]
                    found.append(other)
                    ahead.append(other)
        return found

    # ---- energy

    def in_use(
        self, kind: str, toggles: np.ndarray, ones: np.ndarray, cycles: float
    ) -> Iterator[tuple[np.ndarray, Members]]:
        """The instances of a kind by which pins they have connected."""
        nets = self.nets[kind]
        if not nets:
            return
        connected = np.stack([nets[pin] >= 0 for pin in nets], axis=1)
        patterns, which = np.unique(connected, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            places = np.nonzero(which.reshape(-1) == number)[0]
            pins = {pin: nets[pin][places] for pin, there in zip(nets, pattern, strict=True) if there}
            yield (
                places,
                Members(
                    size=len(places),
                    cycles=cycles,
                    toggles={pin: toggles[array] for pin, array in pins.items()},
                    ones={pin: ones[array] for pin, array in pins.items()},
                    settled={pin: self._settled[array] for pin, array in pins.items()},
                ),
            )

    def energies(self, kind: str, term: Term, places: np.ndarray) -> np.ndarray:
        """Return the energy of one transition in fJ, by instance."""
        nets = self.nets[kind]
        slews = self.slews[nets[term.slew_pin][places], term.slew_edge] if term.slew_pin in nets else 0.0
        loads = self.loads[nets[term.pin][places]] if term.loaded else 0.0
        numbers = np.full(len(places), self._tables.add(term.table))
        return self._tables.look_up(numbers, slews + np.zeros(len(places)), loads + np.zeros(len(places)))

    def prepare(self) -> None:
        """All tables at once, so that they are stacked once."""
        for kind in self.members:
            for pin in self.library.cells[kind].pins.values():
                for arc in pin.power:
                    for table in (arc.rise, arc.fall):
                        if table is not None:
                            self._tables.add(table)

    def estimate(self, activity: Activity) -> Estimate:
        """Power in the window of an activity, at this clock."""
        self.prepare()
        toggles, ones, derived = self.activity(activity)
        netlist, library = self.netlist, self.library
        names = [name for member in self.members.values() for name in member]
        internal, switching, leakage, pins = (np.zeros(len(names)) for _ in range(4))
        group = np.full(len(names), COMBINATIONAL)
        half_v2 = 0.5 * library.voltage**2
        twice, start = 0.0, 0
        for kind, members in self.members.items():
            cell, model = library.cells[kind], self.models[kind]
            own = slice(start, start + len(members))
            start += len(members)
            group[own] = self._groups(kind)
            for places, item in self.in_use(kind, toggles, ones, activity.cycles):
                at = own.start + places
                outputs: dict[str, np.ndarray] = {}
                for term in model.terms(item):
                    paid = term.counts * self.energies(kind, term, places)
                    internal[at] += paid
                    if cell.pins[term.pin].clock and not term.loaded:
                        pins[at] += paid
                    if term.loaded:
                        outputs[term.pin] = outputs.get(term.pin, 0.0) + paid
                if len(outputs) > 1:
                    stacked = np.stack(list(outputs.values()))
                    twice += float((stacked.sum(axis=0) - stacked.max(axis=0)).sum())
                for pin in cell.outputs:
                    if pin in item.toggles:
                        nets = self.nets[kind][pin][places]
                        switching[at] += half_v2 * self.loads[nets] * toggles[nets]
                leakage[at] = model.leakage_nw(item)
        to_mw = FJ_PER_NS_TO_MW / (activity.cycles * self.clock_ns)
        ports = {"clock": 0.0, "others": 0.0}
        for bit, net in netlist.port_bits("input"):
            which = "clock" if bit == self.clock_port else "others"
            ports[which] += float(half_v2 * self.loads[net] * toggles[net]) * to_mw
        return Estimate(
            names=names,
            clock_ns=self.clock_ns,
            cycles=activity.cycles,
            internal_mw=internal * to_mw,
            switching_mw=switching * to_mw,
            leakage_mw=leakage * NW_TO_MW,
            clock_pins_mw=pins * to_mw,
            group=group,
            clock_port_mw=ports["clock"],
            inputs_mw=ports["others"],
            twice_mw=twice * to_mw,
            derived=derived,
        )

    def _groups(self, kind: str) -> np.ndarray | int:
        """The group of each instance of a kind: what drives a net of the clock is of the clock."""
        cell = self.library.cells[kind]
        if cell.ff or cell.latch:
            return REGISTERS
        outputs = [self.nets[kind][pin] for pin in cell.outputs]
        clocks = np.array(sorted(self.clock_nets), int)
        in_clock = np.zeros(len(self.members[kind]), bool)
        for nets in outputs:
            in_clock |= np.isin(nets, clocks)
        return np.where(in_clock, CLOCK, COMBINATIONAL)


def _settled(timing: nldm.Timing, clock_ns: float, propagated: bool) -> np.ndarray:
    """By net, the share of changes before the middle of the cycle, if they are spread evenly from the
    earliest to the latest.
    """
    latency = timing.clock_latency_ns if propagated else 0.0
    late = timing.arrivals_ns.max(axis=1) - latency
    early = timing.min_arrivals_ns.min(axis=1) - latency
    known = np.isfinite(late) & np.isfinite(early)
    late, early = np.where(known, late, 0.0), np.where(known, early, 0.0)
    spread = np.maximum(late - early, 1e-9)
    return np.clip((clock_ns / 2 - early) / spread, 0.0, 1.0)
