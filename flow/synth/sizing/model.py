"""The model that sizing works on: timing graph, slacks, moves, and the estimated gain of a move.

A move is estimated where it happens: arrival at the cell's outputs by its own tables, what its pins'
capacitance costs the drivers and their other readers, and what its slew costs the next cells.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...kit.constraints import Constraints
from ...kit.liberty import Library
from ...netlist.netlist import Instance, connected
from ...timing import kernel
from ...timing.cells import FALL, RISE
from ...timing.graph import Groups, TimingGraph
from .circuit import Circuit
from .families import Families
from .report import Figures

STEP_FF, STEP_NS = 0.5, 0.005  # steps of the finite differences
WORST_WEIGHT = 20.0  # of the worst slack, relative to the sum over all endpoints


def least(by_node: np.ndarray) -> np.ndarray:
    """By net, the least of both edges."""
    return by_node.reshape(-1, 2).min(axis=1)


def most(by_node: np.ndarray) -> np.ndarray:
    """By net, the most of both edges."""
    return by_node.reshape(-1, 2).max(axis=1)


class Move(NamedTuple):
    """A cell by number, its new kind, and the two of its pins (numbers of sinks) that change places, or
    -1.
    """

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
        self.sinks_of = Groups(self.sink_cell, len(self.names))
        self.arcs_of = Groups(self.arc_cell, len(self.names))
        self._number_endpoints()
        self.fixed = np.zeros(len(self.names), bool)
        self.fixed[self.arc_cell[self.ideal[self.end]]] = True  # of the clock network
        self.set_wires(circuit.caps_ff, circuit.res_kohm)
        self.analyse()

    def again(self, circuit: Circuit) -> "Model":
        """Return the model of another circuit for the same clock."""
        return Model(circuit, self.library, self.constraints, self.families, self.target)

    # -- structure
    # ----------------------------------------------------------------------------------------------------

    def _number_endpoints(self) -> None:
        setup = self.check_side == 0
        for name in ("check_cell", "check_row", "check_sink", "check_edge"):
            setattr(self, name, getattr(self, name)[setup])
        outputs = [net for _, net in self.netlist.port_bits("output")]
        ends: dict[int, int] = {}
        checked = [ends.setdefault(sink, len(ends)) for sink in self.check_sink.tolist()]
        self.out_nodes = np.array([2 * net + edge for net in outputs for edge in (RISE, FALL)], int)
        self.end_of = np.array([*checked, *(len(ends) + np.repeat(np.arange(len(outputs)), 2))], int)
        self.end_count = len(ends) + len(outputs)

    # -- analysis
    # -----------------------------------------------------------------------------------------------------

    def analyse(self) -> None:
        """Loads, arrivals, required times, slacks and the cost."""
        self.update()
        self.propagate(earliest=False)
        self._required()

    def _required(self) -> None:
        asked, arrival, slew = self.constraints, self.arrival[0], self.slew[0]
        period = asked.clock_ns
        net = self.sink_net[self.check_sink]
        nodes = 2 * net + self.check_edge
        tables = self.families.check[self.kind[self.check_cell], self.check_row]
        margin = self.tables.look_up(tables, slew[nodes], np.full(len(nodes), asked.clock_slew_ns))
        wire = self.wire_delays(net, self.sink_ff[self.check_sink, self.check_edge])
        at_check = period - margin - wire
        wire = self.wire_delays(self.out_nodes // 2, asked.output_load_ff)
        at_output = period + asked.latency_ns - wire
        self.required = required = np.full(len(self.base), np.inf)
        np.minimum.at(required, nodes, at_check)
        np.minimum.at(required, self.out_nodes, at_output)
        self.sink_slack = np.full((len(self.sink_net), 2), np.inf)
        delay = self.arc_delay[0]
        kernel.call("required", self.arcs_of_c(), delay, arrival, self.arc_sink, required, self.sink_slack)
        self.slack = required - arrival
        self.slack[~np.isfinite(arrival)] = np.inf
        checked = at_check - arrival[nodes]
        self.end_slack = np.full(self.end_count, np.inf)
        slacks = np.concatenate((checked, at_output - arrival[self.out_nodes]))
        np.minimum.at(self.end_slack, self.end_of, slacks)
        self.worst = float(self.end_slack.min(initial=np.inf))
        missed = np.maximum(0.0, self.target - self.end_slack)
        self.cost = float(missed.sum() + WORST_WEIGHT * missed.max(initial=0.0))
        np.minimum.at(self.sink_slack, (self.check_sink, self.check_edge), checked)

    def figures(self) -> Figures:
        """Return the figures of a report."""
        total = float(np.minimum(self.end_slack, 0).sum())
        return Figures(round(self.area, 3), len(self.names), round(self.worst, 4), round(total, 3))

    @property
    def area(self) -> float:
        return float(self.families.area[self.kind].sum())

    # -- estimates
    # ----------------------------------------------------------------------------------------------------

    def derive(self) -> None:
        """Derive the cost of load and slew at each node, and the slack of each net without one of its
        sinks.
        """
        count = len(self.base)
        self.by_slew, self.by_load = np.zeros(count), np.zeros(count)
        kernel.call(
            "derive",
            self.tables.stack,
            self.arcs_of_c(),
            self.load,
            self.slew[0],
            self.arrival[0],
            self.required,
            self.arc_delay[0],
            self.arc_slew[0],
            STEP_NS,
            STEP_FF,
            self.by_slew,
            self.by_load,
        )
        buffer = self.families.number[self.constraints.driving_cell]
        tables = np.repeat(self.families.delay[buffer, 0], 2)
        low, high = self.tables.look_up(tables, np.zeros(2), np.array([10.0, 10.0 + STEP_FF]))
        for _, net in self.netlist.port_bits("input"):
            self.by_load[2 * net : 2 * net + 2] = (high - low) / STEP_FF
        self.by_load[self.ideal] = 0.0
        # the least slack of the other sinks of a net
        self.other_slack = np.full((len(self.sink_net), 2), np.inf)
        for edge in (RISE, FALL):
            order = np.lexsort((self.sink_slack[:, edge], self.sink_net))
            nets, slacks = self.sink_net[order], self.sink_slack[order, edge]
            worst = np.searchsorted(nets, nets)  # the place of the worst sink of the same net
            is_worst = worst == np.arange(len(nets))
            followed = np.append(~is_worst[1:], False)
            second = np.where(followed, np.append(slacks[1:], np.inf), np.inf)
            self.other_slack[order, edge] = np.where(is_worst, second, slacks[worst])
        outputs = self.out_nodes // 2
        of_output = np.full(count // 2, np.inf)
        np.minimum.at(of_output, outputs, self.slack[self.out_nodes])
        self.other_slack = np.minimum(self.other_slack, of_output[self.sink_net][:, None])
        self.other_slack[self.ideal[2 * self.sink_net]] = np.inf

    def local_slacks(self, moves: list[Move]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The least slack around the cell of each move, before and after it, and the area that it adds."""
        families, slew, arrival = self.families, self.slew[0], self.arrival[0]
        cells, kinds, firsts, seconds = np.array(moves, int).T
        before, after = np.full((2, len(moves)), np.inf)

        def least(which: np.ndarray, was: np.ndarray, now: np.ndarray) -> None:
            np.minimum.at(before, which, was)
            np.minimum.at(after, which, now)

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
        others = self.other_slack[place]
        least(which, others.min(axis=1), (others - later).min(axis=1))
        ends = np.isin(sinks, self.check_sink)
        own = self.sink_slack[sinks[ends]]
        least(which[ends], own.min(axis=1), (own - later[ends]).min(axis=1))
        pins = len(moves), families.cap.shape[1]
        shift, moved = np.zeros((*pins, 2)), np.zeros(pins, int)
        shift[which, self.sink_pin[sinks]] = later
        moved[which, self.sink_pin[sinks]] = net
        # through the cell
        which, arcs = self.arcs_of.spread(cells)
        live = (
            np.isfinite(self.slack[self.end[arcs]]) & ~self.ideal[self.end[arcs]] & (self.arc_sink[arcs] >= 0)
        )
        which, arcs = which[live], arcs[live]
        pin, edge, end = self.sink_pin[self.arc_sink[arcs]], self.arc_start_edge[arcs], self.end[arcs]
        start = 2 * moved[which, pin] + edge
        row, load = self.arc_row[arcs], self.load[end]
        kind = kinds[which]
        delay, out = (
            self.tables.look_up(tables[kind, row], slew[start], load)
            for tables in (families.delay, families.slew)
        )
        delay = delay * (1 + self.derate[arcs])
        at = arrival[start] + shift[which, pin, edge] + self.wire[arcs] + delay
        if len(arcs):
            group = which * len(self.base) + end
            order = np.argsort(group, kind="stable")
            heads = np.nonzero(np.diff(group[order], prepend=-1))[0]
            latest = np.maximum.reduceat(at[order], heads)
            steepest = np.maximum.reduceat(out[order], heads)
            move, node = which[order[heads]], end[order[heads]]
            slack = self.required[node] - latest - (steepest - slew[node]) * self.by_slew[node]
            least(move, self.slack[node], slack)
            after[which[load > families.max_load[kind]]] = -np.inf
        return before, after, families.area[kinds] - families.area[self.kind[cells]]

    def cell_slacks(self) -> np.ndarray:
        """The least slack at each cell's outputs."""
        slacks = np.full(len(self.names), np.inf)
        live = ~self.ideal[self.end]
        np.minimum.at(slacks, self.arc_cell[live], self.slack[self.end[live]])
        return slacks

    # -- moves
    # --------------------------------------------------------------------------------------------------------

    def resizings(self, cells: np.ndarray, smaller: bool) -> list[Move]:
        """All other sizes of these cells; with `smaller`, those of less area."""
        area, others = self.families.area, self.families.others
        return [
            Move(cell, other, -1, -1)
            for cell in cells.tolist()
            for other in others[int(self.kind[cell])]
            if not smaller or area[other] < area[self.kind[cell]]
        ]

    def exchanges(self, cells: np.ndarray) -> list[Move]:
        """All exchanges of two commutative pins of these cells, where neither is constant."""
        moves = []
        for cell in cells.tolist():
            kind, name = int(self.kind[cell]), self.names[cell]
            for pair in self.families.commutative[self.families.kinds[kind]]:
                sinks = [self.sink[name, pin] for pin in pair if (name, pin) in self.sink]
                nets = {int(self.sink_net[sink]) for sink in sinks}
                if len(nets) == 2 and not nets & self.constants.keys():
                    moves.append(Move(cell, kind, *sinks))
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
        cells = {}
        for name, kind in zip(self.names, self.kind, strict=True):
            pins = dict(self.netlist.cells[name].pins)
            cells[name] = Instance(name, self.families.kinds[kind], pins)
        for (name, pin), sink in self.sink.items():
            cells[name].pins[pin] = int(self.sink_net[sink])
        netlist = connected(self.netlist, cells, self.netlist.nets, self.library)
        return replace(self.circuit, netlist=netlist, owners=dict(self.circuit.owners))
