"""MicroRom: the microinstructions of a program (microcode.py).

Ports: pc, exponent_bit (if a microinstruction depends on it) -> inst. Combinational: synthesis turns the
constants into gates. Addresses above the program read its last microinstruction.
"""

from pymtl3 import *


class MicroRom(Component):
    """The microinstructions of a program, by field; idle and unread fields share lines."""

    def construct(s, microcode):
        s.microcode = microcode  # of which ../verilog/rom.py makes the case in the Verilog
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
