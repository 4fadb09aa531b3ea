"""MicroRom: the microinstructions of a program (microcode.py).

Ports: pc, exponent_bit (if a microinstruction depends on it) -> inst. Combinational: synthesis turns the
constants into gates. Addresses above the program read its last microinstruction.
"""

import itertools
from functools import partial

from pymtl3 import *

from ...fl.program.ir import folded
from .microcode import joined

COLUMNS = 96  # of a line here; it is indented by four more


class MicroRom(Component):
    """The microinstructions of a program, by field; idle and unread fields share lines."""

    def construct(s, microcode):
        depth, last = 1 << microcode.pc_nbits, len(microcode.words) - 1
        s.pc = InPort(microcode.pc_nbits)
        s.inst = OutPort(microcode.inst_type)
        s.address = Wire(microcode.pc_nbits + microcode.by_bit)
        s.address[0 : microcode.pc_nbits] //= s.pc
        if microcode.by_bit:
            s.exponent_bit = InPort()
            s.address[microcode.pc_nbits] //= s.exponent_bit
        insts = [
            microcode.inst(min(pc, last), bit) for bit in range(1 + microcode.by_bit) for pc in range(depth)
        ]
        s.insts = [Wire(microcode.inst_type.nbits) for _ in insts]
        for wire, inst in zip(s.insts, insts, strict=True):
            wire //= inst.to_bits()

        @update
        def look_up():
            s.inst @= s.insts[s.address]

        s.verilog = {"look_up": partial(verilog_case, microcode)}


def verilog_case(microcode):
    """The ROM of the measured text: a concatenation for each microinstruction, with its assembly.

    Exported text has the ROM of ../verilog/rom.py.
    """
    nbits = microcode.pc_nbits + microcode.by_bit
    yield "unique casez (address)"
    for pc, texts in enumerate(microcode.program.assembly):
        bits = range(1 + microcode.by_bit)
        split = microcode.inst(pc, 0) != microcode.inst(pc, 1)
        for group in [[bit] for bit in bits] if split else [bits]:
            label = pc + (group[0] << microcode.pc_nbits)
            labels = f"{nbits}'d{label}"
            if len(group) > 1:  # the bit may be unknown, as it is before the first exponent
                labels = f"{nbits}'b?{pc:0{microcode.pc_nbits}b}"
            note = f"exponent bit {group[0]}; " * split
            if pc == len(microcode.words) - 1:
                labels = "default"
            head = f"  {labels}: inst = {{  // "
            yield head + folded(f"{pc}: {note}{'; '.join(filter(None, texts))}", COLUMNS - len(head))[0]
            *rows, last = joined_rows(microcode.fields, pc, group)
            yield from (f"    {value + ',':<28} // {name}" for value, name in rows)
            yield f"    {last[0]:<28} // {last[1]}"
            yield "  };"
    yield "endcase"


def joined_rows(fields, pc, bits):
    """The values of a microinstruction's fields; idle neighbours are one number."""
    bit = bits[0]
    for idle, neighbours in itertools.groupby(fields, lambda field: field.idle(pc, bit)):
        group = list(neighbours)
        if idle and len(group) > 1:
            yield joined(group, pc, bit, "hx")
        else:
            yield from ((field.verilog(pc, bit), field.name) for field in group)
