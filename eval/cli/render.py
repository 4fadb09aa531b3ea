"""The renderer of results: a report is printed as JSON, or its blocks as text or Markdown."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ..table import markdown_table, table
from .exit_codes import INTERRUPTED

LABEL = 14  # letters
Json = dict[str, Any]  # an object for scripts


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
    def of(records: Iterable[Any], columns: Mapping[str, str], title: str = "", note: str = "") -> Table:
        """Records, which are dictionaries or objects: the head of each column, and its item as NAME or
        NAME:FORMAT.
        """
        rows = [[_item(record, *column.split(":")) for column in columns.values()] for record in records]
        return Table([*columns], rows, title, note)

    def text(self) -> str:
        return "\n".join(filter(None, (self.title, table(self.head, self.rows), self.note)))

    def markdown(self) -> str:
        title = self.title and f"{'#' * self.level} {self.title}"
        body = "\n".join(markdown_table(self.head, self.rows))
        return "\n\n".join(filter(None, (title, body, self.note)))


def _item(record: Any, name: str, form: str = "") -> Any:
    value = record[name] if isinstance(record, Mapping) else getattr(record, name)
    return format(value, form) if form and value is not None else value


Block = str | Table


def labelled(pairs: Iterable[tuple[str, Any]], title: str = "") -> str:
    """Lines with a label before the value, below a title; nothing for a value that is empty."""
    lines = [f"{label:<{LABEL}}  {value}" for label, value in pairs if value not in (None, "")]
    return "\n".join([title, *lines] if title else lines)


def rendered(blocks: Iterable[Block | None], markdown: bool = False) -> str:
    """Blocks with an empty line between them."""
    return "\n\n".join(
        block if isinstance(block, str) else block.markdown() if markdown else block.text()
        for block in blocks
        if block
    )


def print_json(value: Any) -> None:
    print(json.dumps(msgspec.to_builtins(value), indent=2))


def answer(args: Namespace, data: Any, *blocks: Block | None) -> None:
    """The result of a command: its data with --json, else its blocks."""
    if args.json:
        print_json(data)
    else:
        print(rendered(blocks))


def answer_all(args: Namespace, results: Sequence[tuple[Any, str]]) -> None:
    """The results for several designs, each for scripts and as text; one alone is no list."""
    reports = [report for report, _ in results]
    if args.json:
        print_json(reports if len(reports) > 1 else reports[0])
    else:
        print("\n".join(text for _, text in results))


def capped(lines: Sequence[str], most: int, more: str = "more; --json has them all") -> list[str]:
    """The first lines, and how many there are besides."""
    rest = len(lines) - most
    return [*lines[:most], *([f"... and {rest} {more}"] if rest > 0 else [])]


def warn(message: str) -> None:
    print(f"modexlab: warning: {message}", file=sys.stderr)


def interrupted(kept: str) -> int:
    """Print the results kept by an interrupted run and how to resume it; return the exit code."""
    warn(f"interrupted: {kept}; the same command goes on from there")
    return INTERRUPTED
