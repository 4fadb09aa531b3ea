"""`modexlab show papers`: published figures, as a list of tables, one table as printed, or the errata."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import msgspec

from .....fl.errors import BadInput
from ....table import table
from ...arguments import add_json, answer

if TYPE_CHECKING:
    from ....papers.published import Erratum, Paper, Published, Table

SUMMARY = "show the published figures and errata"
TEXT = """\
Every table of the five papers that the laboratory is held against, transcribed cell by cell, with errata: what
a paper prints stays, what it should print stands beside it with the reason. `modexlab compare` puts ours beside them."""
EXAMPLES = """\
  modexlab show papers                     the five papers
  modexlab show papers 003                 tables, formulas and errata of one
  modexlab show papers 003 --table 17.4    a table as printed, and what is wrong in it
  modexlab show papers --errata            all that is wrong in them
  modexlab show papers --bibtex            references
  modexlab show papers 001 --json          every cell, with its metric, unit, and the machine of ours that answers to it"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paper", metavar="PAPER", nargs="?", help="000 to 004 (default: a list of them)")
    parser.add_argument("--table", metavar="N", help="print this table of the paper: 1, 2a, 17.4, text, ...")
    parser.add_argument("--errata", action="store_true", help="print only what is wrong")
    parser.add_argument("--bibtex", action="store_true", help="print entries for a list of references")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ....papers import published

    if args.table is not None and args.paper is None:
        raise BadInput(
            f"--table {args.table} of which paper? Give it as well: modexlab show papers 001 --table 1"
        )
    if args.table is not None and args.errata:
        raise BadInput("--errata with --table, which prints those of the table anyway; drop one of them")
    papers = published.papers() if args.paper is None else (published.paper(args.paper),)
    chosen = papers[0].table(args.table) if args.table is not None else None
    errata = [erratum for paper in papers for erratum in paper.errata]
    if args.bibtex and (args.json or args.errata or args.table is not None):
        raise BadInput("--bibtex prints references and nothing else: drop --json, --errata and --table")
    if args.bibtex:
        print("\n\n".join(paper.bibtex for paper in papers))
        return 0
    tables = [chosen] if chosen is not None else [table for paper in papers for table in paper.tables]

    def data() -> list[dict[str, Any]]:
        if args.errata:
            return [asdict(erratum) for erratum in errata]
        return [_as_json(figure) for table in tables for figure in table.figures()]

    def text() -> str:
        if chosen is not None:
            return _printed(chosen)
        if args.errata:
            return "\n".join(_told(erratum) for erratum in errata)
        return _detail(papers[0]) if args.paper is not None else listed(papers)

    answer(args, data, text)
    return 0


def _as_json(figure: Published) -> dict[str, Any]:
    return {
        **msgspec.structs.asdict(figure),
        "amount": figure.amount,
        "subject": figure.subject,
        "comparable": figure.comparable,
    }


def listed(papers: tuple[Paper, ...]) -> str:
    rows = []
    for paper in papers:
        cells = sum(1 for _ in paper.figures())
        year = "-" if paper.year is None else str(paper.year)
        rows.append(
            [paper.number, year, str(len(paper.tables)), str(cells), str(len(paper.errata)), paper.title]
        )
    text = table(["paper", "year", "tables", "figures", "errata", "title"], rows)
    return f"{text}\n\n`modexlab show papers PAPER` lists its tables, `--table N` prints one."


def _detail(paper: Paper) -> str:
    lines = [f"Paper {paper.number}. {paper.citation}", f"Technology: {paper.technology}", ""]
    rows = [[item.number, str(len(item.rows)), str(len(item.columns)), item.caption] for item in paper.tables]
    lines.append(table(["table", "rows", "columns", "caption"], rows))
    if paper.formulas:
        lines += ["", "Formulas:"]
        lines += [
            f"  {formula.name} = {formula.expression}    {formula.says} ({formula.where})"
            for formula in paper.formulas
        ]
    lines += ["", "What is wrong in it:", *(_told(erratum) for erratum in paper.errata)]
    return "\n".join(lines)


def _printed(printed: Table) -> str:
    """As printed; a star where an erratum is."""
    wrong = {(erratum.row, erratum.column) for erratum in printed.errata}
    rows = [
        [
            *printed.names[name],
            *(
                f"{cell}*" if (name, column) in wrong else cell
                for column, cell in zip(printed.columns, cells, strict=True)
            ),
        ]
        for name, cells in printed.rows.items()
    ]
    title = (
        f"{printed.kind} {printed.number}: {printed.caption}" if printed.kind != "Text" else printed.caption
    )
    lines = [title, f"({printed.source})", "", table([*printed.keys, *printed.columns], rows)]
    if printed.footnotes:
        lines += ["", *printed.footnotes]
    if any(not figure.readable for figure in printed.figures()):
        lines.append("?: not readable in our copy of the paper.")
    if printed.errata:
        lines += ["", "* wrong:", *(_told(erratum) for erratum in printed.errata)]
    return "\n".join(lines)


def _told(erratum: Erratum) -> str:
    place = ", ".join(part for part in (erratum.where, erratum.row, erratum.column) if part)
    instead = f"; instead: {erratum.corrected}" if erratum.corrected else ""
    return f"  paper {erratum.paper}, {place}: {erratum.printed}{instead}\n      {erratum.reason}"
