"""Rows of a store, the input of tables, plots and exports."""

import json
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ....fl.errors import BadInput
from ...designs.soc_system import accelerator_in
from ...json_values import Json, attributes, json_value
from .. import keys
from ..flow_settings import KIT
from ..point import Point, key_in, version_of
from . import artifacts
from .entries import FailureEntry, MeasurementEntry, PointEntry


class Source:
    """The entry of a measurement, which determines once for all its figures whether they are stale."""

    def __init__(self, key: str, point: Json, entry: MeasurementEntry, store: Path) -> None:
        self.key, self._point, self.entry, self._store = key, point, entry, store

    @cached_property
    def details(self) -> Json:
        found: Json = json.loads(bytes(self.entry.details))
        return found

    @property
    def artifacts(self) -> dict[str, bytes]:
        return artifacts.read(self._store, self.entry.artifacts)

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


class ReferenceSource(Source):
    """The staleness of a reference result."""

    def moved(self, point: Point) -> bool:
        return is_stale(self.entry, point)


def is_stale(entry: PointEntry, point: Point) -> bool:
    """Whether the point of a reference result has other hardware or another kit now; a kit that is not here
    cannot be compared.
    """
    kit = entry.kit and keys.kit_of(point.stage, point.kit or None)
    return (bool(kit) and kit != entry.kit) or entry.content != point.content


@dataclass(frozen=True)
class Row:
    """One figure with all its metadata: the input of tables, plots and exports."""

    id: int  # of the figure: the argument of `modexlab store reproduce`
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
    def design(self) -> str:
        """The name of the design, alone or behind the processor."""
        return accelerator_in(self.subject)

    @property
    def kit(self) -> str:
        """The cell library, if it is not the default."""
        return str(self.flow.get(KIT, ""))

    @property
    def reference(self) -> bool:
        """Whether it is a reference result, not from the user's store."""
        return self.measurement < 0

    @property
    def comparable(self) -> bool:
        """Whether it may appear in comparisons, fronts and plots."""
        return not self.marks

    @property
    def details(self) -> Mapping[str, Any]:
        """The details of its measurement."""
        return self.source.details

    @property
    def artifacts(self) -> Mapping[str, bytes]:
        """The artifacts of its measurement, by name."""
        return self.source.artifacts

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


MOST_FIGURES = 1000  # of a measurement; the number of a row is that of its line, followed by three digits


def rows_of(
    entry: MeasurementEntry, number: int, store: Path, metrics: Collection[str] | None = None
) -> Iterator[Row]:
    """The rows of a measurement in a store, by the number of its line, which is negative for reference
    results; metrics: only of these.
    """
    point = json.loads(bytes(entry.point))
    key = entry.key or version_of(f"line {abs(number)}", entry.content)
    shared = {
        **{name: point[name] for name in ("nbits", "interface", "workload", "stage", "flow")},
        **attributes(entry, "family", "tests", "tools"),
        "point": point,
        "subject": point["subject"].partition("@")[0],
        "parameters": json.loads(bytes(entry.parameters)),
        "marks": tuple(entry.marks),
        "command": tuple(entry.command),
        "verilog_hash": entry.verilog_hash or entry.content,
        "when": entry.at,
        "seconds": entry.seconds,
        "key": key,
        "source": (Source if entry.key else ReferenceSource)(key, point, entry, store),
    }
    for index, (operation, metric, value, unit) in enumerate(entry.figures, 1):
        if metrics is not None and metric not in metrics:
            continue
        yield Row(
            **shared,
            id=number * MOST_FIGURES + (index if number > 0 else -index),
            measurement=number,
            operation=operation,
            metric=metric,
            value=value_of(value),
            unit=unit,
            unverified=entry.unverified.get(metric) or entry.unverified.get("", ""),
        )


def value_of(value: float | int | str) -> float:
    """The value of a figure in an entry."""
    return int(value, 16) if isinstance(value, str) else value


class Failure(NamedTuple):
    """A point that could not be measured."""

    key: str
    message: str
    seconds: float
    when: str
    command: tuple[str, ...]
    point: Mapping[str, Any]

    @property
    def subject(self) -> str:
        return str(self.point.get("subject")).partition("@")[0]

    @property
    def design(self) -> str:
        """The name of the design, alone or behind the processor."""
        return accelerator_in(self.subject)


def failure_of(entry: FailureEntry) -> Failure:
    """The failure of an entry."""
    return Failure(
        entry.key or version_of("", entry.content),
        entry.message,
        entry.seconds,
        entry.at,
        tuple(entry.command),
        json.loads(bytes(entry.point)),
    )
