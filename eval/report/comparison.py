"""The papers' figures beside ours, as tables and as the data of a chart; eval/lab/comparison/compare.py says
what compares with what.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..lab.comparison.compare import (
    CELLS,
    CLOSE,
    CLOSE_TO_A_MEAN,
    NOTES,
    RATIO,
    STALE,
    WORDS,
    Comparison,
    Side,
    compare,
    label,
    missing,
)
from ..lab.ledger.ledger import Ledger, family_of
from ..papers.published import Paper, papers
from ..papers.published import Table as PaperTable
from .metrics import of_paper, shown
from .published import citation
from .tables import MISSING, Cell, Column, Line, Table, judged, line, own, quotient


@dataclass
class Compared:
    """What the ledger has beside the papers."""

    tables: list[Table] = field(default_factory=list)  # one for each paper
    records: list[dict[str, Any]] = field(default_factory=list)  # of the chart
    citations: list[dict[str, str]] = field(default_factory=list)  # of the published figures
    wanted: int = 0  # points that have not been measured


def compared(ledger: Ledger, asked: Sequence[str] = ()) -> Compared:
    """All papers; of these designs if there are any."""
    result = Compared()
    tables = {(paper.number, table.number): table for paper in papers() for table in paper.tables}
    figures = (figure for table in tables.values() for figure in table.figures())
    found = [comparison for comparison in compare(figures, ledger) if isinstance(comparison, Comparison)]
    if asked:
        found = [comparison for comparison in found if any(_name(side) in asked for side in comparison.sides)]
    left = missing(found, stale=False)
    result.wanted = len(left.quick) + len(left.long)
    for paper in papers():
        own = [comparison for comparison in found if comparison.figure.paper == paper.number]
        lines = [
            _line(comparison, tables[paper.number, comparison.figure.table], result)
            for comparison in own
            if any(side.row is not None for side in comparison.sides)
        ]
        if lines:
            result.tables.append(_table(paper, lines, len(own)))
    for place, record in enumerate(result.records):
        record["order"] = place
    return result


def _name(side: Side) -> str:
    return side.name.removeprefix("procxcel-")


def _best(comparison: Comparison) -> Side | None:
    """Of ours and the twin the first that may be held against the figure."""
    return next(
        (side for side in (comparison.ours, comparison.twin) if comparison.ratio(side) is not None), None
    )


def _table(paper: Paper, lines: list[Line], count: int) -> Table:
    said = [NOTES[paper.number]]
    if count > len(lines):
        said = [
            *said,
            f"{count - len(lines)} more are not measured yet: modexlab compare paper-{paper.number} "
            "--measure.",
        ]
    title = f"Paper {paper.number}: {paper.title}"
    return Table(f"paper-{paper.number}", title, " ".join(said), COLUMNS, lines).explained


def _line(comparison: Comparison, table: PaperTable, result: Compared) -> Line:
    figure = comparison.figure
    known = of_paper(figure.metric, figure.unit)
    what = (
        f"{known.title} ({known.shown_unit})"
        if known.shown_unit not in ("", known.title.lower()) and not comparison.base
        else known.title
    )
    if comparison.base:
        what = f"{what} / {comparison.base}"
    number = f"c{len(result.citations)}"
    machine = label(figure)
    result.citations.append(citation(number, f"Paper {figure.paper}: {machine}", [figure]))
    best = _best(comparison)
    if best is not None and _upper(comparison, best) != math.inf:
        result.records.append(_record(comparison, machine))
    kind = f"{table.kind} {table.number}" if table.kind != "Text" else "In the text"
    shown_as = _Shown(
        comparison, machine, f"{what}, {figure.operation}" if figure.operation else what, number
    )
    return line(COLUMNS, shown_as, _filters(comparison), f"{kind}: {table.caption}")


def _published(comparison: Comparison) -> str:
    value = comparison.value
    return shown(int(value) if float(value).is_integer() else value)


@dataclass(frozen=True)
class _Shown:
    """A comparison, with the words for its machine and its figure, and the number of its citation."""

    each: Comparison
    machine: str
    what: str
    number: str

    @property
    def published(self) -> Cell:
        """A figure that the paper prints with more digits than ours is exact to is shown as we show ours."""
        star = "*" if self.each.figure.corrected is not None else ""
        return Cell(f"{_published(self.each)}{star}", self.each.value, published=self.number)

    @property
    def verdict(self) -> Cell:
        said = self.each.verdict
        return Cell(said, tone="bad" if said.startswith(("kept out", "other order")) else "")

    @property
    def ours(self) -> str:
        return self.each.ours.name if self.each.ours is not None else "-"


def _value(side: Side | None) -> Cell:
    if side is None or side.value is None or side.row is None:
        return MISSING
    return own(side.value, side.row.id, side.row.measurement, side.stale)


def _times(comparison: Comparison, side: Side | None) -> Cell:
    """The ratio to the published figure."""
    if side is None or side.value is None or side.row is None:
        return MISSING
    close = CLOSE_TO_A_MEAN if comparison.figure.operation == "mean" else CLOSE
    value = side.value if comparison.ratio(side) is not None else None
    verdict = (
        comparison.basis != RATIO
        and not side.stale
        and (comparison.basis != CELLS or judged([comparison.figure.metric], side.row.stage))
    )
    return quotient(value, comparison.value, _upper(comparison, side), close=close, judged=verdict)


COLUMNS: tuple[Column[_Shown], ...] = (
    Column("Machine", lambda it: it.machine),
    Column("Bits", lambda it: Cell(str(it.each.figure.nbits), it.each.figure.nbits), number=True),
    Column("Figure", lambda it: it.what),
    Column("Published", lambda it: it.published, number=True),
    Column("Its twin", lambda it: _value(it.each.twin), number=True),
    Column("×", lambda it: _times(it.each, it.each.twin), number=True),
    Column("Ours", lambda it: _value(it.each.ours), number=True),
    Column("×", lambda it: _times(it.each, it.each.ours), number=True),
    Column("By", lambda it: it.ours),
    Column("Verdict", lambda it: it.verdict),
)


def _upper(comparison: Comparison, side: Side) -> float | None:
    """Of an energy, which is a lower bound, the upper one, or infinity if it was not measured."""
    if comparison.figure.metric != "energy_nj":
        return None
    return side.upper.value if side.upper is not None else math.inf


def _filters(comparison: Comparison) -> dict[str, Any]:
    figure = comparison.figure
    return {
        "family": family_of(figure.subject) if figure.subject else "",
        "nbits": figure.nbits,
        "operation": figure.operation if figure.operation in ("encrypt", "decrypt") else "",
        "metric": figure.metric,
    }


def _record(comparison: Comparison, machine: str) -> dict[str, Any]:
    """A point of the chart: of ours, or else of the twin."""
    side = _best(comparison)
    assert side is not None and side.row is not None
    figure = comparison.figure
    known = of_paper(figure.metric, figure.unit)
    what = f"{known.title.lower()}{' of ' + figure.operation if figure.operation else ''}"
    upper = _upper(comparison, side)
    bounds = {} if upper is None else {"upper": upper, "ratio_to": upper / comparison.value}
    return {
        **_filters(comparison),
        "m": side.row.measurement,
        "row": side.row.id,
        "name": f"{figure.paper} {machine}, {figure.nbits}: {what}, "
        f"{side.name}{f' ({STALE})' if side.stale else ''}",
        "kind": known.title,
        "ours": side.name,
        "value": side.value,
        "published": comparison.value,
        "unit": "" if comparison.base else known.shown_unit,
        "ratio": comparison.ratio(side),
        **bounds,
        "basis": WORDS[comparison.basis],
        "verdict": comparison.verdict,
    }
