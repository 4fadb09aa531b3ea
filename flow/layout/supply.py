"""Power and ground of a placement: rails along the rows, straps across them with vias between, taps of the
wells and end caps, as the kit's table [supply] has them.

The rails belong to the cells. Straps are on the layers that the kit names, lowest first, power and ground
alternating. Arrays of cuts join two crossing wires of the same net, on each cut layer between them.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from ..kit.kit_file import Strap
from ..kit.lef import DBU, Box, Lef, dbu
from .placed import Placed
from .placement import Place, Row
from .routing import NetWires, Rect, Wire

Middle = tuple[int, int, tuple[int, int]]  # of a strap: which net, where, and both ends
STEP = 20  # database units: middles of straps lie on a grid of 10 nm, so that their edges lie on one of 5 nm


class PowerVia(NamedTuple):
    """An array of cuts around the origin: its shapes by layer, the lower wires first."""

    name: str
    shapes: dict[str, list[Rect]]


@dataclass
class PowerGrid:
    """Wires of each net, and the vias between them."""

    wires: NetWires
    vias: dict[str, list[tuple[PowerVia, int, int]]] = field(default_factory=dict)
    straps: NetWires = field(default_factory=dict)

    def arrays(self) -> dict[str, PowerVia]:
        """All kinds of vias, by name."""
        return {via.name: via for vias in self.vias.values() for via, _, _ in vias}

    def shapes(self) -> Iterator[tuple[str, Rect]]:
        """The metal of straps and vias: what other wires keep away from."""
        for wire in itertools.chain(*self.straps.values()):
            yield wire.layer, wire.outline
        for via, x, y in itertools.chain(*self.vias.values()):
            for layer, rects in via.shapes.items():
                for x0, y0, x1, y1 in rects:
                    yield layer, (x + x0, y + y0, x + x1, y + y1)


# ---- cells without logic


def cap_width(lef: Lef) -> int:
    """Width of an end cap; 0 in a kit without."""
    name = lef.kit.supply.end_cap
    return dbu(lef.macro(name).width) if name else 0


def row_ends(row: Row, lef: Lef) -> tuple[int, int]:
    """Left and right end of a row with its end caps."""
    cap = cap_width(lef)
    x = dbu(row.x_um)
    return x - cap, x + row.sites * dbu(lef.site_width) + cap


def end_caps(placed: Placed) -> dict[str, Place]:
    """A cell at both ends of each row, beside the sites."""
    lef, name = placed.lef, placed.lef.kit.supply.end_cap
    caps = {}
    for number, row in enumerate(placed.placement.rows if name else ()):
        left, right = row_ends(row, lef)
        for side, x in ("left", left), ("right", right - cap_width(lef)):
            caps[f"end_cap.{side}_{number}"] = Place(name, x / DBU, row.y_um, row.orient)
    return caps


def add_taps(placed: Placed) -> None:
    """Put taps into all rows, so near to one another that no cell is too far from one; cells make way."""
    lef, kind, placement = placed.lef, placed.lef.kit.supply.tap, placed.placement
    if not kind:
        return
    distance = lef.kit.supply.tap_um
    for number, row in enumerate(placement.rows):
        width = row.sites * lef.site_width
        count = max(1, math.ceil(width / (2 * distance)))
        for place in range(count):
            x = row.x_um + (place + 0.5) * width / count
            placed.rows.insert(f"tap.{number}_{place}", kind, x, row.y_um + lef.row_height / 2, number)
    names = [name for name in placement.instances if name.startswith("tap.")]
    placement.taps = {name: placement.instances.pop(name) for name in names}


# ---- wires


def rails(placed: Placed) -> NetWires:
    """The power nets: a rail along each edge of a row, ground below a row that stands upright."""
    placement, supply = placed.placement, placed.lef.kit.supply
    height, width = dbu(placed.lef.row_height), dbu(supply.rail_um)
    x0, x1 = row_ends(placement.rows[0], placed.lef)
    edges: dict[int, str] = {}
    for row in placement.rows:
        y = dbu(row.y_um)
        names = (supply.ground, supply.power) if row.orient == "N" else (supply.power, supply.ground)
        edges |= zip((y, y + height), names, strict=True)
    nets: NetWires = {supply.power: [], supply.ground: []}
    for y, name in sorted(edges.items()):
        nets[name].append(Wire(supply.rail_layer, x0, y, x1, y, "", width))
    return nets


def power_grid(placed: Placed) -> PowerGrid:
    """Rails, straps and vias."""
    lef, supply = placed.lef, placed.lef.kit.supply
    below = rails(placed)
    names = (supply.ground, supply.power)
    grid = PowerGrid({name: list(below[name]) for name in below})
    if not supply.straps:
        return grid
    grid.straps = {name: [] for name in below}
    grid.vias = {name: [] for name in below}
    x0, x1 = row_ends(placed.placement.rows[0], lef)
    half = dbu(supply.rail_um) // 2
    places = [rail.y0 for rail in itertools.chain(*below.values())]
    y0, y1 = min(places) - half, max(places) + half
    for strap in supply.straps:
        upright = lef.layers[strap.layer].direction == "VERTICAL"
        (low, high), ends = ((x0, x1), (y0, y1)) if upright else ((y0, y1), (x0, x1))
        if strap.at_taps:
            middles = _above_taps(placed)
        else:
            middles = [(i % 2, place, ends) for i, place in enumerate(_spread(strap, lef, low, high))]
        if not middles:
            continue
        above: NetWires = {name: [] for name in names}
        for net, place, (start, end) in middles:
            at = (place, start, place, end) if upright else (start, place, end, place)
            above[names[net]].append(Wire(strap.layer, *at, "", dbu(strap.width_um)))
        for name in names:
            grid.vias[name] += crossings(lef, below[name], above[name])
            grid.wires[name] += above[name]
            grid.straps[name] += above[name]
        below = above
    return grid


def _spread(strap: Strap, lef: Lef, low: int, high: int) -> list[int]:
    """The middles of straps, evenly; none if the core is too small for both nets. On a layer for signals,
    a strap as narrow as a wire is on a track.
    """
    count = max(2, math.ceil((high - low) / dbu(strap.pitch_um)))
    if high - low < 2 * count * dbu(strap.width_um):
        return []
    found = [low + round((number + 0.5) * (high - low) / count / STEP) * STEP for number in range(count)]
    layer = lef.layers[strap.layer]
    if strap.width_um > layer.width or layer.name not in lef.kit.layers.signal:
        return found
    first, pitch = lef.tracks(layer)[0]
    return [first + round((place - first) / pitch) * pitch for place in found]


def _above_taps(placed: Placed) -> list[Middle]:
    """The middles of both halves of the taps, in columns of taps. A strap ends one row before a row whose tap
    is elsewhere, because pins may be below it there.
    """
    lef, placement = placed.lef, placed.placement
    low = dbu(placement.rows[0].y_um)
    height = dbu(lef.row_height)
    last = len(placement.rows) - 1
    half = dbu(lef.kit.supply.rail_um) // 2
    width = dbu(lef.macro(lef.kit.supply.tap).width)
    columns = defaultdict[int, list[int]](list)
    for tap in placement.taps.values():
        columns[dbu(tap.x_um)].append((dbu(tap.y_um) - low) // height)
    found = []
    for x, rows in sorted(columns.items()):
        rows.sort()
        breaks = [at for at in range(1, len(rows)) if rows[at] != rows[at - 1] + 1]
        for start, end in pairwise([0, *breaks, len(rows)]):
            first, final = rows[start], rows[end - 1]
            if first > 0:
                first += 1
            if final == last:
                final += 1
            if final > first:
                ends = low + first * height - half, low + final * height + half
                found += [(net, x + (2 * net + 1) * width // 4, ends) for net in (0, 1)]
    return found


def crossings(lef: Lef, below: list[Wire], above: list[Wire]) -> list[tuple[PowerVia, int, int]]:
    """The vias wherever a wire crosses one of a higher layer."""
    found = []
    for lower, upper in itertools.product(below, above):
        a, b = lower.outline, upper.outline
        x0, y0 = max(a[0], b[0]), max(a[1], b[1])
        x1, y1 = min(a[2], b[2]), min(a[3], b[3])
        along = int(lower.x0 == lower.x1)
        margin = dbu(lef.layers[lower.layer].width / 2)
        inside = a[along] + margin <= b[along] and b[along + 2] <= a[along + 2] - margin
        over = b[1 - along] <= a[1 - along] and a[3 - along] <= b[3 - along]
        if not (inside and over):
            continue  # side by side, or an end
        vias = arrays(lef, lower.layer, upper.layer, x1 - x0, y1 - y0)
        found += [(via, (x0 + x1) // 2, (y0 + y1) // 2) for via in vias]
    return found


def arrays(lef: Lef, lower: str, upper: str, width: int, height: int) -> list[PowerVia]:
    """The vias between two layers in a crossing of this size: as many cuts on each layer as fit, with the
    metal of the crossing around them; in a crossing that is too small, the LEF's own vias.
    """
    names = [layer.name for layer in lef.routing]
    found = []
    for below, above in pairwise(names[names.index(lower) : names.index(upper) + 1]):
        shapes = next(shapes for shapes in lef.vias.values() if {below, above} <= shapes.keys())
        (cut,) = shapes.keys() - {below, above}
        left, bottom, right, top = map(dbu, shapes[cut])
        # the widest of the enclosures on all sides
        around = max(
            max(box[2] - shapes[cut][2], box[3] - shapes[cut][3]) for box in (shapes[below], shapes[above])
        )
        pitch = right - left + dbu(lef.layers[cut].spacing)
        counts = [(length - 2 * dbu(around) - (right - left)) // pitch + 1 for length in (width, height)]
        places = [[pitch * (2 * at - count + 1) // 2 for at in range(count)] for count in counts]
        metal = [(-width // 2, -height // 2, width // 2, height // 2)]
        if min(counts) < 1:
            own = {
                name: metal if name in (lower, upper) else [_rect(shapes[name])]
                for name in (below, cut, above)
            }
            found.append(PowerVia(f"{cut}_{width}_{height}", own))
            continue
        cuts = [(x + left, y + bottom, x + right, y + top) for x, y in itertools.product(*places)]
        found.append(PowerVia(f"{cut}_{width}_{height}", {below: metal, cut: cuts, above: metal}))
    return found


def _rect(box: Box) -> Rect:
    x0, y0, x1, y1 = map(dbu, box)
    return x0, y0, x1, y1
