"""`modexlab verilog`: a design as one self-contained SystemVerilog file."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from ....fl.errors import BadInput
from ...designs.interfaces import DEFAULT
from ...designs.soc_system import COUPLINGS
from ...designs.verilog.machine import verilog
from ...designs.verilog.padding import PADDING, padding_verilog
from ...designs.verilog.processor import PROCESSOR
from ...designs.widths import check_width
from ...progress import Progress
from ..arguments import (
    add_interface,
    add_manifests,
    add_settings,
    add_units,
    add_width,
    check_directory,
    one_entry,
    settings_of,
    writing,
    xcel_of,
)

SUMMARY = "write a design as SystemVerilog"
TEXT = """\
The header says what the machine computes and in how
many cycles, its parameters, the ports and the protocol. Without -o the text goes to stdout; a file is written whole or not at all.

`proc` is the processor: with the null accelerator behind its port, with --xcel a design of the catalogue, at the port or
(--interface axi4lite) on its bus. pkcs1-pad, pkcs1-unpad and pkcs1-unpad-implicit are the units for padding by PKCS#1 v1.5."""
EXAMPLES = """\
  modexlab verilog mont -o mont.sv
  modexlab verilog mont-001 --nbits 64 --set nstages=8 -o mont_001_64.sv
  modexlab verilog mont --interface xcel -o mont_xcel.sv
  modexlab verilog mont --interface unit -o multiplier.sv
  modexlab verilog proc --xcel mont --nbits 32 -o proc_mont.sv
  modexlab verilog pkcs1-unpad --nbits 2048 -o unpad.sv"""

DEFAULT_NBITS, PADDING_NBITS = 32, 1024
OPEN = "none"  # for --xcel: nothing behind the port


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "design",
        metavar="DESIGN",
        nargs="?",
        help="a design of the catalogue (see `modexlab show`), proc, or a unit of padding",
    )
    add_manifests(parser)
    parser.add_argument("--output", "-o", metavar="FILE", help="the file to write (default: stdout)")
    add_width(parser, f"default: {DEFAULT_NBITS}")
    add_settings(parser)
    add_interface(parser, units=True)
    processor = parser.add_argument_group("the processor (DESIGN proc)")
    processor.add_argument(
        "--xcel",
        metavar="DESIGN",
        help=f"the accelerator; {OPEN}: its port is one of the module (default: the null accelerator)",
    )
    add_units(processor)
    processor.add_argument(
        "--no-commit", action="store_true", help="without the port that shows what retires, as for a chip"
    )


def execute(args: argparse.Namespace) -> int:
    if args.design == PROCESSOR:
        return _processor(args)
    if args.design in PADDING:
        return _padding(args)
    for option in ("xcel", "mul_latency", "div_bits", "no_commit"):
        if getattr(args, option):
            raise BadInput(f"--{option.replace('_', '-')}: only the processor has it; give proc, or drop it")
    design = one_entry(args)
    settings = settings_of(design, args.settings)
    nbits = design.usual_nbits if args.nbits is None else args.nbits
    what = f"{design.name}, {nbits} bits"
    return _put(args.output, what, lambda: verilog(design.at(nbits, **settings), args.interface))


def _padding(args: argparse.Namespace) -> int:
    """A unit of PKCS#1 v1.5, which has a width and nothing else."""
    for option in ("settings", "xcel", "mul_latency", "div_bits", "no_commit"):
        if getattr(args, option):
            name = "set" if option == "settings" else option.replace("_", "-")
            raise BadInput(f"--{name}: {args.design} has a width and nothing else; drop it")
    if args.interface != DEFAULT.name:
        raise BadInput(f"--interface: {args.design} has streams of its own; drop it")
    nbits = check_width(args.nbits) if args.nbits is not None else PADDING_NBITS
    return _put(args.output, f"{args.design}, {nbits} bits", lambda: padding_verilog(args.design, nbits))


def _processor(args: argparse.Namespace) -> int:
    """The processor, with what is behind its accelerator port."""
    from ...designs.verilog.processor import processor_verilog

    # the default of designs is not one of the processor's
    interface = COUPLINGS[0] if args.interface == DEFAULT.name else args.interface
    if interface not in COUPLINGS:
        raise BadInput(
            f"--interface {interface}: a machine stands behind the processor by {' or '.join(COUPLINGS)}; "
            "give one, or drop it"
        )
    if args.xcel in (None, OPEN):
        if interface != COUPLINGS[0]:
            raise BadInput(f"--interface {interface} without an accelerator; name one with --xcel DESIGN")
        for option, given in (("--nbits", args.nbits is not None), ("--set", bool(args.settings))):
            if given:
                raise BadInput(f"{option} without an accelerator; name one with --xcel DESIGN")
    xcel = None if args.xcel == OPEN else xcel_of(args.xcel, args.nbits, args.settings, interface)
    if xcel is None and args.no_commit:
        raise BadInput(f"--no-commit with --xcel {OPEN}: only a whole system can do without; name a DESIGN")
    units = {
        name: getattr(args, name) for name in ("mul_latency", "div_bits") if getattr(args, name) is not None
    }
    what = f"{PROCESSOR}, {xcel.name}, {xcel.nbits} bits" if xcel and xcel.design else PROCESSOR
    return _put(args.output, what, lambda: processor_verilog(xcel, **units, commit=not args.no_commit))


def _put(output: str | None, what: str, make: Callable[[], str]) -> int:
    """Write the text to a file or to stdout."""
    path = None if output == "-" else output
    if path is not None:
        check_directory("--output", path)
    with Progress(what):
        text = make()
    if path is None:
        print(text, end="")
        return 0
    with writing(path) as write:
        write(text)
    print(f"{path}: {what}, {text.count(chr(10))} lines")
    return 0
