"""Register map of one accelerator as SystemRDL: axi4lite.rdl with its fields and constants."""

from __future__ import annotations

import json
import re

from ....fl.accelerator import Shape
from ....fl.axi4lite import (
    MAP,
    OPERANDS,
    Traits,
    operand_names,
    register_map,
)
from ....fl.mod_exp import is_exponentiation
from ....fl.xcel import words_of

WINDOW = re.compile(r"(?m)^  word (\w+)\[.*\] @(.*\n)")


def register_rdl(name: str, shape: Shape, traits: Traits) -> str:
    """The text, without parameters that are open."""
    text = MAP.read_text()
    if is_exponentiation(shape):
        for parameter, value in (("W", words_of(shape.widest)), ("GIVEN", len(shape.request) - 3)):
            text = _replaced(rf"(unsigned {parameter} = )\d+", rf"\g<1>{value}", text)
    else:
        text = _of_fields(text, name, shape)
    for field in register_map(shape, traits)["CAPABILITIES"].fields:
        text = _replaced(rf"(}} {field.name}\[\d+:\d+\]);", rf"\g<1> = {field.reset};", text)
    return text


def _of_fields(text: str, name: str, shape: Shape) -> str:
    """The map with a register a field of the request, in the place of operands of an exponentiation."""
    registers = register_map(shape)
    renamed = dict(zip(OPERANDS, operand_names(shape), strict=False))

    def window(found: re.Match[str]) -> str:
        own = renamed.get(found[1])
        return "" if own is None else f"  word {own}[{registers[own].count}] @{found[2]}"

    _, text = text.split("addrmap modexlab", 1)
    _, text = text.split(") {\n", 1)
    text = (
        f"// The registers of {name}, by modexlab: 32 bits each, byte addresses.\n\naddrmap {name} {{\n{text}"
    )
    text = WINDOW.sub(window, text)
    text = re.sub(r"(?m)^  .* -> ispresent.*\n", "", text)
    text = _replaced(r"RESULT\[W\]", f"RESULT[{registers['RESULT'].count}]", text)
    text = _replaced(r'name = "modular exponentiation"', f"name = {json.dumps(name)}", text)
    known = {field.name: field for field in registers["CAPABILITIES"].fields}
    before, inside, after = re.split(
        r"(  reg \{\n    name = \"what the machine.*?CAPABILITIES)", text, flags=re.S
    )
    lines = (
        line
        for line in inside.split("\n")
        if not (bits := re.search(r"\} (\w+)\[", line)) or bits[1] in known
    )
    text = before + "\n".join(lines) + after
    for field in (*registers["CAPABILITIES"].fields, *registers["CONTROL"].fields):
        text = _replaced(rf'desc = "[^"]*"(.*\}} {field.name}\[)', rf'desc = "{field.text}"\1', text)
    return text


def _replaced(pattern: str, by: str, text: str) -> str:
    """The text with its one match replaced."""
    text, count = re.subn(pattern, by, text)
    assert count == 1, pattern
    return text
