"""Tables in Markdown, and in plain text with fitted columns and right-aligned numbers."""

from collections.abc import Sequence
from typing import Any


def cell(value: Any) -> str:
    """A value as text: a float with six significant digits, a dash for None."""
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A plain-text table; a column is right-aligned if all of its cells are numbers or dashes."""
    rows = [list(map(cell, row)) for row in rows]
    columns = list(zip(head, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    right = [bool(rows) and all(map(is_number, column[1:])) for column in columns]

    def line(cells: Sequence[str]) -> str:
        parts = zip(cells, widths, right, strict=True)
        return "  ".join(
            text.rjust(width) if to_right else text.ljust(width) for text, width, to_right in parts
        )

    rule = "  ".join("-" * width for width in widths)
    return "\n".join(text.rstrip() for text in (line(head), rule, *map(line, rows)))


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """The lines of a Markdown table."""
    cells = [[cell(value).replace("|", "\\|") for value in row] for row in rows]
    lines = [head, ["---"] * len(head), *cells]
    return [f"| {' | '.join(line)} |" for line in lines]


def is_number(text: str) -> bool:
    return text == "-" or text.replace(",", "").replace(".", "", 1).isdigit()
