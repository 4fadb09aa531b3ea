"""Slews and arrivals by the library's tables (non-linear delay model): the flow's own engine next to OpenSTA.

The driver of a net sees the lumped capacitance of wire and pins, separately for rise and fall. Level by level
from the inputs and the registers, the delay and the output slew of each arc are looked up at (slew of its
input, load of its output), by bilinear interpolation, and by extrapolation beyond the table. The
latest arrival and the largest slew at a node propagate, and separately the earliest arrival and the smallest
slew. This is graph-based analysis as in OpenSTA, but without its model of resistive wires: a wire is
a star of equal branches, one for each sink (the library's "balanced tree"), whose resistance only delays the
sink: R/n * (C/n + pin).

Uses: the second estimate against which OpenSTA is checked, the engine if OpenSTA is missing, the slews and
loads of the power estimator, and the delays of the glitch simulator.

The model has one clock, and everything happens at its rising edge. Registers without the clock, registers
behind an inverted clock, and latches are listed in `unchecked`, and none of their paths is judged. Latches
that a flip-flop opens are judged: their outputs change when they open, after a clock edge. A latch has no
path from its input, which arrives a cycle earlier (synth/latches.py).

Passes over the arcs are in C++ (kernel.cpp), queries in numpy.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from ...fl.errors import BadInput, unknown
from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.netlist import PORT, Netlist
from .cells import EDGES, FALL, RISE
from .graph import Groups, TimingGraph
from .report import DIGITS, PathPoint, TimedPath, rounded
from .wire_table import WireTable, by_net


@dataclass(frozen=True)
class Endpoint:
    """End of paths: a register's input or an output, its edge with the least slack, and the times of that
    edge.
    """

    name: str  # "instance/pin" or the bit of a port
    node: int  # of the edge
    arrival_ns: float
    required_ns: float
    slack_ns: float


class Timing(TimingGraph):
    """The analysis of a netlist. Arrays by net have two columns, rise and fall."""

    def __init__(
        self,
        netlist: Netlist,
        library: Library,
        constraints: Constraints,
        wires: tuple[np.ndarray, np.ndarray],
    ) -> None:
        super().__init__(netlist, library, constraints)
        self.set_wires(*wires)
        self.propagate()
        self.loads_ff = self.load.reshape(-1, 2)  # on the driver of the net
        self.slews_ns = self.slew[0].reshape(-1, 2)  # the largest
        # the latest, -inf where no path leads, and the earliest
        self.arrivals_ns, self.min_arrivals_ns = self.arrival.reshape(2, -1, 2)
        self._find_endpoints()

    @property
    def wns_ns(self) -> float:
        """The worst setup slack."""
        return self.setup[0].slack_ns if self.setup else float("inf")

    @property
    def clock_latency_ns(self) -> float:
        """The mean over the registers' clock pins, of the rising edge."""
        arrivals = [
            self.arrival[0, 2 * net + RISE]
            for name, net in self.clock_pins()
            if net in self.clock_nets and self.library.cells[self.netlist.cells[name].kind].ff
        ]
        return float(np.mean(arrivals)) if arrivals else 0.0

    # ---- endpoints

    def _find_endpoints(self) -> None:
        """The endpoints by setup and by hold slack, worst first."""
        asked, side = self.constraints, self.check_side
        data = self.sink_net[self.check_sink]
        clock = self.sink_net[self.check_clock]
        nodes = 2 * data + self.check_edge
        clocks = 2 * clock + RISE
        tables = self.cells.check[self.kind[self.check_cell], self.check_row]
        margin = self.tables.look_up(tables, self.slew[side, nodes], self.slew[1 - side, clocks])
        wire = self.wire_delays(data, self.sink_ff[self.check_sink, self.check_edge])
        edge = self.arrival[1 - side, clocks]
        if asked.propagated:
            edge = edge + self.wire_delays(clock, self.sink_ff[self.check_clock, RISE])
        required = np.where(side, edge + margin, edge + asked.clock_ns - margin)
        names = ["/".join(self.terminal(sink)) for sink in self.check_sink.tolist()]
        columns = (side, nodes, self.arrival[side, nodes] + wire, required)
        found = list(zip(names, *(column.tolist() for column in columns), strict=True))
        early = asked.latency_ns
        late = asked.clock_ns + asked.latency_ns
        for name, net in self.netlist.port_bits("output"):
            out = float(self.wire_delays(net, asked.output_load_ff))
            for node in (2 * net + RISE, 2 * net + FALL):
                earliest, latest = self.arrival[::-1, node].tolist()
                found += [(name, 0, node, latest + out, late), (name, 1, node, earliest + out, early)]
        worst: tuple[dict[str, Endpoint], dict[str, Endpoint]] = ({}, {})
        for name, hold, node, arrival, latest in found:
            slack = arrival - latest if hold else latest - arrival
            ends = worst[hold]
            # nothing arrives where only constants lead: such an endpoint has no slack
            if math.isfinite(arrival) and (name not in ends or slack < ends[name].slack_ns):
                ends[name] = Endpoint(name, node, arrival, latest, slack)
        self.setup, self.hold = (
            sorted(ends.values(), key=lambda end: (end.slack_ns, end.name)) for ends in worst
        )

    # ---- paths

    @functools.cached_property
    def by_end(self) -> Groups:
        """The arcs by the node that they lead to."""
        return Groups(self.end, len(self.base))

    def path(self, endpoint: Endpoint, earliest: bool = False) -> TimedPath:
        """The latest (or earliest) path to an endpoint."""
        side = int(earliest)
        arrival = self.arrival[side]
        arcs = []
        node = endpoint.node
        while (into := self.by_end[node]).size and np.isfinite(arrival[node]):
            totals = arrival[self.start[into]] + self.wire[into] + self.arc_delay[side, into]
            arcs.append(int(into[int(totals.argmin() if earliest else totals.argmax())]))
            node = int(self.start[arcs[-1]])
        points = self._points(endpoint, node, arcs[::-1], side)
        return TimedPath(
            start=points[0].name,
            end=endpoint.name,
            slack_ns=round(endpoint.slack_ns, DIGITS),
            arrival_ns=rounded(endpoint.arrival_ns),
            required_ns=rounded(endpoint.required_ns),
            points=points,
        )

    def _points(self, endpoint: Endpoint, start: int, arcs: list[int], side: int) -> list[PathPoint]:
        """The points of a path. A path from a register begins at its clock pin, with what the clock takes to
        get there.
        """
        arrival = self.arrival[side].tolist()
        netlist = self.netlist
        passed = []  # cell, pin, node, when, and whether it drives it
        driver = netlist.driver[start // 2]
        if driver is not None and driver[0] == PORT and not self.in_clock[start // 2]:
            passed.append(("", driver[1], start, arrival[start], True))
        for arc in arcs:
            node, end = int(self.start[arc]), int(self.end[arc])
            if self.in_clock[end // 2]:
                continue
            name = self.names[self.arc_cell[arc]]
            row = self.kinds[netlist.cells[name].kind].rows[self.arc_row[arc]]
            passed.append((name, row.input, node, arrival[node] + float(self.wire[arc]), False))
            passed.append((name, row.output, end, arrival[end], True))
        cell, _, pin = endpoint.name.rpartition("/")
        if cell not in netlist.cells:
            cell, pin = "", endpoint.name
        passed.append((cell, pin, endpoint.node, endpoint.arrival_ns, False))
        starts = [0.0, *(at for *_, at, _ in passed)]
        return [
            PathPoint(
                cell=cell,
                type=netlist.cells[cell].kind if cell else "",
                pin=pin,
                net=netlist.nets[node // 2],
                edge=EDGES[node % 2],
                slew_ns=rounded(float(self.slew[side, node])),
                load_ff=rounded(float(self.load[node])) if drives else None,
                delay_ns=rounded(at - before),
                arrival_ns=rounded(at),
            )
            for (cell, pin, node, at, drives), before in zip(passed, starts, strict=False)
        ]


def analyze(
    netlist: Netlist,
    library: Library,
    constraints: Constraints,
    *,
    wires: WireTable | None = None,
    wire_load: str | None = None,
) -> Timing:
    """Slews, arrivals and slacks of a mapped netlist.

    `wires` gives cap_ff and optionally res_ohm by net. `wire_load` names a model of the library. Without
    either, wires have no capacitance. An unpropagated clock has no delay, and the constraints' slew.
    """
    if wires is not None and wire_load is not None:
        raise BadInput("wires or a wire-load model: not both")
    caps, resistances = np.zeros((2, len(netlist.nets)))  # fF and kohm
    if wire_load is not None:
        if wire_load not in library.wire_loads:
            raise unknown("wire-load model", wire_load, library.wire_loads)
        model = library.wire_loads[wire_load]
        for net, sinks in enumerate(netlist.sinks):
            length = model.length_um(len(sinks))
            caps[net] = length * model.cap_ff_per_um
            resistances[net] = length * model.res_kohm_per_um
    for net, wire in by_net(wires or {}, netlist):
        caps[net] = wire.cap_ff
        resistances[net] = wire.res_ohm / 1000
    return Timing(netlist, library, constraints, (caps, resistances))
