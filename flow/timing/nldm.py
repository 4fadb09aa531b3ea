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

The passes along the arcs are in C++ (kernel.cpp), what is asked about them in numpy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...fl.errors import BadInput, unknown
from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.netlist import PORT, Netlist
from .cells import EDGES, FALL, RISE, Row
from .graph import TimingGraph
from .wire_table import WireTable


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


class Arcs(NamedTuple):
    """All arcs of a netlist: by instance the number of its kind, by kind its edges; by arc the instance, the edge and the delay."""

    names: list[str]
    kind: np.ndarray
    rows: dict[str, list[tuple[str, int, str, int, str]]]  # (input, its edge, output, its edge, condition)
    cell: np.ndarray
    row: np.ndarray
    delay_ns: np.ndarray


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
    _graph: _Analysis = field(repr=False)

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

    def arcs(self) -> Arcs:
        """The delay of every arc, at the slews found here."""
        return self._graph.arcs()

    def arc_delays(self) -> Iterator[tuple[str, str, int, str, int, str, float]]:
        """(instance, input, its edge, output, its edge, condition, delay in ns) of every arc."""
        arcs = self.arcs()
        edges = list(arcs.rows.values())
        columns = (each.tolist() for each in (arcs.cell, arcs.kind[arcs.cell], arcs.row, arcs.delay_ns))
        for cell, kind, row, delay in zip(*columns, strict=True):
            yield (arcs.names[cell], *edges[kind][row], delay)


def analyze(
    netlist: Netlist,
    library: Library,
    constraints: Constraints,
    *,
    wires: WireTable | None = None,
    wire_load: str | None = None,
) -> Timing:
    """Slews, arrivals and slacks of a mapped netlist.

    `wires` has cap_ff, and res_ohm or not, by the name of the net; or `wire_load` is a model of the library; or wires weigh
    nothing. Of a clock that is not propagated the nets have no delay, and the constraints' slew.
    """
    if wires is not None and wire_load is not None:
        raise BadInput("wires or a wire-load model: not both")
    graph = _Analysis(netlist, library, constraints)
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
    netlist: Netlist, library: Library, wires: WireTable | None, wire_load: str | None
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
        known = netlist.aliases.get(name)
        if known is None:
            raise BadInput(
                f"wires are given for {name}, which is no net of {netlist.name}: were they made for another netlist?"
            )
        caps[known], resistances[known] = wire.cap_ff, wire.res_ohm / 1000
    return caps, resistances


class _Check(NamedTuple):
    """A setup (side 0) or hold (side 1) check of one edge at one pin."""

    name: str
    side: int
    node: int
    clock: int
    wire: float
    clock_wire: float
    table: int


class _Analysis(TimingGraph):
    """A graph of which slacks and paths are asked."""

    def wire_delay(self, net: int, cap: float) -> float:
        """From the driver to a sink of this capacitance."""
        return float(self.wire_delays(net, cap))

    def sink_cap(self, kind: str, pin: str, edge: int) -> float:
        each = self.library.cells[kind].pins[pin]
        return each.cap_rise_ff if edge == RISE else each.cap_fall_ff

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

    def row_of(self, arc: int) -> tuple[str, str, Row]:
        """The instance, its kind and the row of an arc."""
        name = self.names[self.arc_cell[arc]]
        kind = self.netlist.cells[name].kind
        return name, kind, self.kinds[kind].rows[self.arc_row[arc]]

    def arcs(self) -> Arcs:
        place = {kind: number for number, kind in enumerate(self.members)}
        return Arcs(
            names=self.names,
            kind=np.array([place[self.netlist.cells[name].kind] for name in self.names], int),
            rows={
                kind: [(row.input, row.start, row.output, row.end, row.when) for row in self.kinds[kind].rows]
                for kind in self.members
            },
            cell=self.arc_cell,
            row=self.arc_row,
            delay_ns=self.arc_delay[0],
        )

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
            totals = arrival[self.start[into]] + self.wire[into] + self.arc_delay[side, into]
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
            name, kind, row = self.row_of(arc)
            at_input = float(arrival[self.start[arc]] + self.wire[arc])
            at = float(arrival[end])
            points.append(
                self._point(
                    name, kind, row.input, int(self.start[arc]), side, at_input - before, at_input, False
                )
            )
            points.append(self._point(name, kind, row.output, end, side, at - at_input, at, True))
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
