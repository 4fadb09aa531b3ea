"""Rows of a store in tables: the point of a figure, its settings, and differences between two stores."""

from collections.abc import Sequence
from typing import Any

from ..designs.interfaces import DEFAULT, SYSTEM
from ..json_values import Json, attributes
from ..lab.flow_settings import FLOW_DEFAULTS
from ..lab.store.merge import Difference
from ..lab.store.rows import Row, record
from .options import short
from .render import Table

POINT = ("design", "bits", "settings", "stage", "operation", "metric")  # columns of a point


def point_cells(row: Row) -> list[Any]:
    """The cells of these columns."""
    return [row.subject, row.nbits, settings_text(row), row.stage, row.operation or None, row.metric]


def settings_text(row: Row) -> str:
    """The settings of a point other than defaults; a flow's clock period always."""
    defaults = {**FLOW_DEFAULTS.get(row.stage, {}), "clock_period": None}
    flow = {name: value for name, value in row.flow.items() if value != defaults.get(name)}
    chosen = {**row.point.get("settings", {}), **flow}
    if row.interface not in (DEFAULT.name, SYSTEM):
        chosen["interface"] = row.interface
    return " ".join(f"{name}={short(str(value))}" for name, value in chosen.items()) or "-"


def difference_table(differences: Sequence[Difference]) -> Table:
    """The figures that differ, each with its change."""
    cells = [
        [
            *point_cells(item.row),
            item.before,
            item.after,
            None if item.relative is None else f"{item.relative:+.2%}",
        ]
        for item in differences
    ]
    return Table((*POINT, "before", "after", "change"), cells)


def difference_as_json(difference: Difference) -> Json:
    """A figure that differs, as JSON."""
    return record(difference.row) | attributes(difference, "before", "after", "relative")
