"""`modexlab proc soc`: an accelerator on the bus of a RISC-V chip made with LiteX, and a program in C."""

from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ....fl.errors import BadInput
from ....proc.software.seeded_keys import seeded_key
from ...designs.interfaces import AXI4LITE
from ...designs.machine import Design
from ...designs.own import OwnDesign
from ...designs.runnable import Runnable
from ...designs.system_catalogue import check_key_width
from ...exchange.soc.chip import (
    Chip,
    RoundTrip,
    TableCalls,
    calls_cycles,
    calls_software,
    expected_cycles,
    require_litex,
    round_trip,
    round_trip_software,
    table_calls,
    works,
)
from ...exchange.soc.cpus import CPUS
from ...exchange.soc.folder import CALLS, ROUND_TRIP, folder_files
from ...exchange.soc.program import Software
from ...folders import new_directory, write_folder
from ...json_values import attributes, json_value
from ...progress import Progress
from .. import own
from ..arguments import Settings, described, one_entry, settings_of
from ..options import choice, shared
from ..render import Json, Table, answer

SUMMARY = "encrypt and decrypt on a RISC-V chip with a machine on its bus"
TEXT = """\
The chip is made
with LiteX: a RISC-V CPU, ROM, SRAM, and the machine behind AXI4-Lite on its bus, with its interrupt.
Verilator simulates it. The bare-metal program in C uses the driver modexlab.h: it loads the longest key
that fits, encrypts a message and decrypts the ciphertext. An accelerator of your own is called with the
first requests of its table. The program checks the results, and so does this command; exit code 1 if one
is wrong."""
EXAMPLES = """\
  modexlab proc soc mont --nbits 64
  modexlab proc soc mont --nbits 64 --cpu picorv32 --wait interrupt
  modexlab proc soc systolic --nbits 1024 --wait interrupt -o chip
  modexlab proc soc --accelerator gcd"""

DEFAULT_NBITS, DEFAULT_CPU = 64, "vexriscv"
POLLING, INTERRUPT = "polling", "interrupt"
PHASES = ("load", "start", "wait", "read", "whole", "machine")  # of a call, in cycles
NOTE = """\
Cycles as the CPU sees them, each phase with the store that marks its end; the first call finds cold caches.
Load: the key. Start: write the base, start. Machine: by its own counter, from start to result. Share: of the
machine in the whole call."""

CALLS_NOTE = """\
Cycles as the CPU sees them, from the first write to the return of a call; caches are cold at first."""
Trip = TypeVar("Trip")


OPTIONS = (
    *("design", "--accelerator"),
    shared("--nbits", f"an even number from 16; default: {DEFAULT_NBITS}; of your own: its usual width"),
    "--set",
    choice("--cpu", CPUS, f"the CPU (default: {DEFAULT_CPU})", DEFAULT_CPU),
    choice(
        "--wait",
        (POLLING, INTERRUPT),
        f"how the program waits for the machine (default: {POLLING}, the only way for your own)",
        POLLING,
    ),
    shared("--output", "a directory: Verilog, program, register map, and how to build the chip again"),
    *("--force", "--json"),
)


def execute(args: Namespace) -> int:
    design = one_entry(args)
    settings = settings_of(design, args.settings)
    if not isinstance(design, OwnDesign):
        return _round_trip(args, design, settings)
    if args.wait == INTERRUPT:
        raise BadInput(
            f"--wait {INTERRUPT}: the call of {design.name} in C polls; drop it, or give --wait {POLLING}"
        )
    accelerator = own.made(args, design)
    _ = accelerator.interface(AXI4LITE.name)  # refuses what has no registers there
    trip = _run(args, accelerator, calls_software, table_calls, calls_cycles(accelerator), CALLS)
    _answer_calls(args, trip)
    return 0 if trip.ok else 1


def _round_trip(args: Namespace, design: Design, settings: Settings) -> int:
    """A machine of the catalogue: RSA there and back."""
    nbits = check_key_width(DEFAULT_NBITS if args.nbits is None else args.nbits)
    if any(param.name == "modulus" for param in design.params):  # made for one, and so for that of the key
        settings.setdefault("modulus", seeded_key(nbits).n)
    machine = design.at(nbits, **settings)
    for work in works(machine):
        machine.require(*work.operands)
    by_interrupt = args.wait == INTERRUPT
    key_nbits, wait = works(machine)[0].mod.bit_length(), f"and waits by {args.wait}"
    words = {name: text.format(nbits=key_nbits, wait=wait) for name, text in ROUND_TRIP.items()}
    trip = _run(
        args,
        machine,
        lambda chip: round_trip_software(chip, by_interrupt),
        lambda chip, progress: round_trip(chip, by_interrupt, progress),
        expected_cycles(machine),
        words,
    )
    _answer_round_trip(args, trip)
    return 0 if trip.ok else 1


def _run(
    args: Namespace,
    machine: Runnable,
    software: Callable[[Chip], Software],
    run: Callable[[Chip, Callable[[int], object]], Trip],
    cycles: int,
    words: Mapping[str, str],
) -> Trip:
    """Make the chip, write its folder, and run the program."""
    directory = None if args.output is None else new_directory("--output", args.output, args.force)
    require_litex(args.cpu)
    label = f"{machine.design.name}, {machine.nbits} bits, {args.cpu}"
    with Progress(f"{label}: make the chip", cycles, "cycle", quiet=args.json) as progress:
        chip = Chip(machine, args.cpu)
        if directory is not None:
            write_folder(directory, folder_files(chip, software(chip), words))
        _ = chip.model
        progress.describe(f"{label}: simulate")
        return run(chip, lambda cycle: progress(cycle, cycles))


def _answer(
    args: Namespace,
    trip: RoundTrip | TableCalls,
    calls: list[Json],
    table: Table,
    note: str,
    how: str = POLLING,
    **more: Any,
) -> None:
    """A program and its calls."""
    machine, output = trip.chip.machine, trip.output
    report = {
        **described(machine),
        **more,
        "cpu": trip.chip.cpu,
        "ok": trip.ok,
        "exit_code": output.code,
        **attributes(output, "text", "cycles"),
        "calls": calls,
    }
    title = f"{machine.design.name}, {machine.nbits} bits, on {trip.chip.cpu}, by {how}"
    if output.code != 0:
        title += f"\nthe program ended with exit code {output.code}: {'; '.join(output.text)}"
    where = "" if args.output is None else f"the chip: {args.output} (see README.md there)"
    answer(args, report, title, table, note, where)


def _answer_calls(args: Namespace, trip: TableCalls) -> None:
    shape = trip.chip.machine.shape
    calls = [
        {
            "row": call.row.name,
            "ok": call.ok,
            "whole": call.cycles,
            "request": own.named(shape.request, call.row.request),
            "response": own.named(shape.response, call.response),
            "expected": own.named(shape.response, call.expected),
        }
        for call in trip.calls
    ]
    rows = [[call.row.name, _verdict(call.ok), call.cycles] for call in trip.calls]
    _answer(args, trip, calls, Table(["row", "result", "whole call"], rows), CALLS_NOTE)


def _answer_round_trip(args: Namespace, trip: RoundTrip) -> None:
    calls = [
        {
            "operation": call.operation,
            "ok": call.result == call.expected,
            **attributes(call, *PHASES),
            "result": json_value(call.result),
            "expected": json_value(call.expected),
        }
        for call in trip.calls
    ]
    rows = [
        [
            call["operation"],
            _verdict(call["ok"]),
            *(call[phase] for phase in PHASES),
            f"{100 * call['machine'] / call['whole']:.1f}",
        ]
        for call in calls
    ]
    phases = ["whole call" if phase == "whole" else phase for phase in PHASES]
    table = Table(["operation", "result", *phases, "share (%)"], rows)
    how = f"{args.wait}, with a key of {trip.key_nbits} bits"
    _answer(args, trip, calls, table, NOTE, how, key_nbits=trip.key_nbits, wait=args.wait)


def _verdict(ok: bool) -> str:
    return "ok" if ok else "WRONG"
