"""MicroRom: the microinstructions of a program (microcode.py).

Ports: pc, exponent_bit (if it changes a microinstruction) -> word. Combinational: a table of constants, of
which synthesis makes gates. Addresses above the program read its last microinstruction.
"""

import itertools
import textwrap

from pymtl3 import *


class MicroRom(Component):
    def construct(s, code):
        depth, last = 1 << code.pc_nbits, len(code.words) - 1
        s.pc = InPort(code.pc_nbits)
        s.word = OutPort(code.word_type)
        s.address = Wire(code.pc_nbits + code.by_bit)
        s.address[0 : code.pc_nbits] //= s.pc
        if code.by_bit:
            s.exponent_bit = InPort()
            s.address[code.pc_nbits] //= s.exponent_bit
        words = [code.word(min(pc, last), bit) for bit in range(1 + code.by_bit) for pc in range(depth)]
        s.words = [Wire(code.word_type.nbits) for _ in words]
        for wire, word in zip(s.words, words, strict=True):
            wire //= word.to_bits()

        @update
        def look_up():
            s.word @= s.words[s.address]

        s.verilog = {"look_up": list(verilog_case(code))}


def verilog_case(code):
    """The ROM for readers of SystemVerilog: a concatenation for each microinstruction, with its assembly."""
    nbits = code.pc_nbits + code.by_bit
    yield "unique casez (address)"
    for pc, texts in enumerate(code.program.assembly):
        bits = range(1 + code.by_bit)
        split = code.word(pc, 0) != code.word(pc, 1)
        for group in [[bit] for bit in bits] if split else [bits]:
            labels = f"{nbits}'d{pc + (group[0] << code.pc_nbits)}"
            if len(group) > 1:  # the bit may be unknown, as it is before the first exponent
                labels = f"{nbits}'b?{pc:0{code.pc_nbits}b}"
            note = f"exponent bit {group[0]}; " * split
            if pc == len(code.words) - 1:
                labels = "default"
            text = f"{pc}: {note}{'; '.join(filter(None, texts))}"
            yield f"  {labels}: word = {{  // {textwrap.shorten(text, 66, placeholder=' ...')}"
            *rows, last = field_rows(code, pc, group[0])
            yield from (f"    {value + ',':<28} // {name}" for value, name in rows)
            yield f"    {last[0]:<28} // {last[1]}"
            yield "  };"
    yield "endcase"


def field_rows(code, pc, bit):
    """The values of a microinstruction's fields, with their names; a row for neighbours that are idle."""
    for idle, group in itertools.groupby(code.fields, lambda field: field.idle(pc, bit)):
        fields = list(group)
        if idle and len(fields) > 1:
            value = "".join(f"{field.value(pc, bit):0{field.nbits}b}" for field in fields)
            yield f"{len(value)}'h{int(value, 2):x}", f"unused: {fields[0].name} to {fields[-1].name}"
        else:
            yield from ((field.verilog(pc, bit), field.name) for field in fields)
