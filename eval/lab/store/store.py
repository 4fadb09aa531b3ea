"""The store: every measured figure in one file, with everything needed to measure it again.

Nothing is ever overwritten: the newest measurement of a point counts, older ones remain as its history. Any
number of processes read and write, all of them on one machine; workers of a cluster send their measurements
to the process that writes. The reference results in the repository have the same format (reference.py).
"""

import itertools
import json
import math
import os
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from ....fl.closing import Closing
from ....fl.errors import BadInput, unknown
from ....flow.gc_pause import uncollected
from ...errors import NoMeasurement
from ...json_values import Json, attributes, json_value
from ..metrics import METRICS, Figure, Measurement
from ..point import Point, version_of
from ..verdicts import Recorded, Verdict
from . import artifacts
from .entries import (
    FAILURE,
    MEASUREMENT,
    RESULT,
    VERDICT,
    AnyEntry,
    FailureEntry,
    MeasurementEntry,
    VerdictEntry,
    text_of,
)
from .index import Index
from .lines import ANOTHER, Lines
from .rows import MOST_FIGURES, Failure, Row, failure_of, rows_of, value_of

NewEntry = tuple[str, Json]  # kind and fields, without a date
OF_POINT = ("nbits", "interface", "workload", "stage")
# filters of `rows`
FILTERS = ("key", "subject", "family", *OF_POINT, "operation", "metric", "unit", "id", "measurement")


def default_path() -> Path:
    """The default path of the store: $MODEXLAB_STORE, or else a file in the user's data directory."""
    if explicit := os.environ.get("MODEXLAB_STORE"):
        return Path(explicit).absolute()
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home).absolute() / "modexlab" / "store.jsonl"


class Store(Closing):
    """The file at `path`, read on first use. A file that does not exist is an empty store.

    reference: results to show for points without figures in the store. A store may be used by several
    threads, and is pickled as its path.
    """

    sign = 1  # of the numbers of its measurements and rows

    def __init__(self, path: str | Path | None = None, reference: "Store | None" = None) -> None:
        self.path = default_path() if path is None else Path(path).absolute()
        self.reference = reference
        self._lock = threading.RLock()
        self.close()

    def __reduce__(self) -> "tuple[type[Store], tuple[Path]]":
        return type(self), (self.path,)

    def close(self) -> None:
        """Forget what was read; the next use reads it again."""
        with self._lock:
            self._lines, self._index, self._renewals = Lines(self.path), Index(), 0

    @property
    def exists(self) -> bool:
        """Whether the file exists."""
        return self.path.exists()

    def read(self) -> Index:
        """The entries of the file at this moment."""
        with self._lock, uncollected():
            try:
                news = self._lines.news()
                if self._lines.renewals != self._renewals:
                    self._index, self._renewals = Index(), self._lines.renewals
                self._index.add(self._lines, news)
            except BaseException:  # after Ctrl-C in the middle, the next use reads all again
                self.close()
                raise
            return self._index

    @property
    def damaged(self) -> Sequence[int]:
        """The lines that were skipped when the file was last read."""
        return tuple(self._lines.damaged)

    @property
    def torn(self) -> bool:
        """Whether the file ends within a line."""
        return self._lines.torn

    # ---- writing

    def append(self, make: Callable[[str, Index], Sequence[bytes]]) -> list[int]:
        """Append the entries that `make` returns for a date and the entries that are there, in one write, and
        return the numbers of their lines.

        The date is later than all in the file, whatever the clock says: the last recorded entry is the
        newest.
        """
        with self._lock:
            with self._lines.locked() as file:
                index = self.read()  # BadInput if it is no store
                if index.undated:
                    raise BadInput(
                        f"{self.path} has reference results, which only an export writes; {ANOTHER}"
                    )
                texts = make(max(_now(), _after(index.newest)), index)
                if texts:
                    self._lines.append(file, texts)
                self.read()
            last = self._lines.count
            return list(range(last - len(texts) + 1, last + 1))

    def record(self, point: Point, measurement: Measurement) -> int:
        """Add a measurement and return its number.

        Figures without a passing functional run of the same hardware are refused, as are non-finite values
        and metrics in a unit other than their own.
        """
        (number,) = self.add([self.measured(point, measurement)])
        assert number is not None
        return number

    def add(self, entries: Sequence[NewEntry], *, first: bool = False) -> list[int | None]:
        """Append entries in one write and return their numbers; first: None, and no entry, for a measurement
        of a version that another process has recorded meanwhile.
        """
        added: list[bool] = []

        def make(at: str, index: Index) -> list[bytes]:
            added[:] = [
                not (first and kind == MEASUREMENT and fields["key"] in index.versions)
                for kind, fields in entries
            ]
            new = itertools.compress(entries, added)
            return [text_of(kind, **{"at": at, **fields}) for kind, fields in new]

        numbers = iter(self.append(make))
        return [next(numbers) if new else None for new in added]

    def fail(self, point: Point, message: str, seconds: float) -> None:
        """Record that a point could not be measured, and why."""
        self.add([failed(point, message, seconds)])

    def note(self, verdict: Verdict) -> None:
        """Record the verdict of a proof."""
        self.add([noted(verdict)])

    def forget(self, keys: Collection[str]) -> None:
        """Forget the results of these tasks, whose command has ended."""
        there = {entry.key for entry in self.read().results_of(keys)}
        if there:
            self.add([(RESULT, {"key": key, "forgotten": True}) for key in sorted(there)])

    def measured(self, point: Point, measurement: Measurement) -> NewEntry:
        """Write the artifacts of a measurement and return its entry; NoMeasurement if figures are refused."""
        if why := _refusal(measurement):
            raise NoMeasurement(f"{' '.join(point.command)}: {why}; its figures are refused")
        try:
            files = artifacts.write(self.path, measurement.artifacts)
        except OSError as error:
            raise self._lines.refused(error) from None
        return MEASUREMENT, {
            "key": _version(point, measurement),
            "point": point.as_json(),
            "family": point.family,
            "parameters": point.resolved,
            "command": list(point.command),
            "seconds": float(measurement.seconds),
            "marks": list(measurement.marks),
            "figures": [
                [item.operation, item.metric, json_value(item.value), item.unit]
                for item in measurement.figures
            ],
            "artifacts": files,
            "tools": dict(measurement.tools),
            "details": dict(measurement.details),
            **attributes(measurement, "verilog_hash", "tests"),
        }

    def check_writable(self) -> None:
        """BadInput if a measurement could not be recorded; for use before a long run."""
        if self.exists:
            self.append(lambda *_: [])
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path.parent):
                return
        except OSError as error:
            raise self._lines.refused(error) from None

    # ---- reading

    def results(self, keys: Collection[str]) -> dict[str, tuple[Any, float]]:
        """The newest results of these tasks, each with its duration in seconds."""
        found = self.read().results_of(keys)
        return {entry.key: (json.loads(bytes(entry.result)), entry.seconds) for entry in found}

    def verdicts(self) -> list[Verdict]:
        """The newest verdict of each check, in the order of recording, after those of the reference."""
        own = [verdict_of(entry) for entry in self.read().all_verdicts()]
        known = {verdict.about for verdict in own}
        others = [] if self.reference is None else self.reference.verdicts()
        return [*(verdict for verdict in others if verdict.about not in known), *own]

    def names(self) -> set[str]:
        """The versions (Point.version) of all points that were measured or failed."""
        index = self.read()
        return {*index.versions, *index.failed_versions}

    def failures(self, keys: Collection[str] | None = None) -> list[Failure]:
        """The last failure of each point that has not been measured since.

        keys: only failures of these versions, that is, with the same hardware, code and tools; else all
        failures.
        """
        return list(map(failure_of, self.failed(keys)))

    def failed(self, keys: Collection[str] | None = None) -> list[FailureEntry]:
        """The entries of these failures."""
        index = self.read()
        if keys is not None:
            return list(index.failures_of(keys))
        others = [] if self.reference is None else self.reference.failed()
        return [*(entry for entry in others if bytes(entry.point) not in index.points), *index.all_failures()]

    def rows(self, *, history: bool = False, **filters: Any) -> list[Row]:
        """Figures in the order of recording: the newest measurement of each point, or the whole history.

        A filter (key, subject, family, nbits, interface, workload, stage, operation, metric, unit, id,
        measurement) is a value or a collection of values.
        """
        for name in filters:
            if name not in FILTERS:
                raise unknown("filter of the store", name, FILTERS)
        wanted = {name: several(values) for name, values in filters.items()}
        index = self.read()
        with uncollected():
            rows = list(self._rows(index.measurements(history=history), wanted))
        if self.reference is None:
            return rows
        without = () if history else index.points
        others = self.reference.read().measurements(history=history)
        shown = [(line, entry) for line, entry in others if bytes(entry.point) not in without]
        return [*self.reference._rows(shown, wanted), *rows]

    def _rows(
        self, measured: Sequence[tuple[int, MeasurementEntry]], wanted: dict[str, list[Any]]
    ) -> Iterator[Row]:
        numbers = wanted.get("measurement")
        if "id" in wanted:
            of_rows = {abs(number) // MOST_FIGURES * (1 if number > 0 else -1) for number in wanted["id"]}
            numbers = list(of_rows.intersection(numbers) if numbers is not None else of_rows)
        for line, entry in measured:
            number = self.sign * line
            if numbers is not None and number not in numbers:
                continue
            if entry.key and "key" in wanted and entry.key not in wanted["key"]:
                continue
            for row in rows_of(entry, number, self.path, wanted.get("metric")):
                if all(getattr(row, name) in values for name, values in wanted.items()):
                    yield row

    def row(self, number: int) -> Row:
        """The figure with this number, current or not."""
        found = self.rows(history=True, id=number)
        if not found:
            raise BadInput(
                f"the store {self.path} has no row {number}; `modexlab store list` shows those that there are"
            )
        return found[0]

    def measurement(self, number: int) -> Measurement:
        """A whole measurement by its number, with details and artifacts."""
        if number * self.sign < 0 and self.reference is not None:
            return self.reference.measurement(number)
        entry = self.read().entries.get(number * self.sign)
        if not isinstance(entry, MeasurementEntry):
            raise BadInput(
                f"the store {self.path} has no measurement {number}; `modexlab store list` shows its rows"
            )
        return self._measurement(entry)

    def _measurement(self, entry: MeasurementEntry) -> Measurement:
        return Measurement(
            figures=tuple(
                Figure(metric, value_of(value), unit, of) for of, metric, value, unit in entry.figures
            ),
            marks=tuple(entry.marks),
            details=json.loads(bytes(entry.details)),
            artifacts=artifacts.read(self.path, entry.artifacts),
            **attributes(entry, "seconds", "verilog_hash", "tests", "tools", "content"),
        )

    def newest(self, keys: Collection[str]) -> Iterator[tuple[str, int, Measurement]]:
        """The newest measurement of each of these versions (Point.version), with its number."""
        for number, entry in self.read().measurements_of(keys):
            yield entry.key, number, self._measurement(entry)

    def entries(self) -> list[AnyEntry]:
        """All entries, in the order of the file."""
        return [*self.read().entries.values()]


# ---- new entries


def failed(point: Point, message: str, seconds: float) -> NewEntry:
    """The entry of a point that could not be measured."""
    shared = {"point": point.as_json(), "command": list(point.command), "message": message}
    return FAILURE, {"key": point.version, "seconds": float(seconds), **shared}


def noted(verdict: Verdict) -> NewEntry:
    """The entry of the verdict of a proof."""
    fields = {**vars(verdict), "settings": dict(verdict.settings)}
    return VERDICT, {name: value for name, value in fields.items() if name != "at" or value}


def result_of(key: str, result: Any, seconds: float) -> NewEntry:
    """The entry of the result of a task, a JSON value."""
    return RESULT, {"key": key, "result": result, "seconds": float(seconds)}


# ---- reading


def several(wanted: Any) -> list[Any]:
    """The values of a filter, which may be a single one."""
    return list(wanted) if isinstance(wanted, Collection) and not isinstance(wanted, str) else [wanted]


def verdict_of(entry: VerdictEntry) -> Verdict:
    """The verdict of an entry; one without a key is a reference verdict."""
    fields = attributes(entry, "key", "subject", "family", "nbits", "name", "kind", "verdict", "how")
    fields |= {"settings": json.loads(bytes(entry.settings)), "seconds": entry.seconds, "at": entry.at}
    if entry.key:
        return Verdict(**fields)
    return Recorded(**fields, **attributes(entry, "content", "tools", "unverified"))


def _version(point: Point, measurement: Measurement) -> str:
    """The key of a measurement."""
    return version_of(point.key, measurement.content) if measurement.content else point.version


def _refusal(measurement: Measurement) -> str:
    """Why figures are refused; empty if they are accepted."""
    if not measurement.tests:
        return "no functional run of this hardware passed"
    for figure in measurement.figures:
        if not math.isfinite(figure.value):
            return f"{figure.metric} is {figure.value}"
        unit = METRICS[figure.metric].unit if figure.metric in METRICS else "a unit that is known"
        if figure.unit != unit:
            return f"{figure.metric} in {figure.unit!r}, not in {unit}"
    return ""


def _after(date: str) -> str:
    """A date just after this one; empty for none."""
    if not date:
        return ""
    return (datetime.fromisoformat(date) + timedelta(microseconds=1)).isoformat(timespec="microseconds")


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="microseconds")
