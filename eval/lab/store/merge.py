"""Compares two stores, and merges one into the other.

Figures are matched by point, operation and metric, not by key: a key changes with every source, and the
question is whether the figure moved with it. Merging appends the entries that are not there, with their
dates: the newest measurement of a point counts, whichever store it came from.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ....fl.errors import BadInput
from ...json_values import canonical
from . import artifacts
from .entries import MeasurementEntry, kind_of
from .lines import Lines
from .rows import Row
from .store import Store

UNKNOWN = "unknown"  # kind of an entry of a newer version


class Difference(NamedTuple):
    """A figure that differs between two stores."""

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
    """Result of comparing two stores."""

    compared: int  # figures that are in both
    differences: tuple[Difference, ...]
    only_before: tuple[Row, ...]
    only_after: tuple[Row, ...]


def compare(before: Store, after: Store, tolerance: float = 0.0, **filters: Any) -> Comparison:
    """Compare the newest figures of both, point by point; a relative difference of up to `tolerance` is
    ignored.
    """
    first, second = (
        {(canonical(row.point), row.operation, row.metric): row for row in store.rows(**filters)}
        for store in (before, after)
    )
    both = [Difference(row, first[what].value, row.value) for what, row in second.items() if what in first]
    return Comparison(
        len(both),
        tuple(difference for difference in both if difference.exceeds(tolerance)),
        tuple(row for what, row in first.items() if what not in second),
        tuple(row for what, row in second.items() if what not in first),
    )


@dataclass
class Merged:
    """Counts of the entries of a merged store."""

    path: Path
    there: int = 0  # already in the target
    added: Counter[str] = field(default_factory=Counter)  # by kind


def merge(into: Store, source: Store) -> Merged:
    """Append the entries of `source` to `into` that are not there, and copy the pictures of the new ones."""
    merged = Merged(source.path)
    there = set(into.read().digests)
    found = source.read()
    if found.undated:
        raise BadInput(f"merge {source.path}: reference results are not yours; --store and diff read them")
    texts = []
    for line in Lines(source.path).news():
        if line.digest in there:
            merged.there += 1
            continue
        there.add(line.digest)
        texts.append(line.text)
        entry = found.entries.get(line.number)
        if entry is None:
            merged.added[UNKNOWN] += 1
            continue
        merged.added[kind_of(entry)] += 1
        if isinstance(entry, MeasurementEntry):
            for name, content in artifacts.read(source.path, entry.artifacts).items():
                artifacts.place(into.path, entry.artifacts[name], content)
    if texts:
        into.append(lambda *_: texts)
    return merged
