"""The papers' figures beside ours, as tables and as the data of a chart; eval/compare.py says what compares with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..commands.compare import label
from ..compare import RATIO, WORDS, Comparison, Side, compare, missing, notes
from ..ledger import Ledger, family_of
from ..published import Paper, papers
from ..published import Table as PaperTable
from .metrics import metric, ratio, shown
from .published import citation
from .tables import Cell, Column, Line, Table, words

# a figure that the paper prints with more digits than ours is exact to is shown as we show ours
COLUMNS = (
    Column("Machine"),
    Column("Bits", number=True),
    Column("Figure"),
    Column("Published", number=True),
    Column("Its twin", number=True),
    Column("×", number=True),
    Column("Ours", number=True),
    Column("×", number=True),
    Column("By"),
    Column("Verdict"),
)


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
    found = [each for each in compare(figures, ledger) if isinstance(each, Comparison)]
    if asked:
        found = [each for each in found if any(_name(side) in asked for side in each.sides)]
    left = missing(found, stale=False)
    result.wanted = len(left.quick) + len(left.long)
    for paper in papers():
        own = [each for each in found if each.figure.paper == paper.number]
        lines = [
            _line(each, tables[paper.number, each.figure.table], result)
            for each in own
            if any(side.row is not None for side in each.sides)
        ]
        if lines:
            result.tables.append(_table(paper, lines, len(own)))
    for place, record in enumerate(result.records):
        record["order"] = place
    return result


def _name(side: Side) -> str:
    return side.name.removeprefix("procxcel-")


def _best(each: Comparison) -> Side | None:
    """Of ours and the twin the first that may be held against the figure."""
    return next((side for side in (each.ours, each.twin) if each.ratio(side) is not None), None)


def _table(paper: Paper, lines: list[Line], count: int) -> Table:
    said = notes(paper.number)
    if count > len(lines):
        said = [
            *said,
            f"{count - len(lines)} more are not measured yet: modexlab compare paper-{paper.number} --measure.",
        ]
    return Table(
        f"paper-{paper.number}", f"Paper {paper.number}: {paper.title}", " ".join(said), COLUMNS, lines
    )


def _line(each: Comparison, table: PaperTable, result: Compared) -> Line:
    figure = each.figure
    known = metric(figure.metric, figure.unit)
    what = (
        f"{known.title} ({known.unit})"
        if known.unit not in ("", known.title.lower()) and not each.base
        else known.title
    )
    if each.base:
        what = f"{what} / {each.base}"
    tone = "bad" if each.verdict.startswith(("kept out", "other order")) else ""
    number = f"c{len(result.citations)}"
    machine = label(figure, table)
    result.citations.append(citation(number, f"Paper {figure.paper}: {machine}", [figure]))
    if _best(each) is not None:
        result.records.append(_record(each, machine))
    star = "*" if figure.corrected is not None else ""
    cells = [
        words(machine),
        Cell(str(figure.nbits), figure.nbits),
        words(f"{what}, {figure.operation}" if figure.operation else what),
        Cell(f"{_published(each)}{star}", each.value, published=number),
        *_side(each, each.twin),
        *_side(each, each.ours),
        words(each.ours.name if each.ours is not None else "-"),
        Cell(each.verdict, tone=tone),
    ]
    kind = f"{table.kind} {table.number}" if table.kind != "Text" else "In the text"
    return Line(cells, _filters(each), f"{kind}: {table.caption}")


def _published(each: Comparison) -> str:
    value = each.value
    return shown(int(value) if float(value).is_integer() else value)


def _side(each: Comparison, side: Side | None) -> list[Cell]:
    if side is None or side.value is None or side.row is None:
        return [Cell("-", tone="quiet")] * 2
    quotient = each.ratio(side)
    tone = (
        ""
        if quotient is None or each.basis == RATIO
        else "good"
        if quotient < 0.98
        else "bad"
        if quotient > 1.02
        else ""
    )
    return [
        Cell(shown(side.value), side.value, side.row.id, side.row.measurement),
        Cell(ratio(quotient), quotient, tone=tone if quotient is not None else "quiet"),
    ]


def _filters(each: Comparison) -> dict[str, Any]:
    figure = each.figure
    return {
        "family": family_of(figure.subject) if figure.subject else "",
        "nbits": figure.nbits,
        "operation": figure.operation if figure.operation in ("encrypt", "decrypt") else "",
        "metric": figure.metric,
    }


def _record(each: Comparison, machine: str) -> dict[str, Any]:
    """A point of the chart: of ours, or else of the twin."""
    side = _best(each)
    assert side is not None and side.row is not None
    figure = each.figure
    known = metric(figure.metric, figure.unit)
    what = f"{known.title.lower()}{' of ' + figure.operation if figure.operation else ''}"
    return {
        **_filters(each),
        "m": side.row.measurement,
        "row": side.row.id,
        "name": f"{figure.paper} {machine}, {figure.nbits}: {what}, {side.name}",
        "kind": known.title,
        "ours": side.name,
        "value": side.value,
        "published": each.value,
        "unit": "" if each.base else known.unit,
        "ratio": each.ratio(side),
        "basis": WORDS[each.basis],
        "verdict": each.verdict,
    }
