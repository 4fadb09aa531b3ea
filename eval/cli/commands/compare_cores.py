"""`modexlab compare cores`: all cores at one width, with one library and one flow, next to published
cores.
"""

import textwrap
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ....fl.errors import BadInput
from ...designs import catalogue
from ...designs.widths import check_width
from ...json_values import attributes, json_value
from ...lab.comparison import cores as lab
from ...lab.comparison.cores import Core
from ...lab.point import Point
from ...report.metrics import shown
from ...table import table
from ..render import Block, Columns, Json, Table, warn

WORD = "cores"
LINE = 120
LEAST_NAME = 16  # of a column of names
STALE_MARK, MARK, OWN_MARK = "!", "*", "+"
STALE = (
    f"{STALE_MARK}, stale: measured with other sources or tools than the present ones; --measure measures it "
    "again."
)
REFERENCE = (
    f"{OWN_MARK}, measured by you (`modexlab ledger`); the others are the reference results of modexlab."
)
PUBLISHED = (
    "Published, each on its own technology: differences to ours come from the technology as much as from the "
    "architecture. Times of a product follow from cycles and clock if the source has these. Sources: --json, "
    "--markdown."
)
ABOUT = (
    "One library ({technology}), one flow, each at the shortest clock period that it meets {where}. x "
    "floor: area x time of a product, divided by the least that its bit products need at this clock, each "
    "with half a selecting gate and half a full adder."
)


def wrapped(text: str, markdown: bool = False) -> str:
    return text if markdown else textwrap.fill(text, LINE, break_on_hyphens=False)


def _shown(name: str) -> Callable[[Core], str]:
    return lambda core: shown(getattr(core, name))


def _name(core: Core) -> str:
    own = OWN_MARK if core.measured and not core.reference else ""
    return f"{core.name}{own}{MARK if core.marks else ''}{STALE_MARK if core.stale else ''}"


NAME: Columns = {"design": _name, "of": "kind"}
AREA = {"area um2": "area_um2:,.0f"}
END: Columns = {
    "tests": lambda core: (
        None if core.tests_passed is None else f"{core.tests_passed:,}/{core.tests_failed:,}"
    ),
    "note": "note",
    "source": lambda core: f"`{core.command}`" if core.command and core.measured else core.source,
}
PRODUCTS: Columns = {
    **NAME,
    "cycles": _shown("product_cycles"),
    "clock": "period_ns:.2f",
    "product ns": _shown("product_ns"),
    **AREA,
    "mm2 ns": _shown("area_time"),
    "x floor": _shown("floor_ratio"),
    "busy %": lambda core: core.utilisation and f"{100 * core.utilisation:.1f}",
    "nJ": _shown("energy_nj"),
    **END,
}
OPERATIONS: Columns = {
    **NAME,
    "cycles": _shown("operation_cycles"),
    "exponent": "exponent_nbits:,.0f",
    "constant time": lambda core: core.constant_time or None,
    "private us": _shown("operation_us"),
    "e=65537 us": _shown("public_us"),
    "clock": "period_ns:.2f",
    **AREA,
    "private nJ": _shown("operation_energy_nj"),
    **END,
}
OTHERS: Columns = {
    "design": _name,
    "cycles": _shown("product_cycles"),
    "product ns": _shown("product_ns"),
    "private cycles": _shown("operation_cycles"),
    "private us": _shown("operation_us"),
    "e=65537 us": _shown("public_us"),
    **AREA,
    "technology": "technology",
    "note": END["note"],
    "source": END["source"],
}
MARKDOWN_ONLY = ("note", "source")  # there is no room in the text


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

    def to_measure(found: Sequence[Core]) -> list[Point]:
        """Missing points without slow ones: at known clocks, then, without --no-search, at searched ones."""
        missing = lab.missing(found)
        unknown = sum(lab.at_known_clock(item) is None for item in missing)
        if args.no_search and unknown:
            warn(
                f"--no-search: of {unknown} of {len(missing)} points no clock is known; without it they are "
                "searched"
            )
        steps = lab.in_steps(found, search=not args.no_search)
        return [step for step in steps if args.full or not lab.long(step)]

    return answer(
        args,
        lambda ledger: lab.cores(ledger, nbits, names, manifests),
        to_measure,
        lambda found: [as_json(core) for core in found],
        lambda found: _blocks(found, impossible, args),
    )


# ---- what is printed


def _blocks(found: Sequence[Core], impossible: Sequence[tuple[str, str]], args: Namespace) -> Iterator[Block]:
    for nbits in dict.fromkeys(core.nbits for core in found):
        yield from _of_width(nbits, [core for core in found if core.nbits == nbits], args.markdown)
    for text in (*_ending(found, args), *(f"There is no {what}: {why}." for what, why in impossible)):
        yield wrapped(text, args.markdown)


def _of_width(nbits: int, found: Sequence[Core], markdown: bool) -> Iterator[Table]:
    """Products, private operations and published figures."""
    own = [core for core in found if core.kind != lab.PUBLISHED]
    machines = [core for core in own if core.part != lab.MULTIPLIER]
    products = [core for core in own if core.part == lab.MULTIPLIER or core.of_product]
    others = [core for core in found if core.kind == lab.PUBLISHED]
    for title, columns, cores, hidden in (
        ("a product", PRODUCTS, products, MARKDOWN_ONLY),
        ("a private operation", OPERATIONS, machines, MARKDOWN_ONLY),
        ("published, other technologies", OTHERS, others, (*MARKDOWN_ONLY, *AREA)),
    ):
        shown = {head: item for head, item in columns.items() if markdown or head not in hidden}
        made = Table.of(cores, shown, f"{nbits:,} bits: {title}")
        yield made if markdown else _fitted(made)


def _fitted(made: Table) -> Table:
    """Names cut so that the table is no wider than a screen."""
    rest = table(made.head[1:], [row[1:] for row in made.rows])
    room = max(LEAST_NAME, LINE - 2 - max(map(len, rest.splitlines())))
    rows = [[name if len(name) <= room else f"{name[: room - 3]}...", *others] for name, *others in made.rows]
    return replace(made, rows=rows)


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
    if any(core.reference for core in measured):
        yield REFERENCE
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
    *("marks", "stale", "reference", "searched", "row", "command"),
)


def as_json(core: Core) -> Json:
    """A row."""
    return {
        **attributes(core, *KEYS),
        **{name: getattr(core, name) or None for name in ("constant_time", "stage", "technology", "command")},
        "settings": {name: json_value(value) for name, value in core.settings.items()},
    }
