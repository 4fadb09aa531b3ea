"""DecodeStage: stage D, which decodes, reads the registers, sends multiplications and divisions to their
units, and decides whether its instruction waits, is squashed, or goes on to X.

An instruction waits in D for an operand that is still being loaded or for an interrupt (wait_D), for the
multiplier or divider, and for X. A jal redirects F from here. A bubble carries its reason down the pipeline,
so that every cycle is accounted for at the commit port.

Ports: istream, from F; fresh (F has delivered nothing since reset); stall_X, squash_D, late_X (the value of X
is available only in M); the writes of X, M and W -> issue and operands to X; the requests to multiplier and
divider; redirect_val and redirect_pc (jal) to F. With bus: irq, and interrupts_X of the CSRs -> interrupt_X.
Area order: register file, 69 flip-flops, two 4-to-1 muxes and an adder of 32 bits.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ..bypass_unit import BypassUnit
from ..decoder import Decoder
from ..imm_gen import ImmGen
from ..messages import *
from ..register_file import RegisterFile


class DecodeStage(Component):
    def construct(s, bus=False):
        s.istream = RecvIfcRTL(Fetched)
        s.fresh = InPort()
        s.stall_X = InPort()
        s.squash_D = InPort(Hold)
        s.late_X = InPort()
        s.write_X = InPort(Write)
        s.write_M = InPort(Write)
        s.write_W = InPort(Write)
        s.issue = OutPort(Issue)
        s.operands = OutPort(Operands)
        s.mul_req = SendIfcRTL(MulDivReq)
        s.div_req = SendIfcRTL(MulDivReq)
        s.redirect_val = OutPort()
        s.redirect_pc = OutPort(32)

        s.fetched_D = Wire(Fetched)
        s.cs = Wire(Control)
        s.load_use = Wire()
        s.wait_D = Wire(Hold)

        @update_ff
        def register_D():
            if s.istream.rdy:
                s.fetched_D <<= s.istream.msg

        s.hold_slot()
        s.issue_or_stall()
        s.send_slot()
        s.read_operands()
        s.decoder = m = Decoder()
        m.inst //= s.fetched_D.inst
        if bus:
            s.add_interrupts()
        else:
            m.cs //= s.cs
            s.wait_D.val //= s.load_use
            s.wait_D.bubble //= BUBBLE_LOAD_USE

    def hold_slot(s):
        """The slot in D: an instruction, or the reason of a bubble."""
        s.val_D = Wire()
        s.bubble_D = Wire(4)

        @update_ff
        def slot_D():
            if s.reset:
                s.val_D <<= 0
                s.bubble_D <<= BUBBLE_START
            elif s.squash_D.val:
                s.val_D <<= 0
                s.bubble_D <<= s.squash_D.bubble
            elif ~s.stall_D:
                s.val_D <<= s.istream.val
                s.bubble_D <<= BUBBLE_FETCH
                if s.redirect_val:
                    s.bubble_D <<= BUBBLE_BRANCH
                elif s.fresh:
                    s.bubble_D <<= BUBBLE_START

    def issue_or_stall(s):
        """Whether the instruction stays in D; the requests to the multiplier and the divider."""
        s.live_D = Wire()  # D holds an instruction, not a failed fetch
        s.is_mul = Wire()
        s.is_div = Wire()
        s.go = Wire()  # only the multiplier or divider can still stall it
        s.ostall_D = Wire(Hold)  # D itself stalls
        s.stall_D = Wire()

        @update
        def issue_muldiv():
            s.live_D @= s.val_D & ~s.fetched_D.error
            s.is_mul @= s.live_D & (s.cs.result_sel == FROM_MUL)
            s.is_div @= s.live_D & (s.cs.result_sel == FROM_DIV)
            s.go @= ~s.stall_X & ~s.wait_D.val & ~s.squash_D.val
            s.mul_req.val @= s.is_mul & s.go
            s.div_req.val @= s.is_div & s.go

        @update
        def stall():
            s.ostall_D.val @= s.wait_D.val | (s.is_mul & ~s.mul_req.rdy) | (s.is_div & ~s.div_req.rdy)
            s.ostall_D.bubble @= BUBBLE_DIVIDER
            if s.wait_D.val:
                s.ostall_D.bubble @= s.wait_D.bubble
            elif s.is_mul:
                s.ostall_D.bubble @= BUBBLE_MULTIPLIER
            s.stall_D @= s.stall_X | s.ostall_D.val
            s.istream.rdy @= ~s.stall_D

    def send_slot(s):
        """The slot to X, and the target of a jal to F."""
        s.bubble = Wire(4)  # sent on if the instruction stays

        @update
        def redirect():
            s.redirect_val @= (
                s.live_D
                & (s.cs.jump == JUMP_JAL)
                & ~s.redirect_pc[1]  # aligned; otherwise it traps in X
                & ~s.stall_D
                & ~s.squash_D.val
            )

        @update
        def go_on():
            s.bubble @= s.bubble_D
            if s.squash_D.val:
                s.bubble @= s.squash_D.bubble
            elif s.val_D:
                s.bubble @= s.ostall_D.bubble
            s.issue @= Issue(s.val_D & ~s.ostall_D.val & ~s.squash_D.val, s.fetched_D.error, s.bubble)

    def read_operands(s):
        """The immediate, and the registers with their bypasses."""
        s.imm_gen = m = ImmGen()
        m.inst //= s.fetched_D.inst
        m.imm_type //= s.cs.imm_type

        s.registers = m = RegisterFile()
        m.wen //= s.write_W.en
        m.waddr //= s.write_W.addr
        m.wdata //= s.write_W.data
        s.bypass = [BypassUnit() for _ in range(2)]
        for i, m in enumerate(s.bypass):
            m.raddr //= s.fetched_D.inst[15 + 5 * i : 20 + 5 * i]
            s.registers.raddr[i] //= s.fetched_D.inst[15 + 5 * i : 20 + 5 * i]
            m.rdata //= s.registers.rdata[i]
            m.write_X //= s.write_X
            m.write_M //= s.write_M
            m.write_W //= s.write_W
            m.late_X //= s.late_X

        @update
        def enable_reads():
            s.bypass[0].en @= s.val_D & s.cs.rs1_en
            s.bypass[1].en @= s.val_D & s.cs.rs2_en
            s.load_use @= s.bypass[0].load_use | s.bypass[1].load_use

        s.a_D = Wire(32)
        s.b_D = Wire(32)

        @update
        def select_operands():
            s.redirect_pc @= s.fetched_D.pc + s.imm_gen.imm
            s.a_D @= 0
            if s.cs.rs1_en:
                s.a_D @= s.bypass[0].operand
            s.b_D @= s.bypass[1].operand
            if s.cs.op2_imm:
                s.b_D @= s.imm_gen.imm
            s.operands @= Operands(
                s.cs, s.fetched_D.pc, s.fetched_D.inst, s.a_D, s.b_D, s.bypass[1].operand, s.redirect_pc
            )

        @update
        def request():
            s.mul_req.msg @= MulDivReq(s.fetched_D.inst[12:15], s.bypass[0].operand, s.bypass[1].operand)
            s.div_req.msg @= s.mul_req.msg

    def add_interrupts(s):
        """The machine external interrupt replaces the instruction in D, which has had no effect yet.

        The instruction becomes an ecall, which traps in X with mtval 0 and mepc its own address; interrupt_X
        marks it as an interrupt. So an interrupt waits for the instruction in X (a quotient, an access to the
        bus), and nothing is executed twice.

        wfi waits in D until the interrupt is pending and enabled in mie, whatever mstatus.MIE is. It is never
        replaced itself: the interrupt replaces the instruction after it. While the line is high, an
        instruction after a csr instruction waits for one cycle, so that a change of mstatus or mie takes
        effect at the next instruction. Without a handler (mtvec = 0) no interrupt is taken.
        """
        s.irq = InPort()
        s.interrupts_X = InPort(Interrupts)
        s.interrupt_X = OutPort()

        s.is_wfi = Wire()
        s.taken = Wire()
        s.changing = Wire()  # the instruction in X may change whether interrupts are taken
        s.sleeps = Wire()
        s.waits = Wire()
        s.replaced = Wire(Control)
        s.cs //= s.replaced

        @update
        def decide():
            s.is_wfi @= s.decoder.cs.system == SYS_WFI
            s.taken @= s.irq & s.interrupts_X.enabled & ~s.is_wfi
            s.changing @= s.irq & s.interrupts_X.changing
            s.sleeps @= s.is_wfi & ~(s.irq & s.interrupts_X.wakes)

        @update
        def hold():
            s.waits @= s.live_D & (s.changing | s.sleeps)
            s.wait_D.val @= s.load_use | s.waits
            if ~s.waits:
                s.wait_D.bubble @= BUBBLE_LOAD_USE
            elif s.changing:
                s.wait_D.bubble @= BUBBLE_FLUSH
            else:
                s.wait_D.bubble @= BUBBLE_SLEEP

        @update
        def replace():
            s.replaced @= s.decoder.cs
            if s.taken:
                s.replaced @= Control(1, 0, 0, 0, IMM_I, 0, ALU_ADD, FROM_ALU, NEXT, MEM_NONE, SYS_ECALL)
            elif s.changing:
                s.replaced.result_sel @= FROM_ALU  # while it waits, it requests no multiplication or division

        @update_ff
        def register_X():
            if ~s.stall_X:
                s.interrupt_X <<= s.taken & s.live_D
