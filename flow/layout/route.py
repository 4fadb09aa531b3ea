"""Routing: the way of every net over the die, from a placement.

Global routing for designs of any size (global_routing.py): every net as segments between the squares of a
grid, with the capacity of the layers of signals kept. It gives each net's length with its detours, and the
density of wires. Where it found room for all, and the design is small enough, detailed.py then makes every
wire, and the lengths are those of its wires.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ..kit.lef import DBU, Lef
from .detailed import MOST_CELLS, not_detailed, route_detailed
from .global_routing import route_globally, tracks
from .placed import Placed
from .placement import Placement, refuse_large
from .routing import Congestion, Overflow, RoutedNet, Routing, Segment, Use

SQUARE_ROWS = 4  # side of the squares by which congestion is reported


def route(placed: Placed, out_dir: Path, *, in_detail: bool = True, most_cells: int = MOST_CELLS) -> Routing:
    """Route globally, and if asked and there is room for it in detail; writes routing.json."""
    refuse_large(placed.netlist, "route")
    ways = route_globally(placed)
    table = {
        placed.netlist.nets[net]: RoutedNet(_length(segments), segments)
        for net, segments in ways.segments.items()
    }
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
        success=not ways.full,
        overflow=Overflow(ways.full, ways.wires_over, ways.rounds),
        congestion=congestion(table, placed.placement, placed.lef),
        seconds={"global": ways.seconds, "detailed": done.seconds},
        detailed=done,
        nets=table,
    )
    routing.write(out_dir)
    return routing


def _length(segments: list[Segment]) -> float:
    return round(sum(abs(x1 - x0) + abs(y1 - y0) for _, x0, y0, x1, y1 in segments), 3)


def congestion(table: Mapping[str, RoutedNet], placement: Placement, lef: Lef) -> Congestion:
    """How many wires cross the borders of squares, of the tracks that there are above the cells, up to the
    last layer of signals.

    These are wider than the router's own, as wires can go around within a few of them.
    """
    side = SQUARE_ROWS * lef.row_height
    crossed: tuple[Counter[tuple[int, int]], ...] = (Counter(), Counter())  # by horizontal, vertical wires
    for net in table.values():
        for _, *ends in net.segments:
            x0, y0, x1, y1 = (math.floor(end / side) for end in ends)
            if ends[1] == ends[3]:
                crossed[0].update((y0, x) for x in range(min(x0, x1), max(x0, x1)))
            else:
                crossed[1].update((x0, y) for y in range(min(y0, y1), max(y0, y1)))
    columns, rows = (math.ceil(length / side) for length in placement.die_um)
    borders = (columns - 1) * rows, (rows - 1) * columns
    across, along = (
        Use(
            round(room, 1),
            round(sum(used.values()) / room / max(count, 1), 4),
            round(max(used.values(), default=0) / room, 4),
        )
        for used, room, count in zip(crossed, tracks(lef, side), borders, strict=True)
    )
    full = sum(
        wires > room for used, room in zip(crossed, tracks(lef, side), strict=True) for wires in used.values()
    )
    return Congestion(round(side, 3), across, along, edges=sum(borders), overflowing=full)
