"""View of the ledger for the report: an entry is one operation of one measurement with all of its figures."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...fl.errors import BadInput
from ...fl.moduli import has_known_factors
from ..designs import catalogue, interfaces
from ..designs.system_catalogue import HARDWARE
from ..designs.workload_names import DECRYPT
from ..lab import stages
from ..lab.comparison.compare import STALE
from ..lab.flow_settings import FLOW_DEFAULTS
from ..lab.ledger.ledger import Row
from ..lab.point import Point
from .metrics import METRICS, metric

Record = dict[str, Any]  # flat, of words and numbers
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
        """Any row; all columns other than figures are equal."""
        return next(iter(self.rows.values()))

    def __getattr__(self, name: str) -> Any:
        """Columns other than figures (measurement, subject, stage, ...) are the same in all rows."""
        return getattr(self.first, name)

    @property
    def behind(self) -> str:
        """The interface in words."""
        return INTERFACES.get(self.interface, self.interface)

    @cached_property
    def settings(self) -> Record:
        """Settings that differ from the defaults of the design."""
        return dict(self.point.get("settings") or {})

    @cached_property
    def label(self) -> str:
        """The design with its settings."""
        return " ".join([self.subject, *(f"{name}={value}" for name, value in self.settings.items())])

    @cached_property
    def setup(self) -> str:
        """The stage with its flow settings."""
        flow, usual = self.flow, FLOW_DEFAULTS.get(self.stage, {})
        clock, searched = flow.get("clock_period"), ""
        if flow.get("fmax"):  # what was given is where the search began
            clock, searched = self.value("clock_ns"), ", the highest clock"
        parts = [stages.title(self.stage), *([f"{clock:g} ns{searched}"] if clock else [])]
        parts += [
            f"{name}={value}"
            for name, value in flow.items()
            if name not in ("clock_period", "fmax") and (name not in usual or value != usual[name])
        ]
        return ", ".join([*parts, *([STALE] if self.stale else [])])

    @property
    def group(self) -> str:
        """Points are comparable within a group: the same work at the same stage."""
        parts = [f"{self.nbits} bits", self.operation, self.behind]
        parts += [stages.title(self.stage), str(self.flow.get("device", ""))]
        parts += [f"exponent of {self.exponent_nbits} bits"] if self.exponent_nbits else []
        parts += [f"modulus {self.modulus:#x} alone"] if self.modulus else []
        return " · ".join(part for part in parts if part)

    @property
    def twin(self) -> bool:
        """A rebuilt machine of a paper."""
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
        """The only modulus that the machine accepts; 0: any."""
        modulus = self.parameters.get("modulus") or 0
        return int(modulus, 0) if isinstance(modulus, str) else modulus

    @cached_property
    def known_factors(self) -> bool:
        """Made for one modulus that divides 2^n - 1, whose factors are known: a benchmark of multipliers, and
        no RSA.
        """
        return has_known_factors(self.modulus, self.nbits)

    @cached_property
    def exponent_nbits(self) -> int:
        """Length of the exponent of a private operation, which only compares with equal ones; else 0."""
        if self.operation != DECRYPT:
            return 0
        try:
            return Point.from_json(self.point).parts(DECRYPT)[0].work.exp.bit_length()
        except BadInput:  # of a design that is no more
            return 0

    def value(self, name: str) -> float | int | None:
        """A figure; None if it was not measured."""
        if name in self.rows:
            return self.rows[name].value
        return self.derived.get(name)

    def source(self, name: str) -> int | None:
        """The row behind a figure; of a derived one, that of what it comes from."""
        row = self.rows.get(name) or (self.rows.get("cycles") if name in self.derived else None)
        return row.id if row else None


Entries = Sequence[Entry]


@functools.cache
def _places() -> dict[str, tuple[int, bool]]:
    """The designs with their places in the catalogue, and whether they are of a paper."""
    return {design.name: (at, bool(design.paper)) for at, design in enumerate(catalogue.designs())}


def entries_of(rows: Iterable[Row]) -> list[Entry]:
    """The rows of a ledger, in its order."""
    measurements: dict[int, dict[str, dict[str, Row]]] = {}  # by operation and metric
    for row in rows:
        measurements.setdefault(row.measurement, {}).setdefault(row.operation, {})[row.metric] = row
    entries = []
    for found in measurements.values():
        shared = found.pop("", {})
        # what has no operations of its own has been asked for by no workload
        for operation, own in (found or {next(iter(shared.values())).workload: {}}).items():
            figures, derived = {**shared, **own}, {}
            cycles, clock = figures.get("cycles"), figures.get("clock_ns")
            if "time_ns" not in figures and cycles and clock and clock.comparable:  # it meets its clock
                derived["time_ns"] = cycles.value * clock.value
            entries.append(Entry(figures, operation, derived))
    return entries


def names_of_metrics(entries: Entries) -> list[str]:
    """All metrics that are there, those that the report knows first and in its order."""
    found = {name for entry in entries for name in (*entry.rows, *entry.derived)}
    return [*(name for name in METRICS if name in found), *sorted(found - METRICS.keys())]


def unit_of(name: str, entries: Entries) -> str:
    """The unit of a metric that the report does not know is that of its rows."""
    return metric(name, next((entry.rows[name].unit for entry in entries if name in entry.rows), "")).unit
