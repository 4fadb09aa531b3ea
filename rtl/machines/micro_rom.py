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
