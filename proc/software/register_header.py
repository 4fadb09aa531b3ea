"""C header of the driver's registers, generated from fl/axi4lite.rdl and fl/status.py.

    python -m modexlab.proc.software.register_header

writes driver/modexlab_regs.h again. PeakRDL's generator is not taken: its names carry the width and the
numbers given (MODEXLAB_W_20_GIVEN_0__STATUS__BUSY_bm), so that a driver would be of one machine; registers
have no addresses but places in a structure; its header includes assert.h, which a bare machine need not have;
and of the descriptions of the map it takes none.
"""

from __future__ import annotations

from ...fl.axi4lite import IDENTITY, VERSION, register_map
from ...fl.mod_exp import exponentiation
from ...fl.status import MEANING
from ...fl.xcel import MOST_GIVEN, words_of
from .compiler import DRIVER

HEADER = DRIVER / "modexlab_regs.h"
MOST_NBITS = 4096
INTRODUCTION = """\
// Registers of a machine for modular exponentiation behind AXI4-Lite, and its status codes. Made by modexlab from its SystemRDL
// description (modexlab.proc.software.register_header): change that, not this.
//
// MODEXLAB_REG_*: byte addresses from the base; operands are rows of words, the least significant first. *_SHIFT and *_MASK:
// the fields of a register."""


def register_header() -> str:
    """The text of the header; the widest machine has all registers that any machine has."""
    lines = [INTRODUCTION, "", "#ifndef MODEXLAB_REGS_H", "#define MODEXLAB_REGS_H", ""]
    lines.append(_define("ID", f"0x{IDENTITY:08X}u", "what register ID holds"))
    lines.append(_define("VERSION", f"{VERSION}u", "of this map"))
    lines.append(_define("MOST_WORDS", f"{words_of(MOST_NBITS)}u", "of an operand"))
    lines.append(_define("MOST_GIVEN", f"{MOST_GIVEN}u", "numbers beside the modulus"))
    for register in register_map(
        exponentiation(MOST_NBITS, tuple((f"given_{place}", MOST_NBITS) for place in range(MOST_GIVEN)))
    ).values():
        access = "rw" if register.readable and register.writable else "r" if register.readable else "w"
        lines += [
            "",
            _define(f"REG_{register.name}", f"0x{register.address:03X}u", f"{access}: {register.text}"),
        ]
        for field in register.fields if register.fields[0].text else ():
            name = f"{register.name}_{field.name.upper()}"
            mask = ((2 << (field.high - field.low)) - 1) << field.low
            lines.append(_define(f"{name}_SHIFT", str(field.low), field.text))
            lines.append(_define(f"{name}_MASK", f"0x{mask:08X}u"))
    lines += ["", "// status codes, in field CODE of register STATUS"]
    lines += [_define(status.name, str(int(status)), text) for status, text in MEANING.items()]
    texts = ", \\\n".join(f'    "{text}"' for text in MEANING.values())
    lines += ["#define MODEXLAB_STATUS_MESSAGES \\", "  { \\", f"{texts} \\", "  }", "", "#endif", ""]
    return "\n".join(lines)


def _define(name: str, value: str, text: str = "") -> str:
    return f"#define MODEXLAB_{name} {value}" + (f" // {text}" if text else "")


if __name__ == "__main__":
    HEADER.write_text(register_header())
