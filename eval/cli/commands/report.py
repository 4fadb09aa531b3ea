"""`modexlab report`: measure what the report lacks, and write the ledger as one HTML page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ...progress import Progress, duration
from ..arguments import (
    add_jobs,
    add_json,
    add_ledger,
    add_manifests,
    check_directory,
    find_design,
    interrupted,
    jobs_of,
    json_number,
    ledger_of,
    print_json,
    writing,
)

if TYPE_CHECKING:
    from ...lab.explore import Sweep
    from ...lab.ledger.ledger import Ledger
    from ...lab.point import Point
    from ...lab.space import Space
    from ...report.sections import Content
    from ...report.tables import Cell, Table

PAGE = "modexlab-report.html"
SPACE = "report"  # the ready-made space that is measured
FORMATS = ("png", "svg")
NBITS = 32  # of a design that the space does not have

SUMMARY = "measure what is missing and write the report, one HTML page"
TEXT = """\
First what the ready-made space `report` has and the ledger
has not is measured: cycles of all designs and systems at 32 bits, and some of them through the ASIC flow, some ten
minutes on two cores. Whatever ends it, the same command goes on from there; a second run measures nothing.
Then everything in the ledger, sweeps of your own with it, becomes one page that opens without a network, with
charts, filters, the papers' figures, and for every figure the command that makes it again.

Exit code 1 while a point of it stands failed, also from an earlier run (--retry tries those again), or if the closed
formulas and the simulation differ; 130 after Ctrl-C."""
EXAMPLES = """\
  modexlab report
  modexlab report mont-001 mont --cycles --text
  modexlab report mont --design cores/mine/design.toml
  modexlab report --no-measure -o sweep.html
  modexlab report --no-measure --markdown course-report
  modexlab report --no-measure --figures figures --format svg"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "designs",
        metavar="DESIGN",
        nargs="*",
        help="only these, alone and behind the processor (default: all)",
    )
    add_manifests(parser)
    measure = parser.add_argument_group("what is measured")
    measure.add_argument("--no-measure", action="store_true", help="nothing: show what the ledger has")
    measure.add_argument("--cycles", action="store_true", help="cycles alone: leave out the ASIC flow")
    measure.add_argument("--retry", action="store_true", help="try again what failed before")
    add_jobs(measure)
    add_ledger(measure)
    output = parser.add_argument_group("what is written")
    output.add_argument("--output", "-o", metavar="FILE", help=f"the page (default: {PAGE})")
    output.add_argument("--text", action="store_true", help="tables in the terminal, and no page without -o")
    output.add_argument("--markdown", metavar="DIR", help="Markdown with pictures, and no page without -o")
    output.add_argument("--figures", metavar="DIR", help="each chart as a file, and no page without -o")
    output.add_argument("--format", choices=FORMATS, help="of these files (default: png)")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    _check(args)
    ledger = ledger_of(args, read_only=args.no_measure)
    sweep = None if args.no_measure else _measure(args, ledger)
    if sweep is not None and sweep.interrupted:
        return interrupted(f"{len(sweep.measured)} of {sweep.search.count} points are in the ledger")
    from ...report.sections import gather

    with Progress("report", quiet=args.json) as progress:
        progress.describe("report: reading the ledger")
        content = gather(ledger, _asked(args), pictures=_wants_pictures(args))
        written = _write(args, content, progress)
    if args.json:
        print_json(_as_json(content, sweep, written))
    else:
        if args.text:
            from ...report.text import text

            print(text(content))
        for line in _ending(content, sweep, written):
            print(line)
    failed = sweep is not None and sweep.failed  # now, or before and not tried again: the report is not whole
    return 1 if failed or content.formulas[1] else 0


def _check(args: argparse.Namespace) -> None:
    """Refuse what cannot be, before anything is measured."""
    from ...designs.system_catalogue import HARDWARE, SOFTWARE, find_system

    for name in args.designs:
        if name.startswith((HARDWARE, SOFTWARE)):
            find_system(name)
        else:
            find_design(name)
    if args.no_measure:
        for option in ("cycles", "retry", "jobs"):
            if getattr(args, option):
                raise BadInput(f"--{option} with --no-measure: nothing is measured; drop one of them")
    if args.format is not None and args.figures is None:
        raise BadInput("--format without --figures: it is the format of those files; add --figures DIR")
    if args.text and args.json:
        raise BadInput("--text with --json: give one of them")
    if args.output is not None:
        check_directory("--output", args.output)
    elif _page(args):
        check_directory("--output", PAGE)
    for option in ("markdown", "figures"):
        given = getattr(args, option)
        if given is not None and (not given or (Path(given).exists() and not Path(given).is_dir())):
            raise BadInput(f"--{option} {given!r}: this is no directory; give one, as in --{option} report")


def _page(args: argparse.Namespace) -> str:
    """The HTML file, or "" if none is wanted."""
    if args.output is not None:
        return args.output
    other = args.text or args.json or args.markdown is not None or args.figures is not None
    return "" if other else PAGE


def _wants_pictures(args: argparse.Namespace) -> bool:
    return bool(_page(args)) or args.markdown is not None


# ---- measuring


def _measure(args: argparse.Namespace, ledger: Ledger) -> Sweep:
    """The points of the report that are not in the ledger."""
    from ...lab.explore import Sweep
    from ...lab.schedulers import Local
    from ...lab.search import Exhaustive
    from ...lab.space import Space

    space = Space.load(SPACE)
    points = chosen(space, args.designs, args.manifests, cycles=args.cycles)
    sweep = Sweep(space, ledger, Exhaustive(points), args.retry)
    return sweep.run(Local(jobs_of(args)), SPACE, quiet=args.json)


def chosen(
    space: Space, designs: Sequence[str], manifests: Sequence[str] = (), *, cycles: bool
) -> list[Point]:
    """The points of the space, or those of these designs, and those of designs by manifests."""
    from ...designs.catalogue import by_manifests
    from ...designs.system_catalogue import HARDWARE, SOFTWARE
    from ...designs.workload_names import DECRYPT, ENCRYPT, EXPONENTS
    from ...lab.stages import FORMULA, IMPLEMENTED, NATIVE

    points = list(space.points()) if designs or not manifests else []
    if designs:
        found: list[Point] = []
        for name in designs:
            own = [point for point in points if point.subject in (name, f"{HARDWARE}{name}")]
            stages = (NATIVE,) if name.startswith((HARDWARE, SOFTWARE)) else (FORMULA, NATIVE)
            works = [(stage, work) for stage in stages for work in (ENCRYPT, DECRYPT)]
            found += own or _points(name, NBITS, works)
        points = list(dict.fromkeys(found))
    works = [(NATIVE, work) for work in (ENCRYPT, DECRYPT, EXPONENTS)]
    for design in by_manifests(manifests):
        points += _points(design.reference, design.usual_nbits, works)
    return [point for point in points if not (cycles and point.stage in IMPLEMENTED)]


def _points(subject: str, nbits: int, works: Sequence[tuple[str, str]]) -> list[Point]:
    """A design with workloads at stages, and its netlist."""
    from ...lab.point import Point
    from ...lab.stages import FLOW

    counted = [Point(subject, nbits, workload=work, stage=stage) for stage, work in works]
    return [*counted, Point(subject, nbits, stage=FLOW)]


def _asked(args: argparse.Namespace) -> list[str]:
    """The names of the designs that are shown; none: all."""
    from ...designs.catalogue import by_manifests

    return [*args.designs, *(design.name for design in by_manifests(args.manifests))]


# ---- writing


def _write(args: argparse.Namespace, content: Content, progress: Progress) -> dict[str, str]:
    """Everything that was asked for; the paths by what they are."""
    written: dict[str, str] = {}
    if page := _page(args):
        from ...report.html import page as page_of

        progress.describe("report: writing the page")
        html = page_of(content)
        with writing(page) as write:
            write(html)
        written["page"] = str(Path(page).absolute())
    if args.markdown is not None:
        from ...report.markdown import write as write_markdown

        progress.describe("report: drawing charts")
        written["markdown"] = str(write_markdown(content, Path(args.markdown)).absolute())
    if args.figures is not None:
        from ...report.render_png import write_all

        progress.describe("report: drawing charts")
        paths = write_all(content, Path(args.figures), args.format or FORMATS[0])
        written |= {path.stem: str(path.absolute()) for path in paths}
    return written


def _ending(content: Content, sweep: Sweep | None, written: dict[str, str]) -> list[str]:
    """Return a summary and the paths, the page last."""
    lines = []
    if sweep is not None and (sweep.new or sweep.failed):
        failed = f", {len(sweep.failed)} failed" if sweep.failed else ""
        if any(item.earlier for item in sweep.failed.values()):
            failed += " (before; --retry tries again)"
        reused = len(sweep.measured) - sweep.new
        lines.append(
            f"measured {sweep.new} points in {duration(sweep.seconds)}, {reused} were in the ledger{failed}"
        )
    if content.empty and "page" in written:
        lines.append(f"the ledger {content.path} has no figures of these; the page says what to run")
    paths = [path for name, path in written.items() if name != "page"]
    return [*lines, *paths, *([written["page"]] if "page" in written else [])]


def _as_json(content: Content, sweep: Sweep | None, written: dict[str, str]) -> dict[str, Any]:
    points = None
    if sweep is not None:
        reused = len(sweep.measured) - sweep.new
        points = {"measured": sweep.new, "reused": reused, "failed": len(sweep.failed)}
    return {
        "ledger": str(content.path),
        "points": points,
        "written": written,
        "trust": [{"good": item.good, "text": item.text} for item in content.trust],
        "tables": [_table_json(table) for table in content.tables_in_order],
    }


def _table_json(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "columns": [{"head": column.head, "unit": column.unit} for column in table.columns],
        "lines": [
            {"group": line.group, **line.of, "cells": [_cell_json(cell) for cell in line.cells]}
            for line in table.lines
        ],
    }


def _cell_json(cell: Cell) -> dict[str, Any]:
    value = json_number(cell.value) if isinstance(cell.value, int) else cell.value
    made: dict[str, Any] = {"text": cell.text}
    if value is not None:
        made["value"] = value
    if cell.upper is not None:
        made["upper"] = cell.upper
    if cell.stale:
        made["stale"] = True
    if cell.row is not None:
        made["row"] = cell.row
    return made
