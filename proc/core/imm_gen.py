"""ImmGen: the immediate of an instruction, in the six formats of RV32 (RISC-V unprivileged manual, section
2.3; Z: the 5 bits of csrr?i).

Ports: inst, imm_type (messages.IMM_I ...) -> imm. Combinational; area order: a mux of 6 to 1 over 32 bits.
"""

from pymtl3 import *

from .messages import *


class ImmGen(Component):
    def construct(s):
        s.inst = InPort(32)
        s.imm_type = InPort(3)
        s.imm = OutPort(32)

        @update
        def pick_bits():
            if s.imm_type == IMM_I:
                s.imm @= sext(s.inst[20:32], 32)
            elif s.imm_type == IMM_S:
                s.imm @= sext(concat(s.inst[25:32], s.inst[7:12]), 32)
            elif s.imm_type == IMM_B:
                s.imm @= sext(concat(s.inst[31], s.inst[7], s.inst[25:31], s.inst[8:12], b1(0)), 32)
            elif s.imm_type == IMM_U:
                s.imm @= concat(s.inst[12:32], b12(0))
            elif s.imm_type == IMM_J:
                s.imm @= sext(concat(s.inst[31], s.inst[12:20], s.inst[20], s.inst[21:31], b1(0)), 32)
            else:
                s.imm @= zext(s.inst[15:20], 32)
