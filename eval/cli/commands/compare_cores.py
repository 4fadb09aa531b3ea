"""`modexlab compare cores`: all cores at one width, with one library and one flow, next to published
cores.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ...json_values import attributes, json_value
from ...table import markdown_table, table
from ..arguments import warn

if TYPE_CHECKING:
    from ...lab.comparison.cores import Core
    from ...lab.point import Point

WORD = "cores"
LINE = 120
LEAST_NAME = 16  # of a column of names
STALE_MARK, MARK = "!", "*"

PUBLISHED = (
    "Published, each on its own technology: these times stand for themselves, and what lies between them "
    "and ours is the technology "
    "as much as the architecture. Times of a product follow from cycles and clock where the source has "
    "these. Sources: --json, --markdown."
)
ABOUT = (
    "One library ({technology}), one flow, each at the shortest clock period that it meets {where}. x "
    "floor: area x time of a product by "
    "what its bit products need at this clock at the least, each in half a selecting gate and half a full "
    "adder."
)


@dataclass(frozen=True)
class Column:
    """A head, and the cell of a row under it; `own`: not in the text, where there is no room."""

    head: str
    cell: Callable[[Core], str]
    markdown_only: bool = False


def _shown(value: float | None) -> str:
    from ...report.metrics import shown

    return shown(value)


def _tests(core: Core) -> str:
    return "-" if core.tests_passed is None else f"{core.tests_passed:,}/{core.tests_failed:,}"


def _rounded(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _period(core: Core) -> str:
    return "-" if core.period_ns is None else f"{core.period_ns:.2f}"


def _busy(core: Core) -> str:
    return "-" if core.utilisation is None else f"{100 * core.utilisation:.1f}"


def _source(core: Core) -> str:
    return f"`{core.command}`" if core.command and core.measured else core.source


NAME = Column(
    "design", lambda core: f"{core.name}{MARK if core.marks else ''}{STALE_MARK if core.stale else ''}"
)
KIND = Column("of", lambda core: core.kind)
NOTES = (Column("note", lambda core: core.note, True), Column("source", _source, True))
PRODUCTS = (
    *(NAME, KIND),
    Column("cycles", lambda core: _shown(core.product_cycles)),
    Column("clock", _period),
    Column("product ns", lambda core: _shown(core.product_ns)),
    Column("area um2", lambda core: _rounded(core.area_um2)),
    Column("mm2 ns", lambda core: _shown(core.area_time)),
    Column("x floor", lambda core: _shown(core.floor_ratio)),
    Column("busy %", _busy),
    Column("nJ", lambda core: _shown(core.energy_nj)),
    Column("tests", _tests),
    *NOTES,
)
OPERATIONS = (
    *(NAME, KIND),
    Column("cycles", lambda core: _shown(core.operation_cycles)),
    Column("exponent", lambda core: _rounded(core.exponent_nbits)),
    Column("constant time", lambda core: core.constant_time or "-"),
    Column("private us", lambda core: _shown(core.operation_us)),
    Column("e=65537 us", lambda core: _shown(core.public_us)),
    Column("clock", _period),
    Column("area um2", lambda core: _rounded(core.area_um2)),
    Column("private nJ", lambda core: _shown(core.operation_energy_nj)),
    Column("tests", _tests),
    *NOTES,
)
OTHERS = (
    NAME,
    Column("cycles", lambda core: _shown(core.product_cycles)),
    Column("product ns", lambda core: _shown(core.product_ns)),
    Column("private cycles", lambda core: _shown(core.operation_cycles)),
    Column("private us", lambda core: _shown(core.operation_us)),
    Column("e=65537 us", lambda core: _shown(core.public_us)),
    Column("area um2", lambda core: _rounded(core.area_um2), True),
    Column("technology", lambda core: core.technology),
    *NOTES,
)


# ---- the command


def execute(args: argparse.Namespace, answer: Callable[..., int]) -> int:
    """Print the table, after measuring missing points on request."""
    from ...designs import catalogue
    from ...lab.comparison.cores import cores, wanted, widths

    _check(args)
    manifests = catalogue.by_manifests(args.manifests)
    entered = [design.name for design in manifests]
    names = [name if name in entered else catalogue.find(name).name for name in args.papers[1:]]
    nbits = list(dict.fromkeys(args.nbits or widths()))
    impossible = wanted(nbits, names, manifests).impossible
    if args.json:
        for what, why in impossible:
            warn(f"there is no {what}: {why}")
    return answer(
        args,
        lambda ledger: cores(ledger, nbits, names, manifests),
        lambda found: _to_measure(found, args),
        lambda found: [as_json(core) for core in found],
        lambda found: _text(found, impossible, args),
    )


def _to_measure(found: Sequence[Core], args: argparse.Namespace) -> list[Point]:
    """Return the missing points, without slow ones: at known clocks, then, without --no-search, at searched
    ones.
    """
    from ...lab.comparison.cores import at_known_clock, in_steps, long, missing

    points = [
        in_step for in_step in in_steps(found, search=not args.no_search) if args.full or not long(in_step)
    ]
    unknown = [item for item in missing(found) if at_known_clock(item) is None]
    if args.no_search and unknown:
        warn(
            f"--no-search: of {len(unknown)} of {len(missing(found))} points no clock is known; without it "
            "they are searched"
        )
    return points


def _check(args: argparse.Namespace) -> None:
    if args.table:
        raise BadInput(f"--table {args.table[0]} with {WORD}: this is for the tables of a paper; drop it")
    from ...designs.widths import check_width

    for nbits in args.nbits or ():
        check_width(nbits)


# ---- what is printed


def _text(found: Sequence[Core], impossible: Sequence[tuple[str, str]], args: argparse.Namespace) -> str:
    blocks: list[str] = []
    for nbits in dict.fromkeys(core.nbits for core in found):
        blocks += _of_width(nbits, [core for core in found if core.nbits == nbits], args.markdown)
    ending = [*_ending(found, args), *(f"There is no {what}: {why}." for what, why in impossible)]
    blocks += [text if args.markdown else _wrapped(text) for text in ending]
    return "\n\n".join(blocks)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, LINE, break_on_hyphens=False)


def _of_width(nbits: int, found: Sequence[Core], markdown: bool) -> Iterator[str]:
    """Products, private operations and published figures."""
    from ...lab.comparison.cores import MULTIPLIER
    from ...lab.comparison.cores import PUBLISHED as OF_OTHERS

    own = [core for core in found if core.kind != OF_OTHERS]
    others = [core for core in found if core.kind == OF_OTHERS]
    products = [core for core in own if core.part == MULTIPLIER or core.of_product]
    machines = [core for core in own if core.part != MULTIPLIER]
    parts = (
        ("a product", PRODUCTS, products),
        ("a private operation", OPERATIONS, machines),
        ("published, other technologies", OTHERS, others),
    )
    for title, columns, rows in parts:
        if rows:
            head = f"{nbits:,} bits: {title}"
            body = (_markdown if markdown else _plain)(columns, rows)
            yield f"## {head}\n\n{body}" if markdown else f"{head}\n{body}"


def _markdown(columns: Sequence[Column], rows: Sequence[Core]) -> str:
    cells = [[column.cell(row) for column in columns] for row in rows]
    return "\n".join(markdown_table([column.head for column in columns], cells))


def _plain(columns: Sequence[Column], rows: Sequence[Core]) -> str:
    """No wider than a screen: of long names as much as there is room for."""
    shown = [column for column in columns if not column.markdown_only]
    cells = [[column.cell(row) for column in shown] for row in rows]
    rest = table([column.head for column in shown[1:]], [row[1:] for row in cells])
    room = max(LEAST_NAME, LINE - 2 - max(map(len, rest.splitlines())))
    return table([column.head for column in shown], [[_cut(row[0], room), *row[1:]] for row in cells])


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 3]}..."


def _ending(found: Sequence[Core], args: argparse.Namespace) -> Iterator[str]:
    from ...lab.comparison.cores import PUBLISHED as OF_OTHERS
    from ...lab.comparison.cores import WHERE, at_known_clock, long, missing

    measured = [core for core in found if core.measured]
    if measured:
        where = " or ".join(dict.fromkeys(WHERE[core.stage] for core in measured))
        yield ABOUT.format(technology=measured[0].technology, where=where)
    if any(core.kind == OF_OTHERS for core in found):
        yield PUBLISHED
    for core in measured:
        if core.marks:
            yield f"{MARK} {core.name}, {core.nbits:,} bits: {'; '.join(core.marks)}."
    if any(core.stale for core in measured):
        yield (
            f"{STALE_MARK}, stale: measured with other sources or tools than the present ones; --measure "
            "measures it again."
        )
    for core in found:
        if core.failure:
            yield (
                f"{core.name}, {core.nbits:,} bits, {core.part}, could not be measured (--retry tries "
                f"again): {core.failure}."
            )
    points = missing([core for core in found if not core.failure], stale=False)
    late = [point for point in points if long(at_known_clock(point) or point)]
    if points and args.no_search:
        full = " and with --full" if late else ""
        yield (
            f"Not measured: {len(points)} points whose clock is not known; --no-search skips the search. "
            f"Without it{full} they are measured."
        )
    elif points:
        more = f", {len(late)} of them long (--full)" if late else ""
        yield (
            f"Not measured: {len(points)} points{more}, whose cycles are by formula or simulated; "
            f"--measure{' --full' if len(late) == len(points) else ''} measures them."
        )


# ---- JSON

KEYS = (
    *("design", "kind", "ours", "part", "nbits", "settings", "product_cycles", "product_ns"),
    *("operation_cycles", "operation_us", "public_cycles", "public_us", "constant_time", "exponent_nbits"),
    *("period_ns", "area_um2", "area_time", "floor", "floor_ratio", "utilisation", "energy_nj"),
    *("operation_energy_nj", "tests_passed", "tests_failed", "stage", "technology", "source", "note"),
    *("marks", "stale", "searched", "row", "command"),
)


def as_json(core: Core) -> dict[str, Any]:
    """A row."""
    return {
        **attributes(core, *KEYS),
        **{name: getattr(core, name) or None for name in ("constant_time", "stage", "technology", "command")},
        "settings": {name: json_value(value) for name, value in core.settings.items()},
    }
