"""The ledger: every measured figure in one SQLite file, with everything needed to measure it again.

A measurement is one transaction, written as soon as it is available. Nothing is ever overwritten: the newest
measurement of a point counts, older ones remain as its history. Any number of processes may read while one
writes (write-ahead log); a second writer waits. All of them must be on one machine, because the log is in
shared memory: workers of a cluster send their measurements to the process that writes. The file has a version
(schema.py); an older file is migrated when it is opened.
"""

import json
import math
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from ....fl.closing import Closing
from ....fl.errors import BadInput, unknown
from ...designs import catalogue
from ...designs.system_catalogue import HARDWARE, SOFTWARE
from ...errors import NoMeasurement
from ...json_values import Json, attributes, canonical
from ..ledger_rows import Failure, Row, Source
from ..metrics import METRICS, Figure, Measurement
from ..point import Point, version_of
from ..verdicts import Verdict
from . import export, records, schema
from .export import Reference
from .records import COLUMNS, FAILURE, FIGURE, MEASUREMENT, RESULT, VERDICT, Record

WAIT_SECONDS = 120.0  # for other writers: milliseconds each, or a second each on a loaded disk
PAUSE_SECONDS = 0.02
T = TypeVar("T")
ANOTHER = "give another place by --ledger FILE or MODEXLAB_LEDGER"

# filters of `rows`, and their columns
FILTERS = {
    **{name: f"m.{name}" for name in ("key", "subject", "family", "nbits")},
    **{name: f"m.{name}" for name in ("interface", "workload", "stage")},
    **{name: f"f.{name}" for name in ("operation", "metric", "unit")},
    "id": "f.id",
    "measurement": "m.id",
}
# columns that the rows of a measurement share
SHARED = tuple(name for name in COLUMNS[MEASUREMENT] if name != "details")


def default_path() -> Path:
    """The default path of the ledger: $MODEXLAB_LEDGER, or else a file in the user's data directory."""
    if explicit := os.environ.get("MODEXLAB_LEDGER"):
        return Path(explicit).absolute()
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home).absolute() / "modexlab" / "ledger.sqlite"


def require_file(path: Path) -> None:
    """BadInput for a directory, a device or a pipe: it is no ledger, and reading it might never end."""
    if path.is_dir():
        raise BadInput(f"the ledger {path} is a directory; give the name of a file")
    if path.exists() and not path.is_file():
        raise BadInput(f"the ledger {path} is not a regular file; {ANOTHER}")


class Ledger(Closing):
    """The file at `path`, opened on first use. A file that does not exist is an empty ledger.

    reference: results to show for points without figures in the ledger. A ledger may be used by several
    threads, and is pickled as its path.
    """

    def __init__(self, path: str | Path | None = None, reference: Reference | None = None) -> None:
        self.path = default_path() if path is None else Path(path).absolute()
        self.reference = reference
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        # the figures of checked measurements, by number
        self._intact: dict[int, set[tuple[Any, ...]]] = {}

    def __reduce__(self) -> "tuple[type[Ledger], tuple[Path]]":
        return Ledger, (self.path,)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None
            self._intact.clear()

    @property
    def exists(self) -> bool:
        """Whether the file exists."""
        return self.path.exists()

    # ---- writing

    def record(self, point: Point, measurement: Measurement) -> int:
        """Add a measurement in one transaction and return its number.

        Figures without a passing functional run of the same hardware are refused, as are non-finite values
        and metrics in a unit other than their own.
        """
        record = _record_of(point, measurement)
        with self.writing() as connection:
            return records.insert(connection, record)

    def record_first(self, point: Point, measurement: Measurement) -> int | None:
        """The same, unless another process has recorded this version meanwhile: then return None and write
        nothing.
        """
        record = _record_of(point, measurement)
        with self.writing() as connection:
            same = "SELECT 1 FROM measurement WHERE key = ?"
            there = connection.execute(same, (record.columns["key"],)).fetchone()
            return None if there else records.insert(connection, record)

    def fail(self, point: Point, message: str, seconds: float) -> None:
        """Record that a point could not be measured, and why."""
        what = {"point": canonical(point.as_json()), "command": canonical(point.command)}
        self._add(FAILURE, seconds, key=point.version, message=message, **what)

    def note(self, verdict: Verdict) -> None:
        """Record the verdict of a proof."""
        columns = {**vars(verdict), "settings": canonical(dict(verdict.settings)), "at": verdict.at or _now()}
        self._add(VERDICT, columns.pop("seconds"), **columns)

    def keep(self, key: str, result: Any, seconds: float) -> None:
        """Record the result of a task, a JSON value."""
        self._add(RESULT, seconds, key=key, result=canonical(result))

    def _add(self, table: str, seconds: float, **columns: Any) -> None:
        """Write a note."""
        note = Record(table, {"seconds": float(seconds), "at": _now(), **columns})
        with self.writing() as connection:
            records.insert(connection, note)

    def forget(self, keys: Collection[str]) -> None:
        """Delete the results of these tasks, whose command has ended."""
        with self.writing() as connection:
            connection.execute(f"DELETE FROM result WHERE key {_IN}", (canonical(list(keys)),))

    def check_writable(self) -> None:
        """BadInput if a measurement could not be recorded; for use before a long run."""
        require_file(self.path)
        if self.exists:
            with self.writing():
                return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path.parent):
                return
        except OSError as error:
            raise self._not_made(error) from None

    # ---- reading

    def results(self, keys: Collection[str]) -> dict[str, tuple[Any, float]]:
        """The newest results of these tasks, each with its duration in seconds."""
        notes = self._newest(
            RESULT, f"SELECT max(id) FROM result WHERE key {_IN} GROUP BY key", canonical(list(keys))
        )
        with self._decoding("a result"):
            return {note["key"]: (json.loads(note["result"]), note["seconds"]) for note in notes}

    def verdicts(self) -> list[Verdict]:
        """The newest verdict of each check, in the order of recording, after those of the reference."""
        notes = self._newest(
            VERDICT, "SELECT max(id) FROM verdict GROUP BY subject, nbits, settings, name ORDER BY max(id)"
        )
        with self._decoding("a verdict"):
            own = [Verdict(**{**note, "settings": json.loads(note["settings"])}) for note in notes]
        known = {verdict.about for verdict in own}
        others = [] if self.reference is None else self.reference.verdicts()
        return [*(verdict for verdict in others if verdict.about not in known), *own]

    def names(self) -> set[str]:
        """The versions (Point.version) of all points that were measured or failed."""
        return {name for (name,) in self._select("SELECT key FROM measurement UNION SELECT key FROM failure")}

    def failures(self, keys: Collection[str] | None = None) -> list[Failure]:
        """The last failure of each point that has not been measured since.

        keys: only failures of these versions, that is, with the same hardware, code and tools; else all
        failures.
        """
        if keys is None:
            notes = self._newest(
                FAILURE,
                "SELECT f.id FROM failure f "
                "LEFT JOIN (SELECT point, max(at) AS at FROM measurement GROUP BY point) m "
                "ON m.point = f.point WHERE f.id IN (SELECT max(id) FROM failure GROUP BY point) "
                "AND (m.at IS NULL OR m.at < f.at) ORDER BY f.id",
            )
        else:
            notes = self._newest(
                FAILURE,
                f"SELECT max(id) FROM failure WHERE key NOT IN (SELECT key FROM measurement) AND key {_IN} "
                "GROUP BY key ORDER BY max(id)",
                canonical(list(keys)),
            )
        others = self.reference.failures() if keys is None and self.reference is not None else []
        own = {point for (point,) in self._select("SELECT point FROM measurement")} if others else set()
        with self._decoding("a failure"):
            return [failure for failure in others if canonical(failure.point) not in own] + [
                Failure(
                    **{name: note[name] for name in ("key", "message", "seconds")},
                    when=note["at"],
                    command=tuple(json.loads(note["command"])),
                    point=json.loads(note["point"]),
                )
                for note in notes
            ]

    def rows(self, *, history: bool = False, **filters: Any) -> list[Row]:
        """Figures in the order of recording: the newest measurement of each point, or the whole history.

        A filter (key, subject, family, nbits, interface, workload, stage, operation, metric, unit, id,
        measurement) is a value or a collection of values.
        """
        conditions, values = [], []
        if not history:
            conditions.append("m.id IN (SELECT max(id) FROM measurement WHERE NOT older GROUP BY point)")
        for name, wanted in filters.items():
            if name not in FILTERS:
                raise unknown("filter of the ledger", name, FILTERS)
            conditions.append(f"{FILTERS[name]} {_IN}")
            values.append(canonical(export.several(wanted)))
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        found = self._select(
            f"SELECT m.id, f.id, {', '.join(f'f.{name}' for name in FIGURE)}, "
            f"{', '.join(f'm.{name}' for name in SHARED)} "
            f"FROM figure f JOIN measurement m ON m.id = f.measurement {where} ORDER BY f.id",
            *values,
        )
        shared = {}
        rows = []
        for measurement, number, *read in found:
            figure, columns = tuple(read[: len(FIGURE)]), read[len(FIGURE) :]
            if measurement not in self._intact:
                self._intact[measurement] = set(self._record(MEASUREMENT, measurement).figures)
            if figure not in self._intact[measurement]:
                raise self._damaged(f"measurement {measurement}")
            if measurement not in shared:
                with self._decoding(f"measurement {measurement}"):
                    shared[measurement] = _shared(measurement, dict(zip(SHARED, columns, strict=True)))
            rows.append(Row(id=number, **dict(zip(FIGURE, figure, strict=True)), **shared[measurement]))
        if self.reference is None:
            return rows
        own = set() if history else {canonical(row.point) for row in rows}
        return [*(row for row in self.reference.rows(**filters) if canonical(row.point) not in own), *rows]

    def row(self, number: int) -> Row:
        """The figure with this number, current or not."""
        found = self.rows(history=True, id=number)
        if not found:
            raise BadInput(
                f"the ledger {self.path} has no row {number}; `modexlab ledger list` shows those that there "
                "are"
            )
        return found[0]

    def measurement(self, number: int) -> Measurement:
        """A whole measurement by its number, with details and artifacts."""
        if number < 0 and self.reference is not None:
            return self.reference.measurement(number)
        if not self._select("SELECT 1 FROM measurement WHERE id = ?", number):
            raise BadInput(
                f"the ledger {self.path} has no measurement {number}; `modexlab ledger list` shows its rows"
            )
        record = self._record(MEASUREMENT, number)
        columns = record.columns
        with self._decoding(f"measurement {number}"):
            return Measurement(
                figures=tuple(Figure(metric, value, unit, of) for of, metric, value, unit in record.figures),
                **{name: columns[name] for name in ("seconds", "verilog_hash", "tests")},
                tools=json.loads(columns["tools"]),
                marks=tuple(json.loads(columns["marks"])),
                details=json.loads(columns["details"]),
                artifacts=dict(record.artifacts),
            )

    def newest(self, keys: Collection[str]) -> Iterator[tuple[str, int, Measurement]]:
        """The newest measurement of each of these versions (Point.version), with its number."""
        for key, number in self._select(
            f"SELECT key, max(id) FROM measurement WHERE key {_IN} GROUP BY key ORDER BY max(id)",
            canonical(list(keys)),
        ):
            yield key, number, self.measurement(number)

    # ---- whole tables

    def export(self, format: str, path: str | Path, *, history: bool = False, **filters: Any) -> int:
        """Write rows to a file, whole or not at all, in a format of export.py; return how many."""
        found = self.rows(history=history, **filters)
        export.write(found, format, Path(path), self)
        return len(found)

    def records(self, table: str) -> Iterator[Record]:
        """All records of a table in the order of recording."""
        for (number,) in self._select(f"SELECT id FROM {table} ORDER BY id"):
            yield self._record(table, number)

    def _newest(self, table: str, statement: str, *values: Any) -> list[Mapping[str, Any]]:
        """The columns of the notes whose numbers the statement selects."""
        found = self._select(statement, *values)
        return [self._record(table, number).columns for (number,) in found]

    def _record(self, table: str, number: int) -> Record:
        """A record. BadInput if it is damaged: otherwise it would be shown, or get a new digest in another
        ledger.
        """
        found = records.read(self._select, table, number)
        with self._decoding(f"{table} {number}"):
            if found is not None and found.intact:
                return found
        raise self._damaged(f"{table} {number}")

    @contextmanager
    def _decoding(self, what: str) -> Iterator[None]:
        """Report values that cannot be decoded as damage; a digest does not reveal every change."""
        try:
            yield
        except (ValueError, TypeError, KeyError):
            raise self._damaged(what) from None

    def _damaged(self, what: str) -> BadInput:
        return BadInput(
            f"the ledger {self.path} is damaged: {what} is not what was written; "
            f"{_SALVAGE.format(path=self.path)}"
        )

    # ---- the file

    def _select(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, self._explained("read"):
            if self._connection is None and not self.exists:
                return []
            return self._patiently(lambda: self._opened().execute(statement, values).fetchall())

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, committed at the end of the block or rolled back."""
        with self._lock, self._explained("written"):
            connection = self._patiently(self._opened)
            self._patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @staticmethod
    def _patiently(action: Callable[[], T]) -> T:
        """Repeat the action while SQLite reports a lock without waiting, as it does while a log is created or
        removed.
        """
        end = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                return action()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(PAUSE_SECONDS)

    def _opened(self) -> sqlite3.Connection:
        """The connection of this process. A connection inherited through a fork must be neither used nor
        closed.
        """
        if self._connection is not None and self._pid != os.getpid():
            _INHERITED.append(self._connection)
            self._connection = None
        if self._connection is None:
            self._connection, self._pid = self._open(), os.getpid()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        require_file(self.path)
        writable = not self.exists or all(os.access(path, os.W_OK) for path in (self.path, self.path.parent))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._not_made(error) from None
        connection = sqlite3.connect(
            self.path if writable else self._read_only,
            timeout=WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,  # the lock serialises access
            uri=not writable,
        )
        try:
            connection.execute("PRAGMA synchronous = FULL")  # recorded data survives a loss of power
            connection.execute("PRAGMA foreign_keys = ON")
            version = schema.version_of(connection, self.path)
            if writable:
                # readers and the writer do not block each other
                connection.execute("PRAGMA journal_mode = WAL")
            if version < schema.VERSION:
                if not writable:
                    raise BadInput(
                        f"the ledger {self.path} has version {version} and may not be written; copy it to a "
                        f"place where you may, so that it can be brought to version {schema.VERSION}"
                    )
                schema.migrate(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _not_made(self, error: OSError) -> BadInput:
        return BadInput(f"the ledger {self.path} cannot be made: {error.strerror}; {ANOTHER}")

    @property
    def _read_only(self) -> str:
        """The URI of a file that cannot be written; without a log next to it, the file is immutable."""
        log = self.path.with_name(self.path.name + "-wal")
        return f"{self.path.as_uri()}?mode=ro{'' if log.exists() else '&immutable=1'}"

    @contextmanager
    def _explained(self, verb: str) -> Iterator[None]:
        """Convert errors of SQLite to BadInput with the remedy."""
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            if "syntax error" in said and "malformed" not in said:
                raise  # a bug in our statement, not damage of the file
            meaning = next((meaning for text, meaning in _MEANING.items() if text in said), DAMAGED)
            raise BadInput(
                f"the ledger {self.path} {meaning.format(verb=verb, path=self.path, said=said)}"
            ) from None


_IN = "IN (SELECT value FROM json_each(?))"
# part of SQLite's message -> message for the user
_SAFE = "nothing that was recorded before is lost"
_MEANING = {
    "full": f"cannot be written: the disk is full; make room, or {ANOTHER}; {_SAFE}",
    "locked": "is busy: another process has been writing it for a long time; "
    f"wait for that, or {ANOTHER}; {_SAFE}",
    "readonly": f"cannot be written: it may only be read here; {ANOTHER}",
    "unable to open": f"cannot be opened: it may not be read or written by you; {ANOTHER}",
    "disk I/O error": "cannot be {verb}: the disk refuses (full, a quota, or damaged); "
    f"make room, or {ANOTHER}; {_SAFE}",
    "not a database": f"is no ledger, or is damaged: it is no SQLite file; move it away, or {ANOTHER}",
}
_SALVAGE = "`modexlab ledger salvage {path}` recovers the intact rows and keeps the damaged file"
DAMAGED = f"is damaged (SQLite: {{said}}); {_SALVAGE}"
# connections of a parent process: closing them here would release its locks
_INHERITED: list[sqlite3.Connection] = []


def family_of(subject: str) -> str:
    """The multiplier family of a design or a system; "software" if it has no multiplier."""
    if subject.startswith(SOFTWARE):
        return "software"
    return catalogue.entry(subject.removeprefix(HARDWARE)).family


def _record_of(point: Point, measurement: Measurement) -> Record:
    """The record of a measurement; NoMeasurement if its figures are refused."""
    if why := _refusal(measurement):
        raise NoMeasurement(f"{' '.join(point.command)}: {why}; its figures are refused")
    columns = {
        **attributes(point, "nbits", "interface", "workload", "stage"),
        **attributes(measurement, "verilog_hash", "tests"),
        "key": version_of(point.key, measurement.content) if measurement.content else point.version,
        "subject": point.label,
        "family": family_of(point.subject),
        "point": canonical(point.as_json()),
        "parameters": canonical(point.resolved),
        "flow": canonical(dict(point.flow)),
        "command": canonical(point.command),
        **{name: canonical(getattr(measurement, name)) for name in ("tools", "marks", "details")},
        "seconds": float(measurement.seconds),  # as it will be read, so that the digest matches
        "at": _now(),
    }
    figures = tuple((item.operation, item.metric, item.value, item.unit) for item in measurement.figures)
    return Record(MEASUREMENT, columns, figures, tuple(measurement.artifacts.items()))


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


def _shared(number: int, columns: Mapping[str, Any]) -> Json:
    """The fields that the rows of a measurement share."""
    shared = {**columns, "measurement": number}
    shared["when"] = shared.pop("at")
    for name in ("parameters", "flow", "tools", "point", "marks", "command"):
        shared[name] = json.loads(shared[name])
    shared |= {name: tuple(shared[name]) for name in ("marks", "command")}
    return {**shared, "source": Source(shared["key"], shared["point"])}


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
