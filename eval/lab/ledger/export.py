"""Exports ledger rows as CSV, JSON Lines or Parquet, or as reference results (reference.py).

A row is one figure with all that belongs to it. What has parts (parameters, tools) is an object in JSON
lines, and JSON text in a column of the other two; the command is what one types.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....fl.errors import unknown
from ....flow.files import replacing
from ..ledger_rows import COLUMNS, Row, record
from . import reference

if TYPE_CHECKING:
    import pyarrow

PARTS = ("parameters", "flow", "tools", "point", "marks")  # objects, and a list


def _flat(row: Row) -> dict[str, Any]:
    columns = record(row)
    return columns | {name: json.dumps(columns[name], sort_keys=True) for name in PARTS}


def _csv(rows: Sequence[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(map(_flat, rows))


def _jsonl(rows: Sequence[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record(row)) + "\n" for row in rows)


def arrow(rows: Sequence[Row]) -> pyarrow.Table:
    """The rows as a table of Arrow."""
    import pyarrow

    records = [_flat(row) for row in rows]
    columns = {
        name: pyarrow.array([record[name] for record in records], _type(pyarrow, name)) for name in COLUMNS
    }
    return pyarrow.table(columns)


def frame(rows: Sequence[Row]) -> Any:
    """The rows as a DataFrame of pandas where that is installed, else as a table of Arrow."""
    table = arrow(rows)
    return table.to_pandas() if importlib.util.find_spec("pandas") else table


def _parquet(rows: Sequence[Row], path: Path) -> None:
    from pyarrow import parquet

    content = io.BytesIO()  # Arrow cannot write to a pipe
    parquet.write_table(arrow(rows), content)
    path.write_bytes(content.getvalue())


def _type(module: Any, name: str) -> pyarrow.DataType:
    """A column has one type, also if there are no rows; a figure's is that of the most general one."""
    if name in ("id", "measurement", "nbits"):
        return module.int64()
    return module.float64() if name in ("value", "seconds") else module.string()


FORMATS: dict[str, Callable[[Sequence[Row], Path], None]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    reference.NAME: reference.write,
}


def write(rows: Sequence[Row], format: str, path: Path) -> None:
    """Write rows to a file, whole or not at all; a device or a pipe is written to, and a link stays one."""
    if format not in FORMATS:
        raise unknown("format of an export", format, FORMATS)
    if path.exists() and not path.is_file():
        FORMATS[format](rows, path)
        return
    with replacing(path.resolve()) as part:
        FORMATS[format](rows, part)
