"""Compares two ledgers, and merges one into the other.

Figures are matched by point, operation and metric, not by key: a key changes with every source, and the
question is whether the figure moved with it. A merged measurement keeps its date and its tools. If both
ledgers measured a point, the newer measurement counts and the older one remains as history, whichever ledger
it came from. Verdicts and results of tasks are merged unless the target has newer ones. Failures are not
merged: the point may be measurable here.
"""

import hashlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from ...json_values import canonical
from ..ledger_rows import Row
from .export import Reference
from .ledger import Ledger
from .records import ABOUT, DIGEST_SIZE, FIGURE, MEASUREMENT, RESULT, VERDICT, Record, insert


class Difference(NamedTuple):
    """A figure that differs between two ledgers."""

    row: Row  # from the second one
    before: float
    after: float

    @property
    def relative(self) -> float | None:
        """after / before - 1; None if `before` is 0."""
        return self.after / self.before - 1 if self.before else None

    def exceeds(self, tolerance: float) -> bool:
        """Whether the figures differ by more than this share of the first."""
        return abs(self.after - self.before) > tolerance * abs(self.before)


class Comparison(NamedTuple):
    """Result of comparing two ledgers."""

    compared: int  # figures that are in both
    differences: tuple[Difference, ...]
    only_before: tuple[Row, ...]
    only_after: tuple[Row, ...]


def compare(
    before: Ledger | Reference, after: Ledger | Reference, tolerance: float = 0.0, **filters: Any
) -> Comparison:
    """Compare the newest figures of both, point by point; a relative difference of up to `tolerance` is
    ignored.
    """
    first, second = (
        {(canonical(row.point), row.operation, row.metric): row for row in ledger.rows(**filters)}
        for ledger in (before, after)
    )
    both = [Difference(row, first[what].value, row.value) for what, row in second.items() if what in first]
    return Comparison(
        len(both),
        tuple(difference for difference in both if difference.exceeds(tolerance)),
        tuple(row for what, row in first.items() if what not in second),
        tuple(row for what, row in second.items() if what not in first),
    )


@dataclass
class Joined:
    """Counts of the records of a merged ledger."""

    path: Path
    added: int = 0  # measurements
    there: int = 0  # already in the target
    older: int = 0  # of those added: the target has a newer measurement of the point
    conflicts: int = 0  # of those added: the target has other figures under the same key
    noted: int = 0  # verdicts and results added, and failures in a salvage


def join(into: Ledger, source: Ledger) -> Joined:
    """Copy all measurements, verdicts and results of `source` into `into`."""
    return add_all(into, source.path, chain(*map(source.records, (MEASUREMENT, VERDICT, RESULT))))


def add_all(into: Ledger, path: Path, found: Iterable[Record]) -> Joined:
    """Add the records of the ledger at `path` in one transaction, without those that are there already."""
    joined = Joined(path)
    with into.writing() as connection:
        newest = newest_of(connection)
        for record in found:
            if record.table != MEASUREMENT:
                joined.noted += _add_note(connection, record)
                continue
            known = _same_key(connection, record.columns["key"])
            if record.identity in known:
                joined.there += 1
                continue
            _, _, figures = record.identity
            joined.conflicts += any(others != figures for _, _, others in known)
            point, at = _short(record.columns["point"]), record.columns["at"]
            newest[point] = max(at, newest.get(point, ""))
            older = newest[point] > at
            insert(connection, record, older=int(older))
            joined.older += older
            joined.added += 1
    return joined


def newest_of(connection: sqlite3.Connection) -> dict[bytes, str]:
    """The newest date of each point in the ledger, by a digest of the point, which is long.

    One query for all points: a query for each would scan the whole table.
    """
    found = connection.execute("SELECT point, max(at) FROM measurement GROUP BY point")
    return {_short(point): at for point, at in found}


def _short(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_SIZE).digest()


def _same_key(connection: sqlite3.Connection, key: str) -> list[tuple[Any, ...]]:
    """The identities (see Record) of the measurements with this key; artifacts are not read."""
    found = connection.execute("SELECT id, at, point FROM measurement WHERE key = ?", (key,)).fetchall()
    figures = f"SELECT {', '.join(FIGURE)} FROM figure WHERE measurement = ?"
    return [
        (at, point, sorted(connection.execute(figures, (number,)).fetchall())) for number, at, point in found
    ]


def _add_note(connection: sqlite3.Connection, note: Record) -> bool:
    """Copy a note, unless there is one on the same subject that is as new; whether it was copied."""
    about = ABOUT[note.table]
    same = " AND ".join(f"{name} = ?" for name in about)
    there = connection.execute(
        f"SELECT 1 FROM {note.table} WHERE {same} AND at >= ?",
        [note.columns[name] for name in (*about, "at")],
    ).fetchone()
    if not there:
        insert(connection, note)
    return not there
