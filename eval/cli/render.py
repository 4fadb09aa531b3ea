"""Prints results: a report as JSON, or its blocks as text, Markdown or LaTeX."""

import json
import re
import sys
import textwrap
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec

from ..json_values import Json as Json
from ..table import cell, is_number, markdown_table, table
from .exit_codes import FAILED, INTERRUPTED

LABEL = 14  # letters
TEXT, MARKDOWN, LATEX = "text", "markdown", "latex"  # forms of a table, which are methods of Table
EMPTY = (None, "", "-")
Columns = Mapping[str, str | Callable[[Any], Any]]  # the item of a record, by column head


@dataclass(frozen=True)
class Table:
    """Rows below a head, with a title above and a note below; nothing is printed without rows."""

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    note: str = ""
    level: int = 2  # of the title in Markdown

    def __bool__(self) -> bool:
        return bool(self.rows)

    @staticmethod
    def of(records: Iterable[Any], columns: Columns, title: str = "", note: str = "") -> "Table":
        """Records, which are dictionaries or objects: the head of each column, and its item as NAME,
        NAME:FORMAT or a function.
        """
        rows = [[_item(record, column) for column in columns.values()] for record in records]
        return Table([*columns], rows, title, note)

    def folded(self, names: Collection[str]) -> "Table":
        """Move columns of these names into the note if all rows agree, and drop empty columns."""
        if not self.rows:
            return self
        columns = dict(zip(self.head, zip(*self.rows, strict=True), strict=True))
        known = {head: {*column}.difference(EMPTY) for head, column in columns.items()}
        held = [f"{head} {known[head].pop()}" for head in names if len(known.get(head, ())) == 1]
        kept = {head: column for head, column in columns.items() if known[head]}
        note = f"Held fixed: {'; '.join(held)}." if held else ""
        return Table([*kept], [*zip(*kept.values(), strict=True)], self.title, note)

    def text(self) -> str:
        return "\n".join(filter(None, (self.title, table(self.head, self.rows), self.note)))

    def markdown(self) -> str:
        title = self.title and f"{'#' * self.level} {self.title}"
        body = "\n".join(markdown_table(self.head, self.rows))
        return "\n\n".join(filter(None, (title, body, self.note)))

    def latex(self) -> str:
        """The table in LaTeX with the packages booktabs and graphicx; shrunk if it is wider than the text."""
        body = [[_tex(cell(value)) for value in row] for row in self.rows]
        numeric = [all(map(is_number, map(cell, column))) for column in zip(*self.rows, strict=True)]
        head, *rows = [" & ".join(row) for row in ([*map(_tex, self.head)], *body)]
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_tex(self.title)}}}",
            r"\resizebox{\ifdim\width>\linewidth \linewidth\else \width\fi}{!}{%",
            rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in numeric)}}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
            *(rf"{row} \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}}",
            *([rf"\par\smallskip {_tex(self.note)}"] if self.note else []),
            r"\end{table}",
        ]
        return "\n".join(lines)


TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "+-": r"$\pm$"}
TEX |= {sign: rf"\{sign}" for sign in "&%$#_{}"}
UNITS = {"um2": r"$\mu$m$^2$", "mm2": "mm$^2$", "us": r"$\mu$s"}
_SIGNS = re.compile("|".join([*map(re.escape, TEX), *(rf"\b{unit}\b" for unit in UNITS)]))


def _tex(text: str) -> str:
    """Text with the signs escaped that LaTeX would interpret, and units as they are set."""
    return _SIGNS.sub(lambda found: (TEX | UNITS)[found[0]], text)


def _item(record: Any, column: str | Callable[[Any], Any]) -> Any:
    if not isinstance(column, str):
        return column(record)
    name, _, form = column.partition(":")
    value = record[name] if isinstance(record, Mapping) else attrgetter(name)(record)
    return format(value, form) if form and value is not None else value


Block = str | Table


def labelled(pairs: Iterable[tuple[str, Any]], title: str = "") -> str:
    """Lines with a label before the value, below a title; empty values are omitted."""
    lines = [f"{label:<{LABEL}}  {value}" for label, value in pairs if value not in (None, "")]
    return "\n".join([title, *lines] if title else lines)


def rendered(blocks: Iterable[Block | None], form: str = TEXT) -> str:
    """Blocks with an empty line between them; in LaTeX, text becomes comments."""
    return "\n\n".join(
        getattr(block, form)()
        if isinstance(block, Table)
        else textwrap.indent(block, "% ", lambda _: True)
        if form == LATEX
        else block
        for block in blocks
        if block
    )


def output_form(args: Namespace) -> str:
    """The requested form of tables."""
    return next((form for form in (MARKDOWN, LATEX) if getattr(args, form)), TEXT)


def answer(args: Namespace, data: Any, *blocks: Block | None, ok: object = True, form: str = TEXT) -> int:
    """Print the result of a command: its data with --json, else its blocks; return the exit code."""
    print(json.dumps(msgspec.to_builtins(data), indent=2) if args.json else rendered(blocks, form))
    return 0 if ok else FAILED


def answer_all(args: Namespace, results: Sequence[tuple[Any, str]], ok: object = True) -> int:
    """Print the results for several designs, each as JSON and as text; a single one is not put in a list."""
    reports, texts = zip(*results, strict=True)
    return answer(args, reports if len(reports) > 1 else reports[0], "\n".join(texts), ok=ok)


def capped(lines: Sequence[str], most: int, more: str = "more; --json has them all") -> list[str]:
    """The first lines, and the number of the others."""
    rest = len(lines) - most
    return [*lines[:most], *([f"... and {rest} {more}"] if rest > 0 else [])]


def warn(message: str) -> None:
    print(f"modexlab: warning: {message}", file=sys.stderr)


def interrupted(kept: str) -> int:
    """Print the results kept by an interrupted run and how to resume it; return the exit code."""
    warn(f"interrupted: {kept}; the same command goes on from there")
    return INTERRUPTED
