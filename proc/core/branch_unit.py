"""BranchUnit: whether a conditional branch is taken (RISC-V unprivileged manual, section 2.5.2).

Ports: a, b, funct3 (0 beq, 1 bne, 4 blt, 5 bge, 6 bltu, 7 bgeu) -> taken. Combinational; area order: two
comparators of 32 bits.
"""

from pymtl3 import *


class BranchUnit(Component):
    def construct(s):
        s.a = InPort(32)
        s.b = InPort(32)
        s.funct3 = InPort(3)
        s.taken = OutPort()

        s.holds = Wire()

        @update
        def compare():
            if ~s.funct3[2]:
                s.holds @= s.a == s.b
            elif ~s.funct3[1] & (s.a[31] != s.b[31]):
                s.holds @= s.a[31]
            else:
                s.holds @= s.a < s.b

        @update
        def invert():
            s.taken @= s.holds ^ s.funct3[0]
