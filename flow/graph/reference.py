"""Tables of steps, parameters and files for docs/reference/flow.md, from the classes of the steps.

`python -m modexlab.flow.graph.reference docs/reference/flow.md` renews the tables of the page. Comments mark
their ends.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import source
from . import graph
from .step import Parameter

TABLE = re.compile(r"(<!-- table: (\w+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def _steps() -> Iterator[Sequence[str]]:
    for name in graph.ORDER:
        step = graph.step(name)
        yield name, step.about, step.tool.name, f"{step.limit_s / 3600:g} h"


def _parameters(described: Iterable[Parameter]) -> Iterator[Sequence[str]]:
    for parameter in described:
        yield parameter.name, f"`{shown(parameter.default)}`", parameter.values, parameter.help


def shown(value: Any) -> str:
    """A default as text; an empty text as quotes."""
    return str(value) if value != "" else '""'


def _files() -> Iterator[Sequence[str]]:
    for name in graph.ORDER:
        step = graph.step(name)
        for file in step.writes:
            here = step.names.get(file.name, file.name)
            readers = (other for other in graph.ORDER if here in graph.step(other).inputs)
            yield f"`{here}`", file.about, name, ", ".join(readers)


def _outside() -> Iterator[Sequence[str]]:
    for name in graph.OUTSIDE:
        step = graph.step(name)
        optional = {step.names.get(file, file) for file in step.optional}
        reads = (f"`{file}`{' (optional)' if file in optional else ''}" for file in step.inputs)
        writes = (f"`{step.names.get(file.name, file.name)}`" for file in step.writes)
        yield name, step.about, ", ".join(reads), ", ".join(writes)


def tables() -> dict[str, str]:
    """The tables by name."""
    described = ("parameter", "default", "values", "meaning")
    return {
        "steps": _table(("step", "result", "tool", "time limit"), _steps()),
        "parameters": _table(described, _parameters(graph.parameters().values())),
        "design": _table(described, _parameters(graph.step(source.STEP).params.described().values())),
        "outside": _table(("step", "result", "reads", "writes"), _outside()),
        "files": _table(("file", "contents", "written by", "read by"), _files()),
    }


def renewed(page: str) -> str:
    """The text of a page with its tables renewed."""
    made = tables()
    return TABLE.sub(lambda match: match[1] + made[match[2]] + match[3], page)


def main() -> int:
    """Renew the tables of a page; return the exit code."""
    path = Path(sys.argv[1])
    path.write_text(renewed(path.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
