"""`modexlab compare cores`: all cores at one width, with one library and one flow, next to published
cores.
"""

import textwrap
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ....fl.errors import BadInput
from ...designs import catalogue
from ...designs.widths import check_width
from ...json_values import attributes, json_value
from ...lab.comparison import cores as lab
from ...lab.comparison.cores import Core
from ...lab.point import Point
from ...report.metrics import shown
from ...table import table
from ..render import Block, Json, Table, warn

WORD = "cores"
LINE = 120
LEAST_NAME = 16  # of a column of names
STALE_MARK, MARK = "!", "*"
STALE = (
    f"{STALE_MARK}, stale: measured with other sources or tools than the present ones; --measure measures it "
    "again."
)
PUBLISHED = (
    "Published, each on its own technology: differences to ours come from the technology as much as from the "
    "architecture. Times of a product follow from cycles and clock if the source has these. Sources: --json, "
    "--markdown."
)
ABOUT = (
    "One library ({technology}), one flow, each at the shortest clock period that it meets {where}. x floor: "
    "area x time of a product, divided by the least that its bit products need at this clock, each with "
    "half a "
    "selecting gate and half a full adder."
)


def wrapped(text: str, markdown: bool = False) -> str:
    return text if markdown else textwrap.fill(text, LINE, break_on_hyphens=False)


@dataclass(frozen=True)
class Column:
    """A head, and the attribute of a core under it, or what a function makes of the core."""

    head: str
    value: str | Callable[[Core], Any]
    form: Callable[[Any], Any] = str
    markdown_only: bool = False  # there is no room in the text

    def cell(self, core: Core) -> Any:
        value = getattr(core, self.value) if isinstance(self.value, str) else self.value(core)
        return None if value is None else self.form(value)


def _name(core: Core) -> str:
    return f"{core.name}{MARK if core.marks else ''}{STALE_MARK if core.stale else ''}"


def _tests(core: Core) -> str | None:
    return None if core.tests_passed is None else f"{core.tests_passed:,}/{core.tests_failed:,}"


def _source(core: Core) -> str:
    return f"`{core.command}`" if core.command and core.measured else core.source


NAME, KIND = Column("design", _name), Column("of", "kind")
NOTES = (Column("note", "note", markdown_only=True), Column("source", _source, markdown_only=True))
CLOCK, TESTS = Column("clock", "period_ns", "{:.2f}".format), Column("tests", _tests)
AREA = Column("area um2", "area_um2", "{:,.0f}".format)
PRODUCTS = (
    *(NAME, KIND),
    Column("cycles", "product_cycles", shown),
    CLOCK,
    Column("product ns", "product_ns", shown),
    AREA,
    Column("mm2 ns", "area_time", shown),
    Column("x floor", "floor_ratio", shown),
    Column("busy %", "utilisation", lambda share: f"{100 * share:.1f}"),
    Column("nJ", "energy_nj", shown),
    *(TESTS, *NOTES),
)
OPERATIONS = (
    *(NAME, KIND),
    Column("cycles", "operation_cycles", shown),
    Column("exponent", "exponent_nbits", "{:,.0f}".format),
    Column("constant time", lambda core: core.constant_time or None),
    Column("private us", "operation_us", shown),
    Column("e=65537 us", "public_us", shown),
    *(CLOCK, AREA),
    Column("private nJ", "operation_energy_nj", shown),
    *(TESTS, *NOTES),
)
OTHERS = (
    NAME,
    Column("cycles", "product_cycles", shown),
    Column("product ns", "product_ns", shown),
    Column("private cycles", "operation_cycles", shown),
    Column("private us", "operation_us", shown),
    Column("e=65537 us", "public_us", shown),
    replace(AREA, markdown_only=True),
    Column("technology", "technology"),
    *NOTES,
)


# ---- the command


def execute(args: Namespace, answer: Callable[..., int]) -> int:
    """Print the table, after measuring missing points on request."""
    if args.table:
        raise BadInput(f"--table {args.table[0]} with {WORD}: this is for the tables of a paper; drop it")
    nbits = [*map(check_width, dict.fromkeys(args.nbits or lab.widths()))]
    manifests = catalogue.by_manifests(args.manifests)
    entered = [design.name for design in manifests]
    names = [name if name in entered else catalogue.find(name).name for name in args.papers[1:]]
    impossible = lab.wanted(nbits, names, manifests).impossible
    if args.json:
        for what, why in impossible:
            warn(f"there is no {what}: {why}")
    return answer(
        args,
        lambda ledger: lab.cores(ledger, nbits, names, manifests),
        lambda found: _to_measure(found, args),
        lambda found: [as_json(core) for core in found],
        lambda found: _blocks(found, impossible, args),
    )


def _to_measure(found: Sequence[Core], args: Namespace) -> list[Point]:
    """Return the missing points, without slow ones: at known clocks, then, without --no-search, at searched
    ones.
    """
    steps = lab.in_steps(found, search=not args.no_search)
    missing = lab.missing(found)
    unknown = sum(lab.at_known_clock(item) is None for item in missing)
    if args.no_search and unknown:
        warn(
            f"--no-search: of {unknown} of {len(missing)} points no clock is known; without it they are "
            "searched"
        )
    return [step for step in steps if args.full or not lab.long(step)]


# ---- what is printed


def _blocks(found: Sequence[Core], impossible: Sequence[tuple[str, str]], args: Namespace) -> Iterator[Block]:
    for nbits in dict.fromkeys(core.nbits for core in found):
        yield from _of_width(nbits, [core for core in found if core.nbits == nbits], args.markdown)
    for text in (*_ending(found, args), *(f"There is no {what}: {why}." for what, why in impossible)):
        yield wrapped(text, args.markdown)


def _of_width(nbits: int, found: Sequence[Core], markdown: bool) -> Iterator[Table]:
    """Products, private operations and published figures."""
    own = [core for core in found if core.kind != lab.PUBLISHED]
    others = [core for core in found if core.kind == lab.PUBLISHED]
    products = [core for core in own if core.part == lab.MULTIPLIER or core.of_product]
    machines = [core for core in own if core.part != lab.MULTIPLIER]
    for title, columns, rows in (
        ("a product", PRODUCTS, products),
        ("a private operation", OPERATIONS, machines),
        ("published, other technologies", OTHERS, others),
    ):
        shown_columns = [column for column in columns if markdown or not column.markdown_only]
        head = [column.head for column in shown_columns]
        cells = [[column.cell(row) for column in shown_columns] for row in rows]
        yield Table(head, cells if markdown else _fitted(head, cells), f"{nbits:,} bits: {title}")


def _fitted(head: Sequence[str], cells: Sequence[list[Any]]) -> list[list[Any]]:
    """Names cut so that the table is no wider than a screen."""
    rest = table(head[1:], [row[1:] for row in cells])
    room = max(LEAST_NAME, LINE - 2 - max(map(len, rest.splitlines())))
    return [[name if len(name) <= room else f"{name[: room - 3]}...", *others] for name, *others in cells]


def _ending(found: Sequence[Core], args: Namespace) -> Iterator[str]:
    measured = [core for core in found if core.measured]
    if measured:
        where = " or ".join(dict.fromkeys(lab.WHERE[core.stage] for core in measured))
        yield ABOUT.format(technology=measured[0].technology, where=where)
    if any(core.kind == lab.PUBLISHED for core in found):
        yield PUBLISHED
    for core in measured:
        if core.marks:
            yield f"{MARK} {core.name}, {core.nbits:,} bits: {'; '.join(core.marks)}."
    if any(core.stale for core in measured):
        yield STALE
    for core in found:
        if core.failure:
            what = f"{core.name}, {core.nbits:,} bits, {core.part}"
            yield f"{what}, could not be measured (--retry tries again): {core.failure}."
    points = lab.missing([core for core in found if not core.failure], stale=False)
    late = [point for point in points if lab.long(lab.at_known_clock(point) or point)]
    if points and args.no_search:
        full = " and with --full" if late else ""
        yield (
            f"Not measured: {len(points)} points whose clock is not known; --no-search skips the search. "
            f"Without it{full} they are measured."
        )
    elif points:
        more = f", {len(late)} of them long (--full)" if late else ""
        full = " --full" if len(late) == len(points) else ""
        yield (
            f"Not measured: {len(points)} points{more}, whose cycles are by formula or simulated; "
            f"--measure{full} measures them."
        )


# ---- JSON

KEYS = (
    *("design", "kind", "ours", "part", "nbits", "settings", "product_cycles", "product_ns"),
    *("operation_cycles", "operation_us", "public_cycles", "public_us", "constant_time", "exponent_nbits"),
    *("period_ns", "area_um2", "area_time", "floor", "floor_ratio", "utilisation", "energy_nj"),
    *("operation_energy_nj", "tests_passed", "tests_failed", "stage", "technology", "source", "note"),
    *("marks", "stale", "searched", "row", "command"),
)


def as_json(core: Core) -> Json:
    """A row."""
    return {
        **attributes(core, *KEYS),
        **{name: getattr(core, name) or None for name in ("constant_time", "stage", "technology", "command")},
        "settings": {name: json_value(value) for name, value in core.settings.items()},
    }
