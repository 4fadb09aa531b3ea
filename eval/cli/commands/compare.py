"""`modexlab compare`: the papers' figures next to ours, measuring what the ledger lacks."""

from __future__ import annotations

import argparse
import shlex
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ....fl.errors import BadInput, unknown
from ...json_values import attributes
from ...papers.published import NUMBERS, paper
from ...table import markdown_table, table
from ..arguments import (
    add_jobs,
    add_json,
    add_ledger,
    add_manifests,
    answer,
    interrupted,
    jobs_of,
    ledger_of,
    warn,
    width,
)
from . import compare_cores
from .ledger import value_text

if TYPE_CHECKING:
    from ...lab.comparison.compare import Comparison, LeftOut, Side
    from ...lab.ledger.ledger import Ledger
    from ...lab.point import Point
    from ...papers.published import Published, Table

SUMMARY = "hold the papers' figures against ours"
TEXT = """\
Each published figure stands beside its twin
(the paper's machine, rebuilt) and beside a machine of ours that does the same work, from the ledger; --measure measures what is
missing, or was measured with other sources (stale), as `modexlab sweep` does: after Ctrl-C the same command goes on. x is ours
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
--measure measures it: first, by one synthesis each, the cores whose clock the reference results have,
then by searches; with --full also machines and searches at 1,024 bits and more. Ctrl-C, or what `timeout`
sends, prints the table so far. Designs of the catalogue may be named: only these are shown. With --no-search
nothing is searched, which takes half as long."""
EXAMPLES = """\
  modexlab compare paper-003 --measure
  modexlab compare paper-003 paper-002 --markdown
  modexlab compare paper-001 --table RTL --measure --json
  modexlab compare all > comparison.txt
  modexlab compare cores --nbits 32
  modexlab compare cores mont --nbits 8 --measure --json
  modexlab compare cores heap --nbits 32 --measure --no-search"""

ALL, PREFIX = "all", "paper-"
PAPERS = (*(f"{PREFIX}{number}" for number in NUMBERS), ALL)
WORDS = (*PAPERS, compare_cores.WORD)
LINE = 120
BITS, TWIN = 1, 4  # columns
STALE_MARK = "!"
HEAD = ("machine", "bits", "figure", "published", "twin", "x", "ours", "x", "verdict")

Compared = Sequence["Comparison | LeftOut"]
T = TypeVar("T")


def add(parser: argparse.ArgumentParser) -> None:
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
        "--nbits", type=width, action="append", metavar="N", help="only this width; may be repeated"
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
    add_jobs(parser, "with --measure: processes")
    add_ledger(parser)
    parser.add_argument("--markdown", action="store_true", help="tables in Markdown")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    for option in ("full", "retry", "jobs", "no_search"):
        if getattr(args, option) and not args.measure:
            name = option.replace("_", "-")
            raise BadInput(f"--{name} without --measure: nothing is measured; add --measure")
    if args.json and args.markdown:
        raise BadInput("--json with --markdown: give one of them")
    if args.papers[:1] == [compare_cores.WORD]:
        return compare_cores.execute(args, _answer)
    if args.no_search:
        raise BadInput(
            "--no-search: papers have no clock that is searched; give `modexlab compare "
            f"{compare_cores.WORD}`"
        )
    if args.manifests:
        raise BadInput(
            f"--design {args.manifests[0]}: papers know no design of yours; give `modexlab compare "
            f"{compare_cores.WORD}`"
        )
    figures = _figures(args)
    return _answer(
        args,
        lambda ledger: _compared(figures, ledger, args),
        lambda compared: _missing(compared, args),
        _as_json,
        lambda compared: _text(compared, args),
    )


def _answer(
    args: argparse.Namespace,
    look: Callable[[Ledger], T],
    missing: Callable[[T], list[Point]],
    as_json: Callable[[T], Any],
    text: Callable[[T], str],
) -> int:
    """Print the comparison that `look` finds in the ledger, after --measure measured what is missing."""
    with ledger_of(args, read_only=not args.measure) as ledger:
        compared = look(ledger)
        code = 0
        if args.measure:
            code = _measure(missing(compared), ledger, args)
            compared = look(ledger)
        answer(args, lambda: as_json(compared), lambda: text(compared))
    return code


def _compared(figures: Sequence[Published], ledger: Ledger, args: argparse.Namespace) -> Compared:
    """Compare the figures; BadInput if none of ours has been measured and --measure is not given."""
    from ...lab.comparison.compare import compare

    compared = compare(figures, ledger)
    if not args.measure and not _measured(compared) and any(_sides(compared)):
        raise BadInput(f"nothing beside these figures has been measured yet ({ledger.path}); add --measure")
    return compared


def _missing(compared: Compared, args: argparse.Namespace) -> list[Point]:
    from ...lab.comparison.compare import missing

    wanted = missing(compared)
    return wanted.quick + (wanted.long if args.full else [])


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
    tables = [table for one in numbers for table in _tables(one, args.table)]
    found = [figure for table in tables for figure in table.figures()]
    if args.nbits:
        widths = sorted({figure.nbits for figure in found if figure.nbits})
        found = [figure for figure in found if figure.nbits in args.nbits]
        if not found:
            there = ", ".join(map(str, widths)) or "none"
            raise BadInput(
                f"no figure of --nbits {' '.join(map(str, args.nbits))}; the widths there are {there}"
            )
    return found


def _tables(one: str, wanted: list[str] | None) -> list[Table]:
    return [paper(one).table(item) for item in wanted] if wanted else list(paper(one).tables)


def _sides(compared: Compared) -> list[Side]:
    from ...lab.comparison.compare import LeftOut

    return [side for item in compared if not isinstance(item, LeftOut) for side in item.sides]


def _measured(compared: Compared) -> bool:
    return any(side.row is not None for side in _sides(compared))


# ---- measuring


def _measure(points: list[Point], ledger: Ledger, args: argparse.Namespace) -> int:
    """Measure the missing points, of which some may fail; return the exit code."""
    if not points:
        return 0
    from ...lab.explore import Sweep
    from ...lab.schedulers import Local
    from ...lab.search import Exhaustive
    from ...lab.space import Space

    space = Space("comparison", "", objectives={}, constraints=(), parts=())  # points that are on no front
    sweep = Sweep(space, ledger, Exhaustive(points), args.retry)
    sweep.run(Local(min(jobs_of(args), len(points))), "compare", quiet=args.json)
    if sweep.failed:
        before = any(failed.earlier for failed in sweep.failed.values())
        warn(
            f"{len(sweep.failed)} of {len(points)} points could not be measured; `modexlab ledger "
            "--failures` shows them" + ("; --retry tries them again" if before else "")
        )
    if sweep.interrupted:
        return interrupted(f"{len(sweep.measured)} of {len(points)} points are in the ledger")
    return 1 if sweep.failed else 0


# ---- what is printed


def _text(compared: Compared, args: argparse.Namespace) -> str:
    """Papers with their tables, what was left out, and what is to be known of all."""
    from ...lab.comparison.compare import NOTES

    markdown = args.markdown
    blocks: list[str] = []
    for one, item in _grouped(compared, lambda item: item.figure.paper).items():
        blocks.append(_heading(f"Paper {one}: {paper(one).title}", 1, markdown))
        for name, of_table in _grouped(item, lambda entry: entry.figure.table).items():
            blocks += _block(paper(one).table(name), of_table, markdown)
        blocks += [*_left_out_of(item, markdown), _wrapped(NOTES[one], markdown)]
    blocks += [_wrapped(text, markdown) for text in _ending(compared)]
    return "\n\n".join(blocks)


def _wrapped(text: str, markdown: bool) -> str:
    return text if markdown else textwrap.fill(text, LINE, break_on_hyphens=False)


def _grouped(compared: Sequence[T], name: Callable[[T], str]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for item in compared:
        found.setdefault(name(item), []).append(item)
    return found


def _heading(text: str, level: int, markdown: bool) -> str:
    return f"{'#' * (level + 1)} {text}" if markdown else text


def _block(of: Table, compared: Compared, markdown: bool) -> list[str]:
    """One table of the paper, if there is something in it to compare."""
    from ...lab.comparison.compare import Comparison

    found = [item for item in compared if isinstance(item, Comparison)]
    if not found:
        return []
    rows = [HEAD, *map(_cells, found)]
    if not any(figure.twin for figure in found):
        rows = [[*row[:TWIN], *row[TWIN + 2 :]] for row in rows]
    title = f"{_name(of)}. {of.caption}"
    if len(widths := {figure.figure.nbits for figure in found}) == 1 and not markdown:
        rows = [[*row[:BITS], *row[BITS + 1 :]] for row in rows]
        title += f" ({widths.pop()} bits)"
    title = _wrapped(_heading(title, 2, markdown), markdown)
    return [title, "\n".join(markdown_table(rows[0], rows[1:]))] if markdown else [f"{title}\n{_table(rows)}"]


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Format a table; a verdict that does not fit into its column goes on lines of its own."""
    head, *others = [row[:-1] for row in rows]
    left = table(head, others).splitlines()
    title, *verdicts = [row[-1] for row in rows]
    lines = []
    for line, verdict in zip(left, [title, "-" * len(title), *verdicts], strict=True):
        whole = f"{line:<{len(left[1])}}  {verdict}"
        below = textwrap.indent(textwrap.fill(verdict, LINE - 4), "    ")
        lines.append(whole if len(whole) <= LINE else f"{line}\n{below}")
    return "\n".join(lines)


def _name(of: Table) -> str:
    """As the paper calls it; numbers in its prose have no name there."""
    return f"{of.kind} {of.number}" if of.kind != "Text" else "In the text"


def _left_out_of(compared: Compared, markdown: bool) -> list[str]:
    """How many figures of which tables are not compared, by the reason."""
    from ...lab.comparison.compare import LeftOut

    found = [item for item in compared if isinstance(item, LeftOut)]
    if not found:
        return []
    lines = []
    for reason, item in _grouped(found, lambda figure: figure.reason).items():
        tables = ", ".join(_grouped(item, lambda entry: entry.figure.table))
        lines.append(f"{'- ' if markdown else '  '}{len(item)}: {reason} ({tables})")
    return ["\n".join(["Left out, with the tables:", *([""] if markdown else []), *lines])]


def _cells(comparison: Comparison) -> list[str]:
    from ...lab.comparison.compare import label

    figure = comparison.figure
    what = " ".join(filter(None, (figure.metric, figure.operation)))
    published = _short(comparison.value) if comparison.base else value_text(_whole(comparison.value))
    return [
        label(figure),
        str(figure.nbits),
        f"{what} / {comparison.base}" if comparison.base else what,
        published + ("*" if figure.corrected is not None else ""),
        *_side(comparison, comparison.twin),
        *_side(comparison, comparison.ours),
        comparison.verdict,
    ]


def _whole(value: float) -> float:
    """Papers have figures like 3.0 ms, which are whole numbers of nanoseconds."""
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else value


def _side(comparison: Comparison, side: Side | None) -> list[str]:
    """Our figure with the machine's name, and how it compares."""
    if side is None:
        return ["-", "-"]
    ratio = comparison.ratio(side)
    value = "-" if side.value is None else _short(side.value)
    stale = STALE_MARK if side.value is not None and side.stale else ""
    return [f"{value} {side.name}{stale}", "-" if ratio is None else f"{ratio:.3g}"]


def _short(value: float) -> str:
    """A figure in a narrow column: whole, or with four digits."""
    return str(value) if isinstance(value, int) else f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def _ending(compared: Compared) -> list[str]:
    from ...lab.comparison.compare import Comparison, missing

    found = [item for item in compared if isinstance(item, Comparison)]
    said = ["x: ours by the published figure."] if found else []
    if any(figure.figure.corrected is not None for figure in found):
        said.append("*: corrected; the paper contradicts itself there (`--json` has the reason).")
    if any(side.stale and side.value is not None for side in _sides(found)):
        said.append(
            f"{STALE_MARK}, stale: measured with other sources or tools than the present ones; --measure "
            "measures it again."
        )
    wanted = missing(compared, stale=False)
    if wanted.quick or wanted.long:
        full = " --full" if not wanted.quick else ""
        long = f", and {len(wanted.long)} that take long (--full)" if wanted.quick and wanted.long else ""
        count = len(wanted.quick) or len(wanted.long)
        said.append(f"Not measured: {count} points{long}; --measure{full} measures them.")
    return said


def _as_json(compared: Compared) -> list[dict[str, Any]]:
    from ...lab.comparison.compare import LeftOut

    return [_left_out(item) if isinstance(item, LeftOut) else _comparison(item) for item in compared]


def _left_out(left_out: LeftOut) -> dict[str, Any]:
    return {**_published(left_out.figure), "compared": False, "reason": left_out.reason}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        **_published(comparison.figure),
        **attributes(comparison, "basis", "value", "verdict", "note"),
        "compared": True,
        "base": comparison.base or None,
        "twin": _side_as_json(comparison, comparison.twin),
        "ours": _side_as_json(comparison, comparison.ours),
    }


def _published(figure: Published) -> dict[str, Any]:
    from ...lab.comparison.compare import label

    return {
        **attributes(figure, "paper", "table", "row", "column", "metric", "operation", "printed"),
        **attributes(figure, "erratum", "technology", "source"),
        "machine": label(figure),
        "nbits": figure.nbits or None,
        "published": figure.amount,
        "corrected": figure.corrected is not None,
    }


def _side_as_json(comparison: Comparison, side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        **attributes(side, "name", "value", "stale"),
        "ratio": comparison.ratio(side),
        "marks": list(side.marks),
        "rows": [row.id for row in side.rows],
        "commands": [shlex.join(row.command) for row in side.rows]
        + [shlex.join(point.command) for point in side.missing],
        "missing": len(side.missing),
    }
