"""BranchUnit: decides whether a jump or branch is taken, computes its target, and checks the alignment of the
target (RISC-V unprivileged manual, section 2.5).

Ports: jump (messages.JUMP_BRANCH ...), funct3 (0 beq, 1 bne, 4 blt, 5 bge, 6 bltu, 7 bgeu), a, b, target (of
jal and branches), alu_out (the target of jalr) -> taken (not for jal, which is taken in D), pc, misaligned.
Combinational; area order: two comparators of 32 bits.
"""

from pymtl3 import *

from .messages import *


class BranchUnit(Component):
    def construct(s):
        s.jump = InPort(2)
        s.funct3 = InPort(3)
        s.a = InPort(32)
        s.b = InPort(32)
        s.target = InPort(32)
        s.alu_out = InPort(32)
        s.taken = OutPort()
        s.pc = OutPort(32)
        s.misaligned = OutPort()

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
        def jump_or_branch():
            s.taken @= (s.jump == JUMP_JALR) | ((s.jump == JUMP_BRANCH) & (s.holds ^ s.funct3[0]))
            s.pc @= s.target
            if s.jump == JUMP_JALR:
                s.pc @= concat(s.alu_out[1:32], b1(0))
            s.misaligned @= (s.taken | (s.jump == JUMP_JAL)) & s.pc[1]
