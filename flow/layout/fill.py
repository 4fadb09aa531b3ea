"""Metal fill: pieces of wire of no net on free tracks. Polishing leaves a layer uneven where it has little
metal, so foundries have rules of density.

Fill is as far from other metal as the LEF asks of wires. It is on the layer of the wires, not on the
foundry's layer of fillers, whose squares of 2 um and more do not fit between wires. It is in the GDS alone,
in a cell of its own; extraction, and timing and power with it, does not see it.
"""

from collections import defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from ..kit.lef import DBU, Lef, dbu
from .grid import Grid

CELL = "FILL"
LONGEST = 20 * DBU  # so that fill couples neighbours only
SQUARES = 4  # the least length, in widths


def draw(content: Any, grid: Grid) -> None:
    """Add fill to a layout that KLayout has read, on the layers of the grid."""
    import klayout.db as db  # not at the top: not everyone has it

    top = content.top_cell()
    kit = grid.lef.kit
    own = content.create_cell(CELL)
    die = top.bbox_per_layer(content.layer(*kit.outline_gds))
    for index, name in enumerate(grid.layers):
        width = dbu(grid.widths[name])
        number = db.LayerInfo(*kit.layers.number(name))
        layer = replace(grid.lef.layers[name], width=grid.widths[name])
        turn = db.Trans(db.Trans.M45 if index % 2 == 0 else db.Trans.R0)  # so that tracks are horizontal
        metal = db.Region()
        for drawn in content.layer_indexes():  # wires, and ports
            if content.get_info(drawn).is_equivalent(number):
                metal += db.Region(top.begin_shapes_rec(drawn))
        metal = metal.merged().transformed(turn)
        space, ends = dbu(layer.spacing), dbu(layer.ends_apart)
        inside = (turn * die).enlarged(-ends, -ends)
        starts = range(inside.left, inside.right, LONGEST + ends)
        lines = db.Region()  # two units wide, in pieces
        for start, track in product(starts, sorted(grid.tracks[index])):
            if inside.bottom <= track - width // 2 and track + width // 2 <= inside.top:
                end = min(start + LONGEST, inside.right)
                lines.insert(db.Box(start, track - 1, end, track + 1))
        free = lines - metal.sized(ends, width // 2 + space, 2)
        limits = {(least, wider) for least, _, wider in layer.wide if wider > layer.spacing}
        for least, wider in limits:
            wide = metal.sized(-(dbu(least) // 2)).sized(dbu(least) // 2)
            free -= wide.sized(max(ends, dbu(wider)), width // 2 + dbu(wider), 2)
        shortest = max(grid.lef.least_length(layer), SQUARES * width)
        boxes = [box for polygon in free.each() if (box := polygon.bbox()).height() == 2]
        last = defaultdict[int, int](int)  # end of the fill on a track
        for box in sorted(boxes, key=lambda box: box.left):
            box.left = max(box.left, last[box.bottom] + ends)
            if box.right - box.left >= shortest:
                last[box.bottom] = box.right
                own.shapes(content.layer(number)).insert(turn * box.enlarged(0, width // 2 - 1))
    top.insert(db.CellInstArray(own.cell_index(), db.Trans()))


def remove(content: Any) -> None:
    """Take the fill out of a layout."""
    if (own := content.cell(CELL)) is not None:
        own.delete()


def densities(gds: Path, lef: Lef) -> dict[str, float]:
    """The share of the die that metal covers, by layer of signals."""
    import klayout.db as db

    content = db.Layout()
    content.read(str(gds))
    top = content.top_cell()
    area = top.bbox_per_layer(content.layer(*lef.kit.outline_gds)).area()
    numbers = {name: content.layer(*lef.kit.layers.number(name)) for name in lef.kit.layers.signal}
    return {
        name: db.Region(top.begin_shapes_rec(number)).merged().area() / area
        for name, number in numbers.items()
    }
