"""Exports ledger rows as CSV, JSON Lines or Parquet, or as reference results, and reads those.

A row is one figure with all that belongs to it. What has parts (parameters, tools) is an object in JSON
lines, and JSON text in a column of the other two; the command is what one types.

Reference results are text that diffs well, one JSON line per point. A line leaves out everything that two
runs of the same hardware do not share: row numbers, dates and seconds. It keeps the point with all
parameters, the tests passed, the tool versions, the digest of the Verilog and the command. `modexlab ledger
diff` compares such a file with a ledger as it compares two ledgers.
"""

import csv
import importlib.util
import io
import json
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ....fl.errors import BadInput, unknown
from ....flow.files import replacing
from ...json_values import attributes
from ..ledger_rows import COLUMNS, Row, Source, record
from ..point import content_in
from .records import FIGURE

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


def arrow(rows: Sequence[Row]) -> "pyarrow.Table":
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


def _type(module: Any, name: str) -> "pyarrow.DataType":
    """A column has one type, also if there are no rows; a figure's is that of the most general one."""
    if name in ("id", "measurement", "nbits"):
        return module.int64()
    return module.float64() if name in ("value", "seconds") else module.string()


# ---- reference results

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


def _reference(rows: Sequence[Row], path: Path) -> None:
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

    def __enter__(self) -> "Reference":
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


# ---- by the name of the format

FORMATS: dict[str, Callable[[Sequence[Row], Path], None]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    NAME: _reference,
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
