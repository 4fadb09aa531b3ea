"""`modexlab verilog`: a design as one self-contained SystemVerilog file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ...designs.interfaces import DEFAULT, Interface
from ...designs.interfaces import find as find_interface
from ...designs.processor_verilog import PROCESSOR
from ...designs.system import COUPLINGS
from ...designs.verilog_header import comment, parameters, port_lines, wrapped
from ...designs.widths import check_width
from ...designs.workloads import some_operands
from ...progress import Progress
from ..arguments import (
    Commands,
    add_command,
    add_interface,
    add_settings,
    add_units,
    add_width,
    check_directory,
    find_design,
    settings_of,
    writing,
    xcel_of,
)

if TYPE_CHECKING:
    from ....fl.status import Status
    from ...designs.machine import Machine

TEXT = """\
The header says what the machine computes and in how
many cycles, its parameters, the ports and the protocol. Without -o the text goes to stdout; a file is written whole or not at all.

`proc` is the processor: with the null accelerator behind its port, with --xcel a design of the catalogue, at the port or
(--interface axi4lite) on its bus."""
EXAMPLES = """\
  modexlab verilog mont -o mont.sv
  modexlab verilog mont-001 --nbits 64 --set nstages=8 -o mont_001_64.sv
  modexlab verilog mont --interface xcel -o mont_xcel.sv
  modexlab verilog proc --xcel mont --nbits 32 -o proc_mont.sv"""

DEFAULT_NBITS = 32
OPEN = "none"  # for --xcel: nothing behind the port


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "verilog", "write a design as SystemVerilog", text=TEXT, examples=EXAMPLES, execute=execute
    )
    parser.add_argument(
        "design", metavar="DESIGN", help="a design of the catalogue (see `modexlab designs`), or proc"
    )
    parser.add_argument("--output", "-o", metavar="FILE", help="the file to write (default: stdout)")
    add_width(parser, f"default: {DEFAULT_NBITS}")
    add_settings(parser)
    add_interface(parser)
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
    for option in ("xcel", "mul_latency", "div_bits", "no_commit"):
        if getattr(args, option):
            raise BadInput(f"--{option.replace('_', '-')}: only the processor has it; give proc, or drop it")
    design = find_design(args.design)
    settings = settings_of(design, args.settings)
    nbits = check_width(args.nbits) if args.nbits is not None else DEFAULT_NBITS
    if args.output not in (None, "-"):
        check_directory("--output", args.output)
    with Progress(f"{design.name}, {nbits} bits"):
        text = verilog(design.at(nbits, **settings), args.interface)
    return _put(text, args.output, f"{design.name}, {nbits} bits")


def _processor(args: argparse.Namespace) -> int:
    """The processor, with what is behind its accelerator port."""
    from ...designs.processor_verilog import processor_verilog

    # the default of designs is not one of the processor's
    interface = COUPLINGS[0] if args.interface == DEFAULT.name else args.interface
    if interface not in COUPLINGS:
        raise BadInput(
            f"--interface {interface}: a machine stands behind the processor by {' or '.join(COUPLINGS)}; give one, or drop it"
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
    if args.output not in (None, "-"):
        check_directory("--output", args.output)
    what = f"{PROCESSOR}, {xcel.name}, {xcel.nbits} bits" if xcel and xcel.design else PROCESSOR
    with Progress(what):
        text = processor_verilog(xcel, **units, commit=not args.no_commit)
    return _put(text, args.output, what)


def _put(text: str, output: str | None, what: str) -> int:
    """The text to a file or to stdout."""
    if output in (None, "-"):
        print(text, end="")
        return 0
    with writing(output) as write:
        write(text)
    print(f"{output}: {what}, {text.count(chr(10))} lines")
    return 0


def verilog(machine: Machine, interface: str = DEFAULT.name) -> str:
    """The file: header and design."""
    from ....rtl.sim import translate

    chosen = find_interface(interface)
    component, top = machine.exported(chosen), machine.top(chosen)
    body = translate(component, top, unique=True)
    return f"{_header(machine, chosen, component, top, body)}\n\n{body.rstrip()}\n"


def _header(machine: Machine, interface: Interface, component: Any, top: str, body: str) -> str:
    """What a hardware engineer must know before reading on, as comment lines."""
    from ....fl.status import MEANING

    design = machine.design
    lines = [
        f"{top}: modular exponentiation of {machine.nbits} bits, generated by modexlab",
        "",
        *wrapped(f"Computes       {_computes(machine)}", 15),
        f"Design         {design.name}" + (f", after paper {design.paper}" if design.paper else ""),
        f"Product units  {design.family}",
        f"Domain         {design.domain}",
        *wrapped(f"Cycles         {_cycles(machine, interface)}", 15),
        *wrapped(f"Constant time  {_constant_time(machine)}", 15),
        "",
        "Parameters:",
        *parameters(machine),
        "",
        f"Ports of the module {top}:",
        *(f"  {line}" for line in port_lines(body, top)),
        "",
        *interface.protocol(component, machine.nbits, machine.given_fields),
        *_given(machine, interface),
        "",
        interface.statuses,
        *(f"  {int(status)}  {MEANING[status]}" for status in _statuses(machine, interface)),
    ]
    return comment(lines)


def _computes(machine: Machine) -> str:
    """In words: of which operands."""
    design, modulus = machine.design, machine.modulus
    if modulus:
        moduli = f"the modulus {modulus:#x}"
    else:
        moduli = "odd moduli" if design.odd_only else "moduli from 1 up"
        if machine.modulus_nbits < machine.nbits:
            moduli += f" of up to {machine.modulus_nbits} bits"
    bases = "bases below the modulus" if design.reduced_only else "any base"
    return (
        f"base^exp mod mod, for {moduli} and {bases}; exponent 0 gives 1 mod mod"
        f"{'' if modulus else ', modulus 1 gives 0'}"
    )


def _cycles(machine: Machine, interface: Interface) -> str:
    """Figures of this machine, for two exponents that everybody knows."""
    nbits = machine.nbits
    base, _, mod = some_operands(machine)
    exponents = {"exp = 65537": 65537, f"exp = 2^{nbits} - 1, all ones": (1 << nbits) - 1}
    figures = "; ".join(
        f"{machine.cycles(base, exp, mod)} for {name}"
        for name, exp in exponents.items()
        if exp.bit_length() <= nbits
    )
    between = f"request to response{interface.behind}".replace(",", "")
    return f"{figures} (from {between}, with a pseudo-random base below a modulus of {mod.bit_length()} bits)"


def _given(machine: Machine, interface: Interface) -> Iterator[str]:
    """What has to come with an operation, made from the modulus."""
    if machine.given:
        yield ""
        yield "Given with an operation, made from its modulus n once, and not checked:"
        for number, each in enumerate(machine.given):
            yield f"  {each.name} = {each.meaning} ({interface.place_of_given(number)})"


def _constant_time(machine: Machine) -> str:
    if not machine.design.constant_time:
        return "no: the number of cycles depends on the operands"
    full = machine.parameters.get("scan") == "full"
    return f"yes: as many cycles for all exponents{'' if full else ' of a length'}"


def _statuses(machine: Machine, interface: Interface) -> list[Status]:
    """What this machine can answer: to good operands, modulus 0, an even one, and a base not below it."""

    _, _, mod = some_operands(machine)
    longest = (1 << machine.nbits) - 1 if machine.modulus == 0 else mod
    samples = ((0, 1, mod), (0, 1, 0), (0, 1, 2), (mod, 1, mod), (0, 1, longest))
    answers = {machine.check(*operands) for operands in samples}
    return sorted({*answers, *interface.more_statuses(machine.nbits)})
