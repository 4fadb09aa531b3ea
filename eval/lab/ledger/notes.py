"""Notes next to measurements in a ledger: failed points, verdicts, and results of other tasks.

Like a measurement each has a digest of all that was written, by which a bit that has changed on the disk is
found. Of several notes about the same the newest counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, TypeVar

from ..verdicts import Verdict

DIGEST_SIZE = 16
Select = Callable[..., list[tuple[Any, ...]]]  # asks SQLite
Kept = TypeVar("Kept", bound="Digested")


class Digested:
    """A record with a digest of its content."""

    @property
    def digest(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Stored(Generic[Kept]):
    """A measurement or a note as it was read, and the digest beside it; None if it was written by an older
    version.
    """

    whole: Kept
    digest: str | None

    @property
    def intact(self) -> bool:
        """Return whether it is as it was written, if that is known."""
        return self.digest is None or self.digest == self.whole.digest


class _Table(NamedTuple):
    """Columns, and those of them that say what a note is about."""

    columns: tuple[str, ...]
    about: tuple[str, ...]


FAILURE, VERDICT, RESULT = "failure", "verdict", "result"
TABLES = {
    FAILURE: _Table(("key", "point", "command", "message", "seconds", "at"), ("point",)),
    VERDICT: _Table(tuple(field.name for field in fields(Verdict)), ("subject", "nbits", "settings", "name")),
    RESULT: _Table(("key", "result", "seconds", "at"), ("key",)),
}


@dataclass(frozen=True)
class Note(Digested):
    """A row of one of these tables."""

    table: str
    columns: Mapping[str, Any]

    @property
    def digest(self) -> str:
        return digest_of([self.table, *(self.columns[name] for name in TABLES[self.table].columns)])

    @property
    def about(self) -> dict[str, Any]:
        """Notes that agree in this are about the same."""
        return {name: self.columns[name] for name in TABLES[self.table].about}


def note_of(select: Select, table: str, number: int) -> Stored[Note] | None:
    """The note of this number; None if there is none."""
    names = TABLES[table].columns
    found = select(f"SELECT digest, {', '.join(names)} FROM {table} WHERE id = ?", number)
    if not found:
        return None
    ((digest, *columns),) = found
    return Stored(Note(table, dict(zip(names, columns, strict=True))), digest)


def digest_of(content: Any) -> str:
    """Return the digest of any JSON value."""
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=DIGEST_SIZE).hexdigest()
