"""View of the store for the report: an entry is one operation of one measurement with all of its figures."""

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

from ...fl.errors import BadInput
from ...fl.moduli import known_factors
from ..designs import catalogue, interfaces
from ..designs.soc_system import accelerator_in
from ..designs.workload_names import DECRYPT
from ..lab import stages
from ..lab.comparison.compare import STALE
from ..lab.flow_settings import EQUIVALENCE, FLOW_DEFAULTS
from ..lab.point import Point
from ..lab.store.rows import Row
from .metrics import METRICS, Metric, metric

Record = dict[str, Any]  # flat, with strings and numbers as values
Records = list[Record]
INTERFACES = interfaces.titles()
SILICON = (stages.LAYOUT, stages.FLOW)  # stages with an area in square micrometres, the preferred one first


@dataclass(frozen=True)
class Entry:
    """One operation of one measurement. Figures that belong to no operation (such as an area) are in all
    entries of the measurement.
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

    @property
    def subject(self) -> str:
        return self.first.subject

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All parameters with their values."""
        return self.first.parameters

    @cached_property
    def settings(self) -> Record:
        """Settings that differ from the defaults of the design."""
        return dict(self.point.get("settings") or {})

    @cached_property
    def label(self) -> str:
        """The design with its settings."""
        return " ".join([self.subject, *(f"{name}={value}" for name, value in self.settings.items())])

    @property
    def alone(self) -> str:
        """The label without the system around the design."""
        return accelerator_in(self.label)

    @cached_property
    def setup(self) -> str:
        """The stage with its flow settings."""
        flow, usual = self.flow, FLOW_DEFAULTS.get(self.stage, {})
        clock, searched = flow.get("clock_period"), ""
        if flow.get("fmax"):  # the given period is only where the search began
            clock, searched = self.value("clock_ns"), ", the highest clock"
        parts = [stages.title(self.stage), *([f"{clock:g} ns{searched}"] if clock else [])]
        parts += [
            "proof of equivalence requested" if name == EQUIVALENCE else f"{name}={value}"
            for name, value in flow.items()
            if name not in ("clock_period", "fmax") and (name not in usual or value != usual[name])
        ]
        return ", ".join([*parts, *([STALE] if self.stale else [])])

    @property
    def group(self) -> str:
        """The name of a group of comparable points: the same work at the same stage."""
        parts = [f"{self.nbits} bits", self.operation, self.behind]
        parts += [stages.title(self.stage), str(self.flow.get("device", ""))]
        parts += [f"exponent of {self.exponent_nbits} bits"] if self.exponent_nbits else []
        parts += [f"modulus {self.modulus:#x} alone"] if self.modulus else []
        return " · ".join(filter(None, parts))

    @property
    def twin(self) -> bool:
        """Whether the design is a rebuilt machine of a paper."""
        return self._place[1]

    @property
    def rank(self) -> int:
        """The position in the catalogue, or -1 for software and unknown designs."""
        return self._place[0]

    @cached_property
    def _place(self) -> tuple[int, bool]:
        return _places().get(self.first.design, (-1, False))

    @cached_property
    def modulus(self) -> int:
        """The only modulus that the machine accepts, or 0 if it accepts any."""
        modulus = self.parameters.get("modulus") or 0
        return int(modulus, 0) if isinstance(modulus, str) else modulus

    @cached_property
    def known_factors(self) -> bool:
        """Whether the machine is built for one modulus that divides 2^n - 1, whose factors are known: a
        benchmark of multipliers that cannot be used for RSA.
        """
        return known_factors(self.modulus, self.nbits) is not None

    @cached_property
    def exponent_nbits(self) -> int:
        """The bit length of the exponent of a private operation, else 0. Only entries with equal lengths are
        comparable.
        """
        if self.operation != DECRYPT:
            return 0
        try:
            return Point.from_json(self.point).parts(DECRYPT)[0].work.exp.bit_length()
        except BadInput:  # of a design that no longer exists
            return 0

    def value(self, name: str) -> float | None:
        """A figure; None if it was not measured."""
        if name in self.rows:
            return self.rows[name].value
        return self.derived.get(name)

    @cached_property
    def unverified(self) -> dict[str, str]:
        """The reasons to measure figures again, by metric."""
        return {name: row.unverified for name, row in self.rows.items() if row.unverified}

    def source(self, name: str) -> int | None:
        """The row of a figure; for a derived time, the row of its cycles."""
        row = self.rows.get(name) or (self.rows.get("cycles") if name in self.derived else None)
        return row.id if row else None


Entries = Sequence[Entry]


class Labelled(Protocol):
    """A point of a chart."""

    @property
    def subject(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...


L = TypeVar("L", bound=Labelled)


def labels(entries: Iterable[L], same: Callable[[L], Hashable]) -> Callable[[L], str]:
    """The labels of points in a chart whose groups `same` tells apart. A default design next to others of
    its design shows the settings in which these differ from it.
    """
    varied: dict[Hashable, set[str]] = {}
    for entry in entries:
        varied.setdefault((same(entry), entry.subject), set()).update(entry.settings)

    def label(entry: L) -> str:
        shown = entry.settings
        if not shown:
            names = sorted(varied.get((same(entry), entry.subject), ()))
            shown = {name: entry.parameters[name] for name in names if name in entry.parameters}
        return " ".join([entry.subject, *(f"{name}={value}" for name, value in shown.items())])

    return label


@functools.cache
def _places() -> dict[str, tuple[int, bool]]:
    """By design, its position in the catalogue and whether it is from a paper."""
    return {design.name: (at, bool(design.paper)) for at, design in enumerate(catalogue.designs())}


def if_stale(item: Any) -> Record:
    """The mark of a stale record."""
    return {"stale": True} if item.stale else {}


def entries_of(rows: Iterable[Row]) -> list[Entry]:
    """The entries of these rows, in the order of the store."""
    measurements: dict[int, dict[str, dict[str, Row]]] = {}  # by operation and metric
    for row in rows:
        measurements.setdefault(row.measurement, {}).setdefault(row.operation, {})[row.metric] = row
    entries = []
    for found in measurements.values():
        shared = found.pop("", {})
        # figures without any operation become one entry, named after the workload
        for operation, own in (found or {next(iter(shared.values())).workload: {}}).items():
            figures, derived = {**shared, **own}, {}
            cycles, clock = figures.get("cycles"), figures.get("clock_ns")
            if "time_ns" not in figures and cycles and clock and clock.comparable:  # it meets its clock
                derived["time_ns"] = cycles.value * clock.value
            entries.append(Entry(figures, operation, derived))
    return entries


def names_of_metrics(entries: Entries) -> list[str]:
    """The metrics of the entries: first those that the report knows, in its order."""
    found = {name for entry in entries for name in (*entry.rows, *entry.derived)}
    return [*(name for name in METRICS if name in found), *sorted(found - METRICS.keys())]


def metric_of(name: str, entries: Entries) -> Metric:
    """The metric with this name; one that the report does not know has the unit of its rows."""
    return metric(name, next((entry.rows[name].unit for entry in entries if name in entry.rows), ""))
