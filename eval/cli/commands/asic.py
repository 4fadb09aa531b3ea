"""Take a design through synthesis, timing, power and layout.

Runs synthesis, a proof of equivalence, static timing, the tests on the netlist and power; --layout adds
placement, clock tree, routing and GDS. Finished steps come from the cache, so an interrupted run resumes.

--fmax runs synthesis at one clock after another, from --clock on, on a grid of 0.05 ns, until a period is
missed; then all steps run at the shortest period that was met.

A complete run that passes its tests records its figures in the ledger, for the report and data sheets. Runs
with --to, --verilog or a kit.toml are not recorded, nor are runs that skip a step other than equivalence.

The exit code is 1 if the netlist fails a test or its proof or misses its clock, if the layout breaks a rule
of the kit, or if a requested step failed; 2 for bad input.

examples:
  modexlab asic mont
  modexlab asic mont --nbits 8 --layout
  modexlab asic mont --nbits 8 --interface unit --fmax --to timing
  modexlab asic mont-001 --set nstages=4 --clock 4 --to timing
  modexlab asic naive --system --json
  modexlab asic mont --nbits 16 --kit sky130hd --to power
  modexlab asic proc-montgomery --clock 3.2 --to power
  modexlab asic mont --nbits 8 --style optimised --fmax --layout --clock 2
  modexlab asic mont-keyed --set crt=true --set verify=true --to power
  modexlab asic --accelerator cores/mine/design.toml --nbits 32
  modexlab asic --verilog flow/examples/accumulator.v --top accumulator --clock-port clock -o products
"""

import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ....flow.files import replace_text
from ....flow.progress import Event, Report, Running
from ....flow.source import Source
from ....rtl.sim.cache import DIGESTS
from ...errors import NoMeasurement
from ...folders import new_directory
from ...json_values import attributes
from ...lab.flow_settings import (
    CORNER,
    EQUIVALENCE,
    FLOW_DEFAULTS,
    KIT,
    check_density,
    check_flow,
    optional_flow,
)
from ...lab.ledger.ledger import Ledger
from ...lab.point import Point
from ...lab.stages import FLOW, FPGA, LAYOUT
from ...progress import Progress
from ..arguments import given, refuse, warn_of
from ..laboratory import flow_of, flow_point, ledger_of, sigterm_as_ctrl_c
from ..options import HARDWARE, PRIVATE, VERILOG, Group, flag, option, real, repeated
from ..render import answer, warn

if TYPE_CHECKING:
    from ....flow.graph.figures import Summary
    from ....flow.graph.runner import FlowResult

SYNTHESIS = "synthesis"  # the first step that uses the clock
RESUME = "run the same command again; it continues from the steps that are done, which are in the cache"


OPTIONS = (
    "design (or a system, see `modexlab proc systems`)",
    "--accelerator",
    *HARDWARE,
    flag("--system", "with the processor, at its accelerator port"),
    Group(
        "Verilog from elsewhere instead of a design",
        (
            *VERILOG,
            option("--clock-port", "NAME", "its clock (default: clk)"),
            option("--vectors", "FILE", "requests and answers (docs/reference/flow.md)"),
        ),
    ),
    Group(
        "flow",
        (
            "--clock",
            option(
                "--style",
                "NAME",
                "plain, a script of Yosys and abc that leaves sums as they are written, or optimised, which "
                "rewrites arithmetic, for --flow goal=clock, area or fast (default: plain)",
                default="plain",
            ),
            "--kit",
            option(
                "--corner",
                "NAME",
                "slow, typical or fast for all figures (default: slow for setup, fast "
                "for hold, typical for power)",
            ),
            option("--to", "STEP", "run this step and those it needs; for times or power also timing"),
            repeated("--skip", "STEP", "skip this step, and those that need its files; may be repeated"),
            "--layout",
            option(
                "--density",
                "SHARE",
                "of the placement (default: that of the kit)",
                type=real(check_density, "0.7"),
            ),
            "--flow",
            flag(
                "--fmax",
                "search the highest clock, starting at --clock",
            ),
        ),
    ),
    "--output (a directory)",
    option("--export", "DIR", "write only the inputs of the flow to this directory"),
    "--ledger",
    "--json",
)


def execute(args: Namespace) -> int:
    stage = LAYOUT if args.layout else FLOW
    if args.export is not None:
        source_of(args, stage)[0].export(Path(args.export))
        return 0
    from ....flow.graph import graph, summary, summary_text  # not at the top: they need the extra [flow]
    from ....flow.kit import kit
    from ...lab.asic_run import run_asic

    wanted, partial = _wanted(args)
    chosen = args.kit or kit.DEFAULT.stem
    asked = kit.described(chosen, args.corner or "").constraints
    flow = {
        "clock_period": args.clock or asked.clock_ns,
        "density": args.density or asked.density,
        CORNER: args.corner or "",
        **attributes(args, "style", "fmax"),
    }
    own = flow_of(args, flow, "asic")
    parameters = check_flow(flow | own)
    _refuse_unused(args, own, graph.needed(wanted))
    library = kit.named(chosen)
    kit.find(library)  # BadInput if not installed
    if args.layout:
        _ = kit.described(chosen).geometry  # BadInput without layout
    source, point = source_of(args, stage)
    point = None if partial or chosen not in kit.NAMES else _recorded(args, point, wanted, parameters, chosen)
    if point is None and args.ledger is not None:
        raise BadInput(
            f"--ledger {args.ledger}: the figures of this run are not recorded, because it has --to, a "
            "kit.toml, --verilog or --skip; drop --ledger or these options"
        )
    ledger = ledger_of(args)
    if point is not None:
        ledger.check_writable()
    if args.output is not None:
        if Path(args.output).exists():
            new_directory("--output", args.output, force=True)  # BadInput if it is a file
        Path(args.output).mkdir(parents=True, exist_ok=True)  # before a long run
    start = time.monotonic()
    try:
        with sigterm_as_ctrl_c(), steps("flow", args.json) as progress:
            outcome, report = run_asic(wanted, source, parameters, progress, adk=library)
    except KeyboardInterrupt:
        print(f"Interrupted: {RESUME}", file=sys.stderr, flush=True)
        raise
    seconds = time.monotonic() - start
    report.products = {name: str(entry) for name, entry in outcome.entries.items()}
    if args.output is not None:
        _copy_products(outcome, report, Path(args.output))
    code = answer(args, report, summary_text.text(report), ok=summary.good(report, wanted))
    if point is not None:
        _record(ledger, point, asic_run=(wanted, outcome, report, seconds), quiet=args.json)
    return code


def _wanted(args: Namespace) -> tuple[list[str], bool]:
    """The steps to run, and whether --to selects only a part of the flow."""
    from ....flow.graph import graph
    from ...lab.asic_run import targets

    if args.to is not None:
        graph.declaration(args.to)  # BadInput if unknown
        if args.layout and args.to not in (*graph.WITH_LAYOUT, graph.LENIENT):
            raise BadInput(f"--layout with --to {args.to}: this step comes before; drop one of them")
    if args.to in (None, graph.LENIENT):
        return targets(layout=args.layout, skip=args.skip), False
    if args.fmax and SYNTHESIS not in graph.needed([args.to]):
        raise BadInput(
            f"--fmax with --to {args.to}: this step has no clock yet; give --to timing, or drop one of them"
        )
    refuse(args, ["skip"], " with --to: --to already selects the steps to run; drop one of them")
    return graph.with_judges(args.to), True


def _refuse_unused(args: Namespace, own: Collection[str], steps: Collection[str]) -> None:
    """BadInput for settings that no step of the run uses."""
    from ....flow.graph import graph

    def used(by: Collection[str]) -> set[str]:
        return {name for step in by for name in graph.declaration(step).parameters}

    known = used(steps)
    asked = {name: f"--flow {name}" for name in own}
    if args.density is not None:
        asked["density"] = "--density"
    for name, spelled in asked.items():
        if name not in known:
            wider = "add --layout, or " if args.to is None and name in used(graph.WITH_LAYOUT) else ""
            raise BadInput(f"{spelled}: no step of this run uses it; {wider}drop it")


def source_of(args: Namespace, stage: str) -> tuple[Source, Point | None]:
    """The design with its point, or Verilog from elsewhere, from the options of `asic` or of `asic
    --fpga`.
    """
    from ...lab.asic_run import verilog_files

    if given(args, "verilog"):
        why = " with --verilog: this is for designs of the catalogue; drop one of them"
        if args.design is not None:
            raise BadInput(f"DESIGN{why}")
        refuse(args, ("manifests", "nbits", "settings", "system", "interface", *PRIVATE), why)
        clock_port, vectors = getattr(args, "clock_port", None), getattr(args, "vectors", None)
        files = (args.verilog, args.top, clock_port or "clk", vectors, args.include or (), args.define or ())
        return verilog_files(*files), None
    refuse(
        args,
        ("top", "clock_port", "vectors", "include", "define"),
        " is for Verilog from elsewhere; add --verilog FILE",
    )
    point = flow_point(args, stage, system=getattr(args, "system", False))
    chip = point.chip()
    chip.check()
    if stage == FPGA:
        point.check()
        warn_of(point.machine)
    else:
        for note in filter(None, (chip.note, chip.limits)):
            warn(note)
    return chip, point


@contextmanager
def steps(label: str, quiet: bool) -> Iterator[Report]:
    """A callback for the events of steps, which prints a line on stderr for each that ran and ended."""
    running = Running()
    with Progress(label, quiet=quiet) as progress:

        def report(event: Event) -> None:
            message = event.message
            if running.take(event.step, event.state, message) and not quiet:
                said = f"  {'not done: ' if event.state == 'failed' else ''}{message}" if message else ""
                print(f"{event.step:<12} {event.seconds:6.1f} s{said}", file=sys.stderr, flush=True)
            progress.describe(str(running) or label)

        yield report


def _recorded(
    args: Namespace, point: Point | None, wanted: list[str], parameters: Mapping[str, Any], kit: str
) -> Point | None:
    """The point that this run measures; None for external Verilog or a partial run."""
    if point is None or set(args.skip) - {EQUIVALENCE}:
        return None
    known = {*FLOW_DEFAULTS[point.stage], *optional_flow(point.stage)}
    flow = {name: value for name, value in {**parameters, KIT: kit}.items() if name in known}
    return point.at(flow=(*flow.items(), (EQUIVALENCE, EQUIVALENCE in wanted)))


def _record(
    ledger: Ledger, point: Point, *, asic_run: "tuple[list[str], FlowResult, Summary, float]", quiet: bool
) -> None:
    """Write the figures to the ledger; warn if it rejects them."""
    from ...lab.asic_run import asic_measurement

    try:
        with ledger:
            number = ledger.record_first(point, asic_measurement(point, *asic_run))
    except (NoMeasurement, BadInput) as refused:  # the run is complete: a full disk must not hide its results
        warn(f"the figures are not in the ledger: {refused}")
        return
    if not quiet:
        said = "had these figures already" if number is None else f"has these figures as measurement {number}"
        print(f"the ledger {ledger.path} {said}", file=sys.stderr)


def _copy_products(outcome: "FlowResult", report: "Summary", directory: Path) -> None:
    """Copy the products of each step to a folder of its own, and write the summary next to them."""
    from ....flow.graph import summary_text

    ignore = shutil.ignore_patterns(DIGESTS)
    report.products = {
        name: str(shutil.copytree(entry, directory / name, ignore=ignore, dirs_exist_ok=True))
        for name, entry in outcome.entries.items()
    }
    report.write(directory)
    replace_text(directory / "summary.txt", summary_text.text(report) + "\n")
