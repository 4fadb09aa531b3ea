"""Rows of the ledger: what tables, plots and exports are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...fl.errors import BadInput
from .point import Point


class Source:
    """Whether a measurement is stale: answered once for all of its figures."""

    def __init__(self, key: str, point: Mapping[str, Any]) -> None:
        self._key, self._point = key, point

    @cached_property
    def stale(self) -> bool:
        try:
            return Point.from_json(self._point).key != self._key
        except BadInput:  # a design or a parameter that is no more
            return True


@dataclass(frozen=True)
class Row:
    """One figure with all that is known of it: what tables, plots and exports are made of."""

    id: int  # of the figure: what `modexlab reproduce` takes
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
    value: float | int
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

    @property
    def comparable(self) -> bool:
        """It may stand in comparisons, fronts and plots."""
        return not self.marks

    @property
    def stale(self) -> bool:
        """Measured with other sources or tools than the present ones. Asking needs the catalogue, which is slow to load."""
        return self.source.stale


@dataclass(frozen=True)
class Failure:
    """A point that could not be measured."""

    key: str
    message: str
    seconds: float
    when: str
    command: tuple[str, ...]
    point: Mapping[str, Any]
