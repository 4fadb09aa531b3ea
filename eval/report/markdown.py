"""The report as Markdown with PNG files, for use in course reports."""

from pathlib import Path

from ...flow.files import replace_text, replacing
from . import render_png
from .sections import Content
from .tables import Table
from .text import text, without_empty_columns

NAME = "report.md"


def write(content: Content, directory: Path) -> Path:
    """Write report.md and its pictures; return the path of report.md."""
    pictures = []
    blocks = ["# modexlab report", f"Written {content.when} from the store `{content.path.name}`."]
    if content.empty:
        blocks.append(text(content))
    else:
        marks = {True: "✓", False: "**!**", None: "·"}
        tables = [of_table(table) for table in content.tables_in_order]
        blocks += ("\n".join(f"- {marks[item.good]} {item.text}" for item in content.trust), *tables[:2])
        for chart, file, picture in render_png.pictures(content, "png"):
            pictures.append((file, picture))
            blocks.append(f"## {chart.title}\n\n![{chart.title}]({file})\n\n{chart.caption}")
        blocks += tables[2:]
        for item in content.pictures:
            pictures.append((item.file, item.content))
            title = escaped(item.title)
            blocks.append(f"![{title}]({item.file})\n\n{title}. {item.caption}")
        blocks.append(
            "The store row of each figure is in brackets; `modexlab store reproduce ROW` measures it again."
        )
    for file, picture in pictures:
        with replacing(directory / file) as part:
            part.write_bytes(picture)
    replace_text(directory / NAME, "\n\n".join(blocks) + "\n")
    return directory / NAME


def of_table(table: Table) -> str:
    """A table with its title and caption; figures are followed by their rows."""
    table = without_empty_columns(table)
    heads = [column.title for column in table.columns]
    rule = ["---:" if column.number else "---" for column in table.columns]
    parts = [f"## {table.title}", table.caption]
    for group, lines in table.groups:
        parts.append(f"**{group}**" if group else "")
        rows = [
            [escaped(cell.text if cell.row is None else f"{cell.text} [{cell.row}]") for cell in line.cells]
            for line in lines
        ]
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rows)))
    return "\n\n".join(filter(None, parts))


def escaped(text: str) -> str:
    """Escape characters that would end a cell or begin a tag."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
