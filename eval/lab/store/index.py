"""Index of the entries of a file: the newest of each point, check and task.

Newest is by date, then by digest, and never by line: files that were joined in another order answer alike.
Equal lines count once.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from ..point import key_in
from .entries import (
    AnyEntry,
    FailureEntry,
    MeasurementEntry,
    PointEntry,
    ResultEntry,
    VerdictEntry,
    decode,
)
from .lines import Line, Lines

Rank = tuple[str, bytes, int]  # date, digest, and number of the line
_Key = TypeVar("_Key")
_Entry = TypeVar("_Entry", MeasurementEntry, FailureEntry, VerdictEntry, ResultEntry)


class Index:
    """The entries of a file that have been read."""

    def __init__(self) -> None:
        self.entries: dict[int, AnyEntry] = {}  # by line
        self.ranks: dict[int, Rank] = {}  # of measurements
        self.points: dict[bytes, Rank] = {}  # newest measurement by point
        self.versions: dict[str, Rank] = {}  # newest measurement by key
        self.failed: dict[bytes, Rank] = {}  # newest failure by point
        self.failed_versions: dict[str, Rank] = {}  # newest failure by key
        self.verdicts: dict[tuple[str, int, bytes, str], Rank] = {}
        self.results: dict[str, Rank] = {}
        self.digests: set[bytes] = set()
        self.keys: set[str] = set()  # of the points that were measured or failed
        self.newest = ""  # date
        self.undated = False  # whether there are reference results

    def add(self, lines: Lines, found: Iterable[Line]) -> None:
        """Add lines that were appended."""
        for line in found:
            if line.digest in self.digests:
                continue
            self.digests.add(line.digest)
            try:
                entry = decode(line.text)
            except msgspec.MsgspecError:
                lines.skip(line.number, "is of a kind that this version does not know")
                continue
            self.entries[line.number] = entry
            self._place(entry, (entry.at, line.digest, line.number))

    def _place(self, entry: AnyEntry, rank: Rank) -> None:
        self.newest = max(self.newest, entry.at)
        self.undated = self.undated or not entry.at
        if isinstance(entry, PointEntry) and entry.key:
            self.keys.add(key_in(entry.key))
        if isinstance(entry, MeasurementEntry):
            self.ranks[rank[2]] = rank
            _keep(self.points, bytes(entry.point), rank)
            if entry.key:
                _keep(self.versions, entry.key, rank)
        elif isinstance(entry, FailureEntry):
            _keep(self.failed, bytes(entry.point), rank)
            if entry.key:
                _keep(self.failed_versions, entry.key, rank)
        elif isinstance(entry, VerdictEntry):
            _keep(self.verdicts, entry.about, rank)
        else:
            _keep(self.results, entry.key, rank)

    # ---- reading

    def measurements(self, *, history: bool) -> list[tuple[int, MeasurementEntry]]:
        """The newest measurement of each point, or all, with their lines, the oldest first."""
        ranks = self.ranks.values() if history else self.points.values()
        return list(self._of(ranks, MeasurementEntry))

    def measurements_of(self, keys: Iterable[str]) -> list[tuple[int, MeasurementEntry]]:
        """The newest measurement of each of these versions."""
        return list(self._of((self.versions[key] for key in keys if key in self.versions), MeasurementEntry))

    def all_failures(self) -> Iterator[FailureEntry]:
        """The newest failure of each point that has not been measured since."""
        ranks = (
            rank
            for point, rank in list(self.failed.items())
            if point not in self.points or self.points[point][0] < rank[0]
        )
        return (entry for _, entry in self._of(ranks, FailureEntry))

    def failures_of(self, keys: Iterable[str]) -> Iterator[FailureEntry]:
        """The newest failure of each of these versions, unless it has been measured."""
        there = (key for key in keys if key in self.failed_versions and key not in self.versions)
        return (entry for _, entry in self._of(map(self.failed_versions.__getitem__, there), FailureEntry))

    def all_verdicts(self) -> Iterator[VerdictEntry]:
        """The newest verdict of each check."""
        return (entry for _, entry in self._of(self.verdicts.values(), VerdictEntry))

    def results_of(self, keys: Iterable[str]) -> Iterator[ResultEntry]:
        """The newest result of each of these tasks, unless it is forgotten."""
        ranks = (self.results[key] for key in keys if key in self.results)
        return (entry for _, entry in self._of(ranks, ResultEntry) if not entry.forgotten)

    def _of(self, ranks: Iterable[Rank], kind: type[_Entry]) -> Iterator[tuple[int, _Entry]]:
        for *_, number in sorted(ranks, key=_age):
            entry = self.entries[number]
            assert isinstance(entry, kind)
            yield number, entry


def _age(rank: Rank) -> tuple[str, bytes, int]:
    """The order of entries: by date, and reference results, which have none, by line."""
    at, digest, number = rank
    return (at, digest, number) if at else (at, b"", number)


def _keep(newest: dict[_Key, Rank], key: _Key, rank: Rank) -> None:
    """Keep the newer one of two entries."""
    if key not in newest or newest[key] < rank:
        newest[key] = rank
