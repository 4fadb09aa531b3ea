"""Draw the compression tree of a multiplier as SVG.

A tree belongs to one modulus: give a design whose multiplier is a compression tree, or --modulus. Without
-o the SVG goes to stdout. --follow traces one product a_J * b_K through the tree.

examples:
  modexlab show --tree --modulus 2^8-1 -o pm.svg
  modexlab show --tree --modulus 2^6+21 --strategy full -o m.svg
  modexlab show --tree --modulus 2^8+1 --function square -o square.svg
  modexlab show --tree --modulus 2^8+85 --follow 7 3
"""

from argparse import Namespace
from pathlib import Path
from typing import Any

from .....fl.compression.compression import BEST, OURS, STRATEGIES, make_plan
from .....fl.compression.compression_follow import follow
from .....fl.compression.compression_plan import CELLS, OPERATIONS, Plan
from .....fl.compression.prefix import ADDERS
from .....fl.errors import BadInput
from .....fl.moduli import parse
from ....designs import catalogue
from ....folders import check_file, write_file
from ....report.drawing import draw
from ...arguments import accelerator_of, operands_of, settings_of
from ...options import Option, choice, number, option, shared

DEFAULT_NBITS, ADDER = 8, "brent-kung"
OUTPUT = "--output (a file; default: stdout)"

OPTIONS = (
    shared("design", "one whose multiplier is a tree", convert=catalogue.find),
    Option("--modulus", "-m", metavar="SPEC", help="2^8, 2^8-1, 2^8+85, or a number (decimal or 0x...)"),
    OUTPUT,
    choice("--function", OPERATIONS, f"with --modulus (default: {OPERATIONS[0]})", OPERATIONS[0]),
    choice(
        "--strategy",
        (BEST, *STRATEGIES, *OURS),
        "kinds of cells, with --modulus (default: the best of the paper's three)",
        BEST,
    ),
    choice("--adder", ADDERS, f"final adder, with --modulus (default: {ADDER})", ADDER),
    option("--follow", ("J", "K"), "trace the product a_J * b_K", nargs=2, type=number),
    f"--nbits (of the operands; default: the length of a residue, {DEFAULT_NBITS} for a DESIGN)",
    "--set",
)


def execute(args: Namespace) -> int:
    plan = _plan(args)
    if args.follow:
        print("\n".join(follow(plan, *args.follow)))
        if args.output is None:
            return 0
    counts = plan.counts
    cells = ", ".join(f"{counts[kind]} {kind}" for kind in CELLS if counts[kind]) or "none"
    about = f"{plan.operation} mod {plan.modulus}, {counts['levels']} levels, cells: {cells}"
    return put(args, draw(plan), about)


def put(args: Namespace, svg: str, about: str) -> int:
    """Write a picture to the file of --output, or to stdout."""
    if args.output in (None, "-"):
        print(svg, end="")
        return 0
    check_file("--output", args.output)
    if Path(args.output).suffix not in ("", ".svg"):
        raise BadInput(f"--output {args.output}: the picture is an SVG; give a name that ends with .svg")
    write_file(args.output, svg)
    print(f"{args.output}: {about}")
    return 0


def operation(args: Namespace) -> tuple[Any, tuple[int, int, int]]:
    """The machine of a command and its operands; missing operands are random."""
    if args.design is None:
        raise BadInput("no design; give one of the catalogue (`modexlab show designs`)")
    wide = [] if args.mod is None else [args.mod]
    machine = accelerator_of(args, args.design, *wide)
    return machine, operands_of(args, machine)


def _plan(args: Namespace) -> Plan:
    """The plan of the tree that the options select."""
    if (args.design is None) == (args.modulus is None):
        raise BadInput("--tree needs a DESIGN or --modulus SPEC, one of them; for example: --modulus 2^8-1")
    if args.modulus is not None:
        if args.settings:
            raise BadInput("--set belongs to a DESIGN; with --modulus give --function, --strategy, --adder")
        return make_plan(args.function, parse(args.modulus), args.nbits, args.strategy, args.adder)
    for name, default in (("function", OPERATIONS[0]), ("strategy", BEST), ("adder", ADDER)):
        if getattr(args, name) != default:
            raise BadInput(f"--{name} belongs to --modulus; a DESIGN has its own; give --set, or drop it")
    nbits = DEFAULT_NBITS if args.nbits is None else args.nbits
    unit = args.design.at(nbits, **settings_of(args.design, args.settings)).multiplier()
    unit.elaborate()
    plan = getattr(unit, "plan", None)
    if plan is None:
        raise BadInput(
            f"the multiplier of {args.design.name} is not a compression tree: give a cm- design, or --modulus"
        )
    return plan
