"""Detailed routing: every wire and via, on the tracks of the layers for signals above the cells, near the
global routing.

Tracks have the pitch of the lowest layer of their direction or a multiple of it, as the kit says
([[routing.layers]]), and a layer has nodes where its tracks cross those of the layers below and above. Wires
keep to the preferred direction of their layer. The grid cannot express the rules for line ends on the same
track and for adjacent cuts; minimum distances between two nets, or between two vias of one net, enforce them
and are derived from the LEF. A pin is accessed by a via whose lower metal lies inside the pin, or else keeps
its distance to everything else in the cell. detailed_router.cpp does the search.
"""

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, product, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from ...rtl.sim.toolchain import ToolError
from ..kit.lef import DBU, Macro, Polygon, dbu
from ..netlist.netlist import PORT
from . import subprocess_engine
from .grid import Grid, Node
from .placed import Placed
from .placement import Placement, PortPin
from .routing import InDetail, Rect, Ways, Wire
from .stack_access import Access, stack_access
from .supply import power_grid
from .wires import spanning_edges, terminal_positions

SOURCE = Path(__file__).with_name("detailed_router.cpp")
MOST_CELLS = 80_000  # unless asked otherwise: 55,000 take seven minutes of the processor
FEW_CELLS = 10_000  # up to which it is tried even where global routing found no room for all
FEW_BORDERS = 20  # that may be too full in larger designs
ATTEMPTS = 8  # to give all pieces room for the least area
ROUNDS, SECONDS = 500, 3600  # of the processor, which a busy machine does not change
GATE_UM2 = 1e-4  # the router's unit of gates
FAR = 10**9  # beyond any die, in database units

Piece = tuple[int, int, int, int]  # columns and rows of its ends


def pin_access(macro: Macro, grid: Grid) -> dict[str, list[Access]]:
    """The spots for a via on each signal pin, with the best kind of via that there is; or for a stack."""
    import klayout.db as db

    rules, lef = grid.routing, grid.lef
    if len(rules.stacks[0]) > 1:
        return stack_access(macro, grid)

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
        for (via,) in rules.stacks
    }
    # half the spacing is the neighbour's
    inside = db.Region(db.Box(spacing // 2, 0, width - spacing // 2, height))
    access = {}
    for name, pin in macro.pins.items():
        if pin.use in ("power", "ground"):
            continue
        own = region(pin.shapes)
        others = [shape for other in macro.pins.values() if other is not pin for shape in other.shapes]
        near = region([*macro.obstructions, *others]).sized(spacing - 1)
        for steps in ([(0, 0)], grid.asides()):  # beside a node only where there is no spot on one
            within: list[Access] = []  # the via's metal lies within the pin
            cutting: list[Access] = []  # its cut does
            touching: list[Access] = []  # its cut touches the pin
            places = product(range(grid.x0, width, grid.dx), grid.pin_rows(height))
            for x, y in places:
                for (dx, dy), (via, both) in product(steps, shapes.items()):
                    pad, cut = (shape.moved(x + dx, y + dy) for shape in both)
                    spot = Access(x, y, ((via, dx, dy),))
                    if (pad - own).is_empty():
                        within.append(spot)
                        break
                    notched = not (pad + own).merged().notch_check(spacing).is_empty()
                    far = (pad & near).is_empty() and (pad - inside).is_empty()
                    if far and not notched and not (cut & own).is_empty():
                        (cutting if (cut - own).is_empty() else touching).append(spot)
                        break
            access[name] = within + cutting or touching
            if access[name]:
                break
    return access


@dataclass
class Net:
    """A net to be routed: the nodes at which each of its pins, driver first, can be met."""

    pins: list[list[Node]]
    guide: list[Piece] = field(default_factory=list)  # its global routing
    vias: dict[Node, Access] = field(default_factory=dict)  # on nodes at pins of cells
    gates: dict[Node, float] = field(default_factory=dict)  # um^2, of pins without diffusion, by their nodes
    number: int = -1

    @property
    def ports(self) -> list[Node]:
        """The nodes at ports, which have metal of their own."""
        return [node for nodes in self.pins for node in nodes if node not in self.vias]


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
    if (full := ways.overflow.borders) > FEW_BORDERS and cells > FEW_CELLS:
        return not_detailed(
            f"{full:,} borders of the global routing are too full: a lower density gives more room"
        )
    grid = Grid(placed.placement, placed.lef)
    power = list(power_grid(placed).shapes())
    grid.block(power)
    nets = list(_nets(placed, grid, ways))
    alone = _alone(placed.placement, grid, nets)
    found: dict[int, list[Wire]] | None = None
    ports = [node for net in (*nets, *alone) for node in net.ports]
    rounds = 0
    trees: list[Routed] = []
    cramped: list[Node] = []
    for _ in range(ATTEMPTS):  # each reroutes wires near metal without room for its least area
        trees, left, tried = search(grid, [*nets, *alone], trees, cramped)
        rounds += tried
        if left:
            break
        pairs = zip(nets, trees, strict=False)
        found = {net.number: joined(list(_wires(grid, net, tree)), grid) for net, tree in pairs}
        more = lengthen(found, ports, grid, power)
        cramped += more
        if not more:
            break
    seconds = round(time.monotonic() - start, 2)
    if found is None:
        why = f"{left} nets found no way of their own in {rounds} rounds: a lower density gives more room"
        return not_detailed(why, seconds, rounds)
    wires = {placed.netlist.nets[number]: pieces for number, pieces in found.items()}
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
            macro_pin = lef.macro(place.kind).pins[pin]
            for spot in access[place.kind][pin]:
                x, y = lef.macro(place.kind).placed(place.orient, spot.x / DBU, spot.y / DBU)
                node = 0, *grid.nearest(dbu(place.x_um + x), dbu(place.y_um + y))
                if node not in grid.blocked:
                    nodes.append(node)
                    net.vias.setdefault(node, spot.turned(place.orient))
                    if not macro_pin.diffusion_um2:
                        net.gates[node] = macro_pin.gate_um2
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


def search(
    grid: Grid, nets: list[Net], earlier: Iterable[Routed] = (), cramped: Iterable[Node] = ()
) -> tuple[list[Routed], int, int]:
    """Each net's tree, that of an earlier answer unless it is near a cramped node; how many nets are still in
    conflict; rounds taken.
    """
    numbers = subprocess_engine.run(SOURCE, "detailed routing", _task(grid, nets, earlier, cramped))
    left, rounds = next(numbers), next(numbers)
    nodes = zip(numbers, numbers, numbers, strict=True)
    pieces = zip(nodes, nodes, strict=True)
    found = [
        Routed(list(islice(numbers, len(net.pins))), list(islice(pieces, next(numbers)))) for net in nets
    ]
    return found, left, rounds


def _task(grid: Grid, nets: list[Net], earlier: Iterable[Routed], cramped: Iterable[Node]) -> Iterator[str]:
    for places in (grid.xs, grid.ys):
        yield _row(len(places), *places)
    yield str(len(grid.layers))
    for index, ways in enumerate(zip(grid.tracks, grid.stops, strict=True)):
        vertical = index % 2 == 0
        columns, rows = ways if vertical else ways[::-1]
        yield _row(int(vertical), grid.clear(index), grid.alone(index))
        yield _row(grid.pad(index), grid.bears(index), int(grid.cumulative(index)))
        yield _row(*(int(x in columns) for x in grid.xs))
        yield _row(*(int(y in rows) for y in grid.ys))
    yield _row(*(grid.apart(index) for index in range(len(grid.layers) - 1)))
    for nodes in (sorted(grid.blocked), list(cramped)):
        yield _row(len(nodes), *chain(*nodes))
    yield _row(ROUNDS, SECONDS)
    yield str(len(nets))
    for net, tree in zip_longest(nets, earlier):
        yield str(len(net.pins))
        for nodes in net.pins:
            gate = round(net.gates.get(nodes[0], -GATE_UM2 if nodes[0] in net.vias else 0.0) / GATE_UM2)
            yield _row(gate, len(nodes), *chain(*nodes))
        yield _row(len(net.guide), *chain(*net.guide))
        pieces = tree.pieces if tree else []
        yield _row(len(pieces), *chain(*chain(*pieces)))


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
            yield from _access(grid, net.vias[node], *grid.at(column, row))


def _access(grid: Grid, access: Access, x: int, y: int) -> Iterator[Wire]:
    """The vias at a pin, and wires side by side that fill what joins them."""
    upper = ""
    for via, dx, dy in access.vias:
        below, upper = (layer.name for layer in grid.lef.routing if layer.name in grid.lef.vias[via])
        yield Wire(below, *(x + dx, y + dy) * 2, via)
        if upper in grid.layers and (dx, dy) != (0, 0):  # equally long metal on the track, for its neighbours
            half = dbu(grid.widths[upper] / 2)
            box = grid.lef.vias[via][upper]
            yield Wire(upper, x, y + dy + dbu(box[1]) + half, x, y + dy + dbu(box[3]) - half)
        if access.fill is not None and upper not in grid.layers:
            half = dbu(grid.lef.layers[upper].width / 2)
            left, bottom, right, top = access.fill
            if top - bottom == 2 * half:  # a wire
                middle = y + (bottom + top) // 2
                yield Wire(upper, x + left + half, middle, x + right - half, middle)
                continue
            places = [*range(left + half, right - half, 2 * half), right - half]
            for at in places:
                yield Wire(upper, x + at, y + bottom + half, x + at, y + top - half)


class Metal(NamedTuple):
    """Metal on a track: begin and end, the middles of what is there, and whether its area is too small."""

    begin: int
    end: int
    low: int
    high: int
    small: bool


def _on_tracks(wires: list[Wire], grid: Grid) -> dict[tuple[int, int], list[Metal]]:
    """The metal of wires and vias by layer and track."""
    lef = grid.lef
    metal = defaultdict(list)
    for wire in wires:
        ends = (wire.x0, wire.y0), (wire.x1, wire.y1)
        half = grid.widths.get(wire.layer, 0.0) / 2
        shapes = lef.vias[wire.via] if wire.via else {wire.layer: (-half, -half, half, half)}
        for name, box in shapes.items():
            if name not in grid.layers:
                continue
            index = grid.layers.index(name)
            axis = 1 - index % 2  # along the tracks of this layer
            low, high = sorted(end[axis] for end in ends)
            track, other = (end[1 - axis] for end in ends)
            if track == other and track in grid.tracks[index]:  # metal beside a track is on it too
                before, behind = dbu(box[axis]), dbu(box[axis + 2])
                small = not wire.via or grid.small(name, box)
                metal[index, track].append(Metal(low + before, high + behind, low, high, small))
    return metal


def _wire(grid: Grid, index: int, track: int, low: int, high: int) -> Wire:
    """A wire along a track."""
    ends = (low, track, high, track) if index % 2 else (track, low, track, high)
    return Wire(grid.layers[index], *ends)


def joined(wires: list[Wire], grid: Grid) -> list[Wire]:
    """With a wire wherever metal of the net ends on a track and begins again nearer than the layer's spacing:
    no other fits between.
    """
    more = []
    for (index, track), pieces in _on_tracks(wires, grid).items():
        layer = grid.lef.layers[grid.layers[index]]
        end = -math.inf
        last = 0
        for piece in sorted(pieces):
            if 0 < piece.begin - end < dbu(layer.ends_apart):
                more.append(_wire(grid, index, track, last, piece.low))
            if piece.end > end:
                end = piece.end
                last = piece.high
    return [*wires, *more]


@dataclass(order=True)
class Run:
    """Metal of one net, or of the power grid, without a gap on a track."""

    begin: int
    end: int
    small: bool = False
    net: int = -1


def lengthen(
    nets: dict[int, list[Wire]], ports: Iterable[Node], grid: Grid, power: Iterable[tuple[str, Rect]]
) -> list[Node]:
    """Lengthen each piece of a net that has less than the layer's least area, if there is room on its track.
    Return the nodes of the pieces that have no room.
    """
    layers = [grid.lef.layers[name] for name in grid.layers]
    if not any(layer.area for layer in layers):
        return []
    step = dbu(grid.lef.grid) or 1
    cramped = list[Node]()
    for (index, track), runs in _runs(nets, ports, grid, power).items():
        layer = layers[index]
        half = dbu(grid.widths[layers[index].name] / 2)
        space = dbu(layer.ends_apart)
        least = grid.least_length(layer.name)
        runs.sort()
        for at, run in enumerate(runs):
            lost = least - (run.end - run.begin)
            if not run.small or lost <= 0:
                continue
            left = run.begin - space - max((other.end for other in runs[:at]), default=-FAR)
            right = min((other.begin for other in runs[at + 1 :]), default=FAR) - space - run.end
            # leftwards first: the next one has the most room then
            before = max(min(lost, left), 0) // step * step
            if lost - before <= right:
                run.begin -= before
                run.end += lost - before
                nets[run.net].append(_wire(grid, index, track, run.begin + half, run.end - half))
            else:
                middle = (run.begin + run.end) // 2
                point = (middle, track) if index % 2 else (track, middle)
                cramped.append((index, *grid.nearest(*point)))
    return cramped


def _runs(
    nets: dict[int, list[Wire]], ports: Iterable[Node], grid: Grid, power: Iterable[tuple[str, Rect]]
) -> dict[tuple[int, int], list[Run]]:
    """The metal of nets, ports and the power grid by layer and track."""
    layers = [grid.lef.layers[name] for name in grid.layers]
    tracks: dict[tuple[int, int], list[Run]] = defaultdict(list)
    for number, wires in nets.items():
        for place, pieces in _on_tracks(wires, grid).items():
            runs = tracks[place]
            first = len(runs)
            for piece in sorted(pieces):
                if len(runs) > first and piece.begin <= runs[-1].end:
                    runs[-1].end = max(runs[-1].end, piece.end)
                    runs[-1].small &= piece.small
                else:
                    runs.append(Run(piece.begin, piece.end, piece.small, number))
    for index, column, row in ports:  # their metal reaches to the edge of the die, and has the least area
        x, y = grid.at(column, row)
        middle, across = (x, y) if index % 2 else (y, x)
        length = grid.lef.least_length(layers[index])
        runs = tracks[index, across]
        met = [run for run in runs if run.begin <= middle <= run.end]
        for run in met or [Run(middle, middle)]:
            if not met:
                runs.append(run)
            run.begin = min(run.begin, middle - length)
            run.end = max(run.end, middle + length)
            run.small = False
    for name, (left, bottom, right, top) in power:
        if name in grid.layers:
            index = grid.layers.index(name)
            far = dbu(grid.reach(index, index % 2) + layers[index].spacing)
            low, high, begin, end = (bottom, top, left, right) if index % 2 else (left, right, bottom, top)
            for place, runs in tracks.items():
                if place[0] == index and low - far < place[1] < high + far:
                    runs.append(Run(begin, end))
    return tracks
