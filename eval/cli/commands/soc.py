"""Encrypt and decrypt on a RISC-V chip with a machine on its bus.

The chip is built with LiteX: a RISC-V CPU, ROM, SRAM, and the machine behind AXI4-Lite on its bus, with its
interrupt. Verilator simulates it. The bare-metal program in C uses the driver modexlab.h: it loads the
longest key that fits, encrypts a message and decrypts the ciphertext. An accelerator of your own is called
with the first requests of its table. The program checks the results, and so does this command; exit code 1
if one is wrong.

examples:
  modexlab proc soc mont --nbits 64
  modexlab proc soc mont --nbits 64 --cpu picorv32 --wait interrupt
  modexlab proc soc systolic --nbits 1024 --wait interrupt -o chip
  modexlab proc soc --accelerator gcd
"""

from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ....fl.errors import BadInput
from ....proc.software.seeded_keys import seeded_key
from ...designs.interfaces import AXI4LITE
from ...designs.machine import Design
from ...designs.own import OwnDesign
from ...designs.runnable import Runnable
from ...designs.system_catalogue import check_key_width
from ...exchange.soc.chip import Chip, Program, ProgramRun, require_litex, round_trip, table_calls, works
from ...exchange.soc.folder import CALLS, ROUND_TRIP, folder_files
from ...exchange.soc.program import CPUS
from ...folders import new_directory, write_folder
from ...json_values import attributes, json_value
from ...progress import Progress
from .. import own
from ..arguments import Settings, described, one_entry, settings_of
from ..options import choice
from ..render import Columns, Json, Table, answer

DEFAULT_NBITS, DEFAULT_CPU = 64, "vexriscv"
POLLING, INTERRUPT = "polling", "interrupt"
PHASES = ("load", "start", "wait", "read", "whole", "machine")  # of a call, in cycles
NOTE = """\
Cycles as the CPU sees them, each phase with the store that marks its end; the first call finds cold caches.
Load: the key. Start: write the base, start. Machine: by its own counter, from start to result. Share: of the
machine in the whole call."""

CALLS_NOTE = """\
Cycles as the CPU sees them, from the first write to the return of a call; caches are cold at first."""


OPTIONS = (
    "design",
    "--accelerator",
    f"--nbits (an even number from 16; default: {DEFAULT_NBITS}; for your own: its usual width)",
    "--set",
    choice("--cpu", CPUS, f"the CPU (default: {DEFAULT_CPU})", DEFAULT_CPU),
    choice(
        "--wait",
        (POLLING, INTERRUPT),
        f"how the program waits for the machine (default: {POLLING}, the only way for your own)",
        POLLING,
    ),
    "--output (a directory: Verilog, program, register map, and how to build the chip again)",
    "--force",
    "--json",
)


def execute(args: Namespace) -> int:
    design = one_entry(args)
    if not isinstance(design, OwnDesign):
        return _round_trip(args, design, settings_of(design, args.settings))
    if args.wait == INTERRUPT:
        raise BadInput(
            f"--wait {INTERRUPT}: the call of {design.name} in C polls; drop it, or give --wait {POLLING}"
        )
    accelerator = own.made(args, design)
    _ = accelerator.interface(AXI4LITE.name)  # BadInput without registers there
    program, outcome = _run(args, accelerator, table_calls, CALLS)
    shape = accelerator.shape
    calls = [
        {
            "row": call.name,
            "ok": call.ok,
            "whole": call.phases["whole"],
            "request": own.named(shape.request, call.request),
            "response": own.named(shape.response, call.response),
            "expected": own.named(shape.response, call.expected),
        }
        for call in outcome.calls
    ]
    table = Table.of(calls, {"row": "row", "result": _verdict, "whole call": "whole"}, note=CALLS_NOTE)
    return _answer(args, program, outcome, calls, table)


def _round_trip(args: Namespace, design: Design, settings: Settings) -> int:
    """A machine of the catalogue: an RSA encryption and decryption."""
    nbits = check_key_width(DEFAULT_NBITS if args.nbits is None else args.nbits)
    if any(param.name == "modulus" for param in design.params):  # built for one modulus: that of the key
        settings.setdefault("modulus", seeded_key(nbits).n)
    machine = design.at(nbits, **settings)
    for work in works(machine):
        machine.require(*work.operands)
    key_nbits, wait = works(machine)[0].mod.bit_length(), args.wait
    words = {
        name: text.format(nbits=key_nbits, wait=f"and waits by {wait}") for name, text in ROUND_TRIP.items()
    }
    program, outcome = _run(args, machine, lambda chip: round_trip(chip, wait == INTERRUPT), words)
    calls = [
        {
            "operation": call.name,
            "ok": call.ok,
            **{phase: call.phases[phase] for phase in PHASES},
            "result": json_value(call.response[0]),
            "expected": json_value(call.expected[0]),
        }
        for call in outcome.calls
    ]
    columns: Columns = {
        "operation": "operation",
        "result": _verdict,
        **{"whole call" if phase == "whole" else phase: phase for phase in PHASES},
        "share (%)": lambda call: f"{100 * call['machine'] / call['whole']:.1f}",
    }
    how = f"{wait}, with a key of {key_nbits} bits"
    table = Table.of(calls, columns, note=NOTE)
    return _answer(args, program, outcome, calls, table, how, key_nbits=key_nbits, wait=wait)


def _run(
    args: Namespace, machine: Runnable, make: Callable[[Chip], Program], words: Mapping[str, str]
) -> tuple[Program, ProgramRun]:
    """Build the chip, write its folder, and run the program."""
    directory = None if args.output is None else new_directory("--output", args.output, args.force)
    require_litex(args.cpu)
    label = f"{machine.design.name}, {machine.nbits} bits, {args.cpu}"
    program = make(Chip(machine, args.cpu))
    with Progress(f"{label}: make the chip", program.cycles, "cycle", quiet=args.json) as progress:
        if directory is not None:
            write_folder(directory, folder_files(program.chip, program.software(), words))
        _ = program.chip.model
        progress.describe(f"{label}: simulate")
        return program, program.run(lambda cycle: progress(cycle, program.cycles))


def _answer(
    args: Namespace,
    program: Program,
    outcome: ProgramRun,
    calls: list[Json],
    table: Table,
    how: str = POLLING,
    **more: Any,
) -> int:
    """Print the report of a program and its calls."""
    machine, output = program.chip.machine, outcome.output
    report = {
        **described(machine),
        **more,
        "cpu": args.cpu,
        "ok": outcome.ok,
        "exit_code": output.code,
        **attributes(output, "text", "cycles"),
        "calls": calls,
    }
    title = f"{machine.design.name}, {machine.nbits} bits, on {args.cpu}, by {how}"
    if output.code != 0:
        title += f"\nthe program ended with exit code {output.code}: {'; '.join(output.text)}"
    where = "" if args.output is None else f"the chip: {args.output} (see README.md there)"
    return answer(args, report, title, replace(table, note=""), table.note, where, ok=outcome.ok)


def _verdict(call: Json) -> str:
    return "ok" if call["ok"] else "WRONG"
