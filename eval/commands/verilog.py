"""`modexlab verilog`: a design as one self-contained SystemVerilog file."""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any

from ..machine import check_width
from .arguments import (
    Commands,
    add_command,
    add_design,
    add_settings,
    add_width,
    check_directory,
    find_design,
    settings_of,
    writing,
)

if TYPE_CHECKING:
    from ..catalogue import Design

TEXT = """\
The header says the parameters, the ports and the
protocol. Without -o the text goes to stdout; a file is written whole or not at all."""
EXAMPLES = """\
  modexlab verilog mont -o mont.sv
  modexlab verilog mont-001 --nbits 64 --set nstages=8 -o mont_001_64.sv"""

DEFAULT_NBITS = 32


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "verilog", "write a design as SystemVerilog", text=TEXT, examples=EXAMPLES, execute=execute
    )
    add_design(parser)
    parser.add_argument("--output", "-o", metavar="FILE", help="the file to write (default: stdout)")
    add_width(parser, f"default: {DEFAULT_NBITS}")
    add_settings(parser)


def execute(args: argparse.Namespace) -> int:
    design = find_design(args.design)
    settings = settings_of(design, args.settings)
    nbits = check_width(args.nbits) if args.nbits is not None else DEFAULT_NBITS
    to_file = args.output not in (None, "-")
    if to_file:
        check_directory("--output", args.output)
    text = verilog(design, nbits, settings)
    if not to_file:
        print(text, end="")
        return 0
    with writing(args.output) as write:
        write(text)
    print(f"{args.output}: {design.name}, {nbits} bits, {text.count(chr(10))} lines")
    return 0


def verilog(design: Design, nbits: int, settings: dict[str, Any]) -> str:
    """The file: header and design."""
    from ...rtl.sim import translate

    parameters = design.resolve(nbits, settings)
    component = design.rtl(nbits, **settings)
    top = re.sub(r"\W", "_", f"{design.name}_{nbits}")
    body = translate(component, top)
    return f"{_header(design, nbits, parameters, component, top, body)}\n\n{body.rstrip()}\n"


PROTOCOL = """\
Protocol: clk rising edge; reset is synchronous and active high. Both streams are val/rdy: a message moves in
every cycle in which val and rdy are both 1; val, once 1, stays until the message has moved. Responses come in
the order of the requests. A status other than 0 says why there is no result, which then reads as 0:"""


def _header(
    design: Design, nbits: int, parameters: dict[str, Any], component: Any, top: str, body: str
) -> str:
    """What a hardware engineer must know before reading on, as comment lines."""
    from ...fl.status import MEANING
    from ...rtl.sim.ports import Ports

    ports = Ports.of(component)
    # what this machine can answer: to good operands, and to modulus 0, an even one, and a base not below it
    samples = ((0, 1, 1), (0, 1, 0), (0, 1, 2), (3, 1, 3))
    answers = sorted({design.check(nbits, *operands) for operands in samples})
    helps = {param.name: param.help for param in design.params}
    lines = [
        f"{top}: {design.summary}",
        "",
        f"Design      {design.name} of modexlab's catalogue"
        + (f" (after paper {design.paper})" if design.paper else ""),
        f"Domain      {design.domain}",
        f"Schedule    {design.schedule}{', constant time' if design.constant_time else ''}",
        "",
        "Parameters:",
        f"  nbits = {nbits}: width of the operands",
        *(
            line
            for name, value in parameters.items()
            for line in textwrap.wrap(f"  {name} = {value}: {helps[name]}", 106, subsequent_indent="      ")
        ),
        "",
        f"Ports of the module {top}:",
        *(f"  {line}" for line in _ports(body, top)),
        "",
        "Messages, first field in the most significant bits:",
        f"  istream__msg  {_fields(ports.request)}",
        f"  ostream__msg  {_fields(ports.response)}",
        "",
        *PROTOCOL.split("\n"),
        *(f"  {int(status)}  {MEANING[status]}" for status in answers),
        "",
        "About the top module:",
        *(f"  {line}" for line in _about(component)),
    ]
    return "\n".join(f"// {line}".rstrip() for line in lines)


def _ports(body: str, top: str) -> list[str]:
    """The port declarations of the top module, as they stand in the text."""
    match = re.search(rf"^module {top}\b\s*\(?(.*?)\);", body, re.MULTILINE | re.DOTALL)
    declarations = match[1] if match else ""
    return [" ".join(line.strip(" ,(").split()) for line in declarations.splitlines() if line.strip(" ,(")]


def _fields(message: Any) -> str:
    return "{ " + ", ".join(f"{name}[{width - 1}:0]" for name, width in message.fields) + " }"


def _about(component: Any) -> list[str]:
    """The description that opens the component's own file."""
    module = inspect.getmodule(type(component))
    return (inspect.getdoc(module) or "").splitlines()
