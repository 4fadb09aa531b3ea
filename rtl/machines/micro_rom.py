"""MicroRom: the microinstructions of a program (microcode.py).

Ports: pc, exponent_bit (if it changes a microinstruction) -> word. Combinational: a table of constants, of
which synthesis makes gates. Addresses above the program read its last microinstruction.
"""

import itertools
import textwrap

from pymtl3 import *

COLUMNS = 66  # of a comment in the exported case


class MicroRom(Component):
    def construct(s, code):
        s.pc = InPort(code.pc_nbits)
        s.word = OutPort(code.word_type)
        depth, last = 1 << code.pc_nbits, len(code.words) - 1
        words = [code.word(min(pc, last), bit) for bit in range(1 + code.by_bit) for pc in range(depth)]
        s.words = [Wire(code.word_type.nbits) for _ in words]
        for wire, word in zip(s.words, words, strict=True):
            wire //= word.to_bits()

        if code.by_bit:
            s.exponent_bit = InPort()

            @update
            def look_up_by_bit():
                s.word @= s.words[concat(s.exponent_bit, s.pc)]

            s.verilog = {"look_up_by_bit": verilog_case(code, "{exponent_bit, pc}")}
        else:

            @update
            def look_up():
                s.word @= s.words[s.pc]

            s.verilog = {"look_up": verilog_case(code, "pc")}


def verilog_case(code, address):
    """The ROM for readers of SystemVerilog: a concatenation for each microinstruction, with its assembly."""
    lines = [f"unique case ({address})"]
    for pc, texts in enumerate(code.program.assembly):
        split = code.word(pc, 0) != code.word(pc, 1)
        for bit in range(1 + split):
            places = [pc + (high << code.pc_nbits) for high in ([bit] if split else range(1 + code.by_bit))]
            labels = ", ".join(f"{code.pc_nbits + code.by_bit}'d{place}" for place in places)
            label = labels if pc < len(code.words) - 1 else "default"
            assembly = "; ".join(filter(None, (f"exponent bit {bit}" if split else "", *texts)))
            lines.append(
                f"  {label}: word = {{  // {textwrap.shorten(f'{pc}: {assembly}', COLUMNS, placeholder=' ...')}"
            )
            rows = list(field_rows(code, pc, bit))
            lines += [f"    {value + ',':<28} // {name}" for value, name in rows[:-1]]
            lines += [f"    {rows[-1][0]:<28} // {rows[-1][1]}", "  };"]
    return [*lines, "endcase"]


def field_rows(code, pc, bit):
    """The values of a microinstruction's fields, with their names; a row for fields that are idle together."""
    for idle, fields in itertools.groupby(code.fields, lambda field: field.idle(pc, bit)):
        fields = list(fields)
        if idle and len(fields) > 1:
            value = 0
            for field in fields:
                value = value << field.nbits | field.value(pc, bit)
            yield (
                f"{sum(field.nbits for field in fields)}'d{value}",
                f"unused: {fields[0].name} to {fields[-1].name}",
            )
        else:
            yield from ((field.verilog(pc, bit), field.name) for field in fields)
