"""The report as plain text for a terminal: the same tables, without colours."""

import functools
import textwrap
from itertools import compress

from ..table import table as plain_table
from .sections import Content
from .tables import Table

LINE = 116
NOTHING = """\
Nothing has been measured yet: the store {path} has no figures{which}.
`modexlab report` measures its points; `modexlab sweep SPACE.toml` measures a space of your own."""


def text(content: Content) -> str:
    """The whole report as text."""
    if content.empty:
        which = f" of {', '.join(content.asked)}" if content.asked else ""
        return NOTHING.format(path=content.path, which=which)
    parts = [of_table(table) for table in content.tables_in_order]
    parts.insert(len(parts) and 1, trust(content))
    return "\n\n".join(filter(None, parts))


def trust(content: Content) -> str:
    """The reasons to trust the figures, one per line."""
    wrap = functools.partial(textwrap.fill, width=LINE, subsequent_indent="   ", break_on_hyphens=False)
    signs = {True: "ok", False: "!", None: "-"}
    return "\n".join(wrap(trust.text, initial_indent=f"{signs[trust.good]:<3}") for trust in content.trust)


def of_table(table: Table) -> str:
    """A table with its title and caption, group by group."""
    table = without_empty_columns(table)
    heads = [column.title for column in table.columns]
    parts = [table.title, textwrap.fill(table.caption, LINE, break_on_hyphens=False)]
    for group, lines in table.groups:
        body = plain_table(heads, [[cell.text for cell in line.cells] for line in lines])
        parts.append(f"{group}\n{body}" if group else body)
    return "\n\n".join(filter(None, parts))


def without_empty_columns(table: Table) -> Table:
    """The table without its empty columns."""
    wanted = [
        any(line.cells[index].text not in ("", "-") for line in table.lines)
        for index in range(len(table.columns))
    ]
    lines = [line._replace(cells=[*compress(line.cells, wanted)]) for line in table.lines]
    return table._replace(columns=[*compress(table.columns, wanted)], lines=lines)
