"""Detailed routing: every wire and via, on the tracks of the layers for signals above the cells, near the
global routing.

Tracks have the pitch of the lowest layer of their direction or a multiple of it, as the kit says
([[routing.layers]]), and a layer has nodes where its tracks cross those of the layers below and above. Wires
keep to the preferred direction of their layer. What the grid cannot see of the rules, ends of wires that meet
on a track and cuts side by side, is kept by distances that two nets, or two vias of one, need there: they
follow from the LEF. Pins are met by a via whose lower metal lies inside the pin, or else keeps its distance
to everything else in the cell. detailed_router.cpp does the search.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...rtl.sim.toolchain import ToolError
from ..kit.def_ import Wire
from ..kit.lef import DBU, Lef, Macro, dbu
from ..netlist.netlist import PORT, Netlist, Terminal
from . import subprocess_engine
from .global_routing import Ways
from .placement import Placement, PortPin
from .routing import Segment

SOURCE = Path(__file__).with_name("detailed_router.cpp")
MOST_CELLS = 80_000  # unless asked otherwise: 55,000 take seven minutes of the processor
FEW_CELLS = 10_000  # up to which it is tried even where global routing found no room for all
ROUNDS, SECONDS = 250, 1800  # of the processor, which a busy machine does not change

Node = tuple[int, int, int]  # layer (0 is the lowest), column, row
Piece = tuple[int, int, int, int]  # columns and rows of its ends


class Grid:
    """Columns and rows of tracks, those of all layers together, and which of them each layer has."""

    def __init__(self, placement: Placement, lef: Lef) -> None:
        self.routing, self.lef = lef.kit.routing, lef
        self.layers = [track.name for track in self.routing.layers]
        vertical, horizontal = (lef.layers[name] for name in self.layers[:2])
        self.x0, self.dx = dbu(vertical.offset), dbu(vertical.pitch)
        self.y0, self.dy = dbu(horizontal.offset), dbu(horizontal.pitch)
        width, height = (dbu(length) for length in placement.die_um)
        own = [
            self._tracks(self.x0, self.dx * track.every, width)
            if index % 2 == 0
            else self._tracks(self.y0, self.dy * track.every, height)
            for index, track in enumerate(self.routing.layers)
        ]
        self.xs, self.ys = (sorted(set().union(*own[way::2])) for way in (0, 1))
        self.tracks = own
        # where those above and below have tracks
        self.stops = [
            set().union(*(own[other] for other in (index - 1, index + 1) if 0 <= other < len(own)))
            for index in range(len(own))
        ]

    @staticmethod
    def _tracks(first: int, pitch: float, length: int) -> set[int]:
        """Their places up to as far from the other end of the die as the first is from this one."""
        count = int((length - 2 * first) / pitch) + 1
        return {first + round(pitch * number) for number in range(count)}

    def at(self, column: int, row: int) -> tuple[int, int]:
        """Database units of a crossing."""
        return self.xs[column], self.ys[row]

    def far(self, a: Node, b: Node) -> int:
        """Length of a wire between two nodes."""
        return abs(self.xs[a[1]] - self.xs[b[1]]) + abs(self.ys[a[2]] - self.ys[b[2]])

    def nearest(self, x: float, y: float) -> tuple[int, int]:
        """The crossing at (or nearest to) a place."""
        return _nearest(self.xs, x), _nearest(self.ys, y)

    def clear(self, index: int) -> int:
        """How far along a track of a layer two nets must be: for their ends of wires, pads and cuts (dbu)."""
        layer, axis = self.lef.layers[self.layers[index]], 1 - index % 2
        vias = [self.lef.vias[name] for name in self._vias(index)]
        reach = max([layer.width / 2, *(via[layer.name][axis + 2] for via in vias)])
        cuts = [self._cut(via) for via in vias]
        return max([dbu(2 * reach + layer.spacing), *cuts])

    def apart(self, index: int) -> int:
        """How far two vias of one net from a layer to the next must be, if they are in a line (dbu)."""
        return self._cut(self.lef.vias[self.routing.layers[index].via])

    def _vias(self, index: int) -> list[str]:
        below = self.routing.pin_vias if index == 0 else (self.routing.layers[index - 1].via,)
        return [name for name in (*below, self.routing.layers[index].via) if name]

    def _cut(self, via: dict[str, tuple[float, float, float, float]]) -> int:
        (name,) = (name for name in via if self.lef.layers[name].kind == "CUT")
        return dbu(via[name][2] - via[name][0] + self.lef.layers[name].spacing)


def _nearest(places: list[int], wanted: float) -> int:
    after = bisect_left(places, wanted)
    around = [index for index in (after - 1, after) if 0 <= index < len(places)]
    return min(around, key=lambda index: abs(places[index] - wanted))


def pin_access(macro: Macro, lef: Lef, grid: Grid) -> dict[str, list[tuple[int, int, str]]]:
    """Of each pin of an upright cell: where a via may stand (dbu from the cell's corner) and which; the best
    kind there is.
    """
    import klayout.db as db

    routing = grid.routing

    def region(shapes: Iterable[tuple[str, Any]]) -> Any:
        found = db.Region()
        for layer, corners in shapes:
            if layer == routing.pin_layer:
                found.insert(db.Polygon([db.Point(dbu(x), dbu(y)) for x, y in corners]))
        return found.merged()

    width, height = dbu(macro.width), dbu(macro.height)
    spacing = dbu(lef.layers[routing.pin_layer].spacing)
    # half the spacing is the neighbour's
    inside = db.Region(db.Box(spacing // 2, 0, width - spacing // 2, height))
    shapes = {name: region(pin.shapes) for name, pin in macro.pins.items()}
    blocked = region(macro.obstructions)
    access: dict[str, list[tuple[int, int, str]]] = {}
    for name, pin in macro.pins.items():
        if pin.use != "signal":
            continue
        others = blocked.dup()
        for other, shape in shapes.items():
            if other != name:
                others += shape
        near = others.sized(spacing - 1)
        choices: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        for x in range(grid.x0, width, grid.dx):
            for y in range(grid.y0, height, grid.dy):
                for via in routing.pin_vias:
                    shapes_of = lef.vias[via]
                    pad, cut = (
                        _region(db, shapes_of[layer], x, y) for layer in (routing.pin_layer, routing.pin_cut)
                    )
                    if (pad - shapes[name]).is_empty():
                        choices[0].append((x, y, via))
                        break
                    grown = (pad + shapes[name]).merged()
                    notched = not grown.notch_check(spacing).is_empty()
                    if notched or not (pad & near).is_empty() or not (pad - inside).is_empty():
                        continue
                    if (cut - shapes[name]).is_empty():
                        choices[1].append((x, y, via))
                        break
                    if not (cut & shapes[name]).is_empty():
                        choices[2].append((x, y, via))
                        break
        good = choices[0] + choices[1]
        access[name] = good or choices[2]
    return access


def _region(db: Any, box: tuple[float, float, float, float], x: int, y: int) -> Any:
    return db.Region(db.Box(*(dbu(value) for value in box)).moved(x, y))


@dataclass
class Detailed:
    """Whether every wire was made, and if so which."""

    done: bool
    why_not: str
    seconds: float
    rounds: int
    wires: dict[str, list[Wire]]  # by the name of the net


def not_detailed(why: str) -> Detailed:
    """What there is where it is not tried."""
    return Detailed(False, why, 0.0, 0, {})


def route_detailed(
    placement: Placement, netlist: Netlist, lef: Lef, ways: Ways, most_cells: int = MOST_CELLS
) -> Detailed:
    """All wires of a placed netlist, near their global routing; says why not where the design is too large or
    too dense.
    """
    start = time.monotonic()
    cells = len(placement.instances)
    if cells > most_cells:
        return not_detailed(
            f"{cells:,} cells are more than {most_cells:,} (detailed_cells): global routing has their lengths"
        )
    if ways.full and cells > FEW_CELLS:
        return not_detailed(
            f"{ways.full:,} borders of the global routing are too full: a lower density gives more room"
        )
    grid = Grid(placement, lef)
    nets, meets = _terminals(placement, netlist, lef, grid)
    guides = [_guide(ways.segments[net], grid) for net, _ in nets]
    alone = _alone(placement, grid, nets)
    trees, left, rounds = _search(
        grid, [*(pins for _, pins in nets), *alone], [*guides, *([] for _ in alone)]
    )
    seconds = round(time.monotonic() - start, 2)
    if left:
        why = f"{left} nets found no way of their own in {rounds} rounds: a lower density gives more room"
        return Detailed(False, why, seconds, rounds, {})
    wires = {
        netlist.nets[net]: joined(list(_wires(grid, pins, found, meets[net])), grid)
        for (net, pins), found in zip(nets, trees[: len(nets)], strict=True)
    }
    return Detailed(True, "", seconds, rounds, wires)


def _terminals(
    placement: Placement, netlist: Netlist, lef: Lef, grid: Grid
) -> tuple[list[tuple[int, list[list[Node]]]], dict[int, dict[Node, str]]]:
    """For every net the nodes at which each of its pins can be met, driver first; and the via of each such
    node.
    """
    access = {
        kind: pin_access(lef.macro(kind), lef, grid)
        for kind in {instance.kind for instance in placement.instances.values()}
    }
    nets: list[tuple[int, list[list[Node]]]] = []
    vias: dict[int, dict[Node, str]] = {}
    for net, driver in enumerate(netlist.driver):
        if net in netlist.constants or driver is None or not netlist.sinks[net]:
            continue
        pins = []
        own = vias[net] = {}
        for terminal in [driver, *netlist.sinks[net]]:
            nodes = []
            for node, via in _nodes(placement, lef, grid, access, terminal):
                nodes.append(node)
                if via:
                    own[node] = via
            if not nodes:
                raise ToolError(
                    f"no via can stand on {'/'.join(terminal)}, a pin of {netlist.cells[terminal[0]].kind}"
                )
            pins.append(nodes)
        nets.append((net, _in_order(pins, grid)))
    return nets, vias


def _alone(
    placement: Placement, grid: Grid, nets: list[tuple[int, list[list[Node]]]]
) -> list[list[list[Node]]]:
    """Ports that are on no net with wires, each as a net of its own: their metal is there, and other nets
    keep away from it.
    """
    ports = (_node_of(port, grid) for port in placement.pins.values())
    taken = {node for _, pins in nets for nodes in pins for node in nodes}
    return [[[node]] for node in ports if node not in taken]


def _node_of(port: PortPin, grid: Grid) -> Node:
    return grid.layers.index(port.layer), *grid.nearest(port.x_um * DBU, port.y_um * DBU)


def _nodes(
    placement: Placement, lef: Lef, grid: Grid, access: dict[str, Any], terminal: Terminal
) -> Iterator[tuple[Node, str]]:
    owner, pin = terminal
    if owner == PORT:
        yield _node_of(placement.pins[pin], grid), ""
        return
    instance = placement.instances[owner]
    for dx, dy, via in access[instance.kind][pin]:
        x, y = lef.macro(instance.kind).placed(instance.orient, dx / DBU, dy / DBU)
        yield (0, *grid.nearest(dbu(instance.x_um + x), dbu(instance.y_um + y))), via


def _in_order(pins: list[list[Node]], grid: Grid) -> list[list[Node]]:
    """The driver first, then always the pin that is nearest to one that is there already (Prim)."""
    rest, order, reached = pins[1:], [pins[0]], [pins[0][0]]
    near = [grid.far(pin[0], reached[0]) for pin in rest]
    while rest:
        index = min(range(len(rest)), key=near.__getitem__)
        pin = rest.pop(index)
        near.pop(index)
        order.append(pin)
        near = [min(old, grid.far(other[0], pin[0])) for old, other in zip(near, rest, strict=True)]
    return order


def _guide(segments: list[Segment], grid: Grid) -> list[Piece]:
    """The ends of a net's global routing, as columns and rows on the grid."""
    found = []
    for _, *ends in segments:
        x0, y0, x1, y1 = (end * DBU for end in ends)
        found.append((*grid.nearest(x0, y0), *grid.nearest(x1, y1)))
    return found


@dataclass
class Found:
    """A net's tree: of each pin which of its nodes is met, and straight wires and vias by their ends."""

    met: list[int]
    pieces: list[tuple[Node, Node]]


def _search(
    grid: Grid, nets: list[list[list[Node]]], guides: list[list[Piece]]
) -> tuple[list[Found], int, int]:
    """Each net's tree; how many nets are still in conflict; rounds taken."""
    numbers = subprocess_engine.run(SOURCE, "detailed routing", _task(grid, nets, guides))
    left, rounds = next(numbers), next(numbers)

    def node() -> Node:
        return next(numbers), next(numbers), next(numbers)

    found = []
    for pins in nets:
        met = [next(numbers) for _ in pins]
        found.append(Found(met, [(node(), node()) for _ in range(next(numbers))]))
    return found, left, rounds


def _task(grid: Grid, nets: list[list[list[Node]]], guides: list[list[Piece]]) -> Iterator[str]:
    for places in (grid.xs, grid.ys):
        yield f"{len(places)} " + " ".join(map(str, places))
    yield str(len(grid.layers))
    for index in range(len(grid.layers)):
        tracks, stops = grid.tracks[index], grid.stops[index]
        columns, rows = (tracks, stops) if index % 2 == 0 else (stops, tracks)
        yield f"{int(index % 2 == 0)} {grid.clear(index)}"
        yield " ".join(str(int(x in columns)) for x in grid.xs)
        yield " ".join(str(int(y in rows)) for y in grid.ys)
    yield " ".join(str(grid.apart(index)) for index in range(len(grid.layers) - 1))
    yield f"{ROUNDS} {SECONDS}"
    yield str(len(nets))
    for pins, guide in zip(nets, guides, strict=True):
        yield str(len(pins))
        for nodes in pins:
            yield f"{len(nodes)} " + " ".join(f"{a} {b} {c}" for a, b, c in nodes)
        yield f"{len(guide)} " + " ".join(f"{a} {b} {c} {d}" for a, b, c, d in guide)


def _wires(grid: Grid, pins: list[list[Node]], found: Found, vias: dict[Node, str]) -> Iterator[Wire]:
    """A net's tree as straight wires and vias, with a via on one node of every pin."""
    for (layer, i0, j0), (other, i1, j1) in found.pieces:
        low = min(layer, other)
        via = grid.routing.layers[low].via if layer != other else ""
        yield Wire(grid.layers[low], *grid.at(i0, j0), *grid.at(i1, j1), via)
    for nodes, met in zip(pins, found.met, strict=True):
        node = nodes[met]
        if node in vias:
            x, y = grid.at(node[1], node[2])
            yield Wire(grid.routing.pin_layer, x, y, x, y, vias[node])


def joined(wires: list[Wire], grid: Grid) -> list[Wire]:
    """With a wire wherever metal of the net ends on a track and begins again nearer than the layer's spacing:
    no other fits between.
    """
    metal: dict[tuple[int, int], list[tuple[int, int, int, int]]] = defaultdict(list)  # by layer and track
    for wire in wires:
        shapes = grid.lef.vias[wire.via] if wire.via else {wire.layer: None}
        for name, box in shapes.items():
            if name not in grid.layers:
                continue
            index = grid.layers.index(name)
            axis = 1 - index % 2  # along the tracks of this layer
            (a, b), (track, other) = (wire.x0, wire.x1), (wire.y0, wire.y1)
            if axis:
                (a, b), (track, other) = (track, other), (a, b)
            half = dbu(grid.lef.layers[name].width / 2)
            before, behind = (-half, half) if box is None else (dbu(box[axis]), dbu(box[axis + 2]))
            if track == other:
                metal[index, track].append((min(a, b) + before, max(a, b) + behind, min(a, b), max(a, b)))
    more = []
    for (index, track), pieces in metal.items():
        name = grid.layers[index]
        end, last = None, 0
        for begins, ends, first, place in sorted(pieces):
            if end is not None and 0 < begins - end < dbu(grid.lef.layers[name].spacing):
                horizontal = index % 2 == 1
                ends_at = (last, track, first, track) if horizontal else (track, last, track, first)
                more.append(Wire(name, *ends_at))
            if end is None or ends > end:
                end, last = ends, place
    return [*wires, *more]
