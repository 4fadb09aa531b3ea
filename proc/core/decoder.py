"""Decoder: the control signals of an instruction of RV32IM_Zicsr_Zifencei, one table row per instruction;
`legal` is 0 for any other word.

The encodings are those of isa.py, from which a test generates every instruction. CsrUnit checks in X whether
a CSR exists and may be written.

Ports: inst -> cs (messages.Control). Combinational.
"""

from pymtl3 import *

from ..isa.isa import AUIPC, BRANCH, BY_NAME, JAL, JALR, LOAD, LUI, MISC_MEM, OP, OP_IMM, STORE, SYSTEM
from .messages import *

ECALL, EBREAK, MRET, WFI = (BY_NAME[name].match for name in ("ecall", "ebreak", "mret", "wfi"))
Y, N = b1(1), b1(0)


class Decoder(Component):
    def construct(s):
        s.inst = InPort(32)
        s.cs = OutPort(Control)

        s.opcode = Wire(7)
        s.funct3 = Wire(3)
        s.funct7 = Wire(7)
        s.uimm = Wire()  # a csr instruction with an immediate
        s.opcode //= s.inst[0:7]
        s.funct3 //= s.inst[12:15]
        s.funct7 //= s.inst[25:32]
        s.uimm //= s.inst[14]

        s.alternate = Wire()  # funct7 = 0x20, if the instruction is sub or sra
        s.fn = Wire(4)
        s.legal_op = Wire()
        s.legal_op_imm = Wire()
        s.legal_load = Wire()
        s.legal_branch = Wire()
        s.legal_system = Wire()
        s.system = Wire(3)

        @update
        def function_codes():
            s.alternate @= (s.funct7 == 0x20) & ((s.funct3 == 5) | ((s.funct3 == 0) & (s.opcode == OP)))
            s.fn @= concat(s.alternate, s.funct3)
            s.legal_op @= (s.funct7 == 0) | s.alternate
            s.legal_op_imm @= s.legal_op | ((s.funct3 != 1) & (s.funct3 != 5))
            s.legal_load @= (s.funct3[0:2] != 3) & (s.funct3 != 6)
            s.legal_branch @= s.funct3[2] | ~s.funct3[1]

        @update
        def system_codes():
            s.system @= SYS_NONE
            if s.inst == ECALL:
                s.system @= SYS_ECALL
            elif s.inst == EBREAK:
                s.system @= SYS_EBREAK
            elif s.inst == MRET:
                s.system @= SYS_MRET
            elif s.inst == WFI:
                s.system @= SYS_WFI
            elif (s.opcode == MISC_MEM) & (s.funct3 == 1):
                s.system @= SYS_FENCE_I
            # fence does nothing: accesses to memory are in order
            s.legal_system @= (s.system != SYS_NONE) | ((s.opcode == MISC_MEM) & (s.funct3 == 0))

        @update
        def control_table():
            #              legal rs1 rs2 rd immediate op2=imm ALU result jump memory system
            if (s.opcode == OP) & (s.funct7 == 1) & ~s.funct3[2]:
                s.cs @= Control(Y, Y, Y, Y, IMM_I, N, ALU_ADD, FROM_MUL, NEXT, MEM_NONE, SYS_NONE)
            elif (s.opcode == OP) & (s.funct7 == 1):
                s.cs @= Control(Y, Y, Y, Y, IMM_I, N, ALU_ADD, FROM_DIV, NEXT, MEM_NONE, SYS_NONE)
            elif s.opcode == OP:
                s.cs @= Control(s.legal_op, Y, Y, Y, IMM_I, N, s.fn, FROM_ALU, NEXT, MEM_NONE, SYS_NONE)
            elif s.opcode == OP_IMM:
                s.cs @= Control(s.legal_op_imm, Y, N, Y, IMM_I, Y, s.fn, FROM_ALU, NEXT, MEM_NONE, SYS_NONE)
            elif s.opcode == LUI:  # 0 + immediate: operand a is 0 if rs1 is not read
                s.cs @= Control(Y, N, N, Y, IMM_U, Y, ALU_ADD, FROM_ALU, NEXT, MEM_NONE, SYS_NONE)
            elif s.opcode == AUIPC:
                s.cs @= Control(Y, N, N, Y, IMM_U, N, ALU_ADD, FROM_TARGET, NEXT, MEM_NONE, SYS_NONE)
            elif s.opcode == JAL:
                s.cs @= Control(Y, N, N, Y, IMM_J, N, ALU_ADD, FROM_LINK, JUMP_JAL, MEM_NONE, SYS_NONE)
            elif s.opcode == JALR:
                s.cs @= Control(
                    s.funct3 == 0, Y, N, Y, IMM_I, Y, ALU_ADD, FROM_LINK, JUMP_JALR, MEM_NONE, SYS_NONE
                )
            elif s.opcode == BRANCH:
                s.cs @= Control(
                    s.legal_branch, Y, Y, N, IMM_B, N, ALU_ADD, FROM_ALU, JUMP_BRANCH, MEM_NONE, SYS_NONE
                )
            elif s.opcode == LOAD:
                s.cs @= Control(s.legal_load, Y, N, Y, IMM_I, Y, ALU_ADD, FROM_ALU, NEXT, MEM_LOAD, SYS_NONE)
            elif s.opcode == STORE:
                s.cs @= Control(s.funct3 < 3, Y, Y, N, IMM_S, Y, ALU_ADD, FROM_ALU, NEXT, MEM_STORE, SYS_NONE)
            elif (s.opcode == SYSTEM) & (s.funct3[0:2] != 0):
                s.cs @= Control(Y, ~s.uimm, N, Y, IMM_Z, s.uimm, ALU_ADD, FROM_CSR, NEXT, MEM_CSR, SYS_NONE)
            else:
                s.cs @= Control(
                    s.legal_system, N, N, N, IMM_I, N, ALU_ADD, FROM_ALU, NEXT, MEM_NONE, s.system
                )
