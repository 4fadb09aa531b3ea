"""Tables and chart data of published and our own figures; eval/lab/comparison/compare.py decides which
figures are comparable.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..designs.soc_system import accelerator_in
from ..designs.system_catalogue import subject_of
from ..json_values import attributes
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
)
from ..lab.metrics import Metric
from ..lab.store.snapshot import Snapshot
from ..papers.published import Table as PaperTable
from ..papers.published import papers
from .metrics import of_paper, shown
from .published import citation
from .store_view import Record, Records
from .tables import MISSING, OPERATIONS, Cell, Column, Line, Table, judged, line, own, quotient


@dataclass
class Compared:
    """Published figures paired with comparable figures of the store."""

    tables: list[Table] = field(default_factory=list)  # one for each paper
    records: Records = field(default_factory=list)  # of the chart
    citations: list[dict[str, str]] = field(default_factory=list)  # of the published figures


def compared(results: Snapshot, asked: Sequence[str] = ()) -> Compared:
    """Compare the figures of all papers, or only those of the designs in `asked`."""
    result = Compared()
    tables = {(paper.number, table.number): table for paper in papers() for table in paper.tables}
    figures = (figure for table in tables.values() for figure in table.figures())
    found = [
        item
        for item in compare(figures, results)
        if isinstance(item, Comparison)
        and (not asked or any(accelerator_in(side.name) in asked for side in item.sides))
    ]
    for paper in papers():
        own = [comparison for comparison in found if comparison.figure.paper == paper.number]
        lines = [
            _line(comparison, tables[paper.number, comparison.figure.table], result)
            for comparison in own
            if any(side.row is not None for side in comparison.sides)
        ]
        caption = NOTES[paper.number]
        if more := len(own) - len(lines):
            caption += f" {more} more are not measured yet: modexlab compare paper-{paper.number} --measure."
        if lines:
            title = f"Paper {paper.number}: {paper.title}"
            result.tables.append(Table(f"paper-{paper.number}", title, caption, COLUMNS, lines).explained)
    return result


def _best(comparison: Comparison) -> Side | None:
    """The first comparable measurement, ours before the twin's."""
    return next(
        (side for side in (comparison.ours, comparison.twin) if comparison.ratio(side) is not None), None
    )


def _line(comparison: Comparison, table: PaperTable, result: Compared) -> Line:
    """A line of the table. Appends its citation to the result, and a record of the chart if there is a ratio
    to draw.
    """
    figure, base = comparison.figure, comparison.base
    known = of_paper(figure.metric, figure.unit)
    what = f"{known.title} / {base}" if base else known.head
    if figure.operation:
        what += f", {figure.operation}"
    number, machine = f"c{len(result.citations)}", label(figure)
    result.citations.append(citation(number, f"Paper {figure.paper}: {machine}", [figure]))
    best = _best(comparison)
    if best is not None and _upper(comparison, best) != math.inf:
        record = _record(comparison, best, machine, known)
        result.records.append({**record, "order": len(result.records)})
    kind = f"{table.kind} {table.number}" if table.kind != "Text" else "In the text"
    group = f"{kind}: {table.caption}"
    return line(COLUMNS, _Shown(comparison, machine, what, number), _filters(comparison), group)


class _Shown(NamedTuple):
    """A comparison with names for its machine and its figure, and the number of its citation."""

    of: Comparison
    machine: str
    what: str
    number: str

    @property
    def published(self) -> Cell:
        """The published figure, rounded like our own."""
        value = self.of.value
        star = "*" if self.of.figure.corrected is not None else ""
        text = shown(int(value) if float(value).is_integer() else value)
        return Cell(f"{text}{star}", value, published=self.number)

    @property
    def verdict(self) -> Cell:
        said = self.of.verdict
        return Cell(said, tone="bad" if said.startswith(("kept out", "other order")) else "")

    def value(self, side: Side | None) -> Cell:
        if side is None or side.value is None or side.row is None:
            return MISSING
        return own(side.value, side.row.id, side.row.measurement, side.stale)

    def times(self, side: Side | None) -> Cell:
        """The ratio to the published figure."""
        if side is None or side.row is None:
            return MISSING
        comparison = self.of
        figure, basis = comparison.figure, comparison.basis
        return quotient(
            None if comparison.ratio(side) is None else side.value,
            comparison.value,
            _upper(comparison, side),
            close=CLOSE_TO_A_MEAN if figure.operation == "mean" else CLOSE,
            judged=basis != RATIO
            and not side.stale
            and (basis != CELLS or judged([figure.metric], side.row.stage)),
        )


COLUMNS = (
    Column("Machine", "machine"),
    Column("Bits", "of.figure.nbits", number=True),
    Column("Figure", "what"),
    Column("Published", "published", number=True),
    Column("Its twin", lambda it: it.value(it.of.twin), number=True),
    Column("×", lambda it: it.times(it.of.twin), number=True),
    Column("Ours", lambda it: it.value(it.of.ours), number=True),
    Column("×", lambda it: it.times(it.of.ours), number=True),
    Column("By", "of.ours.name"),
    Column("Verdict", "verdict"),
)


def _upper(comparison: Comparison, side: Side) -> float | None:
    """The upper bound of an energy, infinity if it was not measured; None for other metrics."""
    if comparison.figure.metric != "energy_nj":
        return None
    return side.upper.value if side.upper is not None else math.inf


def _filters(comparison: Comparison) -> Record:
    figure = comparison.figure
    return {
        "family": subject_of(figure.subject).family if figure.subject else "",
        **attributes(figure, "nbits", "metric"),
        "operation": figure.operation if figure.operation in OPERATIONS else "",
    }


def _record(comparison: Comparison, side: Side, machine: str, known: Metric) -> Record:
    """A point of the chart, for our machine or its twin."""
    figure = comparison.figure
    what = f"{known.title.lower()}{f' of {figure.operation}' if figure.operation else ''}"
    upper = _upper(comparison, side)
    bounds = {} if upper is None else {"upper": upper, "ratio_to": upper / comparison.value}
    ours = f"{side.name}{f' ({STALE})' if side.stale else ''}"
    return {
        **_filters(comparison),
        "m": side.row and side.row.measurement,
        "row": side.row and side.row.id,
        "name": f"{figure.paper} {machine}, {figure.nbits}: {what}, {ours}",
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
