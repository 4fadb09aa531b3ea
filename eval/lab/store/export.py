"""Export of a store as CSV, JSON Lines, or reference results.

In the first two, a row is one figure with all its metadata. Structured fields (parameters, tools) are objects
in JSON Lines, and JSON text in a column of CSV; the command is text as typed in a shell.

Reference results are themselves a store (reference.py): its entries leave out everything that differs between
two runs of the same hardware, namely dates, seconds and keys, and are sorted by point.
"""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ....fl.errors import BadInput, unknown
from ....flow.files import replacing
from ....rtl.sim import cache
from ...json_values import Json, attributes, canonical
from ...png import smaller
from .. import keys
from ..point import Point, content_in
from ..stages import LAYOUT
from ..task import LARGE, LATE
from . import artifacts
from .entries import FailureEntry, text_of
from .lines import HEAD, sealed
from .rows import COLUMNS, ReferenceSource, Row, record
from .store import Store

PARTS = ("parameters", "flow", "tools", "point", "marks")  # objects, and one list
NAME = "reference"  # of the format, for `modexlab store export`
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
)  # details of a measurement that reference results keep
SMALLEST_SHARE = 0.01  # of the area, for a module to be listed
PICTURE, PICTURE_PIXELS = "amoeba.png", 700  # artifact of a layout that is kept, and its width
Place = tuple[str, int, str, str]  # of an entry among reference results


def _flat(row: Row) -> Json:
    columns = record(row)
    return columns | {name: canonical(columns[name]) for name in PARTS}


def _csv(rows: Sequence[Row], path: Path, _: Store) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(map(_flat, rows))


def _jsonl(rows: Sequence[Row], path: Path, _: Store) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record(row)) + "\n" for row in rows)


# ---- reference results


def reference_texts(
    rows: Sequence[Row], failures: Iterable[FailureEntry], path: Path, store: Store
) -> dict[Place, bytes]:
    """The reference results of these rows, with their figures sorted by operation and metric, and of points
    without rows that exceeded a time limit; pictures go next to the file `path`.
    """
    entries: dict[Place, Json] = {}
    for row in rows:
        place = place_of(row.point)
        if place not in entries:
            entries[place] = _entry(row, path, store)
        columns = record(row)
        entries[place]["figures"].append([columns[name] for name in ("operation", "metric", "value", "unit")])
    for entry in entries.values():
        entry["figures"].sort(key=str)
    texts = {place: text_of("measurement", **entry) for place, entry in entries.items()}
    for failure in failures:
        if LATE in failure.message or LARGE in failure.message:
            point = json.loads(bytes(failure.point))
            texts.setdefault(place_of(point), _failure(failure, point))
    return texts


def _reference(rows: Sequence[Row], path: Path, store: Store) -> None:
    """Write one line per point, sorted by point; for one that exceeded its time limit, a failure."""
    texts = reference_texts(rows, store.failed(), path, store)
    path.write_bytes(b"".join(sealed(text) for _, text in sorted(texts.items())))


def _entry(row: Row, path: Path, store: Store) -> Json:
    """The reference result of a row's measurement, still without figures."""
    measured = store.measurement(row.measurement)
    columns = record(row)
    details = {name: measured.details[name] for name in DETAILS if measured.details.get(name)}
    if modules := details.get("area_by_module"):
        details["area_by_module"] = [item for item in modules if item["share"] >= SMALLEST_SHARE]
    files = {}
    if row.stage == LAYOUT and PICTURE in measured.artifacts:
        content = measured.artifacts[PICTURE]
        files[PICTURE] = _picture(row.point)
        small = content if row.reference else smaller(content, PICTURE_PIXELS)
        artifacts.place(path, files[PICTURE], small)
    return {
        **{name: columns[name] for name in ("family", "parameters", "tests", "marks", "tools", "point")},
        "command": list(row.command),
        "content": content_in(row.key),
        "figures": [],
        "details": details,
        "artifacts": files,
        **_provenance(row),
    }


def _failure(entry: FailureEntry, point: Json) -> bytes:
    """The reference result of a point that exceeded its time limit."""
    content = entry.content or content_in(entry.key)
    names = ("command", "message", "kit", "unverified")
    return text_of("failure", point=point, content=content, **attributes(entry, *names))


def _provenance(row: Row) -> Json:
    """Kit and doubts of the measurement of a row: those of its entry, or the kit that is here for a row that
    is current.
    """
    if isinstance(row.source, ReferenceSource):
        return attributes(row.source.entry, "kit", "unverified")
    if row.stale:
        return {}
    point = Point.from_json(row.point)
    return {"kit": keys.kit_of(point.stage, point.kit or None)}


def _picture(point: Mapping[str, Any]) -> str:
    """The file of a layout's picture, which stays the same when the point is measured again."""
    return f"{point['subject']}-{point['nbits']}-{cache.key(canonical(point))[:8]}.png"


def place_of(point: Mapping[str, Any]) -> Place:
    """Sort key of an entry: designs together, narrow before wide."""
    return point["subject"], point["nbits"], point["stage"], canonical(point)


# ---- formats by name

FORMATS: dict[str, Callable[[Sequence[Row], Path, Store], None]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    NAME: _reference,
}


def check_target(store: Store, format: str, path: Path) -> None:
    """BadInput for a target with results that an export would lose: this store, another one, or reference
    results in the place of rows.
    """
    if not path.is_file():
        return
    if store.exists and path.samefile(store.path):
        raise BadInput(f"export {path}: it is the store itself; give another file")
    with path.open("rb") as file:
        if not file.read(len(HEAD)).startswith(HEAD):
            return
    if format != NAME or not Store(path).read().undated:
        raise BadInput(f"export {path}: it is a store; give another file, or merge into it")


def export(store: Store, format: str, path: Path, *, history: bool = False, **filters: Any) -> int:
    """Write rows to a file, whole or not at all, and return how many. Devices and pipes are written directly;
    a symbolic link is kept.
    """
    if format not in FORMATS:
        raise unknown("format of an export", format, FORMATS)
    check_target(store, format, path)
    rows = store.rows(history=history, **filters)
    if path.exists() and not path.is_file():
        FORMATS[format](rows, path, store)
        return len(rows)
    with replacing(path.resolve()) as part:
        FORMATS[format](rows, part, store)
    return len(rows)
