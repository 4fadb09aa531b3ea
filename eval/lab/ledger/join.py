"""Two ledgers: what differs between them, and one joined to the other.

Figures are matched by what they say (the point, the operation, the metric) and not by their keys: a key
changes with every source, and whether a figure moved with it is just the question. A joined measurement keeps
its date and its tools. Of two measurements of a point the newer one counts; the older stays as history,
whichever ledger it came from. Verdicts and results of tasks go with them, where there is no newer one.
What failed does not: it may be measured here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from .ledger import Ledger, Whole
from .notes import RESULT, VERDICT, Note

if TYPE_CHECKING:
    from ..ledger_rows import Row
    from .reference import Reference

Results = Union["Ledger", "Reference"]
What = tuple[str, str, str]  # the point as JSON, operation, metric


@dataclass(frozen=True)
class Difference:
    """A figure that is not the same in both ledgers; None where it is missing."""

    row: Row  # from the ledger that has it, the second one if both do
    before: float | int | None
    after: float | int | None

    @property
    def relative(self) -> float | None:
        """after / before - 1, where there are both, and the first is not 0."""
        if self.before is None or self.after is None or not self.before:
            return None
        return self.after / self.before - 1


@dataclass(frozen=True)
class Comparison:
    """Result of comparing two ledgers."""

    compared: int  # figures that are in both
    differences: tuple[Difference, ...]
    only_before: tuple[Row, ...]
    only_after: tuple[Row, ...]


def compare(before: Results, after: Results, tolerance: float = 0.0, **filters: Any) -> Comparison:
    """The newest figures of both, point by point; a relative difference of up to `tolerance` is none."""
    first, second = _by_what(before, filters), _by_what(after, filters)
    both = [what for what in second if what in first]
    differences = [Difference(second[what], first[what].value, second[what].value) for what in both]
    return Comparison(
        len(both),
        tuple(difference for difference in differences if not _alike(difference, tolerance)),
        tuple(row for what, row in first.items() if what not in second),
        tuple(row for what, row in second.items() if what not in first),
    )


def _by_what(ledger: Results, filters: dict[str, Any]) -> dict[What, Row]:
    return {
        (json.dumps(row.point, sort_keys=True), row.operation, row.metric): row
        for row in ledger.rows(**filters)
    }


def _alike(difference: Difference, tolerance: float) -> bool:
    before, after = difference.before, difference.after
    assert before is not None and after is not None
    return abs(after - before) <= tolerance * abs(before)


@dataclass(frozen=True)
class Joined:
    """Counts of the measurements of one ledger, by their fate."""

    path: Path
    added: int
    there: int  # they were in the other one already
    older: int  # of those that were added: the other one has a newer measurement of the point
    conflicts: int  # of those that were added: the other one has other figures under the same key
    noted: int  # verdicts and results, and of a ledger that is salvaged failures, that were added


def join(into: Ledger, source: Ledger) -> Joined:
    """All measurements and verdicts of `source` into the other one."""
    return add_all(into, source.path, source.whole(), chain(source.notes(VERDICT), source.notes(RESULT)))


def add_all(into: Ledger, path: Path, measurements: Iterable[Whole], notes: Iterable[Note]) -> Joined:
    """Copy the ledger at `path` in one transaction: all of it, or nothing, and nothing twice."""
    added = there = older = conflicts = 0
    with into.joining() as joining:
        for measurement in measurements:
            known = joining.same_key(measurement)
            if any(identity == measurement.identity for identity in known):
                there += 1
                continue
            conflicts += any(identity.figures != measurement.identity.figures for identity in known)
            older += joining.add(measurement)
            added += 1
        noted = sum(joining.note(note) for note in notes)
    return Joined(path, added, there, older, conflicts, noted)
