"""Export of ledger rows as CSV, JSON Lines or reference results, and access to reference results.

A row is one figure with all its metadata. Structured fields (parameters, tools) are objects in JSON Lines,
and JSON text in a column of CSV; the command is text as typed in a shell.

Reference results are text that diffs well, one JSON line per point. A line leaves out everything that differs
between two runs of the same hardware: row numbers, dates and seconds. It keeps the point with all parameters,
the tests passed, the tool versions, the commit, the digest of the hardware and the command. `modexlab ledger
diff` compares such a file with a ledger as it compares two ledgers. A ledger that is opened with one shows
its figures for points that the ledger lacks.
"""

import csv
import functools
import json
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ....fl.closing import Closing
from ....fl.errors import BadInput, unknown
from ....flow.files import replacing
from ....rtl.sim import cache
from ...json_values import Json, attributes, canonical
from ...png import smaller
from .. import keys
from ..ledger_rows import COLUMNS, Failure, Row, Source, record
from ..metrics import Figure, Measurement
from ..point import Point, content_in, is_content, version_of
from ..stages import LAYOUT
from ..task import LARGE, LATE
from ..verdicts import Recorded, reference
from .records import FIGURE

PARTS = ("parameters", "flow", "tools", "point", "marks")  # objects, and one list


def _flat(row: Row) -> Json:
    columns = record(row)
    return columns | {name: canonical(columns[name]) for name in PARTS}


def _csv(rows: Sequence[Row], path: Path, _: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(map(_flat, rows))


def _jsonl(rows: Sequence[Row], path: Path, _: Any) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record(row)) + "\n" for row in rows)


# ---- reference results

NAME = "reference"  # of the format, for `modexlab ledger export`
RESULTS = Path(__file__).parents[2] / "results"
REFERENCE = RESULTS / "baseline.jsonl"
DETAILS = (
    "area_by_module",
    "commit",
    "corner",
    "drawn",
    "equivalence",
    "operands",
    "rules",
    "tests",
    "worst_path",
)  # details of a measurement that the file keeps
MOST_FIGURES = 1000  # per measurement; a row number is that of its measurement followed by three digits
SMALLEST_SHARE = 0.01  # of the area, for a module to be listed
PICTURES = "layouts"  # folder beside the file
PICTURE, PICTURE_PIXELS = "amoeba.png", 700  # artifact of a layout that is kept, and its width


class Line(msgspec.Struct):
    """A measured point: the fields that two runs of the same hardware share."""

    point: Json
    marks: list[str]  # for a point without figures: the reason
    command: str
    content: str  # digest of the hardware, without comments, or of the model
    # operation, metric, value and unit; integers beyond 53 bits are hexadecimal text
    figures: list[tuple[str, str, float | int | str, str]]
    family: str = ""
    parameters: Json = {}
    tests: str = ""
    tools: dict[str, str] = {}
    details: Json = {}
    origin: str = ""  # digest of the code that made this content, see content.py
    kit: str = ""  # digest of the files of the cell library
    unverified: dict[str, str] = {}  # reasons to measure again, by metric; "": all figures


class Verified(NamedTuple):
    """The result of comparing a file with the present hardware; commands measure again."""

    measurements: int
    verdicts: int
    stale: list[str]
    unverified: list[str]


def _reference(rows: Sequence[Row], path: Path, ledger: Any) -> None:
    """Write one line per point, sorted by point, with its figures sorted by operation and metric.

    A point that exceeded its time limit has a mark instead of figures.
    """
    lines = {}
    for row in rows:
        place, columns = _place(row.point), record(row)
        if place not in lines:
            names = ("family", "parameters", "tests", "marks", "command", "tools", "point")
            measured = ledger.measurement(row.measurement)
            kept = {name: measured.details.get(name) for name in DETAILS}
            kept["area_by_module"] = [
                module for module in kept["area_by_module"] or () if module["share"] >= SMALLEST_SHARE
            ]
            if row.stage == LAYOUT and row.measurement > 0 and PICTURE in measured.artifacts:
                picture = _picture(path, row.point)
                picture.parent.mkdir(exist_ok=True)
                picture.write_bytes(smaller(measured.artifacts[PICTURE], PICTURE_PIXELS))
            lines[place] = {
                **{name: columns[name] for name in names},
                "content": content_in(row.key),
                "figures": [],
                "details": {name: value for name, value in kept.items() if value},
                **_provenance(row),
            }
        lines[place]["figures"].append([columns[name] for name in FIGURE])
    for failure in ledger.failures():
        if LATE in failure.message or LARGE in failure.message:
            late = {
                "point": failure.point,
                "marks": [failure.message],
                "command": shlex.join(failure.command),
                "content": content_in(failure.key),
                "figures": [],
            }
            lines.setdefault(_place(failure.point), late)
    with path.open("w", encoding="utf-8") as file:
        for _, line in sorted(lines.items()):
            line["figures"].sort(key=str)
            file.write(canonical(keys.sealed(line)) + "\n")


def _provenance(row: Row) -> Json:
    """Origin, kit and doubts of the measurement of a row: those of its line, or of the files that are here
    for a row that is current.
    """
    point = Point.from_json(row.point)
    if isinstance(row.source, ReferenceSource):
        found = attributes(row.source.line, "origin", "kit", "unverified")
    elif row.stale:
        found = {}
    else:
        found = {"origin": point.origin, "kit": keys.kit_of(point.stage, point.kit or None)}
    return {name: value for name, value in found.items() if value}


def _picture(path: Path, point: Mapping[str, Any]) -> Path:
    """The file of a layout's picture, beside the reference results."""
    digest = cache.key(canonical(point))[:8]
    return path.parent / PICTURES / f"{point['subject']}-{point['nbits']}-{digest}.png"


def _place(point: Mapping[str, Any]) -> tuple[Any, ...]:
    """Sort key of a line: designs together, narrow before wide."""
    return point["subject"], point["nbits"], point["stage"], canonical(point)


@functools.lru_cache(maxsize=1)
def _parsed(path: Path, content: bytes) -> list[Line]:
    """The lines of a file; BadInput for one that is not what was written."""
    lines = []
    for number, text in enumerate(content.splitlines(), 1):
        try:
            lines.append(msgspec.convert(keys.unsealed(json.loads(text)), Line))
        except (ValueError, AttributeError) as error:
            remedy = "export it again by `modexlab ledger export --format reference`"
            raise BadInput(f"{path}, line {number}: not a reference result ({error}); {remedy}") from None
    return lines


class ReferenceSource(Source):
    """The staleness of a reference result. While its origin is as recorded, nothing is elaborated."""

    def __init__(self, key: str, line: Line) -> None:
        super().__init__(key, line.point)
        self.line = line

    def moved(self, point: Point) -> bool:
        return _is_stale(self.line, point)


def _is_stale(line: Line, point: Point) -> bool:
    """Whether a point has other hardware or another kit now; a kit that is not here cannot be compared."""
    kit = line.kit and keys.kit_of(point.stage, point.kit or None)
    return (bool(kit) and kit != line.kit) or not is_content(line.content, line.origin, point)


class Reference(Closing):
    """A file of reference results, with the reading methods of a ledger. Its measurements have negative
    numbers.
    """

    def __init__(self, path: str | Path = REFERENCE) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise BadInput(f"{path}: there is no such file; give reference results or a ledger")

    @functools.cached_property
    def _lines(self) -> list[Line]:
        return _parsed(self.path, self.path.read_bytes())

    def rows(self, *, history: bool = False, **filters: Any) -> list[Row]:
        """All figures that match the filters (those of `Ledger.rows`); a reference has no history."""
        wanted = {name: several(values) for name, values in filters.items()}
        rows = (
            row
            for number, line in enumerate(self._lines, 1)
            if all(line.point[name] in wanted[name] for name in wanted.keys() & line.point)
            for row in _rows_of(line, -number, wanted.get("metric"))
        )
        return [row for row in rows if all(getattr(row, name) in wanted[name] for name in wanted)]

    def failures(self) -> list[Failure]:
        """Points that exceeded their time limit."""
        return [
            Failure(
                version_of("", line.content),
                line.marks[0],
                0.0,
                "",
                tuple(shlex.split(line.command)),
                line.point,
            )
            for line in self._lines
            if not line.figures
        ]

    def verdicts(self) -> list[Recorded]:
        """The reference verdicts; only modexlab's own file has any."""
        return [*reference()] if self._own else []

    @property
    def _own(self) -> bool:
        """Whether it is modexlab's own file, by any path."""
        return self.path.resolve() == REFERENCE.resolve()

    def has(self, point: Point) -> bool:
        """Whether it has current figures of this point."""
        line = self._by_point.get(canonical(point.as_json()))
        return line is not None and not _is_stale(line, point)

    @functools.cached_property
    def _by_point(self) -> dict[str, Line]:
        return {canonical(line.point): line for line in self._lines}

    def points(self) -> list[Point]:
        """The points of the file; BadInput for one that is no longer in the catalogue."""
        return [Point.from_json(line.point) for line in self._lines]

    def verify(self, progress: Callable[[int, int], None]) -> Verified:
        """Compare the digests of all results, and of the verdicts of modexlab's own file, with those of the
        present hardware and kits.
        """
        verdicts = self.verdicts()
        count = len(self._lines) + len(verdicts)
        stale, unverified = [], []
        for number, line in enumerate(self._lines, 1):
            progress(number, count)
            try:
                moved = _is_stale(line, Point.from_json(line.point))
            except BadInput:  # a design or a parameter that no longer exists
                moved = True
            stale += [line.command] * moved
            unverified += [line.command] * bool(line.unverified)
        for number, verdict in enumerate(verdicts, len(self._lines) + 1):
            progress(number, count)
            stale += [verdict.command] * verdict.stale
            unverified += [verdict.command] * bool(verdict.unverified)
        return Verified(len(self._lines), len(verdicts), stale, unverified)

    def measurement(self, number: int) -> Measurement:
        """A whole measurement, by its negative number."""
        line = self._lines[-number - 1]
        picture = _picture(self.path, line.point)
        return Measurement(
            figures=tuple(
                Figure(row.metric, row.value, row.unit, row.operation) for row in _rows_of(line, number)
            ),
            seconds=0.0,
            verilog_hash="",
            marks=tuple(line.marks),
            artifacts={PICTURE: picture.read_bytes()} if picture.is_file() else {},
            **attributes(line, "tests", "tools", "content", "details"),
        )


def _rows_of(line: Line, number: int, metrics: Collection[str] | None = None) -> Iterator[Row]:
    """The rows of a line; metrics: only of these."""
    key = version_of(f"line {-number}", line.content)
    source = ReferenceSource(key, line)
    shared = {
        **{name: line.point[name] for name in ("subject", "nbits", "interface", "workload", "stage", "flow")},
        **attributes(line, "point", "family", "parameters", "tests", "tools"),
        "marks": tuple(line.marks),
        "command": tuple(shlex.split(line.command)),
    }
    for index, (operation, metric, value, unit) in enumerate(line.figures, 1):
        if metrics is not None and metric not in metrics:
            continue
        yield Row(
            **shared,
            id=number * MOST_FIGURES - index,
            measurement=number,
            verilog_hash=line.content,
            when="",
            seconds=0.0,
            key=key,
            source=source,
            operation=operation,
            metric=metric,
            value=int(value, 16) if isinstance(value, str) else value,
            unit=unit,
            unverified=line.unverified.get(metric) or line.unverified.get("", ""),
        )


def several(wanted: Any) -> list[Any]:
    """The values of a filter, which may be a single one."""
    return list(wanted) if isinstance(wanted, Collection) and not isinstance(wanted, str) else [wanted]


# ---- formats by name

FORMATS: dict[str, Callable[[Sequence[Row], Path, Any], None]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    NAME: _reference,
}


def write(rows: Sequence[Row], format: str, path: Path, ledger: Any) -> None:
    """Write rows to a file atomically. Devices and pipes are written directly; a symbolic link is kept."""
    if format not in FORMATS:
        raise unknown("format of an export", format, FORMATS)
    if path.exists() and not path.is_file():
        FORMATS[format](rows, path, ledger)
        return
    with replacing(path.resolve()) as part:
        FORMATS[format](rows, part, ledger)
