"""What the ledger holds, as the report needs it: an entry is one operation of one measurement, with all of
its figures.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...fl.moduli import has_known_factors
from ..designs import catalogue, interfaces
from ..designs.system_catalogue import HARDWARE
from ..lab import stages
from ..lab.comparison.compare import STALE
from ..lab.flow_settings import FLOW_DEFAULTS
from ..lab.ledger.ledger import Row
from .metrics import METRICS, metric

INTERFACES = interfaces.titles()
SILICON = (stages.LAYOUT, stages.FLOW)  # stages with an area in square micrometres; the first says more


@dataclass(frozen=True)
class Entry:
    """One operation of one measurement. Figures that belong to no operation (an area) are in all of its
    entries.
    """

    rows: Mapping[str, Row]  # by metric
    operation: str
    derived: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def first(self) -> Row:
        """Any row: what is not a figure is the same in all."""
        return next(iter(self.rows.values()))

    @property
    def measurement(self) -> int:
        return self.first.measurement

    @property
    def subject(self) -> str:
        return self.first.subject

    @property
    def family(self) -> str:
        return self.first.family

    @property
    def nbits(self) -> int:
        return self.first.nbits

    @property
    def interface(self) -> str:
        return self.first.interface

    @property
    def stage(self) -> str:
        return self.first.stage

    @property
    def marks(self) -> tuple[str, ...]:
        return self.first.marks

    @property
    def stale(self) -> bool:
        return self.first.stale

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What was asked for other than the defaults of the design."""
        return dict(self.first.point.get("settings") or {})

    @cached_property
    def label(self) -> str:
        """The design, with what is special in it."""
        return " ".join([self.subject, *(f"{name}={value}" for name, value in self.settings.items())])

    @cached_property
    def setup(self) -> str:
        """The stage, and with what settings of the flow."""
        flow, usual = self.first.flow, FLOW_DEFAULTS.get(self.stage, {})
        clock, searched = flow.get("clock_period"), bool(flow.get("fmax"))
        if searched:  # what was given is where the search began
            clock = self.value("clock_ns")
        more = [
            f"{name}={value}"
            for name, value in flow.items()
            if name not in ("clock_period", "fmax") and (name not in usual or value != usual[name])
        ]
        told = f"{clock:g} ns{', the highest clock' if searched else ''}" if clock else ""
        parts = [stages.title(self.stage), *([told] if told else []), *more]
        parts += [STALE] if self.stale else []
        return ", ".join(parts)

    @property
    def group(self) -> str:
        """Only points of one group may be held against each other: the same work on the same kind of thing."""
        parts = [f"{self.nbits} bits", self.operation, INTERFACES.get(self.interface, self.interface)]
        parts += [stages.title(self.stage), str(self.first.flow.get("device", ""))]
        parts += [f"modulus {self.modulus:#x} alone"] if self.modulus else []
        return " · ".join(part for part in parts if part)

    @property
    def twin(self) -> bool:
        """The machine of a paper, built anew."""
        return self._place[1]

    @property
    def rank(self) -> int:
        """The place in the catalogue; software is before it."""
        return self._place[0]

    @cached_property
    def _place(self) -> tuple[int, bool]:
        return _places().get(self.subject.removeprefix(HARDWARE), (-1, False))

    @cached_property
    def modulus(self) -> int:
        """The only one that it takes; 0: any."""
        modulus = self.first.parameters.get("modulus") or 0
        return int(modulus, 0) if isinstance(modulus, str) else modulus

    @cached_property
    def known_factors(self) -> bool:
        """Made for one modulus that divides 2^n - 1, whose factors are known: a benchmark of multipliers, and
        no RSA.
        """
        return has_known_factors(self.modulus, self.nbits)

    def value(self, name: str) -> float | int | None:
        """A figure; None if it was not measured."""
        if name in self.rows:
            return self.rows[name].value
        return self.derived.get(name)

    def source(self, name: str) -> int | None:
        """The row behind a figure; of a derived one, that of what it comes from."""
        row = self.rows.get(name) or (self.rows.get("cycles") if name in self.derived else None)
        return row.id if row else None


@functools.cache
def _places() -> dict[str, tuple[int, bool]]:
    """The designs with their places in the catalogue, and whether they are of a paper."""
    return {design.name: (at, bool(design.paper)) for at, design in enumerate(catalogue.designs())}


def entries_of(rows: Iterable[Row]) -> list[Entry]:
    """The rows of a ledger, in its order."""
    measurements: dict[int, list[Row]] = {}
    for row in rows:
        measurements.setdefault(row.measurement, []).append(row)
    entries = []
    for found in measurements.values():
        operations = list(dict.fromkeys(row.operation for row in found if row.operation))
        shared = {row.metric: row for row in found if not row.operation}
        # what has operations of its own has been asked for by no workload
        for operation in operations or [found[0].workload]:
            own = {row.metric: row for row in found if row.operation and row.operation == operation}
            entries.append(Entry({**shared, **own}, operation, _derived({**shared, **own})))
    return entries


def _derived(rows: Mapping[str, Row]) -> dict[str, float]:
    """Return the time if the cycles are known and a clock that is met."""
    clock = rows.get("clock_ns")
    if "time_ns" not in rows and "cycles" in rows and clock is not None and clock.comparable:
        return {"time_ns": rows["cycles"].value * clock.value}
    return {}


def names_of_metrics(entries: Iterable[Entry]) -> list[str]:
    """All metrics that are there, those that the report knows first and in its order."""
    found = {name for entry in entries for name in (*entry.rows, *entry.derived)}
    return [*(name for name in METRICS if name in found), *sorted(found - METRICS.keys())]


def unit_of(name: str, entries: Iterable[Entry]) -> str:
    """The unit of a metric that the report does not know is that of its rows."""
    return metric(name, next((entry.rows[name].unit for entry in entries if name in entry.rows), "")).unit
