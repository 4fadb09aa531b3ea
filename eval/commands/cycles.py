"""`modexlab cycles`: how many cycles an operation takes, from the closed formula and without simulating."""

from __future__ import annotations

import argparse

from ...fl.errors import BadInput
from ..machine import check_fit, check_width, width_for
from ..workloads import some_operands
from .arguments import (
    Commands,
    add_command,
    add_design,
    add_json,
    add_operands,
    add_settings,
    add_width,
    find_design,
    json_number,
    json_value,
    print_json,
    settings_of,
)

TEXT = """\
Cycles from the handshake of the request to that of the
response, by the design's formula; operands that are not given are fixed pseudo-random numbers."""
EXAMPLES = """\
  modexlab cycles mont --nbits 1024 --exp 65537
  modexlab cycles mont-ct --nbits 4096 --exp 0xffff --set nstages=8 --json
  modexlab cycles naive-001 --base 1119317562 --exp 65537 --mod 2603398711"""


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "cycles", "count cycles without simulating", text=TEXT, examples=EXAMPLES, execute=execute
    )
    add_design(parser)
    add_operands(parser, required=False)
    add_width(parser, "default: length of the modulus, rounded up to a multiple of 32")
    add_settings(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    design = find_design(args.design)
    settings = settings_of(design, args.settings)
    if args.nbits is None and args.mod is None:
        raise BadInput("neither --nbits nor --mod; give the width of the machine, as in --nbits 1024")
    nbits = check_width(args.nbits) if args.nbits is not None else width_for(args.mod)
    parameters = design.resolve(nbits, settings)
    some = some_operands(design, nbits, settings, args.mod)
    given = (args.base, args.exp, args.mod)
    base, exp, mod = (default if value is None else value for value, default in zip(given, some, strict=True))
    check_fit(nbits, [(base, exp, mod)])
    design.require(nbits, base, exp, mod, **settings)
    cycles = design.cycles(nbits, base, exp, mod, **settings)
    if args.json:
        print_json(
            {
                "design": design.name,
                "nbits": nbits,
                "cycles": cycles,
                "params": {name: json_value(value) for name, value in parameters.items()},
                "base": json_number(base),
                "exp": json_number(exp),
                "mod": json_number(mod),
            }
        )
    else:
        print(f"{design.name}, {nbits} bits, exponent of {exp.bit_length()} bits: {cycles} cycles")
    return 0
