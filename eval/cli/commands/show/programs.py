"""`modexlab show --costs`: products, cycles and memory of every program by width, with the closed
formula.
"""

from __future__ import annotations

import argparse
from typing import Any

from .....fl.errors import BadInput
from ....designs.widths import check_width
from ....table import table
from ...arguments import add_json, add_settings, answer, settings_of, width

DEFAULT_DESIGN = "mont"
WIDTHS = (1024, 2048, 4096)

SUMMARY = "count what each program costs"
TEXT = """\
Private operations with a full exponent (a key with primes of half the width and e = 65537), by
each schedule, then with CRT, blinding and the check of the result. Cycles word by word, and by
the closed formula; overhead: on the same without the protection. A program whose time hangs on
the exponent (it leaks) is counted with as many ones as zeros."""
EXAMPLES = """\
  modexlab show --costs --nbits 2048
  modexlab show mont-ct --costs --nbits 512 1024 --set steps_per_stage=16
  modexlab show ssmm-ct --costs --nbits 256 --json"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "design",
        metavar="DESIGN",
        nargs="?",
        default=DEFAULT_DESIGN,
        help=f"a design that executes programs (default: {DEFAULT_DESIGN})",
    )
    parser.add_argument(
        "--nbits",
        type=width,
        nargs="+",
        action="extend",
        metavar="N",
        help=f"widths of the modulus; may be repeated (default: {' '.join(map(str, WIDTHS))})",
    )
    add_settings(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ....designs import catalogue
    from ....designs.protection import PROGRAMS, costs, fitted  # not at the top: it brings PyMTL3

    design = catalogue.find(args.design)
    settings = settings_of(design, args.settings)
    for name in ("schedule", "crt", "blind", "verify"):
        if name in settings:
            raise BadInput(
                f"--set {name}: the table has a row for each; set what is left, such as window or "
                "steps_per_stage"
            )
    assert isinstance(design.control.schedule.legal, tuple)
    rows: list[dict[str, Any]] = []
    for nbits in map(check_width, args.nbits or WIDTHS):
        base: dict[str, int] = {}
        for name, chosen in PROGRAMS.items():
            if chosen["schedule"] not in design.control.schedule.legal:
                continue
            wanted = fitted(design, nbits, {**settings, **chosen}, bool(chosen.get("crt")))
            if "window" in wanted and chosen["schedule"] != "fixed-window":
                wanted.pop("window")
            machine = design.at(nbits, **wanted)
            found = costs(machine)
            program = machine.programmed.program
            plain = name.split(",")[0]
            base.setdefault(plain, found.cycles)
            rows.append(
                {
                    "design": design.name,
                    "nbits": nbits,
                    "program": name,
                    **found.as_json(),
                    "overhead_percent": round(100 * (found.cycles / base[plain] - 1), 1),
                    "words": len(program.words),
                    "registers": len(program.registers),
                    "memory_words": program.depth,
                    "word_nbits": machine.programmed.recipe.word_nbits,
                }
            )
    answer(args, lambda: rows, lambda: _lines(design.name, rows))
    return 0


def _lines(design: str, rows: list[dict[str, Any]]) -> list[str]:
    heads = [
        "bits",
        "program",
        "constant time",
        "products",
        "cycles",
        "formula",
        "overhead",
        "words",
        "memory",
    ]
    cells = [
        [
            str(row["nbits"]),
            row["program"],
            row["constant"],
            f"{row['products']:,}",
            f"{row['cycles']:,}",
            "-" if row["formula"] is None else f"{row['formula']:,}",
            f"{row['overhead_percent']:+.1f} %" if "," in row["program"] else "",
            str(row["words"]),
            f"{row['memory_words']} x {row['word_nbits']}" if row["memory_words"] else "",
        ]
        for row in rows
    ]
    return [f"{design}: a private operation", "", table(heads, cells)]
