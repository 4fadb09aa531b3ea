"""Sizes of cells, buffers and pins of a mapped netlist, chosen by its timing with wires: what abc's own sizing leaves.

abc sizes before it knows registers, full adders and wires; this goes over the whole flat netlist with the tables of the
library (nldm.py). Moves, none of which changes what the netlist computes:

    size    another drive strength of the same function
    pins    two commutative inputs exchanged, the late signal to the fast pin
    buffer  readers of a net that can wait (or all) go behind a buffer
    adders  gates become full adders as cells, where there is time (full_adders.py)

Each move is estimated where it happens: arrival at the cell's outputs by its own tables, what its pins' capacitance costs the
drivers and their other readers, and what its slew costs the next cells. The best ones by gain per area that do not touch each
other are made at once; a full analysis then decides, and a batch that did not help is undone and halved. Where the clock is
met, sizes go down again by the same estimate: area recovery. After Coudert, "Gate sizing for constrained delay/power/area
optimization", IEEE Trans. VLSI 5(4), 1997, in its form with a local neighbourhood.

Wires: `wire_ff` for each reader before placement, or those of wires.json (then the netlist has to be placed again). The clock is
ideal here, `Effort.slack_ns` stands for its tree (styles/default.ys has the slacks after layout).
"""

from __future__ import annotations

import itertools
import json
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...fl.errors import BadInput
from ..files import replace_json, replace_text, replacing
from ..kit import kit
from ..kit.constraints import Constraints
from ..kit.functions import parse
from ..kit.liberty import Cell, Library
from ..netlist import ownership, yosys
from ..netlist.netlist import PORT, Instance, Netlist, connected, read, write_back
from ..timing.cells import FALL, RISE, CellTables
from ..timing.graph import TimingGraph
from . import full_adders
from .synthesis import WRITE, area_report

NOT_SIZED = {"sized": False}
LARGE, LARGER = 20_000, 60_000  # cells
# for each reader; sized with 0.7 netlists had 0.04 to 0.15 ns more after layout, clock tree included
WIRE_FF = 0.65

LEAST_GAIN_NS = 0.0005
LEAST_BUFFER_GAIN_NS = 0.002
WIDEST_WINDOW_NS = 0.3  # above the worst slack, in which cells are looked at
BUFFER_WINDOW_NS = 0.15
STEP_FF, STEP_NS = 0.5, 0.005  # of the differences that stand for derivatives
WORST_WEIGHT = 20.0  # of the worst slack beside the sum over all endpoints
LARGEST_BATCH = 256
LESS_AT_ONCE = 0.7
LEAST_ADDERS = 5
ADDER_MARGIN_NS, INVERTER_NS, LATER_NS = 0.02, 0.015, 0.03
SUM_AND_CARRY = (full_adders.Adder._fields.index("sum"), full_adders.Adder._fields.index("carry"))
RECOVERED_AT_ONCE = 0.25  # of the slack, that a smaller size may take in one pass


@dataclass(frozen=True)
class Effort:
    """How long to try."""

    slack_ns: float = 0.02  # to be left
    rounds: int = 6  # of buffers, with sizes and pins after each
    batches: int = 60  # of moves in a round
    recoveries: int = 40  # batches of smaller sizes, in all
    adder_rounds: int = 3


def effort_for(cells: int) -> Effort:
    """Less of it for a larger netlist, whose batches take longer and are no larger."""
    if cells < LARGE:
        return Effort()
    return (
        Effort(rounds=3, batches=20, recoveries=8, adder_rounds=1)
        if cells < LARGER
        else Effort(rounds=0, batches=4, recoveries=2, adder_rounds=1)
    )


@dataclass
class Circuit:
    """A netlist and its wires, by number of net; `owners` has the modules of the buffers that were added."""

    netlist: Netlist
    caps_ff: np.ndarray
    res_kohm: np.ndarray
    owners: dict[str, str] = field(default_factory=dict)
    wire_ff: float | None = None  # for each reader, if all wires are so; of nets that are not there yet


class Result(NamedTuple):
    """What was done, and the slack and area before and after."""

    circuit: Circuit
    report: dict[str, Any]


def size(
    netlist_json: str | Path,
    out_dir: str | Path,
    *,
    clock_ns: float,
    clock_port: str | None = "clk",
    hierarchy: str | Path | None = None,
    wire_ff: float = WIRE_FF,
    wires: str | Path | None = None,
    effort: Effort | None = None,
    kit_directory: Path | None = None,
) -> dict[str, Any]:
    """Write netlist.v, netlist.json, hierarchy.json, area.json and sizing.json of the sized netlist; returns the last.

    `hierarchy` is looked for beside the netlist. `wires` is a wires.json of the same netlist, placed; nets that it does not know
    get `wire_ff` for each reader.
    """
    started = time.perf_counter()
    source, out = Path(netlist_json), Path(out_dir)
    hierarchy = Path(hierarchy) if hierarchy else source.with_name("hierarchy.json")
    files = kit.find(kit_directory)
    library = files.library
    netlist = read(source, library)
    try:
        known = json.loads(hierarchy.read_text())
        table = json.loads(Path(wires).read_text()) if wires else None
    except (OSError, ValueError) as error:
        raise BadInput(f"the hierarchy or the wires cannot be read: {error}") from None
    asked = library.constraints(clock_ns, clock_port)
    effort = effort or effort_for(len(netlist.cells))
    done = optimise(wired(netlist, wire_ff, table), library, asked, known["cells"], effort)
    document = json.loads(source.read_text())
    module = document["modules"][netlist.name]
    write_back(module, netlist, done.circuit.netlist, library)
    owners = {**known["cells"], **done.circuit.owners}
    owners = {name: owners[name] for name in done.circuit.netlist.cells}
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, separators=(",", ":"))
    (work / "netlist.json").write_text(text)
    yosys.run("write", WRITE.format(lib=files.lib, top=netlist.name), work)
    with replacing(out / "netlist.v") as part:
        part.write_text((work / "netlist.v").read_text())
    replace_text(out / "netlist.json", text)
    replace_json(out / "hierarchy.json", {"cells": owners, "modules": known["modules"]})
    replace_json(out / "area.json", area_report(module, owners, known["modules"], library))
    report = (
        {"sized": True}
        | done.report
        | {
            "clock_ns": clock_ns,
            "wires": "placement" if wires else "model",
            "wire_ff": wire_ff,
            "seconds": round(time.perf_counter() - started, 1),
        }
    )
    replace_json(out / "sizing.json", report)
    return report


def wired(
    netlist: Netlist, wire_ff: float, table: Mapping[str, Mapping[str, float]] | None = None
) -> Circuit:
    """A netlist with wires from a table by name of the net, the others with so much for each reader."""
    caps = wire_ff * np.array([float(len(sinks)) for sinks in netlist.sinks])
    resistances = np.zeros(len(caps))
    for name, wire in (table or {}).items():
        net = netlist.aliases.get(name)
        if net is not None:  # nets of the clock tree are not in the netlist before placement
            caps[net], resistances[net] = wire["cap_ff"], wire.get("res_ohm", 0.0) / 1000
    return Circuit(netlist, caps, resistances, wire_ff=None if table else wire_ff)


def optimise(
    circuit: Circuit,
    library: Library,
    constraints: Constraints,
    modules: Mapping[str, str],
    effort: Effort,
) -> Result:
    """The circuit with the clock met, as far as it can be, and area given back where it is not needed."""
    families = Families(library)
    model = Model(circuit, library, constraints, families, effort.slack_ns)
    before = model.figures()
    counts: dict[str, int] = defaultdict(int)
    speed_up(model, effort.batches, counts)
    for _ in range(effort.rounds):
        if model.cost <= 0:
            break
        better = buffered(model, modules, counts)
        if better is None:
            break
        model = better
        speed_up(model, effort.batches, counts)
    if circuit.wire_ff is not None:
        model = with_adders(model, modules, effort.adder_rounds, counts)
        speed_up(model, effort.batches, counts)
    recover(model, effort.recoveries, counts)
    after = model.figures()
    report = {"before": before, "after": after, "moves": dict(counts)}
    return Result(model.commit(), report)


class Families(CellTables):
    """Cells that differ in strength alone, and their areas and limits by number of kind."""

    def __init__(self, library: Library) -> None:
        super().__init__(library, library.cells)
        self.library = library
        self.area = np.array([library.cells[kind].area for kind in self.kinds])
        self.max_load = np.full(len(self.kinds), np.inf)
        for number, kind in enumerate(self.kinds):
            limits = [pin.max_cap_ff for pin in library.cells[kind].pins.values() if pin.max_cap_ff]
            self.max_load[number] = min(limits, default=np.inf)
        self.others = {number: self._others(kind) for number, kind in enumerate(self.kinds)}
        self.commutative = {kind: commutative(library.cells[kind]) for kind in self.kinds}

    def _others(self, kind: str) -> list[int]:
        roles = self.library.roles
        family = roles.family(kind)
        if family is None:
            return []
        return [
            self.number[other]
            for other in self.kinds
            if other != kind and roles.family(other) == family and self._alike(kind, other)
        ]

    def _alike(self, kind: str, other: str) -> bool:
        a, b = self.library.cells[kind], self.library.cells[other]
        rows = [
            [(row.input, row.start, row.output, row.end, row.when) for row in self.compiled[each].rows]
            for each in (kind, other)
        ]
        checks = [[check[:4] for check in self.compiled[each].checks] for each in (kind, other)]
        if set(a.pins) != set(b.pins) or rows[0] != rows[1] or checks[0] != checks[1]:
            return False
        if a.sequential or b.sequential:
            return (a.ff, a.latch, a.clock_gate) == (b.ff, b.latch, b.clock_gate)
        return all(truth(a, pin) == truth(b, pin) for pin in a.outputs)


def truth(cell: Cell, output: str, exchange: tuple[str, str] | None = None) -> tuple[Any, ...]:
    """The values of an output over all inputs, two of which may be exchanged."""
    function = cell.pins[output].function
    if not function:
        return (function,)
    parsed = parse(function)
    values = []
    for bits in itertools.product((0, 1), repeat=len(cell.inputs)):
        at = dict(zip(cell.inputs, bits, strict=True))
        if exchange:
            at[exchange[0]], at[exchange[1]] = at[exchange[1]], at[exchange[0]]
        values.append(parsed.value(**{name: at[name] for name in parsed.inputs}))
    return tuple(values)


def commutative(cell: Cell) -> list[tuple[str, str]]:
    """Pairs of inputs that may be exchanged."""
    if cell.sequential or not cell.outputs or any(cell.pins[pin].three_state for pin in cell.outputs):
        return []
    return [
        pair
        for pair in itertools.combinations(cell.inputs, 2)
        if all(truth(cell, pin) == truth(cell, pin, pair) for pin in cell.outputs)
    ]


class Move(NamedTuple):
    """A cell by number, its new kind, and the two of its pins (numbers of sinks) that change places, or -1."""

    cell: int
    kind: int
    first: int
    second: int


class Model(TimingGraph):
    """The timing graph with kinds and pins that change in place; setup alone, and the slack of every node."""

    def __init__(
        self,
        circuit: Circuit,
        library: Library,
        constraints: Constraints,
        families: Families,
        target: float,
    ) -> None:
        super().__init__(circuit.netlist, library, constraints, families)
        self.circuit, self.families, self.target = circuit, families, target
        self.sinks_of = _Groups(self.sink_cell, len(self.names))
        self.arcs_of = _Groups(self.arc_cell, len(self.names))
        self._number_endpoints()
        self.fixed = np.zeros(len(self.names), bool)
        self.fixed[self.arc_cell[self.ideal[self.end]]] = True  # of the clock network
        self.set_wires(circuit.caps_ff, circuit.res_kohm)
        self.analyse()

    # -- structure ----------------------------------------------------------------------------------------------------

    def _number_endpoints(self) -> None:
        checks: list[tuple[int, int, int, int]] = []  # cell, row, sink, edge
        ends: dict[int, int] = {}
        for kind, names in self.members.items():
            for row, (pin, edge, clock, setup, _) in enumerate(self.kinds[kind].checks):
                for name in names if setup else ():
                    pins = self.netlist.cells[name].pins
                    if name not in self.unchecked and pin in pins and pins.get(clock) in self.clock_nets:
                        checks.append((self.index[name], row, self.sink[name, pin], edge))
        columns = np.array(checks, int).reshape(-1, 4).T
        self.check_cell, self.check_row, self.check_sink, self.check_edge = columns
        for sink in self.check_sink.tolist():
            ends.setdefault(sink, len(ends))
        outputs = [net for _, net in self.netlist.port_bits("output")]
        first = len(ends)
        self.out_nodes = np.array([2 * net + edge for net in outputs for edge in (RISE, FALL)], int)
        self.end_of = np.array(
            [ends[sink] for sink in self.check_sink.tolist()]
            + [first + place for place in range(len(outputs)) for _ in (RISE, FALL)],
            int,
        )
        self.end_count = first + len(outputs)

    # -- analysis -----------------------------------------------------------------------------------------------------

    def analyse(self) -> None:
        """Loads, arrivals, required times, slacks and the cost."""
        self.update()
        self.propagate(earliest=False)
        self._required()

    def _required(self) -> None:
        asked, arrival, slew = self.constraints, self.arrival[0], self.slew[0]
        period = asked.clock_ns - asked.uncertainty_ns
        net = self.sink_net[self.check_sink]
        nodes = 2 * net + self.check_edge
        tables = self.families.check[self.kind[self.check_cell], self.check_row]
        clock_slews = np.full(len(nodes), asked.clock_slew_ns)
        margin = self.tables.look_up(tables, slew[nodes], clock_slews) if len(nodes) else np.zeros(0)
        cap = self.sink_ff[self.check_sink, self.check_edge]
        wire = self.wire_delays(net, cap)
        at_check = period - margin - wire
        out_net = self.out_nodes // 2
        wire = self.wire_delays(out_net, asked.output_load_ff)
        at_output = period - asked.output_margin_ns - wire
        required = np.full(len(self.base), np.inf)
        np.minimum.at(required, nodes, at_check)
        np.minimum.at(required, self.out_nodes, at_output)
        for low, high in reversed(list(itertools.pairwise([0, *self.bounds]))):
            part = slice(low, high)
            np.minimum.at(
                required,
                self.start[part],
                required[self.end[part]] - self.arc_delay[0, part] - self.wire[part],
            )
        self.required = required
        self.slack = required - arrival
        self.slack[~np.isfinite(arrival)] = np.inf
        each = np.concatenate((at_check - arrival[nodes], at_output - arrival[self.out_nodes]))
        ends = np.full(self.end_count, np.inf)
        np.minimum.at(ends, self.end_of, each)
        self.end_slack = ends
        self.worst = float(ends.min(initial=np.inf))
        missed = np.maximum(0.0, self.target - ends)
        self.cost = float(missed.sum() + WORST_WEIGHT * missed.max(initial=0.0))
        # of every sink by edge
        self.sink_slack = np.full((len(self.sink_net), 2), np.inf)
        through = required[self.end] - self.arc_delay[0] - self.wire - arrival[self.start]
        through[~np.isfinite(through)] = np.inf
        np.minimum.at(self.sink_slack, (self.arc_sink, self.arc_start_edge), through)
        checked = at_check - arrival[nodes]
        np.minimum.at(self.sink_slack, (self.check_sink, self.check_edge), checked)

    def figures(self) -> dict[str, Any]:
        """What a report says."""
        return {
            "area_um2": round(self.area, 3),
            "cells": len(self.names),
            "wns_ns": round(self.worst, 4),
            "tns_ns": round(float(np.minimum(self.end_slack, 0).sum()), 3),
        }

    @property
    def area(self) -> float:
        return float(self.families.area[self.kind].sum())

    # -- estimates ----------------------------------------------------------------------------------------------------

    def derive(self) -> None:
        """What load costs at each node, what slew costs at each node, and the slack of each net without one of its sinks."""
        look_up, slew, arrival = self.tables.look_up, self.slew[0], self.arrival[0]
        count = len(self.base)
        start, load = slew[self.start], self.load[self.end]
        by_load = (look_up(self.delay_table, start, load + STEP_FF) - self.arc_delay[0]) / STEP_FF
        slew_by_load = (look_up(self.slew_table, start, load + STEP_FF) - self.arc_slew[0]) / STEP_FF
        by_slew = (look_up(self.delay_table, start + STEP_NS, load) - self.arc_delay[0]) / STEP_NS
        by_slew[self.ideal[self.end]] = 0.0
        through = self.required[self.end] - self.arc_delay[0] - self.wire
        tight = through <= self.required[self.start] + 1e-6
        self.by_slew = np.zeros(count)
        np.maximum.at(self.by_slew, self.start[tight], np.maximum(0.0, by_slew[tight]))
        total = arrival[self.start] + self.wire + self.arc_delay[0]
        late = total >= arrival[self.end] - 1e-6
        self.by_load = np.zeros(count)
        effect = by_load + slew_by_load * self.by_slew[self.end]
        np.maximum.at(self.by_load, self.end[late], effect[late])
        buffer = self.families.number[self.constraints.driving_cell]
        first = int(self.families.delay[buffer, 0])
        ones = np.array([first])
        at = np.array([0.0])
        step = look_up(ones, at, np.array([10.0 + STEP_FF])) - look_up(ones, at, np.array([10.0]))
        for _, net in self.netlist.port_bits("input"):
            self.by_load[2 * net : 2 * net + 2] = float(step[0]) / STEP_FF
        self.by_load[self.ideal] = 0.0
        # the least slack of the other sinks of a net
        self.other_slack = np.full((len(self.sink_net), 2), np.inf)
        for edge in (RISE, FALL):
            least = np.full(count // 2, np.inf)
            which = np.full(count // 2, -1)
            second = np.full(count // 2, np.inf)
            order = np.lexsort((self.sink_slack[:, edge], self.sink_net))
            nets = self.sink_net[order]
            firsts = np.nonzero(np.diff(nets, prepend=-1))[0]
            least[nets[firsts]] = self.sink_slack[order[firsts], edge]
            which[nets[firsts]] = order[firsts]
            seconds = firsts + 1
            seconds = seconds[seconds < len(nets)]
            seconds = seconds[nets[seconds] == nets[seconds - 1]]
            second[nets[seconds]] = self.sink_slack[order[seconds], edge]
            alone = which[self.sink_net] == np.arange(len(self.sink_net))
            self.other_slack[:, edge] = np.where(alone, second[self.sink_net], least[self.sink_net])
        outputs = self.out_nodes // 2
        of_output = np.full(count // 2, np.inf)
        np.minimum.at(of_output, outputs, self.slack[self.out_nodes])
        self.other_slack = np.minimum(self.other_slack, of_output[self.sink_net][:, None])
        self.other_slack[self.ideal[2 * self.sink_net]] = np.inf

    def local_slacks(self, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least slack around the cell of each move (rows: Move), before and after it."""
        families, slew, arrival = self.families, self.slew[0], self.arrival[0]
        cells, kinds, firsts, seconds = moves.T
        before = np.full(len(moves), np.inf)
        after = np.full(len(moves), np.inf)
        # what the pins cost their nets
        which, sinks = self.sinks_of.spread(cells)
        place = sinks.copy()
        for one, other in ((firsts, seconds), (seconds, firsts)):
            swapped = sinks == one[which]
            place[swapped] = other[which[swapped]]
        # sinks[k] is the pin; the net that it has after the move is that of place[k], whose pin it had before
        net = self.sink_net[place]
        more = families.cap[kinds[which], self.sink_pin[sinks]] - self.sink_ff[place]
        nodes = 2 * net[:, None] + np.arange(2)
        later = more * self.by_load[nodes]
        np.minimum.at(before, which, self.other_slack[place].min(axis=1))
        np.minimum.at(after, which, (self.other_slack[place] - later).min(axis=1))
        ends_here = np.isin(sinks, self.check_sink)
        own = self.sink_slack[sinks[ends_here]]
        np.minimum.at(before, which[ends_here], own.min(axis=1))
        np.minimum.at(after, which[ends_here], (own - later[ends_here]).min(axis=1))
        shift = np.zeros((len(moves), families.cap.shape[1], 2))
        shift[which, self.sink_pin[sinks]] = later
        moved = np.zeros((len(moves), families.cap.shape[1]), int)
        moved[which, self.sink_pin[sinks]] = net
        # through the cell
        which, arcs = self.arcs_of.spread(cells)
        live = np.isfinite(self.slack[self.end[arcs]]) & ~self.ideal[self.end[arcs]]
        which, arcs = which[live], arcs[live]
        pin, edge, end = self.sink_pin[self.arc_sink[arcs]], self.arc_start_edge[arcs], self.end[arcs]
        start = 2 * moved[which, pin] + edge
        row, load = self.arc_row[arcs], self.load[end]
        kind = kinds[which]
        delay = self.tables.look_up(families.delay[kind, row], slew[start], load)
        out = self.tables.look_up(families.slew[kind, row], slew[start], load)
        at = arrival[start] + shift[which, pin, edge] + self.wire[arcs] + delay
        if len(arcs):
            group = which * len(self.base) + end
            order = np.argsort(group, kind="stable")
            heads = np.nonzero(np.diff(group[order], prepend=-1))[0]
            latest = np.maximum.reduceat(at[order], heads)
            steepest = np.maximum.reduceat(out[order], heads)
            move, node = which[order[heads]], end[order[heads]]
            slack = self.required[node] - latest - (steepest - slew[node]) * self.by_slew[node]
            np.minimum.at(before, move, self.slack[node])
            np.minimum.at(after, move, slack)
            over = load > families.max_load[kind]
            after[which[over]] = -np.inf
        return before, after

    def cell_slacks(self) -> np.ndarray:
        """The least slack at each cell's outputs."""
        slacks = np.full(len(self.names), np.inf)
        live = ~self.ideal[self.end]
        np.minimum.at(slacks, self.arc_cell[live], self.slack[self.end[live]])
        return slacks

    # -- moves --------------------------------------------------------------------------------------------------------

    def resizings(self, cells: np.ndarray, smaller: bool) -> list[Move]:
        """All other sizes of these cells; with `smaller`, those of less area."""
        area, moves = self.families.area, []
        for cell in cells.tolist():
            kind = int(self.kind[cell])
            moves += [
                Move(cell, other, -1, -1)
                for other in self.families.others[kind]
                if not smaller or area[other] < area[kind]
            ]
        return moves

    def exchanges(self, cells: np.ndarray) -> list[Move]:
        """All exchanges of two commutative pins of these cells, where neither is constant."""
        moves = []
        for cell in cells.tolist():
            kind, name = int(self.kind[cell]), self.names[cell]
            for pair in self.families.commutative[self.families.kinds[kind]]:
                first, second = (self.sink.get((name, pin), -1) for pin in pair)
                if first < 0 or second < 0 or self.sink_net[first] == self.sink_net[second]:
                    continue
                if not {int(self.sink_net[first]), int(self.sink_net[second])} & self.constants.keys():
                    moves.append(Move(cell, kind, first, second))
        return moves

    def apply(self, moves: list[Move]) -> list[Move]:
        """Make moves; returns those that undo them."""
        back = []
        for cell, kind, first, second in moves:
            back.append(Move(cell, int(self.kind[cell]), first, second))
            self.kind[cell] = kind
            if first >= 0:
                nets = self.sink_net
                nets[first], nets[second] = nets[second], nets[first]
                arcs = self.arcs_of[cell]
                for arc in arcs[np.isin(self.arc_sink[arcs], (first, second))].tolist():
                    self.start[arc] = 2 * nets[self.arc_sink[arc]] + self.arc_start_edge[arc]
        return back[::-1]

    def nets_around(self, cell: int) -> set[int]:
        """The nets that a move of this cell touches."""
        return {
            *self.sink_net[self.sinks_of[cell]].tolist(),
            *(self.end[self.arcs_of[cell]] // 2).tolist(),
        }

    def commit(self) -> Circuit:
        """The circuit as it has become."""
        pins: list[dict[str, int]] = [dict(self.netlist.cells[name].pins) for name in self.names]
        for (name, pin), sink in self.sink.items():
            pins[self.index[name]][pin] = int(self.sink_net[sink])
        cells = {
            name: Instance(name, self.families.kinds[self.kind[place]], pins[place])
            for place, name in enumerate(self.names)
        }
        old = self.circuit
        return Circuit(
            connected(self.netlist, cells, self.netlist.nets, self.library),
            old.caps_ff.copy(),
            old.res_kohm.copy(),
            dict(old.owners),
            old.wire_ff,
        )


class _Groups:
    """Which elements have a number, for each number."""

    def __init__(self, numbers: np.ndarray, count: int) -> None:
        self.order = np.argsort(numbers, kind="stable")
        self.first = np.searchsorted(numbers[self.order], np.arange(count + 1))

    def __getitem__(self, number: int) -> np.ndarray:
        return self.order[self.first[number] : self.first[number + 1]]

    def spread(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(place in numbers, element) for all elements of all numbers."""
        sizes = self.first[numbers + 1] - self.first[numbers]
        which = np.repeat(np.arange(len(numbers)), sizes)
        within = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return which, self.order[self.first[numbers][which] + within]


def _chosen(model: Model, moves: list[Move], scores: np.ndarray, most: int) -> list[Move]:
    """The best moves that do not touch each other's nets."""
    taken: set[int] = set()
    chosen: list[Move] = []
    for place in np.argsort(-scores, kind="stable").tolist():
        if len(chosen) >= most or scores[place] <= 0:
            break
        around = model.nets_around(moves[place].cell)
        if not around & taken:
            taken |= around
            chosen.append(moves[place])
    return chosen


def speed_up(model: Model, batches: int, counts: dict[str, int]) -> None:
    """Sizes and pins along the paths that miss the target, as long as it helps."""
    most, window = LARGEST_BATCH // 4, 0.05
    for _ in range(batches):
        if model.cost <= 0:
            return
        model.derive()
        limit = min(model.target, model.worst + window)
        (cells,) = np.nonzero((model.cell_slacks() < limit) & ~model.fixed)
        moves = model.resizings(cells, smaller=False) + model.exchanges(cells)
        chosen: list[Move] = []
        if moves:
            array = np.array(moves, int)
            before, after = model.local_slacks(array)
            gain = np.minimum(after, limit) - np.minimum(before, limit)
            gain[~np.isfinite(gain)] = 0.0
            area = model.families.area[array[:, 1]] - model.families.area[model.kind[array[:, 0]]]
            scores = np.where(gain > LEAST_GAIN_NS, gain / np.maximum(area + 0.5, 0.1), 0.0)
            chosen = _chosen(model, moves, scores, most)
        cost = model.cost
        while chosen:
            back = model.apply(chosen)
            model.analyse()
            if model.cost < cost - 1e-9:
                counts["exchanged"] += sum(move.first >= 0 for move in chosen)
                counts["resized"] += sum(move.first < 0 for move in chosen)
                most = min(LARGEST_BATCH, 2 * len(chosen) if len(chosen) >= most else most)
                break
            model.apply(back)
            most = max(1, len(chosen) // 2)
            chosen = chosen[: len(chosen) // 2]
        if not chosen:
            model.analyse()
            if window > WIDEST_WINDOW_NS:
                return
            window, most = 3 * window, LARGEST_BATCH // 4


def recover(model: Model, batches: int, counts: dict[str, int]) -> None:
    """Smaller sizes where there is slack, without a worse cost."""
    most = len(model.names)
    floor = max(model.target, 0.0)
    fraction = RECOVERED_AT_ONCE
    for _ in range(batches):
        model.derive()
        (cells,) = np.nonzero((model.cell_slacks() > floor) & ~model.fixed)
        moves = model.resizings(cells, smaller=True)
        if not moves:
            return
        array = np.array(moves, int)
        before, after = model.local_slacks(array)
        room = np.where(np.isfinite(before), before - floor, 1.0)
        both = np.isfinite(before) & np.isfinite(after)
        loss = np.zeros(len(moves))
        loss[both] = before[both] - after[both]
        loss[after == -np.inf] = np.inf
        saved = model.families.area[model.kind[array[:, 0]]] - model.families.area[array[:, 1]]
        fits = (after >= floor) & (loss <= fraction * room)
        scores = np.where(fits, saved / np.maximum(loss, 0.001), 0.0)
        chosen = _chosen(model, moves, scores, most)
        if not chosen:
            return
        cost = model.cost
        while chosen:
            back = model.apply(chosen)
            model.analyse()
            if model.cost <= cost + 1e-9:
                counts["made_smaller"] += len(chosen)
                most *= 2
                break
            # many small losses on one path add up
            model.apply(back)
            most, fraction = max(1, len(chosen) // 2), fraction * LESS_AT_ONCE
            chosen = chosen[: len(chosen) // 2]
        if not chosen:
            model.analyse()
            return


class Buffering(NamedTuple):
    """Sinks of a net that go behind a buffer, and what that brings at the net, in ns of slack for um^2."""

    net: int
    kind: str
    sinks: list[int]
    gain: float


def _bufferings(model: Model) -> list[Buffering]:
    """For each net that misses the target the best buffer, best gain per area first."""
    families, limit = model.families, min(model.target, model.worst + BUFFER_WINDOW_NS)
    look_up, found = model.tables.look_up, []
    by_net = _Groups(model.sink_net, len(model.netlist.nets))
    buffers = [(kind, families.number[kind]) for kind in model.library.roles.buffers]
    pins = {kind: families.pins[kind].index(model.library.cells[kind].inputs[0]) for kind, _ in buffers}
    worst = model.slack.reshape(-1, 2).min(axis=1)
    for net in np.nonzero(worst < limit)[0].tolist():
        sinks = by_net[net]
        if not len(sinks) or net in model.clock_nets or model.netlist.driver[net] is None:
            continue
        slacks = model.sink_slack[sinks].min(axis=1)
        order = np.argsort(-slacks, kind="stable")
        sinks, slacks = sinks[order], slacks[order]
        caps = model.sink_ff[sinks].mean(axis=1)
        each = float(model.branch_cap[net])
        resistance = float(model.by_load[2 * net : 2 * net + 2].max())
        outputs = len(model.netlist.sinks[net]) > len(sinks)
        best = None
        for kind, number in buffers:
            tables = families.delay[number, :2]
            own = float(families.cap[number, pins[kind]].mean())
            for last in range(1, len(sinks) + 1):
                load = float(caps[:last].sum()) + last * each
                relief = resistance * (load - own - each)
                if relief <= 0:
                    continue
                slew = float(model.slew[0, 2 * net : 2 * net + 2].max())
                delay = float(look_up(tables, np.full(2, slew), np.full(2, load)).max())
                behind = slacks[last - 1] + relief - delay
                ahead = slacks[-1] + relief if last < len(sinks) else np.inf
                if outputs:
                    ahead = min(ahead, worst[net] + relief)
                gain = min(behind, ahead, limit) - min(worst[net], limit)
                score = gain / families.area[number]
                if gain > LEAST_BUFFER_GAIN_NS and (best is None or score > best[0]):
                    best = (score, Buffering(net, kind, sinks[:last].tolist(), gain))
        if best:
            found.append(best)
    return [each for _, each in sorted(found, key=lambda pair: -pair[0])]


def buffered(model: Model, modules: Mapping[str, str], counts: dict[str, int]) -> Model | None:
    """The model with buffers where they help most, or None."""
    model.derive()
    wanted = _bufferings(model)[:LARGEST_BATCH]
    while wanted:
        circuit = _with_buffers(model, wanted, modules)
        trial = Model(circuit, model.library, model.constraints, model.families, model.target)
        if trial.cost < model.cost - 1e-9:
            counts["buffers"] += len(wanted)
            return trial
        wanted = wanted[: len(wanted) // 4]
    return None


def _with_buffers(model: Model, wanted: list[Buffering], modules: Mapping[str, str]) -> Circuit:
    circuit = model.commit()
    netlist = circuit.netlist
    cells, nets = dict(netlist.cells), list(netlist.nets)
    caps, resistances = circuit.caps_ff.tolist(), circuit.res_kohm.tolist()
    counter = itertools.count(1)
    taken = {*netlist.cells, *netlist.aliases}
    for net, kind, sinks, _ in wanted:
        driver = netlist.driver[net]
        assert driver is not None
        # the module of the driver; of a port's net, that of the first reader
        of = driver[0] if driver[0] != PORT else model.names[int(model.sink_cell[sinks[0]])]
        module = circuit.owners.get(of, modules.get(of, ""))
        prefix = f"{module}{ownership.SEPARATOR}" if module else ""
        name = next(
            name for k in counter if (name := f"{prefix}drive_{k}") not in taken and f"{name}_z" not in taken
        )
        fresh = len(nets)
        nets.append(f"{name}_z")
        share = len(sinks) / len(netlist.sinks[net])
        readers = len(netlist.sinks[net])
        caps.append(caps[net] * share)
        resistances.append(resistances[net] * share)
        # the buffer is one more reader where its sinks were
        left = (readers - len(sinks) + 1) / readers
        caps[net], resistances[net] = caps[net] * left, resistances[net] * left
        library = model.library.cells[kind]
        cells[name] = Instance(name, kind, {library.inputs[0]: net, library.outputs[0]: fresh})
        circuit.owners[name] = module
        taken |= {name, f"{name}_z"}
        for sink in sinks:
            reader = model.names[int(model.sink_cell[sink])]
            old = cells[reader]
            pin = model.families.pins[old.kind][int(model.sink_pin[sink])]
            cells[reader] = Instance(reader, old.kind, {**old.pins, pin: fresh})
    return Circuit(
        connected(netlist, cells, nets, model.library),
        np.array(caps),
        np.array(resistances),
        circuit.owners,
        circuit.wire_ff,
    )


def with_adders(model: Model, modules: Mapping[str, str], rounds: int, counts: dict[str, int]) -> Model:
    """The model with full adders as cells wherever that makes no path later than required."""
    for _ in range(rounds if model.library.roles.full_adder else 0):
        circuit = model.commit()
        assert circuit.wire_ff is not None
        latest = model.arrival[0].reshape(-1, 2).max(axis=1).tolist()
        owners = {**modules, **circuit.owners}
        exchange = full_adders.Exchange(circuit.netlist, model.library, owners.__getitem__)
        exchange.make(_in_time(model, full_adders.find(circuit.netlist, model.library)), latest)
        if exchange.exchanged < LEAST_ADDERS:
            break
        netlist = connected(circuit.netlist, exchange.cells, exchange.nets, model.library)
        made = wired(netlist, circuit.wire_ff)
        every = circuit.owners | exchange.owners
        made.owners = {name: owner for name, owner in every.items() if name in netlist.cells}
        trial = Model(made, model.library, model.constraints, model.families, model.target)
        # other loads make some paths a little later, which sizes make up for
        if trial.worst < min(model.worst, model.target) - LATER_NS or trial.area >= model.area:
            break
        counts["full_adders"] += exchange.exchanged
        model = trial
    return model


def _in_time(model: Model, adders: list[full_adders.Adder]) -> list[full_adders.Adder]:
    """Those adders whose cells are in time, each with all before it exchanged; in topological order.

    Arrivals go from level to level as in an analysis, and past an adder that is chosen by its cell's tables; required times stay.
    """
    level = np.zeros(len(model.base) // 2, int)
    for number, (low, high) in enumerate(itertools.pairwise([0, *model.bounds])):
        level[model.end[low:high] // 2] = number
    waiting: dict[int, list[full_adders.Adder]] = defaultdict(list)
    for adder in adders:
        waiting[int(min(level[adder.sum], level[adder.carry]))].append(adder)
    arrival = model.arrival[0].copy()
    required = model.required.reshape(-1, 2).min(axis=1) - ADDER_MARGIN_NS
    later: dict[int, float] = {}
    chosen: list[full_adders.Adder] = []
    for number, (low, high) in enumerate(itertools.pairwise([0, *model.bounds])):
        if here := waiting.get(number, []):
            sums, carries = (np.array([adder[place] for adder in here]) for place in SUM_AND_CARRY)
            at_sums, at_carries = _behind_adders(model, arrival, here, sums, carries)
            for place in np.nonzero((at_sums <= required[sums]) & (at_carries <= required[carries]))[
                0
            ].tolist():
                chosen.append(here[place])
                later[here[place].sum] = float(at_sums[place])
                later[here[place].carry] = float(at_carries[place])
        if low == high:
            continue
        part = slice(low, high)
        firsts = np.nonzero(np.diff(model.end[part], prepend=-1))[0]
        nodes = model.end[part][firsts]
        through = arrival[model.start[part]] + model.wire[part] + model.arc_delay[0, part]
        arrival[nodes] = np.maximum.reduceat(through, firsts)
        for net in {*(nodes // 2).tolist()} & later.keys():
            arrival[2 * net : 2 * net + 2] = later[net]
    return chosen


def _behind_adders(
    model: Model,
    arrival: np.ndarray,
    adders: list[full_adders.Adder],
    sums: np.ndarray,
    carries: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """When sums and carries would be there if adders were cells, the later edge of each, with an inverter behind."""
    cell = model.library.roles.full_adder
    assert cell is not None
    kind = model.families.number[cell.cell]
    leaves = np.array([adder.leaves for adder in adders], int)
    at = arrival.reshape(-1, 2).max(axis=1)[leaves]
    order = np.argsort(at, axis=1)  # the pins are given out so
    at = np.take_along_axis(at, order, axis=1)
    slews = model.slew[0].reshape(-1, 2).max(axis=1)[np.take_along_axis(leaves, order, axis=1)]
    loads = model.load.reshape(-1, 2).max(axis=1)
    found = []
    for pin, nets in ((cell.sum, sums), (cell.carry, carries)):
        latest = np.full(len(adders), -np.inf)
        for row, each in enumerate(model.families.compiled[cell.cell].rows):
            if each.output == pin:
                place = cell.inputs.index(each.input)
                tables = np.full(len(adders), model.families.delay[kind, row])
                delay = model.tables.look_up(tables, slews[:, place], loads[nets])
                latest = np.maximum(latest, at[:, place] + delay)
        found.append(latest + INVERTER_NS)
    return found[0], found[1]
