"""Decoder: what the pipeline has to do for an instruction of RV32IM_Zicsr_Zifencei, or that it is none
(`legal` = 0).

The encodings are those of isa.py, from which a test draws every instruction. Whether a CSR exists and may be
written is not known here, but in X (csr_file.py).

Ports: inst -> decoded (messages.mk_decoded). Combinational.
"""

from pymtl3 import *

from ..isa.isa import AUIPC, BRANCH, BY_NAME, JAL, JALR, LOAD, LUI, MISC_MEM, OP, OP_IMM, STORE, SYSTEM
from .messages import *

ECALL_WORD, EBREAK_WORD, MRET_WORD, WFI_WORD = (
    BY_NAME[name].match for name in ("ecall", "ebreak", "mret", "wfi")
)


class Decoder(Component):
    def construct(s):
        s.inst = InPort(32)
        s.decoded = OutPort(mk_decoded())

        s.opcode = Wire(7)
        s.funct3 = Wire(3)
        s.funct7 = Wire(7)
        s.opcode //= s.inst[0:7]
        s.funct3 //= s.inst[12:15]
        s.funct7 //= s.inst[25:32]

        s.fn = Wire(4)

        @update
        def alu_function():
            # of OP and OP_IMM; everything else adds
            s.fn @= ALU_ADD
            if (s.opcode == OP) | (s.opcode == OP_IMM):
                if s.funct3 == 0:
                    if (s.opcode == OP) & s.funct7[5]:
                        s.fn @= ALU_SUB
                elif s.funct3 == 1:
                    s.fn @= ALU_SLL
                elif s.funct3 == 2:
                    s.fn @= ALU_SLT
                elif s.funct3 == 3:
                    s.fn @= ALU_SLTU
                elif s.funct3 == 4:
                    s.fn @= ALU_XOR
                elif s.funct3 == 5:
                    s.fn @= ALU_SRL
                    if s.funct7[5]:
                        s.fn @= ALU_SRA
                elif s.funct3 == 6:
                    s.fn @= ALU_OR
                else:
                    s.fn @= ALU_AND

        s.is_shift = Wire()
        s.plain_or_alternate = Wire()  # funct7 = 0, or 0x20 where that means sub or sra

        @update
        def function_codes():
            s.is_shift @= (s.funct3 == 1) | (s.funct3 == 5)
            s.plain_or_alternate @= (s.funct7 == 0) | (
                (s.funct7 == 0x20) & ((s.funct3 == 5) | ((s.funct3 == 0) & (s.opcode == OP)))
            )

        @update
        def decode():
            s.decoded.legal @= 0
            s.decoded.uses_rs1 @= 0
            s.decoded.uses_rs2 @= 0
            s.decoded.writes_rd @= 0
            s.decoded.imm_format @= IMM_I
            s.decoded.with_imm @= 0
            s.decoded.alu_fn @= s.fn
            s.decoded.result @= FROM_ALU
            s.decoded.transfer @= NEXT
            s.decoded.memory @= MEM_NONE
            s.decoded.system @= SYS_NONE

            if s.opcode == OP:
                s.decoded.uses_rs1 @= 1
                s.decoded.uses_rs2 @= 1
                s.decoded.writes_rd @= 1
                s.decoded.legal @= s.plain_or_alternate | (s.funct7 == 1)
                if s.funct7 == 1:
                    s.decoded.result @= FROM_MUL
                    if s.funct3[2]:
                        s.decoded.result @= FROM_DIV
            elif s.opcode == OP_IMM:
                s.decoded.uses_rs1 @= 1
                s.decoded.writes_rd @= 1
                s.decoded.with_imm @= 1
                s.decoded.legal @= ~s.is_shift | s.plain_or_alternate
            elif s.opcode == LUI:
                # 0 + immediate: the register file reads register 0 when no source is used
                s.decoded.writes_rd @= 1
                s.decoded.imm_format @= IMM_U
                s.decoded.with_imm @= 1
                s.decoded.legal @= 1
            elif s.opcode == AUIPC:
                s.decoded.writes_rd @= 1
                s.decoded.imm_format @= IMM_U
                s.decoded.result @= FROM_TARGET
                s.decoded.legal @= 1
            elif s.opcode == JAL:
                s.decoded.writes_rd @= 1
                s.decoded.imm_format @= IMM_J
                s.decoded.result @= FROM_LINK
                s.decoded.transfer @= TO_JAL
                s.decoded.legal @= 1
            elif s.opcode == JALR:
                s.decoded.uses_rs1 @= 1
                s.decoded.writes_rd @= 1
                s.decoded.with_imm @= 1
                s.decoded.result @= FROM_LINK
                s.decoded.transfer @= TO_JALR
                s.decoded.legal @= s.funct3 == 0
            elif s.opcode == BRANCH:
                s.decoded.uses_rs1 @= 1
                s.decoded.uses_rs2 @= 1
                s.decoded.imm_format @= IMM_B
                s.decoded.transfer @= TO_BRANCH
                s.decoded.legal @= s.funct3[2] | ~s.funct3[1]
            elif s.opcode == LOAD:
                s.decoded.uses_rs1 @= 1
                s.decoded.writes_rd @= 1
                s.decoded.with_imm @= 1
                s.decoded.memory @= MEM_LOAD
                s.decoded.legal @= (s.funct3[0:2] != 3) & (s.funct3 != 6)
            elif s.opcode == STORE:
                s.decoded.uses_rs1 @= 1
                s.decoded.uses_rs2 @= 1
                s.decoded.imm_format @= IMM_S
                s.decoded.with_imm @= 1
                s.decoded.memory @= MEM_STORE
                s.decoded.legal @= s.funct3 < 3
            elif s.opcode == MISC_MEM:
                s.decoded.legal @= s.funct3 < 2
                if s.funct3 == 1:
                    s.decoded.system @= SYS_FENCE_I
            elif s.opcode == SYSTEM:
                if s.funct3[0:2] != 0:
                    s.decoded.legal @= 1
                    s.decoded.uses_rs1 @= ~s.funct3[2]
                    s.decoded.writes_rd @= 1
                    s.decoded.imm_format @= IMM_Z
                    s.decoded.with_imm @= s.funct3[2]
                    s.decoded.result @= FROM_CSR
                    s.decoded.system @= SYS_CSR
                elif s.inst == ECALL_WORD:
                    s.decoded.legal @= 1
                    s.decoded.system @= SYS_ECALL
                elif s.inst == EBREAK_WORD:
                    s.decoded.legal @= 1
                    s.decoded.system @= SYS_EBREAK
                elif s.inst == MRET_WORD:
                    s.decoded.legal @= 1
                    s.decoded.system @= SYS_MRET
                else:
                    s.decoded.legal @= s.inst == WFI_WORD
