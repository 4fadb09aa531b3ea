"""The IR drop of a layout: how far the supply at the cells falls short, as a network of resistors.

Rails and straps have the LEF's resistance per square, arrays of cuts that of their cuts in parallel. Each
cell draws its mean current from the rails at its middle. Both ends of the uppermost straps, or of the rails
of a layout without straps, are at the full supply, as beside a ring. Switching currents, and the pads and
their wires, are not in it.
"""

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ..kit.lef import Lef, dbu
from ..layout.placed import Placed
from ..layout.routing import Wire
from ..layout.supply import PowerVia, power_grid

Node = tuple[str, tuple[int, int]]  # a layer and a point of it, in database units
Resistors = dict[tuple[Node, Node], float]  # in ohm
LEAST_OHM = 1e-4  # vias without a resistance: with less, the solution converges very slowly
EXACT = 1e-6  # of the residual, relative to the currents


def worst_drops(placed: Placed, cell_mw: Mapping[str, float]) -> dict[str, float]:
    """The largest drop at a cell in mV, of power and of ground; cell_mw: the mean power of each cell."""
    lef = placed.lef
    grid = power_grid(placed)
    found = {}
    for net, wires in grid.wires.items():
        currents = _currents(placed, net, cell_mw)
        vias = grid.vias.get(net, [])
        straps = grid.straps.get(net) or wires
        held = {node for wire in straps if wire.layer == straps[-1].layer for node in _ends(wire)}
        drops = solved(resistors(lef, wires, vias, [*currents]), currents, held)
        found[net] = round(max((drops[node] for node in currents), default=0.0), 4)
    return found


def _currents(placed: Placed, net: str, cell_mw: Mapping[str, float]) -> dict[Node, float]:
    """The mean currents in mA out of a net, by the point of its rail."""
    supply = placed.lef.kit.supply
    found: dict[Node, float] = defaultdict(float)
    for name, power in cell_mw.items():
        left, bottom, right, top = placed.box(name)
        upright = placed.placement.instances[name].orient in ("N", "FN")
        y = bottom if upright == (net == supply.ground) else top
        found[supply.rail_layer, (dbu((left + right) / 2), dbu(y))] += power / placed.library.voltage
    return found


def _ends(wire: Wire) -> tuple[Node, Node]:
    return (wire.layer, (wire.x0, wire.y0)), (wire.layer, (wire.x1, wire.y1))


def resistors(
    lef: Lef, wires: list[Wire], vias: list[tuple[PowerVia, int, int]], points: list[Node]
) -> Resistors:
    """The network: pieces of wires between their ends, vias and points, and arrays of cuts between layers."""
    found: Resistors = {}
    lines: dict[tuple[str, int, int], set[Node]] = defaultdict(set)  # by layer, axis and coordinate

    def take(node: Node) -> None:
        for axis, coordinate in enumerate(node[1]):
            lines[node[0], axis, coordinate].add(node)

    for point in points:
        take(point)
    for via, x, y in vias:
        below, cut, above = via.shapes
        ends = (below, (x, y)), (above, (x, y))
        found[ends] = lef.layers[cut].res_ohm / len(via.shapes[cut])
        for node in ends:
            take(node)
    for wire in wires:
        start, end = _ends(wire)
        across, along = (0, 1) if wire.x0 == wire.x1 else (1, 0)
        first, last = start[1][along], end[1][along]
        middles = (start[1][across] + shift for shift in (-1, 0, 1))  # those of crossings are rounded
        beside = (node for middle in middles for node in lines[wire.layer, across, middle])
        inside = {node for node in beside if first <= node[1][along] <= last} | {start, end}
        for one, other in pairwise(sorted(inside, key=lambda node: node[1][along])):
            squares = (abs(one[1][0] - other[1][0]) + abs(one[1][1] - other[1][1])) / wire.width
            found[one, other] = lef.layers[wire.layer].res_ohm * squares
    return found


def solved(network: Resistors, currents: Mapping[Node, float], held: set[Node]) -> dict[Node, float]:
    """The drop of each node in mV: conjugate gradients on the conductances, with those held at 0."""
    numbers = {node: number for number, node in enumerate(dict.fromkeys(n for ends in network for n in ends))}
    first, second = (np.array([numbers[ends[side]] for ends in network]) for side in (0, 1))
    conductance = 1 / np.maximum(np.array([*network.values()]), LEAST_OHM)
    size = len(numbers)
    free = np.ones(size)
    free[[numbers[node] for node in held]] = 0

    def flows(drop: np.ndarray) -> np.ndarray:
        through = conductance * (drop[first] - drop[second])
        return free * (np.bincount(first, through, size) - np.bincount(second, through, size))

    diagonal = np.bincount(first, conductance, size) + np.bincount(second, conductance, size)
    drop, residual = np.zeros(size), np.zeros(size)
    for node, current in currents.items():
        residual[numbers[node]] += current
    residual *= free
    enough = EXACT * np.abs(residual).sum()
    direction = scaled = residual / diagonal
    product = residual @ scaled
    while np.abs(residual).sum() > enough:
        flow = flows(direction)
        step = product / (direction @ flow)
        drop += step * direction
        residual -= step * flow
        scaled = residual / diagonal
        before, product = product, residual @ scaled
        direction = scaled + product / before * direction
    return dict(zip(numbers, drop.tolist(), strict=True))
