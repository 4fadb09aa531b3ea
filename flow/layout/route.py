"""Routing: the path of every net over the die, from a placement.

Global routing works for designs of any size: every net becomes segments between the squares of a grid, within
the capacity of the signal layers. Each net is a Steiner tree (wires.py). Each edge of the tree is a wire that
goes straight or with one turn if there is room, and detours otherwise (global_router.cpp). The length of a
net is therefore that of its tree plus its detours. Long nets, except those behind cells of the clock tree,
take the layers of least resistance while these have tracks, the longest first; all others are on the kit's
two layers for unrouted wires. If the capacity suffices for all nets and the design is small enough,
detailed.py then routes every wire, and the lengths are those of its wires.
"""

import math
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from ..kit.lef import DBU, Lef, dbu
from ..netlist.netlist import Netlist
from ..prove.assertions import spent
from . import subprocess_engine
from .detailed import MOST_CELLS, not_detailed, route_detailed
from .placed import Placed
from .placement import TREE, refuse_large
from .routing import Overflow, RoutedNet, Routing, Segment, Ways
from .wires import Tree, layer_units, steiner_tree, terminal_positions

SOURCE = Path(__file__).with_name("global_router.cpp")
SQUARE_ROWS = 2  # side of the router's squares: of one row only, pins alone fill many
LONG_UM = 100.0  # to shorter nets the vias to a higher layer would add much of what its wires save
ROUNDS, SECONDS = 40, 600  # of the processor, which a busy machine does not change


def route(placed: Placed, out_dir: Path, *, in_detail: bool = True, most_cells: int = MOST_CELLS) -> Routing:
    """Route globally, and if asked and there is room for it in detail; writes routing.json."""
    refuse_large(placed.netlist, "route")
    # detailed routing needs guides that leave it room
    ways = route_globally(placed, shorten=not in_detail or len(placed.netlist.cells) > most_cells)
    table = by_name(ways, placed.netlist)
    done, found = (
        route_detailed(placed, ways, most_cells)
        if in_detail
        else not_detailed("the setting detailed=false leaves it out")
    )
    for name, wires in found.items():
        net = table[name]
        for wire in wires:
            at = wire.x0 / DBU, wire.y0 / DBU
            if wire.via:
                net.vias.append((wire.via, wire.layer, *at))
            else:
                net.wires.append((wire.layer, *at, wire.x1 / DBU, wire.y1 / DBU))
        net.length_um = _length(net.wires)
    routing = Routing(
        success=done.done or not (done.failed or ways.overflow.borders),
        overflow=ways.overflow,
        seconds={"global": ways.seconds, "detailed": done.seconds},
        detailed=done,
        nets=table,
    )
    routing.write(out_dir)
    return routing


def by_name(ways: Ways, netlist: Netlist) -> dict[str, RoutedNet]:
    """The routes by the names of their nets."""
    return {
        netlist.nets[net]: RoutedNet(_length(segments), segments) for net, segments in ways.segments.items()
    }


def _length(segments: list[Segment]) -> float:
    return round(sum(abs(x1 - x0) + abs(y1 - y0) for _, x0, y0, x1, y1 in segments), 3)


# ---- global routing


def tracks(lef: Lef, side: float) -> tuple[float, float]:
    """How many wires there is room for in a side's length above the cells, up to the last layer of signals:
    horizontal, vertical.
    """
    layers = [lef.layers[track.name] for track in lef.kit.routing.layers]
    across, along = (
        sum(side / layer.pitch for layer in layers if layer.direction == way)
        for way in ("HORIZONTAL", "VERTICAL")
    )
    return across, along


def route_globally(placed: Placed, *, shorten: bool = False) -> Ways:
    """A way for every net that has a wire; `shorten` takes back detours past borders that have room again."""
    start = spent()
    trees = {net: steiner_tree(points) for net, _, points in terminal_positions(placed)}
    answer = subprocess_engine.run(SOURCE, "global routing", _task(trees, placed, shorten))
    overflow = Overflow(*islice(answer, 3))
    layers = placed.lef.kit.layers.horizontal, placed.lef.kit.layers.vertical
    segments = {
        net: [piece for _ in tree.edges for piece in _segments(answer, layers)] for net, tree in trees.items()
    }
    raise_long(segments, placed)
    return Ways(segments, overflow, round(spent() - start, 2))


def _squares(placed: Placed) -> tuple[float, int, int]:
    """The side of the router's squares in um, and the numbers of their columns and rows."""
    side = SQUARE_ROWS * placed.lef.row_height
    columns, rows = (math.ceil(length / side) for length in placed.placement.die_um)
    return side, columns, rows


def raise_long(segments: dict[int, list[Segment]], placed: Placed) -> None:
    """Move long nets to better layers, except those behind cells of the clock tree, which was balanced on the
    layers of unrouted wires.
    """
    side, *shape = _squares(placed)
    lef = placed.lef
    units = layer_units(lef)
    usual = {lef.kit.layers.horizontal, lef.kit.layers.vertical}
    names = sorted(
        (track.name for track in reversed(lef.kit.routing.layers)), key=lambda name: units[name].res_ohm
    )
    # by layer the better ones, best first, and how many more wires may cross a border of each square
    better: dict[str, list[tuple[str, np.ndarray]]] = {name: [] for name in usual}
    for name, others in better.items():
        for other in names:
            same_way = lef.layers[other].direction == lef.layers[name].direction
            if same_way and units[other].res_ohm < units[name].res_ohm:
                room = int(side / lef.layers[other].pitch * lef.kit.routing.share / 100)
                others.append((other, np.full(shape, room)))
    lengths = {net: _length(pieces) for net, pieces in segments.items()}
    for net in sorted(segments, key=lambda net: (-lengths[net], net)):
        driver = placed.netlist.driver[net]
        if lengths[net] < LONG_UM or (driver and driver[0].startswith(f"{TREE}.")):
            continue
        for index, (name, x0, y0, x1, y1) in enumerate(segments[net]):
            (left, right), (bottom, top) = (
                sorted(min(int(end / side), count - 1) for end in ends)
                for ends, count in zip(((x0, x1), (y0, y1)), shape, strict=True)
            )
            crossed = np.s_[left:right, bottom] if y0 == y1 else np.s_[left, bottom:top]
            for other, free in better[name]:
                if (free[crossed] > 0).all():
                    free[crossed] -= 1
                    segments[net][index] = other, x0, y0, x1, y1
                    break


def _task(trees: dict[int, Tree], placed: Placed, shorten: bool) -> Iterator[str]:
    side, columns, rows = _squares(placed)
    across, along = (math.floor(track) for track in tracks(placed.lef, side))
    share = placed.lef.kit.routing.share
    yield f"{columns} {rows} {dbu(side)} {across} {along} {share} {ROUNDS} {SECONDS} {shorten:d}"
    yield str(sum(len(tree.edges) for tree in trees.values()))
    for tree in trees.values():
        for edge in tree.edges:
            yield " ".join(str(dbu(value)) for end in edge for value in tree.points[end])


def _segments(answer: Iterator[int], layers: tuple[str, str]) -> Iterator[Segment]:
    """A wire, by its corners in the answer; horizontal ones are on the first of the layers."""
    corners = islice(zip(answer, answer, strict=True), next(answer))
    for (x0, y0), (x1, y1) in pairwise(corners):
        if (x0, y0) != (x1, y1):
            yield layers[x0 == x1], x0 / DBU, y0 / DBU, x1 / DBU, y1 / DBU
