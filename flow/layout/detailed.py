"""Detailed routing: every wire and via, on the tracks of the layers for signals above the cells, near the global routing.

Own router, since none of the open ones that could be installed does it here in minutes. Measured on the 8-bit Montgomery machine (2,700
cells, density 0.7): Katana leaves 5 to 12 % of its segments unrouted after 80 to 160 s. qrouter, by an earlier measurement, takes over
an hour for 10,000 cells.

The grid is that of the two lowest of these layers, vertical and horizontal; those above lie on every track or every other, as the
kit says ([[routing.layers]]). Wires keep to the preferred direction of their layer. What the grid cannot see of the rules, ends of wires
that meet on a track, is kept by guards: nodes next to a wire's end that no other net may use. Pins are met by a via
whose lower metal lies inside the pin, or else keeps its distance to everything else in the cell. detailed_router.cpp does the search.

`check` looks at the result as geometry, by KLayout: spacing on every layer, and who is connected with whom.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...rtl.sim.toolchain import ToolError
from ..kit import kit
from ..kit.def_ import Wire
from ..kit.lef import DBU, Lef, Macro
from ..netlist.netlist import PORT, Netlist, Terminal
from . import searching
from .global_routing import Ways
from .placement import Placement
from .routing import Segment

SOURCE = Path(__file__).with_name("detailed_router.cpp")
MOST_CELLS = 20_000  # unless asked otherwise: 7,000 take 10 s of the processor, 57,000 more than ten minutes
FEW_CELLS = 10_000  # up to which it is tried even where global routing found no room for all
ROUNDS, SECONDS = 80, 1800  # of the processor, which a busy machine does not change
COST_DBU = 20  # database units in one of the router's units of length

Node = tuple[int, int, int]  # layer (0 is the lowest), column, row
Piece = tuple[int, int, int, int]  # columns and rows of its ends


class Grid:
    """Columns and rows of tracks."""

    def __init__(self, placement: Placement, lef: Lef) -> None:
        self.routing = lef.kit.routing
        self.layers = [track.name for track in self.routing.layers]
        vertical, horizontal = (lef.layers[name] for name in self.layers[:2])
        self.x0, self.dx = round(vertical.offset * DBU), round(vertical.pitch * DBU)
        self.y0, self.dy = round(horizontal.offset * DBU), round(horizontal.pitch * DBU)
        self.columns = (round(placement.die_um[0] * DBU) - 2 * self.x0) // self.dx + 1
        self.rows = (round(placement.die_um[1] * DBU) - 2 * self.y0) // self.dy + 1

    def at(self, column: int, row: int) -> tuple[int, int]:
        """Database units of a crossing."""
        return self.x0 + column * self.dx, self.y0 + row * self.dy

    def far(self, a: Node, b: Node) -> int:
        """Length of a wire between two nodes."""
        return self.dx * abs(a[1] - b[1]) + self.dy * abs(a[2] - b[2])

    def nearest(self, x: float, y: float) -> tuple[int, int]:
        """The crossing at (or nearest to) a place."""
        return round((x - self.x0) / self.dx), round((y - self.y0) / self.dy)

    def inside(self, x: float, y: float) -> tuple[int, int]:
        """Likewise, of a place that may be beyond the outermost tracks."""
        column, row = self.nearest(x, y)
        return min(max(column, 0), self.columns - 1), min(max(row, 0), self.rows - 1)


def pin_access(macro: Macro, lef: Lef, grid: Grid) -> dict[str, list[tuple[int, int, str]]]:
    """Of each pin of an upright cell: where a via may stand (dbu from the cell's corner) and which; the best kind there is."""
    import klayout.db as db

    routing = grid.routing

    def region(shapes: Iterable[tuple[str, Any]]) -> Any:
        found = db.Region()
        for layer, corners in shapes:
            if layer == routing.pin_layer:
                found.insert(db.Polygon([db.Point(round(x * DBU), round(y * DBU)) for x, y in corners]))
        return found.merged()

    width, height = round(macro.width * DBU), round(macro.height * DBU)
    spacing = round(lef.layers[routing.pin_layer].spacing * DBU)
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
    return db.Region(db.Box(*(round(value * DBU) for value in box)).moved(x, y))


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
    """All wires of a placed netlist, near their global routing; says why not where the design is too large or too dense."""
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
    edges, left, rounds = _search(grid, [pins for _, pins in nets], guides)
    seconds = round(time.monotonic() - start, 2)
    if left:
        why = f"{left} nets found no way of their own in {rounds} rounds: a lower density gives more room"
        return Detailed(False, why, seconds, rounds, {})
    wires = {
        netlist.nets[net]: list(_wires(grid, pins, ways, meets[net]))
        for (net, pins), ways in zip(nets, edges, strict=True)
    }
    return Detailed(True, "", seconds, rounds, wires)


def _terminals(
    placement: Placement, netlist: Netlist, lef: Lef, grid: Grid
) -> tuple[list[tuple[int, list[list[Node]]]], dict[int, dict[Node, str]]]:
    """For every net the nodes at which each of its pins can be met, driver first; and the via of each such node."""
    access = {
        kind: pin_access(lef.macro(kind), lef, grid)
        for kind in {each.kind for each in placement.instances.values()}
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


def _nodes(
    placement: Placement, lef: Lef, grid: Grid, access: dict[str, Any], terminal: Terminal
) -> Iterator[tuple[Node, str]]:
    owner, pin = terminal
    if owner == PORT:
        port = placement.pins[pin]
        column, row = grid.nearest(port.x_um * DBU, port.y_um * DBU)
        yield (grid.layers.index(port.layer), column, row), ""
        return
    each = placement.instances[owner]
    width, height = round(lef.macro(each.kind).width * DBU), round(lef.row_height * DBU)
    for dx, dy, via in access[each.kind][pin]:
        x = width - dx if each.orient in ("S", "FN") else dx
        y = height - dy if each.orient in ("S", "FS") else dy
        yield (0, *grid.nearest(round(each.x_um * DBU) + x, round(each.y_um * DBU) + y)), via


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
        found.append((*grid.inside(x0, y0), *grid.inside(x1, y1)))
    return found


def _search(
    grid: Grid, nets: list[list[list[Node]]], guides: list[list[Piece]]
) -> tuple[list[list[tuple[Node, Node]]], int, int]:
    """The edges of each net's tree; how many nets are still in conflict; rounds taken."""
    numbers = searching.run(SOURCE, "detailed routing", _task(grid, nets, guides))
    left, rounds = next(numbers), next(numbers)

    def node() -> Node:
        return next(numbers), next(numbers), next(numbers)

    return [[(node(), node()) for _ in range(next(numbers))] for _ in nets], left, rounds


def _task(grid: Grid, nets: list[list[list[Node]]], guides: list[list[Piece]]) -> Iterator[str]:
    tracks = grid.routing.layers
    yield f"{grid.columns} {grid.rows} {grid.dx // COST_DBU} {grid.dy // COST_DBU} {len(tracks)}"
    for index, track in enumerate(tracks):
        yield f"{int(index % 2 == 0)} {track.every_column} {track.every_row} {track.guard}"
    yield " ".join(str(track.apart) for track in tracks[:-1])
    yield f"{ROUNDS} {SECONDS}"
    yield str(len(nets))
    for pins, guide in zip(nets, guides, strict=True):
        yield str(len(pins))
        for nodes in pins:
            yield f"{len(nodes)} " + " ".join(f"{a} {b} {c}" for a, b, c in nodes)
        yield f"{len(guide)} " + " ".join(f"{a} {b} {c} {d}" for a, b, c, d in guide)


def _wires(
    grid: Grid, pins: list[list[Node]], edges: list[tuple[Node, Node]], vias: dict[Node, str]
) -> Iterator[Wire]:
    """A net's tree as straight wires and vias, with a via on one node of every pin."""
    used = {node for edge in edges for node in edge}
    tracks: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for a, b in edges:
        (layer, i0, j0), (other, i1, j1) = sorted((a, b))
        if layer != other:
            x, y = grid.at(i0, j0)
            yield Wire(grid.layers[layer], x, y, x, y, grid.routing.layers[layer].via)
        elif i0 == i1:
            tracks[layer, i0].add((j0, j1))
        else:
            tracks[layer, j0].add((i0, i1))
    for (layer, track), pieces in sorted(tracks.items()):
        for low, high in _joined(pieces):
            ends = ((track, low), (track, high)) if layer % 2 == 0 else ((low, track), (high, track))
            yield Wire(grid.layers[layer], *grid.at(*ends[0]), *grid.at(*ends[1]))
    for nodes in pins:
        met = next((node for node in nodes if node in used), nodes[0])
        if met in vias:
            x, y = grid.at(met[1], met[2])
            yield Wire(grid.routing.pin_layer, x, y, x, y, vias[met])


def _joined(pieces: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Pieces that touch, as one."""
    start = end = None
    for low, high in sorted(pieces):
        if start is None or end is None or low > end:
            if start is not None and end is not None:
                yield start, end
            start, end = low, high
        else:
            end = max(end, high)
    if start is not None and end is not None:
        yield start, end


def check(gds: Path, placement: Placement, netlist: Netlist, *, adk: Path | None = None) -> list[str]:
    """What is wrong with a routed GDS, seen as geometry alone: nothing, if it keeps spacings and connects as the netlist does.

    Spacing of the layers from the pins up and their cuts, the cells' own geometry included; and who is connected with whom by metal
    and cuts, every pin of a cell and every port marked with its net.
    """
    import klayout.db as db

    files = kit.find(adk)
    lef = files.geometry
    content = db.Layout()
    content.read(str(gds))
    top = content.top_cell()
    numbers, routing = lef.kit.layers.gds, lef.kit.routing
    count = len(routing.layers)
    names = [layer.name for layer in lef.routing[: count + 1]]
    names += [layer.name for layer in lef.cuts[:count]]
    wrong = []
    store = db.DeepShapeStore()  # cell by cell: ten times as fast as flat
    regions = {}
    for name in names:
        shapes = top.begin_shapes_rec(content.layer(numbers[name], 0))
        regions[name] = db.Region(shapes).merged()
        spacing = lef.layers[name].spacing
        found = db.Region(shapes, store).space_check(round(spacing / content.dbu)).count()
        if found:
            wrong.append(f"{found} places on {name} are nearer than {spacing} um")
    extractor = db.LayoutToNetlist(top.name, content.dbu)
    marks = {name: db.Texts() for name in (routing.pin_layer, *_port_layers(lef))}
    expected = defaultdict(int)
    for net, driver in enumerate(netlist.driver):
        if net in netlist.constants or driver is None or not netlist.sinks[net]:
            continue
        for terminal in [driver, *netlist.sinks[net]]:
            layer, x, y = _inside_pin(placement, lef, terminal)
            marks[layer].insert(db.Text(f"n{net}", round(x / content.dbu), round(y / content.dbu)))
        expected[f"n{net}"] = 1
    for name, region in regions.items():
        extractor.register(region, name)
        extractor.connect(region)
    for below, cut, above in zip(names, names[count + 1 :], names[1:], strict=False):
        extractor.connect(regions[below], regions[cut])
        extractor.connect(regions[cut], regions[above])
    for name, texts in marks.items():
        extractor.register(texts, f"marks of {name}")
        extractor.connect(regions[name], texts)
    extractor.extract_netlist()
    pieces: dict[str, int] = defaultdict(int)
    for joined in extractor.netlist().top_circuit().each_net():
        owners = [] if not joined.name else joined.name.split(",")
        if len(owners) > 1:
            shown = ", ".join(netlist.nets[int(owner[1:])] for owner in owners)
            wrong.append(f"{shown} are connected with one another")
        for owner in owners:
            pieces[owner] += 1
    for owner in expected:
        if pieces[owner] != 1:
            wrong.append(f"{netlist.nets[int(owner[1:])]} is in {pieces[owner]} pieces")
    return wrong


def _port_layers(lef: Lef) -> tuple[str, str]:
    return lef.kit.layers.horizontal, lef.kit.layers.vertical


def _inside_pin(placement: Placement, lef: Lef, terminal: Terminal) -> tuple[str, float, float]:
    """A layer and a place within a pin's metal."""
    import klayout.db as db

    owner, pin = terminal
    if owner == PORT:
        port = placement.pins[pin]
        return port.layer, port.x_um, port.y_um
    each = placement.instances[owner]
    macro = lef.macro(each.kind)
    layer, corners = macro.pins[pin].shapes[0]
    polygon = db.Polygon([db.Point(round(x * DBU), round(y * DBU)) for x, y in corners])
    part = polygon.decompose_trapezoids()[0].bbox().to_dtype(1 / DBU).center()
    x = macro.width - part.x if each.orient in ("S", "FN") else part.x
    y = macro.height - part.y if each.orient in ("S", "FS") else part.y
    return layer, each.x_um + x, each.y_um + y
