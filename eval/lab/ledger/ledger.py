"""The ledger: every figure that was ever measured, in one SQLite file, with what one needs to measure it
again.

A measurement is one transaction, written as soon as it is made, and nothing is ever overwritten: the newest
measurement of a point is the one that counts, older ones stay as its history. Any number of processes may
read while one writes (write-ahead log); a second writer waits for its turn. They have to be on one machine,
as the log is in shared memory: workers of a cluster hand what they measured to the process that writes. The
file has a version (schema.py); an older one is brought up to date when it is opened.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from ....fl.errors import BadInput, unknown
from ...errors import NoMeasurement
from ..ledger_rows import Failure, Row, Source
from ..metrics import METRICS, Figure, Measurement
from ..point import Point, version_of
from ..verdicts import Verdict
from . import schema
from .notes import (
    DIGEST_SIZE,
    FAILURE,
    RESULT,
    VERDICT,
    Digested,
    Kept,
    Note,
    Select,
    Stored,
    digest_of,
    note_of,
)

WAIT_SECONDS = 120.0  # for other writers: milliseconds each, but a second each on a disk under load
PAUSE_SECONDS = 0.02
T = TypeVar("T")
ANOTHER = "give another place by --ledger FILE or MODEXLAB_LEDGER"

# what `rows` can be filtered by, and where it stands
FILTERS = {
    **{name: f"m.{name}" for name in ("key", "subject", "family", "nbits")},
    **{name: f"m.{name}" for name in ("interface", "workload", "stage")},
    **{name: f"f.{name}" for name in ("operation", "metric", "unit")},
    "id": "f.id",
    "measurement": "m.id",
}


@dataclass(frozen=True)
class Identity:
    """Properties that identify a measurement."""

    at: str
    point: str
    figures: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Whole(Digested):
    """A measurement as the file has it, to be copied."""

    columns: Mapping[str, Any]
    figures: tuple[tuple[Any, ...], ...]  # operation, metric, value, unit
    artifacts: tuple[tuple[str, bytes], ...]

    @property
    def identity(self) -> Identity:
        return Identity(self.columns["at"], self.columns["point"], tuple(sorted(self.figures)))

    @property
    def digest(self) -> str:
        """Return the digest of the measurement as recorded."""
        columns = [self.columns[name] for name in _COPIED]
        artifacts = [(name, hashlib.blake2b(content).hexdigest()) for name, content in self.artifacts]
        return digest_of([columns, self.figures, artifacts])


class Joining:
    """A transaction in which measurements and notes of another ledger are added."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # by a digest of the point, which is long: the newest date (asked for one by one, each would be a
        # search of the whole table)
        self._newest: dict[bytes, str] = {}
        for point, at in connection.execute("SELECT point, max(at) FROM measurement GROUP BY point"):
            self._newest[_short(point)] = at

    def same_key(self, whole: Whole) -> list[Identity]:
        """The measurements that are there under the key of this one."""
        found = self._connection.execute(
            "SELECT id, at, point FROM measurement WHERE key = ?", (whole.columns["key"],)
        ).fetchall()
        figures = "SELECT operation, metric, value, unit FROM figure WHERE measurement = ?"
        return [
            Identity(at, point, tuple(sorted(self._connection.execute(figures, (number,)).fetchall())))
            for number, at, point in found
        ]

    def add(self, whole: Whole) -> bool:
        """Copy a measurement; whether it is older than one of the same point that is there."""
        point, at = _short(whole.columns["point"]), whole.columns["at"]
        newest = max(at, self._newest.get(point, ""))
        self._newest[point] = newest
        _insert_whole(self._connection, whole, older=newest > at)
        return newest > at

    def note(self, note: Note) -> bool:
        """Copy a note, unless there is one of the same that is as new; whether it was copied."""
        same = " AND ".join(f"{name} = ?" for name in note.about)
        there = self._connection.execute(
            f"SELECT 1 FROM {note.table} WHERE {same} AND at >= ?", [*note.about.values(), note.columns["at"]]
        ).fetchone()
        if not there:
            _insert_note(self._connection, note)
        return not there


def default_path() -> Path:
    """Where the ledger is if nobody says: $MODEXLAB_LEDGER, else under the user's data directory."""
    if explicit := os.environ.get("MODEXLAB_LEDGER"):
        return Path(explicit).absolute()
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home).absolute() / "modexlab" / "ledger.sqlite"


def require_file(path: Path) -> None:
    """BadInput for a directory, a device or a pipe: it holds no ledger, and reading it might never end."""
    if path.is_dir():
        raise BadInput(f"the ledger {path} is a directory; give the name of a file")
    if path.exists() and not path.is_file():
        raise BadInput(f"the ledger {path} is not a regular file; {ANOTHER}")


class Ledger:
    """The file at `path`, opened when it is first used; it need not exist: then nothing has been measured
    yet.

    May be used by several threads, and goes to other processes as its path.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = default_path() if path is None else Path(path).absolute()
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._intact: dict[
            int, set[tuple[Any, ...]]
        ] = {}  # measurements that were checked, with their figures

    def __reduce__(self) -> tuple[type[Ledger], tuple[Path]]:
        return Ledger, (self.path,)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None
            self._intact.clear()

    @property
    def exists(self) -> bool:
        """There is such a file."""
        return self.path.exists()

    # ---- writing

    def record(self, point: Point, measurement: Measurement) -> int:
        """Add a measurement, in one transaction; returns its number.

        Figures without a passing functional run of the same hardware are refused, and so is what is no
        number, or a metric in another unit than its own.
        """
        whole = _whole(point, measurement)
        with self._writing() as connection:
            return _insert_whole(connection, whole)

    def record_first(self, point: Point, measurement: Measurement) -> int | None:
        """The same, unless another process has measured the very same meanwhile: then None, and nothing is
        written.
        """
        whole = _whole(point, measurement)
        with self._writing() as connection:
            key = whole.columns["key"]
            there = connection.execute("SELECT 1 FROM measurement WHERE key = ?", (key,)).fetchone()
            return None if there else _insert_whole(connection, whole)

    def fail(self, point: Point, message: str, seconds: float) -> None:
        """Note that a point could not be measured, and why."""
        columns: dict[str, Any] = {"key": point.version, "point": _json(point.as_json())}
        columns |= {
            "command": _json(point.command),
            "message": message,
            "seconds": float(seconds),
            "at": _now(),
        }
        with self._writing() as connection:
            _insert_note(connection, Note(FAILURE, columns))

    def note(self, verdict: Verdict) -> None:
        """Record the verdict of a proof."""
        columns = {**vars(verdict), "settings": _json(dict(verdict.settings)), "at": verdict.at or _now()}
        columns["seconds"] = float(verdict.seconds)
        with self._writing() as connection:
            _insert_note(connection, Note(VERDICT, columns))

    def keep(self, key: str, result: Any, seconds: float) -> None:
        """Record the result of a task, which is JSON."""
        columns = {"key": key, "result": _json(result), "seconds": float(seconds), "at": _now()}
        with self._writing() as connection:
            _insert_note(connection, Note(RESULT, columns))

    def forget(self, keys: Collection[str]) -> None:
        """Remove the results of tasks: those of a command that has ended."""
        with self._writing() as connection:
            connection.execute(
                "DELETE FROM result WHERE key IN (SELECT value FROM json_each(?))", (_json(list(keys)),)
            )

    # ---- reading

    def results(self, keys: Collection[str]) -> dict[str, tuple[Any, float]]:
        """The newest results of these tasks, each with the seconds that it took."""
        found = self._select(
            "SELECT max(id) FROM result WHERE key IN (SELECT value FROM json_each(?)) GROUP BY key",
            _json(list(keys)),
        )
        notes = [self._note(RESULT, number).columns for (number,) in found]
        with self._decoding("a result"):
            return {note["key"]: (json.loads(note["result"]), note["seconds"]) for note in notes}

    def verdicts(self) -> list[Verdict]:
        """Return the newest verdict on each check of a machine, in the order of the requests."""
        found = self._select(
            "SELECT id FROM verdict WHERE id IN "
            "(SELECT max(id) FROM verdict GROUP BY subject, nbits, settings, name) ORDER BY id"
        )
        made = [Verdict(**self._note(VERDICT, number).columns) for (number,) in found]
        with self._decoding("a verdict"):
            return [replace(verdict, settings=json.loads(str(verdict.settings))) for verdict in made]

    def names(self) -> set[str]:
        """The names (Point.version) of all points that were measured, or that failed."""
        return {name for (name,) in self._select("SELECT key FROM measurement UNION SELECT key FROM failure")}

    def done(self, keys: Collection[str]) -> set[str]:
        """Return those of the names (Point.version) that were measured."""
        return {
            key
            for (key,) in self._select(
                "SELECT DISTINCT key FROM measurement WHERE key IN (SELECT value FROM json_each(?))",
                _json(list(keys)),
            )
        }

    def failures(self, keys: Collection[str] | None = None) -> list[Failure]:
        """Points that failed and have not been measured since, the last time that they did.

        keys: only failures under these names, with the same hardware, code and tools; else all of them.
        """
        if keys is None:
            found = self._select(
                "SELECT f.id FROM failure f "
                "LEFT JOIN (SELECT point, max(at) AS at FROM measurement GROUP BY point) m "
                "ON m.point = f.point WHERE f.id IN (SELECT max(id) FROM failure GROUP BY point) "
                "AND (m.at IS NULL OR m.at < f.at) ORDER BY f.id"
            )
        else:
            found = self._select(
                "SELECT f.id FROM failure f WHERE f.id IN (SELECT max(id) FROM failure GROUP BY key) "
                "AND f.key NOT IN (SELECT key FROM measurement) "
                "AND f.key IN (SELECT value FROM json_each(?)) ORDER BY f.id",
                _json(list(keys)),
            )
        notes = [self._note(FAILURE, number).columns for (number,) in found]
        with self._decoding("a failure"):
            return [
                Failure(
                    key=note["key"],
                    message=note["message"],
                    seconds=note["seconds"],
                    when=note["at"],
                    command=tuple(json.loads(note["command"])),
                    point=json.loads(note["point"]),
                )
                for note in notes
            ]

    def rows(self, *, history: bool = False, **filters: Any) -> list[Row]:
        """Figures in the order in which they were recorded: of each point the newest measurement, or the
        whole history.

        A filter (key, subject, family, nbits, interface, workload, stage, operation, metric, unit, id,
        measurement) is a value or a collection of values.
        """
        conditions, values = [], []
        if not history:
            conditions.append("m.id IN (SELECT max(id) FROM measurement WHERE NOT older GROUP BY point)")
        for name, wanted in filters.items():
            if name not in FILTERS:
                raise unknown("filter of the ledger", name, FILTERS)
            several = isinstance(wanted, Collection) and not isinstance(wanted, str)
            conditions.append(f"{FILTERS[name]} IN (SELECT value FROM json_each(?))")
            values.append(_json(list(wanted) if several else [wanted]))
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        found = self._select(
            "SELECT f.id, f.operation, f.metric, f.value, f.unit, "
            f"{', '.join(f'm.{name}' for name in _OF_MEASUREMENT)} "
            f"FROM figure f JOIN measurement m ON m.id = f.measurement {where} ORDER BY f.id",
            *values,
        )
        shared: dict[int, dict[str, Any]] = {}
        rows = []
        for number, operation, metric, value, unit, *measured in found:
            if (operation, metric, value, unit) not in self._figures(measured[0]):
                raise self._damaged(f"measurement {measured[0]}")
            if measured[0] not in shared:
                with self._decoding(f"measurement {measured[0]}"):
                    shared[measured[0]] = _of_measurement(measured)
            rows.append(
                Row(
                    id=number,
                    operation=operation,
                    metric=metric,
                    value=value,
                    unit=unit,
                    **shared[measured[0]],
                )
            )
        return rows

    def row(self, number: int) -> Row:
        """The figure of this number, of whatever age."""
        found = self.rows(history=True, id=number)
        if not found:
            raise BadInput(
                f"the ledger {self.path} has no row {number}; `modexlab ledger list` shows those that there "
                "are"
            )
        return found[0]

    def measurement(self, number: int) -> Measurement:
        """A whole measurement, with details and artifacts, by its own number."""
        found = whole_of(self._select, number)
        if found is None:
            raise BadInput(
                f"the ledger {self.path} has no measurement {number}; `modexlab ledger list` shows its rows"
            )
        whole = self._checked(found, f"measurement {number}")
        columns = whole.columns
        with self._decoding(f"measurement {number}"):
            return Measurement(
                figures=tuple(Figure(metric, value, unit, of) for of, metric, value, unit in whole.figures),
                seconds=columns["seconds"],
                tools=json.loads(columns["tools"]),
                verilog_hash=columns["verilog_hash"],
                tests=columns["tests"],
                marks=tuple(json.loads(columns["marks"])),
                details=json.loads(columns["details"]),
                artifacts=dict(whole.artifacts),
            )

    def export(self, format: str, path: str | Path, *, history: bool = False, **filters: Any) -> int:
        """Write rows to a file, whole or not at all: csv, jsonl or parquet; returns how many."""
        from .export import write

        found = self.rows(history=history, **filters)
        write(found, format, Path(path))
        return len(found)

    # ---- as a whole

    def frame(self, **filters: Any) -> Any:
        """The rows as a table: a DataFrame where pandas is installed, else a table of Arrow. Filters are
        those of `rows`.
        """
        from .export import frame

        return frame(self.rows(**filters))

    def whole(self) -> Iterator[Whole]:
        """All measurements with everything that belongs to them, in the order in which they were recorded."""
        for (number,) in self._select("SELECT id FROM measurement ORDER BY id"):
            found = whole_of(self._select, number)
            assert found is not None
            yield self._checked(found, f"measurement {number}")

    def notes(self, table: str) -> Iterator[Note]:
        """Return all rows of a table of notes, in order."""
        for (number,) in self._select(f"SELECT id FROM {table} ORDER BY id"):
            yield self._note(table, number)

    def _checked(self, stored: Stored[Kept], what: str) -> Kept:
        """BadInput if it is damaged: it would be shown, or get a digest of its own in another ledger."""
        with self._decoding(what):
            if stored.intact:
                return stored.whole
        raise self._damaged(what)

    def _figures(self, number: int) -> set[tuple[Any, ...]]:
        """The figures of a measurement, as they were written; BadInput if it is damaged."""
        if number not in self._intact:
            found = whole_of(self._select, number)
            if found is None:
                raise self._damaged(f"measurement {number}")
            self._intact[number] = set(self._checked(found, f"measurement {number}").figures)
        return self._intact[number]

    def _note(self, table: str, number: int) -> Note:
        found = note_of(self._select, table, number)
        if found is None:
            raise self._damaged(f"{table} {number}")
        return self._checked(found, f"{table} {number}")

    @contextmanager
    def _decoding(self, what: str) -> Iterator[None]:
        """Values of another type, where nothing but a digest says that they changed, or not even that."""
        try:
            yield
        except (ValueError, TypeError, KeyError):
            raise self._damaged(what) from None

    def _damaged(self, what: str) -> BadInput:
        return BadInput(
            f"the ledger {self.path} is damaged: {what} is not what was written; "
            f"{_SALVAGE.format(path=self.path)}"
        )

    @contextmanager
    def joining(self) -> Iterator[Joining]:
        """One transaction for what comes from another ledger (join.py)."""
        with self._writing() as connection:
            yield Joining(connection)

    # ---- the file

    def _select(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, self._explained("read"):
            if self._connection is None and not self.exists:
                return []
            return self._patiently(lambda: self._opened().execute(statement, values).fetchall())

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, which is either there as a whole when the block has ended, or not at all."""
        with self._lock, self._explained("written"):
            connection = self._patiently(self._begun)
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _begun(self) -> sqlite3.Connection:
        """Open the file, start a transaction that may write, and return the connection."""
        connection = self._opened()
        connection.execute("BEGIN IMMEDIATE")
        return connection

    @staticmethod
    def _patiently(action: Callable[[], T]) -> T:
        """Repeat the action while SQLite reports a lock without waiting: it does so while a log begins or
        ends.
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
        """The connection of this process: one that came by a fork must not be used, and not be closed
        either.
        """
        if self._connection is not None and self._pid != os.getpid():
            _INHERITED.append(self._connection)
            self._connection = None
        if self._connection is None:
            self._connection, self._pid = self._open(), os.getpid()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        require_file(self.path)
        if self.exists and not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)):
            return self._open_read_only()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"the ledger {self.path} cannot be made: {error.strerror}; {ANOTHER}") from None
        connection = self._connect(self.path)
        try:
            version = schema.version_of(connection, self.path)
            connection.execute("PRAGMA journal_mode = WAL")  # readers and the writer do not hinder each other
            if version < schema.VERSION:
                schema.migrate(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_read_only(self) -> sqlite3.Connection:
        """Where nobody can write, the file is all that there is, unless a log lies beside it."""
        log = self.path.with_name(self.path.name + "-wal")
        connection = self._connect(f"{self.path.as_uri()}?mode=ro{'' if log.exists() else '&immutable=1'}")
        try:
            version = schema.version_of(connection, self.path)
            if version < schema.VERSION:
                raise BadInput(
                    f"the ledger {self.path} has version {version} and may not be written; copy it to a "
                    "place where you may, "
                    f"so that it can be brought to version {schema.VERSION}"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self, place: str | Path) -> sqlite3.Connection:
        connection = sqlite3.connect(
            place,
            timeout=WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,  # the lock sees to it
            uri=isinstance(place, str),
        )
        connection.execute("PRAGMA synchronous = FULL")  # what is recorded survives the loss of power
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    @contextmanager
    def _explained(self, verb: str) -> Iterator[None]:
        """Add the remedy to errors of SQLite."""
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            if "syntax error" in said and "malformed" not in said:
                raise  # a statement of ours, and no fault of the file
            meaning = next((meaning for text, meaning in _MEANING.items() if text in said), DAMAGED)
            raise BadInput(
                f"the ledger {self.path} {meaning.format(verb=verb, path=self.path, said=said)}"
            ) from None


# columns that the rows of a measurement share
_OF_MEASUREMENT = (
    *("id", "subject", "family", "nbits", "parameters", "interface", "workload", "stage", "flow", "tests"),
    *("marks", "command", "tools", "verilog_hash", "at", "seconds", "key", "point"),
)
# columns of a measurement that go with it to another ledger
_COPIED = (
    *("key", "point", "subject", "family", "nbits", "parameters", "interface", "workload", "stage", "flow"),
    *("command", "tools", "verilog_hash", "tests", "marks", "details", "seconds", "at"),
)
# what SQLite says -> what that means to the user
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
# connections of a parent process: if they were closed here, that process would lose its locks
_INHERITED: list[sqlite3.Connection] = []


def family_of(subject: str) -> str:
    """The family of multipliers that does the work in a design or a system; "software" if none does."""
    from ...designs.system_catalogue import HARDWARE, SOFTWARE

    if subject.startswith(SOFTWARE):
        return "software"
    from ...designs.catalogue import entry

    return entry(subject.removeprefix(HARDWARE)).family


def _whole(point: Point, measurement: Measurement) -> Whole:
    """Convert a measurement to rows; NoMeasurement if its figures are refused."""
    if not measurement.tests:
        raise NoMeasurement(
            f"{' '.join(point.command)}: no functional run of this hardware passed; its figures are refused"
        )
    for figure in measurement.figures:
        if not math.isfinite(figure.value):
            raise NoMeasurement(
                f"{' '.join(point.command)}: {figure.metric} is {figure.value}; its figures are refused"
            )
        known = METRICS.get(figure.metric)
        if known is None or figure.unit != known.unit:
            raise NoMeasurement(
                f"{' '.join(point.command)}: {figure.metric} in {figure.unit!r}, not in "
                f"{known.unit if known else 'a unit that is known'}; its figures are refused"
            )
    columns: dict[str, Any] = {
        "key": version_of(point.key, measurement.content) if measurement.content else point.version,
        "point": _json(point.as_json()),
        "subject": point.label,
        "family": family_of(point.subject),
        "nbits": point.nbits,
        "parameters": _json(point.resolved),
        "interface": point.interface,
        "workload": point.workload,
        "stage": point.stage,
        "flow": _json(dict(point.flow)),
        "command": _json(point.command),
        "tools": _json(measurement.tools),
        "verilog_hash": measurement.verilog_hash,
        "tests": measurement.tests,
        "marks": _json(measurement.marks),
        "details": _json(measurement.details),
        "seconds": float(measurement.seconds),  # as it is read: the digest is of that
        "at": _now(),
    }
    figures = tuple((item.operation, item.metric, item.value, item.unit) for item in measurement.figures)
    return Whole(columns, figures, tuple(measurement.artifacts.items()))


def whole_of(select: Select, number: int) -> Stored[Whole] | None:
    """The measurement of this number; None if there is none."""
    found = select(f"SELECT digest, {', '.join(_COPIED)} FROM measurement WHERE id = ?", number)
    if not found:
        return None
    ((digest, *columns),) = found
    figures = select(
        "SELECT operation, metric, value, unit FROM figure WHERE measurement = ? ORDER BY id", number
    )
    artifacts = select("SELECT name, content FROM artifact WHERE measurement = ? ORDER BY id", number)
    return Stored(Whole(dict(zip(_COPIED, columns, strict=True)), tuple(figures), tuple(artifacts)), digest)


def _insert_whole(connection: sqlite3.Connection, whole: Whole, older: bool = False) -> int:
    """A measurement with all that belongs to it; its number."""
    number = _insert(
        connection, "measurement", {**whole.columns, "older": int(older), "digest": whole.digest}
    )
    for figure in whole.figures:
        named = zip(("operation", "metric", "value", "unit"), figure, strict=True)
        _insert(connection, "figure", {"measurement": number, **dict(named)})
    for name, content in whole.artifacts:
        _insert(connection, "artifact", {"measurement": number, "name": name, "content": content})
    return number


def _insert_note(connection: sqlite3.Connection, note: Note) -> None:
    _insert(connection, note.table, {**note.columns, "digest": note.digest})


def _insert(connection: sqlite3.Connection, table: str, columns: Mapping[str, Any]) -> int:
    marks = ", ".join("?" * len(columns))
    cursor = connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values())
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _of_measurement(columns: Sequence[Any]) -> dict[str, Any]:
    """Return the columns that the figures of a measurement share."""
    read = dict(zip(_OF_MEASUREMENT, columns, strict=True))
    for name in ("parameters", "flow", "tools", "point"):
        read[name] = json.loads(read[name])
    for name in ("marks", "command"):
        read[name] = tuple(json.loads(read[name]))
    read["measurement"], read["when"] = read.pop("id"), read.pop("at")
    return {**read, "source": Source(read["key"], read["point"])}


def _short(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_SIZE).digest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
