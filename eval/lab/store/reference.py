"""Reference results: a store without dates and keys, which diffs well. modexlab has its own in eval/results.

An entry has the digests of the measured hardware and of the kit, from which follows whether it is stale.
Figures are shown for points that a user's store lacks; their numbers are negative.
"""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ....fl.errors import BadInput
from ...json_values import canonical
from ..metrics import Measurement
from ..point import Point
from ..verdicts import Recorded, Verdict
from . import reference_verdicts
from .entries import MeasurementEntry, PointEntry
from .index import Index
from .rows import is_stale
from .store import Store

RESULTS = Path(__file__).parents[2] / "results"
REFERENCE = RESULTS / "reference.jsonl"


class Verified(NamedTuple):
    """The result of comparing reference results with the present hardware; commands measure again."""

    measurements: int
    verdicts: int
    stale: list[str]
    unverified: list[str]


class Reference(Store):
    """A file of reference results, which must exist."""

    sign = -1

    def __init__(self, path: str | Path = REFERENCE) -> None:
        super().__init__(path)
        if not self.path.is_file():
            raise BadInput(f"{path}: there is no such file; give reference results or a store")

    def read(self) -> Index:
        """The entries; BadInput if a line is damaged, as a point without figures would be measured again."""
        index = super().read()
        for number in self.damaged:
            raise BadInput(f"{self.path}, line {number}: not as it was written; restore the file")
        return index

    def verdicts(self) -> list[Verdict]:
        """The reference verdicts; next to modexlab's own results they have a file of their own."""
        own = self.path.resolve() == REFERENCE.resolve()
        return [*super().verdicts(), *(reference_verdicts.reference() if own else ())]

    @property
    def _points(self) -> list[PointEntry]:
        """The entries that have points."""
        return [entry for entry in self.entries() if isinstance(entry, PointEntry)]

    def has(self, point: Point) -> bool:
        """Whether it has current figures of this point, or a point that exceeded its time limit."""
        return self._current(point) is not None

    def verified(self, point: Point) -> tuple[int, Measurement] | None:
        """The number and the figures of this point; None if they are stale or there is a reason to measure
        again.
        """
        found = self._current(point)
        if found is None or not isinstance(found[1], MeasurementEntry) or found[1].unverified:
            return None
        number = self.sign * found[0]
        return number, self.measurement(number)

    def _current(self, point: Point) -> tuple[int, PointEntry] | None:
        """The line and the entry of this point if its hardware and kit are those of today."""
        index, text = self.read(), canonical(point.as_json()).encode()
        rank = index.points.get(text) or index.failed.get(text)
        entry = index.entries[rank[2]] if rank else None
        if rank is None or not isinstance(entry, PointEntry):
            return None
        try:
            stale = is_stale(entry, point)
        except Exception:  # PyMTL3 may raise anything for hardware that cannot be translated
            return None
        return None if stale else (rank[2], entry)

    def points(self) -> list[Point]:
        """The points of the file; BadInput for one that is no longer in the catalogue."""
        return list(map(_point, self._points))

    def verify(self, progress: Callable[[int, int], None]) -> Verified:
        """Compare the digests of all results, and of the verdicts, with those of the present hardware and
        kits.
        """
        entries = [entry for entry in self._points if not entry.key]  # those of a user have keys instead
        verdicts = [verdict for verdict in self.verdicts() if isinstance(verdict, Recorded)]
        count = len(entries) + len(verdicts)
        stale, unverified = [], []
        for number, entry in enumerate(entries, 1):
            progress(number, count)
            try:
                moved = is_stale(entry, _point(entry))
            except BadInput:  # a design or a parameter that no longer exists
                moved = True
            command = shlex.join(entry.command)
            stale += [command] * moved
            unverified += [command] * bool(entry.unverified)
        for number, verdict in enumerate(verdicts, len(entries) + 1):
            progress(number, count)
            stale += [verdict.command] * verdict.stale
            unverified += [verdict.command] * bool(verdict.unverified)
        return Verified(len(entries), len(verdicts), stale, unverified)


def _point(entry: PointEntry) -> Point:
    return Point.from_json(json.loads(bytes(entry.point)))
