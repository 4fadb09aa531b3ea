"""`modexlab show --tree`: the compression tree of a design or of a modulus as a dot diagram."""

from __future__ import annotations

import argparse

from .....fl.compression.compression import BEST, OURS, STRATEGIES, make_plan
from .....fl.compression.compression_follow import follow
from .....fl.compression.compression_plan import CELLS, OPERATIONS, Plan
from .....fl.compression.prefix import ADDERS
from .....fl.errors import BadInput
from .....fl.moduli import parse
from ....designs.widths import check_width
from ...arguments import (
    add_settings,
    add_width,
    check_directory,
    find_design,
    number,
    settings_of,
    writing,
)

SUMMARY = "draw the compression tree of a multiplier as SVG"
TEXT = """\
A tree belongs to one modulus: give a
design whose multiplier is a compression tree, or --modulus. Without -o the SVG goes to stdout. --follow tells
the way of one product a_J * b_K through the tree."""
EXAMPLES = """\
  modexlab show --tree --modulus 2^8-1 -o pm.svg
  modexlab show --tree --modulus 2^6+21 --strategy full -o m.svg
  modexlab show --tree --modulus 2^8+1 --operation square -o square.svg
  modexlab show --tree --modulus 2^8+85 --follow 7 3"""

DEFAULT_NBITS = 8


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("design", metavar="DESIGN", nargs="?", help="a design whose multiplier is a tree")
    parser.add_argument(
        "--modulus", "-m", metavar="SPEC", help="2^8, 2^8-1, 2^8+85, or a number (decimal or 0x...)"
    )
    parser.add_argument("--output", "-o", metavar="FILE", help="the file to write (default: stdout)")
    parser.add_argument(
        "--operation", choices=OPERATIONS, default=OPERATIONS[0], help="with --modulus (default: %(default)s)"
    )
    parser.add_argument(
        "--strategy",
        choices=(BEST, *STRATEGIES, *OURS),
        default=BEST,
        help="the kinds of cells, with --modulus (default: the best of the paper's three)",
    )
    parser.add_argument(
        "--adder",
        choices=ADDERS,
        default="brent-kung",
        help="the final adder, with --modulus (default: %(default)s)",
    )
    parser.add_argument(
        "--follow", nargs=2, type=number, metavar=("J", "K"), help="tell the way of the product a_J * b_K"
    )
    add_width(parser, f"of the operands; default: as long as a residue, for a DESIGN {DEFAULT_NBITS}")
    add_settings(parser)


def execute(args: argparse.Namespace) -> int:
    plan = _plan(args)
    to_file = args.output not in (None, "-")
    if to_file:
        check_directory("--output", args.output)
    if args.follow:
        print("\n".join(follow(plan, *args.follow)))
        if args.output is None:
            return 0
    from ....report.drawing import draw

    text = draw(plan)
    if not to_file:
        print(text, end="")
        return 0
    with writing(args.output) as write:
        write(text)
    counts = plan.counts
    cells = ", ".join(f"{counts[kind]} {kind}" for kind in CELLS if counts[kind])
    print(
        f"{args.output}: {plan.operation} mod {plan.modulus}, {counts['levels']} levels, cells: "
        f"{cells or 'none'}"
    )
    return 0


def _plan(args: argparse.Namespace) -> Plan:
    """The plan that the user means."""
    if (args.design is None) == (args.modulus is None):
        raise BadInput("--tree needs a DESIGN or --modulus SPEC, one of them; for example: --modulus 2^8-1")
    if args.modulus is not None:
        if args.settings:
            raise BadInput("--set belongs to a DESIGN; with --modulus give --operation, --strategy, --adder")
        return make_plan(args.operation, parse(args.modulus), args.nbits, args.strategy, args.adder)
    design = find_design(args.design)
    nbits = check_width(args.nbits) if args.nbits is not None else DEFAULT_NBITS
    unit = design.at(nbits, **settings_of(design, args.settings)).multiplier()
    unit.elaborate()
    plan = getattr(unit, "plan", None)
    if plan is None:
        raise BadInput(
            f"the multiplier of {design.name} is no compression tree: take a cm- design, or give --modulus"
        )
    return plan
