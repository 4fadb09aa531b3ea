"""Design-rule checks of the GDS by KLayout: width and spacing of wires and cuts, by the rules of the kit's
LEF.

All of the GDS is looked at, the kit's cells with the wires over them. What a cell has by itself is the kit's
own matter, and is told apart: each kind is checked alone, and faults at just these places of its instances
are not the layout's. Rules that the LEF has for wide wires are not needed, as no wire is wide; antennas and
densities are not checked, as the kit has no rules for them.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import TYPE_CHECKING

from ..kit.kit import Kit
from ..kit.lef import Layer
from .report import Compared

if TYPE_CHECKING:
    import klayout.db as db

CHECK = "shapes"
SHOWN = 3


def compare(gds: Path, kit: Kit) -> list[Compared]:
    """Faults by rule; there should be none."""
    import klayout.db as db  # not at the top: not everyone has it

    content = db.Layout()
    content.read(str(gds))
    top = content.top_cell()
    found = []
    for layer in (*kit.geometry.routing, *kit.geometry.cuts):
        if not layer.width or layer.name not in kit.geometry.kit.layers.gds:
            continue
        index = content.layer(kit.geometry.kit.layers.gds[layer.name], 0)
        shapes = db.Region(top.begin_shapes_rec(index)).merged()
        for rule, least in (("width", layer.width), ("spacing", layer.spacing)):
            if not least or shapes.is_empty():
                continue
            faults = _faults(shapes, rule, least, content.dbu)
            own = _own(top, index, rule, least, content.dbu) if faults else set()
            found.append(_compared(layer, rule, least, faults, own, content.dbu))
    return found


def _own(top: db.Cell, index: int, rule: str, least: float, dbu: float) -> set[db.Box]:
    """Where the cells of the kit have faults by themselves."""
    alone: dict[int, list[db.EdgePair]] = {}
    found = set()
    for instance in top.each_inst():
        kind = instance.cell_index
        if kind not in alone:
            alone[kind] = _faults(_alone(instance.cell, index), rule, least, dbu)
        found |= {edge_pair.transformed(instance.cplx_trans).bbox() for edge_pair in alone[kind]}
    return found


def _alone(cell: db.Cell, index: int) -> db.Region:
    import klayout.db as db

    return db.Region(cell.begin_shapes_rec(index)).merged()


def _faults(shapes: db.Region, rule: str, least: float, dbu: float) -> list[db.EdgePair]:
    """By the metrics of edges that face each other."""
    distance = round(least / dbu)
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


def _compared(
    layer: Layer, rule: str, least: float, faults: list[db.EdgePair], own: set[db.Box], dbu: float
) -> Compared:
    places = [fault.bbox().center() for fault in faults[:SHOWN]]
    where = ", ".join(f"{place.x * dbu:.3f} {place.y * dbu:.3f}" for place in places)
    return Compared(
        check=CHECK,
        what=f"{rule} of {layer.name} below {least:g} um",
        ours=0,
        theirs=len(faults),
        unit="faults",
        tool=tool(),
        agrees=not faults,
        cause="all within the kit's own cells"
        if faults and all(fault.bbox() in own for fault in faults)
        else "",
        note=f"at {where} um" if faults else "",
    )


def tool() -> str:
    """KLayout, with its version."""
    return f"KLayout {importlib.metadata.version('klayout')}"
