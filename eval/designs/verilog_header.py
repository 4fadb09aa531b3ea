"""What the headers of generated Verilog have in common: ports, messages, parameters and registers, as lines of text.

Whoever has such a file has it alone: nothing in a header is about our own files.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...fl import xcel

if TYPE_CHECKING:
    from ...rtl.sim.ports import Message
    from .machine import Machine

PROTOCOL = """\
Protocol: clk rising edge; reset is synchronous and active high. Both streams are val/rdy: a message moves in
every cycle in which val and rdy are both 1; val, once 1, stays until the message has moved. Responses come in
the order of the requests."""


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


def registers() -> list[str]:
    """The register protocol of accelerators, as the header of its model has it."""
    text = xcel.__doc__ or ""
    return ["", "Registers:", *without_paths(text[text.index("Each access") :]).strip().split("\n")]


def port_lines(body: str, top: str) -> list[str]:
    """The port declarations of the top module, as they stand in the text."""
    match = re.search(rf"^module {top}\b\s*\(?(.*?)\);", body, re.MULTILINE | re.DOTALL)
    declarations = match[1] if match else ""
    lines = (" ".join(line.strip(" ,(").split()) for line in declarations.splitlines())
    return [line for line in lines if line and not line.startswith("/*")]


def fields(message: Message) -> str:
    """The fields of a message, as a packed struct has them."""
    return "{ " + ", ".join(f"{name}[{width - 1}:0]" for name, width in message.fields) + " }"
