"""`modexlab compare cores`: all cores at one width, through one flow, next to published cores."""

import math
import textwrap
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from ....fl.errors import BadInput
from ...designs import catalogue
from ...designs.widths import check_width
from ...grouping import grouped
from ...json_values import attributes, json_value
from ...lab.comparison import cores as lab
from ...lab.comparison import published_data
from ...lab.comparison.cores import Core, Cores
from ...lab.point import Point
from ...lab.store.snapshot import Snapshot
from ...report.choices import Limit, Width
from ...report.choices import widths as comparable
from ...report.metrics import shown
from ...table import cell, table
from ..arguments import refuse, requested_of
from ..laboratory import kit_of
from ..render import MARKDOWN, TEXT, Block, Columns, Json, Table, output_form, warn

WORD = "cores"
ALL = "all"  # of --kit
LINE = 120
LEAST_NAME = 16  # of a column of names
MARKDOWN_ONLY = ("obtained", "commit", "url", "note")  # too wide for the text
STALE_MARK, MARK, OWN_MARK, DOUBT_MARK, ESTIMATE_MARK = "!", "*", "+", "?", "~"
STALE = (
    f"{STALE_MARK}, stale: measured with other sources or tools than the present ones; --measure measures it "
    "again."
)
REFERENCE = (
    f"{OWN_MARK}, measured by you (`modexlab store`); the others are the reference results of modexlab."
)
PUBLISHED = (
    "Published, each on its own technology: differences to ours come from the technology as much as from the "
    "architecture. Times of a product follow from cycles and clock if the source has these. ?: not stated by "
    "the source. Sources, commits and how figures were obtained: --json, --markdown."
)
ABOUT = (
    "One flow ({technology}); area and clock are those {where}. x "
    "floor: area x time of a product, divided by the least that its bit products need at this clock, each "
    "with half a selecting gate and half a full adder."
)


def wrapped(text: str, markdown: bool = False) -> str:
    return text if markdown else textwrap.fill(text, LINE, break_on_hyphens=False)


def figure(name: str) -> Callable[[Any], str]:
    """The text of a figure of a core."""
    return lambda item: shown(getattr(item, name))


def marked_name(core: Core) -> str:
    own = OWN_MARK if core.measured and not core.reference else ""
    marks = (
        ESTIMATE_MARK * bool(core.estimate)
        + MARK * bool(core.marks)
        + STALE_MARK * core.stale
        + DOUBT_MARK * bool(core.unverified or core.unverified_energy)
    )
    return f"{core.name}{own}{marks}"


def doubts(reasons: Iterable[str]) -> Iterator[str]:
    """A line for each reason to measure figures again."""
    return (f"{DOUBT_MARK}, unverified: {reason}." for reason in dict.fromkeys(filter(None, reasons)))


NAME: Columns = {"design": marked_name, "of": lambda core: None if core.kind == lab.PUBLISHED else core.kind}
CLOCKS: Columns = {"clock": "period_ns:.2f", "met": "met_ns:.2f", "area um2": "area_um2:,.0f"}
# stated once below a table if all of its rows agree
OF_WORK: Columns = {
    "constant time": lambda core: core.constant_time or lab.UNKNOWN,
    "protections": "protections",
    "conversions": "conversions",
}
OF_FLOW: Columns = {
    "style": "style",
    "stage": lambda core: lab.WHERE.get(core.stage),
    "technology": "technology",
}
END: Columns = {
    **OF_FLOW,
    "tests": lambda core: (
        None if core.tests_passed is None else f"{core.tests_passed:,}/{core.tests_failed:,}"
    ),
    **{name: name for name in MARKDOWN_ONLY},
    "source": lambda core: f"`{core.command}`" if core.command and core.measured else core.source,
}


class Workload(NamedTuple):
    """The operation that all rows of a table measure; `columns` go between its time and the end."""

    title: str
    time: str
    cycles: str
    work: str
    columns: Columns

    def of(self, core: Core) -> bool:
        """Whether the core does this work."""
        known = getattr(core, self.time) or getattr(core, self.cycles)
        own = core.kind != lab.PUBLISHED
        if own and self is PRODUCT:
            return core.part == lab.MULTIPLIER or core.of_product
        return bool(known or (self is PRIVATE and (core.instructions or (own and core.part == lab.MACHINE))))

    def place(self, core: Core) -> tuple[Any, ...]:
        """Sort key: measured cores first, faster ones first."""
        time, cycles = getattr(core, self.time), getattr(core, self.cycles)
        return not core.measured, time or math.inf, cycles or math.inf


PRODUCT = Workload(
    "a product",
    "product_ns",
    "product_cycles",
    "limits",
    {
        "latency": figure("latency_cycles"),
        "interval": figure("product_cycles"),
        "ns": figure("product_ns"),
        **CLOCKS,
        "mm2 ns": figure("area_time"),
        "x floor": figure("floor_ratio"),
        "nJ": figure("energy_nj"),
        "nJ, drawn": lambda core: lab.spread(core.drawn_nj),
    },
)
PRIVATE = Workload(
    "a private operation",
    "operation_us",
    "operation_cycles",
    "work",
    {
        "cycles": figure("operation_cycles"),
        "instructions": figure("instructions"),
        "us": figure("operation_us"),
        **CLOCKS,
        "nJ": figure("operation_energy_nj"),
        "nJ, drawn": lambda core: lab.spread(core.operation_drawn_nj),
        **OF_WORK,
    },
)
PUBLIC = Workload(
    "a public operation, e = 65537",
    "public_us",
    "public_cycles",
    "limits",
    {"cycles": figure("public_cycles"), "us": figure("public_us"), **CLOCKS},
)


# ---- the command


def execute(args: Namespace, answer: Callable[..., int]) -> int:
    """Print the table; --measure measures missing points first."""
    if args.table:
        raise BadInput(f"--table {args.table[0]} with {WORD}: this is for the tables of a paper; drop it")
    nbits = [*map(check_width, dict.fromkeys(args.nbits or lab.widths()))]
    manifests = catalogue.by_manifests(args.manifests)
    entered = [design.name for design in manifests]
    names = [name if name in entered else catalogue.find(name).name for name in args.papers[1:]]
    selection = lab.Selection(args.interface or "", requested_of(args), args.constant_time)
    asked: dict[str, Any] = {"names": names, "manifests": manifests, "selection": selection}
    if args.kit == ALL:
        refuse(args, ["measure"], f" with --kit {ALL}: give one kit")
        look, kit = partial(_of_every_kit, nbits=nbits, **asked), ""
    else:
        kit = kit_of(args)
        look = partial(lab.cores, nbits=nbits, kit=kit, **asked)
    impossible = lab.wanted(nbits, kit=kit, **asked).impossible
    if args.json:
        for what, why in impossible:
            warn(f"there is no {what}: {why}")

    def to_measure(found: Cores) -> list[Point]:
        """Missing points, slow ones only with --full: at known clocks, then, without --no-search, at
        searched ones.
        """
        missing = lab.missing(found)
        unknown = sum(lab.at_known_clock(item) is None for item in missing)
        if args.no_search and unknown:
            warn(
                f"--no-search: of {unknown} of {len(missing)} points no clock is known; without it they are "
                "searched"
            )
        steps = lab.in_steps(found, search=not args.no_search)
        return [step for step in steps if args.full or not lab.long(step)]

    limit = Limit.parse(args.pick) if args.pick else None
    return answer(
        args,
        look,
        to_measure,
        lambda found: [as_json(core) for core in (found if limit is None else _picked(found, limit, args))],
        lambda found: _blocks(found, impossible, args) if limit is None else _picks(found, limit, args),
    )


def _of_every_kit(results: Snapshot, **asked: Any) -> list[Core]:
    """The measured cores of every cell library."""
    from ....flow.kit import kit  # not at the top: it needs the extra [flow]

    kits = ["" if name == kit.DEFAULT.stem else name for name in kit.NAMES]
    return [core for name in kits for core in lab.cores(results, **asked, kit=name) if core.measured]


# ---- output


def _blocks(found: Cores, impossible: Sequence[tuple[str, str]], args: Namespace) -> Iterator[Block]:
    for nbits, same in grouped(found, attrgetter("nbits")).items():
        yield from _of_width(nbits, same, output_form(args))
    for text in (*_ending(found, args), *(f"There is no {what}: {why}." for what, why in impossible)):
        yield wrapped(text, args.markdown)


def _picked(found: Cores, limit: Limit, args: Namespace) -> list[Core]:
    """The best machines within a limit, one for each width and work; BadInput if there are none."""
    widths = comparable(found)
    picked = [core for width in widths if (core := width.best(limit.best, limit)) is not None]
    if picked:
        return picked
    if not widths:
        asked = ", ".join(f"{nbits:,}" for nbits in dict.fromkeys(core.nbits for core in _machines(found)))
        raise BadInput(
            f"--pick {args.pick}: no machine of {asked or 'these'} bits has a result or a certified model; "
            "add --measure"
        )
    known = [(width, core) for width in widths if (core := width.best(limit.limited)) is not None]
    width, nearest = min(known, key=lambda item: limit.limited.value(item[1]) or math.inf)
    raise BadInput(
        f"--pick {args.pick}: the nearest of {sum(len(width.machines) for width in widths)} machines, "
        f"{nearest.name} of {width.nbits:,} bits, has {shown(limit.limited.value(nearest))} "
        f"{limit.limited.unit}; give at least that"
    )


def _machines(found: Cores) -> list[Core]:
    """Our whole machines."""
    return [core for core in found if core.part == lab.MACHINE and core.kind != lab.PUBLISHED]


def _picks(found: Cores, limit: Limit, args: Namespace) -> Iterator[Block]:
    """The best machines within a limit; for widths without one, the nearest."""
    what = f"{limit.best.head} machine within {args.pick}"
    columns = {
        "bits": "nbits",
        **NAME,
        "us": figure("operation_us"),
        **CLOCKS,
        "from": lambda core: "result" if core.measured else "model",
        "work": "work",
        **OF_WORK,
        **OF_FLOW,
    }
    picked = _picked(found, limit, args)
    yield _table(picked, columns, what, output_form(args))
    for core in picked:
        yield wrapped(f"{core.name}, {core.nbits:,} bits: {core.basis}.", args.markdown)
    for width in comparable(found):
        if width.best(limit.best, limit) is None:
            yield wrapped(_nearest(width, limit), args.markdown)
    known = {width.nbits for width in comparable(found)}
    unknown = dict.fromkeys(core.nbits for core in _machines(found) if core.nbits not in known)
    if unknown:
        widths = ", ".join(f"{nbits:,}" for nbits in unknown)
        yield wrapped(
            f"No machine of {widths} bits has a result or a certified model; --measure measures them."
        )
    if any(core.stale for core in picked):
        yield STALE


def _nearest(width: Width, limit: Limit) -> str:
    nearest = width.best(limit.limited)
    least = (
        nearest
        and f"; {nearest.name} is nearest with {shown(limit.limited.value(nearest))} {limit.limited.unit}"
    )
    return f"{width.nbits:,} bits, {width.work}: none of {len(width.machines)} machines{least}."


def _of_width(nbits: int, found: Cores, form: str) -> Iterator[Table]:
    """Products, private and public operations, ours before published ones."""
    for where in ("", ", published, other technologies"):
        for load in (PRODUCT, PRIVATE, PUBLIC):
            cores = [core for core in found if load.of(core) and (core.kind == lab.PUBLISHED) == bool(where)]
            cores.sort(key=load.place)
            cores.sort(key=attrgetter(load.work, "routed"))
            for (same, _), rows in groupby(cores, attrgetter(load.work, "routed")):
                title = f"{load.title}, {same}".removesuffix(", ")
                columns = {**NAME, **load.columns, **END}
                hidden = () if form == MARKDOWN else (*MARKDOWN_ONLY, "source")
                shown = {head: item for head, item in columns.items() if head not in hidden}
                yield _table(rows, shown, f"{nbits:,} bits: {title}{where}", form)


def _table(rows: Iterable[Core], columns: Columns, title: str, form: str) -> Table:
    made = Table.of(rows, columns, title).folded((*OF_FLOW, *OF_WORK))
    return _fitted(made) if made and form == TEXT else made


def _fitted(made: Table) -> Table:
    """Names, and then technologies, cut so that the table is no wider than a screen."""
    rows = [list(row) for row in made.rows]
    last = made.head.index("technology") if "technology" in made.head else -1
    for at in (0, last):
        spare = LINE - max(map(len, table(made.head, rows).splitlines()))
        longest = max(len(cell(row[at])) for row in rows)
        room = max(LEAST_NAME, longest + spare)
        if spare < 0 and room < longest:
            for row in rows:
                text = cell(row[at])
                row[at] = text if len(text) <= room else f"{text[: room - 3]}..."
    return replace(made, rows=rows, note=wrapped(made.note))


def _ending(found: Cores, args: Namespace) -> Iterator[str]:
    measured = [core for core in found if core.measured]
    if measured:
        where = " or ".join(dict.fromkeys(lab.WHERE[core.stage] for core in measured))
        technology = "; ".join(dict.fromkeys(core.technology for core in measured))
        yield ABOUT.format(technology=technology, where=where)
    if any(core.kind == lab.PUBLISHED for core in found):
        yield f"{PUBLISHED} Left out: {'; '.join(published_data.field_file().unread)}."
    for core in found:
        if core.estimate:
            yield f"{ESTIMATE_MARK} {core.name}, {core.nbits:,} bits, no result but a {core.estimate}."
    for core in measured:
        if core.marks:
            yield f"{MARK} {core.name}, {core.nbits:,} bits: {'; '.join(core.marks)}."
    if any(core.stale for core in measured):
        yield STALE
    yield from doubts(reason for core in measured for reason in (core.unverified, core.unverified_energy))
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

DERIVED = ("ours", "basis", "area_time", "floor", "floor_ratio", "utilisation")
INTERNAL = ("family", "point", "turn", "of_product", "cell_um2", "floor_um2", "failure", "measurement")


def as_json(core: Core) -> Json:
    """A row; unknown and inapplicable values are null."""
    found = attributes(core, *(item.name for item in fields(core) if item.name not in INTERNAL), *DERIVED)
    settings = {name: json_value(value) for name, value in core.settings.items()}
    return {
        name: None if value == "" and name not in ("note", "source") else value
        for name, value in {**found, "settings": settings}.items()
    }
