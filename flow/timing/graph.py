"""The timing graph of a mapped netlist: nodes, arcs level by level, loads, slews and arrivals.

Nodes are 2 * net + edge. Arcs are in arrays, sorted by level and then by end node. The kinds of cells
(`kind`) and the nets at their input pins (`sink_net`, `start`) may change in place; `update` then updates
loads and wires, and `propagate` slews and arrivals. Analysis (nldm.py) and sizing are built on it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from ...fl.errors import BadInput, unknown
from ..kit.constraints import Constraints
from ..kit.liberty import Cell, Library
from ..netlist.netlist import PORT, SOURCE_LATCH, Netlist, Terminal
from . import kernel
from .cells import FALL, KOHM_FF, RISE, CellTables, constant, holds, possible


class Groups:
    """The elements of an array by their number: for each number, the places that have it."""

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


def openers(netlist: Netlist, library: Library) -> dict[str, Terminal]:
    """The held words (synth/latches.py): the latches that a flip-flop opens, directly or through buffers, and
    its output. A latch of the source is none, as its input may change while it is open.
    """
    found = {}
    for name, instance in netlist.cells.items():
        cell = library.cells[instance.kind]
        for pin in cell.pins.values() if cell.latch and not SOURCE_LATCH.search(name) else ():
            net = instance.pins.get(pin.name) if pin.clock else None
            while net is not None and (driver := netlist.driver[net]) and driver[0] != PORT:
                before = netlist.cells[driver[0]]
                kind = library.cells[before.kind]
                if kind.ff:
                    found[name] = driver
                if kind.sequential or len(kind.inputs) != 1:
                    break
                net = before.pins.get(kind.inputs[0])
    return found


class TimingGraph:
    """A netlist with its constraints; `cells` has at least the kinds that are in it."""

    def __init__(
        self, netlist: Netlist, library: Library, constraints: Constraints, cells: CellTables | None = None
    ) -> None:
        self.netlist, self.library, self.constraints = netlist, library, constraints
        self.members: dict[str, list[str]] = defaultdict(list)  # instances by kind
        for name, instance in netlist.cells.items():
            self.members[instance.kind].append(name)
        self.cells = cells or CellTables(library, self.members)
        self.tables, self.kinds = self.cells.tables, self.cells.compiled
        self.names = list(netlist.cells)
        self.index = {name: place for place, name in enumerate(self.names)}
        self.kind = np.array([self.cells.number[netlist.cells[name].kind] for name in self.names], int)
        self.unchecked = {
            name for kind, names in self.members.items() if self.kinds[kind].unchecked for name in names
        }
        self.constants = {net: int(bit) for net, bit in netlist.constants.items() if bit in "01"}
        self._spread_constants()
        self.clock_nets = self._clock_network()
        self.unclocked = {name for name, net in self.clock_pins() if net not in self.clock_nets}
        opened = {
            latch for latch, (name, _) in openers(netlist, library).items() if name not in self.unclocked
        }
        self.unclocked -= opened
        self.unchecked = (self.unchecked - opened) | self.unclocked
        self.in_clock = np.zeros(len(netlist.nets), bool)
        self.in_clock[list(self.clock_nets)] = True
        # of an ideal clock the nodes have no delay, and the constraints' slew
        self.ideal = np.repeat(self.in_clock, 2) & (not constraints.propagated)
        self._number_sinks()
        self._number_checks()
        self._make_arcs()
        self._levelize()
        self.set_wires(*np.zeros((2, len(netlist.nets))))

    # -- structure
    # ----------------------------------------------------------------------------------------------------

    def _cell(self, name: str) -> tuple[Cell, dict[str, int]]:
        """The description of an instance, and the nets at its pins."""
        instance = self.netlist.cells[name]
        return self.library.cells[instance.kind], instance.pins

    def clock_pins(self) -> Iterator[tuple[str, int | None]]:
        """Cells that have a clock, and the net at it."""
        for kind, names in self.members.items():
            for pin in self.library.cells[kind].pins.values():
                if pin.clock:
                    yield from ((name, self.netlist.cells[name].pins.get(pin.name)) for name in names)

    def _spread_constants(self) -> None:
        """Find the nets that never change: what ties drive, and what gates make of them."""
        known = self.constants
        todo = [name for net in known for name, _ in self.netlist.sinks[net]]
        for kind, names in self.members.items():
            todo += [] if self.library.cells[kind].inputs else names
        while todo:
            if (name := todo.pop()) == PORT:
                continue
            cell, pins = self._cell(name)
            for output in () if cell.sequential else cell.outputs:
                net = pins.get(output)
                if net is None or net in known or cell.pins[output].three_state:
                    continue
                value = constant(cell.pins[output].function, self._fixed(name))
                if value is not None:
                    known[net] = value
                    todo += [sink for sink, _ in self.netlist.sinks[net]]

    def _fixed(self, name: str) -> dict[str, int]:
        """Return the pins of an instance that never change, with their values."""
        pins = self.netlist.cells[name].pins
        return {pin: self.constants[net] for pin, net in pins.items() if net in self.constants}

    def _allowed(self, kind: str, names: list[str]) -> np.ndarray:
        """A mask of the possible rows of each instance, given its constant pins."""
        rows = self.kinds[kind].rows
        cell = self.library.cells[kind]
        worst = self.kinds[kind].worst
        allowed = np.ones((len(names), len(rows)), bool)
        if worst:
            allowed[:, worst:] = False
        masks = {}
        for place, name in enumerate(names if self.constants else ()):
            if fixed := self._fixed(name):
                key = tuple(fixed.items())
                if key not in masks:
                    masks[key] = [
                        number >= worst and possible(cell, row, fixed) for number, row in enumerate(rows)
                    ]
                allowed[place] = masks[key]
        return allowed

    def _clock_network(self) -> set[int]:
        """Nets that the clock reaches through gates; registers behind an odd number of inverters are
        unchecked.
        """
        port = self.constraints.clock_port
        if port is None:
            return set()
        inputs = {
            name: nets[0]
            for name, (way, nets) in self.netlist.ports.items()
            if way == "input" and len(nets) == 1
        }
        if port not in inputs:
            raise unknown("clock port", port, inputs)
        stack = [(inputs[port], False)]
        seen = set(stack)
        while stack:
            net, inverted = stack.pop()
            for name, pin in self.netlist.sinks[net]:
                if name == PORT:
                    continue
                cell, pins = self._cell(name)
                if cell.pins[pin].clock and inverted:
                    self.unchecked.add(name)
                if cell.register:
                    continue
                for row in self.kinds[cell.name].rows:
                    if row.input == pin and row.output in pins:
                        node = (pins[row.output], inverted != (row.start != row.end))
                        if node not in seen:
                            seen.add(node)
                            stack.append(node)
        return {net for net, _ in seen}

    def _number_sinks(self) -> None:
        """All pins that read a net: `sink` by name, and the net, the cell and the place among its pins by
        number.
        """
        found: list[tuple[int, int, int]] = []
        self.sink: dict[Terminal, int] = {}
        self.output_load = np.zeros(2 * len(self.netlist.nets))
        places = {
            kind: {pin: place for place, pin in enumerate(pins)} for kind, pins in self.cells.pins.items()
        }
        for net, sinks in enumerate(self.netlist.sinks):
            for name, pin in sinks:
                if name == PORT:
                    self.output_load[2 * net : 2 * net + 2] += self.constraints.output_load_ff
                    continue
                self.sink[name, pin] = len(found)
                found.append((net, self.index[name], places[self.netlist.cells[name].kind][pin]))
        self.sink_net, self.sink_cell, self.sink_pin = _columns(found, 3)

    def _number_checks(self) -> None:
        """Checks of clocked registers: cell, row of its kind, side (0: setup), edge, data and clock sinks."""
        found = []
        for kind, names in self.members.items():
            for row, check in enumerate(self.kinds[kind].checks):
                for name in names:
                    _, pins = self._cell(name)
                    clocked = check.pin in pins and pins.get(check.clock) in self.clock_nets
                    if name in self.unchecked or not clocked:
                        continue
                    if check.when and self.constants and not holds(check.when, self._fixed(name)):
                        continue
                    sinks = self.sink[name, check.pin], self.sink[name, check.clock]
                    found.append((self.index[name], row, int(not check.setup), check.edge, *sinks))
        self.check_cell, self.check_row, self.check_side, self.check_edge, *sides = _columns(found, 6)
        self.check_sink, self.check_clock = sides

    def terminal(self, sink: int) -> Terminal:
        """The instance and the pin of a sink."""
        cell = self.sink_cell[sink]
        pins = self.cells.pins[self.cells.kinds[self.kind[cell]]]
        return self.names[cell], pins[self.sink_pin[sink]]

    def _make_arcs(self) -> None:
        """All arcs of all instances, of one kind of cell in one go: nodes, cell, row of its kind, and the
        sink that an arc starts from, which is -1 for one that starts from another output.
        """
        parts = [np.zeros((5, 0), int)]
        sinks = np.full((len(self.names), self.cells.cap.shape[1]), -1)
        sinks[self.sink_cell, self.sink_pin] = np.arange(len(self.sink_net))
        for kind, names in self.members.items():
            pins = {pin: place for place, pin in enumerate(self.cells.pins[kind])}
            cells = np.array([self.index[name] for name in names])
            nets = np.full((len(names), len(pins)), -1)
            for place, name in enumerate(names):
                for pin, net in self.netlist.cells[name].pins.items():
                    nets[place, pins[pin]] = net
            allowed = self._allowed(kind, names)
            for number, row in enumerate(self.kinds[kind].rows):
                start, end = nets[:, pins[row.input]], nets[:, pins[row.output]]
                (present,) = np.nonzero((start >= 0) & (end >= 0) & allowed[:, number])
                arcs = np.broadcast_arrays(
                    2 * start[present] + row.start,
                    2 * end[present] + row.end,
                    cells[present],
                    number,
                    sinks[cells[present], pins[row.input]],
                )
                parts.append(np.array(arcs))
        joined = np.concatenate(parts, axis=1)
        self.start, self.end, self.arc_cell, self.arc_row, self.arc_sink = joined

    def _levelize(self) -> None:
        count = 2 * len(self.netlist.nets)
        level = np.zeros(count, int)
        waiting = np.bincount(self.end, minlength=count)
        by_start = Groups(self.start, count)
        (ready,) = np.nonzero(waiting == 0)
        depth = 0
        while ready.size:
            level[ready] = depth
            nodes, times = np.unique(self.end[by_start.spread(ready)[1]], return_counts=True)
            waiting[nodes] -= times
            ready = nodes[waiting[nodes] == 0]
            depth += 1
        if waiting.any():
            net = int(np.nonzero(waiting)[0][0]) // 2
            raise BadInput(
                f"combinational loop: the net {self.netlist.nets[net]} is in or behind one, and has no "
                "arrival"
            )
        order = np.lexsort((self.end, level[self.end]))
        for name in ("start", "end", "arc_cell", "arc_row", "arc_sink"):
            setattr(self, name, getattr(self, name)[order])
        self.bounds = np.searchsorted(level[self.end], np.arange(1, depth + 1)).tolist()
        self.arc_start_edge = self.start % 2
        self.derate = np.where(self.in_clock[self.end // 2], 0.0, self.constraints.derate)

    # -- loads, slews and arrivals
    # ------------------------------------------------------------------------------------

    def set_wires(self, caps_ff: np.ndarray, resistances_kohm: np.ndarray) -> None:
        """The wires of the nets."""
        branches = np.array([max(1, len(sinks)) for sinks in self.netlist.sinks])
        self.branch_res, self.branch_cap = resistances_kohm / branches, caps_ff / branches
        self.base = np.repeat(caps_ff, 2) + self.output_load
        self.update()

    def update(self) -> None:
        """Loads of the drivers, what a wire's resistance adds to each sink (its share of R times its share of
        C and the pin), tables.
        """
        self.sink_ff = self.cells.cap[self.kind[self.sink_cell], self.sink_pin]
        count = len(self.base)
        self.load = self.base.copy()
        for edge in (RISE, FALL):
            self.load += np.bincount(2 * self.sink_net + edge, self.sink_ff[:, edge], count)
        self.wire = self.wire_delays(self.start // 2, self.sink_ff[self.arc_sink, self.arc_start_edge])
        # nor is there a wire before an arc that starts from another output of its cell
        self.wire[self.ideal[self.start] | (self.arc_sink < 0)] = 0.0
        kinds = self.kind[self.arc_cell]
        self.delay_table = self.cells.delay[kinds, self.arc_row]
        self.slew_table = self.cells.slew[kinds, self.arc_row]

    def wire_delays(self, nets: np.ndarray | int, caps: np.ndarray | float) -> np.ndarray:
        """From the drivers of nets to sinks of these capacitances."""
        return np.asarray(self.branch_res[nets] * (self.branch_cap[nets] + caps) * KOHM_FF)

    def propagate(self, *, earliest: bool = True) -> None:
        """Slews and arrivals, and of every arc delay and slew: the latest ([0]) and, unless told not to, the
        earliest ([1]).
        """
        count = len(self.base)
        self.slew = np.zeros((2, count))
        self.arrival = np.full((2, count), -np.inf)
        self.arrival[1] = np.inf
        self.arc_delay, self.arc_slew = np.zeros((2, 2, len(self.start)))
        self._inputs()
        for side in (0, 1) if earliest else (0,):
            kernel.call(
                "propagate",
                self.tables.stack,
                self.arcs_of_c(),
                side == 1,
                self.load,
                self.slew[side],
                self.arrival[side],
                self.arc_delay[side],
                self.arc_slew[side],
            )

    def arcs_of_c(self) -> kernel.ArcsOfC:
        """The arcs, for the kernel, as long as none of the arrays is another one."""
        arrays = (self.start, self.end, self.delay_table, self.slew_table, self.wire, self.ideal, self.derate)
        addresses = map(kernel.address, arrays)
        return kernel.ArcsOfC(len(self.start), *addresses, self.constraints.clock_slew_ns)

    def _inputs(self) -> None:
        """The driving cell's own delay is in the input delay; what the load adds to it comes on top."""
        asked = self.constraints
        if asked.driving_cell not in self.library.cells:
            raise unknown("driving cell", asked.driving_cell, self.library.cells)
        cell = self.library.cells[asked.driving_cell]
        arc = cell.output_pin.timing[0]
        delays = np.array([asked.latency_ns, asked.earliest_input_ns])
        bits = dict(self.netlist.port_bits("input"))
        if (clock := bits.pop(asked.clock_port or "", None)) is not None:
            self.slew[:, 2 * clock : 2 * clock + 2] = asked.clock_slew_ns
            self.arrival[:, 2 * clock : 2 * clock + 2] = 0.0
        nets = np.array(list(bits.values()), int)
        tables = ((arc.cell_rise, arc.rise_transition), (arc.cell_fall, arc.fall_transition))
        for edge, (delay, slew) in zip((RISE, FALL), tables, strict=True):
            if delay and slew and len(nets):
                nodes = 2 * nets + edge
                later, self.slew[:, nodes] = (
                    self.tables.look_up(self.tables.add(table), 0.0, self.load[nodes])
                    for table in (delay, slew)
                )
                self.arrival[:, nodes] = delays[:, None] + (later - delay.at(0.0))


def _columns(rows: Sequence[tuple[int, ...]], count: int) -> list[np.ndarray]:
    """The columns of a table of numbers, each in one piece."""
    return [np.ascontiguousarray(column) for column in np.array(rows, int).reshape(-1, count).T]
