"""`modexlab soc`: a machine on the bus of a RISC-V chip made with LiteX, and the driver in C that works with it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ...folders import new_directory, write_folder
from ...progress import Progress
from ...soc.cpus import CPUS
from ...table import table
from ..arguments import (
    Commands,
    add_command,
    add_json,
    add_settings,
    add_width,
    answer,
    find_design,
    json_value,
    settings_of,
)

if TYPE_CHECKING:
    from ...soc.chip import RoundTrip

TEXT = """\
The chip is made
with LiteX: a RISC-V CPU, ROM, SRAM, and the machine behind AXI4-Lite on its bus, with its interrupt. Verilator
simulates it. Its program is C on the bare metal, with the driver modexlab.h: it loads the longest key that the
machine takes, encrypts a message and decrypts the ciphertext. Results are compared by the program, and once more
here; exit code 1 if one is wrong."""
EXAMPLES = """\
  modexlab soc mont --nbits 64
  modexlab soc mont --nbits 64 --cpu picorv32 --wait interrupt
  modexlab soc systolic --nbits 1024 --wait interrupt -o chip"""

DEFAULT_NBITS, DEFAULT_CPU = 64, "vexriscv"
POLLING, INTERRUPT = "polling", "interrupt"
NOTE = """\
Cycles as the CPU sees them, each phase with the store that marks its end; the first call finds cold caches. Load: the key.
Start: write the base, start. Machine: by its own counter, from start to result. Share: of the machine in the whole call."""


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "soc",
        "encrypt and decrypt on a RISC-V chip with a machine on its bus",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument("design", metavar="DESIGN", help="a design of the catalogue (see `modexlab designs`)")
    add_width(parser, f"an even number from 16, default: {DEFAULT_NBITS}")
    add_settings(parser)
    parser.add_argument("--cpu", choices=CPUS, default=DEFAULT_CPU, help=f"the CPU (default: {DEFAULT_CPU})")
    parser.add_argument(
        "--wait",
        choices=(POLLING, INTERRUPT),
        default=POLLING,
        help=f"how the program waits for the machine (default: {POLLING})",
    )
    parser.add_argument(
        "--output",
        "-o",
        metavar="DIR",
        help="write the chip to this directory: Verilog, program, map of registers, and how to build it again",
    )
    parser.add_argument("--force", action="store_true", help="write into a directory that has files")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ...designs.systems import check_key_width
    from ...soc.chip import (
        Chip,
        expected_cycles,
        require_litex,
        round_trip,
        round_trip_software,
        workloads,
        works,
    )
    from ...soc.folder import folder_files

    design = find_design(args.design)
    settings = settings_of(design, args.settings)
    nbits = check_key_width(DEFAULT_NBITS if args.nbits is None else args.nbits)
    directory = None if args.output is None else new_directory("--output", args.output, args.force)
    if any(param.name == "modulus" for param in design.params):  # made for one, and so for that of the key
        settings.setdefault("modulus", workloads(nbits)[0].mod)
    machine = design.at(nbits, **settings)
    for work in works(machine):
        machine.require(*work.operands)
    require_litex(args.cpu)
    by_interrupt = args.wait == INTERRUPT
    label = f"{design.name}, {nbits} bits, {args.cpu}"
    with Progress(f"{label}: make the chip", expected_cycles(machine), "cycle", quiet=args.json) as progress:
        chip = Chip(machine, args.cpu)
        if directory is not None:
            waits = f"and waits by {args.wait}"
            program = round_trip_software(chip, by_interrupt)
            write_folder(directory, folder_files(chip, program, waits))
        _ = chip.model
        progress.describe(f"{label}: simulate")
        trip = round_trip(chip, by_interrupt, lambda cycle: progress(cycle, expected_cycles(machine)))
    answer(args, lambda: _as_json(trip, args), lambda: _lines(trip, args))
    return 0 if trip.ok else 1


def _as_json(trip: RoundTrip, args: argparse.Namespace) -> dict[str, Any]:
    machine = trip.chip.machine
    return {
        "design": machine.design.name,
        "nbits": machine.nbits,
        "key_nbits": trip.key_nbits,
        "params": {name: json_value(value) for name, value in machine.parameters.items()},
        "cpu": trip.chip.cpu,
        "wait": args.wait,
        "ok": trip.ok,
        "exit_code": trip.output.code,
        "text": trip.output.text,
        "cycles": trip.output.cycles,
        "calls": [
            {
                "operation": each.operation,
                "ok": each.result == each.expected,
                "load": each.load,
                "start": each.start,
                "wait": each.wait,
                "read": each.read,
                "whole": each.whole,
                "machine": each.machine,
                "result": json_value(each.result),
                "expected": json_value(each.expected),
            }
            for each in trip.calls
        ],
    }


def _lines(trip: RoundTrip, args: argparse.Namespace) -> list[str]:
    machine = trip.chip.machine
    head = ["operation", "result", "load", "start", "wait", "read", "whole call", "machine", "share (%)"]
    rows = [
        [
            each.operation,
            "ok" if each.result == each.expected else "WRONG",
            *(
                str(count)
                for count in (each.load, each.start, each.wait, each.read, each.whole, each.machine)
            ),
            f"{100 * each.machine / each.whole:.1f}",
        ]
        for each in trip.calls
    ]
    lines = [
        f"{machine.design.name}, {machine.nbits} bits, on {trip.chip.cpu}, by {args.wait}, with a key of {trip.key_nbits} bits"
    ]
    if trip.output.code != 0:
        lines.append(f"the program ended with exit code {trip.output.code}: {'; '.join(trip.output.text)}")
    lines += ["", table(head, rows), "", NOTE]
    if args.output is not None:
        lines += ["", f"the chip: {args.output} (see README.md there)"]
    return lines
