"""ExecuteStage: stage X, with ALU, branches, CSRs and the requests to memory, accelerator and manager. It
decides whether an instruction waits, retires, traps, or is squashed.

X waits for M, and for a stream that its instruction needs. No externally visible effect leaves X (`act`)
before the instruction in M is known to succeed, so that traps are precise. Taken branches, jalr, traps, mret
and fence.i redirect F and squash D; a trap without a handler, and an error of the data memory (fault_M), stop
the machine.

Ports: issue and operands, from D; stall_M, fault_M -> stall_X and squash_D; redirect_val, redirect_pc and
stop to F; slot and result to M; late_X (the value is available only in M) and write_X to the bypasses;
stats_en; the streams of products, quotients, memory, accelerator and manager. With bus: irq, interrupt_X (the
trap in X is an interrupt), refused (BusUnit) -> trap_X, interrupts_X. Area order: CSRs, 217 flip-flops, ALU,
muxes of 32 bits.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ....rtl.messages import connect_fields, mk_xcel_req
from ...isa.causes import *
from ..alu import Alu
from ..branch_unit import BranchUnit
from ..csr_unit import CsrUnit
from ..load_store import StoreAlign
from ..messages import *


class ExecuteStage(Component):
    def construct(s, bus=False):
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
        s.cs = Wire(Control)
        s.cs //= s.operands_X.cs

        @update_ff
        def data_X():
            if ~s.stall_X:
                s.operands_X <<= s.operands

        s.connect_units()
        s.find_traps()
        s.handshake()
        s.retire_or_trap(bus)
        s.connect_csrs(bus)
        s.send_slot()
        s.select_result()
        if bus:
            s.connect_bus()
        else:
            s.access_fault //= s.store_align.misaligned
            s.cause //= s.exception

    def connect_units(s):
        """The units that compute a result, a branch target, or a request to the data memory."""
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

        s.store_align = m = StoreAlign()
        m.mem //= s.cs.mem
        m.funct3 //= s.operands_X.inst[12:15]
        m.addr //= s.alu.out
        m.data //= s.operands_X.store
        m.req //= s.dmem_req.msg

    def find_traps(s):
        """Whether the instruction traps, with its cause and its mtval (privileged specification, section
        3.1.15 f.). No older instruction can still trap, except for an error of the data memory, which is
        reported in M and halts the machine.
        """
        s.x = Wire(Issue)
        s.access_fault = Wire()
        s.csr_illegal = Wire()
        s.trap = Wire()
        s.exception = Wire(4)  # the cause of an exception
        s.cause = Wire(4)  # the cause of an exception or interrupt
        s.tval = Wire(32)

        @update
        def find_trap():
            s.trap @= s.x.val
            s.exception @= ILLEGAL
            s.tval @= 0
            if s.x.error:
                s.exception @= FETCH_FAULT
                s.tval @= s.operands_X.pc
            elif ~s.cs.legal | s.csr_illegal:
                s.tval @= s.operands_X.inst
            elif s.branch.misaligned:
                s.exception @= MISALIGNED_FETCH
                s.tval @= s.branch.pc
            elif (s.cs.mem == MEM_LOAD) & s.access_fault:
                s.exception @= MISALIGNED_LOAD
                s.tval @= s.alu.out
            elif (s.cs.mem == MEM_STORE) & s.access_fault:
                s.exception @= MISALIGNED_STORE
                s.tval @= s.alu.out
            elif s.cs.system == SYS_ECALL:
                s.exception @= ECALL
            elif s.cs.system == SYS_EBREAK:
                s.exception @= BREAKPOINT
            else:
                s.trap @= 0

    def handshake(s):
        """The streams of products, quotients and the data memory; the others belong to CsrUnit."""
        s.is_mul = Wire()
        s.is_div = Wire()
        s.is_mem = Wire()
        s.port_waits = Wire()  # of CsrUnit
        s.wait_X = Wire()
        s.act = Wire()

        @update
        def request():
            s.is_mul @= s.cs.result_sel == FROM_MUL
            s.is_div @= s.cs.result_sel == FROM_DIV
            s.is_mem @= (s.cs.mem == MEM_LOAD) | (s.cs.mem == MEM_STORE)
            s.act @= s.x.val & ~s.trap & ~s.stall_M & ~s.fault_M
            s.mul_resp.rdy @= s.act & s.is_mul
            s.div_resp.rdy @= s.act & s.is_div
            s.dmem_req.val @= s.act & s.is_mem

        @update
        def wait_for_stream():
            s.wait_X @= (
                s.port_waits
                | (s.is_mul & ~s.mul_resp.val)
                | (s.is_div & ~s.div_resp.val)
                | (s.is_mem & ~s.dmem_req.rdy)
            )

    def retire_or_trap(s, bus):
        """The control: whether the instruction stalls, retires or traps, and whether younger ones are
        squashed.
        """
        s.leaves_X = Wire()
        s.retire = Wire()
        s.trap_X = OutPort() if bus else Wire()
        s.has_handler = Wire()
        s.halt_X = Wire()
        s.flush_X = Wire()
        s.halting = Wire()

        @update_ff
        def control_X():
            if s.reset:
                s.x <<= Issue(0, 0, BUBBLE_START)
                s.halting <<= 0
            else:
                s.halting <<= s.stop
                if s.stop:
                    s.x <<= Issue(0, 0, BUBBLE_FLUSH)
                elif ~s.stall_X:
                    s.x <<= s.issue

        @update
        def leave():
            s.stall_X @= s.stall_M | (s.x.val & ~s.trap & s.wait_X)
            s.leaves_X @= s.x.val & ~s.stall_X & ~s.fault_M
            s.retire @= s.leaves_X & ~s.trap
            s.trap_X @= s.leaves_X & s.trap

        @update
        def redirect():
            s.halt_X @= s.trap_X & ~s.has_handler
            s.flush_X @= (s.trap_X & s.has_handler) | (
                s.retire & ((s.cs.system == SYS_MRET) | (s.cs.system == SYS_FENCE_I))
            )
            s.redirect_val @= s.flush_X | (s.retire & s.branch.taken)
            s.stop @= s.halt_X | s.fault_M | s.halting
            s.squash_D.val @= s.redirect_val | s.stop
            s.squash_D.bubble @= BUBBLE_BRANCH
            if s.flush_X:
                s.squash_D.bubble @= BUBBLE_FLUSH

    def connect_csrs(s, bus):
        """Connect the CSRs, and the streams that csr instructions access."""
        s.csrs = m = CsrUnit(bus)
        connect_fields(m, s, "core_id", "x", "cs", "act", "retire", "cause", "has_handler", "stats_en")
        connect_fields(m, s, "xcel_req", "mngr2proc", "proc2mngr")
        m.pc //= s.operands_X.pc
        m.inst //= s.operands_X.inst
        m.rs1 //= s.operands_X.a
        m.uimm //= s.operands_X.b
        m.trap //= s.trap_X
        m.trap_value //= s.tval
        m.illegal //= s.csr_illegal
        m.wait_X //= s.port_waits

    def send_slot(s):
        """The slot that is sent to M: the instruction, or a bubble with the reason why X waits."""
        s.mem = Wire(2)
        s.bubble = Wire(4)

        @update
        def bubble_to_M():
            if s.fault_M:
                s.bubble @= BUBBLE_FLUSH
            elif ~s.x.val:
                s.bubble @= s.x.bubble
            elif s.is_mul:
                s.bubble @= BUBBLE_MULTIPLIER
            elif s.is_div:
                s.bubble @= BUBBLE_DIVIDER
            elif s.csrs.to_xcel:
                s.bubble @= BUBBLE_ACCELERATOR
            elif s.cs.result_sel == FROM_CSR:
                s.bubble @= BUBBLE_MANAGER
            else:
                s.bubble @= BUBBLE_DATA_MEMORY

        @update
        def slot_to_M():
            s.mem @= MEM_NONE
            if s.retire & ((s.cs.mem != MEM_CSR) | s.csrs.to_xcel):
                s.mem @= s.cs.mem
            s.slot @= Slot(
                s.leaves_X,
                s.trap,
                s.halt_X,
                s.stats_en,
                s.cs.rf_wen & ~s.trap,
                s.mem,
                s.cause,
                s.bubble,
            )

    def select_result(s):
        """The value for rd, and the address to which F is redirected."""
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
            if s.trap_X:
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
            s.write_X @= Write(s.x.val & s.cs.rf_wen, s.operands_X.inst[7:12], s.value)

        @update
        def result_to_M():
            s.value_M @= s.value
            if s.trap_X:
                s.value_M @= s.tval
            s.result @= Result(s.operands_X.pc, s.operands_X.inst, s.alu.out, s.operands_X.store, s.value_M)

    def connect_bus(s):
        """Connect interrupts, and refused accesses of the bus."""
        s.irq = InPort()
        s.interrupt_X = InPort()
        s.refused = InPort()
        s.interrupts_X = OutPort(Interrupts)
        s.irq //= s.csrs.irq
        s.csrs.interrupts //= s.interrupts_X

        @update
        def trap_cause():
            s.access_fault @= s.store_align.misaligned | s.refused
            s.cause @= s.exception
            if s.interrupt_X:
                s.cause @= INTERRUPT_CODE
            elif s.refused:  # the number of an access fault is that of the misaligned access plus 1
                s.cause[0] @= 1
