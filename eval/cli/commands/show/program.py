"""`modexlab show --program`: the program of a machine as assembly, with its costs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .....fl.param import PAPER_NBITS
from ....designs.widths import check_width
from ...arguments import (
    add_design,
    add_json,
    add_private,
    add_settings,
    add_width,
    answer_all,
    described,
    designs_of,
    settings_of,
)

if TYPE_CHECKING:
    from ....designs.machine import Design

SUMMARY = "print the program that a machine executes"
TEXT = """\
A word a line: products (mul; mulw: of the machine's whole width; .if: only for a 1 of the
exponent; (b|r): b for a 1, r for a 0), and beside them loads, stores, sums, comparisons, which
take effect when the word ends. Then what follows: the next word unless it says otherwise.
Registers: r the result, b the base, s what is fetched, or the table's entry for a secret digit."""
EXAMPLES = """\
  modexlab show mont --program
  modexlab show mont-ct --program --nbits 1024 --set schedule=fixed-window
  modexlab show mont --program --nbits 2048 --crt --blind
  modexlab show naive --program --nbits 64 --verify --json"""


def add(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    add_private(parser)
    add_width(parser, f"default: {PAPER_NBITS}")
    add_settings(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    answer_all(args, [_of(args, design) for design in designs_of(args)])
    return 0


def _of(args: argparse.Namespace, design: Design) -> tuple[dict[str, Any], list[str]]:
    """Return the program of one design, for scripts and in words."""
    from ....designs.protection import costs, private_settings  # not at the top: it brings PyMTL3

    nbits = PAPER_NBITS if args.nbits is None else check_width(args.nbits)
    settings = settings_of(design, args.settings)
    if args.crt or args.verify or args.blind != "no":
        _ = design.at(nbits).programmed  # refuses a design without programs
        settings = private_settings(design, nbits, settings, crt=args.crt, blind=args.blind)
    machine = design.at(nbits, **settings)
    program = machine.programmed.program
    found = costs(machine)
    report = {
        **described(machine),
        "words": len(program.words),
        "registers": list(program.registers),
        "memory_words": program.depth,
        "word_nbits": machine.programmed.recipe.word_nbits,
        "slots": list(program.slots),
        "table": program.table,
        "fields": [{"name": name, "nbits": wide} for name, wide in program.fields],
        **found.as_json(),
        "program": program.listing(),
    }
    lines = [*program.listing(), "", f"{design.name}, {nbits} bits: {found.sentence()}"]
    memory = (
        f"a memory of {program.depth} words of {machine.programmed.recipe.word_nbits} bits ({program.table} "
        "of the table)"
        if program.depth
        else "no memory"
    )
    lines.append(f"{len(program.words)} words; registers {', '.join(program.registers)}, and {memory}")
    if program.fields:
        lines.append(
            "the request has, behind base, exp and mod: "
            f"{', '.join(f'{name} ({wide} bits)' for name, wide in program.fields)}"
        )
    return report, lines
