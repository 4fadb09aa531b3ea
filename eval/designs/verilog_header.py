"""What the headers of generated Verilog have in common: ports, messages, parameters and registers, as lines of text.

Whoever has such a file has it alone: nothing in a header is about our own files.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...fl import axi4lite, axi4lite_000, xcel
from ...fl.register_map import Register

if TYPE_CHECKING:
    from pymtl3 import Component

    from ...rtl.sim.ports import Message
    from .machine import Machine

PROTOCOL = """\
Protocol: clk rising edge; reset is synchronous and active high. Both streams are val/rdy: a message moves in
every cycle in which val and rdy are both 1; val, once 1, stays until the message has moved. Responses come in
the order of the requests."""

LONGEST = 137  # of a line without the sign of a comment


def comment(lines: list[str]) -> str:
    """These lines as comments."""
    return "\n".join(f"// {line}".rstrip() for line in lines)


def wrapped(text: str, indent: int) -> list[str]:
    """Lines of a header, the later ones indented."""
    return textwrap.wrap(text, 106, subsequent_indent=" " * indent)


def parameters(machine: Machine) -> Iterator[str]:
    """The width and the parameters of a machine, with what they mean."""
    helps = {param.name: without_paths(param.help) for param in machine.design.params}
    yield f"  nbits = {machine.nbits}: width of the operands"
    for name, value in machine.parameters.items():
        long = isinstance(value, int) and value.bit_length() > 64
        yield from wrapped(f"  {name} = {hex(value) if long else value}: {helps[name]}", 6)


def without_paths(text: str) -> str:
    """Words about our own files and modules mean nothing to who has this file alone."""
    return re.sub(r" \((?:[\w/]+\.py|modexlab\.[\w.]+)\)", "", text)


def messages(component: Component) -> list[str]:
    """What moves on the streams of a component."""
    from ...rtl.sim.ports import Ports

    ports = Ports.of(component)
    return [
        "Messages, first field in the most significant bits:",
        f"  istream__msg  {fields(ports.request)}",
        f"  ostream__msg  {fields(ports.response)}",
    ]


SLAVE = """\
Protocol: AXI4-Lite with 32 bits of data; clk is its clock, reset (synchronous, active high) its reset,
irq the interrupt, a level. Every output comes from a register or from one gate behind registers."""


def bus(nbits: int, given: Sequence[tuple[str, int]]) -> list[str]:
    """The protocol and the registers of a slave."""
    words = axi4lite.words_of(nbits)
    return [
        *SLAVE.split("\n"),
        "",
        f"Registers (byte addresses; operands of {words} words, the least significant first):",
        *register_lines(axi4lite.register_map(nbits, len(given))),
        "",
        *_from("An access is", axi4lite.__doc__),
    ]


def paper_bus() -> list[str]:
    """The same of paper 000's slave."""
    return [
        *SLAVE.split("\n"),
        "",
        "Registers (byte addresses):",
        *register_lines(axi4lite_000.register_map()),
        "",
        *_from("The key is", axi4lite_000.__doc__),
        "",
        "random (where keys are padded) is a stream of random bytes, val/rdy, from a true source. Its health is tested here as in",
        "NIST SP 800-90B, 4.4; the first 1,024 bytes are tested and thrown away. Where it gives none, an encryption waits for ever.",
        "random__rdy is the one output that comes from logic. key_* must stay. Padding takes two cycles more than there are bytes in a",
        "key, unpadding as many.",
    ]


def register_lines(registers: Mapping[str, Register]) -> Iterator[str]:
    """A register map as lines of text."""
    for each in registers.values():
        access = "rw" if each.readable and each.writable else "r" if each.readable else "w"
        last = each.address + axi4lite.BYTES * (each.count - 1)
        place = f"{each.address:#05x}" + (f"..{last:#05x}" if each.count > 1 else "")
        yield from wrapped(f"  {place:<14} {each.name:<13} {access:<3} {each.text}", 36)
        for field in each.fields if each.count == 1 and each.fields[0].text else ():
            bits = f"{field.high}:{field.low}" if field.high > field.low else str(field.low)
            yield from wrapped(f"{'':<22} [{bits}] {field.name}: {field.text}", 30)


def _from(begin: str, text: str | None) -> list[str]:
    """The lines of a docstring from some words on; as comments they must not be longer than others."""
    text = text or ""
    found: list[str] = []
    for paragraph in without_paths(text[text.index(begin) :]).strip().split("\n\n"):
        lines = paragraph.split("\n")
        found += ["", *(wrapped(paragraph, 0) if max(map(len, lines)) > LONGEST else lines)]
    return found[1:]


def registers() -> list[str]:
    """The register protocol of accelerators, as the header of its model has it."""
    return ["", "Registers:", *_from("Each access", xcel.__doc__)]


def port_lines(body: str, top: str) -> list[str]:
    """The port declarations of the top module, as they stand in the text."""
    match = re.search(rf"^module {top}\b\s*\(?(.*?)\);", body, re.MULTILINE | re.DOTALL)
    declarations = match[1] if match else ""
    lines = (" ".join(line.strip(" ,(").split()) for line in declarations.splitlines())
    return [line for line in lines if line and not line.startswith("/*")]


def fields(message: Message) -> str:
    """The fields of a message, as a packed struct has them."""
    return "{ " + ", ".join(f"{name}[{width - 1}:0]" for name, width in message.fields) + " }"
