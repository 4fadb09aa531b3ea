"""Reference results: figures of a ledger as text that diffs well, one JSON line per point.

A line leaves out everything that two runs of the same hardware do not share: row numbers, dates and seconds.
It keeps the point with all parameters, the tests passed, the tool versions, the digest of the Verilog and the
command. `modexlab ledger diff` compares such a file with a ledger as it compares two ledgers.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ....fl.errors import BadInput
from ...json_values import attributes
from ..ledger_rows import Row, Source, record
from ..point import content_in
from .records import FIGURE

NAME = "reference"  # of the format, for `modexlab ledger export`


class Line(msgspec.Struct):
    """A measured point: the parts that two runs of the same hardware share."""

    point: dict[str, Any]
    family: str
    parameters: dict[str, Any]
    tests: str
    marks: list[str]
    command: str
    tools: dict[str, str]
    verilog: str  # digest of the hardware, without comments
    # operation, metric, value and unit; JSON has integers beyond 53 bits as hexadecimal text
    figures: list[tuple[str, str, float | int | str, str]]


def write(rows: Sequence[Row], path: Path) -> None:
    """Write one line per point, sorted by point, its figures sorted by operation and metric."""
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        columns = record(row)
        own = {name: columns[name] for name in ("family", "parameters", "tests", "marks", "command", "tools")}
        own |= {"point": row.point, "verilog": content_in(row.key) if row.verilog_hash else "", "figures": []}
        # designs together, narrow before wide
        place = row.subject, row.nbits, row.stage, json.dumps(row.point, sort_keys=True)
        lines.setdefault(place, own)["figures"].append([columns[name] for name in FIGURE])
    with path.open("w", encoding="utf-8") as file:
        for _, line in sorted(lines.items()):
            line["figures"].sort(key=str)
            file.write(json.dumps(line, sort_keys=True) + "\n")


class Reference:
    """A file of reference results, read as a ledger is read."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise BadInput(f"{path}: there is no such file; give reference results or a ledger")

    def __enter__(self) -> Reference:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def rows(self, *, history: bool = False, **filters: Any) -> list[Row]:
        """All figures that pass the filters, which are those of `Ledger.rows`; a reference has no history."""
        found: list[Row] = []
        for number, text in enumerate(self.path.read_bytes().splitlines(), 1):
            try:
                found += _rows_of(msgspec.convert(json.loads(text), Line), number)
            except (ValueError, KeyError) as error:
                remedy = "export it again by `modexlab ledger export --format reference`"
                raise BadInput(
                    f"{self.path}, line {number}: not a reference result ({error}); {remedy}"
                ) from None
        return [row for row in found if all(_passes(row, *item) for item in filters.items())]


def _rows_of(line: Line, number: int) -> Iterator[Row]:
    for operation, metric, value, unit in line.figures:
        yield Row(
            **{
                name: line.point[name]
                for name in ("subject", "nbits", "interface", "workload", "stage", "flow")
            },
            **attributes(line, "point", "family", "parameters", "tests", "tools"),
            marks=tuple(line.marks),
            command=tuple(shlex.split(line.command)),
            id=number,
            measurement=number,
            verilog_hash=line.verilog,
            when="",
            seconds=0.0,
            key="",
            source=Source("", line.point),
            operation=operation,
            metric=metric,
            value=int(value, 16) if isinstance(value, str) else value,
            unit=unit,
        )


def _passes(row: Row, name: str, wanted: Any) -> bool:
    several = isinstance(wanted, Collection) and not isinstance(wanted, str)
    return getattr(row, name) in (wanted if several else [wanted])
