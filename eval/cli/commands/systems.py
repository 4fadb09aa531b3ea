"""Measure processors with accelerators and print the table.

RSA in software on the processor and on accelerators behind it, in cycles of the stats window, with the
published figures. Every result is checked; exit code 1 if one is wrong.

A system is proc-KERNEL (software: naive, montgomery, montgomery-ct), procxcel-DESIGN (a design of the
catalogue behind the processor's accelerator port) or procbus-DESIGN (the same on its bus, behind AXI4-Lite,
with a polling driver in C; procbus-irq-DESIGN sleeps until the interrupt, and procbus-key-DESIGN has loaded
its key in advance).

--interface axi4lite compares loosely and tightly coupled systems: every procxcel-DESIGN, and the same machine
on the bus in the three ways, with cycles of the call, of the transfer and of the work.

examples:
  modexlab proc systems
  modexlab proc systems proc-naive procxcel-mont --operation decrypt --json
  modexlab proc systems --nbits 64 --nbits 128 --nbits 256 --output systems.txt
  modexlab proc systems procxcel-mont --interface axi4lite
"""

import sys
import textwrap
import time
from argparse import Namespace
from collections.abc import Callable, Iterator

from ...designs.control import is_protected
from ...designs.interfaces import COUPLINGS
from ...designs.system_catalogue import (
    DEFAULT_ON_BUS,
    DEFAULT_SYSTEMS,
    OPERATIONS,
    Measurement,
    Row,
    SystemKind,
    check_key_width,
    find_system,
    loosely_coupled,
    with_work,
)
from ...folders import write_file
from ...json_values import attributes
from ...progress import Progress
from ..arguments import program_settings, refuse, warn_of
from ..options import COUPLING, PRIVATE, SETTINGS, number, option, shared, writable
from ..render import Columns, Json, Table, answer, rendered

NOTE = (
    "Cycles: of the stats window, which contains only the call of the kernel. Normalised: without the "
    "cycles of the dummy, which returns the expected answer ({dummies}).",
    "Published: paper 001, Table 1, normalised; our own accelerators are compared with the paper's of "
    "the same kind. Ratio: normalised to published, below 1 is faster. Speedup: over proc-naive. CPI: "
    "cycles by instructions of the window.",
    "Operands: {operands}.",
    "Backend: how the RTL of the processor and the accelerator was simulated. The memory answers in the next "
    "cycle.",
)
NOT_RUN = "Not run (-): software at {widths} bits; --full runs it."
IN_CONSTANT_TIME = (
    "proc-montgomery-ct scans all bits of the width for the private exponent, and only the bits of the "
    "public one."
)
OPERANDS_001 = (
    "at 32 bits those of the paper, e = 65537, d = 0x3a48d459 (of another key), n = 2603398711, and the "
    "message 5745 of its Figure 1 (the paper does not say which message it measured, and naive machines "
    "depend on it)"
)
OPERANDS = "a key of each width, e = 65537, the same in every run"
LINE = 116
COUPLED = (
    "Cycles: of the stats window, which contains only the call of the kernel. Call: those of the dummy, "
    "which returns the expected answer. Work: those of the machine alone, by its own counter. Transfer: the "
    "rest: operands, start, result, and the delay until the end is noticed. Slower: compared with the same "
    "machine behind the accelerator port (procxcel), both without the call.",
    "procbus: the driver in C (modexlab.h) loads the key and the base over AXI4-Lite, starts, polls, reads. "
    "procbus-irq: it sleeps (wfi) until the interrupt handler has seen the end. procbus-key: as procbus, "
    "with a key that has been loaded before.",
)
BASELINE, CONSTANT_TIME = "proc-naive", "proc-montgomery-ct"


OPTIONS = (
    option(
        "systems",
        "SYSTEM",
        "such as proc-naive or procxcel-mont (default: the paper's, and our fastest)",
        nargs="*",
    ),
    shared("--nbits", "even, 16 to 4096; may be repeated; default: 32", type=number, action="append"),
    *SETTINGS,
    COUPLING,
    shared("--operation", "default: both", choices=("encrypt", "decrypt")),
    shared("--backend", "default: native", default="native"),
    "--full (software above 1024 bits, which takes minutes)",
    shared("--output", "a file for the table", convert=writable("--output")),
    "--json",
)


def execute(args: Namespace) -> int:
    loosely = args.interface != COUPLINGS[0]
    default = DEFAULT_ON_BUS if loosely else DEFAULT_SYSTEMS
    names = dict.fromkeys(args.systems or default)
    widths = [check_key_width(nbits) for nbits in dict.fromkeys(args.nbits or [32])]
    kinds = [_kind(args, find_system(name), widths[0]) for name in names]
    if loosely:
        kinds = loosely_coupled(kinds)
    for kind in kinds:
        if kind.design is not None and is_protected(kind.settings):
            warn_of(kind.design.at(widths[0], **kind.settings))
    operations = [args.operation] if args.operation else OPERATIONS
    total = len(kinds) * len(widths) * len(operations)
    rows = []
    with Progress("systems", quiet=args.json) as progress:
        label = ""

        def begin(what: str) -> None:
            nonlocal label
            label = what
            progress.describe(what)

        def advance(cycles: int, _: int) -> None:
            progress.describe(f"{label}, {cycles:,} cycles")

        start = time.monotonic()
        for row in Measurement(args.backend, args.full, begin, advance).rows(kinds, widths, operations):
            rows.append(row)
            seconds, start = time.monotonic() - start, time.monotonic()
            what = f"{row.system}, {row.nbits} bits, {row.operation}"
            how = f"WRONG: {row.note}" if not row.ok else row.note or f"{row.normalised:,} cycles"
            print(f"[{len(rows)}/{total}] {what}: {how} ({seconds:.1f} s)", file=sys.stderr, flush=True)
    if loosely:
        rows = with_work(rows)
    reports = [_as_json(row, rows, loosely) for row in rows]
    # paragraphs below the table, and the notes of rows except those of software that was not run
    own = dict.fromkeys(f"{row.system}: {row.note}." for row in rows if row.note and not _not_run(row))
    notes = (*(COUPLED if loosely else _note(rows)), *own)
    blocks = (
        Table.of(reports, COUPLINGS_TABLE if loosely else TABLE_1),
        "\n".join(textwrap.fill(note, LINE) for note in notes),
    )
    if args.output is not None:
        write_file(args.output, rendered(blocks) + "\n")
    return answer(args, reports, *blocks, ok=all(row.ok for row in rows))


def _kind(args: Namespace, kind: SystemKind, nbits: int) -> SystemKind:
    """The system with the settings of a command."""
    if kind.design is None:
        why = f" with {kind.name}: software on the processor has no parameters; drop one"
        refuse(args, ("settings", *PRIVATE), why)
        return kind
    settings = program_settings(args, kind.design, nbits)
    return find_system(kind.name, settings) if settings else kind


def _as_json(row: Row, rows: list[Row], coupling: bool) -> Json:
    outcome, normalised = row.outcome, row.normalised
    window = outcome and outcome.window

    def beside(wanted: Callable[[Row], bool]) -> int | None:
        """The cycles of another row, if this row has some too."""
        return normalised and next((other.normalised for other in rows if wanted(other)), None)

    # over the processor alone with the naive kernel, if there is such a row
    place = (BASELINE, row.operation, row.nbits)
    naive = beside(lambda other: (other.system, other.operation, other.nbits) == place)
    report = {
        **attributes(
            row, "system", "operation", "nbits", "cycles", "dummy", "normalised", "published", "ratio", "note"
        ),
        "speedup": naive and normalised and round(naive / normalised, 4),
        "instructions": window and window.instructions,
        "cpi": window and window.cpi and round(window.cpi, 4),
        "where": dict(window.where) if window else {},
        "level": outcome and outcome.level,
        "backend": outcome and outcome.backend,
        "ok": row.ok if outcome else None,
    }
    if coupling:
        # the time in percent above that of the same operation on the same machine at the accelerator port
        tight = beside(lambda other: other.is_tight_of(row))
        slower = tight and normalised and round(100 * (normalised / tight - 1), 3)
        report |= {"call": row.dummy, **attributes(row, "transfer", "work"), "slower_percent": slower}
    return report


def _share(report: Json) -> str | None:
    """The transfer as a percentage of the cycles."""
    transfer, cycles = report["transfer"], report["cycles"]
    return None if transfer is None or not cycles else f"{100 * transfer / cycles:.1f}"


SUBJECT: Columns = {
    "system": "system",
    "operation": "operation",
    "bits": "nbits",
    "result": lambda report: {None: None, True: "ok", False: "WRONG"}[report["ok"]],
}
TABLE_1: Columns = {
    **SUBJECT,
    **{name: name for name in ("cycles", "normalised", "published")},
    "ratio": "ratio:.2f",
    "speedup": "speedup:.2f",
    "CPI": "cpi:.2f",
    "backend": "backend",
}
COUPLINGS_TABLE: Columns = {
    **SUBJECT,
    **{name: name for name in ("cycles", "call", "transfer", "work")},
    "transfer (%)": _share,
    "slower by (%)": "slower_percent:.1f",
    "instructions": "instructions",
}


def _not_run(row: Row) -> bool:
    return row.outcome is None and row.is_software


def _note(rows: list[Row]) -> Iterator[str]:
    dummies = {row.nbits: row.dummy for row in rows}
    operands = [OPERANDS_001] if 32 in dummies else []
    operands += [OPERANDS] if dummies.keys() - {32} else []
    widths = ", ".join(map(str, sorted({row.nbits for row in rows if _not_run(row)})))
    listed = ", ".join(f"{cycles} at {nbits} bits" for nbits, cycles in dummies.items())
    for note, wanted in (
        *((note, True) for note in NOTE),
        (IN_CONSTANT_TIME, any(row.system == CONSTANT_TIME for row in rows)),
        (NOT_RUN, widths),
    ):
        if wanted:
            yield note.format(dummies=listed, operands="; ".join(operands), widths=widths)
