"""Power of every cell of a mapped netlist under an activity, by the rules in power.py."""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from ...fl.errors import BadInput
from ..gates.activity_file import Activity, Moved
from ..kit.liberty import Library
from ..netlist.document import SEPARATOR, enclosing
from ..netlist.hierarchy import Hierarchy
from ..netlist.netlist import Netlist
from ..timing import nldm
from ..timing.cells import RISE
from ..timing.tables import Tables
from ..timing.wire_table import WireTable
from .cell_energy import KindEnergy, Members, Term

P = TypeVar("P", bound="Parts")
GROUPS = ("clock", "registers", "combinational")
CLOCK, REGISTERS, COMBINATIONAL = range(3)

FJ_PER_NS_TO_MW = 1e-3  # 1 fJ/ns = 1 uW
NW_TO_MW = 1e-6


class Parts(msgspec.Struct, kw_only=True):
    """Power by cause."""

    internal_mw: float = 0.0
    switching_mw: float = 0.0
    leakage_mw: float = 0.0
    total_mw: float = 0.0

    @classmethod
    def of(cls: type[P], internal: float, switching: float, leakage: float, **more: Any) -> P:
        total = internal + switching + leakage
        return cls(internal_mw=internal, switching_mw=switching, leakage_mw=leakage, total_mw=total, **more)

    @staticmethod
    def weighted(parts: Sequence[tuple[P, float]]) -> P:
        """The weighted sum of parts; fields other than powers are those of the first."""
        first = parts[0][0]
        powers = [name for name in first.__struct_fields__ if name.endswith("_mw")]
        sums = {name: sum(getattr(part, name) * weight for part, weight in parts) for name in powers}
        return msgspec.structs.replace(first, **sums)


class ModulePower(Parts, kw_only=True):
    """Power of a module with its submodules; `own_mw` is without them."""

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
    twice_mw: float

    @property
    def total_mw(self) -> float:
        """The power of all groups."""
        parts = self.internal_mw.sum() + self.switching_mw.sum() + self.leakage_mw.sum()
        return float(parts) + self.clock_port_mw

    @property
    def energy_nj(self) -> float:
        """The energy of the window."""
        return self.total_mw * self.cycles * self.clock_ns * 1e-3  # 1 mW x 1 ns = 1 pJ

    def by_cell(self) -> dict[str, float]:
        """Power by instance, in mW."""
        powers = self.internal_mw + self.switching_mw + self.leakage_mw
        return dict(zip(self.names, powers.tolist(), strict=True))

    def by_group(self) -> dict[str, Parts]:
        """Power by group."""
        pins = float(self.clock_pins_mw[self.group == REGISTERS].sum())
        moved = [(pins, self.clock_port_mw), (-pins, 0.0), (0.0, 0.0)]  # moved between the groups
        powers = self.internal_mw, self.switching_mw, self.leakage_mw
        found = {}
        for number, name in enumerate(GROUPS):
            internal, switching, leakage = (float(power[self.group == number].sum()) for power in powers)
            found[name] = Parts.of(internal + moved[number][0], switching + moved[number][1], leakage)
        return found

    def by_module(self, hierarchy: Hierarchy) -> list[ModulePower]:
        """Power of every module with its submodules; the sum of `own_mw` is the total."""
        modules, cells = hierarchy.modules, hierarchy.cells
        own: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(3))
        parts = np.stack([self.internal_mw, self.switching_mw, self.leakage_mw], axis=1)
        for name, row in zip(self.names, parts, strict=True):
            own[next(enclosing(cells.get(name, name.rpartition(SEPARATOR)[0]), modules))] += row
        own[""][1] += self.clock_port_mw
        sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(3))
        for path, row in own.items():
            for around in enclosing(path, modules):
                sums[around] += row
        found = []
        for path in filter(sums.__contains__, modules):
            module = ModulePower.of(*map(float, sums[path]), path=path, module=modules[path])
            module.own_mw = float(own[path].sum())
            module.share = round(module.total_mw / self.total_mw, 4) if self.total_mw else 0.0
            found.append(module)
        return found


class Paid(NamedTuple):
    """The energies of the instances of a kind that have the same pins connected."""

    kind: str
    places: np.ndarray  # among the instances of the kind
    internal: list[tuple[Term, np.ndarray]]  # fJ
    switching: np.ndarray  # fJ
    leakage: np.ndarray  # nW


class Estimator:
    """A netlist with its slews and loads; estimates the power of any number of activities."""

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
        constraints = library.constraints(clock_ns, clock_port, propagated=propagated, derate=0.0)
        timing = nldm.analyze(netlist, library, constraints, wires=wires, wire_load=wire_load)
        self.slews, self.members = timing.slews_ns, timing.members
        self.clock_nets = timing.clock_nets
        self._settled = _settled(timing, clock_ns, propagated)
        self.models = {kind: KindEnergy(library.cells[kind]) for kind in self.members}
        # the net at each pin of all instances of a kind, -1 if unconnected
        self.nets = {
            kind: {
                pin: np.array([netlist.cells[name].pins.get(pin, -1) for name in names], int)
                for pin in library.cells[kind].pins
            }
            for kind, names in self.members.items()
        }
        self.loads = self._loads(timing)
        self._tables = Tables()
        # add all tables first, so that they are stacked once
        for kind in self.members:
            for arc in (arc for pin in library.cells[kind].pins.values() for arc in pin.power):
                for table in filter(None, (arc.rise, arc.fall)):
                    self._tables.add(table)

    def _loads(self, timing: nldm.Timing) -> np.ndarray:
        """The load of each net: wires and pins, with `capacitance` of a pin and not its rise capacitance."""
        loads = timing.loads_ff[:, RISE].copy()
        for kind, pins in self.nets.items():
            for name, nets in pins.items():
                pin = self.library.cells[kind].pins[name]
                if pin.direction == "input":
                    np.add.at(loads, nets[nets >= 0], pin.cap_ff - pin.cap_rise_ff)
        return loads

    # -- activity by net
    # ------------------------------------------------------------------------------------------------

    def activity(self, activity: Activity) -> tuple[np.ndarray, np.ndarray]:
        """Toggles and fraction of the time at 1 of every net."""
        netlist = self.netlist
        moved = {netlist.aliases[name]: row for name, row in activity.nets.items() if name in netlist.aliases}
        if not moved:
            raise BadInput(
                f"the activity of {activity.workload} names no net of {netlist.name}: record it on this "
                "netlist"
            )
        moved |= {net: (0.0, float(bit == "1")) for net, bit in netlist.constants.items()}
        rest: Moved = (0.0, 0.0)  # of nets without a driver
        direction, clocks = netlist.ports.get(self.clock_port or "", ("", []))
        for net in clocks if direction == "input" else ():
            if not moved.get(net, rest)[0] > 0:
                moved[net] = 2 * activity.cycles, 0.5
        self._derive(moved)
        drivers = enumerate(netlist.driver)
        if lost := [net for net, driver in drivers if driver is not None and net not in moved]:
            raise BadInput(
                f"the activity of {activity.workload} has no net {netlist.nets[lost[0]]} ({len(lost)} of "
                f"{len(netlist.nets)} are missing): record it on this netlist"
            )
        rows = [moved.get(net, rest) for net in range(len(netlist.nets))]
        toggles, ones = np.array(rows, float).reshape(-1, 2).T.copy()
        return toggles, ones

    def _derive(self, moved: dict[int, Moved]) -> None:
        """Derive the activity of nets that were not recorded through buffers, inverters and constants."""
        steps = defaultdict(list)
        for instance in self.netlist.cells.values():
            cell = self.library.cells[instance.kind]
            pins = instance.pins
            if cell.sequential or len(cell.inputs) > 1:
                continue
            for pin in filter(pins.__contains__, cell.outputs):
                net = pins[pin]
                function = cell.pins[pin].function
                if not cell.inputs and net not in moved:
                    moved[net] = 0.0, float(function == "1")
                inverts = function.strip("() ").startswith("!")
                for start in (pins[name] for name in cell.inputs if name in pins):
                    steps[start].append((net, inverts))
                    steps[net].append((start, inverts))
        ahead = [net for net in steps if net in moved]
        while ahead:
            net = ahead.pop()
            toggles, ones = moved[net]
            for other, inverts in steps[net]:
                if other not in moved:
                    moved[other] = toggles, 1 - ones if inverts else ones
                    ahead.append(other)

    # ---- energy

    def _in_use(
        self, kind: str, toggles: np.ndarray, ones: np.ndarray, cycles: float
    ) -> Iterator[tuple[np.ndarray, Members]]:
        """Group the instances of a kind by their connected pins."""
        nets = self.nets[kind]
        if not nets:
            return
        connected = np.stack([nets[pin] >= 0 for pin in nets], axis=1)
        patterns, which = np.unique(connected, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            places = np.nonzero(which.reshape(-1) == number)[0]
            pins = {pin: nets[pin][places] for pin, there in zip(nets, pattern, strict=True) if there}
            moved, high, settled = (
                {pin: values[array] for pin, array in pins.items()}
                for values in (toggles, ones, self._settled)
            )
            yield places, Members(len(places), cycles, moved, high, settled)

    def _energies(self, kind: str, term: Term, places: np.ndarray) -> np.ndarray:
        """The energy of one transition in fJ, by instance."""
        nets = self.nets[kind]
        none = np.zeros(len(places))
        slews = self.slews[nets[term.slew_pin][places], term.slew_edge] if term.slew_pin in nets else none
        loads = self.loads[nets[term.pin][places]] if term.loaded else none
        tables = np.full(len(places), self._tables.add(term.table))
        return self._tables.look_up(tables, slews, loads)

    def paid(self, toggles: np.ndarray, ones: np.ndarray, cycles: float) -> Iterator[Paid]:
        """The energies of all instances in a window of this many cycles."""
        half_v2 = 0.5 * self.library.voltage**2
        for kind, model in self.models.items():
            for places, members in self._in_use(kind, toggles, ones, cycles):
                internal = [
                    (term, term.counts * self._energies(kind, term, places)) for term in model.terms(members)
                ]
                switching = np.zeros(len(places))
                for pin in filter(members.toggles.__contains__, model.cell.outputs):
                    nets = self.nets[kind][pin][places]
                    switching += half_v2 * self.loads[nets] * toggles[nets]
                yield Paid(kind, places, internal, switching, model.leakage_nw(members))

    def estimate(self, activity: Activity) -> Estimate:
        """The power in the window of an activity, at this clock."""
        toggles, ones = self.activity(activity)
        names = [name for member in self.members.values() for name in member]
        sizes = itertools.accumulate(map(len, self.members.values()), initial=0)
        first = dict(zip(self.members, sizes, strict=False))
        internal, switching, leakage, pins = (np.zeros(len(names)) for _ in range(4))
        twice = 0.0
        for cells in self.paid(toggles, ones, activity.cycles):
            at = first[cells.kind] + cells.places
            outputs: dict[str, np.ndarray] = {}
            for term, paid in cells.internal:
                internal[at] += paid
                if term.loaded:
                    outputs[term.pin] = outputs.get(term.pin, 0.0) + paid
                elif self.library.cells[cells.kind].pins[term.pin].clock:
                    pins[at] += paid
            if len(outputs) > 1:
                stacked = np.stack(list(outputs.values()))
                twice += float((stacked.sum(axis=0) - stacked.max(axis=0)).sum())
            switching[at] = cells.switching
            leakage[at] = cells.leakage
        to_mw = FJ_PER_NS_TO_MW / (activity.cycles * self.clock_ns)
        half_v2 = 0.5 * self.library.voltage**2
        clocks = (net for bit, net in self.netlist.port_bits("input") if bit == self.clock_port)
        return Estimate(
            names=names,
            clock_ns=self.clock_ns,
            cycles=activity.cycles,
            internal_mw=internal * to_mw,
            switching_mw=switching * to_mw,
            leakage_mw=leakage * NW_TO_MW,
            clock_pins_mw=pins * to_mw,
            group=np.concatenate([np.zeros(0, int), *map(self._groups, self.members)]),
            clock_port_mw=sum(float(half_v2 * self.loads[net] * toggles[net]) * to_mw for net in clocks),
            twice_mw=twice * to_mw,
        )

    def _groups(self, kind: str) -> np.ndarray:
        """The group of each instance of a kind; a gate that drives a net of the clock is in `clock`."""
        cell = self.library.cells[kind]
        count = len(self.members[kind])
        if cell.register:
            return np.full(count, REGISTERS)
        in_clock = np.zeros(count, bool)
        for pin in cell.outputs:
            in_clock |= np.isin(self.nets[kind][pin], list(self.clock_nets))
        return np.where(in_clock, CLOCK, COMBINATIONAL)


def _settled(timing: nldm.Timing, clock_ns: float, propagated: bool) -> np.ndarray:
    """The fraction of each net's changes before the middle of the cycle, if they are spread evenly between
    the earliest and the latest arrival.
    """
    latency = timing.clock_latency_ns if propagated else 0.0
    late = timing.arrivals_ns.max(axis=1) - latency
    early = timing.min_arrivals_ns.min(axis=1) - latency
    known = np.isfinite(late) & np.isfinite(early)
    late, early = (np.where(known, times, 0.0) for times in (late, early))
    spread = np.maximum(late - early, 1e-9)
    return np.clip((clock_ns / 2 - early) / spread, 0.0, 1.0)
