"""Salvage of a damaged ledger: copies its intact rows into another ledger.

A truncated file lacks pages at its end, and SQLite fails every query that needs one of them. Measurements are
therefore read one by one, by number. A measurement counts if its row, figures and pictures can all be read
and match the digest that was written with them; so do failures and verdicts. Only the digest reveals a bit
that has changed within a value.
"""

import shutil
import sqlite3
import tempfile
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ....fl.errors import BadInput
from . import schema
from .join import Joined, add_all
from .ledger import Ledger, require_file
from .records import ABOUT, COLUMNS, MEASUREMENT, RESULT, Record, read

# offsets in the header: the size of a page (1: 65,536), and the number of pages
MAGIC, PAGE_SIZE_AT, PAGES_AT = b"SQLite format 3\0", 16, 28
MISSES = 10_000  # consecutive numbers without a measurement, after which no more are expected
LOG = "-wal"
SUFFIXES = (LOG, "-shm")  # files next to a ledger that is in use
WAIT_SECONDS = 30.0  # for a writer that is just creating its log
UNREADABLE = (sqlite3.DatabaseError, TypeError, ValueError)  # including values of a wrong type
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Found:
    """Readable content of a file."""

    path: Path
    intact: int
    unsure: int  # of those: written by a version without digests
    damaged: tuple[int, ...]  # numbers of measurements that have changed or cannot be read
    sound: bool  # SQLite's integrity check passes
    notes: int  # intact notes (see records.py)
    damaged_notes: tuple[str, ...]  # for example "verdict 3"

    @property
    def whole(self) -> bool:
        return self.sound and not self.damaged and not self.damaged_notes


class Salvaged(NamedTuple):
    """Counts of salvaged rows, and the new name of the damaged file."""

    found: Found
    joined: Joined
    kept: Path  # the damaged file


def verify(path: Path, progress: Progress | None = None) -> Found:
    """Read the whole file without changing it."""
    with _copied(path) as copy:
        deque(copy.records(progress), maxlen=0)
        return copy.found(path)


def salvage(path: Path, into: Ledger, progress: Progress | None = None) -> Salvaged:
    """Copy intact rows to another ledger; if that is the same file, the damaged one is renamed first."""
    if not path.is_file():
        raise BadInput(f"{path}: there is no such file; give a ledger")
    kept = path
    if into.exists and into.path.samefile(path):
        into.close()
        with _copied(path):  # BadInput if it is no ledger, which stays where it is
            pass
        kept = _moved(path)
    with _copied(kept) as copy:
        joined = add_all(into, kept, copy.records(progress))
        return Salvaged(copy.found(path), joined, kept)


def _moved(path: Path) -> Path:
    """Rename a file and the log files next to it; return the new path."""
    number = 1
    while (kept := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(kept)
    for suffix in SUFFIXES:
        if (log := _beside(path, suffix)).exists():
            log.rename(_beside(kept, suffix))
    return kept


@contextmanager
def _copied(path: Path) -> "Iterator[_Copy]":
    """Copy the file with its log, extend it to the length in its header, and open the copy.

    SQLite's own backup works for an intact file; from a damaged one it copies nothing.
    """
    require_file(path)
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        file = Path(directory) / "ledger.sqlite"
        address = f"{path.absolute().as_uri()}?mode=ro"
        try:
            # closing a file releases all locks that the process holds on it, so the reader stays open until
            # the log is copied, too
            with closing(sqlite3.connect(address, timeout=WAIT_SECONDS, uri=True)) as reader:
                with suppress(sqlite3.DatabaseError):  # a damaged file is copied as it is
                    # SQLite keeps the log while the reader is active, so that file and log match
                    reader.execute("BEGIN")
                    reader.execute("SELECT count(*) FROM sqlite_master").fetchall()
                with path.open("rb") as source:
                    with file.open("wb") as target:
                        shutil.copyfileobj(source, target)
                    log = _beside(path, LOG)
                    if log.exists():
                        shutil.copyfile(log, _beside(file, LOG))
        except OSError as error:
            raise BadInput(f"{path} cannot be copied to be read: {error.strerror}") from None
        except sqlite3.Error as error:
            raise BadInput(f"{path} cannot be read: {error}; give a ledger") from None
        cut = _lengthened(file)
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            _update(connection, path)
            yield _Copy(connection, not cut and _sound(connection))


def _update(connection: sqlite3.Connection, path: Path) -> None:
    """Migrate the tables to the current version; BadInput if the file is empty or cannot be identified."""
    try:
        version = schema.version_of(connection, path)
        if version < schema.VERSION:
            schema.migrate(connection, path)
    except sqlite3.DatabaseError as error:
        raise BadInput(
            f"{path}: its first page, which says what the others are, cannot be read ({error}); "
            "restore a copy of it"
        ) from None
    if version == 0:
        raise BadInput(f"{path} is empty: there is nothing in it")


def _sound(connection: sqlite3.Connection) -> bool:
    """Whether SQLite's integrity check passes."""
    with suppress(sqlite3.DatabaseError):
        return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    return False


class _Copy:
    """The readable rows of a copied file."""

    def __init__(self, connection: sqlite3.Connection, sound: bool) -> None:
        self._connection, self._sound = connection, sound
        self._intact: Counter[str] = Counter()  # by table
        self._damaged: defaultdict[str, list[int]] = defaultdict(list)
        self._unsure = 0

    def _select(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()

    def records(self, progress: Progress | None) -> Iterator[Record]:
        """The intact records, measurements first."""
        for table in COLUMNS:
            yield from self._of(table, progress if table == MEASUREMENT else None)

    def _of(self, table: str, progress: Progress | None) -> Iterator[Record]:
        """The intact records of a table, by number."""
        last = number = missing = 0
        with suppress(sqlite3.DatabaseError):  # the highest number assigned, if still readable
            ((last,),) = self._select(
                "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?", table
            )
        guessed = last == 0
        with suppress(sqlite3.DatabaseError):  # the table has rows, or cannot be read
            guessed = guessed and bool(self._select(f"SELECT 1 FROM {table} LIMIT 1"))
        damaged = self._damaged[table]
        while number < last or (guessed and missing < MISSES):
            number += 1
            if progress is not None:
                progress(number, max(last, number))
            record, intact, forgotten = None, False, False
            with suppress(*UNREADABLE):
                record = read(self._select, table, number)
                intact = record is not None and record.intact
                # numbers are consecutive, and only results are ever deleted
                forgotten = record is None and table == RESULT
            missing = 0 if record else missing + 1
            if record and intact:
                self._intact[table] += 1
                self._unsure += table == MEASUREMENT and record.stored is None
                yield record
            elif not forgotten:
                damaged.append(number)
        if guessed:  # nothing shows that there were records after the last readable one
            damaged[:] = [value for value in damaged if value <= number - missing]

    def found(self, path: Path) -> Found:
        """The counts, once all records have been read."""
        return Found(
            path,
            self._intact[MEASUREMENT],
            self._unsure,
            tuple(self._damaged[MEASUREMENT]),
            self._sound,
            sum(self._intact[table] for table in ABOUT),
            tuple(f"{table} {number}" for table in ABOUT for number in self._damaged[table]),
        )


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _lengthened(file: Path) -> bool:
    """Append empty pages in place of those that the header counts but the file lacks, so that SQLite reads
    the others; whether any were missing.
    """
    with file.open("r+b") as opened:
        header = opened.read(100)
        if len(header) < 100 or not header.startswith(MAGIC):
            return False
        size = int.from_bytes(header[PAGE_SIZE_AT : PAGE_SIZE_AT + 2], "big")
        size = 65536 if size == 1 else size
        wanted = size * int.from_bytes(header[PAGES_AT : PAGES_AT + 4], "big")
        there = opened.seek(0, 2)
        if there >= wanted:
            return False
        opened.truncate(wanted)
    return True
