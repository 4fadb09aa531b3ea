"""Design-rule checks of metal, vias, areas and grid by a PDK's table of values, if its rule deck cannot be
run.

The kit says which value of the table is the limit of what on which layers ([[values]]). The markers are
written as the deck would write them. Substrate, wells, densities and antennas are not checked.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...fl.errors import BadInput
from ...fl.input_file import read_text
from ..kit.kit import Kit
from ..kit.kit_file import LayerValues
from .connections import drawn
from .shapes import faults

Found = Iterator[tuple[str, Any]]  # a rule and its markers


def markers(gds: Path, kit: Kit, table: Path, report: Path) -> None:
    """Check a layout and write all markers to a report of KLayout, with a category for each check."""
    import klayout.db as db
    import klayout.rdb as rdb

    content = db.Layout()
    content.read(str(gds))
    found = rdb.ReportDatabase(table.name)
    cell, scale = found.create_cell(content.top_cell().name), db.CplxTrans(content.dbu)
    for rule, shapes in _Checker(content, kit, _read(table)).all():
        category = found.create_category(rule)
        for shape in shapes:
            item = found.create_item(cell.rdb_id(), category.rdb_id())
            item.add_value(scale * shape.bbox())
    found.save(str(report))


def _read(table: Path) -> dict[str, float]:
    try:
        tables = msgspec.json.decode(
            read_text(table, "give a table of values"), type=dict[str, dict[str, Any]]
        )
    except msgspec.DecodeError as error:
        raise BadInput(f"{table}: no table of values ({error})") from None
    return {name: value for found in tables.values() for name, value in found.items()}


class _Checker:
    """A layout's layers and the limits of its rules."""

    def __init__(self, content: Any, kit: Kit, limits: dict[str, float]) -> None:
        self.content, self.limits, self.data = content, limits, kit.data
        self.order, self.numbers = drawn(kit.geometry), kit.geometry.kit.layers

    def all(self) -> Found:
        """All checks."""
        for values in self.data.values:
            for name in values.layers:
                yield from self._layer(name, values)

    def _region(self, name: str) -> Any:
        import klayout.db as db

        shapes = self.content.top_cell().begin_shapes_rec(self.content.layer(*self.numbers.number(name)))
        return db.Region(shapes).merged()

    def _limit(self, key: str) -> int:
        if not isinstance(value := self.limits.get(key), int | float):
            raise BadInput(f"the kit {self.data.name}: [[values]] names {key}, no number of files.values")
        return round(value / self.content.dbu)

    def _layer(self, name: str, values: LayerValues) -> Found:
        import klayout.db as db

        shapes, at = self._region(name), self.order.index(name)
        for rule in ("width", "spacing"):
            if key := getattr(values, rule):
                yield f"{key} {rule} {name}", faults(shapes, rule, self._limit(key))
        for width, run, key in values.wide:
            half = self._limit(width) // 2
            wide = shapes.sized(-half).sized(half)
            pairs = shapes.separation_check(
                wide, self._limit(key), False, db.Region.Euclidian, None, self._limit(run) + 1, None
            )
            yield f"{key} spacing {name}", pairs.each()
        if values.area:
            least = round(self.limits[values.area] / self.content.dbu**2)
            yield f"{values.area} area {name}", shapes.with_area(0, least, False).each()
        if values.size:
            side = self._limit(values.size)
            squares = shapes.rectangles().with_bbox_width(side, False).with_bbox_height(side, False)
            yield f"{values.size} size {name}", (shapes - squares).each()
        for place, key in ((at - 1, values.below), (at + 1, values.above)):
            if key:
                around = shapes.sized(self._limit(key)).not_inside(self._region(self.order[place]))
                yield f"{key} {self.order[place]} around {name}", around.each()
        for place, key in ((at - 1, values.ends_below), (at + 1, values.ends_above)):
            if key:
                metal, far, bare = self._region(self.order[place]), self._limit(key), shapes
                for dx, dy in ((far, 0), (0, far)):
                    bare = bare.interacting(shapes.sized(dx, dy, 2).not_inside(metal))
                yield f"{key} {self.order[place]} around ends of {name}", bare.each()
        if values.grid:
            step = self._limit(values.grid)
            yield f"{values.grid} {name}", shapes.grid_check(step, step).each()
