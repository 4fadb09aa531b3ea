"""MicroRom: the microinstructions of a program (microcode.py).

Ports: pc, exponent_bit (if it changes a microinstruction) -> word. Combinational: a table of constants, of
which synthesis makes gates. Addresses above the program read its last microinstruction.
"""

from pymtl3 import *


class MicroRom(Component):
    def construct(s, code):
        s.pc = InPort(code.pc_nbits)
        s.word = OutPort(code.word_type)
        last = len(code.words) - 1
        pcs = [min(pc, last) for pc in range(1 << code.pc_nbits)]
        if code.by_bit:
            s.exponent_bit = InPort()
            s.words = [Wire(code.word_type.nbits) for _ in range(2 << code.pc_nbits)]
            words = [code.word(pc, bit) for bit in (0, 1) for pc in pcs]

            @update
            def look_up_by_bit():
                s.word @= s.words[concat(s.exponent_bit, s.pc)]

        else:
            s.words = [Wire(code.word_type.nbits) for _ in pcs]
            words = [code.word(pc, 0) for pc in pcs]

            @update
            def look_up():
                s.word @= s.words[s.pc]

        for wire, word in zip(s.words, words, strict=True):
            wire //= word.to_bits()
        s.verilog = {"look_up_by_bit" if code.by_bit else "look_up": verilog_case(code)}


def verilog_case(code):
    """The ROM as SystemVerilog: a concatenation for each microinstruction, with its assembly."""
    lines = [f"unique case ( {'{ exponent_bit, pc }' if code.by_bit else 'pc'} )"]
    last = len(code.words) - 1
    for pc, texts in enumerate(code.program.assembly):
        split = any(field.one[pc] != field.zero[pc] for field in code.fields)
        for bit in (0, 1) if split else (0,):
            places = [pc + (bit << code.pc_nbits)] if split else [pc, pc + (1 << code.pc_nbits)]
            labels = ", ".join(f"{code.pc_nbits + 1}'d{place}" for place in places)
            if not code.by_bit:
                labels = f"{code.pc_nbits}'d{pc}"
            note = f", exponent bit {bit}" if split else ""
            lines.append(f"  // {pc}{note}: {'; '.join(filter(None, texts))}")
            lines.append(f"  {'default' if pc == last else labels}: word = {{")
            for field in code.fields:
                comma = "" if field is code.fields[-1] else ","
                lines.append(f"    {field.verilog(pc, bit) + comma:<30} // {field.name}")
            lines.append("  };")
    return [*lines, "endcase"]
