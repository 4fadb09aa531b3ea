"""Slews and arrivals by the tables of the library (non-linear delay model): the flow's own estimate beside OpenSTA.

A net's driver sees the lumped capacitance of wire and pins, rising and falling apart. Level by level from the inputs and the
registers, each arc's delay and output slew are looked up at (slew of its input, load of its output), bilinear between the
points of the table and on the same planes beyond them; of the arcs that meet, the latest arrival with the largest slew goes
on, and on its own account the earliest arrival with the smallest. That is graph-based analysis as OpenSTA does it, without its
model of resistive wires: a wire is a star of equal branches, one for each sink (the library's "balanced tree"), of which
the resistance only delays the sink: R/n * (C/n + pin).

What it stands for: the second estimate that OpenSTA is checked against, the engine where OpenSTA is missing, the slews and
loads of the power estimator and the delays of the glitch simulator.

What it knows: one clock, of which everything happens at the rising edge. Registers behind an inverted clock and latches
are listed in `unchecked`: no path of theirs is judged. A latch lets nothing through from its input.

All nodes of a level are looked up at once (numpy): 50,000 cells take about a second.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...fl.errors import BadInput, unknown
from ..kit.constraints import Constraints
from ..kit.functions import parse
from ..kit.liberty import Arc, Cell, Library, Table
from ..netlist.netlist import PORT, Netlist

RISE, FALL = 0, 1
EDGES = ("rise", "fall")
KOHM_FF = 1e-3  # in ns

# timing types: which edges of the output an arc knows of, and which it starts from (None: by its sense)
PROPAGATED = {
    "combinational": (None, (RISE, FALL)),
    "combinational_rise": (None, (RISE,)),
    "combinational_fall": (None, (FALL,)),
    "three_state_enable": (None, (RISE, FALL)),
    "rising_edge": (RISE, (RISE, FALL)),
    "falling_edge": (FALL, (RISE, FALL)),
}
SETUP = ("setup_rising", "recovery_rising")
HOLD = ("hold_rising", "removal_rising")


class Tables:
    """Tables stacked into arrays, so that many points of many tables are looked up in one go."""

    def __init__(self) -> None:
        self._tables: list[Table] = []
        self._numbers: dict[int, int] = {}
        self._arrays: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def add(self, table: Table) -> int:
        """The number of a table, to look it up by."""
        number = self._numbers.get(id(table))
        if number is None:
            number = self._numbers[id(table)] = len(self._tables)
            self._tables.append(table)
            self._arrays = None
        return number

    def look_up(self, numbers: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The value of table numbers[k] at (first[k], second[k])."""
        if self._arrays is None:
            self._arrays = self._stacked()
        axis_1, axis_2, values = self._arrays
        i, x = _interval(axis_1[numbers], first)
        j, y = _interval(axis_2[numbers], second)
        low = values[numbers, i, j] * (1 - x) + values[numbers, i + 1, j] * x
        high = values[numbers, i, j + 1] * (1 - x) + values[numbers, i + 1, j + 1] * x
        return low * (1 - y) + high * y

    def _stacked(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        # an axis of one point gets a second one with the same values
        width = max([2, *(len(axis) for table in self._tables for axis in (table.index_1, table.index_2))])
        count = len(self._tables)
        axes = np.full((2, count, width), np.inf)
        values = np.zeros((count, width, width))
        for number, table in enumerate(self._tables):
            grid = np.array(table.values)
            for place, axis in enumerate((table.index_1, table.index_2)):
                points = axis if len(axis) > 1 else (axis[0], axis[0] + 1)
                axes[place, number, : len(points)] = points
                if len(axis) == 1:
                    grid = np.repeat(grid, 2, axis=place)
            values[number, : grid.shape[0], : grid.shape[1]] = grid
        return axes[0], axes[1], values


def _interval(axes: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which interval of its axis each value falls into, and where in it; the outer ones reach to infinity."""
    last = np.isfinite(axes).sum(axis=1) - 2
    place = np.minimum((at[:, None] >= axes[:, 1:]).sum(axis=1), last)
    rows = np.arange(len(at))
    low, high = axes[rows, place], axes[rows, place + 1]
    return place, (at - low) / (high - low)


@dataclass(frozen=True)
class Endpoint:
    """Where paths end: a register's input or an output, the edge that leaves least slack, and the times of it."""

    name: str  # "instance/pin" or the bit of a port
    edge: str  # "rise" or "fall"
    node: int
    arrival_ns: float
    required_ns: float
    slack_ns: float


@dataclass(frozen=True)
class Point:
    """A pin on a path, and the delay from the point before it."""

    cell: str  # the instance, "" at a port
    kind: str
    pin: str
    net: str
    edge: str
    slew_ns: float
    load_ff: float | None  # of a driver
    delay_ns: float
    arrival_ns: float


@dataclass
class Timing:
    """The result. Arrays by net have two columns, rise and fall."""

    netlist: Netlist
    library: Library
    loads_ff: np.ndarray  # what the driver of the net sees
    slews_ns: np.ndarray  # the largest
    min_slews_ns: np.ndarray
    arrivals_ns: np.ndarray  # the latest, -inf where no path leads
    min_arrivals_ns: np.ndarray
    clock_nets: set[int]
    setup: list[Endpoint]  # by slack, worst first
    hold: list[Endpoint]
    unchecked: list[str]
    _graph: _Graph = field(repr=False)

    @property
    def wns_ns(self) -> float:
        """The worst setup slack."""
        return self.setup[0].slack_ns if self.setup else float("inf")

    @property
    def clock_latency_ns(self) -> float:
        """What the clock takes from its port to a flip-flop, on the mean."""
        return self._graph.clock_latency()

    def slew(self, net: int) -> float:
        """The larger of a net's slews."""
        return float(self.slews_ns[net].max())

    def load(self, net: int) -> float:
        """What the driver of a net sees, rise and fall averaged."""
        return float(self.loads_ff[net].mean())

    def path(self, endpoint: Endpoint, earliest: bool = False) -> list[Point]:
        """The latest (or earliest) path to an endpoint, from its start on."""
        return self._graph.trace(endpoint, earliest)

    def arc_delays(self) -> Iterator[tuple[str, str, int, str, int, str, float]]:
        """(instance, input, its edge, output, its edge, condition, delay in ns) of every arc, at the slews found here."""
        return self._graph.arc_delays()


def analyze(
    netlist: Netlist,
    library: Library,
    constraints: Constraints,
    *,
    wires: Mapping[str, Mapping[str, float]] | None = None,
    wire_load: str | None = None,
) -> Timing:
    """Slews, arrivals and slacks of a mapped netlist.

    `wires` has cap_ff, and res_ohm or not, by the name of the net; or `wire_load` is a model of the library; or wires weigh
    nothing. Of a clock that is not propagated the nets have no delay, and the constraints' slew.
    """
    if wires is not None and wire_load is not None:
        raise BadInput("wires or a wire-load model: not both")
    graph = _Graph(netlist, library, constraints)
    graph.set_wires(*_wires(netlist, library, wires, wire_load))
    graph.propagate()
    setup, hold = graph.checks()
    size = (len(netlist.nets), 2)
    return Timing(
        netlist=netlist,
        library=library,
        loads_ff=graph.load.reshape(size),
        slews_ns=graph.slew[0].reshape(size),
        min_slews_ns=graph.slew[1].reshape(size),
        arrivals_ns=graph.arrival[0].reshape(size),
        min_arrivals_ns=graph.arrival[1].reshape(size),
        clock_nets=graph.clock_nets,
        setup=setup,
        hold=hold,
        unchecked=sorted(graph.unchecked),
        _graph=graph,
    )


def _wires(
    netlist: Netlist, library: Library, wires: Mapping[str, Mapping[str, float]] | None, wire_load: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """Capacitance in fF and resistance in kohm of every net's wire."""
    caps, resistances = np.zeros(len(netlist.nets)), np.zeros(len(netlist.nets))
    if wire_load is not None:
        if wire_load not in library.wire_loads:
            raise unknown("wire-load model", wire_load, library.wire_loads)
        model = library.wire_loads[wire_load]
        for net, sinks in enumerate(netlist.sinks):
            length = model.length_um(len(sinks))
            caps[net], resistances[net] = length * model.cap_ff_per_um, length * model.res_kohm_per_um
    for name, wire in (wires or {}).items():
        net = netlist.aliases.get(name)
        if net is None:
            raise BadInput(
                f"wires are given for {name}, which is no net of {netlist.name}: were they made for another netlist?"
            )
        caps[net], resistances[net] = wire["cap_ff"], wire.get("res_ohm", 0.0) / 1000
    return caps, resistances


class _Row(NamedTuple):
    """One edge of an input that makes one edge of an output."""

    input: str
    start: int
    output: str
    end: int
    when: str
    delay: int  # numbers of tables
    slew: int


@dataclass
class _Kind:
    """The arcs of a kind of cell, edge by edge, and the checks of its registers."""

    rows: list[_Row]
    checks: list[tuple[str, int, str, bool, int]]  # (pin, its edge, clock pin, whether setup, table)
    unchecked: bool


class _Check(NamedTuple):
    """A setup (side 0) or hold (side 1) check of one edge at one pin."""

    name: str
    side: int
    node: int
    clock: int
    wire: float
    clock_wire: float
    table: int


def _compile(cell: Cell, tables: Tables) -> _Kind:
    rows, checks, other = [], [], bool(cell.latch)
    for pin in cell.pins.values():
        for arc in pin.timing:
            if arc.kind in PROPAGATED and pin.direction == "output":
                if cell.latch and arc.kind == "combinational":
                    continue
                rows += _edges(arc, pin.name, tables)
            elif arc.kind in SETUP + HOLD:
                for edge, table in ((RISE, arc.rise_constraint), (FALL, arc.fall_constraint)):
                    if table is not None:
                        checks.append((pin.name, edge, arc.related, arc.kind in SETUP, tables.add(table)))
            elif arc.kind.startswith(("setup", "hold", "recovery", "removal")):
                other = True
    return _Kind(rows, checks, other)


def _edges(arc: Arc, output: str, tables: Tables) -> Iterator[_Row]:
    source, edges = PROPAGATED[arc.kind]
    for edge in edges:
        delay, slew = (
            (arc.cell_rise, arc.rise_transition) if edge == RISE else (arc.cell_fall, arc.fall_transition)
        )
        if delay is None or slew is None:
            continue
        if source is not None:
            sources = (source,)
        elif arc.sense == "positive_unate":
            sources = (edge,)
        elif arc.sense == "negative_unate":
            sources = (1 - edge,)
        else:
            sources = (RISE, FALL)
        for start in sources:
            yield _Row(arc.related, start, output, edge, arc.when, tables.add(delay), tables.add(slew))


def _constant(function: str, at: tuple[tuple[str, int], ...]) -> int | None:
    """The value of a function where these inputs are fixed, if the others do not matter."""
    if not function:
        return None
    parsed = parse(function)
    values = {parsed.value(**dict(at), **free) for free in _points(parsed.inputs, at)}
    return values.pop() if len(values) == 1 else None


def _points(inputs: Iterable[str], at: tuple[tuple[str, int], ...]) -> Iterator[dict[str, int]]:
    """All values of the inputs that are not fixed."""
    free = [name for name in inputs if name not in dict(at)]
    for values in itertools.product((0, 1), repeat=len(free)):
        yield dict(zip(free, values, strict=True))


def _possible(cell: Cell, row: _Row, at: tuple[tuple[str, int], ...]) -> bool:
    """Whether an edge of the input can make this edge of the output, under the arc's condition, where some pins are fixed."""
    fixed = dict(at)
    if row.input in fixed:
        return False
    pin = cell.pins[row.output]
    when = parse(row.when) if row.when else None
    if cell.sequential or not pin.function or pin.three_state:
        return when is None or any(when.value(**fixed, **free) for free in _points(when.inputs, at))
    function = parse(pin.function)
    names = dict.fromkeys([*function.inputs, *(when.inputs if when else ())])
    before, after = (0, 1) if row.start == RISE else (1, 0)
    for free in _points([name for name in names if name != row.input], at):
        values = fixed | free
        if when is not None and not when.value(**values, **{row.input: before}):
            continue
        ends = [function.value(**values, **{row.input: value}) for value in (before, after)]
        if ends == ([0, 1] if row.end == RISE else [1, 0]):
            return True
    return False


class _Graph:
    """Nodes are 2 * net + edge. Arcs lie in arrays, in the order of their levels and then of the nodes that they lead to."""

    def __init__(self, netlist: Netlist, library: Library, constraints: Constraints) -> None:
        self.netlist, self.library, self.constraints = netlist, library, constraints
        self.tables = Tables()
        self.kinds: dict[str, _Kind] = {}
        self.members: dict[str, list[str]] = defaultdict(list)  # instances by kind
        for name, instance in netlist.cells.items():
            if instance.kind not in library.cells:
                raise BadInput(f"{name} is a {instance.kind}, which is no cell of {library.name}")
            self.members[instance.kind].append(name)
        for kind in self.members:
            self.kinds[kind] = _compile(library.cells[kind], self.tables)
        self.unchecked = {
            name for kind, names in self.members.items() if self.kinds[kind].unchecked for name in names
        }
        self.constants = self._constants()
        self.clock_nets = self._clock_network()
        self.in_clock = np.zeros(len(netlist.nets), bool)
        self.in_clock[list(self.clock_nets)] = True
        self._make_arcs()
        self._levelize()

    def _constants(self) -> dict[int, int]:
        """Nets that never change: what ties drive, and what gates make of them."""
        known = {net: int(bit) for net, bit in self.netlist.constants.items() if bit in "01"}
        ties = [
            name
            for kind, names in self.members.items()
            if not self.library.cells[kind].inputs
            for name in names
        ]
        todo = [*ties, *(name for net in known for name, _ in self.netlist.sinks[net])]
        while todo:
            name = todo.pop()
            if name == PORT:
                continue
            instance = self.netlist.cells[name]
            cell = self.library.cells[instance.kind]
            if cell.sequential:
                continue
            at = tuple((pin, known[net]) for pin, net in instance.pins.items() if net in known)
            for output in cell.outputs:
                net = instance.pins.get(output)
                if net is not None and net not in known and not cell.pins[output].three_state:
                    value = _constant(cell.pins[output].function, at)
                    if value is not None:
                        known[net] = value
                        todo += [sink for sink, _ in self.netlist.sinks[net]]
        return known

    def _allowed(self, kind: str, names: list[str]) -> np.ndarray:
        """Which rows of which instances can happen, with the pins that never change."""
        rows, cell = self.kinds[kind].rows, self.library.cells[kind]
        allowed = np.ones((len(names), len(rows)), bool)
        masks: dict[tuple[tuple[str, int], ...], list[bool]] = {}
        for place, name in enumerate(names):
            pins = self.netlist.cells[name].pins
            at = tuple((pin, self.constants[net]) for pin, net in pins.items() if net in self.constants)
            if at:
                if at not in masks:
                    masks[at] = [_possible(cell, row, at) for row in rows]
                allowed[place] = masks[at]
        return allowed

    def _clock_network(self) -> set[int]:
        """Nets that the clock reaches through gates; registers behind an odd number of inverters are unchecked."""
        port = self.constraints.clock_port
        if port is None:
            return set()
        inputs = {
            name: nets
            for name, (way, nets) in self.netlist.ports.items()
            if way == "input" and len(nets) == 1
        }
        if port not in inputs:
            raise unknown("clock port", port, inputs)
        nets = inputs[port]
        seen = {(nets[0], False)}
        stack = list(seen)
        while stack:
            net, inverted = stack.pop()
            for name, pin in self.netlist.sinks[net]:
                if name == PORT:
                    continue
                instance = self.netlist.cells[name]
                cell = self.library.cells[instance.kind]
                if cell.pins[pin].clock and inverted:
                    self.unchecked.add(name)
                if cell.ff or cell.latch:
                    continue
                for related, source, output, edge, *_ in self.kinds[instance.kind].rows:
                    if related == pin and output in instance.pins:
                        node = (instance.pins[output], inverted != (source != edge))
                        if node not in seen:
                            seen.add(node)
                            stack.append(node)
        return {net for net, _ in seen}

    def _make_arcs(self) -> None:
        """All arcs of all instances; of one kind of cell in one go."""
        columns: list[list[np.ndarray]] = [[] for _ in range(5)]
        self.sources: list[tuple[str, int]] = []  # (kind, row) of an arc
        owners = []
        for kind, names in self.members.items():
            rows = self.kinds[kind].rows
            if not rows:
                continue
            pins = {pin: place for place, pin in enumerate(self.library.cells[kind].pins)}
            nets = np.full((len(names), len(pins)), -1)
            for place, name in enumerate(names):
                for pin, net in self.netlist.cells[name].pins.items():
                    nets[place, pins[pin]] = net
            allowed = self._allowed(kind, names)
            for row, (related, source, output, edge, _, delay, slew) in enumerate(rows):
                start, end = nets[:, pins[related]], nets[:, pins[output]]
                (present,) = np.nonzero((start >= 0) & (end >= 0) & allowed[:, row])
                number = len(self.sources)
                self.sources.append((kind, row))
                owners.append(present)
                for column, values in zip(
                    columns,
                    (2 * start[present] + source, 2 * end[present] + edge, delay, slew, number),
                    strict=True,
                ):
                    column.append(np.broadcast_to(values, present.shape))
        joined = [np.concatenate(column) if column else np.zeros(0, int) for column in columns]
        self.start, self.end, self.delay_table, self.slew_table, self.source = joined
        self.owner = np.concatenate(owners) if owners else np.zeros(0, int)

    def _levelize(self) -> None:
        count = 2 * len(self.netlist.nets)
        level = np.zeros(count, int)
        waiting = np.bincount(self.end, minlength=count)
        by_start = np.argsort(self.start, kind="stable")
        first = np.searchsorted(self.start[by_start], np.arange(count + 1))
        (ready,) = np.nonzero(waiting == 0)
        depth = 0
        while ready.size:
            level[ready] = depth
            spans = [by_start[first[node] : first[node + 1]] for node in ready]
            ends = self.end[np.concatenate(spans)]
            nodes, times = np.unique(ends, return_counts=True)
            waiting[nodes] -= times
            ready = nodes[waiting[nodes] == 0]
            depth += 1
        if waiting.any():
            net = int(np.nonzero(waiting)[0][0]) // 2
            raise BadInput(
                f"combinational loop: the net {self.netlist.nets[net]} is in or behind one, and has no arrival"
            )
        order = np.lexsort((self.end, level[self.end]))
        for name in ("start", "end", "delay_table", "slew_table", "source", "owner"):
            setattr(self, name, getattr(self, name)[order])
        self.bounds = np.searchsorted(level[self.end], np.arange(1, depth + 1)).tolist()

    def set_wires(self, caps: np.ndarray, resistances: np.ndarray) -> None:
        """Loads of the drivers, and what a wire's resistance adds to each sink: its share of R times its share of C and the pin."""
        load = np.repeat(caps, 2)
        pins = {kind: self.library.cells[kind].pins for kind in self.members}
        for net, sinks in enumerate(self.netlist.sinks):
            for name, pin in sinks:
                if name == PORT:
                    load[2 * net] += self.constraints.output_load_ff
                    load[2 * net + 1] += self.constraints.output_load_ff
                else:
                    each = pins[self.netlist.cells[name].kind][pin]
                    load[2 * net] += each.cap_rise_ff
                    load[2 * net + 1] += each.cap_fall_ff
        self.load = load
        branches = np.array([max(1, len(sinks)) for sinks in self.netlist.sinks])
        self.branch_res, self.branch_cap = resistances / branches, caps / branches
        sink_caps = np.array(
            [self.sink_cap(kind, *self.kinds[kind].rows[row][:2]) for kind, row in self.sources]
        )
        net = self.start // 2
        self.wire = self.branch_res[net] * (self.branch_cap[net] + sink_caps[self.source]) * KOHM_FF
        if not self.constraints.propagated:
            self.wire[self.in_clock[net]] = 0.0

    def wire_delay(self, net: int, cap: float) -> float:
        """From the driver to a sink of this capacitance."""
        return float(self.branch_res[net] * (self.branch_cap[net] + cap) * KOHM_FF)

    def sink_cap(self, kind: str, pin: str, edge: int) -> float:
        each = self.library.cells[kind].pins[pin]
        return each.cap_rise_ff if edge == RISE else each.cap_fall_ff

    def propagate(self) -> None:
        """Slews and arrivals, the latest ([0]) and the earliest ([1])."""
        count = 2 * len(self.netlist.nets)
        self.slew = np.zeros((2, count))
        self.arrival = np.full((2, count), -np.inf)
        self.arrival[1] = np.inf
        self.delay = np.zeros((2, len(self.start)))
        self._inputs()
        ideal = self.in_clock[self.end // 2] & (not self.constraints.propagated)
        for low, high in itertools.pairwise([0, *self.bounds]):
            if low == high:
                continue
            part = slice(low, high)
            start, end = self.start[part], self.end[part]
            firsts = np.nonzero(np.diff(end, prepend=-1))[0]
            nodes, load = end[firsts], self.load[end]
            for late, worst in ((0, np.maximum), (1, np.minimum)):
                slew_in = self.slew[late, start]
                delay = self.tables.look_up(self.delay_table[part], slew_in, load)
                slew = self.tables.look_up(self.slew_table[part], slew_in, load)
                delay[ideal[part]], slew[ideal[part]] = 0.0, self.constraints.clock_slew_ns
                self.delay[late, part] = delay
                self.slew[late, nodes] = worst.reduceat(slew, firsts)
                self.arrival[late, nodes] = worst.reduceat(
                    self.arrival[late, start] + self.wire[part] + delay, firsts
                )

    def _inputs(self) -> None:
        """The driving cell's own delay is in the input delay; what the load adds to it comes on top."""
        asked = self.constraints
        if asked.driving_cell not in self.library.cells:
            raise unknown("driving cell", asked.driving_cell, self.library.cells)
        cell = self.library.cells[asked.driving_cell]
        arc = cell.pins[cell.outputs[0]].timing[0]
        tables = ((arc.cell_rise, arc.rise_transition), (arc.cell_fall, arc.fall_transition))
        delays = np.array([asked.latest_input_ns, asked.earliest_input_ns])
        for bit, net in self.netlist.port_bits("input"):
            for edge in (RISE, FALL):
                node, (delay, slew) = 2 * net + edge, tables[edge]
                if bit == asked.clock_port:
                    self.slew[:, node] = asked.clock_slew_ns
                    self.arrival[:, node] = 0.0
                elif delay and slew:
                    load = float(self.load[node])
                    self.slew[:, node] = slew.at(0.0, load)
                    self.arrival[:, node] = delays + delay.at(0.0, load) - delay.at(0.0)

    def checks(self) -> tuple[list[Endpoint], list[Endpoint]]:
        """The endpoints by setup and by hold slack, worst first."""
        asked = self.constraints
        worst: tuple[dict[str, Endpoint], dict[str, Endpoint]] = ({}, {})
        pending = list(self._register_checks())
        late = np.array([each.side for each in pending], int)
        nodes = np.array([each.node for each in pending], int)
        clocks = np.array([each.clock for each in pending], int)
        tables = np.array([each.table for each in pending], int)
        margins = np.zeros(0)
        if pending:
            margins = self.tables.look_up(tables, self.slew[late, nodes], self.slew[1 - late, clocks])
        for check, margin in zip(pending, margins.tolist(), strict=True):
            arrival = float(self.arrival[check.side, check.node]) + check.wire
            clock = float(self.arrival[1 - check.side, check.clock]) + check.clock_wire
            if check.side == 0:
                required = clock + asked.clock_ns - asked.uncertainty_ns - margin
            else:
                required = clock + asked.hold_uncertainty_ns + margin
            self._keep(worst[check.side], check.side, check.name, check.node, arrival, required)
        for name, net in self.netlist.port_bits("output"):
            for node in (2 * net + RISE, 2 * net + FALL):
                for side in (0, 1):
                    arrival = float(self.arrival[side, node]) + self.wire_delay(net, asked.output_load_ff)
                    required = asked.hold_uncertainty_ns if side else asked.clock_ns - asked.uncertainty_ns
                    self._keep(worst[side], side, name, node, arrival, required - asked.output_margin_ns)
        setup, hold = (sorted(each.values(), key=lambda end: (end.slack_ns, end.name)) for each in worst)
        return setup, hold

    def _register_checks(self) -> Iterator[_Check]:
        for kind, names in self.members.items():
            for pin, edge, clock, setup, table in self.kinds[kind].checks:
                data_cap, clock_cap = self.sink_cap(kind, pin, edge), self.sink_cap(kind, clock, RISE)
                for name in names:
                    pins = self.netlist.cells[name].pins
                    if name in self.unchecked or pin not in pins or pins.get(clock) not in self.clock_nets:
                        continue
                    yield _Check(
                        name=f"{name}/{pin}",
                        side=0 if setup else 1,
                        node=2 * pins[pin] + edge,
                        clock=2 * pins[clock] + RISE,
                        wire=self.wire_delay(pins[pin], data_cap),
                        clock_wire=self.wire_delay(pins[clock], clock_cap)
                        if self.constraints.propagated
                        else 0.0,
                        table=table,
                    )

    @staticmethod
    def _keep(
        worst: dict[str, Endpoint], side: int, name: str, node: int, arrival: float, required: float
    ) -> None:
        """Nothing arrives where only constants lead: such an endpoint has no slack."""
        slack = arrival - required if side else required - arrival
        if math.isfinite(arrival) and (name not in worst or slack < worst[name].slack_ns):
            worst[name] = Endpoint(name, EDGES[node % 2], node, arrival, required, slack)

    # -- what one asks of a result ------------------------------------------------------------------------------------

    def clock_latency(self) -> float:
        """The mean over the registers' clock pins, of the rising edge."""
        nets = [
            self.netlist.cells[name].pins.get(pin.name)
            for kind, names in self.members.items()
            if self.library.cells[kind].ff
            for pin in self.library.cells[kind].pins.values()
            if pin.clock
            for name in names
        ]
        arrivals = [self.arrival[0, 2 * net + RISE] for net in nets if net in self.clock_nets]
        return float(np.mean(arrivals)) if arrivals else 0.0

    def instance_of(self, arc: int) -> str:
        kind, _ = self.sources[self.source[arc]]
        return self.members[kind][self.owner[arc]]

    def arc_delays(self) -> Iterator[tuple[str, str, int, str, int, str, float]]:
        for arc, number in enumerate(self.source):
            kind, row = self.sources[number]
            related, source, output, edge, when, *_ = self.kinds[kind].rows[row]
            name = self.members[kind][self.owner[arc]]
            yield name, related, source, output, edge, when, float(self.delay[0, arc])

    @functools.cached_property
    def by_end(self) -> tuple[np.ndarray, np.ndarray]:
        """The arcs in the order of the nodes that they lead to, and those nodes."""
        order = np.argsort(self.end, kind="stable")
        return order, self.end[order]

    def trace(self, endpoint: Endpoint, earliest: bool) -> list[Point]:
        side = 1 if earliest else 0
        arrival = self.arrival[side]
        order, ends = self.by_end
        arcs: list[int] = []
        node = endpoint.node
        while True:
            low, high = np.searchsorted(ends, [node, node + 1])
            into = order[low:high]
            if not into.size or not np.isfinite(arrival[node]):
                break
            totals = arrival[self.start[into]] + self.wire[into] + self.delay[side, into]
            arcs.append(int(into[int(totals.argmin() if earliest else totals.argmax())]))
            node = int(self.start[arcs[-1]])
        return self._points(endpoint, node, arcs[::-1], side)

    def _points(self, endpoint: Endpoint, start: int, arcs: list[int], side: int) -> list[Point]:
        """The points of a path. A path from a register begins at its clock pin, with what the clock takes to get there."""
        arrival, netlist = self.arrival[side], self.netlist
        points: list[Point] = []
        before = 0.0
        driver = netlist.driver[start // 2]
        if driver is not None and driver[0] == PORT and not self.in_clock[start // 2]:
            before = float(arrival[start])
            points.append(self._point("", "", driver[1], start, side, before, before, True))
        for arc in arcs:
            end = int(self.end[arc])
            if self.in_clock[end // 2]:
                continue
            kind, row = self.sources[self.source[arc]]
            related, _, output, *_ = self.kinds[kind].rows[row]
            name = self.instance_of(arc)
            at_input = float(arrival[self.start[arc]] + self.wire[arc])
            at = float(arrival[end])
            points.append(
                self._point(
                    name, kind, related, int(self.start[arc]), side, at_input - before, at_input, False
                )
            )
            points.append(self._point(name, kind, output, end, side, at - at_input, at, True))
            before = at
        cell, _, pin = endpoint.name.rpartition("/")
        if cell not in netlist.cells:
            cell, pin = "", endpoint.name
        kind = netlist.cells[cell].kind if cell else ""
        last = endpoint.arrival_ns
        points.append(self._point(cell, kind, pin, endpoint.node, side, last - before, last, False))
        return points

    def _point(
        self,
        cell: str,
        kind: str,
        pin: str,
        node: int,
        side: int,
        delay: float,
        at: float,
        drives: bool,
    ) -> Point:
        return Point(
            cell=cell,
            kind=kind,
            pin=pin,
            net=self.netlist.nets[node // 2],
            edge=EDGES[node % 2],
            slew_ns=float(self.slew[side, node]),
            load_ff=float(self.load[node]) if drives else None,
            delay_ns=delay,
            arrival_ns=at,
        )
