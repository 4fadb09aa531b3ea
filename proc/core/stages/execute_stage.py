"""ExecuteStage: X: ALU, branches, CSRs, traps, and the requests to memory, accelerator and manager.

Ports: issue and operands, from D; stall_M, fault_M -> stall_X and squash_D; redirect_val, redirect_pc and
stop to F; slot and result to M; late_X (the value is known in M only) and write_X to the bypasses;
stats_en; the streams of products, quotients, memory, accelerator and manager. With bus: irq, interrupt_X
(the trap in X is one), refused (BusUnit) -> trap_X, interrupts_X. Area order: CSRs, 192 flip-flops, ALU,
muxes of 32 bits.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ....rtl.messages import mk_xcel_req
from ..alu import Alu
from ..branch_unit import BranchUnit
from ..load_store import StoreAlign
from ..messages import *
from .csr_unit import CsrUnit
from .retire_unit import RetireUnit
from .trap_unit import TrapUnit


class ExecuteStage(Component):
    def construct(s, bus=None):
        s.core_id = InPort(32)
        s.issue = InPort(Issue)
        s.operands = InPort(Operands)
        s.stall_M = InPort()
        s.fault_M = InPort()
        s.stall_X = OutPort()
        s.squash_D = OutPort(Hold)
        s.stop = OutPort()
        s.redirect_val = OutPort()
        s.redirect_pc = OutPort(32)
        s.late_X = OutPort()
        s.write_X = OutPort(Write)
        s.slot = OutPort(Slot)
        s.result = OutPort(Result)
        s.stats_en = OutPort()
        s.mul_resp = RecvIfcRTL(Bits32)
        s.div_resp = RecvIfcRTL(Bits32)
        s.dmem_req = SendIfcRTL(MemReq)
        s.xcel_req = SendIfcRTL(mk_xcel_req())
        s.mngr2proc = RecvIfcRTL(Bits32)
        s.proc2mngr = SendIfcRTL(Bits32)

        s.operands_X = Wire(Operands)
        s.cause = Wire(4)
        s.cs = Wire(Control)
        s.cs //= s.operands_X.cs

        @update_ff
        def register_X():
            if ~s.stall_X:
                s.operands_X <<= s.operands

        s.connect_control()
        s.alu = m = Alu()
        m.a //= s.operands_X.a
        m.b //= s.operands_X.b
        m.fn //= s.cs.alu_fn

        s.branch = m = BranchUnit()
        m.jump //= s.cs.jump
        m.funct3 //= s.operands_X.inst[12:15]
        m.a //= s.operands_X.a
        m.b //= s.operands_X.b
        m.target //= s.operands_X.target
        m.alu_out //= s.alu.out
        m.taken //= s.control.taken

        s.store_align = m = StoreAlign()
        m.mem //= s.cs.mem
        m.funct3 //= s.operands_X.inst[12:15]
        m.addr //= s.alu.out
        m.data //= s.operands_X.store
        m.req //= s.dmem_req.msg

        s.connect_traps(bus)
        s.handshake()
        s.select_result()
        if bus:
            s.connect_bus()
        else:
            s.traps.access_fault //= s.store_align.misaligned
            s.traps.cause //= s.cause

    def connect_control(s):
        """Whether the instruction waits, retires or traps, and what it squashes."""
        s.control = m = RetireUnit()
        m.issue //= s.issue
        m.cs //= s.cs
        m.cause //= s.cause
        m.stall_M //= s.stall_M
        m.fault_M //= s.fault_M
        m.stall_X //= s.stall_X
        m.squash_D //= s.squash_D
        m.redirect_X //= s.redirect_val
        m.stop //= s.stop
        m.slot //= s.slot

    def connect_traps(s, bus):
        """CSRs and traps."""
        s.csrs = m = CsrUnit(bus)
        m.core_id //= s.core_id
        m.x //= s.control.x
        m.cs //= s.cs
        m.pc //= s.operands_X.pc
        m.inst //= s.operands_X.inst
        m.rs1 //= s.operands_X.a
        m.uimm //= s.operands_X.b
        m.act //= s.control.act
        m.retire //= s.control.retire
        m.trap //= s.control.trap_X
        m.cause //= s.cause
        m.to_xcel //= s.control.to_xcel
        m.has_handler //= s.control.has_handler
        m.stats_en //= s.control.stats_en
        m.stats_en //= s.stats_en
        m.xcel_req //= s.xcel_req
        m.mngr2proc //= s.mngr2proc
        m.proc2mngr //= s.proc2mngr

        s.traps = m = TrapUnit()
        m.x //= s.control.x
        m.cs //= s.cs
        m.pc //= s.operands_X.pc
        m.inst //= s.operands_X.inst
        m.csr_illegal //= s.csrs.illegal
        m.jump_misaligned //= s.branch.misaligned
        m.jump_pc //= s.branch.pc
        m.addr //= s.alu.out
        m.trap //= s.control.trap
        m.value //= s.csrs.trap_value

    def handshake(s):
        """The streams of products, quotients and the data memory; the others are those of CsrUnit."""
        s.is_mul = Wire()
        s.is_div = Wire()
        s.is_mem = Wire()

        @update
        def request():
            s.is_mul @= s.cs.result_sel == FROM_MUL
            s.is_div @= s.cs.result_sel == FROM_DIV
            s.is_mem @= (s.cs.mem == MEM_LOAD) | (s.cs.mem == MEM_STORE)
            s.mul_resp.rdy @= s.control.act & s.is_mul
            s.div_resp.rdy @= s.control.act & s.is_div
            s.dmem_req.val @= s.control.act & s.is_mem

        @update
        def wait_for_stream():
            s.control.wait_X @= (
                s.csrs.wait_X
                | (s.is_mul & ~s.mul_resp.val)
                | (s.is_div & ~s.div_resp.val)
                | (s.is_mem & ~s.dmem_req.rdy)
            )

    def select_result(s):
        """The value for rd, and where F goes on."""
        s.link = Wire(32)
        s.value = Wire(32)
        s.value_M = Wire(32)

        @update
        def select_value():
            s.link @= s.operands_X.pc + 4
            if s.cs.result_sel == FROM_TARGET:
                s.value @= s.operands_X.target
            elif s.cs.result_sel == FROM_LINK:
                s.value @= s.link
            elif s.cs.result_sel == FROM_CSR:
                s.value @= s.csrs.rdata
            elif s.cs.result_sel == FROM_MUL:
                s.value @= s.mul_resp.msg
            elif s.cs.result_sel == FROM_DIV:
                s.value @= s.div_resp.msg
            else:
                s.value @= s.alu.out

        @update
        def select_redirect():
            if s.control.trap_X:
                s.redirect_pc @= s.csrs.mtvec
            elif s.cs.system == SYS_MRET:
                s.redirect_pc @= s.csrs.mepc
            elif s.cs.system == SYS_FENCE_I:
                s.redirect_pc @= s.link
            else:
                s.redirect_pc @= s.branch.pc

        @update
        def bypass():
            s.late_X @= (s.cs.mem == MEM_LOAD) | s.csrs.to_xcel
            s.write_X @= Write(s.control.x.val & s.cs.rf_wen, s.operands_X.inst[7:12], s.value)

        @update
        def result_to_M():
            s.value_M @= s.value
            if s.control.trap_X:
                s.value_M @= s.traps.value
            s.result @= Result(s.operands_X.pc, s.operands_X.inst, s.alu.out, s.operands_X.store, s.value_M)

    def connect_bus(s):
        """Interrupts, and the accesses that the bus refuses."""
        s.irq = InPort()
        s.interrupt_X = InPort()
        s.refused = InPort()
        s.trap_X = OutPort()
        s.interrupts_X = OutPort(Interrupts)
        s.control.trap_X //= s.trap_X
        s.irq //= s.csrs.irq
        s.csrs.interrupts //= s.interrupts_X

        @update
        def trap_cause():
            s.traps.access_fault @= s.store_align.misaligned | s.refused
            s.cause @= s.traps.cause
            if s.interrupt_X:
                s.cause @= INTERRUPT_CODE
            elif s.refused:  # the access faults have the numbers behind those of misaligned accesses
                s.cause[0] @= 1
