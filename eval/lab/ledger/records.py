"""Records of a ledger as stored in its file: measurements, and notes (failed points, verdicts, and results of
other tasks).

Each record has a digest of its content, which reveals bits that have changed on the disk. The newest note on
a subject replaces the older ones.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..verdicts import Verdict

DIGEST_SIZE = 16
Select = Callable[..., list[tuple[Any, ...]]]  # runs a query

MEASUREMENT, FAILURE, VERDICT, RESULT = "measurement", "failure", "verdict", "result"
# columns that are copied to another ledger; measurements come first
COLUMNS: dict[str, tuple[str, ...]] = {
    MEASUREMENT: (
        "key",
        "point",
        "subject",
        "family",
        "nbits",
        "parameters",
        "interface",
        "workload",
        "stage",
        "flow",
        "command",
        "tools",
        "verilog_hash",
        "tests",
        "marks",
        "details",
        "seconds",
        "at",
    ),
    FAILURE: ("key", "point", "command", "message", "seconds", "at"),
    VERDICT: tuple(field.name for field in fields(Verdict)),
    RESULT: ("key", "result", "seconds", "at"),
}
# columns that identify the subject of a note
ABOUT = {FAILURE: ("point",), VERDICT: ("subject", "nbits", "settings", "name"), RESULT: ("key",)}
FIGURE = ("operation", "metric", "value", "unit")


@dataclass(frozen=True)
class Record:
    """A row of one of these tables; a measurement has figures (FIGURE) and artifacts (name, content)."""

    table: str
    columns: Mapping[str, Any]
    figures: tuple[tuple[Any, ...], ...] = ()
    artifacts: tuple[tuple[str, bytes], ...] = ()
    stored: str | None = None  # the stored digest; None: a new record, or one of a version without digests

    @property
    def digest(self) -> str:
        """Digest of the content."""
        columns = [self.columns[name] for name in COLUMNS[self.table]]
        artifacts = [(name, hashlib.blake2b(content).hexdigest()) for name, content in self.artifacts]
        measured = [columns, self.figures, artifacts]
        content = json.dumps(measured if self.table == MEASUREMENT else [self.table, *columns])
        return hashlib.blake2b(content.encode(), digest_size=DIGEST_SIZE).hexdigest()

    @property
    def intact(self) -> bool:
        """Whether the content matches the stored digest, if there is one."""
        return self.stored in (None, self.digest)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Date, point and figures, which identify a measurement."""
        return self.columns["at"], self.columns["point"], sorted(self.figures)


def read(select: Select, table: str, number: int) -> Record | None:
    """The record with this number, or None."""
    names = COLUMNS[table]
    found = select(f"SELECT digest, {', '.join(names)} FROM {table} WHERE id = ?", number)
    if not found:
        return None
    ((stored, *values),) = found
    columns = dict(zip(names, values, strict=True))
    if table != MEASUREMENT:
        return Record(table, columns, stored=stored)
    figures, artifacts = (
        tuple(select(f"SELECT {', '.join(of)} FROM {part} WHERE measurement = ? ORDER BY id", number))
        for part, of in (("figure", FIGURE), ("artifact", ("name", "content")))
    )
    return Record(table, columns, figures, artifacts, stored)


def insert(connection: sqlite3.Connection, record: Record, **more: Any) -> int:
    """Write a record with its figures and artifacts, and return its number."""
    number = _insert(connection, record.table, {**record.columns, **more, "digest": record.digest})
    for figure in record.figures:
        _insert(connection, "figure", {"measurement": number, **dict(zip(FIGURE, figure, strict=True))})
    for name, content in record.artifacts:
        _insert(connection, "artifact", {"measurement": number, "name": name, "content": content})
    return number


def _insert(connection: sqlite3.Connection, table: str, columns: Mapping[str, Any]) -> int:
    marks = ", ".join("?" * len(columns))
    cursor = connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values())
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid
