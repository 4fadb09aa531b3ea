"""Show the published figures and errata.

All tables of the five papers, transcribed cell by cell, with errata: a figure as printed, the corrected
one, and the reason. `modexlab compare` compares them with ours.

examples:
  modexlab show papers                     the five papers
  modexlab show papers 003                 tables, formulas and errata of one
  modexlab show papers 003 --table 17.4    a table as printed, and what is wrong in it
  modexlab show papers --errata            all errata
  modexlab show papers --bibtex            references
  modexlab show papers 001 --json          every cell, with its metric, unit and our machine for it
"""

from argparse import Namespace
from collections.abc import Iterable, Iterator
from importlib.metadata import version

import msgspec

from .....fl.errors import BadInput
from ....json_values import attributes
from ....papers import published
from ....papers.published import Erratum, Paper, Published
from ...options import flag, option
from ...render import Block, Columns, Json, Table, answer

OPTIONS = (
    option("paper", "PAPER", "000 to 004 (default: a list of them)", nargs="?"),
    "--table (as printed: 1, 2a, 17.4, text, ...)",
    flag("--errata", "print only the errata"),
    flag("--bibtex", "print entries for a list of references"),
    "--json",
)

BIBTEX = """\
@software{{modexlab,
  title = {{modexlab: a laboratory for modular-exponentiation hardware}},
  author = {{{{The modexlab developers}}}},
  version = {{{version}}},
  year = {{2026}}
}}"""


def execute(args: Namespace) -> int:
    if args.table and args.paper is None:
        raise BadInput(
            f"--table {args.table[0]} of which paper? Give it as well: modexlab show papers 001 --table 1"
        )
    if args.table and args.errata:
        raise BadInput("--errata with --table, which prints the errata of the table anyway; drop one of them")
    papers = published.papers() if args.paper is None else (published.paper(args.paper),)
    if args.bibtex and (args.json or args.errata or args.table):
        raise BadInput("--bibtex prints references only: drop --json, --errata and --table")
    if args.bibtex:
        own = [BIBTEX.format(version=version("modexlab"))] if args.paper is None else []
        print("\n\n".join([*own, *(paper.bibtex for paper in papers)]))
        return 0
    errata = [erratum for paper in papers for erratum in paper.errata]
    if args.errata:
        return answer(args, errata, _told(errata))
    chosen = [papers[0].table(name) for name in args.table or ()]
    tables = chosen or [table for paper in papers for table in paper.tables]
    if chosen:
        blocks = [block for table in chosen for block in _printed(table)]
    else:
        blocks = [*_detail(papers[0])] if args.paper is not None else listed(papers)
    return answer(args, [_as_json(figure) for table in tables for figure in table.figures()], *blocks)


def _as_json(figure: Published) -> Json:
    return {**msgspec.structs.asdict(figure), **attributes(figure, "amount", "subject", "comparable")}


def listed(papers: Iterable[Paper]) -> list[Block]:
    columns: Columns = {
        "paper": "number",
        "year": "year",
        "tables": lambda paper: len(paper.tables),
        "figures": lambda paper: len([*paper.figures()]),
        "errata": lambda paper: len(paper.errata),
        "title": "title",
    }
    return [
        Table.of(papers, columns),
        "`modexlab show papers PAPER` lists its tables, `--table N` prints one.",
    ]


def _detail(paper: Paper) -> Iterator[Block]:
    columns: Columns = {
        "table": "number",
        "rows": lambda table: len(table.rows),
        "columns": lambda table: len(table.columns),
        "caption": "caption",
    }
    yield f"Paper {paper.number}. {paper.citation}\nTechnology: {paper.technology}"
    yield Table.of(paper.tables, columns)
    formulas = (
        f"  {formula.name} = {formula.expression}    {formula.says} ({formula.where})"
        for formula in paper.formulas
    )
    yield "\n".join(["Formulas:", *formulas]) if paper.formulas else ""
    yield f"What is wrong in it:\n{_told(paper.errata)}"


def _printed(printed: published.Table) -> Iterator[Block]:
    """A table as printed, with a star at each erratum."""
    wrong = {(erratum.row, erratum.column) for erratum in printed.errata}
    rows = []
    for name, cells in printed.rows.items():
        starred = (
            f"{cell}*" if (name, column) in wrong else cell
            for column, cell in zip(printed.columns, cells, strict=True)
        )
        rows.append([*printed.names[name], *starred])
    kind = "" if printed.kind == "Text" else f"{printed.kind} {printed.number}: "
    yield f"{kind}{printed.caption}\n({printed.source})"
    yield Table([*printed.keys, *printed.columns], rows)
    unreadable = any(not figure.readable for figure in printed.figures())
    note = ["?: not readable in our copy of the paper."] if unreadable else []
    yield "\n".join([*printed.footnotes, *note])
    if printed.errata:
        yield f"* wrong:\n{_told(printed.errata)}"


def _told(errata: Iterable[Erratum]) -> str:
    lines = []
    for erratum in errata:
        place = ", ".join(filter(None, (erratum.where, erratum.row, erratum.column)))
        instead = f"; instead: {erratum.corrected}" if erratum.corrected else ""
        lines.append(f"  paper {erratum.paper}, {place}: {erratum.printed}{instead}\n      {erratum.reason}")
    return "\n".join(lines)
