"""Write a design as SystemVerilog.

The header of the file describes the function of the machine, its cycles, parameters, ports and protocol.
Without -o the text goes to stdout; a file is written whole or not at all. Verilator's -Wall reports nothing
on the files of -o FOLDER/; on a single file it warns that modules have other names (DECLFILENAME).

DESIGN `proc` is the processor: with the null accelerator at its port, or with --xcel a design of the
catalogue, at the port or (--interface axi4lite) on its bus. pkcs1-pad, pkcs1-unpad and pkcs1-unpad-implicit
are the units for padding by PKCS#1 v1.5.

examples:
  modexlab verilog mont -o mont.sv
  modexlab verilog mont -o mont/       # a file per module; files.f lists them in order
  modexlab verilog mont --interface unit -o multiplier.sv
  modexlab verilog mont-001 --nbits 64 --set nstages=8 -o mont_001_64.sv
  modexlab verilog mont --interface xcel -o mont_xcel.sv
  modexlab verilog proc --xcel mont --nbits 32 -o proc_mont.sv
  modexlab verilog pkcs1-unpad --nbits 2048 -o unpad.sv
"""

from argparse import Namespace
from collections.abc import Callable

from ....fl.errors import BadInput
from ....rtl.sim.translation.module_files import module_files
from ...designs.interfaces import COUPLINGS, DEFAULT
from ...designs.soc_system import Xcel
from ...designs.verilog.machine import verilog
from ...designs.verilog.padding import PADDING, padding_verilog
from ...designs.verilog.processor import PROCESSOR, processor_verilog
from ...designs.widths import check_width
from ...folders import check_file, new_directory, write_file, write_folder
from ...json_values import attributes
from ...progress import Progress
from ..arguments import accelerator_of, refuse, xcel_of
from ..options import HARDWARE, PRIVATE, UNITS, Group, flag

PADDING_NBITS = 1024
OPEN = "none"  # for --xcel: nothing behind the port


OF_PROCESSOR = ("xcel", "mul_latency", "div_bits", "no_commit")
OPTIONS = (
    "design (or proc, or a unit of padding)",
    "--accelerator",
    "--output (a file, or FOLDER/ for a file per module; default: stdout)",
    "--force",
    *HARDWARE,
    Group(
        "the processor (DESIGN proc)",
        (
            f"--xcel (default: the null accelerator; {OPEN}: its port is one of the module)",
            *UNITS,
            flag("--no-commit", "omit the port that shows retired instructions, as for a chip"),
        ),
    ),
)


def execute(args: Namespace) -> int:
    if args.design == PROCESSOR:
        return _processor(args)
    if args.design in PADDING:
        return _padding(args)
    refuse(args, OF_PROCESSOR, ": only the processor has it; give proc, or drop it")
    machine = accelerator_of(args)
    what = f"{machine.design.name}, {machine.nbits} bits"
    return _put(args, what, lambda: verilog(machine, args.interface))


def _padding(args: Namespace) -> int:
    """Write a unit of PKCS#1 v1.5, whose only parameter is the width."""
    refuse(
        args,
        ("settings", *PRIVATE, *OF_PROCESSOR),
        f": {args.design} has no parameter but its width; drop it",
    )
    if args.interface != DEFAULT.name:
        raise BadInput(f"--interface: {args.design} has streams of its own; drop it")
    nbits = check_width(PADDING_NBITS if args.nbits is None else args.nbits)
    return _put(args, f"{args.design}, {nbits} bits", lambda: padding_verilog(args.design, nbits))


def _processor(args: Namespace) -> int:
    """Write the processor with the component at its accelerator port."""
    # the default interface of designs is not available behind the processor
    interface = COUPLINGS[0] if args.interface == DEFAULT.name else args.interface
    if interface not in COUPLINGS:
        raise BadInput(
            f"--interface {interface}: behind the processor it is {' or '.join(COUPLINGS)}; "
            "give one, or drop it"
        )
    name = None if args.xcel == OPEN else args.xcel
    if name is None:
        refuse(args, ["nbits"], " without an accelerator; name one with --xcel DESIGN")
    xcel: Xcel | None = xcel_of(args, name, interface)
    if args.xcel == OPEN:
        xcel = None
        if args.no_commit:
            raise BadInput(
                f"--no-commit with --xcel {OPEN}: only a whole system can do without; name a DESIGN"
            )
    asked = attributes(args, "mul_latency", "div_bits")
    units = {unit: value for unit, value in asked.items() if value is not None}
    what = f"{PROCESSOR}, {xcel.name}, {xcel.nbits} bits" if xcel and xcel.design else PROCESSOR
    return _put(args, what, lambda: processor_verilog(xcel, **units, commit=not args.no_commit))


def _put(args: Namespace, what: str, make: Callable[[], str]) -> int:
    """Write the text to a file or to stdout."""
    path = None if args.output == "-" else args.output
    folder = new_directory("--output", path, args.force) if path and path.endswith("/") else None
    if not folder:
        refuse(args, ["force"], " without a folder to write to; give --output FOLDER/, or drop it")
    if path is not None and not folder:
        check_file("--output", path)
    with Progress(what):
        text = make()
    if path is None:
        print(text, end="")
        return 0
    if folder:
        files = module_files(text)
        write_folder(folder, files | {"files.f": "".join(f"{name}\n" for name in files)})
    else:
        write_file(path, text)
    print(f"{path}: {what}, {text.count(chr(10))} lines")
    return 0
