"""Rows of the ledger, the input of tables, plots and exports."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple

from ...fl.errors import BadInput
from ..json_values import Json, attributes, json_value
from .flow_settings import KIT
from .point import Point, key_in


class Source:
    """The origin of a measurement, which determines once for all its figures whether they are stale."""

    def __init__(self, key: str, point: Mapping[str, Any]) -> None:
        self.key, self._point = key, point

    @cached_property
    def stale(self) -> bool:
        """Whether the hardware, code, tools or kit of its figures have changed since."""
        try:
            return self.moved(Point.from_json(self._point))
        except BadInput:  # a design or a parameter that no longer exists
            return True

    def moved(self, point: Point) -> bool:
        """Whether the point has another version now. The key is compared first, because it is cheaper."""
        return key_in(self.key) != point.key or point.version != self.key


@dataclass(frozen=True)
class Row:
    """One figure with all its metadata: the input of tables, plots and exports."""

    id: int  # of the figure: the argument of `modexlab ledger reproduce`
    measurement: int
    subject: str
    family: str
    nbits: int
    parameters: Mapping[str, Any]
    interface: str
    workload: str
    operation: str
    stage: str
    flow: Mapping[str, Any]
    metric: str
    value: float
    unit: str
    tests: str
    marks: tuple[str, ...]
    command: tuple[str, ...]
    tools: Mapping[str, str]
    verilog_hash: str
    when: str  # ISO 8601, UTC
    seconds: float
    key: str
    point: Mapping[str, Any]
    source: Source = field(repr=False, compare=False)
    unverified: str = ""  # the reason to measure a recorded figure again

    @property
    def kit(self) -> str:
        """The cell library, if it is not the default."""
        return str(self.flow.get(KIT, ""))

    @property
    def reference(self) -> bool:
        """Whether it is a reference result, not from the ledger."""
        return self.measurement < 0

    @property
    def comparable(self) -> bool:
        """Whether it may appear in comparisons, fronts and plots."""
        return not self.marks

    @property
    def stale(self) -> bool:
        """Whether it was measured on other hardware, or by other code or tools. Loads the catalogue."""
        return self.source.stale


COLUMNS = tuple(field.name for field in fields(Row) if field.name != "source")


def record(row: Row) -> Json:
    """The row for JSON; numbers that readers would round become hexadecimal text."""
    return {**_exact(attributes(row, *COLUMNS)), "command": shlex.join(row.command)}


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _exact(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    return json_value(value)


class Failure(NamedTuple):
    """A point that could not be measured."""

    key: str
    message: str
    seconds: float
    when: str
    command: tuple[str, ...]
    point: Mapping[str, Any]
