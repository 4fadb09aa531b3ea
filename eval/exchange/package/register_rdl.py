"""Register map of one accelerator as SystemRDL."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ....fl.register_map import Field, Register

EFFECTS = {"CONTROL": " singlepulse;", "IRQ_STATUS": " hw = w; onwrite = woclr;"}  # of writes
HEAD = """\
// The registers of {name}, by modexlab: 32 bits each, byte addresses.

addrmap {name} {{
  name = {title};
  default regwidth = 32;
  default accesswidth = 32;
"""


def register_rdl(name: str, title: str, registers: Mapping[str, Register]) -> str:
    """The text, with the constants of this accelerator as reset values."""
    lines = [HEAD.format(name=name, title=json.dumps(title))]
    for register in registers.values():
        count = f"[{register.count}]" if register.count > 1 else ""
        hw = "r" if register.writable else "w"
        lines += [
            f"  reg {{\n    name = {json.dumps(register.text)};",
            f"    default sw = {register.access};\n    default hw = {hw};",
            *(f"    {_field(field, EFFECTS.get(register.name, ''))}" for field in register.fields),
            f"  }} {register.name}{count} @{register.address:#05x};",
        ]
    return "\n".join([*lines, "};", ""])


def _field(field: Field, effect: str) -> str:
    text = f" desc = {json.dumps(field.text)};" if field.text else ""
    return f"field {{{text}{effect} }} {field.name}[{field.high}:{field.low}] = {field.reset};"
