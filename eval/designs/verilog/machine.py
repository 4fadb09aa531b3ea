"""An accelerator of any kind as one self-contained SystemVerilog file: header and hardware.

The header of an RSA machine says more.
"""

import os
import re
import shlex
import sys
from collections.abc import Collection, Iterator
from typing import Any

from ....fl.errors import BadInput
from ....fl.status import MEANING, Status
from ..interfaces import DEFAULT, UNIT, Interface
from ..machine import Machine, PublicMachine
from ..protection import costs
from ..runnable import Runnable
from ..verilog_header import paragraphs, streams, verilog_file, without_paths, wrapped
from .program_listing import program_lines

OFF = "off"  # the value of an option that is not used


def verilog(machine: Runnable, interface: str = DEFAULT.name, top: str = "") -> str:
    """The file of any accelerator; interface unit: of the multiplier of a machine alone.

    top: the name of the top module where it is not that of the design.
    """
    rsa = machine if isinstance(machine, Machine) else None
    if rsa and interface == UNIT:
        return _unit(rsa, top or unit_top(rsa))
    chosen = machine.interface(interface)
    machine.require_ports()
    component = machine.exported(chosen)
    known = [f"  {code}  {text}" for code, text in codes(machine, chosen).items()]
    command = selection(machine) + f" --interface {interface}" * (chosen is not DEFAULT)
    return verilog_file(
        component,
        top or machine.top(chosen),
        f"{'modular exponentiation of' if rsa else f'{machine.name},'} {machine.nbits} bits",
        command,
        _about(rsa, chosen) if rsa else wrapped(f"Computes       {machine.design.summary}", 15),
        parameters(machine),
        lambda: [
            *chosen.protocol(component, machine.shape, machine.traits),
            *(_given(rsa, chosen) if rsa else ()),
            *(("", "Status codes; only status 0 has a result:", *known) if len(known) > 1 else ()),
            *(_program(rsa, component) if rsa else ()),
        ],
    )


def parameters(machine: Runnable, only: Collection[str] | None = None) -> Iterator[str]:
    """The width and the parameters of a machine, or only some of these, as lines of a header."""
    yield f"  nbits = {machine.nbits}: width of the operands"
    chosen = [setting for setting in settings(machine) if only is None or setting[0] in only]
    for name, value, meaning in chosen:
        if value != OFF:
            yield from wrapped(f"  {name} = {value}: {meaning}", 6)
    off = [name for name, value, _ in chosen if value == OFF]
    if off:
        yield from wrapped(f"  {OFF}: {', '.join(off)}", 6)


def settings(machine: Runnable) -> Iterator[tuple[str, str, str]]:
    """Name, value and meaning of each parameter of a machine."""
    helps = {param.name: without_paths(param.help) for param in machine.design.params}
    for name, value in machine.parameters.items():
        if value is False or value == "no":
            text = OFF
        elif value is True:
            text = "on"
        else:
            text = hex(value) if isinstance(value, int) and value.bit_length() > 64 else str(value)
        yield name, text, helps[name]


def codes(machine: Runnable, interface: Interface) -> dict[int, str]:
    """The status codes that an accelerator behind this interface can answer, with their meanings in words."""
    more = interface.more_statuses(machine.shape)
    found = {0: MEANING[Status.OK]}
    for code in sorted(map(int, {*machine.statuses, *more})):
        texts = (known[code] for known in (machine.statuses, more) if code in known)
        found[code] = "; or ".join(dict.fromkeys(texts))
    return found


def unit_top(machine: Machine) -> str:
    """The module name of a machine's multiplier alone."""
    return re.sub(r"\W", "_", f"{machine.name}_{machine.nbits}_{UNIT}")


def _unit(machine: Machine, top: str) -> str:
    component, cycles = machine.multiplier(), machine.timing.fixed
    own = {param.name for param in machine.design.multiplier.params}
    return verilog_file(
        component,
        top,
        f"the multiplier of {machine.design.name}, {machine.nbits} bits",
        f"{selection(machine)} --interface {UNIT}",
        [
            *paragraphs(sys.modules[type(component).__module__].__doc__),
            "",
            f"Product units  {machine.design.family}",
            f"Cycles         {'depend on the operands' if cycles is None else f'{cycles} for a product'}",
        ],
        parameters(machine, own),
        lambda: [
            "Static ports, which must not change while a product is in progress:",
            f"  modulus = {_modulus_of(machine)}",
            *(f"  {port.name} = {port.meaning}" for port in machine.given if hasattr(component, port.name)),
            "",
            *streams(component),
        ],
    )


def _modulus_of(machine: Machine) -> str:
    """The number at the port of the multiplier."""
    if machine.design.domain == "scaled":
        return f"M', in its lower {machine.nbits} bits"
    return "n, an odd number" if machine.design.odd_only else "n"


def _about(machine: Machine, interface: Interface) -> list[str]:
    """The first lines about an RSA machine."""
    design = machine.design
    return [
        *wrapped(f"Computes       {computes(machine)}", 15),
        f"Design         {design.name}" + (f", after paper {design.paper}" if design.paper else ""),
        f"Product units  {design.family}",
        f"Domain         {design.domain}",
        *wrapped(f"Cycles         {_cycles(machine, interface)}", 15),
        *wrapped(f"Constant time  {machine.promises.sentence}", 15),
    ]


def selection(machine: Runnable) -> str:
    """The arguments of a command that select a machine; a user's own design is given as NAME@PATH."""
    name, at, origin = machine.design.reference.partition("@")
    origin = os.path.relpath(origin) if "/" in origin else origin
    given = (f" --set {setting}" for setting in machine.changed)
    return f"{shlex.quote(f'{name}{at}{origin}')} --nbits {machine.nbits}{''.join(given)}"


def computes(machine: Machine) -> str:
    """Describe the operands in words."""
    promises, moduli = machine.promises, "odd moduli"
    if not promises.odd_only:
        moduli = "moduli from 1 up"
    bases = "bases below the modulus" if promises.reduced_only else "any base"
    if machine.keyed:
        crt = promises.key == "crt"
        how = {
            "modulo p and modulo q, put together by Garner's formula": crt,
            "the message blinded": promises.message_blinded,
            "the exponent blinded": promises.exponent_blinded,
            "the result withheld unless it gives base again by e": promises.checked,
        }
        exponent = "exp is the public exponent" if crt else "exp is d"
        steps = ", ".join(step for step, done in how.items() if done)
        return f"base^d mod mod with an RSA key, for {moduli} and {bases}; {exponent}; {steps}"
    if promises.modulus:
        return (
            f"base^exp mod mod, for the modulus {promises.modulus:#x} and {bases}; exponent 0 gives 1 mod mod"
        )
    if machine.modulus_nbits < machine.nbits:
        moduli += f" of up to {machine.modulus_nbits} bits"
    return f"base^exp mod mod, for {moduli} and {bases}; exponent 0 gives 1 mod mod, modulus 1 gives 0"


def _cycles(machine: Machine, interface: Interface) -> str:
    """The cycles of this machine for two common exponents or, with a key, for its private operation."""
    nbits = machine.nbits
    between = f"request to response{interface.behind}".replace(",", "")
    if machine.keyed:
        try:
            found = costs(machine)
        except BadInput:  # cycles of products depend on the operands, and there is no key of this width
            return "depend on the numbers of the key"
        key = "" if found.promises.every_exponent else ", half of whose private exponent are ones"
        return (
            f"{found.cycles} for a key of {nbits} bits{key} (from {between}); before that, the request "
            f"is examined for {found.loading_cycles} cycles, one field per cycle"
        )
    base, _, mod = machine.some_operands()
    public = ", public" if isinstance(machine, PublicMachine) and machine.calls_public(65537) else ""
    exponents = {f"exp = 65537{public}": 65537, f"exp = 2^{nbits} - 1, all ones": (1 << nbits) - 1}
    figures = "; ".join(
        f"{machine.cycles(base, exp, mod)} for {name}"
        for name, exp in exponents.items()
        if exp.bit_length() <= nbits
    )
    return f"{figures} (from {between}, with a pseudo-random base below a modulus of {mod.bit_length()} bits)"


def _given(machine: Machine, interface: Interface) -> Iterator[str]:
    """Describe the precomputed fields of a request, from the modulus or from a key."""
    if machine.keyed:
        yield ""
        yield (
            "Numbers of the key, after mod; inconsistent ones are refused with a status or used as they are:"
        )
        for number, (name, nbits, meaning) in enumerate(machine.programmed.fields):
            yield f"  {name:<5}{nbits:>5} bits  {meaning} ({interface.place_of_given(number)})"
    if machine.given:
        yield ""
        yield "Given with an operation, made from its modulus n once, and not checked:"
        for number, item in enumerate(machine.given):
            yield f"  {item.name} = {item.meaning} ({interface.place_of_given(number)})"


# boxes whose modules say enough
SMALL_BOXES = ("exponent", "one_residue", "operand_check", "product_issue")


def _program(machine: Machine, component: Any) -> Iterator[str]:
    """The microinstructions that the sequencer executes, or else the algorithm of the machine."""
    made = machine.build.programmed
    if made is not None:
        yield from ["", "Program:", *program_lines(made.program)]
        return
    boxes = sorted(component.get_all_components(), key=lambda box: (repr(box).count("."), repr(box)))
    for module in dict.fromkeys(type(box).__module__ for box in boxes):
        if ".rtl.mod_exp." in module and not module.endswith(SMALL_BOXES):
            yield from ["", *paragraphs(str(sys.modules[module].__doc__).partition("\n\nPorts:")[0])]
