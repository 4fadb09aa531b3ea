"""`modexlab compare`: the papers' figures beside ours, from the ledger, and what is missing measured."""

from __future__ import annotations

import argparse
import os
import shlex
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ....fl.errors import BadInput, unknown
from ...papers.published import NUMBERS, paper
from ...progress import Progress
from ...table import table
from ..arguments import (
    Commands,
    add_command,
    add_json,
    add_ledger,
    add_manifests,
    check_directory,
    ledger_of,
    number,
    positive,
    print_json,
    warn,
    writing,
)
from . import compare_cores
from .ledger import value_text

if TYPE_CHECKING:
    from ...lab.comparison.compare import Comparison, LeftOut, Side
    from ...lab.explore import Sweep
    from ...lab.ledger.ledger import Ledger
    from ...lab.point import Point
    from ...papers.published import Published, Table

TEXT = """\
Each published figure stands beside its twin
(the paper's machine, rebuilt) and beside a machine of ours that does the same work, from the ledger; --measure measures what is
missing, or was measured with other sources (stale), as `modexlab explore` does: after Ctrl-C the same command goes on. x is ours
by the published figure. The verdict says how far that goes:

  cycles      of the same work: they compare directly
  area,       of paper 001 on the same standard cells, but by other tools
  energy
  FPGA        on the same family, counted before packing; where tools or units are not the same, only ratios: the figure
              is divided by that of the paper's base machine, and ours by that of its twin

Figures with a mark (a missed clock, for one) are kept out, and figures that compare in no way are left out; both say why.

`compare cores` asks another question: what a product and a private operation cost, at 32 to 2,048 bits. Ours, the papers' machines
rebuilt and designs by manifests (--design FILE) went through one flow with one library, each at the highest clock that was searched
(`modexlab asic --fmax`); published figures stand below, with their technology. What is not measured yet has cycles by formula;
--measure measures it: first what an earlier search has found the clock of, by one synthesis each, then by searches; with --full
also machines and searches at 1,024 bits and more. Ctrl-C, or what `timeout` sends, prints the table so far. Designs of the catalogue
may be named: only these are shown. With --no-search nothing is searched, which says less and takes half as long."""
EXAMPLES = """\
  modexlab compare paper-003 --measure
  modexlab compare paper-003 paper-002 --markdown
  modexlab compare paper-001 --table RTL --measure --json
  modexlab compare all --output comparison.txt
  modexlab compare cores --nbits 32
  modexlab compare cores mont --nbits 8 --measure --json
  modexlab compare cores heap --nbits 32 --measure --no-search"""

ALL, PREFIX = "all", "paper-"
PAPERS = (*(f"{PREFIX}{each}" for each in NUMBERS), ALL)
WORDS = (*PAPERS, compare_cores.WORD)
LINE = 120
NARROW = 30  # a column of text
BITS, TWIN = 1, 4  # columns
STALE_MARK = "!"
INTERRUPTED = 130
HEAD = ("machine", "bits", "figure", "published", "twin", "x", "ours", "x", "verdict")

Compared = Sequence["Comparison | LeftOut"]
T = TypeVar("T")


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "compare",
        "hold the papers' figures against ours",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument(
        "papers",
        metavar="PAPER",
        nargs="*",
        help=f"{', '.join(PAPERS)} (default: all); or {compare_cores.WORD}, then perhaps designs",
    )
    parser.add_argument(
        "--table", action="append", metavar="N", help="only this table of the paper; may be repeated"
    )
    parser.add_argument(
        "--nbits", type=number, action="append", metavar="N", help="only this width; may be repeated"
    )
    add_manifests(parser)
    parser.add_argument(
        "--measure", action="store_true", help="measure what is missing, and write it to the ledger"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="with --measure: what takes long as well (wide machines, routing)",
    )
    parser.add_argument(
        "--no-search",
        action="store_true",
        help=f"with {compare_cores.WORD} --measure: at the clocks that are known, where they are",
    )
    parser.add_argument("--retry", action="store_true", help="with --measure: try again what failed before")
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="with --measure: processes (default: one for each core)"
    )
    add_ledger(parser)
    parser.add_argument("--markdown", action="store_true", help="tables in Markdown")
    parser.add_argument("--output", "-o", metavar="FILE", help="write the text to a file as well")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    for option in ("full", "retry", "jobs", "no_search"):
        if getattr(args, option) and not args.measure:
            name = option.replace("_", "-")
            raise BadInput(f"--{name} without --measure: nothing is measured; add --measure")
    if args.json and args.markdown:
        raise BadInput("--json with --markdown: give one of them")
    if args.papers[:1] == [compare_cores.WORD]:
        return compare_cores.execute(args, _measure)
    if args.no_search:
        raise BadInput(
            f"--no-search: papers have no clock that is searched; give `modexlab compare {compare_cores.WORD}`"
        )
    if args.manifests:
        raise BadInput(
            f"--design {args.manifests[0]}: papers know no design of yours; give `modexlab compare {compare_cores.WORD}`"
        )
    from ...lab.comparison.compare import compare, missing

    figures = _figures(args)
    if args.output is not None:
        check_directory("--output", args.output)
    with ledger_of(args, read_only=not args.measure) as ledger:
        compared = compare(figures, ledger)
        sweep = None
        if args.measure:
            wanted = missing(compared)
            sweep = _measure(wanted.quick + (wanted.long if args.full else []), ledger, args)
            compared = compare(figures, ledger)
        elif not _measured(compared) and any(_sides(compared)):
            raise BadInput(
                f"nothing beside these figures has been measured yet ({ledger.path}): `{_command(args)} --measure` does it"
            )
        if args.json:
            text = ""
            print_json(_as_json(compared))
        else:
            text = _text(compared, args)
            print(text)
    if args.output is not None:
        with writing(args.output) as write:
            write((text or _text(compared, args)) + "\n")
    if sweep is None:
        return 0
    return INTERRUPTED if sweep.interrupted else 1 if sweep.failed else 0


def _figures(args: argparse.Namespace) -> list[Published]:
    """The figures that were asked for."""
    numbers: list[str] = []
    for name in args.papers or [ALL]:
        if name != ALL and name.removeprefix(PREFIX) not in NUMBERS:
            raise unknown("paper", name, WORDS)
        numbers += NUMBERS if name == ALL else [name.removeprefix(PREFIX)]
    numbers = list(dict.fromkeys(numbers))
    if args.table and len(numbers) > 1:
        raise BadInput(
            f"--table {args.table[0]} of which paper? name one, as in `modexlab compare paper-001 --table 1`"
        )
    tables = [each for one in numbers for each in _tables(one, args.table)]
    found = [figure for each in tables for figure in each.figures()]
    if args.nbits:
        widths = sorted({figure.nbits for figure in found if figure.nbits})
        found = [figure for figure in found if figure.nbits in args.nbits]
        if not found:
            there = ", ".join(map(str, widths)) or "none"
            raise BadInput(
                f"no figure of --nbits {' '.join(map(str, args.nbits))}; the widths there are {there}"
            )
    return found


def _command(args: argparse.Namespace) -> str:
    """The same question, to be asked again."""
    chosen = [f"--{name} {value}" for name in ("table", "nbits") for value in getattr(args, name) or ()]
    return " ".join(["modexlab compare", *(args.papers or [ALL]), *chosen])


def _tables(one: str, wanted: list[str] | None) -> list[Table]:
    return [paper(one).table(each) for each in wanted] if wanted else list(paper(one).tables)


def _sides(compared: Compared) -> list[Side]:
    from ...lab.comparison.compare import LeftOut

    return [side for each in compared if not isinstance(each, LeftOut) for side in each.sides]


def _measured(compared: Compared) -> bool:
    return any(side.row is not None for side in _sides(compared))


# ---- measuring


def _measure(points: list[Point], ledger: Ledger, args: argparse.Namespace) -> Sweep | None:
    """A sweep over what is missing: what fails is noted and does not stop the rest."""
    if not points:
        return None
    from ...lab.explore import Sweep
    from ...lab.schedulers import Local
    from ...lab.search import Exhaustive
    from ...lab.space import Space

    space = Space("comparison", "", objectives={}, constraints=(), parts=())  # points that are on no front
    sweep = Sweep(space, ledger, Exhaustive(points), args.retry)
    jobs = args.jobs or len(os.sched_getaffinity(0))
    with (
        Local(min(jobs, len(points))) as scheduler,
        Progress("compare", len(points), unit="point", quiet=args.json) as progress,
    ):
        progress.say(f"compare: {len(points)} points, {scheduler.name}; the ledger is {ledger.path}")
        sweep.run(scheduler, progress)
    if sweep.interrupted:
        warn(
            f"interrupted: {len(sweep.measured)} of {len(points)} points are in the ledger; the same command goes on from there"
        )
    if sweep.failed:
        before = any(each.earlier for each in sweep.failed.values())
        warn(
            f"{len(sweep.failed)} of {len(points)} points could not be measured; `modexlab ledger --failures` shows them"
            + ("; --retry tries them again" if before else "")
        )
    return sweep


# ---- what is printed


def _text(compared: Compared, args: argparse.Namespace) -> str:
    """Papers with their tables, what was left out, and what is to be known of all."""
    from ...lab.comparison.compare import notes

    markdown = args.markdown
    blocks: list[str] = []
    for one, each in _grouped(compared, lambda each: each.figure.paper).items():
        blocks.append(_heading(f"Paper {one}: {paper(one).title}", 1, markdown))
        for name, of_table in _grouped(each, lambda each: each.figure.table).items():
            blocks += _block(paper(one).table(name), of_table, markdown)
        blocks += _left_out_of(each, markdown) + [_wrapped(text, markdown) for text in notes(one)]
    blocks += [_wrapped(text, markdown) for text in _ending(compared, _command(args))]
    return "\n\n".join(blocks)


def _wrapped(text: str, markdown: bool) -> str:
    return text if markdown else textwrap.fill(text, LINE, break_on_hyphens=False)


def _grouped(compared: Sequence[T], name: Callable[[T], str]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for each in compared:
        found.setdefault(name(each), []).append(each)
    return found


def _heading(text: str, level: int, markdown: bool) -> str:
    return f"{'#' * (level + 1)} {text}" if markdown else text


def _block(of: Table, compared: Compared, markdown: bool) -> list[str]:
    """One table of the paper, if there is something in it to compare."""
    from ...lab.comparison.compare import Comparison

    found = [each for each in compared if isinstance(each, Comparison)]
    if not found:
        return []
    rows = [HEAD, *(_cells(each, of) for each in found)]
    if not any(each.twin for each in found):
        rows = [[*row[:TWIN], *row[TWIN + 2 :]] for row in rows]
    title = f"{_name(of)}. {of.caption}"
    if len(widths := {each.figure.nbits for each in found}) == 1 and not markdown:
        rows = [[*row[:BITS], *row[BITS + 1 :]] for row in rows]
        title += f" ({widths.pop()} bits)"
    title = _wrapped(_heading(title, 2, markdown), markdown)
    return [title, _markdown(rows)] if markdown else [f"{title}\n{_table(rows)}"]


def _table(rows: Sequence[Sequence[str]]) -> str:
    """As all tables, but that a long verdict goes on below itself, or has a line of its own where no room is left."""
    head, *others = [row[:-1] for row in rows]
    left = table(head, others).splitlines()
    width = max(map(len, left))
    room = LINE - width - 2
    if room < NARROW and any(len(row[-1]) > room for row in rows):
        verdicts = [row[-1] for row in rows[1:]]
        below = (f"{line}\n    {verdict}" for line, verdict in zip(left[2:], verdicts, strict=True))
        return "\n".join([*left[:2], *below])
    wrapped = [textwrap.wrap(row[-1], room) or [""] for row in rows]
    rule = "-" * max(len(line) for each in wrapped for line in each)
    wrapped.insert(1, [rule])
    return "\n".join(
        f"{start:<{width}}  {text}".rstrip()
        for line, each in zip(left, wrapped, strict=True)
        for start, text in zip([line, *[""] * (len(each) - 1)], each, strict=True)
    )


def _name(of: Table) -> str:
    """As the paper calls it; numbers in its prose have no name there."""
    return f"{of.kind} {of.number}" if of.kind != "Text" else "In the text"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _left_out_of(compared: Compared, markdown: bool) -> list[str]:
    """How many figures of which tables are not compared, by the reason."""
    from ...lab.comparison.compare import LeftOut

    found = [each for each in compared if isinstance(each, LeftOut)]
    if not found:
        return []
    lines = []
    for reason, each in _grouped(found, lambda each: each.reason).items():
        tables = ", ".join(_grouped(each, lambda each: each.figure.table))
        lines.append(f"{'- ' if markdown else '  '}{len(each)}: {reason} ({tables})")
    return ["\n".join(["Left out, with the tables:", *([""] if markdown else []), *lines])]


def _cells(each: Comparison, of: Table) -> list[str]:
    from ...lab.comparison.compare import label

    figure = each.figure
    what = " ".join(filter(None, (figure.metric, figure.operation)))
    published = _short(each.value) if each.base else value_text(_whole(each.value))
    return [
        label(figure, of),
        str(figure.nbits),
        f"{what} / {each.base}" if each.base else what,
        published + ("*" if figure.corrected is not None else ""),
        *_side(each, each.twin),
        *_side(each, each.ours),
        each.verdict,
    ]


def _whole(value: float) -> float:
    """Papers have figures like 3.0 ms, which are whole numbers of nanoseconds."""
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else value


def _side(each: Comparison, side: Side | None) -> list[str]:
    """Our figure with the machine's name, and how it compares."""
    if side is None:
        return ["-", "-"]
    ratio = each.ratio(side)
    value = "-" if side.value is None else _short(side.value)
    stale = STALE_MARK if side.value is not None and side.stale else ""
    return [f"{value} {side.name}{stale}", "-" if ratio is None else f"{ratio:.3g}"]


def _short(value: float) -> str:
    """A figure in a narrow column: whole, or with four digits."""
    return str(value) if isinstance(value, int) else f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def _ending(compared: Compared, command: str) -> list[str]:
    from ...lab.comparison.compare import Comparison, missing

    found = [each for each in compared if isinstance(each, Comparison)]
    said = ["x: ours by the published figure."] if found else []
    if any(each.figure.corrected is not None for each in found):
        said.append("*: corrected; the paper contradicts itself there (`--json` has the reason).")
    if any(side.stale and side.value is not None for side in _sides(found)):
        said.append(
            f"{STALE_MARK}, stale: measured with other sources or tools than the present ones; --measure measures it again."
        )
    wanted = missing(compared, stale=False)
    if wanted.quick or wanted.long:
        full = " --full" if not wanted.quick else ""
        long = f", and {len(wanted.long)} that take long (--full)" if wanted.quick and wanted.long else ""
        count = len(wanted.quick) or len(wanted.long)
        said.append(f"Not measured: {count} points{long}: `{command} --measure{full}`.")
    return said


def _as_json(compared: Compared) -> list[dict[str, Any]]:
    from ...lab.comparison.compare import LeftOut

    return [_left_out(each) if isinstance(each, LeftOut) else _comparison(each) for each in compared]


def _left_out(each: LeftOut) -> dict[str, Any]:
    return {**_published(each.figure), "compared": False, "reason": each.reason}


def _comparison(each: Comparison) -> dict[str, Any]:
    return {
        **_published(each.figure),
        "compared": True,
        "basis": each.basis,
        "base": each.base or None,
        "value": each.value,
        "twin": _side_as_json(each, each.twin),
        "ours": _side_as_json(each, each.ours),
        "verdict": each.verdict,
        "note": each.note,
    }


def _published(figure: Published) -> dict[str, Any]:
    from ...lab.comparison.compare import label

    return {
        "paper": figure.paper,
        "table": figure.table,
        "row": figure.row,
        "column": figure.column,
        "machine": label(figure, paper(figure.paper).table(figure.table)),
        "nbits": figure.nbits or None,
        "metric": figure.metric,
        "operation": figure.operation,
        "printed": figure.printed,
        "published": figure.amount,
        "corrected": figure.corrected is not None,
        "erratum": figure.erratum,
        "technology": figure.technology,
        "source": figure.source,
    }


def _side_as_json(each: Comparison, side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "name": side.name,
        "value": side.value,
        "ratio": each.ratio(side),
        "marks": list(side.marks),
        "rows": [row.id for row in side.rows],
        "stale": side.stale,
        "commands": [shlex.join(row.command) for row in side.rows]
        + [shlex.join(point.command) for point in side.missing],
        "missing": len(side.missing),
    }
