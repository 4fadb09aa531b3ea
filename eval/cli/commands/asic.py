"""Take a design through synthesis, timing, power and layout.

Runs synthesis, a proof of equivalence, static timing, the tests on the netlist and power; --layout adds
placement, clock tree, routing and GDS. Finished steps come from the cache, so an interrupted run resumes.
--fmax runs synthesis at one clock after another, from --clock on, on a grid of 0.05 ns, until a period is
missed; then all steps run at the shortest period that was met.

A complete run that passes its tests records its figures in the store, for the report and data sheets. Runs
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
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from ....fl.errors import BadInput
from ....flow.files import replace_text
from ....flow.graph import graph
from ....rtl.sim.cache import DIGESTS
from ...errors import NoMeasurement
from ...folders import new_directory
from ...lab.flow_settings import CORNER, EQUIVALENCE, KIT
from ...lab.stages import FLOW, LAYOUT
from ...lab.store.store import Store
from ...progress import step_progress
from ..arguments import ACCELERATORS, SUBJECT, flow_of, refuse, source_of
from ..laboratory import sigterm_as_ctrl_c
from ..options import HARDWARE, VERILOG, Group, flag, option, parameter, repeated, shared
from ..render import answer, warn

if TYPE_CHECKING:
    from ....flow.graph.figures import Summary
    from ....flow.graph.runner import FlowResult

SYNTHESIS = "synthesis"  # the first step that uses the clock
RESUME = "run the same command again; it continues from the steps that are done, which are in the cache"


def _directory(path: str) -> Path:
    """The directory for the products; BadInput if it is a file."""
    return new_directory("--output", path, force=True) if Path(path).exists() else Path(path)


OPTIONS = (
    SUBJECT,
    ACCELERATORS,
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
            parameter("--style", "NAME", default=graph.defaults()["style"]),
            "--kit",
            parameter("--corner", "NAME", "that of each figure"),
            option("--to", "STEP", "run this step and those it needs; for times or power also timing"),
            repeated("--skip", "STEP", "skip this step, and those that need its files; may be repeated"),
            "--layout",
            parameter("--density", "SHARE", "that of the kit"),
            "--flow",
            flag(
                "--fmax",
                "search the highest clock, starting at --clock",
            ),
        ),
    ),
    shared("--output", "a directory", convert=_directory),
    option("--export", "DIR", "write only the inputs of the flow to this directory"),
    "--store",
    "--json",
)


def execute(args: Namespace) -> int:
    given = LAYOUT if args.layout else FLOW, args.system, args.clock_port, args.vectors
    if args.export is not None:
        files = source_of(args, *given)[0].export(Path(args.export))
        print(f"{args.export}: {', '.join(files)}")
        return 0
    from ....flow.graph import summary, summary_text  # not at the top: they need the extra [flow]
    from ...lab import asic_run

    own = {"clock_period": args.clock, "density": args.density, CORNER: args.corner, KIT: args.kit}
    flow = flow_of(args, {**own, "style": args.style, "fmax": args.fmax}, "asic")
    steps = _steps(args)
    parameters, library = asic_run.settings(flow, layout=args.layout)
    _refuse_unused(args, graph.needed(steps))
    source, point = source_of(args, *given)
    if point is None or not _complete(args):
        point = None
        refuse(
            args,
            ["store"],
            f" {args.store}: the figures of this run are not recorded, because it has --to, a kit.toml, "
            "--verilog or --skip; drop --store or these options",
        )
    else:
        point = point.at(flow=(*flow.items(), (EQUIVALENCE, EQUIVALENCE in steps)))
    store = Store(args.store)
    if point is not None:
        store.check_writable()
    if args.output is not None:
        args.output.mkdir(parents=True, exist_ok=True)  # before a long run
    start = time.monotonic()
    try:
        with sigterm_as_ctrl_c(), step_progress("flow", args.json) as progress:
            outcome, report = asic_run.run_asic(steps, source, parameters, progress, adk=library)
    except KeyboardInterrupt:
        print(f"Interrupted: {RESUME}", file=sys.stderr, flush=True)
        raise
    seconds = time.monotonic() - start
    report.products = {name: str(entry) for name, entry in outcome.entries.items()}
    if args.output is not None:
        _copy_products(outcome, report, args.output)
    code = answer(args, report, summary_text.text(report), ok=summary.good(report, steps))
    if point is not None:
        try:
            measurement = asic_run.asic_measurement(point, steps, outcome, report, seconds)
            (number,) = store.add([store.measured(point, measurement)], first=True)
        except (NoMeasurement, BadInput) as refused:  # a full disk must not hide the results of the run
            warn(f"the figures are not in the store: {refused}")
            return code
        said = f"has these figures as measurement {number}" if number else "had these figures already"
        if not args.json:
            print(f"the store {store.path} {said}", file=sys.stderr)
    return code


def _steps(args: Namespace) -> list[str]:
    """The steps to run."""
    from ...lab.asic_run import targets

    if args.to in (None, graph.LENIENT):
        return targets(layout=args.layout, skip=args.skip)
    graph.ordered(args.to)  # BadInput if unknown
    if args.layout and args.to not in graph.WITH_LAYOUT:
        raise BadInput(f"--layout with --to {args.to}: this step comes before; drop one of them")
    if args.fmax and SYNTHESIS not in graph.needed([args.to]):
        raise BadInput(
            f"--fmax with --to {args.to}: this step has no clock yet; give --to timing, or drop one of them"
        )
    refuse(args, ["skip"], " with --to: --to already selects the steps to run; drop one of them")
    return graph.with_judges(args.to)


def _complete(args: Namespace) -> bool:
    """Whether the run is one that points of the store describe."""
    from ....flow.kit import kit

    known = args.kit is None or args.kit in kit.NAMES
    return known and args.to in (None, graph.LENIENT) and set(args.skip) <= {EQUIVALENCE}


def _refuse_unused(args: Namespace, steps: Collection[str]) -> None:
    """BadInput for settings that no step of the run uses."""

    def used(by: Collection[str]) -> set[str]:
        return {name for step in by for name in graph.step(step).parameters}

    known = used(steps)
    asked = {name: f"--flow {name}" for name in args.other}
    if args.density is not None:
        asked["density"] = "--density"
    for name, spelled in asked.items():
        if name not in known:
            wider = "add --layout, or " if args.to is None and name in used(graph.WITH_LAYOUT) else ""
            raise BadInput(f"{spelled}: no step of this run uses it; {wider}drop it")


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
