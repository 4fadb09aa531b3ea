"""Measure what is missing and write the report, one HTML page.

Measures the points of the ready-made space `report` that neither the store nor the reference results of
modexlab have: cycles of all designs and systems at 32 bits, and some of them through the ASIC flow (about ten
minutes on two cores for all of them). An interrupted run continues with the same command; a second run
measures nothing. The page shows both, your own sweeps included, with charts, filters, the papers' figures,
and the command behind every figure. It opens without a network.

Points of the processor are left out if the RISC-V compiler is missing. The exit code is 1 if a point failed,
in this run or before (--retry tries these again), or if the closed formulas and the simulation differ, and
130 after Ctrl-C.

examples:
  modexlab report
  modexlab report mont-001 mont --cycles --text
  modexlab report mont --accelerator cores/mine/design.toml
  modexlab report mont-keyed --crt --blind both
  modexlab report --no-measure -o sweep.html
  modexlab report --no-measure --pdf
  modexlab report --no-measure --pages course-report
  modexlab report --no-measure --figures figures --format svg
"""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ....fl.errors import BadInput
from ....proc.software.compiler import compiler
from ...browser import browser, print_pdf
from ...designs.catalogue import by_manifests, find
from ...designs.foreign.foreign import ForeignDesign
from ...designs.protection import ANY, Requested
from ...designs.system_catalogue import HARDWARE, SOFTWARE, find_system
from ...designs.workload_names import DECRYPT, ENCRYPT, EXPONENTS
from ...folders import check_file, write_file
from ...json_values import attributes, json_value
from ...lab.comparison.cores import Selection
from ...lab.flow_settings import KIT
from ...lab.point import Point
from ...lab.space import Space
from ...lab.stages import FLOW, FORMULA, IMPLEMENTED, NATIVE, NETLIST
from ...lab.store.reference import Reference
from ...lab.store.snapshot import Snapshot
from ...lab.store.store import Store
from ...lab.sweep import Sweep, read
from ...progress import Progress, duration
from ...report.markdown import write as write_markdown
from ...report.render_png import WIDTHS, write_all
from ...report.sections import Content
from ...report.tables import Cell
from ...report.text import text
from ..arguments import refuse, requested_of
from ..laboratory import kit_of, store_of, swept
from ..options import PRIVATE, Group, choice, flag, option, shared
from ..render import Json, answer, interrupted

PAGE = "modexlab-report.html"
SPACE = "report"  # the ready-made space that is measured
FORMATS = ("png", "svg", "pdf")
NBITS = 32  # of a design that is not in the space


OPTIONS = (
    option("designs", "DESIGN", "only these, alone and behind the processor (default: all)", nargs="*"),
    shared("--accelerator", "here only manifests of RSA cores"),
    shared("--kit", "netlists and layouts with this library; one section compares all"),
    *PRIVATE,
    Group(
        "measurements",
        (
            flag("--no-measure", "measure nothing: show what the store has"),
            flag("--cycles", "measure only cycles, without the ASIC flow"),
            flag("--own", "without the reference results of modexlab"),
            "--retry",
            "--jobs",
            "--store",
        ),
    ),
    Group(
        "output",
        (
            f"--output (the page; default: {PAGE})",
            flag("--pdf", "print the page to a PDF next to it, by a headless Chromium"),
            flag("--text", "print tables, and write no page without -o"),
            option("--pages", "DIR", "write Markdown pages with pictures, and no page without -o"),
            option(
                "--figures",
                "DIR",
                "write a file for each chart, its data as CSV and its provenance as JSON, and no page "
                "without -o",
            ),
            shared("--format", f"with --figures; default: {FORMATS[0]}", choices=FORMATS),
            choice(
                "--columns",
                WIDTHS,
                "width of the figures in columns of a journal: 1 (3.5 in) or 2 (7.16 in) (with --figures; "
                "default: 2)",
                type=int,
            ),
        ),
    ),
    "--json",
)


class Asked(NamedTuple):
    """The designs, the library and the protections of a report."""

    subjects: Sequence[str] = ()  # designs of the catalogue and systems; none: all
    cores: Sequence[ForeignDesign] = ()  # of manifests
    kit: str = ""
    requested: Requested = ANY

    @property
    def names(self) -> list[str]:
        return [*self.subjects, *(core.name for core in self.cores)]


def execute(args: Namespace) -> int:
    asked = _asked(args)
    store, sweep = store_of(args, read_only=args.no_measure, reference=not args.own), None
    left_out = ""
    if not args.no_measure:  # the points of the report that are not in the store
        space = Space.load(SPACE).protected(asked.requested)
        points = chosen(space, asked, cycles=args.cycles)
        if not args.own:
            reference = Reference()
            points = [point for point in points if not reference.has(point)]
        points, left_out = _measurable(points, store)
        sweep = swept(args, space, points, store, SPACE)
        if sweep.interrupted:
            return interrupted(f"{len(sweep.measured)} of {sweep.search.count} points are in the store")
    with Progress("report", quiet=args.json) as progress:
        progress.describe("report: reading the store")
        results, selection = Snapshot(store), Selection(requested=asked.requested)
        pictures = bool(_page(args)) or args.pages is not None
        content = Content(results, asked.names, pictures=pictures, kit=asked.kit, selection=selection)
        written = _write(args, asked, content, progress)
    ending = "\n".join(_ending(content, sweep, left_out, written))
    shown = f"{text(content)}\n{ending}".rstrip("\n") if args.text else ending
    # failed now, or before and not tried again: the report is incomplete
    whole = not (sweep and sweep.failed) and not content.formulas[1]
    return answer(args, _as_json(content, sweep, left_out, written), shown, ok=whole)


def _asked(args: Namespace) -> Asked:
    """The request; BadInput for impossible options, before anything is measured."""
    requested = requested_of(args)
    for name in args.designs:
        design = find_system(name).design if name.startswith((HARDWARE, SOFTWARE)) else find(name)
        if design is not None:
            requested.require(design)
    if args.manifests:
        refuse(args, PRIVATE, " with --accelerator: the core of a manifest has no program; drop one of them")
    if args.no_measure:
        refuse(args, ("cycles", "retry", "jobs"), " with --no-measure: nothing is measured; drop one of them")
    if args.figures is None:
        refuse(args, ("format", "columns"), " without --figures: it is for those files; add --figures DIR")
    if args.text and args.json:
        raise BadInput("--text with --json: give one of them")
    if args.pdf:
        browser()
    if Path(_page(args)).suffix == ".pdf":
        raise BadInput(
            f"--output {args.output}: it names the page; give a name such as report.html, and --pdf"
        )
    if args.output is not None or _page(args):
        check_file("--output", args.output if args.output is not None else PAGE)
    for name in ("pages", "figures"):
        given = getattr(args, name)
        if given is not None and (not given or (Path(given).exists() and not Path(given).is_dir())):
            raise BadInput(f"--{name} {given!r}: this is not a directory; give one, as in --{name} report")
    return Asked(args.designs, by_manifests(args.manifests), kit_of(args), requested)


def _page(args: Namespace) -> str:
    """The HTML file, or "" if none is wanted."""
    if args.output is not None:
        return args.output
    other = args.text or args.json or args.pages is not None or args.figures is not None
    return "" if other and not args.pdf else PAGE


# ---- measuring


def chosen(space: Space, asked: Asked, *, cycles: bool) -> list[Point]:
    """The points of the space, or those of the requested designs, with the requested library; only machines
    with the requested protections.
    """
    everything = list(space.points()) if asked.subjects or not asked.cores else []
    points = dict.fromkeys([] if asked.subjects else everything)
    operations = (DECRYPT,) if asked.requested.any else (ENCRYPT, DECRYPT)
    for name in asked.subjects:
        own = [point for point in everything if point.subject in (name, f"{HARDWARE}{name}")]
        stages = (NATIVE,) if name.startswith((HARDWARE, SOFTWARE)) else (FORMULA, NATIVE)
        works = [(stage, work) for stage in stages for work in operations]
        points |= dict.fromkeys(own or _points(name, NBITS, works, asked.requested))
    works = [(NATIVE, work) for work in (ENCRYPT, DECRYPT, EXPONENTS)]
    for core in asked.cores:
        points |= dict.fromkeys(_points(core.reference, core.usual_nbits, works))
    return [
        _with_kit(point, asked.kit)
        for point in points
        if not (cycles and point.stage in IMPLEMENTED)
        and asked.requested.selects(point.design, point.nbits, point.resolved)
    ]


def _measurable(points: list[Point], store: Store) -> tuple[list[Point], str]:
    """The points without those that need the RISC-V compiler if it is missing, and a message about these."""
    try:
        compiler()
    except BadInput as error:
        systems = {point.key: point for point in points if point.kind is not None}
        for measured in read(store, systems):
            del systems[measured.point.key]
        kept = [point for point in points if point.key not in systems]
        return kept, f"points of the processor left out: {len(systems)}; {error}" if systems else ""
    return points, ""


def _points(
    subject: str, nbits: int, works: Sequence[tuple[str, str]], requested: Requested = ANY
) -> list[Point]:
    """A design's workloads at stages, and its netlist."""
    bare = Point(subject, nbits, stage=FLOW)
    settings = requested.settings(bare.design, nbits, {}) if requested.any else {}
    chosen = tuple(settings.items())
    counted = [Point(subject, nbits, chosen, workload=work, stage=stage) for stage, work in works]
    return [*counted, bare.at(settings=chosen)]


def _with_kit(point: Point, kit: str) -> Point:
    """A point of the flow with this kit, at its default clock."""
    if not kit or point.stage not in NETLIST:
        return point
    flow = {name: value for name, value in point.flow if name != "clock_period"}
    return point.at(flow=tuple({**flow, KIT: kit}.items()))


# ---- writing


def _write(args: Namespace, asked: Asked, content: Content, progress: Progress) -> dict[str, str]:
    """Write all requested files; return their paths by kind."""
    written = {}
    if page := _page(args):
        from ...report.html import page as page_of  # not at the top: it needs the extra [report]

        progress.describe("report: writing the page")
        write_file(page, page_of(content))
        written["page"] = str(Path(page).absolute())
        if args.pdf:
            progress.describe("report: printing the page")
            written["pdf"] = str(print_pdf(Path(page)).absolute())
    if args.pages is not None:
        progress.describe("report: drawing charts")
        written["markdown"] = str(write_markdown(content, Path(args.pages)).absolute())
    if args.figures is not None:
        progress.describe("report: drawing charts")
        format, columns = args.format or FORMATS[0], args.columns or max(WIDTHS)
        command = _drawing(args, asked, format, columns)
        paths = write_all(content, Path(args.figures), format, columns, command)
        written |= {path.stem: str(path.absolute()) for path in paths}
    return written


def _drawing(args: Namespace, asked: Asked, format: str, columns: int) -> list[str]:
    """The command that draws the same figures of the same store."""
    given = {"--store": args.store, "--kit": args.kit, "--figures": args.figures, "--format": format}
    options = [part for name, value in given.items() if value is not None for part in (name, value)]
    own = [
        *(["--own"] if args.own else []),
        *asked.requested.options,
        *(f"--accelerator={path}" for path in args.manifests),
    ]
    return ["modexlab", "report", *asked.subjects, "--no-measure", *own, *options, "--columns", str(columns)]


def _ending(content: Content, sweep: Sweep | None, left_out: str, written: dict[str, str]) -> Iterator[str]:
    """A summary and the paths, the page last."""
    if sweep is not None and (sweep.new or sweep.failed):
        failed = f", {len(sweep.failed)} failed" if sweep.failed else ""
        if any(item.earlier for item in sweep.failed.values()):
            failed += " (before; --retry tries again)"
        reused = f"{sweep.reused} were in the store"
        yield f"measured {sweep.new} points in {duration(sweep.seconds)}, {reused}{failed}"
    if left_out:
        yield left_out
    if content.empty:
        more = "; the page says what to run" if "page" in written else ""
        yield f"the store {content.path} has no figures of these{more}"
    yield from sorted(written.values(), key=lambda path: path == written.get("page"))


def _as_json(content: Content, sweep: Sweep | None, left_out: str, written: dict[str, str]) -> Json:
    return {
        "store": str(content.path),
        "points": sweep and {"measured": sweep.new, "reused": sweep.reused, "failed": len(sweep.failed)},
        "left_out": left_out,
        "written": written,
        "trust": [attributes(item, "good", "text") for item in content.trust],
        "tables": [
            {
                **attributes(table, "name", "title"),
                "columns": [attributes(column, "head", "unit") for column in table.columns],
                "lines": [
                    {"group": line.group, **line.of, "cells": [_cell_json(cell) for cell in line.cells]}
                    for line in table.lines
                ],
            }
            for table in content.tables_in_order
        ],
    }


def _cell_json(cell: Cell) -> Json:
    optional = {"value": json_value(cell.value), **attributes(cell, "upper", "row")}
    found = {name: value for name, value in optional.items() if value is not None}
    return {"text": cell.text, **found, **({"stale": True} if cell.stale else {})}
