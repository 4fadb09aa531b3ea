"""Wires: length, capacitance and resistance of every net, from placement, from routing or from the Liberty's
model.

Placement: a rectilinear Steiner tree over the pins of a net (a minimum spanning tree by Prim, then median
points between pairs of neighbouring edges while that saves wire, as Borah, Owens and Irwin, IEEE TCAD 13(12),
1994), its horizontal and its vertical wire on the layers that the kit names. Global routing: the same tree,
stretched to the length that the router took, per um with the mean of the net's layers. Detailed routing: the
wires and vias themselves, with the values of their layers.

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

import functools
import heapq
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, pairwise
from operator import mul
from pathlib import Path
from typing import NamedTuple

import msgspec

from .. import product
from ..files import replace_text
from ..kit.lef import DBU, Lef, Point, dbu
from ..kit.liberty import Cell
from ..netlist.netlist import PORT, Netlist, Terminal
from ..product import Product
from ..timing import wire_table
from ..timing.wire_table import NetWire, Source
from .placed import Placed
from .routing import RoutedNet, Routing, Segment

EPSILON_0 = 8.854e-3  # fF/um
NEIGHBOURS = [(column, row) for column in (-1, 0, 1) for row in (-1, 0, 1)]  # of a square, with itself


class Unit(NamedTuple):
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
        units[layer.name] = Unit(layer.cap_ff or ground + wall, layer.res_ohm / layer.width)
    return units


@dataclass
class Tree:
    """A net's wires: `points` are its terminals in their order, then Steiner points; `edges` join them."""

    points: list[Point]
    edges: list[tuple[int, int]]

    @property
    def length(self) -> float:
        """The length in um."""
        return sum(distance(self.points[a], self.points[b]) for a, b in self.edges)


def distance(a: Point, b: Point) -> float:
    """The length of a wire between two points."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def steiner_tree(points: list[Point]) -> Tree:
    """A short rectilinear tree over the points."""
    neighbours: list[set[int]] = [set() for _ in points]
    for a, b in spanning_edges(points):
        neighbours[a].add(b)
        neighbours[b].add(a)
    points = list(points)
    heap: list[tuple[float, int, int, int]] = []

    def offer(v: int) -> None:
        for a, b in combinations(sorted(neighbours[v]), 2):
            gain = distance(points[v], _median(points[v], points[a], points[b]))
            if gain > 1e-9:
                heapq.heappush(heap, (-gain, v, a, b))

    for v in range(len(points)):
        offer(v)
    while heap:
        _, v, a, b = heapq.heappop(heap)
        if not {a, b} <= neighbours[v]:
            continue
        s = len(points)
        points.append(_median(points[v], points[a], points[b]))
        neighbours.append({v, a, b})
        for end in (a, b):
            neighbours[v].remove(end)
            neighbours[end].remove(v)
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
        for index, (known, _) in rest.items():
            if (far := distance(points[index], points[nearest])) < known:
                rest[index] = (far, nearest)
    return edges


def terminal_positions(
    placed: Placed, nets: Collection[int] | None = None
) -> Iterator[tuple[int, list[Terminal], list[Point]]]:
    """For every net (of these) that has a wire: its terminals, the driver first, and where they are (um)."""
    netlist = placed.netlist
    for net in range(len(netlist.nets)) if nets is None else sorted(nets):
        driver, sinks = netlist.driver[net], netlist.sinks[net]
        if driver is not None and sinks and net not in netlist.constants:
            terminals = [driver, *sinks]
            yield net, terminals, [placed.position(terminal) for terminal in terminals]


@dataclass
class Wire:
    """A net as the estimators and OpenSTA see it."""

    net: int
    terminals: list[Terminal]
    loads_ff: list[float]  # of the pins at the terminals
    tree: Tree
    length_um: float
    resistances: list[float] = field(default_factory=list)  # ohm, of the tree's edges
    capacitances: list[float] = field(default_factory=list)  # fF, likewise

    @property
    def cap_ff(self) -> float:
        """The capacitance of the wire, without pins."""
        return sum(self.capacitances)

    @property
    def load_ff(self) -> float:
        """The load of the driver: the wire and the pins that read it."""
        return self.cap_ff + sum(self.loads_ff[1:])

    @functools.cached_property
    def branches(self) -> list[tuple[int, int, int]]:
        """(point, the point before it, the edge between them) of the tree, from the driver on."""
        around: list[list[tuple[int, int]]] = [[] for _ in self.tree.points]
        for edge, (a, b) in enumerate(self.tree.edges):
            around[a].append((b, edge))
            around[b].append((a, edge))
        found = [(0, -1, -1)]
        for point, before, _ in found:  # grows
            found += [(other, point, edge) for other, edge in around[point] if other != before]
        return found[1:]

    def at_points(self, loads_ff: Sequence[float] = ()) -> list[float]:
        """Return the capacitance at each point: half of each edge at its ends, and loads at terminals."""
        found = [*loads_ff, *[0.0] * (len(self.tree.points) - len(loads_ff))]
        for (a, b), cap in zip(self.tree.edges, self.capacitances, strict=True):
            found[a] += cap / 2
            found[b] += cap / 2
        return found

    def delays_ps(self) -> list[float]:
        """Elmore's delay of the wire from the driver to each terminal."""
        below = self.at_points(self.loads_ff)
        for point, before, _ in reversed(self.branches):
            below[before] += below[point]
        delay = [0.0] * len(below)
        for point, before, edge in self.branches:
            delay[point] = delay[before] + self.resistances[edge] * below[point] * 1e-3  # ohm fF = 1e-3 ps
        return delay[: len(self.terminals)]


def wires_of(
    placed: Placed, *, routed: Mapping[str, RoutedNet] | None = None, nets: Collection[int] | None = None
) -> list[Wire]:
    """Every net (of these) as a tree of wires: as it is routed in detail, or else a Steiner tree on the
    layers of the global routing, stretched to its length if that is more.
    """
    units = layer_units(placed.lef)
    layers = placed.lef.kit.layers
    wires = []
    for net, terminals, points in terminal_positions(placed, nets):
        loads = list(map(placed.pin_cap, terminals))
        way = routed[placed.netlist.nets[net]] if routed else None
        if way and (detailed := _in_detail(placed.lef, units, way, terminals, points)):
            tree, *values = detailed
            wires.append(Wire(net, terminals, loads, tree, way.length_um, *values))
            continue
        tree = steiner_tree(points)
        length = tree.length
        taken = max(length, way.length_um) if way else length * layers.detour
        stretch = taken / length if length else 1.0
        wire = Wire(net, terminals, loads, tree, taken)
        pieces = way.segments if way else []
        across = _mean(units, [piece for piece in pieces if piece[1] != piece[3]], layers.horizontal)
        along = _mean(units, [piece for piece in pieces if piece[1] == piece[3]], layers.vertical)
        for a, b in tree.edges:
            dx, dy = (abs(p - q) * stretch for p, q in zip(tree.points[a], tree.points[b], strict=True))
            wire.capacitances.append(dx * across.cap_ff + dy * along.cap_ff)
            wire.resistances.append(dx * across.res_ohm + dy * along.res_ohm)
        wires.append(wire)
    return wires


def _mean(units: Mapping[str, Unit], pieces: Sequence[Segment], usual: str) -> Unit:
    """The mean of these pieces' layers, by length; that of the usual layer if they are on no other one."""
    if all(layer == usual for layer, *_ in pieces):
        return units[usual]
    lengths = [abs(x1 - x0) + abs(y1 - y0) for _, x0, y0, x1, y1 in pieces]
    values = zip(*(units[layer] for layer, *_ in pieces), strict=True)
    return Unit(*(sum(map(mul, row, lengths)) / sum(lengths) for row in values))


Node = tuple[str, int, int]  # a layer, and where on it in database units


def _in_detail(
    lef: Lef,
    units: Mapping[str, Unit],
    routed: RoutedNet,
    terminals: list[Terminal],
    points: list[Point],
) -> tuple[Tree, list[float], list[float]] | None:
    """The routed wires of a net as a tree, the resistances and the capacitances of its edges; None if the net
    is not routed in detail. A pin of a cell is at the nearest end on the lowest layer, a port at the nearest
    on any.
    """
    edges = list(_routed_edges(lef, units, routed))
    if not edges:
        return None
    places = list(dict.fromkeys(node for a, b, _ in edges for node in (a, b)))
    lowest = next(name for name in lef.layers if any(node[0] == name for node in places))
    low = [node for node in places if node[0] == lowest]
    index = {node: number for number, node in enumerate(places, len(points))}
    up = list(range(len(points) + len(places)))
    kept = []

    def root(number: int) -> int:
        while up[number] != number:
            up[number] = up[up[number]]
            number = up[number]
        return number

    for number, ((owner, _), (x, y)) in enumerate(zip(terminals, points, strict=True)):
        at = dbu(x), dbu(y)
        nearest = min(places if owner == PORT else low, key=lambda node: distance(node[1:], at))
        kept.append((number, index[nearest], Unit(0.0, 0.0)))
        up[number] = index[nearest]
    for a, b, unit in chain(edges, _overlaps(lef, places)):
        one, other = root(index[a]), root(index[b])
        if one != other:
            up[one] = other
            kept.append((index[a], index[b], unit))
    tree = Tree(points + [(x / DBU, y / DBU) for _, x, y in places], [(a, b) for a, b, _ in kept])
    return tree, [unit.res_ohm for *_, unit in kept], [unit.cap_ff for *_, unit in kept]


def _overlaps(lef: Lef, places: list[Node]) -> Iterator[tuple[Node, Node, Unit]]:
    """Ends on a layer that are nearer than two tracks: the vias of a pin, which metal between them joins."""
    near = defaultdict[tuple[str, int, int], list[Node]](list)
    for node in places:
        layer, x, y = node
        reach = 2 * dbu(lef.layers[layer].pitch)
        for column, row in NEIGHBOURS:
            for other in near[layer, x // reach + column, y // reach + row]:
                if distance(node[1:], other[1:]) < reach:
                    yield other, node, Unit(0.0, 0.0)
        near[layer, x // reach, y // reach].append(node)


def _routed_edges(
    lef: Lef, units: Mapping[str, Unit], routed: RoutedNet
) -> Iterator[tuple[Node, Node, Unit]]:
    """The wires between neighbouring junctions on a layer, and the vias."""
    layers = list(lef.layers.values())
    junctions = defaultdict[str, set[tuple[int, int]]](set)
    for layer, *ends in routed.wires:
        x0, y0, x1, y1 = map(dbu, ends)
        junctions[layer] |= {(x0, y0), (x1, y1)}
    for _, layer, x, y in routed.vias:
        cut, upper = layers[layers.index(lef.layers[layer]) + 1 :][:2]
        at = dbu(x), dbu(y)
        for name in (layer, upper.name):
            junctions[name].add(at)
        yield (layer, *at), (upper.name, *at), Unit(0.0, cut.res_ohm)
    for layer, *ends in routed.wires:
        x0, y0, x1, y1 = map(dbu, ends)
        (left, right), (bottom, top) = sorted((x0, x1)), sorted((y0, y1))
        on = sorted((x, y) for x, y in junctions[layer] if left <= x <= right and bottom <= y <= top)
        for a, b in pairwise(on):
            length = distance(a, b) / DBU
            yield (layer, *a), (layer, *b), Unit(*(length * value for value in units[layer]))


class ClockWires(msgspec.Struct, omit_defaults=True):
    """Arrival of the clock at the registers: the latest arrival is the latency, and the difference to the
    earliest one is the skew.
    """

    sinks: int
    latency_ps: float = 0.0
    mean_latency_ps: float = 0.0
    skew_ps: float = 0.0
    slew_ps: float = 0.0


class WiresSummary(Product):
    """All wires together: wires_summary.json."""

    FILE = "wires_summary.json"
    STEP = "route"

    source: Source
    nets: int
    length_um: float
    cap_ff: float
    clock_tree: ClockWires


def table(wires: list[Wire], netlist: Netlist) -> dict[str, NetWire]:
    """The wires of a placement as the analyses read them."""
    return {
        netlist.nets[wire.net]: NetWire(wire.cap_ff, sum(wire.resistances), wire.length_um, "placement")
        for wire in wires
    }


def extract(placed: Placed, out_dir: Path, routing: Routing | None = None) -> WiresSummary:
    """Write wires.json, wires.spef and wires_summary.json of a placed (and routed) netlist."""
    source: Source = "placement" if routing is None else "routing"
    wires = wires_of(placed, routed=routing.nets if routing else None)
    rounded = {
        name: NetWire(round(wire.cap_ff, 4), round(wire.res_ohm, 3), round(wire.length_um, 3), source)
        for name, wire in table(wires, placed.netlist).items()
    }
    product.write(out_dir / wire_table.FILE, rounded)
    # in the Standard Parasitic Exchange Format each wire is a tree of resistors
    trees = (
        (wire, ((*edge, ohm) for edge, ohm in zip(wire.tree.edges, wire.resistances, strict=True)))
        for wire in wires
    )
    nets = (wire_table.section(placed.netlist, wire.net, wire.at_points(), tree) for wire, tree in trees)
    replace_text(out_dir / wire_table.SPEF, wire_table.document(placed.netlist, nets))
    summary = WiresSummary(
        source=source,
        nets=len(wires),
        length_um=round(sum(wire.length_um for wire in wires), 1),
        cap_ff=round(sum(wire.cap_ff for wire in wires), 1),
        clock_tree=clock_tree(wires, placed),
    )
    summary.write(out_dir)
    return summary


class Arrival(NamedTuple):
    """The clock at a pin: the rising edge by the cells' tables and the wires' Elmore delays."""

    at_ps: float
    slew_ns: float  # of the pin's driver


def clock_output(cell: Cell, pin: str) -> str | None:
    """The output that a clock at a pin goes on to: through clock gates, buffers and inverters; other gates
    may make data of it.
    """
    if cell.clock_gate:
        return cell.clock_gate.output if pin == cell.clock_gate.clock else None
    return cell.outputs[0] if cell.outputs and not cell.sequential and len(cell.inputs) == 1 else None


def clock_through(
    cell: Cell, pin: str, output: str, slew_ns: float, load_ff: float
) -> tuple[float, float] | None:
    """A rising clock through a cell: its delay in ps and its slew in ns; None without a table for it."""
    for arc in cell.pins[output].timing:
        if arc.related == pin and arc.cell_rise and arc.rise_transition:
            return 1000 * arc.cell_rise.at(slew_ns, load_ff), arc.rise_transition.at(slew_ns, load_ff)
    return None


def clock_arrivals(wires: list[Wire], placed: Placed, root: int) -> dict[Terminal, Arrival]:
    """The clock at all pins that it reaches from the net `root`, through cells with a wire behind them."""
    by_net = {wire.net: wire for wire in wires}
    found = {}
    front = [(root, Arrival(0.0, placed.library.kit.constraints.clock_slew_ns))]
    while front:
        net, before = front.pop()
        if (wire := by_net.get(net)) is None:
            continue
        for terminal, delay in zip(wire.terminals[1:], wire.delays_ps()[1:], strict=True):
            at_ps = before.at_ps + delay
            found[terminal] = Arrival(at_ps, before.slew_ns)
            name, pin = terminal
            if name == PORT:
                continue
            cell = placed.cell(name)
            output = clock_output(cell, pin) or ""
            below = by_net.get(placed.netlist.cells[name].pins.get(output, -1))
            if below and (passed := clock_through(cell, pin, output, before.slew_ns, below.load_ff)):
                front.append((below.net, Arrival(at_ps + passed[0], passed[1])))
    return found


def clock_tree(wires: list[Wire], placed: Placed) -> ClockWires:
    """When the clock comes to the registers, gated or not."""
    root = placed.placement.clock_tree.root
    reached = {} if root is None else clock_arrivals(wires, placed, placed.netlist.net(root))
    arrivals = [
        arrival
        for (name, pin), arrival in reached.items()
        if name != PORT and placed.cell(name).pins[pin].clock and not placed.cell(name).clock_gate
    ]
    if not arrivals:
        return ClockWires(0)
    times = [arrival.at_ps for arrival in arrivals]
    return ClockWires(
        sinks=len(arrivals),
        latency_ps=round(max(times), 2),
        mean_latency_ps=round(sum(times) / len(times), 2),
        skew_ps=round(max(times) - min(times), 2),
        slew_ps=round(1000 * max(arrival.slew_ns for arrival in arrivals), 2),
    )
