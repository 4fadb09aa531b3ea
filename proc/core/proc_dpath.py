"""ProcDpath: the registers, operands and results of the five stages (datapath.svg; paper 001, Figure 4).

  F  FetchUnit
  D  instruction; immediate, registers, bypass; target of jumps and branches
  X  two operands, target; ALU, branch comparison, product, quotient, CSRs; request to memory or accelerator
  M  result of X; the answer of memory or accelerator
  W  result
pc and instruction go along for traps and for the commit port, and so do the address and the stored word; a
chip that leaves the commit
port open does not have them beyond X.

Ports: the status signals and enables of proc_ctrl.py, and the messages of all ports.
Area order: register file, CSRs, multiplier, divider, 20 words of pipeline registers.
"""

from pymtl3 import *

from ...rtl.messages import mk_xcel_req, mk_xcel_resp
from ..isa.causes import *
from .alu import Alu
from .branch_unit import BranchUnit
from .bus.interrupt_csr_file import InterruptCsrFile
from .csr_file import CsrFile
from .imm_gen import ImmGen
from .load_store import LoadAlign, StoreAlign
from .messages import *
from .proc_ctrl import BYPASS_M, BYPASS_W, BYPASS_X
from .register_file import RegisterFile


class ProcDpath(Component):
    def construct(s, bus=None):
        s.core_id = InPort(32)
        # ---- F and D
        s.fetch_pc = InPort(32)
        s.fetch_inst = InPort(32)
        s.fetch_rdy = InPort()
        s.inst_D = OutPort(32)
        s.decoded = InPort(mk_decoded())
        s.bypass_D = [InPort(2) for _ in range(2)]
        s.target_D = OutPort(32)
        s.target_misaligned_D = OutPort()
        s.muldiv_req = OutPort(mk_muldiv_req())
        # ---- X
        s.enable_X = InPort()
        s.decoded_X = InPort(mk_decoded())
        s.mul_resp = InPort(32)
        s.div_resp = InPort(32)
        s.branch_taken_X = OutPort()
        s.target_misaligned_X = OutPort()
        s.access_misaligned_X = OutPort()
        s.csr_illegal_X = OutPort()
        s.csr_from_manager_X = OutPort()
        s.csr_to_manager_X = OutPort()
        s.csr_to_xcel_X = OutPort()
        s.csr_go = InPort()
        s.retire_X = InPort()
        s.trap_X = InPort()
        s.cause_X = InPort(4)
        s.has_handler = OutPort()
        s.redirect_pc_X = OutPort(32)
        s.stats_en = OutPort()
        s.dmem_req = OutPort(mk_mem_req())
        s.xcel_req = OutPort(mk_xcel_req())
        s.mngr2proc = InPort(32)
        s.proc2mngr = OutPort(32)
        # ---- M
        s.enable_M = InPort()
        s.is_load_M = InPort()
        s.is_xcel_M = InPort()
        s.fault_M = InPort()
        s.enable_W = InPort()  # something comes out of M: bubbles move no data, and no clock
        s.dmem_resp = InPort(mk_mem_resp())
        s.xcel_resp = InPort(mk_xcel_resp())
        # ---- W
        s.wen_W = InPort()
        s.is_store_W = InPort()
        s.rd_W = InPort(5)
        s.pc_W = OutPort(32)
        s.inst_W = OutPort(32)
        s.data_W = OutPort(32)
        s.addr_W = OutPort(32)

        # ================ D

        s.pc_D = Wire(32)

        @update_ff
        def register_D():
            if s.fetch_rdy:
                s.pc_D <<= s.fetch_pc
                s.inst_D <<= s.fetch_inst

        s.imm_gen = ImmGen()
        s.imm_gen.inst //= s.inst_D
        s.imm_gen.imm_format //= s.decoded.imm_format

        s.result_W = Wire(32)
        s.registers = RegisterFile()
        s.registers.raddr[0] //= s.inst_D[15:20]
        s.registers.raddr[1] //= s.inst_D[20:25]
        s.registers.wen //= s.wen_W
        s.registers.waddr //= s.rd_W
        s.registers.wdata //= s.result_W

        s.source_D = [Wire(32) for _ in range(2)]
        s.a_D = Wire(32)
        s.b_D = Wire(32)

        @update
        def bypass():
            for i in range(2):
                if s.bypass_D[i] == BYPASS_X:
                    s.source_D[i] @= s.result_X
                elif s.bypass_D[i] == BYPASS_M:
                    s.source_D[i] @= s.value_M
                elif s.bypass_D[i] == BYPASS_W:
                    s.source_D[i] @= s.result_W
                else:
                    s.source_D[i] @= s.registers.rdata[i]

        @update
        def operands():
            s.a_D @= 0
            if s.decoded.uses_rs1:
                s.a_D @= s.source_D[0]
            s.b_D @= s.source_D[1]
            if s.decoded.with_imm:
                s.b_D @= s.imm_gen.imm

        @update
        def target():
            s.target_D @= s.pc_D + s.imm_gen.imm

        s.target_misaligned_D //= s.target_D[1]
        s.muldiv_req.funct3 //= s.inst_D[12:15]
        s.muldiv_req.a //= s.source_D[0]
        s.muldiv_req.b //= s.source_D[1]

        # ================ X

        s.pc_X = Wire(32)
        s.inst_X = Wire(32)
        s.a_X = Wire(32)
        s.b_X = Wire(32)
        s.store_X = Wire(32)
        s.target_X = Wire(32)
        s.funct3_X = Wire(3)
        s.funct3_X //= s.inst_X[12:15]

        @update_ff
        def register_X():
            if s.enable_X:
                s.pc_X <<= s.pc_D
                s.inst_X <<= s.inst_D
                s.a_X <<= s.a_D
                s.b_X <<= s.b_D
                s.store_X <<= s.source_D[1]
                s.target_X <<= s.target_D

        s.alu = Alu()
        s.alu.a //= s.a_X
        s.alu.b //= s.b_X
        s.alu.fn //= s.decoded_X.alu_fn

        s.branch = BranchUnit()
        s.branch.a //= s.a_X
        s.branch.b //= s.b_X
        s.branch.funct3 //= s.funct3_X
        s.branch.taken //= s.branch_taken_X

        s.trap_value_X = Wire(32)
        s.csrs = InterruptCsrFile() if bus else CsrFile()
        s.csrs.core_id //= s.core_id
        s.csrs.number //= s.inst_X[20:32]
        s.csrs.funct3 //= s.funct3_X
        s.csrs.go //= s.csr_go
        s.csrs.retire //= s.retire_X
        s.csrs.trap //= s.trap_X
        s.csrs.trap_pc //= s.pc_X
        if bus:
            s.irq = InPort()
            s.interrupt_X = InPort()
            s.told_cause_X = InPort(4)  # cause_X says what mtval is, and this what mcause is
            s.interrupts_on = OutPort()
            s.wakes = OutPort()
            s.mret_X = Wire()
            s.csrs.irq //= s.irq
            s.csrs.interrupt //= s.interrupt_X
            s.csrs.trap_cause //= s.told_cause_X
            s.csrs.mret //= s.mret_X
            s.csrs.enabled //= s.interrupts_on
            s.csrs.wakes //= s.wakes

            @update
            def returns():
                s.mret_X @= s.retire_X & (s.decoded_X.system == SYS_MRET)

        else:
            s.csrs.trap_cause //= s.cause_X
        s.csrs.trap_value //= s.trap_value_X
        s.csrs.illegal //= s.csr_illegal_X
        s.csrs.from_manager //= s.csr_from_manager_X
        s.csrs.to_manager //= s.csr_to_manager_X
        s.csrs.to_xcel //= s.csr_to_xcel_X
        s.csrs.stats_en //= s.stats_en

        s.operand_X = Wire(32)  # of a csr instruction

        @update
        def csr_access():
            s.csrs.source_zero @= s.inst_X[15:20] == 0
            s.csrs.rd_zero @= s.inst_X[7:12] == 0
            s.operand_X @= s.a_X
            if s.funct3_X[2]:
                s.operand_X @= s.b_X

        s.csrs.operand //= s.operand_X
        s.proc2mngr //= s.operand_X
        s.xcel_req.addr //= s.inst_X[20:25]
        s.xcel_req.data //= s.operand_X
        s.is_write_X = Wire()
        s.xcel_req.write //= s.is_write_X

        @update
        def has_trap_handler():
            s.has_handler @= s.csrs.mtvec != 0
            s.is_write_X @= ~s.funct3_X[1]  # csrrw and csrrwi

        s.link_X = Wire(32)
        s.result_X = Wire(32)

        @update
        def result():
            s.link_X @= s.pc_X + 4
            if s.decoded_X.result == FROM_TARGET:
                s.result_X @= s.target_X
            elif s.decoded_X.result == FROM_LINK:
                s.result_X @= s.link_X
            elif s.decoded_X.result == FROM_CSR:
                s.result_X @= s.csrs.rdata
                if s.csr_from_manager_X:
                    s.result_X @= s.mngr2proc
            elif s.decoded_X.result == FROM_MUL:
                s.result_X @= s.mul_resp
            elif s.decoded_X.result == FROM_DIV:
                s.result_X @= s.div_resp
            else:
                s.result_X @= s.alu.out

        # ---- memory request

        s.store_align = StoreAlign()
        s.store_align.funct3 //= s.funct3_X
        s.store_align.addr //= s.alu.out[0:2]
        s.store_align.data //= s.store_X
        s.access_misaligned_X //= s.store_align.misaligned

        @update
        def memory_request():
            s.dmem_req.addr @= concat(s.alu.out[2:32], b2(0))
            s.dmem_req.write @= s.decoded_X.memory == MEM_STORE
            s.dmem_req.strobe @= 0
            s.dmem_req.data @= 0
            if s.decoded_X.memory == MEM_STORE:
                s.dmem_req.strobe @= s.store_align.strobe
                s.dmem_req.data @= s.store_align.word

        # ---- where to go on, and what a trap tells

        s.jump_X = Wire(32)

        @update
        def jump():
            s.jump_X @= s.target_X
            if s.decoded_X.transfer == TO_JALR:
                s.jump_X @= concat(s.alu.out[1:32], b1(0))

        s.target_misaligned_X //= s.jump_X[1]

        @update
        def redirect():
            s.redirect_pc_X @= s.jump_X
            if s.trap_X:
                s.redirect_pc_X @= s.csrs.mtvec
            elif s.decoded_X.system == SYS_MRET:
                s.redirect_pc_X @= s.csrs.mepc
            elif s.is_flush_X:
                s.redirect_pc_X @= s.link_X

        s.is_flush_X = Wire()

        @update
        def trap_value():
            s.is_flush_X @= s.decoded_X.system == SYS_FENCE_I
            s.trap_value_X @= 0
            if s.cause_X == FETCH_FAULT:
                s.trap_value_X @= s.pc_X
            elif s.cause_X == ILLEGAL:
                s.trap_value_X @= s.inst_X
            elif s.cause_X == MISALIGNED_FETCH:
                s.trap_value_X @= s.jump_X
            elif (s.cause_X == MISALIGNED_LOAD) | (s.cause_X == MISALIGNED_STORE):
                s.trap_value_X @= s.alu.out

        # ================ M

        s.pc_M = Wire(32)
        s.inst_M = Wire(32)
        s.result_M = Wire(32)
        s.addr_M = Wire(32)
        s.store_M = Wire(32)

        @update_ff
        def register_M():
            if s.enable_M:
                s.pc_M <<= s.pc_X
                s.inst_M <<= s.inst_X
                s.addr_M <<= s.alu.out
                s.store_M <<= s.store_X
                s.result_M <<= s.result_X
                if s.trap_X:
                    s.result_M <<= s.trap_value_X

        s.load_align = LoadAlign()
        s.load_align.funct3 //= s.inst_M[12:15]
        s.load_align.addr //= s.addr_M[0:2]
        s.load_align.word //= s.dmem_resp.data

        s.value_M = Wire(32)

        @update
        def value():
            s.value_M @= s.result_M
            if s.is_load_M:
                s.value_M @= s.load_align.out
            elif s.is_xcel_M:
                s.value_M @= s.xcel_resp.data

        # ================ W

        s.store_W = Wire(32)

        @update_ff
        def register_W():
            if s.enable_W:
                s.pc_W <<= s.pc_M
                s.inst_W <<= s.inst_M
                s.addr_W <<= s.addr_M
                s.store_W <<= s.store_M
                s.result_W <<= s.value_M
                if s.fault_M:
                    s.result_W <<= s.addr_M

        @update
        def committed_data():
            s.data_W @= s.result_W
            if s.is_store_W:
                s.data_W @= s.store_W
