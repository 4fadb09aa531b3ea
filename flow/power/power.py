"""Power and energy of a mapped netlist from the activity of a workload: the library's tables, at every instance's own slews and loads.

    internal   energy inside the cell at each transition of a pin, by cell_energy.py: tables, conditions, probabilities
    switching  1/2 C V^2 for each transition of an output; C is its wire and the `capacitance` of the pins (7 fF at a port)
    leakage    by the states' own leakage, weighed by how long the pins are at 1

Slews are those of nldm.py, with wires by a model of the library, from placement or from routing. Every instance is in one group and
one module; so is each part of its energy, but of a register, where what its clock pin costs goes to the group `clock`:

    clock          buffers and gates of the clock's network, clock pins of registers, and the net of the clock's port, without
                   which a clock before its tree would weigh nothing (OpenSTA counts no net that a port drives)
    registers      flip-flops and latches without their clock pins
    combinational  everything else

What the other input ports' nets take is paid by whoever drives them: `inputs_mw`, in no sum. Nets that are not in the
activity, as of clock buffers made after it was recorded, have that of the net at the other side of the buffer; the clock has 2
toggles a cycle. Cells with several outputs are stated by the library with their whole energy at each (a full adder at S and at CO),
and all are counted, as signoff tools do: `twice_mw` is what that may be too much.

power.json: {clock_ns, mode, wires, corner, total_mw, by_group, by_module, energy_nj: {workload: ...}, with_glitches, workloads: [...],
caveats}. Energy is that of the window of the activity, so of the kernel; of a program, less that of the row "dummy" where there is one.

`energy_nj`, and all that stands at the top, is by the activity without delays; what glitches add stands beside it in `with_glitches`.
So one measure holds for all designs: simulation with delays is for those where it ends in time, what it counts depends on delays
before or after wires, and each pulse counts with its full swing, which is too much for short ones. Paper 001 does not
say where its activity comes from; its Table 3 for the Montgomery system (2.86 and 4.46 nJ) lies between the two figures of the twin.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...fl.errors import BadInput, unknown
from ..files import replace_json
from ..kit import kit
from ..kit.liberty import Library
from ..netlist.netlist import Netlist, read
from ..timing import nldm
from ..timing.cells import RISE
from ..timing.tables import Tables
from . import energy
from .cell_energy import KindEnergy, Members

GROUPS = ("clock", "registers", "combinational")
CLOCK, REGISTERS, COMBINATIONAL = range(3)
PARTS = ("internal_mw", "switching_mw", "leakage_mw")
ZERO_DELAY, TIMED = "zero-delay", "timed"
SEPARATOR = "."
FJ_PER_NS_TO_MW = 1e-3  # 1 fJ/ns = 1 uW
NW_TO_MW = 1e-6


@dataclass(frozen=True)
class Activity:
    """What moved in a window: toggles, and the fraction of the time at 1, by the name of the net."""

    nets: Mapping[str, tuple[float, float]]
    cycles: float
    clock_ns: float
    workload: str = ""
    mode: str = ZERO_DELAY

    @classmethod
    def load(cls, path: Path) -> Activity:
        """From an activity.json; BadInput if it is none."""
        try:
            data = json.loads(Path(path).read_text())
            made = cls(
                {name: (float(toggles), float(ones)) for name, (toggles, ones) in data["nets"].items()},
                data["window"]["cycles"],
                data["clock_ns"],
                data.get("workload", Path(path).name.partition(".")[0]),
                data.get("mode", ZERO_DELAY),
            )
        except OSError as error:
            raise BadInput(
                f"the activity {path} cannot be read: {error.strerror}; run the step gate-sim"
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{path} is no activity.json ({error!r}): run the step gate-sim again") from None
        made.check()
        return made

    def check(self) -> None:
        """BadInput if these numbers can be of no window."""
        if not self.cycles > 0:
            raise BadInput(
                f"the activity of {self.workload} has a window of {self.cycles} cycles: record at least one"
            )
        for name, (toggles, ones) in self.nets.items():
            if not (0 <= toggles < float("inf") and 0 <= ones <= 1):
                raise BadInput(
                    f"the activity of {self.workload}: {name} has {toggles} toggles and is {ones} of the time at 1"
                )


@dataclass
class Estimate:
    """Power by instance; arrays in the order of `names`."""

    names: list[str]
    kinds: list[str]
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
        """Of the window."""
        return energy.energy_nj(self.total_mw, self.cycles, self.clock_ns)

    def by_group(self) -> dict[str, dict[str, float]]:
        """Parts by group."""
        found = {}
        for number, name in enumerate(GROUPS):
            own = self.group == number
            parts = [
                float(part[own].sum()) for part in (self.internal_mw, self.switching_mw, self.leakage_mw)
            ]
            pins = float(self.clock_pins_mw[self.group == REGISTERS].sum())
            if number == CLOCK:
                parts[0] += pins
                parts[1] += self.clock_port_mw
            elif number == REGISTERS:
                parts[0] -= pins
            found[name] = dict(zip(PARTS, parts, strict=True)) | {"total_mw": sum(parts)}
        return found

    def by_module(self, hierarchy: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        """Every module with all that is below it, and `own_mw` without: the sum of these is the total."""
        modules = dict((hierarchy or {}).get("modules") or {"": ""})
        cells = (hierarchy or {}).get("cells") or {}
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
        return [
            {
                "path": path,
                "module": modules[path],
                **dict(zip(PARTS, map(float, sums[path][:3]), strict=True)),
                "total_mw": float(sums[path][:3].sum()),
                "own_mw": float(sums[path][3]),
                "share": round(float(sums[path][:3].sum()) / total, 4) if total else 0.0,
            }
            for path in modules
            if path in sums
        ]

    def by_instance(self) -> list[dict[str, Any]]:
        """The instances, largest first."""
        total = self.internal_mw + self.switching_mw + self.leakage_mw
        columns = (self.internal_mw, self.switching_mw, self.leakage_mw, total)
        return [
            {
                "instance": self.names[k],
                "type": self.kinds[k],
                "group": GROUPS[self.group[k]],
                **{key: float(column[k]) for key, column in zip((*PARTS, "total_mw"), columns, strict=True)},
            }
            for k in np.argsort(-total, kind="stable")
        ]


def _known(path: str, modules: Mapping[str, Any]) -> str:
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
        wires: Mapping[str, Mapping[str, float]] | None = None,
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
        self._members: dict[str, list[str]] = defaultdict(list)
        for name, instance in netlist.cells.items():
            self._members[instance.kind].append(name)
        self._kinds = {kind: KindEnergy(library.cells[kind]) for kind in self._members}
        self._nets = {kind: self._pins(kind) for kind in self._members}
        self.loads = self._loads(timing)
        self._tables = Tables()

    def _pins(self, kind: str) -> dict[str, np.ndarray]:
        """The net at each pin of all instances of a kind, -1 for none."""
        cells, names = self.netlist.cells, self._members[kind]
        return {
            pin: np.array([cells[name].pins.get(pin, -1) for name in names], int)
            for pin in self.library.cells[kind].pins
        }

    def _loads(self, timing: nldm.Timing) -> np.ndarray:
        """Wires and pins, with the one capacitance of a pin in place of that of its rising edge."""
        loads = timing.loads_ff[:, RISE].copy()
        for kind, pins in self._nets.items():
            for name, nets in pins.items():
                pin = self.library.cells[kind].pins[name]
                if pin.direction == "input":
                    np.add.at(loads, nets[nets >= 0], pin.cap_ff - pin.cap_rise_ff)
        return loads

    # -- activity by net ------------------------------------------------------------------------------------------------

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
                f"the activity of {activity.workload} names no net of {netlist.name}: record it on this netlist"
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
                f"the activity of {activity.workload} has no net {lost[0]} ({len(lost)} of {size} are missing): "
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
        todo = [net for net in steps if not np.isnan(toggles[net])]
        while todo:
            net = todo.pop()
            for other, inverts in steps[net]:
                if np.isnan(toggles[other]):
                    toggles[other], ones[other] = toggles[net], 1 - ones[net] if inverts else ones[net]
                    found.append(other)
                    todo.append(other)
        return found

    # -- energy ---------------------------------------------------------------------------------------------------------

    def _in_use(
        self, kind: str, toggles: np.ndarray, ones: np.ndarray, cycles: float
    ) -> Iterator[tuple[np.ndarray, Members]]:
        """The instances of a kind by which pins they have connected."""
        nets = self._nets[kind]
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
                    toggles={pin: toggles[each] for pin, each in pins.items()},
                    ones={pin: ones[each] for pin, each in pins.items()},
                    settled={pin: self._settled[each] for pin, each in pins.items()},
                ),
            )

    def _energies(self, kind: str, term: Any, places: np.ndarray) -> np.ndarray:
        """Of one transition, in fJ, by instance."""
        nets = self._nets[kind]
        slews = self.slews[nets[term.slew_pin][places], term.slew_edge] if term.slew_pin in nets else 0.0
        loads = self.loads[nets[term.pin][places]] if term.loaded else 0.0
        numbers = np.full(len(places), self._tables.add(term.table))
        return self._tables.look_up(numbers, slews + np.zeros(len(places)), loads + np.zeros(len(places)))

    def _prepare(self) -> None:
        """All tables at once, so that they are stacked once."""
        for kind in self._members:
            for pin in self.library.cells[kind].pins.values():
                for arc in pin.power:
                    for table in (arc.rise, arc.fall):
                        if table is not None:
                            self._tables.add(table)

    def estimate(self, activity: Activity) -> Estimate:
        """Power in the window of an activity, at this clock."""
        self._prepare()
        toggles, ones, derived = self.activity(activity)
        netlist, library = self.netlist, self.library
        names = [name for each in self._members.values() for name in each]
        kinds = [kind for kind, each in self._members.items() for _ in each]
        internal, switching, leakage, pins = (np.zeros(len(names)) for _ in range(4))
        group = np.full(len(names), COMBINATIONAL)
        half_v2 = 0.5 * library.voltage**2
        twice, start = 0.0, 0
        for kind, members in self._members.items():
            cell, model = library.cells[kind], self._kinds[kind]
            own = slice(start, start + len(members))
            start += len(members)
            group[own] = self._groups(kind)
            for places, each in self._in_use(kind, toggles, ones, activity.cycles):
                at = own.start + places
                outputs: dict[str, np.ndarray] = {}
                for term in model.terms(each):
                    paid = term.counts * self._energies(kind, term, places)
                    internal[at] += paid
                    if cell.pins[term.pin].clock and not term.loaded:
                        pins[at] += paid
                    if term.loaded:
                        outputs[term.pin] = outputs.get(term.pin, 0.0) + paid
                if len(outputs) > 1:
                    stacked = np.stack(list(outputs.values()))
                    twice += float((stacked.sum(axis=0) - stacked.max(axis=0)).sum())
                for pin in cell.outputs:
                    if pin in each.toggles:
                        nets = self._nets[kind][pin][places]
                        switching[at] += half_v2 * self.loads[nets] * toggles[nets]
                leakage[at] = model.leakage_nw(each)
        to_mw = FJ_PER_NS_TO_MW / (activity.cycles * self.clock_ns)
        ports = {"clock": 0.0, "others": 0.0}
        for bit, net in netlist.port_bits("input"):
            which = "clock" if bit == self.clock_port else "others"
            ports[which] += float(half_v2 * self.loads[net] * toggles[net]) * to_mw
        return Estimate(
            names=names,
            kinds=kinds,
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
        outputs = [self._nets[kind][pin] for pin in cell.outputs]
        clocks = np.array(sorted(self.clock_nets), int)
        in_clock = np.zeros(len(self._members[kind]), bool)
        for nets in outputs:
            in_clock |= np.isin(nets, clocks)
        return np.where(in_clock, CLOCK, COMBINATIONAL)

    def explain(self, instance: str, activity: Activity) -> dict[str, Any]:
        """Everything that goes into the energy of one instance, for a calculation by hand."""
        if instance not in self.netlist.cells:
            raise unknown("instance", instance, self.netlist.cells)
        self._prepare()
        toggles, ones, _ = self.activity(activity)
        kind = self.netlist.cells[instance].kind
        cell, model = self.library.cells[kind], self._kinds[kind]
        place = self._members[kind].index(instance)
        terms: list[dict[str, Any]] = []
        switching: list[dict[str, Any]] = []
        leakage = 0.0
        for places, each in self._in_use(kind, toggles, ones, activity.cycles):
            (found,) = np.nonzero(places == place)
            if not found.size:
                continue
            k = int(found[0])
            for term in model.terms(each):
                nets = self._nets[kind]
                one = float(self._energies(kind, term, places)[k])
                terms.append(
                    {
                        "pin": term.pin,
                        "edge": nldm.EDGES[term.edge],
                        "related": term.related,
                        "when": term.when,
                        "slew_ns": float(self.slews[nets[term.slew_pin][place], term.slew_edge]),
                        "load_ff": float(self.loads[nets[term.pin][place]]) if term.loaded else None,
                        "energy_fj": one,
                        "transitions": float(term.counts[k]),
                        "total_fj": one * float(term.counts[k]),
                    }
                )
            for pin in cell.outputs:
                if pin in each.toggles:
                    net = self._nets[kind][pin][place]
                    one = float(0.5 * self.loads[net] * self.library.voltage**2)
                    switching.append(
                        {
                            "pin": pin,
                            "net": self.netlist.nets[net],
                            "load_ff": float(self.loads[net]),
                            "energy_fj": one,
                            "toggles": float(toggles[net]),
                            "total_fj": one * float(toggles[net]),
                        }
                    )
            leakage = float(model.leakage_nw(each)[k])
        window_ns = activity.cycles * self.clock_ns
        pins = {
            pin: {
                "net": self.netlist.nets[net],
                "toggles": float(toggles[net]),
                "ones": float(ones[net]),
            }
            for pin, net in self.netlist.cells[instance].pins.items()
        }
        sums = (sum(term["total_fj"] for term in terms), sum(term["total_fj"] for term in switching))
        return {
            "instance": instance,
            "type": kind,
            "voltage": self.library.voltage,
            "cycles": activity.cycles,
            "clock_ns": self.clock_ns,
            "pins": pins,
            "internal": terms,
            "switching": switching,
            "leakage_nw": leakage,
            "internal_fj": sums[0],
            "switching_fj": sums[1],
            "leakage_fj": leakage * window_ns * 1e-3,
            "total_fj": sum(sums) + leakage * window_ns * 1e-3,
        }


def _settled(timing: nldm.Timing, clock_ns: float, propagated: bool) -> np.ndarray:
    """By net, the share of changes before the middle of the cycle, if they are spread evenly from the earliest to the latest."""
    latency = timing.clock_latency_ns if propagated else 0.0
    late = timing.arrivals_ns.max(axis=1) - latency
    early = timing.min_arrivals_ns.min(axis=1) - latency
    known = np.isfinite(late) & np.isfinite(early)
    late, early = np.where(known, late, 0.0), np.where(known, early, 0.0)
    spread = np.maximum(late - early, 1e-9)
    return np.clip((clock_ns / 2 - early) / spread, 0.0, 1.0)


def estimate(
    netlist: Netlist,
    library: Library,
    activity: Activity,
    *,
    clock_ns: float | None = None,
    clock_port: str | None = "clk",
    wires: Mapping[str, Mapping[str, float]] | None = None,
    wire_load: str | None = None,
    propagated: bool = False,
) -> Estimate:
    """Power of one netlist in the window of one activity; `clock_ns`: another clock than it was recorded for."""
    made = Estimator(
        netlist,
        library,
        clock_ns or activity.clock_ns,
        clock_port=clock_port,
        wires=wires,
        wire_load=wire_load,
        propagated=propagated,
    )
    return made.estimate(activity)


# -- files ----------------------------------------------------------------------------------------------------------------


def analyze(
    netlist_json: str | Path,
    activity: str | Path,
    out_dir: str | Path,
    *,
    top: str | None = None,
    clock_ns: float = 3.0,
    clock_port: str | None = "clk",
    hierarchy: str | Path | None = None,
    wires: str | Path | None = None,
    wire_load: str | None = None,
    propagated: bool = False,
    adk: Path | None = None,
) -> dict[str, Any]:
    """Write power.json; returns what it says. `activity` is a directory of activity files, or one of them.

    Without `wires` (a wires.json) and `wire_load` the library's own default model stands for the wires.
    """
    if wires is not None and wire_load is not None:
        raise BadInput("wires or a wire-load model: not both")
    library = kit.find(adk).library
    netlist = read(netlist_json, library, top)
    table, source = None, "model"
    if wires is not None:
        table = _json(Path(wires), "wires")
        source = next((each.get("source", "placement") for each in table.values()), "none")
    elif wire_load is None:
        wire_load = library.default_wire_load or None
        source = "model" if wire_load else "none"
    places = _json(Path(hierarchy), "hierarchy") if hierarchy is not None else None
    activities = _activities(Path(activity))
    estimator = Estimator(
        netlist,
        library,
        clock_ns,
        clock_port=clock_port,
        wires=table,
        wire_load=wire_load,
        propagated=propagated,
    )
    found = [(each, estimator.estimate(each)) for each in activities]
    summary = report(found, places)
    summary |= {
        "wires": source,
        "wire_load": wire_load,
        "corner": f"{library.name}, {library.voltage} V, {library.temperature} C",
    }
    replace_json(Path(out_dir) / "power.json", summary)
    return summary


def report(
    found: list[tuple[Activity, Estimate]], hierarchy: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What power.json says of a netlist: by activities without delays, if all are there; glitches beside them."""
    if not found:
        raise BadInput("no activity is recorded: the workload has no energy rows")
    modes = {activity.mode for activity, _ in found}
    recorded = {name: {each.workload for each, _ in found if each.mode == name} for name in modes}
    mode = ZERO_DELAY if ZERO_DELAY in modes else TIMED
    chosen = [(activity, each) for activity, each in found if activity.mode == mode]
    workloads = [_workload(activity, each) for activity, each in found]
    by_mode = {
        name: energy.of_operations(
            {each["workload"]: each["energy_nj"] for each in workloads if each["mode"] == name}
        )
        for name in sorted(modes)
    }
    operations = [(activity, each) for activity, each in chosen if activity.workload in by_mode[mode]]
    whole = [(each, each.cycles) for _, each in operations or chosen]
    cycles = sum(weight for _, weight in whole)
    by_group: dict[str, dict[str, float]] = {name: defaultdict(float) for name in GROUPS}
    by_module: dict[str, dict[str, Any]] = {}
    for each, weight in whole:
        for name, parts in each.by_group().items():
            for part, value in parts.items():
                by_group[name][part] += value * weight / cycles
        for row in each.by_module(hierarchy):
            into = by_module.setdefault(
                row["path"],
                {
                    "path": row["path"],
                    "module": row["module"],
                    **dict.fromkeys((*PARTS, "total_mw", "own_mw"), 0.0),
                },
            )
            for part in (*PARTS, "total_mw", "own_mw"):
                into[part] += row[part] * weight / cycles
    total = sum(group["total_mw"] for group in by_group.values())
    for row in by_module.values():
        row["share"] = round(row["total_mw"] / total, 4) if total else 0.0
    glitches = {
        name: round(value / by_mode[ZERO_DELAY][name], 4)
        for name, value in by_mode.get(TIMED, {}).items()
        if by_mode.get(ZERO_DELAY, {}).get(name)
    }
    with_glitches = None
    if mode == ZERO_DELAY and recorded.get(TIMED) == recorded[ZERO_DELAY]:
        timed = [
            each for activity, each in found if activity.mode == TIMED and activity.workload in by_mode[TIMED]
        ]
        with_glitches = {
            "energy_nj": by_mode[TIMED],
            "total_mw": sum(each.total_mw * each.cycles for each in timed)
            / sum(each.cycles for each in timed),
        }
    twice = sum(each.twice_mw * weight for each, weight in whole) / cycles
    derived = max((len(each.derived) for each, _ in whole), default=0)
    return {
        "clock_ns": chosen[0][1].clock_ns,
        "mode": mode,
        "total_mw": total,
        "by_group": {name: dict(parts) for name, parts in by_group.items()},
        "by_module": list(by_module.values()),
        "energy_nj": by_mode[mode],
        "energy_by_mode_nj": by_mode,
        "glitch_ratio": glitches,
        "with_glitches": with_glitches,
        "inputs_mw": sum(each.inputs_mw * weight for each, weight in whole) / cycles,
        "twice_mw": twice,
        "nets_derived": derived,
        "workloads": workloads,
        "caveats": _caveats(mode, with_glitches is not None, twice, total),
    }


def _workload(activity: Activity, each: Estimate) -> dict[str, Any]:
    return {
        "workload": activity.workload,
        "mode": activity.mode,
        "cycles": activity.cycles,
        "time_ns": activity.cycles * each.clock_ns,
        "total_mw": each.total_mw,
        "energy_nj": each.energy_nj,
        "by_group": each.by_group(),
        "inputs_mw": each.inputs_mw,
        "twice_mw": each.twice_mw,
    }


def _caveats(mode: str, both: bool, twice: float, total: float) -> list[str]:
    caveats = []
    if both:
        caveats.append(
            "the energy is without glitches, a lower bound; that with them, all of full swing, is an upper one"
        )
    elif mode == ZERO_DELAY:
        caveats.append("no glitches are counted: the energy is a lower bound")
    else:
        caveats.append("glitches count with their full swing: the energy is an upper bound")
    if total and twice / total > 0.01:
        caveats.append(
            f"up to {100 * twice / total:.0f} % are counted twice: the library states cells of two outputs, such as adders, "
            "with their whole energy at each"
        )
    return caveats


def _activities(path: Path) -> list[Activity]:
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    return [Activity.load(each) for each in files]


def main(argv: list[str] | None = None) -> int:
    """Print everything that goes into the energy of one instance."""
    parser = argparse.ArgumentParser(prog="python -m modexlab.flow.power.power", description=main.__doc__)
    parser.add_argument("netlist", help="a netlist.json")
    parser.add_argument("activity", help="an activity file of it")
    parser.add_argument("instance", help="the name of a cell")
    parser.add_argument("--wires", help="a wires.json; else the wires are those of the library's model")
    parser.add_argument("--clock-port", default="clk")
    parser.add_argument("--propagated", action="store_true", help="the clock tree is in the netlist")
    args = parser.parse_args(argv)
    try:
        library = kit.find().library
        activity = Activity.load(args.activity)
        estimator = Estimator(
            read(args.netlist, library),
            library,
            activity.clock_ns,
            clock_port=args.clock_port,
            wires=_json(Path(args.wires), "wires") if args.wires else None,
            wire_load=None if args.wires else library.default_wire_load or None,
            propagated=args.propagated,
        )
        print(json.dumps(estimator.explain(args.instance, activity), indent=1))
    except BadInput as error:
        print(f"modexlab: error: {error}", file=sys.stderr)
        return 2
    return 0


def _json(path: Path, what: str) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
    except OSError as error:
        raise BadInput(f"the {what} {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BadInput(f"{path} is no {what}.json ({error})") from None
    if not isinstance(data, dict):
        raise BadInput(f"{path} is no {what}.json (a list)")
    return data


if __name__ == "__main__":
    sys.exit(main())
