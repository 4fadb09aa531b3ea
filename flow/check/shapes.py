"""Design-rule checks of the GDS by KLayout: width and spacing of wires and cuts, by the rules of the kit's
LEF.

The whole GDS is checked, cells and wires together. Violations inside the kit's cells do not count: each kind
of cell is checked alone, and violations at the same places of its instances are ignored. Rules for wide wires
are not needed, because no wire is wide. Antennas and densities are not checked, because the kit has no rules
for them.
"""

from pathlib import Path
from typing import Any

from ..kit.kit import Kit
from ..layout import fill
from . import report
from .report import Compared

CHECK = "shapes"


def compare(gds: Path, kit: Kit) -> list[Compared]:
    """Faults by rule; there should be none."""
    import klayout.db as db  # not at the top: not everyone has it

    content = db.Layout()
    content.read(str(gds))
    dbu, top, lef = content.dbu, content.top_cell(), kit.geometry

    def on_layer(cell: Any, index: int) -> Any:
        return db.Region(cell.begin_shapes_rec(index)).merged()

    def own(index: int, rule: str, distance: int) -> set[Any]:
        """The bounding boxes of violations inside the kit's cells."""
        alone = {}
        found = set()
        for instance in top.each_inst():
            kind = instance.cell_index
            if instance.cell.name == fill.CELL:
                continue
            if kind not in alone:
                alone[kind] = faults(on_layer(instance.cell, index), rule, distance)
            found |= {pair.transformed(instance.cplx_trans).bbox() for pair in alone[kind]}
        return found

    found = []
    for layer in (*lef.routing, *lef.cuts):
        if not layer.width:
            continue
        index = content.layer(*lef.kit.layers.number(layer.name))
        shapes = on_layer(top, index)
        for rule, least in (("width", layer.width), ("spacing", layer.spacing)):
            if not least or shapes.is_empty():
                continue
            distance = round(least / dbu)
            boxes = [pair.bbox() for pair in faults(shapes, rule, distance)]
            places = [f"{box.center().x * dbu:.3f} {box.center().y * dbu:.3f} um" for box in boxes]
            inside = bool(boxes) and set(boxes) <= own(index, rule, distance)
            cause = "all within the kit's own cells" if inside else ""
            what = f"{rule} of {layer.name} below {least:g} um"
            found.append(report.faults(CHECK, what, places, cause))
    return found


def faults(shapes: Any, rule: str, distance: int) -> list[Any]:
    """Return what has less than a width or spacing, by the metrics of edges that face each other."""
    if rule == "width":
        return list(shapes.width_check(distance).each())
    # a rail with the pins on it is a polygon as long as the die, which KLayout holds against each of its
    # neighbours edge by edge; their edges alone it sorts by place, and finds what may be a fault: polygons
    # are asked where that is so
    suspects = shapes.edges().space_check(distance)
    if suspects.count() == 0:
        return []
    places = suspects.extents(distance)
    return list((shapes & places.sized(2 * distance)).space_check(distance).interacting(places).each())
