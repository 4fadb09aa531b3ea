"""`modexlab compare cores`: cores at one width beside each other, in one library, by one flow, and what others have published."""

from __future__ import annotations

import argparse
import shlex
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ...table import table
from ..arguments import check_directory, json_number, ledger_of, print_json, warn, writing

if TYPE_CHECKING:
    from ...lab.comparison.cores import Check, Core
    from ...lab.explore import Sweep
    from ...lab.ledger.ledger import Ledger
    from ...lab.point import Point

WORD = "cores"
LINE = 120
LEAST_NAME = 16  # of a column of names
STALE_MARK, MARK = "!", "*"
INTERRUPTED = 130
Measure = Callable[[list["Point"], "Ledger", argparse.Namespace], "Sweep | None"]

PUBLISHED = (
    "Published, each on its own technology: these times stand for themselves, and what lies between them and ours is the technology "
    "as much as the architecture. Times of a product follow from cycles and clock where the source has these. Sources: --json, --markdown."
)
ABOUT = (
    "One library ({technology}), one flow, each at the shortest clock period that it meets {where}. x floor: area x time of a product by "
    "what its bit products need at this clock at the least, each in half a selecting gate and half a full adder."
)
HOW = {
    "product_ns": ("product", "ns"),
    "area_time": ("area x time", "mm2 ns"),
    "operation_us": ("private operation", "us"),
}


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


def execute(args: argparse.Namespace, measure: Measure) -> int:
    """The table, after what is missing in it has been measured where that was asked for."""
    from ...designs import catalogue
    from ...lab.comparison.cores import cores, wanted, widths

    _check(args)
    if args.output is not None:
        check_directory("--output", args.output)
    names = [catalogue.find(name).name for name in args.papers[1:]]
    manifests = catalogue.by_manifests(args.manifests)
    nbits = list(dict.fromkeys(args.nbits or widths()))
    with ledger_of(args, read_only=not args.measure) as ledger:

        def made() -> list[Core]:
            return cores(ledger, nbits, names, manifests)

        found, sweep = made(), None
        impossible = wanted(nbits, names, manifests).impossible
        if args.measure:
            sweep = measure(_to_measure(found, args), ledger, args)
            found = made()
        if args.json:
            print_json([as_json(each) for each in found])
            text = ""
        else:
            text = _text(found, impossible, args)
            print(text)
    if args.output is not None:
        with writing(args.output) as write:
            write((text or _text(found, impossible, args)) + "\n")
    if sweep is None:
        return 0
    return INTERRUPTED if sweep.interrupted else 1 if sweep.failed else 0


def _to_measure(found: Sequence[Core], args: argparse.Namespace) -> list[Point]:
    """What is missing, without what takes long: at clocks that are known, and, without --no-search, searched behind that."""
    from ...lab.comparison.cores import at_known_clock, in_steps, long, missing

    points = [each for each in in_steps(found, search=not args.no_search) if args.full or not long(each)]
    unknown = [each for each in missing(found) if at_known_clock(each) is None]
    if args.no_search and unknown:
        warn(
            f"--no-search: of {len(unknown)} of {len(missing(found))} points no clock is known; without it they are searched"
        )
    return points


def _check(args: argparse.Namespace) -> None:
    if args.table:
        raise BadInput(f"--table {args.table[0]} with {WORD}: this is for the tables of a paper; drop it")
    from ...designs.widths import check_width

    for nbits in args.nbits or ():
        check_width(nbits)


def _command(args: argparse.Namespace) -> str:
    """The same question, to be asked again."""
    words = ["modexlab", "compare", *args.papers]
    words += [word for value in args.nbits or () for word in ("--nbits", str(value))]
    words += [word for path in args.manifests for word in ("--design", path)]
    return shlex.join(words)


# ---- what is printed


def _text(found: Sequence[Core], impossible: Sequence[tuple[str, str]], args: argparse.Namespace) -> str:
    blocks: list[str] = []
    for nbits in dict.fromkeys(each.nbits for each in found):
        blocks += _of_width(nbits, [each for each in found if each.nbits == nbits], args.markdown)
    ending = [*_ending(found, args), *(f"There is no {what}: {why}." for what, why in impossible)]
    blocks += [text if args.markdown else _wrapped(text) for text in ending]
    return "\n\n".join(blocks)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, LINE, break_on_hyphens=False)


def _of_width(nbits: int, found: Sequence[Core], markdown: bool) -> Iterator[str]:
    """Products, private operations, what is published, and the goals."""
    from ...lab.comparison.cores import MULTIPLIER
    from ...lab.comparison.cores import PUBLISHED as OF_OTHERS

    own = [each for each in found if each.kind != OF_OTHERS]
    others = [each for each in found if each.kind == OF_OTHERS]
    products = [each for each in own if each.part == MULTIPLIER or each.of_product]
    machines = [each for each in own if each.part != MULTIPLIER]
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
    if goals := _goals(own):
        yield goals if markdown else _wrapped(goals)


def _plain(columns: Sequence[Column], rows: Sequence[Core]) -> str:
    """No wider than a screen: of long names as much as there is room for."""
    shown = [column for column in columns if not column.markdown_only]
    cells = [[column.cell(row) for column in shown] for row in rows]
    rest = table([column.head for column in shown[1:]], [row[1:] for row in cells])
    room = max(LEAST_NAME, LINE - 2 - max(map(len, rest.splitlines())))
    return table([column.head for column in shown], [[_cut(row[0], room), *row[1:]] for row in cells])


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 3]}..."


def _markdown(columns: Sequence[Column], rows: Sequence[Core]) -> str:
    cells = [[column.cell(row).replace("|", "\\|") for column in columns] for row in rows]
    lines = [[column.head for column in columns], ["---"] * len(columns), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _goals(found: Iterable[Core]) -> str:
    """Of each goal the core that comes nearest, or is the furthest below."""
    best: dict[str, tuple[Check, Core]] = {}
    for core in found:
        for check in core.goals:
            if check.figure not in best or check.value < best[check.figure][0].value:
                best[check.figure] = check, core
    told = []
    for check, core in best.values():
        what, unit = HOW[check.figure]
        verdict = "met" if check.met else f"missed by {100 * (check.value / check.at_most - 1):.0f} %"
        told.append(
            f"{what} at most {check.at_most:g} {unit}: {_shown(check.value)} by {core.name}, {verdict}"
        )
    return f"Goals: {'; '.join(told)}." if told else ""


def _ending(found: Sequence[Core], args: argparse.Namespace) -> Iterator[str]:
    from ...lab.comparison.cores import PUBLISHED as OF_OTHERS
    from ...lab.comparison.cores import WHERE, at_known_clock, long, missing

    measured = [each for each in found if each.measured]
    if measured:
        where = " or ".join(dict.fromkeys(WHERE[each.stage] for each in measured))
        yield ABOUT.format(technology=measured[0].technology, where=where)
    if any(each.kind == OF_OTHERS for each in found):
        yield PUBLISHED
    for each in measured:
        if each.marks:
            yield f"{MARK} {each.name}, {each.nbits:,} bits: {'; '.join(each.marks)}."
    if any(each.stale for each in measured):
        yield f"{STALE_MARK}, stale: measured with other sources or tools than the present ones; --measure measures it again."
    for each in found:
        if each.failure:
            yield f"{each.name}, {each.nbits:,} bits, {each.part}, could not be measured (--retry tries again): {each.failure}."
    points = missing([each for each in found if not each.failure], stale=False)
    late = [each for each in points if long(at_known_clock(each) or each)]
    if points:
        more = f", {len(late)} of them long (--full)" if late else ""
        yield (
            f"Not measured: {len(points)} points{more}, whose cycles are by formula: `{_command(args)} --measure"
            f"{' --full' if len(late) == len(points) else ''}`."
        )


# ---- JSON


def as_json(core: Core) -> dict[str, Any]:
    """A row."""
    return {
        "design": core.design,
        "kind": core.kind,
        "ours": core.ours,
        "part": core.part,
        "nbits": core.nbits,
        "settings": {
            name: json_number(value) if isinstance(value, int) and not isinstance(value, bool) else value
            for name, value in core.settings.items()
        },
        "product_cycles": core.product_cycles,
        "product_ns": core.product_ns,
        "operation_cycles": core.operation_cycles,
        "operation_us": core.operation_us,
        "public_cycles": core.public_cycles,
        "public_us": core.public_us,
        "period_ns": core.period_ns,
        "area_um2": core.area_um2,
        "area_time": core.area_time,
        "floor": core.floor,
        "floor_ratio": core.floor_ratio,
        "utilisation": core.utilisation,
        "energy_nj": core.energy_nj,
        "operation_energy_nj": core.operation_energy_nj,
        "tests_passed": core.tests_passed,
        "tests_failed": core.tests_failed,
        "goals": [
            {"figure": each.figure, "at_most": each.at_most, "value": each.value, "met": each.met}
            for each in core.goals
        ],
        "stage": core.stage or None,
        "technology": core.technology or None,
        "source": core.source,
        "note": core.note,
        "marks": list(core.marks),
        "stale": core.stale,
        "searched": core.searched,
        "row": core.row,
        "command": core.command or None,
    }
