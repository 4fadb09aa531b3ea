"""Compare the papers' figures with ours.

Each published figure is shown next to its twin (the paper's machine, rebuilt) and next to a machine of ours
that does the same work, from the store or else from the reference results of modexlab. --measure measures
the missing and the stale ones, as `modexlab sweep` does: after Ctrl-C the same command continues. x is ours
divided by the published figure. The verdict limits the comparison:

  cycles      comparable directly, since the work is the same
  area,       comparable for paper 001 only: the same standard cells, but other tools
  energy
  FPGA        the same device family, counted before packing; if tools or units differ, only ratios compare:
              the published figure over that of the paper's base machine, ours over that of its twin

Marked figures (a missed clock, for one) and figures that do not compare are left out, with the reason.

`compare cores` compares the cost of a product and of a private operation at 32 to 2,048 bits. Our machines,
the rebuilt ones of the papers and your own (--accelerator PATH) went through one flow with one library, each
at a requested clock that it met, or at the clock that a search found (`modexlab asic --fmax`); published
figures follow, with their technology. Points that are not measured yet have cycles by formula. --measure
measures them: first the cores whose clock the reference results list, by one synthesis each, then the others
by searches; --full adds machines and searches at 1,024 bits and more. Ctrl-C, or SIGTERM from `timeout`,
prints the table so far. Name designs of the catalogue to see only these. --no-search skips the searches,
which takes half as long. --pick names one machine for each width: within an area limit the one with the
fastest private operation, within a time limit the smallest. The answer names the result or the model that it
comes from. --interface, --crt, --blind, --verify and --constant-time select the machines. --kit compares with
another cell library, --kit all lists the measured cores of every library.

examples:
  modexlab compare cores --nbits 32
  modexlab compare cores --pick 20000um2
  modexlab compare cores --pick 1mm2 --interface axi4lite --crt --blind both --verify --constant-time
  modexlab compare paper-003 --measure
  modexlab compare > comparison.txt
  modexlab compare paper-003 paper-002 --markdown
  modexlab compare paper-001 --table RTL --measure --json
  modexlab compare cores --nbits 32 --latex
  modexlab compare cores mont --nbits 8 --measure --json
  modexlab compare cores heap --nbits 32 --measure --no-search
  modexlab compare cores --kit all --nbits 16
"""

import shlex
import textwrap
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from ....fl.errors import BadInput, unknown
from ...designs.interfaces import INTERFACES, UNIT
from ...grouping import grouped
from ...json_values import attributes
from ...lab.comparison.compare import NOTES, Comparison, LeftOut, Side, compare, label, missing
from ...lab.point import Point
from ...lab.space import Space
from ...lab.store.rows import Row
from ...lab.store.snapshot import Snapshot
from ...lab.store.store import Store
from ...papers.published import NUMBERS, Published, paper
from ...papers.published import Table as PaperTable
from ...table import cell, markdown_table, table
from ..arguments import refuse
from ..laboratory import store_of, swept
from ..options import PRIVATE, Group, flag, option, shared
from ..render import LATEX, MARKDOWN, Block, Json, answer, interrupted, output_form, warn
from . import compare_cores
from .compare_cores import LINE, wrapped

PREFIX = "paper-"
PAPERS = tuple(f"{PREFIX}{number}" for number in NUMBERS)
WORDS = (*PAPERS, compare_cores.WORD)
BITS, TWIN = 1, 4  # columns
STALE_MARK = "!"
HEAD = ("machine", "bits", "figure", "published", "twin", "x", "ours", "x", "verdict")
CORES_ALONE = f"give `modexlab compare {compare_cores.WORD}`"

Compared = Sequence[Comparison | LeftOut]
T = TypeVar("T")
OPTIONS = (
    option(
        "papers",
        "PAPER",
        f"{', '.join(PAPERS)} (default: all five); or {compare_cores.WORD}, then perhaps designs",
        nargs="*",
    ),
    "--table",
    shared("--nbits", "only these widths; may be repeated", action="append"),
    option(
        "--pick",
        "LIMIT",
        f"with {compare_cores.WORD}: the best machine within an area or a time, such as 20000um2 or 5us",
    ),
    shared("--accelerator", "here only manifests of RSA cores"),
    Group(
        f"which machines, with {compare_cores.WORD}",
        (
            shared(
                "--interface",
                "default: bare streams, and multipliers alone",
                choices=(*INTERFACES, UNIT),
                default=None,
            ),
            *PRIVATE,
            flag("--constant-time", "only those that promise constant time"),
        ),
    ),
    flag("--measure", "measure the missing points, and write them to the store"),
    "--full (with --measure: wide machines, routing)",
    flag("--own", "without the reference results of modexlab"),
    flag("--no-search", f"with {compare_cores.WORD} --measure: use known clocks where there are any"),
    "--retry",
    "--jobs",
    "--store",
    shared("--kit", f"with {compare_cores.WORD}; {compare_cores.ALL}: the measured cores of every kit"),
    flag("--markdown", "print tables in Markdown"),
    flag("--latex", f"with {compare_cores.WORD}: print tables for LaTeX (booktabs, graphicx)"),
    "--json",
)


def execute(args: Namespace) -> int:
    if not args.measure:
        refuse(
            args,
            ("full", "retry", "jobs", "no_search"),
            " without --measure: nothing is measured; add --measure",
        )
    forms = [name for name in ("json", MARKDOWN, LATEX) if getattr(args, name)]
    if len(forms) > 1:
        raise BadInput(f"--{forms[0]} with --{forms[1]}: give one of them")
    if args.papers[:1] == [compare_cores.WORD]:
        return compare_cores.execute(args, _answer)
    refuse(args, ["kit"], f": papers are compared with the default kit; {CORES_ALONE}")
    refuse(args, [LATEX], f": tables of papers have no LaTeX form; {CORES_ALONE}")
    refuse(args, ["pick"], f": papers have no machines to choose from; {CORES_ALONE}")
    refuse(
        args,
        ("interface", *PRIVATE, "constant_time"),
        f": papers are compared with the machines that they describe; {CORES_ALONE}",
    )
    refuse(args, ["no_search"], f": papers have no clock that is searched; {CORES_ALONE}")
    if args.manifests:
        raise BadInput(
            f"--accelerator {args.manifests[0]}: papers are not compared with your designs; {CORES_ALONE}"
        )
    figures = _figures(args)

    def look(results: Snapshot) -> Compared:
        compared = compare(figures, results)
        sides = _sides(compared)
        if not args.measure and sides and all(side.row is None for side in sides):
            raise BadInput(
                f"no counterpart of these figures has been measured yet ({results.path}); add --measure"
            )
        return compared

    def to_measure(compared: Compared) -> list[Point]:
        wanted = missing(compared)
        return wanted.quick + (wanted.long if args.full else [])

    return _answer(args, look, to_measure, _as_json, lambda compared: _blocks(compared, args.markdown))


def _answer(
    args: Namespace,
    look: Callable[[Snapshot], T],
    missing: Callable[[T], list[Point]],
    as_json: Callable[[T], Any],
    blocks: Callable[[T], Iterator[Block]],
) -> int:
    """Print the comparison that `look` finds in the store, after measuring missing points with --measure."""
    with store_of(args, read_only=not args.measure, reference=not args.own) as store:
        compared, code = look(Snapshot(store)), 0
        if args.measure:
            code = _measure(missing(compared), store, args)
            compared = look(Snapshot(store))
    answer(args, as_json(compared), *blocks(compared), form=output_form(args))
    return code


def _figures(args: Namespace) -> list[Published]:
    """The requested figures."""
    numbers: dict[str, None] = {}
    for name in args.papers or PAPERS:
        if name == compare_cores.WORD:
            raise BadInput(f"{name} with {args.papers[0]}: {CORES_ALONE}")
        number = name.removeprefix(PREFIX)
        if number not in NUMBERS:
            raise BadInput(f"{unknown('paper', name, WORDS)}; without a name all papers are compared")
        numbers[number] = None
    if args.table and len(numbers) > 1:
        raise BadInput(
            f"--table {args.table[0]} of which paper? name one, as in `modexlab compare paper-001 --table 1`"
        )
    found: list[Published] = []
    for asked in map(paper, numbers):
        for printed in map(asked.table, args.table) if args.table else asked.tables:
            found += printed.figures()
    if args.nbits:
        widths = sorted({figure.nbits for figure in found if figure.nbits})
        found = [figure for figure in found if figure.nbits in args.nbits]
        if not found:
            wanted, there = " ".join(map(str, args.nbits)), ", ".join(map(str, widths)) or "none"
            raise BadInput(f"no figure of --nbits {wanted}; the widths there are {there}")
    return found


def _sides(compared: Compared) -> list[Side]:
    return [side for item in compared if isinstance(item, Comparison) for side in item.sides]


# ---- measuring


def _measure(points: list[Point], store: Store, args: Namespace) -> int:
    """Measure the missing points, some of which may fail; return the exit code."""
    if not points:
        return 0
    space = Space("comparison", "", objectives={}, constraints=(), parts=())  # points without fronts
    sweep = swept(args, space, points, store, "compare")
    if sweep.failed:
        before = any(failed.earlier for failed in sweep.failed.values())
        warn(
            f"{len(sweep.failed)} of {len(points)} points could not be measured; `modexlab store "
            f"--failures` shows them{'; --retry tries them again' if before else ''}"
        )
    if sweep.interrupted:
        return interrupted(f"{len(sweep.measured)} of {len(points)} points are in the store")
    return 1 if sweep.failed else 0


# ---- output


def _blocks(compared: Compared, markdown: bool) -> Iterator[Block]:
    """Papers with their tables, the figures left out, and notes."""
    for number, of_paper in grouped(compared, attrgetter("figure.paper")).items():
        yield f"{'## ' if markdown else ''}Paper {number}: {paper(number).title}"
        for name, of_table in grouped(of_paper, attrgetter("figure.table")).items():
            if found := [item for item in of_table if isinstance(item, Comparison)]:
                yield _verdicts(paper(number).table(name), found, markdown)
        lines = ["Left out, with the tables:\n"]
        left_out = [item for item in of_paper if isinstance(item, LeftOut)]
        for reason, items in grouped(left_out, attrgetter("reason")).items():
            tables = ", ".join(dict.fromkeys(item.figure.table for item in items))
            lines.append(f"- {len(items)}: {reason} ({tables})")
        if left_out:
            yield "\n".join(lines)
        for text in _lacking(item for item in of_paper if isinstance(item, Comparison)):
            yield wrapped(text, markdown)
        yield wrapped(NOTES[number], markdown)
    yield from (wrapped(text, markdown) for text in _ending(compared))


def _lacking(found: Iterable[Comparison]) -> Iterator[str]:
    """Why machines of ours cannot exist, or could not be measured."""
    reasons: dict[str, dict[str, None]] = {}
    for item in found:
        for name, why in item.impossible:
            reasons.setdefault(f" of {item.figure.nbits:,} bits: {why}.", {})[name] = None
        for side in item.sides:
            if side.failure:
                why = side.failure.removeprefix(f"{side.point}: ")
                reasons[f"{side.point}, could not be measured (--retry tries again): {why}."] = {}
    for why, names in reasons.items():
        yield f"There is no {', '.join(names)}{why}" if names else why


def _verdicts(of: PaperTable, found: Sequence[Comparison], markdown: bool) -> str:
    """One table of the paper."""
    dropped = () if any(figure.twin for figure in found) else (TWIN, TWIN + 1)
    title = f"{f'{of.kind} {of.number}' if of.kind != 'Text' else 'In the text'}. {of.caption}"
    if len(widths := {figure.figure.nbits for figure in found}) == 1 and not markdown:
        dropped, title = (BITS, *dropped), f"{title} ({widths.pop()} bits)"
    head, *rows = [
        [value for at, value in enumerate(row) if at not in dropped] for row in (HEAD, *map(_cells, found))
    ]
    if markdown:
        return "\n".join([f"### {title}\n", *markdown_table(head, rows)])
    # a verdict that does not fit into its column goes below the row
    lines = [wrapped(title)]
    left = table(head[:-1], [row[:-1] for row in rows]).splitlines()
    verdicts = [head[-1], "-" * len(head[-1]), *(row[-1] for row in rows)]
    for line, verdict in zip(left, verdicts, strict=True):
        whole = f"{line:<{len(left[1])}}  {verdict}"
        below = textwrap.indent(textwrap.fill(verdict, LINE - 4), "    ")
        lines.append(whole if len(whole) <= LINE else f"{line}\n{below}")
    return "\n".join(lines)


def _cells(comparison: Comparison) -> list[Any]:
    figure, value = comparison.figure, comparison.value
    what = " ".join(filter(None, (figure.metric, figure.operation)))
    if comparison.base:
        what, published = f"{what} / {comparison.base}", _short(value)
    else:  # 3.0 ms in a paper is a whole number of nanoseconds
        published = cell(int(value) if float(value).is_integer() and abs(value) < 1e15 else value)
    return [
        label(figure),
        figure.nbits,
        what,
        published + ("*" if figure.corrected is not None else ""),
        *_side(comparison, comparison.twin),
        *_side(comparison, comparison.ours),
        comparison.verdict,
    ]


def _side(comparison: Comparison, side: Side | None) -> list[str]:
    """Our figure with the machine's name, and how it compares."""
    if side is None:
        return ["-", "-"]
    ratio = comparison.ratio(side)
    value = "-" if side.value is None else _short(side.value)
    marks = ""
    if side.value is not None:
        marks = STALE_MARK * side.stale + compare_cores.DOUBT_MARK * bool(side.unverified)
    return [f"{value} {side.name}{marks}", "-" if ratio is None else f"{ratio:.3g}"]


def _short(value: float) -> str:
    """A figure in a narrow column: whole, or with four digits."""
    return str(value) if isinstance(value, int) else f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def _ending(compared: Compared) -> Iterator[str]:
    found = [item for item in compared if isinstance(item, Comparison)]
    if found:
        yield "x: our figure divided by the published one."
    if any(figure.figure.corrected is not None for figure in found):
        yield "*: corrected; the paper contradicts itself there (`--json` has the reason)."
    if any(side.stale and side.value is not None for side in _sides(found)):
        yield compare_cores.STALE
    reasons = (why for side in _sides(found) if side.value is not None for why in side.unverified)
    yield from compare_cores.doubts(reasons)
    left = missing(compared, stale=False, failed=False)
    quick, long = len(left.quick), len(left.long)
    if quick or long:
        full = " --full" if not quick else ""
        more = f", and {long} that take long (--full)" if quick and long else ""
        yield f"Not measured: {quick or long} points{more}; --measure{full} measures them."


def _as_json(compared: Compared) -> list[Json]:
    reports = []
    for item in compared:
        figure = item.figure
        report = {
            **attributes(
                figure,
                "paper",
                "table",
                "row",
                "column",
                "metric",
                "operation",
                "printed",
                "erratum",
                "technology",
                "source",
            ),
            "machine": label(figure),
            "nbits": figure.nbits or None,
            "published": figure.amount,
            "corrected": figure.corrected is not None,
            "compared": isinstance(item, Comparison),
        }
        if isinstance(item, LeftOut):
            report["reason"] = item.reason
        else:
            report |= {
                **attributes(item, "basis", "value", "verdict", "note"),
                "base": item.base or None,
                "impossible": dict(item.impossible),
                "twin": item.twin and _side_as_json(item, item.twin),
                "ours": item.ours and _side_as_json(item, item.ours),
            }
        reports.append(report)
    return reports


def _command(item: Row | Point) -> str:
    return shlex.join(item.command)


def _side_as_json(comparison: Comparison, side: Side) -> Json:
    return {
        **attributes(side, "name", "value", "stale", "reference", "marks", "failure"),
        "ratio": comparison.ratio(side),
        "rows": [row.id for row in side.rows],
        "commands": [*map(_command, side.rows), *map(_command, side.missing)],
        "missing": len(side.missing),
    }
