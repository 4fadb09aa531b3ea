"""Reference results: figures of a ledger as text that diffs well, one JSON line per point.

A line leaves out everything that two runs of the same hardware do not share: row numbers, dates and seconds.
It keeps the point with all parameters, the tests passed, the tool versions, the digest of the Verilog and the
command. `modexlab ledger diff` compares such a file with a ledger as it compares two ledgers.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ....fl.errors import BadInput
from ..ledger_rows import Row, Source, record
from ..point import content_in

NAME = "reference"  # of the format, for `modexlab ledger export`
_FIGURE = ("operation", "metric", "value", "unit")
_OF_ONE_RUN = ("id", "measurement", "when", "seconds", "key", "verilog_hash", "source")
_OF_POINT = ("subject", "nbits", "interface", "workload", "stage", "flow")
_SHARED = tuple(field.name for field in fields(Row) if field.name not in (*_FIGURE, *_OF_ONE_RUN, *_OF_POINT))


def write(rows: Sequence[Row], path: Path) -> None:
    """Write one line per point, sorted by point, its figures sorted by operation and metric."""
    points: dict[str, tuple[Row, list[list[Any]]]] = {}
    for row in rows:
        _, figures = points.setdefault(json.dumps(row.point, sort_keys=True), (row, []))
        columns = record(row)
        figures.append([columns[name] for name in _FIGURE])
    with path.open("w", encoding="utf-8") as file:
        for _, (row, figures) in sorted(points.items(), key=lambda item: _order(item[1][0])):
            columns = record(row)
            line = {"point": row.point, **{name: columns[name] for name in _SHARED}}
            line["verilog"] = content_in(row.key) if row.verilog_hash else ""  # without comments
            file.write(json.dumps({**line, "figures": sorted(figures, key=str)}, sort_keys=True) + "\n")


def _order(row: Row) -> tuple[Any, ...]:
    """Designs together, narrow before wide."""
    return row.subject, row.nbits, row.stage, json.dumps(row.point, sort_keys=True)


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
        found = []
        for number, line in enumerate(self.path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                found += _rows_of(json.loads(line), number)
            except (ValueError, KeyError, TypeError) as error:
                remedy = "export it again by `modexlab ledger export --format reference`"
                raise BadInput(
                    f"{self.path}, line {number}: not a reference result ({error}); {remedy}"
                ) from None
        return [row for row in found if all(_passes(row, *item) for item in filters.items())]


def _rows_of(line: dict[str, Any], number: int) -> list[Row]:
    point = line["point"]
    shared = {name: line[name] for name in _SHARED} | {name: point[name] for name in _OF_POINT}
    shared |= {
        "id": number,
        "measurement": number,
        "verilog_hash": line["verilog"],
        "marks": tuple(line["marks"]),
        "command": tuple(shlex.split(line["command"])),
        "when": "",
        "seconds": 0.0,
        "key": "",
        "source": Source("", point),
    }
    return [Row(**shared, **dict(zip(_FIGURE, _exact(figure), strict=True))) for figure in line["figures"]]


def _exact(figure: list[Any]) -> list[Any]:
    """The figure with its value as a number: JSON has integers beyond 53 bits as hexadecimal text."""
    operation, metric, value, unit = figure
    return [operation, metric, int(value, 16) if isinstance(value, str) else value, unit]


def _passes(row: Row, name: str, wanted: Any) -> bool:
    several = isinstance(wanted, Collection) and not isinstance(wanted, str)
    return getattr(row, name) in (wanted if several else [wanted])
