"""Wires: length, capacitance and resistance of every net, from placement, from routing or from the Liberty's
model.

Placement: a rectilinear Steiner tree over the pins of a net (a minimum spanning tree by Prim, then median
points between pairs of neighbouring edges while that saves wire, as Borah, Owens and Irwin, IEEE TCAD 13(12),
1994), its horizontal and its vertical wire on the layers that the kit names. Routing: the same tree,
stretched to the length that the router took, or the routed layers themselves.

Per um a wire has the LEF's resistance (RPERSQ / WIDTH) and the LEF's capacitance (area and two edges) to what
is below. The LEF leaves out the neighbours on the same layer: a wall of THICKNESS at SPACING is added on one
side of the two, as if half of the tracks beside it were taken. That makes 0.097 fF/um on the lower layers of
FreePDK45; OpenROAD's extraction of routed designs in this technology found 0.083 and 0.105
(OpenROAD-flow-scripts, platforms/nangate45/setRC.tcl). The Liberty's wire-load unit, 0.177 fF/um and 3.57
ohm/um, is a pessimist's.

wires.json: {net: {cap_ff, res_ohm, length_um, source}}, pin capacitances not included, res_ohm all of the
wire in a row. wires.spef: the same as trees of resistors with pins where they are, so that each sink has its
own delay.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import msgspec

from .. import product
from ..files import replace_text
from ..kit.kit import Kit
from ..kit.lef import Lef, Point
from ..kit.liberty import Arc, Cell, Library
from ..netlist.netlist import PORT, Netlist, Terminal
from ..product import Product
from ..timing import spef, wire_table
from ..timing.wire_table import NetWire, Source
from .placement import TREE, Placement
from .routing import Routing

EPSILON_0 = 8.854e-3  # fF/um


@dataclass(frozen=True)
class Unit:
    """A wire of one um."""

    cap_ff: float
    res_ohm: float


def layer_units(lef: Lef) -> dict[str, Unit]:
    """Capacitance and resistance of the routing layers, of wires as narrow as they may be."""
    units, wiring = {}, lef.kit.layers
    for layer in lef.routing:
        edge = wiring.cap_edge.get(layer.name, layer.cap_edge)
        ground = (layer.cap_area * layer.width + 2 * edge) * 1000
        wall = EPSILON_0 * wiring.dielectric * layer.thickness / layer.spacing
        units[layer.name] = Unit(ground + wall, layer.res_ohm / layer.width)
    return units


@dataclass
class Tree:
    """A net's wires: `points` are its terminals in their order, then Steiner points; `edges` join them."""

    points: list[Point]
    edges: list[tuple[int, int]]

    @property
    def length(self) -> float:
        """In um."""
        return sum(distance(self.points[a], self.points[b]) for a, b in self.edges)


def distance(a: Point, b: Point) -> float:
    """Of a wire between two points."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def half_perimeter(points: list[Point]) -> float:
    """Of the box around the points (HPWL), the placers' own measure."""
    xs, ys = zip(*points, strict=True)
    return max(xs) - min(xs) + max(ys) - min(ys)


def steiner_tree(points: list[Point]) -> Tree:
    """A short rectilinear tree over the points."""
    edges = spanning_edges(points)
    points = list(points)
    neighbours: list[set[int]] = [set() for _ in points]
    for a, b in edges:
        neighbours[a].add(b)
        neighbours[b].add(a)
    heap: list[tuple[float, int, int, int]] = []

    def offer(v: int) -> None:
        around = sorted(neighbours[v])
        for index, a in enumerate(around):
            for b in around[index + 1 :]:
                gain = distance(points[v], _median(points[v], points[a], points[b]))
                if gain > 1e-9:
                    heapq.heappush(heap, (-gain, v, a, b))

    for v in range(len(points)):
        offer(v)
    while heap:
        _, v, a, b = heapq.heappop(heap)
        if a not in neighbours[v] or b not in neighbours[v]:
            continue
        s = len(points)
        points.append(_median(points[v], points[a], points[b]))
        neighbours.append({v, a, b})
        for end in (a, b):
            neighbours[v].discard(end)
            neighbours[end].discard(v)
            neighbours[end].add(s)
        neighbours[v].add(s)
        for changed in (v, a, b, s):
            offer(changed)
    return Tree(points, [(a, b) for a, around in enumerate(neighbours) for b in sorted(around) if a < b])


def _median(a: Point, b: Point, c: Point) -> Point:
    return sorted((a[0], b[0], c[0]))[1], sorted((a[1], b[1], c[1]))[1]


def spanning_edges(points: list[Point]) -> list[tuple[int, int]]:
    """Prim's minimum spanning tree."""
    rest = {index: (distance(points[0], point), 0) for index, point in enumerate(points) if index}
    edges = []
    while rest:
        nearest = min(rest, key=rest.__getitem__)
        edges.append((rest.pop(nearest)[1], nearest))
        x, y = points[nearest]
        for index, (known, _) in rest.items():
            ox, oy = points[index]
            far = abs(ox - x) + abs(oy - y)
            if far < known:
                rest[index] = (far, nearest)
    return edges


def terminal_positions(
    placement: Placement, netlist: Netlist, lef: Lef, nets: Collection[int] | None = None
) -> Iterator[tuple[int, list[Terminal], list[Point]]]:
    """For every net (of these) that has a wire: its terminals, the driver first, and where they are (um)."""
    for net in range(len(netlist.nets)) if nets is None else sorted(nets):
        driver = netlist.driver[net]
        if net in netlist.constants or driver is None or not netlist.sinks[net]:
            continue
        terminals = [driver, *netlist.sinks[net]]
        yield net, terminals, [position(placement, lef, terminal) for terminal in terminals]


def position(placement: Placement, lef: Lef, terminal: Terminal) -> Point:
    """Where a pin of a placed cell, or of a port, is."""
    owner, pin = terminal
    if owner == PORT:
        port = placement.pins[pin]
        return port.x_um, port.y_um
    instance = placement.instances[owner]
    macro = lef.macro(instance.kind)
    x, y = macro.placed(instance.orient, *macro.pins[pin].centre)
    return instance.x_um + x, instance.y_um + y


@dataclass
class Wire:
    """A net as the estimators and OpenSTA see it."""

    net: int
    terminals: list[Terminal]
    tree: Tree
    stretch: float  # length taken / length of the tree
    resistances: list[float] = field(default_factory=list)  # ohm, of the tree's edges
    capacitances: list[float] = field(default_factory=list)  # fF, likewise
    length_um: float = 0.0

    @property
    def cap_ff(self) -> float:
        """Of the wire, without pins."""
        return sum(self.capacitances)

    def delays_ps(self, loads: list[float]) -> list[float]:
        """Elmore's delay of the wire from the driver to each terminal; `loads` are the terminals'
        capacitances in fF.
        """
        count = len(self.tree.points)
        around: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        below = [*loads, *[0.0] * (count - len(loads))]
        for index, (a, b) in enumerate(self.tree.edges):
            around[a].append((b, index))
            around[b].append((a, index))
            below[a] += self.capacitances[index] / 2
            below[b] += self.capacitances[index] / 2
        order, parent = [0], {0: (-1, -1)}
        for node in order:
            for other, edge in around[node]:
                if other not in parent:
                    parent[other] = (node, edge)
                    order.append(other)
        for node in reversed(order[1:]):
            below[parent[node][0]] += below[node]
        delay = [0.0] * count
        for node in order[1:]:
            up, edge = parent[node]
            delay[node] = delay[up] + self.resistances[edge] * below[node] * 1e-3  # ohm fF = 1e-3 ps
        return delay[: len(loads)]


def wires_of(
    netlist: Netlist,
    placement: Placement,
    lef: Lef,
    *,
    lengths_um: dict[str, float] | None = None,
    nets: Collection[int] | None = None,
) -> list[Wire]:
    """Every net (of these) as a tree of wires; with the lengths that a router took, where it took more than
    the tree.
    """
    units = layer_units(lef)
    across, along = units[lef.kit.layers.horizontal], units[lef.kit.layers.vertical]
    wires = []
    for net, terminals, points in terminal_positions(placement, netlist, lef, nets):
        tree = steiner_tree(points)
        length = tree.length
        taken = max(length, (lengths_um or {}).get(netlist.nets[net], 0.0))
        wire = Wire(net, terminals, tree, taken / length if length else 1.0)
        for a, b in tree.edges:
            dx = abs(tree.points[a][0] - tree.points[b][0]) * wire.stretch
            dy = abs(tree.points[a][1] - tree.points[b][1]) * wire.stretch
            wire.capacitances.append(dx * across.cap_ff + dy * along.cap_ff)
            wire.resistances.append(dx * across.res_ohm + dy * along.res_ohm)
        wire.length_um = taken
        wires.append(wire)
    return wires


class BesideModel(msgspec.Struct):
    """What the library's wire-load model guesses for the same nets."""

    name: str
    cap_ff: float
    of_model: float | None  # ours / the model's


class ClockWires(msgspec.Struct, omit_defaults=True):
    """When the clock comes to the registers: the latest is the latency, and what is between it and the first
    the skew.
    """

    sinks: int
    gated_sinks: int = 0
    buffers: int = 0
    gates_copied: int = 0
    levels: int = 0
    latency_ps: float = 0.0
    mean_latency_ps: float = 0.0
    skew_ps: float = 0.0
    slew_ps: float = 0.0
    gated_latency_ps: float | None = None
    wire_um: float = 0.0


class WiresSummary(Product):
    """All wires together: wires_summary.json."""

    FILE: ClassVar[str] = "wires_summary.json"
    STEP: ClassVar[str] = "route"

    source: Source
    nets: int
    length_um: float
    half_perimeter_um: float
    cap_ff: float
    mean_cap_ff: float
    wire_load_model: BesideModel
    clock_tree: ClockWires


def table(wires: list[Wire], netlist: Netlist, source: Source = "placement") -> dict[str, NetWire]:
    """As the analyses take them."""
    return {
        netlist.nets[wire.net]: NetWire(wire.cap_ff, sum(wire.resistances), wire.length_um, source)
        for wire in wires
    }


def extract(
    placement: Placement, netlist: Netlist, files: Kit, out_dir: Path, routing: Routing | None = None
) -> WiresSummary:
    """Write wires.json, wires.spef and wires_summary.json of a placed (and routed) netlist; returns the
    summary.
    """
    library = files.library
    source: Source = "placement" if routing is None else "routing"
    lengths = {name: net.length_um for name, net in routing.nets.items()} if routing else None
    wires = wires_of(netlist, placement, files.geometry, lengths_um=lengths)
    rounded = {
        name: NetWire(round(wire.cap_ff, 4), round(wire.res_ohm, 3), round(wire.length_um, 3), source)
        for name, wire in table(wires, netlist).items()
    }
    tree = clock_tree(wires, netlist, library, placement)
    summary = summarize(wires, library, source, tree)
    product.write(out_dir / wire_table.FILE, rounded)
    replace_text(out_dir / "wires.spef", spef_trees(wires, netlist))
    summary.write(out_dir)
    return summary


def summarize(wires: list[Wire], library: Library, source: Source, tree: ClockWires) -> WiresSummary:
    """All wires together, and beside them what the Liberty's wire-load model guesses for the same nets."""
    model = library.wire_loads[library.default_wire_load]
    guessed = sum(model.cap_ff(len(wire.terminals) - 1) for wire in wires)
    total = sum(wire.cap_ff for wire in wires)
    perimeters = (half_perimeter(wire.tree.points[: len(wire.terminals)]) for wire in wires)
    return WiresSummary(
        source=source,
        nets=len(wires),
        length_um=round(sum(wire.length_um for wire in wires), 1),
        half_perimeter_um=round(sum(perimeters), 1),
        cap_ff=round(total, 1),
        mean_cap_ff=round(total / max(len(wires), 1), 3),
        wire_load_model=BesideModel(
            name=model.name,
            cap_ff=round(guessed, 1),
            of_model=round(total / guessed, 3) if guessed else None,
        ),
        clock_tree=tree,
    )


@dataclass(frozen=True)
class Arrival:
    """The clock at a pin: the rising edge by the cells' tables and the wires' Elmore delays."""

    at_ps: float
    slew_ns: float  # of whoever drives it
    gated: bool


def clock_output(cell: Cell, pin: str) -> str | None:
    """The output that a clock at a pin goes on to: through clock gates, buffers and inverters; other gates
    may make data of it.
    """
    if cell.clock_gate:
        return cell.clock_gate.output if pin == cell.clock_gate.clock else None
    return None if cell.sequential or len(cell.inputs) != 1 else cell.outputs[0]


def clock_arc(cell: Cell, pin: str, output: str) -> Arc | None:
    """How a rising clock passes a cell."""
    arcs = (arc for arc in cell.pins[output].timing if arc.related == pin)
    return next((arc for arc in arcs if arc.cell_rise and arc.rise_transition), None)


def clock_arrivals(
    by_net: Mapping[int, Wire], netlist: Netlist, library: Library, root: int
) -> dict[Terminal, Arrival]:
    """The clock at all pins that it reaches from the net `root`, through whatever cells have a wire behind
    them.
    """
    found: dict[Terminal, Arrival] = {}
    front = [(root, Arrival(0.0, library.surroundings.clock_slew_ns, False))]
    while front:
        net, before = front.pop()
        wire = by_net.get(net)
        if wire is None:
            continue
        delays = wire.delays_ps([pin_cap(netlist, library, terminal) for terminal in wire.terminals])
        for index, terminal in enumerate(wire.terminals[1:], 1):
            arrival = Arrival(before.at_ps + delays[index], before.slew_ns, before.gated)
            found[terminal] = arrival
            instance = netlist.cells.get(terminal[0])
            if instance is None:
                continue
            cell = library.cells[instance.kind]
            output = clock_output(cell, terminal[1])
            below = by_net.get(instance.pins.get(output, -1)) if output else None
            arc = clock_arc(cell, terminal[1], output) if output else None
            if arc is None or below is None or arc.cell_rise is None or arc.rise_transition is None:
                continue
            load = below.cap_ff + sum(pin_cap(netlist, library, end) for end in below.terminals[1:])
            at = arrival.at_ps + 1000 * arc.cell_rise.at(arrival.slew_ns, load)
            slew = arc.rise_transition.at(arrival.slew_ns, load)
            gated = arrival.gated or cell.clock_gate is not None
            front.append((below.net, Arrival(at, slew, gated)))
    return found


def clock_tree(wires: list[Wire], netlist: Netlist, library: Library, placement: Placement) -> ClockWires:
    """When the clock comes to the registers, gated or not."""
    tree = placement.clock_tree
    if tree.root is None:
        return ClockWires(0)
    by_net = {wire.net: wire for wire in wires}
    arrivals = {
        (name, pin): clock_arrival
        for (name, pin), clock_arrival in clock_arrivals(
            by_net, netlist, library, netlist.net(tree.root)
        ).items()
        if name != PORT
        and library.cells[netlist.cells[name].kind].pins[pin].clock
        and not library.cells[netlist.cells[name].kind].clock_gate
    }
    if not arrivals:
        return ClockWires(0)
    times = [arrival.at_ps for arrival in arrivals.values()]
    gated = [arrival.at_ps for arrival in arrivals.values() if arrival.gated]
    clock_nets = [net for net in by_net if _is_clock(netlist, net, tree.root)]
    return ClockWires(
        sinks=len(arrivals),
        gated_sinks=len(gated),
        buffers=tree.buffers,
        gates_copied=tree.gates_copied,
        levels=tree.levels,
        latency_ps=round(max(times), 2),
        mean_latency_ps=round(sum(times) / len(times), 2),
        skew_ps=round(max(times) - min(times), 2),
        slew_ps=round(1000 * max(arrival.slew_ns for arrival in arrivals.values()), 2),
        gated_latency_ps=round(max(gated), 2) if gated else None,
        wire_um=round(sum(by_net[net].length_um for net in clock_nets), 1),
    )


def _is_clock(netlist: Netlist, net: int, root: str) -> bool:
    driver = netlist.driver[net]
    return netlist.nets[net] == root or (driver is not None and driver[0].startswith(f"{TREE}."))


def pin_cap(netlist: Netlist, library: Library, terminal: Terminal) -> float:
    """Of a pin of a cell in fF; a port has none of its own."""
    owner, pin = terminal
    if owner == PORT:
        return 0.0
    return library.cells[netlist.cells[owner].kind].pins[pin].cap_ff or 0.0


def spef_trees(wires: list[Wire], netlist: Netlist) -> str:
    """The wires in the Standard Parasitic Exchange Format, a tree of resistors each."""
    parts = [spef.HEADER.format(name=netlist.name)]
    for wire in wires:
        name = netlist.nets[wire.net]
        spelled = spef.escaped(name, name in netlist.bus_bits)
        nodes, connections = [], []
        for terminal in wire.terminals:
            nodes.append(spef.terminal_name(netlist, terminal))
            drives = terminal == netlist.driver[wire.net]
            # a port is seen from inside: an input drives
            kind, way = ("*P", "IO"[not drives]) if terminal[0] == PORT else ("*I", "IO"[drives])
            connections.append(f"{kind} {nodes[-1]} {way}")
        nodes += [f"{spelled}:{index}" for index in range(1, len(wire.tree.points) - len(nodes) + 1)]
        caps = [0.0] * len(nodes)
        for (a, b), cap in zip(wire.tree.edges, wire.capacitances, strict=True):
            caps[a] += cap / 2
            caps[b] += cap / 2
        parts += [f"*D_NET {spelled} {wire.cap_ff:.4f}", "*CONN", *connections, "*CAP"]
        parts += [
            f"{index} {node} {cap:.5f}" for index, (node, cap) in enumerate(zip(nodes, caps, strict=True), 1)
        ]
        parts.append("*RES")
        parts += [
            f"{index} {nodes[a]} {nodes[b]} {max(ohm, spef.LEAST_OHM):.4g}"
            for index, ((a, b), ohm) in enumerate(zip(wire.tree.edges, wire.resistances, strict=True), 1)
        ]
        parts += ["*END", ""]
    return "\n".join(parts) + "\n"
