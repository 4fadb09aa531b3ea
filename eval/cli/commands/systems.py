"""`modexlab proc systems`: Table 1 of paper 001 at any width, measured, with every result checked."""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ...designs.soc_system import COUPLINGS
from ...progress import Progress
from ...table import table
from ..arguments import (
    add_json,
    add_settings,
    answer,
    check_directory,
    number,
    settings_of,
    writing,
)

if TYPE_CHECKING:
    from ...designs.system_catalogue import Row, SystemKind

    Column = tuple[str, str, Callable[[Row, list[Row]], Any]]

SUMMARY = "measure processors with accelerators and print the table"
TEXT = """\
RSA by software on the processor and
by accelerators behind it, in cycles of the stats window, beside the published figures. Every result is
compared with the expected one; exit code 1 if one is wrong.

A system is proc-KERNEL (software: naive, montgomery, montgomery-ct), procxcel-DESIGN (a design of the
catalogue behind the processor's accelerator port) or procbus-DESIGN (the same on its bus, behind AXI4-Lite, where a
driver in C polls; procbus-irq-DESIGN sleeps until the interrupt, procbus-key-DESIGN has its key in the machine already).

--interface axi4lite puts loosely coupled systems beside tightly coupled ones: every procxcel-DESIGN, and the
same machine on the bus in the three ways, with cycles of the call, of the transfer and of the work."""
EXAMPLES = """\
  modexlab proc systems
  modexlab proc systems --system proc-naive procxcel-mont --operation decrypt --json
  modexlab proc systems --nbits 64 128 256 512 1024 2048 --output systems.txt
  modexlab proc systems --interface axi4lite --system procxcel-mont"""

NOTE = (
    "Cycles: of the stats window, in which the processor calls the kernel, and nothing else happens. "
    "Normalised: "
    "less the cycles of the dummy, which returns the expected answer ({dummies}).",
    "Published: paper 001, Table 1, normalised; our own accelerators stand beside the paper's of their "
    "kind. Ratio: "
    "normalised to published, below 1 is faster. Speedup: over proc-naive. CPI: cycles by instructions of "
    "the window.",
    "Operands: {operands}.",
    "Stage: how the RTL of the processor and the accelerator was simulated. The memory answers in the next "
    "cycle.",
)
NOT_RUN = "Not run (-): software at {widths} bits; --full runs it."
IN_CONSTANT_TIME = (
    "proc-montgomery-ct: all bits of the private exponent are scanned, of the public one as many as it has."
)
OPERANDS_001 = (
    "at 32 bits those of the paper, e = 65537, d = 0x3a48d459 (of another key), n = 2603398711, and 5745 of "
    "its "
    "Figure 1 as the message: which it measured with, the paper does not say, and naive machines depend on it"
)
OPERANDS = "a key of each width, e = 65537, the same in every run"
LINE = 116
COUPLED = (
    "Cycles: of the stats window, in which the processor calls the kernel. Call: those of the dummy, which "
    "returns the expected answer. "
    "Work: those of the machine alone, by its own counter. Transfer: the rest: operands, start, result, and "
    "what noticing the end takes "
    "longer than the work. Slower: over the same machine behind the accelerator port (procxcel), both "
    "without the call.",
    "procbus: the driver in C (modexlab.h) loads the key and the base over AXI4-Lite, starts, polls, reads. "
    "procbus-irq: it sleeps (wfi) "
    "until the handler of the interrupt has seen the end. procbus-key: as procbus, with a key that has been "
    "loaded before.",
)
BASELINE, CONSTANT_TIME = "proc-naive", "proc-montgomery-ct"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--nbits",
        type=number,
        metavar="N",
        nargs="+",
        action="extend",
        help="widths of the operands: even, 16 to 4096 (default: 32)",
    )
    parser.add_argument(
        "--system",
        metavar="NAME",
        nargs="+",
        dest="systems",
        help="only these, such as proc-naive or procxcel-mont (default: the paper's, and our fastest)",
    )
    add_settings(parser)
    parser.add_argument(
        "--interface",
        choices=COUPLINGS,
        default=COUPLINGS[0],
        help="how machines stand behind the processor: xcel, at its accelerator port, or axi4lite, on its "
        "bus as well (default: xcel)",
    )
    parser.add_argument(
        "--operation",
        type=_operation,
        choices=("encrypt", "decrypt"),
        help="only this one (default: both)",
    )
    parser.add_argument(
        "--stage", default="native", help="how RTL is simulated: python, verilog or native (default: native)"
    )
    parser.add_argument(
        "--full", action="store_true", help="run software at any width: above 1024 bits it takes minutes"
    )
    parser.add_argument("--output", "-o", metavar="FILE", help="write the table to a file as well")
    add_json(parser)


def _operation(text: str) -> str:
    """The operation as it is called here: enc and encryption are encrypt."""
    return {"enc": "encrypt", "encryption": "encrypt", "dec": "decrypt", "decryption": "decrypt"}.get(
        text, text
    )


def execute(args: argparse.Namespace) -> int:
    from ...designs.system_catalogue import (
        DEFAULT_ON_BUS,
        DEFAULT_SYSTEMS,
        OPERATIONS,
        Measurement,
        check_key_width,
        find_system,
        loosely_coupled,
        with_work,
    )

    loosely = args.interface != COUPLINGS[0]
    default = DEFAULT_ON_BUS if loosely else DEFAULT_SYSTEMS
    kinds = [_kind(find_system(name), args.settings) for name in dict.fromkeys(args.systems or default)]
    if loosely:
        kinds = loosely_coupled(kinds)
    widths = [check_key_width(nbits) for nbits in dict.fromkeys(args.nbits or [32])]
    operations = [args.operation] if args.operation else OPERATIONS
    if args.output is not None:
        check_directory("--output", args.output)
    total = len(kinds) * len(widths) * len(operations)
    rows: list[Row] = []
    with Progress("systems", quiet=args.json) as progress:
        label = ""

        def begin(what: str) -> None:
            nonlocal label
            label = what
            progress.describe(what)

        def advance(cycles: int, _: int) -> None:
            progress.describe(f"{label}, {cycles:,} cycles")

        measurement = Measurement(args.stage, args.full, begin, advance)
        start = time.monotonic()
        for row in measurement.rows(kinds, widths, operations):
            rows.append(row)
            seconds, start = time.monotonic() - start, time.monotonic()
            what = f"{row.system}, {row.nbits} bits, {row.operation}"
            how = f"WRONG: {row.note}" if not row.ok else row.note or f"{row.normalised:,} cycles"
            print(f"[{len(rows)}/{total}] {what}: {how} ({seconds:.1f} s)", file=sys.stderr, flush=True)
    if loosely:
        rows = with_work(rows)
    text = _text_of_couplings(rows) if loosely else _text(rows)
    if args.output is not None:
        with writing(args.output) as write:
            write(text + "\n")
    as_json = _coupling_as_json if loosely else _as_json
    answer(args, lambda: [as_json(row, rows) for row in rows], lambda: text)
    return 0 if all(row.ok for row in rows) else 1


def _kind(kind: SystemKind, settings: list[str]) -> SystemKind:
    """The system with the values of `--set`."""
    if not settings:
        return kind
    if kind.design is None:
        raise BadInput(
            f"--set with {kind.name}: software on the processor has no parameters; drop one of them"
        )
    return replace(kind, settings=settings_of(kind.design, settings))


def _speedup(row: Row, rows: list[Row]) -> float | None:
    """Over the processor alone with the naive kernel, if that is among the rows."""
    for other in rows:
        if (other.system, other.operation, other.nbits) == (BASELINE, row.operation, row.nbits):
            return other.normalised / row.normalised if other.normalised and row.normalised else None
    return None


def _as_json(row: Row, rows: list[Row]) -> dict[str, Any]:
    window = row.outcome.window if row.outcome is not None else None
    return {
        "system": row.system,
        "operation": row.operation,
        "nbits": row.nbits,
        "cycles": row.cycles,
        "dummy": row.dummy,
        "normalised": row.normalised,
        "published": row.published,
        "ratio": row.ratio,
        "speedup": _rounded(_speedup(row, rows)),
        "instructions": window.instructions if window else None,
        "cpi": _rounded(window.cpi) if window else None,
        "where": dict(window.where) if window else {},
        "level": row.outcome.level if row.outcome else None,
        "stage": row.outcome.stage if row.outcome else None,
        "ok": row.ok if row.outcome else None,
        "note": row.note,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


# a column: head, format, and value
TABLE_1: Sequence[Column] = (
    ("cycles", "d", lambda row, _: row.cycles),
    ("normalised", "d", lambda row, _: row.normalised),
    ("published", "d", lambda row, _: row.published),
    ("ratio", ".2f", lambda row, _: row.ratio),
    ("speedup", ".2f", _speedup),
    ("CPI", ".2f", lambda row, _: row.outcome and row.outcome.window.cpi),
    ("stage", "", lambda row, _: (row.outcome and row.outcome.stage) or None),
)


def _table(rows: list[Row], columns: Sequence[Column]) -> str:
    """The rows with these columns behind system, operation, width and result."""
    lines = [
        [
            row.system,
            row.operation,
            str(row.nbits),
            "-" if row.outcome is None else "ok" if row.ok else "WRONG",
            *("-" if (value := get(row, rows)) is None else format(value, form) for _, form, get in columns),
        ]
        for row in rows
    ]
    return table(["system", "operation", "bits", "result", *(head for head, *_ in columns)], lines)


def _notes(rows: list[Row], notes: Sequence[str]) -> str:
    """Paragraphs below a table, and the notes of rows but those of software that was not run."""
    own = dict.fromkeys(
        f"{row.system}: {row.note}."
        for row in rows
        if row.note and not (row.outcome is None and row.is_software)
    )
    return "\n\n" + "\n".join(textwrap.fill(note, LINE) for note in (*notes, *own))


def _text(rows: list[Row]) -> str:
    dummies = {row.nbits: row.dummy for row in rows}
    words = {
        "dummies": ", ".join(f"{cycles} at {nbits} bits" for nbits, cycles in dummies.items()),
        "operands": "; ".join(
            ([OPERANDS_001] if 32 in dummies else []) + ([OPERANDS] if dummies.keys() - {32} else [])
        ),
        "widths": ", ".join(
            str(nbits)
            for nbits in sorted({row.nbits for row in rows if row.outcome is None and row.is_software})
        ),
    }
    notes = [*NOTE]
    if any(row.system == CONSTANT_TIME for row in rows):
        notes.append(IN_CONSTANT_TIME)
    if words["widths"]:
        notes.append(NOT_RUN)
    return _table(rows, TABLE_1) + _notes(rows, [note.format(**words) for note in notes])


# ---- loosely coupled beside tightly coupled


def _tight(row: Row, rows: list[Row]) -> Row | None:
    """The same operation on the same machine behind the accelerator port."""
    return next((other for other in rows if other.is_tight_of(row)), None)


def _slower(row: Row, rows: list[Row]) -> float | None:
    """How much longer it takes than at the accelerator port, in percent of that."""
    tight = _tight(row, rows)
    if tight is None or not tight.normalised or row.normalised is None:
        return None
    return 100 * (row.normalised / tight.normalised - 1)


def _coupling_as_json(row: Row, rows: list[Row]) -> dict[str, Any]:
    slower = _slower(row, rows)
    return _as_json(row, rows) | {
        "call": row.dummy,
        "transfer": row.transfer,
        "work": row.work,
        "slower_percent": None if slower is None else round(slower, 3),
    }


def _share(row: Row, _: list[Row]) -> float | None:
    """The transfer in percent of the cycles."""
    return None if row.transfer is None or not row.cycles else 100 * row.transfer / row.cycles


COUPLINGS_TABLE: Sequence[Column] = (
    ("cycles", "d", lambda row, _: row.cycles),
    ("call", "d", lambda row, _: row.dummy),
    ("transfer", "d", lambda row, _: row.transfer),
    ("work", "d", lambda row, _: row.work),
    ("transfer (%)", ".1f", _share),
    ("slower by (%)", ".1f", _slower),
    ("instructions", "d", lambda row, _: row.outcome and row.outcome.window.instructions),
)


def _text_of_couplings(rows: list[Row]) -> str:
    return _table(rows, COUPLINGS_TABLE) + _notes(rows, COUPLED)
