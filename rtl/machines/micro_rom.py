"""MicroRom: the microinstructions of a program (microcode.py).

Ports: pc, exponent_bit (if a microinstruction depends on it) -> inst. Combinational: synthesis turns the
constants into gates. Addresses above the program read its last microinstruction.
"""

import itertools
import textwrap

from pymtl3 import *


class MicroRom(Component):
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

        s.verilog = {"look_up": list(verilog_case(microcode))}


def verilog_case(microcode):
    """The ROM for readers of SystemVerilog: a concatenation for each microinstruction, with its assembly."""
    nbits = microcode.pc_nbits + microcode.by_bit
    yield "unique casez (address)"
    for pc, texts in enumerate(microcode.program.assembly):
        bits = range(1 + microcode.by_bit)
        split = microcode.inst(pc, 0) != microcode.inst(pc, 1)
        for group in [[bit] for bit in bits] if split else [bits]:
            labels = f"{nbits}'d{pc + (group[0] << microcode.pc_nbits)}"
            if len(group) > 1:  # the bit may be unknown, as it is before the first exponent
                labels = f"{nbits}'b?{pc:0{microcode.pc_nbits}b}"
            note = f"exponent bit {group[0]}; " * split
            if pc == len(microcode.words) - 1:
                labels = "default"
            text = f"{pc}: {note}{'; '.join(filter(None, texts))}"
            yield f"  {labels}: inst = {{  // {textwrap.shorten(text, 66, placeholder=' ...')}"
            *rows, last = field_rows(microcode, pc, group[0])
            yield from (f"    {value + ',':<28} // {name}" for value, name in rows)
            yield f"    {last[0]:<28} // {last[1]}"
            yield "  };"
    yield "endcase"


def field_rows(microcode, pc, bit):
    """The values of a microinstruction's fields, with their names; a row for neighbours that are idle."""
    for idle, group in itertools.groupby(microcode.fields, lambda field: field.idle(pc, bit)):
        fields = list(group)
        if idle and len(fields) > 1:
            value = "".join(f"{field.value(pc, bit):0{field.nbits}b}" for field in fields)
            yield f"{len(value)}'h{int(value, 2):x}", f"unused: {fields[0].name} to {fields[-1].name}"
        else:
            yield from ((field.verilog(pc, bit), field.name) for field in fields)
