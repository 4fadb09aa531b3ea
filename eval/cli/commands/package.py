"""`modexlab verilog --package`: write an accelerator as an IP package for another team."""

from __future__ import annotations

import argparse

from ...designs.interfaces import AXI4LITE, INTERFACES
from ...folders import new_directory, write_folder
from ...progress import Progress
from ..arguments import (
    add_design,
    add_json,
    add_ledger,
    add_settings,
    add_width,
    answer,
    ledger_of,
    one_entry,
    settings_of,
)

SUMMARY = "pack a design as an IP core"
TEXT = """\
The folder has the Verilog, a self-checking testbench for
Verilator and Icarus, the protocol's rules as assertions, a FuseSoC core, constraints, a data sheet
(block diagram, timing, registers, cycles, area and energy from the ledger, security, limits); behind
AXI4-Lite also the register map in SystemRDL, a driver in C (for an accelerator of your own, the header
of its call), and a proof of the rules. The testbench of an accelerator of your own sends the requests of
its table. Nothing in the folder needs modexlab."""
EXAMPLES = """\
  modexlab verilog mont-ct --package --nbits 64 -o mont_ct
  modexlab verilog systolic --package --nbits 1024 --interface stream -o systolic
  modexlab verilog mont --package --nbits 128 --interface axi4lite-000 -o rsa
  modexlab verilog --package --accelerator gcd --nbits 16 -o gcd_ip"""

DEFAULT_NBITS = 32


def add(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    parser.add_argument("--output", "-o", metavar="DIR", required=True, help="the directory to make")
    add_width(parser, f"default: {DEFAULT_NBITS}, of an accelerator of your own the usual one")
    add_settings(parser)
    parser.add_argument(
        "--interface",
        choices=list(INTERFACES),
        default=AXI4LITE.name,
        help="how operands reach it (default: %(default)s)",
    )
    parser.add_argument(
        "--force", action="store_true", help="write into a directory that has files of another package"
    )
    add_ledger(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ...exchange.package.package import Package

    design = one_entry(args)
    settings = settings_of(design, args.settings)
    nbits = design.usual_nbits if args.nbits is None else args.nbits
    machine = design.at(nbits, **settings)
    directory = new_directory("--output", args.output, args.force)
    rows = [
        row
        for row in ledger_of(args, read_only=True).rows(
            subject=design.name, nbits=nbits, interface=args.interface
        )
        if dict(row.parameters) == machine.parameters
    ]
    package = Package(machine, machine.interface(args.interface), rows)
    label = f"{design.name}, {nbits} bits"
    with Progress(label, quiet=args.json) as progress:
        files = package.files(lambda part: progress.describe(f"{label}: {part}"))
    write_folder(directory, files)
    report = {
        "name": package.name,
        "directory": str(directory),
        "files": sorted(files),
        "figures": len(rows),
    }
    answer(
        args,
        lambda: report,
        lambda: [
            f"{args.output}: {package.subject.title}, {len(files)} files",
            f"  read       {directory / 'doc' / 'datasheet.html'}",
            f"  simulate   fusesoc --cores-root {args.output} run --target=sim {package.core}"
            f", or make -C {args.output} sim",
        ],
    )
    return 0
