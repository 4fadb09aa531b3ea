"""Tables in Markdown, and in plain text with fitted columns and right-aligned numbers."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of text; a column is right-aligned where all of its cells are numbers or dashes."""
    columns = list(zip(*([head, *rows]), strict=True))
    widths = [max(map(len, column)) for column in columns]
    right = [bool(rows) and all(_is_number(cell) for cell in column[1:]) for column in columns]

    def line(cells: Sequence[str]) -> str:
        parts = zip(cells, widths, right, strict=True)
        return "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in parts
        )

    rule = "  ".join("-" * width for width in widths)
    return "\n".join(text.rstrip() for text in (line(head), rule, *map(line, rows)))


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table of Markdown."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.replace(",", "").replace(".", "", 1).isdigit()
