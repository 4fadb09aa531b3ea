"""A machine of the catalogue as one self-contained SystemVerilog file with a full header."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from ....fl.errors import BadInput
from ....fl.program.ir import Check
from ....fl.status import MEANING, Status
from ..interfaces import DEFAULT, UNIT, Interface
from ..interfaces import find as find_interface
from ..machine import Machine
from ..protection import costs
from ..runnable import Runnable
from ..verilog_header import PROTOCOL, folded, messages, paragraphs, verilog_file, wrapped
from . import accelerator
from .accelerator import parameters

LEGEND = (
    "One microinstruction per line: its products (mul; mulw over the whole width; .if: only for an exponent "
    "bit of 1; (x|y): x for a bit of 1, y for 0) and the actions that take effect when it ends; then its "
    "successor, unless that is the next line. r: the result, b: the base, s: the operand fetched last."
)


def verilog(machine: Runnable, interface: str = DEFAULT.name) -> str:
    """The file of any accelerator; interface unit: of the multiplier of a machine alone."""
    if not isinstance(machine, Machine):
        return accelerator.verilog(machine, interface)
    return _unit(machine) if interface == UNIT else _machine(machine, find_interface(interface))


def unit_top(design: str, nbits: int) -> str:
    """The module name of a design's multiplier alone."""
    return re.sub(r"\W", "_", f"{design}_{nbits}_{UNIT}")


def _unit(machine: Machine) -> str:
    component, cycles = machine.multiplier(), machine.timing.fixed
    own = {param.name for param in machine.design.multiplier.params}
    return verilog_file(
        component,
        unit_top(machine.design.name, machine.nbits),
        f"the multiplier of {machine.design.name}, {machine.nbits} bits",
        [
            *paragraphs(sys.modules[type(component).__module__].__doc__),
            "",
            f"Product units  {machine.design.family}",
            f"Cycles         {'depend on the operands' if cycles is None else f'{cycles} for a product'}",
        ],
        parameters(machine, own),
        lambda: [
            "Static ports, which must not change while a product is under way:",
            f"  modulus = n{', an odd number' if machine.design.odd_only else ''}",
            *(f"  {port.name} = {port.meaning}" for port in machine.given if hasattr(component, port.name)),
            "",
            *messages(component),
            "",
            *PROTOCOL.split("\n"),
        ],
    )


def _machine(machine: Machine, interface: Interface) -> str:
    design, component = machine.design, machine.exported(interface)
    return verilog_file(
        component,
        machine.top(interface),
        f"modular exponentiation of {machine.nbits} bits",
        [
            *wrapped(f"Computes       {computes(machine)}", 15),
            f"Design         {design.name}" + (f", after paper {design.paper}" if design.paper else ""),
            f"Product units  {design.family}",
            f"Domain         {design.domain}",
            *wrapped(f"Cycles         {_cycles(machine, interface)}", 15),
            *wrapped(f"Constant time  {machine.promises.sentence}", 15),
            *wrapped(f"Command        {_command(machine, interface)}", 15),
        ],
        parameters(machine),
        lambda: [
            *interface.protocol(component, machine.shape, machine.traits),
            *_given(machine, interface),
            "",
            interface.statuses,
            *(f"  {code}  {meaning}" for code, meaning in codes(machine, interface).items()),
            *_program(machine),
        ],
    )


def _command(machine: Machine, interface: Interface) -> str:
    """The command that writes the file."""
    defaults = {param.name: param.default_at(machine.nbits) for param in machine.design.params}
    given = [f"--set {name}={value}" for name, value in machine.parameters.items() if value != defaults[name]]
    behind = [] if interface is DEFAULT else [f"--interface {interface.name}"]
    return " ".join(["modexlab verilog", machine.design.name, f"--nbits {machine.nbits}", *behind, *given])


def computes(machine: Machine) -> str:
    """Describe the operands in words."""
    if machine.keyed:
        return _private(machine)
    promises = machine.promises
    if modulus := promises.modulus:
        moduli = f"the modulus {modulus:#x}"
    else:
        moduli = "odd moduli" if promises.odd_only else "moduli from 1 up"
        if machine.modulus_nbits < machine.nbits:
            moduli += f" of up to {machine.modulus_nbits} bits"
    bases = "bases below the modulus" if promises.reduced_only else "any base"
    return (
        f"base^exp mod mod, for {moduli} and {bases}; exponent 0 gives 1 mod mod"
        f"{'' if modulus else ', modulus 1 gives 0'}"
    )


def _private(machine: Machine) -> str:
    """The same of a machine that takes a private key."""
    promises = machine.promises
    crt = promises.key == "crt"
    how = [
        "modulo p and modulo q, put together by Garner's formula" if crt else "",
        "the message blinded" if promises.message_blinded else "",
        "the exponent blinded" if promises.exponent_blinded else "",
        "the result withheld unless it gives base again by e" if promises.checked else "",
    ]
    moduli = "odd moduli" if promises.odd_only else "moduli from 1 up"
    bases = "bases below the modulus" if promises.reduced_only else "any base"
    exponent = "exp is the public exponent" if crt else "exp is d"
    steps = ", ".join(filter(None, how))
    return f"base^d mod mod with an RSA key, for {moduli} and {bases}; {exponent}; {steps}"


def _cycles(machine: Machine, interface: Interface) -> str:
    """Figures of this machine, for two exponents that everybody knows; with a key, of its operation."""
    if machine.keyed:
        return _private_cycles(machine, interface)
    nbits = machine.nbits
    base, _, mod = machine.some_operands()
    exponents = {"exp = 65537": 65537, f"exp = 2^{nbits} - 1, all ones": (1 << nbits) - 1}
    figures = "; ".join(
        f"{machine.cycles(base, exp, mod)} for {name}"
        for name, exp in exponents.items()
        if exp.bit_length() <= nbits
    )
    between = f"request to response{interface.behind}".replace(",", "")
    return f"{figures} (from {between}, with a pseudo-random base below a modulus of {mod.bit_length()} bits)"


def _private_cycles(machine: Machine, interface: Interface) -> str:
    """Describe the cycles of an operation, and of waiting for its request."""
    try:
        found = costs(machine)
    except BadInput:  # products whose numbers decide on their cycles, and a width of which there is no key
        return "as the numbers of the key make them"
    between = f"request to response{interface.behind}".replace(",", "")
    key = "" if found.promises.every_exponent else ", half of whose private exponent are ones"
    return (
        f"{found.cycles} for a key of {machine.nbits} bits{key} (from {between}); before, "
        f"{found.loading_cycles} in which the request "
        "is looked at, a field a cycle, while it waits to be taken"
    )


def _given(machine: Machine, interface: Interface) -> Iterator[str]:
    """Describe the precomputed fields of a request, from the modulus or from a key."""
    if machine.keyed:
        yield ""
        yield (
            "Of the key, behind mod; what does not belong together is answered as the statuses say, or "
            "computed with:"
        )
        for number, (name, nbits, meaning) in enumerate(machine.programmed.fields):
            yield f"  {name:<5}{nbits:>5} bits  {meaning} ({interface.place_of_given(number)})"
    if machine.given:
        yield ""
        yield "Given with an operation, made from its modulus n once, and not checked:"
        for number, item in enumerate(machine.given):
            yield f"  {item.name} = {item.meaning} ({interface.place_of_given(number)})"


def statuses(machine: Machine, interface: Interface) -> list[Status]:
    """Return the possible statuses: for good operands, modulus 0, an even one, and a base not below it; and
    its program's.
    """
    more = interface.more_statuses(machine.shape)
    if machine.keyed:
        return sorted({*_of_program(machine), *more})
    _, _, mod = machine.some_operands()
    longest = (1 << machine.nbits) - 1 if machine.modulus == 0 else mod
    samples = ((0, 1, mod), (0, 1, 0), (0, 1, 2), (mod, 1, mod), (0, 1, longest))
    answers = {machine.check(*operands) for operands in samples}
    return sorted({*answers, *more})


def _of_program(machine: Machine) -> set[Status]:
    """Return the statuses with which a request with a key is refused, and those that its program finds."""
    made = machine.programmed
    good = dict.fromkeys(made.names, 1) | {"base": 0}
    samples = [{}, {"mod": 0}, {"mod": 2}, {"base": 1}, *([{"p": 2}] if "p" in good else [])]
    found = {made.inspect({**good, **sample}) for sample in samples}
    return found | {check.status for check in made.program.find(Check) if isinstance(check, Check)}


def _program(machine: Machine) -> Iterator[str]:
    """The words that the sequencer executes."""
    made = machine.build.programmed
    if made is None:
        return
    yield ""
    yield "Program:"
    yield from wrapped(f"  {LEGEND}", 2)
    for line in made.program.listing():
        yield f"  {line if len(folded(f'  {line}')) == 1 else ' '.join(line.split())}"


def codes(machine: Machine, interface: Interface) -> dict[int, str]:
    """Everything that the machine behind this interface can answer, in words."""
    known = {int(status): MEANING[status] for status in statuses(machine, interface)}
    return {**known, **interface.further_codes(machine.nbits)}
