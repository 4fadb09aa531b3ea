"""Detailed routing: every wire and via, on the tracks of the layers for signals above the cells, near the
global routing.

Tracks have the pitch of the lowest layer of their direction or a multiple of it, as the kit says
([[routing.layers]]), and a layer has nodes where its tracks cross those of the layers below and above. Wires
keep to the preferred direction of their layer. What the grid cannot see of the rules, ends of wires that meet
on a track and cuts side by side, is kept by distances that two nets, or two vias of one, need there: they
follow from the LEF. Pins are met by a via whose lower metal lies inside the pin, or else keeps its distance
to everything else in the cell. detailed_router.cpp does the search.
"""

import math
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

from ...rtl.sim.toolchain import ToolError
from ..kit.lef import DBU, Lef, Macro, Polygon, dbu
from ..netlist.netlist import PORT
from . import subprocess_engine
from .placed import Placed
from .placement import Placement, PortPin
from .routing import InDetail, Ways, Wire
from .wires import spanning_edges, terminal_positions

SOURCE = Path(__file__).with_name("detailed_router.cpp")
MOST_CELLS = 80_000  # unless asked otherwise: 55,000 take seven minutes of the processor
FEW_CELLS = 10_000  # up to which it is tried even where global routing found no room for all
ROUNDS, SECONDS = 250, 1800  # of the processor, which a busy machine does not change

Node = tuple[int, int, int]  # layer (0 is the lowest), column, row
Piece = tuple[int, int, int, int]  # columns and rows of its ends
Access = tuple[int, int, str]  # where a via may stand, from the corner of the upright cell, and which


class Grid:
    """Columns and rows of tracks, those of all layers together, and which of them each layer has."""

    def __init__(self, placement: Placement, lef: Lef) -> None:
        self.routing, self.lef = lef.kit.routing, lef
        self.layers = [track.name for track in self.routing.layers]
        vertical, horizontal = (lef.layers[name] for name in self.layers[:2])
        self.x0, self.dx = dbu(vertical.offset), dbu(vertical.pitch)
        self.y0, self.dy = dbu(horizontal.offset), dbu(horizontal.pitch)
        width, height = (dbu(length) for length in placement.die_um)
        ways = ((self.x0, self.dx, width), (self.y0, self.dy, height))
        self.tracks = own = [
            self._tracks(*ways[index % 2], track.every) for index, track in enumerate(self.routing.layers)
        ]
        self.xs, self.ys = (sorted(set().union(*own[way::2])) for way in (0, 1))
        # where those above and below have tracks
        self.stops = [
            set().union(*(own[other] for other in (index - 1, index + 1) if 0 <= other < len(own)))
            for index in range(len(own))
        ]

    @staticmethod
    def _tracks(first: int, pitch: int, length: int, every: float) -> set[int]:
        """Their places up to as far from the other end of the die as the first is from this one."""
        count = int((length - 2 * first) / (pitch * every)) + 1
        return {first + round(pitch * every * number) for number in range(count)}

    def at(self, column: int, row: int) -> tuple[int, int]:
        """Database units of a crossing."""
        return self.xs[column], self.ys[row]

    def nearest(self, x: float, y: float) -> tuple[int, int]:
        """The crossing at (or nearest to) a place."""
        return _nearest(self.xs, x), _nearest(self.ys, y)

    def clear(self, index: int) -> int:
        """How far along a track of a layer two nets must be: for their ends of wires, pads and cuts (dbu)."""
        layer, axis, tracks = self.lef.layers[self.layers[index]], 1 - index % 2, self.routing.layers
        below = self.routing.pin_vias if index == 0 else (tracks[index - 1].via,)
        vias = [self.lef.vias[name] for name in (*below, tracks[index].via) if name]
        reach = max([layer.width / 2, *(via[layer.name][axis + 2] for via in vias)])
        return max([dbu(2 * reach + layer.spacing), *map(self._cut, vias)])

    def apart(self, index: int) -> int:
        """How far two vias of one net from a layer to the next must be, if they are in a line (dbu)."""
        return self._cut(self.lef.vias[self.routing.layers[index].via])

    def _cut(self, via: dict[str, tuple[float, float, float, float]]) -> int:
        (name,) = (name for name in via if self.lef.layers[name].kind == "CUT")
        return dbu(via[name][2] - via[name][0] + self.lef.layers[name].spacing)


def _nearest(places: list[int], wanted: float) -> int:
    after = bisect_left(places, wanted)
    around = [index for index in (after - 1, after) if 0 <= index < len(places)]
    return min(around, key=lambda index: abs(places[index] - wanted))


def pin_access(macro: Macro, grid: Grid) -> dict[str, list[Access]]:
    """The spots for a via on each signal pin, with the best kind of via that there is."""
    import klayout.db as db

    rules, lef = grid.routing, grid.lef

    def region(shapes: Iterable[tuple[str, Polygon]]) -> Any:
        polygons = [
            db.Polygon([db.Point(dbu(x), dbu(y)) for x, y in corners])
            for layer, corners in shapes
            if layer == rules.pin_layer
        ]
        return db.Region(polygons).merged()

    width, height = dbu(macro.width), dbu(macro.height)
    spacing = dbu(lef.layers[rules.pin_layer].spacing)
    # of each kind of via its metal on the pins' layer and its cut
    shapes = {
        via: [db.Region(db.Box(*map(dbu, lef.vias[via][name]))) for name in (rules.pin_layer, rules.pin_cut)]
        for via in rules.pin_vias
    }
    # half the spacing is the neighbour's
    inside = db.Region(db.Box(spacing // 2, 0, width - spacing // 2, height))
    access = {}
    for name, pin in macro.pins.items():
        if pin.use != "signal":
            continue
        own = region(pin.shapes)
        others = [shape for other in macro.pins.values() if other is not pin for shape in other.shapes]
        near = region([*macro.obstructions, *others]).sized(spacing - 1)
        within = []  # the via's metal lies within the pin
        cutting: list[Access] = []  # its cut does
        touching: list[Access] = []  # its cut touches the pin
        places = product(range(grid.x0, width, grid.dx), range(grid.y0, height, grid.dy))
        for x, y in places:
            for via, both in shapes.items():
                pad, cut = (shape.moved(x, y) for shape in both)
                if (pad - own).is_empty():
                    within.append((x, y, via))
                    break
                notched = not (pad + own).merged().notch_check(spacing).is_empty()
                far = (pad & near).is_empty() and (pad - inside).is_empty()
                if far and not notched and not (cut & own).is_empty():
                    (cutting if (cut - own).is_empty() else touching).append((x, y, via))
                    break
        access[name] = within + cutting or touching
    return access


@dataclass
class Net:
    """A net to be routed: the nodes at which each of its pins, driver first, can be met."""

    pins: list[list[Node]]
    guide: list[Piece] = field(default_factory=list)  # its global routing
    vias: dict[Node, str] = field(default_factory=dict)  # on nodes at pins of cells
    number: int = -1


def not_detailed(why: str, seconds: float = 0.0, rounds: int = 0) -> tuple[InDetail, dict[str, list[Wire]]]:
    """The result where there is none."""
    return InDetail(False, why, seconds, rounds), {}


def route_detailed(
    placed: Placed, ways: Ways, most_cells: int = MOST_CELLS
) -> tuple[InDetail, dict[str, list[Wire]]]:
    """All wires of a placed netlist by the names of their nets, near their global routing; says why not where
    the design is too large or too dense.
    """
    start = time.monotonic()
    cells = len(placed.placement.instances)
    if cells > most_cells:
        return not_detailed(
            f"{cells:,} cells are more than {most_cells:,} (detailed_cells): global routing has their lengths"
        )
    if (full := ways.overflow.borders) and cells > FEW_CELLS:
        return not_detailed(
            f"{full:,} borders of the global routing are too full: a lower density gives more room"
        )
    grid = Grid(placed.placement, placed.lef)
    nets = list(_nets(placed, grid, ways))
    trees, left, rounds = search(grid, [*nets, *_alone(placed.placement, grid, nets)])
    seconds = round(time.monotonic() - start, 2)
    if left:
        why = f"{left} nets found no way of their own in {rounds} rounds: a lower density gives more room"
        return not_detailed(why, seconds, rounds)
    wires = {
        placed.netlist.nets[net.number]: joined(list(_wires(grid, net, tree)), grid)
        for net, tree in zip(nets, trees, strict=False)
    }
    return InDetail(True, "", seconds, rounds), wires


def _nets(placed: Placed, grid: Grid, ways: Ways) -> Iterator[Net]:
    """All nets that have wires."""
    instances, lef = placed.placement.instances, placed.lef
    access = {
        kind: pin_access(lef.macro(kind), grid) for kind in {place.kind for place in instances.values()}
    }
    for number, terminals, _ in terminal_positions(placed):
        guide = [
            (*grid.nearest(x0 * DBU, y0 * DBU), *grid.nearest(x1 * DBU, y1 * DBU))
            for _, x0, y0, x1, y1 in ways.segments[number]
        ]
        net = Net([], guide, number=number)
        for owner, pin in terminals:
            if owner == PORT:
                net.pins.append([_node_of(placed.placement.pins[pin], grid)])
                continue
            place = instances[owner]
            nodes = []
            for dx, dy, via in access[place.kind][pin]:
                x, y = lef.macro(place.kind).placed(place.orient, dx / DBU, dy / DBU)
                nodes.append((0, *grid.nearest(dbu(place.x_um + x), dbu(place.y_um + y))))
                net.vias[nodes[-1]] = via
            if not nodes:
                raise ToolError(f"no via can stand on {owner}/{pin}, a pin of {place.kind}")
            net.pins.append(nodes)
        # the driver first, then always the pin that is nearest to one that is there already
        edges = spanning_edges([grid.at(*nodes[0][1:]) for nodes in net.pins])
        net.pins = [net.pins[place] for place in (0, *(end for _, end in edges))]
        yield net


def _alone(placement: Placement, grid: Grid, nets: list[Net]) -> list[Net]:
    """Ports that are on no net with wires, each as a net of its own: their metal is there, and other nets
    keep away from it.
    """
    taken = {node for net in nets for nodes in net.pins for node in nodes}
    ports = (_node_of(port, grid) for port in placement.pins.values())
    return [Net([[node]]) for node in ports if node not in taken]


def _node_of(port: PortPin, grid: Grid) -> Node:
    return grid.layers.index(port.layer), *grid.nearest(port.x_um * DBU, port.y_um * DBU)


class Routed(NamedTuple):
    """A net's tree: of each pin which of its nodes is met, and straight wires and vias by their ends."""

    met: list[int]
    pieces: list[tuple[Node, Node]]


def search(grid: Grid, nets: list[Net]) -> tuple[list[Routed], int, int]:
    """Each net's tree; how many nets are still in conflict; rounds taken."""
    numbers = subprocess_engine.run(SOURCE, "detailed routing", _task(grid, nets))
    left, rounds = next(numbers), next(numbers)
    nodes = zip(numbers, numbers, numbers, strict=True)
    pieces = zip(nodes, nodes, strict=True)
    found = [
        Routed(list(islice(numbers, len(net.pins))), list(islice(pieces, next(numbers)))) for net in nets
    ]
    return found, left, rounds


def _task(grid: Grid, nets: list[Net]) -> Iterator[str]:
    for places in (grid.xs, grid.ys):
        yield _row(len(places), *places)
    yield str(len(grid.layers))
    for index, ways in enumerate(zip(grid.tracks, grid.stops, strict=True)):
        vertical = index % 2 == 0
        columns, rows = ways if vertical else ways[::-1]
        yield _row(int(vertical), grid.clear(index))
        yield _row(*(int(x in columns) for x in grid.xs))
        yield _row(*(int(y in rows) for y in grid.ys))
    yield _row(*(grid.apart(index) for index in range(len(grid.layers) - 1)))
    yield _row(ROUNDS, SECONDS)
    yield str(len(nets))
    for net in nets:
        yield str(len(net.pins))
        for nodes in net.pins:
            yield _row(len(nodes), *(value for node in nodes for value in node))
        yield _row(len(net.guide), *(value for piece in net.guide for value in piece))


def _row(*numbers: int) -> str:
    return " ".join(map(str, numbers))


def _wires(grid: Grid, net: Net, tree: Routed) -> Iterator[Wire]:
    """A net's tree as straight wires and vias, with a via on one node of every pin."""
    for (layer, i0, j0), (other, i1, j1) in tree.pieces:
        low = min(layer, other)
        via = grid.routing.layers[low].via if layer != other else ""
        yield Wire(grid.layers[low], *grid.at(i0, j0), *grid.at(i1, j1), via)
    for nodes, met in zip(net.pins, tree.met, strict=True):
        _, column, row = node = nodes[met]
        if node in net.vias:
            yield Wire(grid.routing.pin_layer, *grid.at(column, row) * 2, net.vias[node])


def joined(wires: list[Wire], grid: Grid) -> list[Wire]:
    """With a wire wherever metal of the net ends on a track and begins again nearer than the layer's spacing:
    no other fits between.
    """
    lef = grid.lef
    metal = defaultdict(list)  # by layer and track
    for wire in wires:
        ends = (wire.x0, wire.y0), (wire.x1, wire.y1)
        half = lef.layers[wire.layer].width / 2
        shapes = lef.vias[wire.via] if wire.via else {wire.layer: (-half, -half, half, half)}
        for name, box in shapes.items():
            if name not in grid.layers:
                continue
            index = grid.layers.index(name)
            axis = 1 - index % 2  # along the tracks of this layer
            low, high = sorted(end[axis] for end in ends)
            track, other = (end[1 - axis] for end in ends)
            if track == other:
                before, behind = dbu(box[axis]), dbu(box[axis + 2])
                metal[index, track].append((low + before, high + behind, low, high))
    more = []
    for (index, track), pieces in metal.items():
        layer = lef.layers[grid.layers[index]]
        end, last = -math.inf, 0
        for begins, ends_at, first, place in sorted(pieces):
            if 0 < begins - end < dbu(layer.spacing):
                gap = (last, track, first, track) if index % 2 else (track, last, track, first)
                more.append(Wire(layer.name, *gap))
            if ends_at > end:
                end, last = ends_at, place
    return [*wires, *more]
