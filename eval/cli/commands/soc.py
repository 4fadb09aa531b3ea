"""`modexlab proc soc`: an accelerator on the bus of a RISC-V chip made with LiteX, and a program in C."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, TypeVar

from ....fl.errors import BadInput
from ...designs.interfaces import AXI4LITE
from ...exchange.soc.cpus import CPUS
from ...folders import new_directory, write_folder
from ...progress import Progress
from ...table import table
from .. import own
from ..arguments import (
    add_design,
    add_json,
    add_settings,
    add_width,
    answer,
    described,
    json_value,
    one_entry,
    settings_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...designs.machine import Design
    from ...designs.runnable import Runnable
    from ...exchange.soc.chip import Chip, RoundTrip, TableCalls
    from ...exchange.soc.program import Software

SUMMARY = "encrypt and decrypt on a RISC-V chip with a machine on its bus"
TEXT = """\
The chip is made
with LiteX: a RISC-V CPU, ROM, SRAM, and the machine behind AXI4-Lite on its bus, with its interrupt. Verilator
simulates it. Its program is C on the bare metal, with the driver modexlab.h: it loads the longest key that the
machine takes, encrypts a message and decrypts the ciphertext. An accelerator of your own is called with the
first requests of its table. Results are compared by the program, and once more here; exit code 1 if one is
wrong."""
EXAMPLES = """\
  modexlab proc soc mont --nbits 64
  modexlab proc soc mont --nbits 64 --cpu picorv32 --wait interrupt
  modexlab proc soc systolic --nbits 1024 --wait interrupt -o chip
  modexlab proc soc --accelerator gcd"""

DEFAULT_NBITS, DEFAULT_CPU = 64, "vexriscv"
POLLING, INTERRUPT = "polling", "interrupt"
PHASES = ("load", "start", "wait", "read", "whole", "machine")  # of a call, in cycles
NOTE = """\
Cycles as the CPU sees them, each phase with the store that marks its end; the first call finds cold caches. Load: the key.
Start: write the base, start. Machine: by its own counter, from start to result. Share: of the machine in the whole call."""

CALLS_NOTE = """\
Cycles as the CPU sees them, from the first write to the return of a call; caches are cold at first."""
Trip = TypeVar("Trip")


def add(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    add_width(
        parser,
        f"an even number from 16, default: {DEFAULT_NBITS}; of your own: its usual width",
    )
    add_settings(parser)
    parser.add_argument("--cpu", choices=CPUS, default=DEFAULT_CPU, help=f"the CPU (default: {DEFAULT_CPU})")
    parser.add_argument(
        "--wait",
        choices=(POLLING, INTERRUPT),
        default=POLLING,
        help=f"how the program waits for the machine (default: {POLLING}, the only way for your own)",
    )
    parser.add_argument(
        "--output",
        "-o",
        metavar="DIR",
        help="write the chip to this directory: Verilog, program, map of registers, and how to build it "
        "again",
    )
    parser.add_argument("--force", action="store_true", help="write into a directory that has files")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ...designs.own import OwnDesign
    from ...exchange.soc.chip import calls_cycles, calls_software, table_calls
    from ...exchange.soc.folder import CALLS

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


def _round_trip(args: argparse.Namespace, design: Design, settings: dict[str, Any]) -> int:
    """A machine of the catalogue: RSA there and back."""
    from ...designs.system_catalogue import check_key_width
    from ...exchange.soc.chip import expected_cycles, round_trip, round_trip_software, workloads, works
    from ...exchange.soc.folder import ROUND_TRIP

    nbits = check_key_width(DEFAULT_NBITS if args.nbits is None else args.nbits)
    if any(param.name == "modulus" for param in design.params):  # made for one, and so for that of the key
        settings.setdefault("modulus", workloads(nbits)[0].mod)
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
    args: argparse.Namespace,
    machine: Runnable,
    software: Callable[[Chip], Software],
    run: Callable[[Chip, Callable[[int], object]], Trip],
    cycles: int,
    words: Mapping[str, str],
) -> Trip:
    """Make the chip, write its folder, and run the program."""
    from ...exchange.soc.chip import Chip, require_litex
    from ...exchange.soc.folder import folder_files

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


def _as_json(trip: RoundTrip | TableCalls, calls: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A program and its calls, for scripts."""
    output = trip.output
    return {
        **described(trip.chip.machine),
        **more,
        "cpu": trip.chip.cpu,
        "ok": trip.ok,
        "exit_code": output.code,
        "text": output.text,
        "cycles": output.cycles,
        "calls": calls,
    }


def _text(
    args: argparse.Namespace, trip: RoundTrip | TableCalls, how: str, lines: str, note: str
) -> list[str]:
    """A program and the table of its calls, in words."""
    machine, output = trip.chip.machine, trip.output
    text = [f"{machine.design.name}, {machine.nbits} bits, on {trip.chip.cpu}, by {how}"]
    if output.code != 0:
        text.append(f"the program ended with exit code {output.code}: {'; '.join(output.text)}")
    text += ["", lines, "", note]
    return text if args.output is None else [*text, "", f"the chip: {args.output} (see README.md there)"]


def _answer_calls(args: argparse.Namespace, trip: TableCalls) -> None:
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
    rows = [[call.row.name, _verdict(call.ok), str(call.cycles)] for call in trip.calls]
    lines = table(["row", "result", "whole call"], rows)
    answer(args, lambda: _as_json(trip, calls), lambda: _text(args, trip, POLLING, lines, CALLS_NOTE))


def _answer_round_trip(args: argparse.Namespace, trip: RoundTrip) -> None:
    calls = [
        {
            "operation": call.operation,
            "ok": call.result == call.expected,
            **{phase: getattr(call, phase) for phase in PHASES},
            "result": json_value(call.result),
            "expected": json_value(call.expected),
        }
        for call in trip.calls
    ]
    rows = [
        [
            call.operation,
            _verdict(call.result == call.expected),
            *(str(getattr(call, phase)) for phase in PHASES),
            f"{100 * call.machine / call.whole:.1f}",
        ]
        for call in trip.calls
    ]
    heads = {"whole": "whole call"}
    lines = table(["operation", "result", *(heads.get(phase, phase) for phase in PHASES), "share (%)"], rows)
    how = f"{args.wait}, with a key of {trip.key_nbits} bits"
    answer(
        args,
        lambda: _as_json(trip, calls, key_nbits=trip.key_nbits, wait=args.wait),
        lambda: _text(args, trip, how, lines, NOTE),
    )


def _verdict(ok: bool) -> str:
    return "ok" if ok else "WRONG"
