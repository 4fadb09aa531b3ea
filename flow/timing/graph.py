"""The timing graph of a mapped netlist: nodes, arcs level by level, loads, slews and arrivals.

Nodes are 2 * net + edge. Arcs lie in arrays, in the order of their levels and then of the nodes that they lead to. What cells are
(`kind`) and which net each of their pins reads (`sink_net`, `start`) may change in place; `update` then brings loads and wires up to
date, and `propagate` slews and arrivals. nldm.py analyses by it, and sizing works on it.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from ...fl.errors import BadInput, unknown
from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.netlist import PORT, Netlist
from . import kernel
from .cells import FALL, KOHM_FF, RISE, CellTables, constant, possible
from .tables import Tables


class TimingGraph:
    """A netlist with its constraints; `cells` has at least the kinds that are in it."""

    def __init__(
        self, netlist: Netlist, library: Library, constraints: Constraints, cells: CellTables | None = None
    ) -> None:
        self.netlist, self.library, self.constraints = netlist, library, constraints
        self.members: dict[str, list[str]] = defaultdict(list)  # instances by kind
        for name, instance in netlist.cells.items():
            if instance.kind not in library.cells:
                raise BadInput(f"{name} is a {instance.kind}, which is no cell of {library.name}")
            self.members[instance.kind].append(name)
        self.cells = cells or CellTables(library, self.members)
        self.tables, self.kinds = self.cells.tables, self.cells.compiled
        self.names = list(netlist.cells)
        self.index = {name: place for place, name in enumerate(self.names)}
        self.kind = np.array([self.cells.number[netlist.cells[name].kind] for name in self.names], int)
        self.unchecked = {
            name for kind, names in self.members.items() if self.kinds[kind].unchecked for name in names
        }
        self.constants = self._constants()
        self.clock_nets = self._clock_network()
        self.in_clock = np.zeros(len(netlist.nets), bool)
        self.in_clock[list(self.clock_nets)] = True
        # of an ideal clock the nodes have no delay, and the constraints' slew
        self.ideal = np.repeat(self.in_clock, 2) & (not constraints.propagated)
        self._number_sinks()
        self._make_arcs()
        self._levelize()
        self.set_wires(np.zeros(len(netlist.nets)), np.zeros(len(netlist.nets)))

    # -- structure ----------------------------------------------------------------------------------------------------

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
                    value = constant(cell.pins[output].function, at)
                    if value is not None:
                        known[net] = value
                        todo += [sink for sink, _ in self.netlist.sinks[net]]
        return known

    def _allowed(self, kind: str, names: list[str]) -> np.ndarray:
        """Which rows of which instances can happen, with the pins that never change."""
        rows, cell, worst = self.kinds[kind].rows, self.library.cells[kind], self.kinds[kind].worst
        allowed = np.ones((len(names), len(rows)), bool)
        if worst:
            allowed[:, worst:] = False
        masks: dict[tuple[tuple[str, int], ...], list[bool]] = {}
        for place, name in enumerate(names if self.constants else ()):
            pins = self.netlist.cells[name].pins
            at = tuple((pin, self.constants[net]) for pin, net in pins.items() if net in self.constants)
            if at:
                if at not in masks:
                    masks[at] = [
                        number >= worst and possible(cell, row, at) for number, row in enumerate(rows)
                    ]
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

    def _number_sinks(self) -> None:
        """All pins that read a net: `sink` by name, and the net, the cell and the place among its pins by number."""
        nets: list[int] = []
        cells: list[int] = []
        places: list[int] = []
        self.sink: dict[tuple[str, str], int] = {}
        self.output_load = np.zeros(2 * len(self.netlist.nets))
        place_of = {
            kind: {pin: place for place, pin in enumerate(pins)} for kind, pins in self.cells.pins.items()
        }
        for net, sinks in enumerate(self.netlist.sinks):
            for name, pin in sinks:
                if name == PORT:
                    self.output_load[2 * net : 2 * net + 2] += self.constraints.output_load_ff
                    continue
                self.sink[name, pin] = len(nets)
                nets.append(net)
                cells.append(self.index[name])
                places.append(place_of[self.netlist.cells[name].kind][pin])
        self.sink_net, self.sink_cell, self.sink_pin = (np.array(each, int) for each in (nets, cells, places))

    def _make_arcs(self) -> None:
        """All arcs of all instances, of one kind of cell in one go: nodes, cell, row of its kind, and the sink that an arc starts from."""
        columns: list[list[np.ndarray]] = [[] for _ in range(5)]
        sinks = np.full((len(self.names), self.cells.cap.shape[1]), -1)
        sinks[self.sink_cell, self.sink_pin] = np.arange(len(self.sink_net))
        for kind, names in self.members.items():
            rows = self.kinds[kind].rows
            if not rows:
                continue
            pins = {pin: place for place, pin in enumerate(self.cells.pins[kind])}
            cells = np.array([self.index[name] for name in names])
            nets = np.full((len(names), len(pins)), -1)
            for place, name in enumerate(names):
                for pin, net in self.netlist.cells[name].pins.items():
                    nets[place, pins[pin]] = net
            allowed = self._allowed(kind, names)
            for number, (related, source, output, edge, *_) in enumerate(rows):
                start, end = nets[:, pins[related]], nets[:, pins[output]]
                (present,) = np.nonzero((start >= 0) & (end >= 0) & allowed[:, number])
                values = (
                    2 * start[present] + source,
                    2 * end[present] + edge,
                    cells[present],
                    number,
                    sinks[cells[present], pins[related]],
                )
                for column, value in zip(columns, values, strict=True):
                    column.append(np.broadcast_to(value, present.shape))
        joined = [np.concatenate(column) if column else np.zeros(0, int) for column in columns]
        self.start, self.end, self.arc_cell, self.arc_row, self.arc_sink = joined

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
        for name in ("start", "end", "arc_cell", "arc_row", "arc_sink"):
            setattr(self, name, getattr(self, name)[order])
        self.bounds = np.searchsorted(level[self.end], np.arange(1, depth + 1)).tolist()

        self.arc_start_edge = self.start % 2

    # -- loads, slews and arrivals ------------------------------------------------------------------------------------

    def set_wires(self, caps_ff: np.ndarray, resistances_kohm: np.ndarray) -> None:
        """The wires of the nets."""
        branches = np.array([max(1, len(sinks)) for sinks in self.netlist.sinks])
        self.branch_res, self.branch_cap = resistances_kohm / branches, caps_ff / branches
        self.base = np.repeat(caps_ff, 2) + self.output_load
        self.update()

    def update(self) -> None:
        """Loads of the drivers, what a wire's resistance adds to each sink (its share of R times its share of C and the pin), tables."""
        self.sink_ff = self.cells.cap[self.kind[self.sink_cell], self.sink_pin]
        count = len(self.base)
        self.load = self.base.copy()
        for edge in (RISE, FALL):
            self.load += np.bincount(2 * self.sink_net + edge, self.sink_ff[:, edge], count)
        self.wire = self.wire_delays(self.start // 2, self.sink_ff[self.arc_sink, self.arc_start_edge])
        self.wire[self.ideal[self.start]] = 0.0
        kinds = self.kind[self.arc_cell]
        self.delay_table, self.slew_table = (
            self.cells.delay[kinds, self.arc_row],
            self.cells.slew[kinds, self.arc_row],
        )

    def wire_delays(self, nets: np.ndarray | int, caps: np.ndarray | float) -> np.ndarray:
        """From the drivers of nets to sinks of these capacitances."""
        return np.asarray(self.branch_res[nets] * (self.branch_cap[nets] + caps) * KOHM_FF)

    def propagate(self, *, earliest: bool = True) -> None:
        """Slews and arrivals, and of every arc delay and slew: the latest ([0]) and, unless told not to, the earliest ([1])."""
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
        arrays = (self.start, self.end, self.delay_table, self.slew_table, self.wire, self.ideal)
        addresses = (kernel.address(each) for each in arrays)
        return kernel.ArcsOfC(len(self.start), *addresses, self.constraints.clock_slew_ns)

    def _inputs(self) -> None:
        """The driving cell's own delay is in the input delay; what the load adds to it comes on top."""
        asked = self.constraints
        if asked.driving_cell not in self.library.cells:
            raise unknown("driving cell", asked.driving_cell, self.library.cells)
        cell = self.library.cells[asked.driving_cell]
        arc = cell.pins[cell.outputs[0]].timing[0]
        tables = ((arc.cell_rise, arc.rise_transition), (arc.cell_fall, arc.fall_transition))
        delays = np.array([asked.latest_input_ns, asked.earliest_input_ns])
        found = [(bit == asked.clock_port, net) for bit, net in self.netlist.port_bits("input")]
        nets = np.array([net for clock, net in found if not clock], int)
        for clock, net in found:
            if clock:
                self.slew[:, 2 * net : 2 * net + 2] = asked.clock_slew_ns
                self.arrival[:, 2 * net : 2 * net + 2] = 0.0
        for edge, (delay, slew) in zip((RISE, FALL), tables, strict=True):
            if delay and slew and len(nets):
                nodes = 2 * nets + edge
                load, zero = self.load[nodes], np.zeros(len(nodes))
                own = Tables()
                one, other = (np.full(len(nodes), own.add(table)) for table in (delay, slew))
                self.slew[:, nodes] = own.look_up(other, zero, load)
                self.arrival[:, nodes] = delays[:, None] + own.look_up(one, zero, load) - delay.at(0.0)
