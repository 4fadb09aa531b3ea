"""`modexlab report`: the table of accelerators, measured now, each result checked.

For every design: an encryption and a decryption (paper 001's operands) at the functional level, at the cycle
level and as RTL in the native stage, the closed formula, the published figure and the ratio of RTL to it. A
machine that is made for one modulus gets that one, and then nothing published is comparable.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..machine import Machine, width_for
from ..progress import Progress
from ..table import table
from ..workloads import WORKLOADS, Workload
from .arguments import Commands, add_command, add_json, check_directory, find_design, print_json, writing

if TYPE_CHECKING:
    from ..catalogue import Design

TEXT = """\
Each is measured on the spot at the functional level
(result only), at the cycle level, and as RTL (native), and every result is compared with the golden value.
Exit code 1 if a result is wrong, or if the cycle level or the formula differs from the RTL."""
EXAMPLES = """\
  modexlab report
  modexlab report mont-001 mont --output accelerators.txt
  modexlab report --json"""

NOTE = """\
Cycles are those from the handshake of the request to that of the response, without a processor.
Encrypt and decrypt are b^e mod n of paper 001: {operands}.
Modulus: a machine made for one modulus is run with that one, and with the base reduced below it.
Published: the RTL of paper 001, run in the same way. Ratio: RTL to published, below 1 is faster.
CL: whole machines take their cycles from the closed formula, so that those two columns agree by construction;
the evidence is the column of the RTL, which is counted by simulation and must agree with both."""


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "report",
        "measure all accelerators and print the table",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument(
        "designs", metavar="DESIGN", nargs="*", help="only these (default: the whole catalogue)"
    )
    parser.add_argument("--output", "-o", metavar="FILE", help="write the table to a file as well")
    add_json(parser)


@dataclass
class _Row:
    """One design and one operation."""

    design: Design
    workload: Workload
    own_modulus: bool = False  # that of the design, and not the paper's
    cycles: dict[str, int | None] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @property
    def published(self) -> int | None:
        return None if self.own_modulus else self.design.published.get(self.workload.name)

    @property
    def ratio(self) -> float | None:
        rtl = self.cycles.get("rtl")
        return round(rtl / self.published, 3) if rtl and self.published else None


def execute(args: argparse.Namespace) -> int:
    from .. import catalogue

    designs = [find_design(name) for name in args.designs] or list(catalogue.designs())
    if args.output is not None:
        check_directory("--output", args.output)
    rows: list[_Row] = []
    for number, design in enumerate(designs, 1):
        start = time.monotonic()
        measured = _measure(design, args.json)
        rows += measured
        wrong = "; ".join(reason for row in measured for reason in row.wrong)
        seconds = time.monotonic() - start
        print(f"[{number}/{len(designs)}] {design.name}: {wrong or 'ok'} ({seconds:.1f} s)", file=sys.stderr)
    text = _text(rows)
    if args.output is not None:
        with writing(args.output) as write:
            write(text + "\n")
    if args.json:
        print_json([_as_json(row) for row in rows])
    else:
        print(text)
    return 1 if any(row.wrong for row in rows) else 0


def _measure(design: Design, quiet: bool) -> list[_Row]:
    """Both operations of a design at all levels; one machine per level, each operation from reset."""
    nbits = width_for(*(workload.mod for workload in WORKLOADS))
    modulus = design.modulus(nbits)
    rows = [_Row(design, workload.on(modulus), bool(modulus)) for workload in WORKLOADS]
    with Progress(design.name, quiet=quiet) as progress:
        for level in ("fl", "cl", "rtl"):
            progress.describe(f"{design.name}, {level}")
            with Machine(design, nbits, level=level) as machine:
                for row in rows:
                    answer = machine.run([row.workload.operands])[0]
                    row.cycles[level] = answer.cycles
                    if answer.status or answer.result != row.workload.golden:
                        row.wrong.append(f"{row.workload.name} at level {level} gives a wrong result")
    for row in rows:
        row.cycles["formula"] = design.cycles(nbits, *row.workload.operands)
        for level in ("cl", "formula"):
            if row.cycles[level] != row.cycles["rtl"]:
                cycles, rtl = row.cycles[level], row.cycles["rtl"]
                row.wrong.append(f"{row.workload.name}: {rtl} cycles as RTL, but {cycles} by {level}")
    return rows


def _as_json(row: _Row) -> dict[str, Any]:
    return {
        "design": row.design.name,
        "operation": row.workload.name,
        "nbits": width_for(row.workload.mod),
        "base": row.workload.base,
        "exp": row.workload.exp,
        "mod": row.workload.mod,
        "ok": not row.wrong,
        "wrong": row.wrong,
        "cl": row.cycles["cl"],
        "rtl": row.cycles["rtl"],
        "formula": row.cycles["formula"],
        "published": row.published,
        "ratio": row.ratio,
    }


def _text(rows: list[_Row]) -> str:
    head = [
        "design",
        "operation",
        "modulus",
        "result",
        "cycles (CL)",
        "cycles (RTL)",
        "formula",
        "published",
        "ratio",
    ]
    lines = [
        [
            row.design.name,
            row.workload.name,
            str(row.workload.mod),
            "WRONG" if row.wrong else "ok",
            *(str(row.cycles[level]) for level in ("cl", "rtl", "formula")),
            str(row.published) if row.published else "-",
            f"{row.ratio:.2f}" if row.ratio else "-",
        ]
        for row in rows
    ]
    operands = ",\n".join(f"{each.name} ({each.base}, {each.exp}, {each.mod})" for each in WORKLOADS)
    return f"{table(head, lines)}\n\n{NOTE.format(operands=operands)}"
