"""A ledger that has suffered: what of it is whole, and that taken out into another one.

A file that was cut off lacks pages at its end; SQLite refuses each question that needs one of them. So
measurements are asked for one by one, by their numbers, and those count whose row, figures and pictures can
all be read and give the digest that was written with them; so are points that failed, and verdicts. A bit
that has changed within a value is seen by nothing but the digest.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from ....fl.errors import BadInput
from . import schema
from .join import Joined, add_all
from .ledger import Ledger, Whole, require_file, whole_of
from .notes import TABLES, Kept, Note, Stored, note_of

PAGE_SIZE_AT, PAGES_AT = (
    16,
    28,
)  # bytes of the header: the size of a page (1: 65,536), and how many pages there should be
MISSES = 10_000  # numbers one after the other without a measurement: behind them there is none
SUFFIXES = ("-wal", "-shm")  # what lies beside a file that is in use
WAIT_SECONDS = 30.0  # for a writer that is just beginning its log
MEASUREMENT = "measurement"


@dataclass(frozen=True)
class Found:
    """Readable content of a file."""

    path: Path
    intact: int
    unsure: int  # of those: written by a version without digests
    damaged: tuple[int, ...]  # numbers whose measurement is not what was written, or cannot be read
    sound: bool  # SQLite finds nothing wrong with the file as such
    notes: int  # failures and verdicts that are whole
    damaged_notes: tuple[str, ...]  # such as "verdict 3"

    @property
    def whole(self) -> bool:
        return self.sound and not self.damaged and not self.damaged_notes


@dataclass(frozen=True)
class Salvaged:
    """Counts of salvaged rows, and the present name of the file."""

    found: Found
    joined: Joined
    kept: Path  # the damaged file


def verify(path: Path, progress: Callable[[int, int], None] | None = None) -> Found:
    """Read all of it; nothing is changed."""
    with _copy(path) as copy:
        for _ in chain(copy.measurements(progress), copy.notes()):
            pass
        return copy.found(path)


def salvage(path: Path, into: Ledger, progress: Callable[[int, int], None] | None = None) -> Salvaged:
    """Copy intact rows to another ledger; if that is the same file, rename the damaged one first."""
    if not path.is_file():
        raise BadInput(f"{path}: there is no such file; give a ledger")
    kept = path
    if into.exists and into.path.samefile(path):
        into.close()
        kept = _moved(path)
    with _copy(kept) as copy:
        joined = add_all(into, kept, copy.measurements(progress), copy.notes())
        return Salvaged(copy.found(path), joined, kept)


def _moved(path: Path) -> Path:
    """Out of the way, with what lies beside it."""
    number = 1
    while (kept := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(kept)
    for suffix in SUFFIXES:
        log = path.with_name(path.name + suffix)
        if log.exists():
            log.rename(kept.with_name(kept.name + suffix))
    return kept


@contextmanager
def _at_rest(path: Path) -> Iterator[None]:
    """While one reads it SQLite keeps the log as it is, so that file and log belong together, whoever writes
    meanwhile.

    Its own backup would do for a file that is whole; of one that is not it takes nothing.
    """
    reader = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", timeout=WAIT_SECONDS, uri=True)
    try:
        with suppress(sqlite3.DatabaseError):  # damaged: then it is copied as it is
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sqlite_master").fetchall()
        yield
    finally:
        reader.close()


class _copy:
    """A copy of a file, as long as its header says that it is, and what can be read of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._intact: Counter[str] = Counter()  # by table
        self._damaged: dict[str, list[int]] = {}
        self._unsure = 0

    def __enter__(self) -> _copy:
        require_file(self._path)
        self._directory = tempfile.TemporaryDirectory(prefix="modexlab-")
        file = Path(self._directory.name) / "ledger.sqlite"
        try:
            # who closes a file gives up all locks that his process has on it: so it stays open until the log
            # is copied, too
            with _at_rest(self._path), self._path.open("rb") as source:
                with file.open("wb") as target:
                    shutil.copyfileobj(source, target)
                for suffix in SUFFIXES[:1]:
                    log = self._path.with_name(self._path.name + suffix)
                    if log.exists():
                        shutil.copyfile(log, file.with_name(file.name + suffix))
        except OSError as error:
            self._directory.cleanup()
            raise BadInput(f"{self._path} cannot be copied to be read: {error.strerror}") from None
        except sqlite3.Error as error:
            self._directory.cleanup()
            raise BadInput(f"{self._path} cannot be read: {error}; give a ledger") from None
        self._sound = not _lengthened(file)
        self._connection = sqlite3.connect(file, isolation_level=None)
        try:
            self._prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._directory.cleanup()

    def _prepare(self) -> None:
        """The tables as they are today; BadInput where nothing tells what the file is."""
        try:
            version = schema.version_of(self._connection, self._path)
            if version < schema.VERSION:
                schema.migrate(self._connection, self._path)
        except sqlite3.DatabaseError as error:
            raise BadInput(
                f"{self._path}: its first page, which says what the others are, cannot be read ({error}); "
                "restore a copy of it"
            ) from None
        if version == 0:
            raise BadInput(f"{self._path} is empty: there is nothing in it")
        try:
            (said,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
            self._sound = self._sound and said == "ok"
        except sqlite3.DatabaseError:
            self._sound = False

    def _select(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()

    def _last(self, table: str) -> int:
        """The highest number that was given, if that can still be read."""
        try:
            found = self._select("SELECT seq FROM sqlite_sequence WHERE name = ?", table)
        except sqlite3.DatabaseError:
            return 0
        return found[0][0] if found else 0

    def _may_have_some(self, table: str) -> bool:
        """There are rows, or nobody can tell."""
        try:
            return bool(self._select(f"SELECT 1 FROM {table} LIMIT 1"))
        except sqlite3.DatabaseError:
            return True

    def measurements(self, progress: Callable[[int, int], None] | None) -> Iterator[Whole]:
        """Return the intact measurements."""
        yield from self._each(MEASUREMENT, lambda number: whole_of(self._select, number), progress)

    def notes(self) -> Iterator[Note]:
        """The same of failures and verdicts."""
        for table in TABLES:
            yield from self._each(table, partial(note_of, self._select, table))

    def _each(
        self,
        table: str,
        read: Callable[[int], Stored[Kept] | None],
        progress: Callable[[int, int], None] | None = None,
    ) -> Iterator[Kept]:
        """Return the intact rows of a table, by number."""
        last, number, missing = self._last(table), 0, 0
        damaged = self._damaged.setdefault(table, [])
        guessed = last == 0 and self._may_have_some(table)
        while number < last or (guessed and missing < MISSES):
            number += 1
            if progress is not None:
                progress(number, max(last, number))
            try:
                stored = read(number)
                intact = stored is not None and stored.intact
            except (
                sqlite3.DatabaseError,
                UnicodeDecodeError,
                TypeError,
                ValueError,
            ):  # a value of another type, too
                damaged.append(number)
                missing += 1
                continue
            if stored is None:
                missing += 1
                if number <= last:  # numbers are given one after the other, and nothing is ever taken away
                    damaged.append(number)
                continue
            missing = 0
            if not intact:
                damaged.append(number)
                continue
            self._intact[table] += 1
            self._unsure += table == MEASUREMENT and stored.digest is None
            yield stored.whole
        if guessed:  # behind the last that could be read nothing says that there was another
            damaged[:] = [value for value in damaged if value <= number - missing]

    def found(self, path: Path) -> Found:
        """Behind all measurements and notes."""
        return Found(
            path,
            self._intact[MEASUREMENT],
            self._unsure,
            tuple(self._damaged[MEASUREMENT]),
            self._sound,
            sum(self._intact[table] for table in TABLES),
            tuple(f"{table} {number}" for table in TABLES for number in self._damaged[table]),
        )


def _lengthened(file: Path) -> bool:
    """Pages that the header speaks of and that are not there are put behind it, empty: SQLite then reads the
    others.
    """
    with file.open("r+b") as opened:
        header = opened.read(100)
        if len(header) < 100:
            return False
        size = int.from_bytes(header[PAGE_SIZE_AT : PAGE_SIZE_AT + 2], "big")
        size = 65536 if size == 1 else size
        wanted = size * int.from_bytes(header[PAGES_AT : PAGES_AT + 4], "big")
        there = opened.seek(0, 2)
        if there >= wanted:
            return False
        opened.truncate(wanted)
    return True
