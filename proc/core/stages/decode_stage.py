"""DecodeStage: D, which decodes, reads the registers, and gives products and quotients to their units.

Ports: istream, from F; fresh (F has delivered nothing since reset); stall_X, squash_D, late_X (the value
of X is known in M only); the writes of X, M and W -> issue and operands to X; the requests to multiplier
and divider; redirect_val and redirect_pc (jal) to F. With bus: irq, and interrupts_X of the CSRs ->
interrupt_X. Area order: register file, 64 flip-flops, two muxes of 4 to 1 and an adder of 32 bits.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ..bus.interrupt_unit import InterruptUnit
from ..decoder import Decoder
from ..imm_gen import ImmGen
from ..messages import *
from ..register_file import RegisterFile
from .bypass_unit import BypassUnit
from .issue_unit import IssueUnit


class DecodeStage(Component):
    def construct(s, bus=None):
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

        @update_ff
        def register_D():
            if s.istream.rdy:
                s.fetched_D <<= s.istream.msg

        s.decoder = m = Decoder()
        m.inst //= s.fetched_D.inst
        s.connect_control()
        if bus:
            s.connect_interrupts()
        else:
            s.decoder.cs //= s.cs
            s.control.wait_D.val //= s.load_use
            s.control.wait_D.bubble //= BUBBLE_LOAD_USE

        s.imm_gen = m = ImmGen()
        m.inst //= s.fetched_D.inst
        m.imm_type //= s.cs.imm_type

        s.registers = m = RegisterFile()
        m.wen //= s.write_W.en
        m.waddr //= s.write_W.addr
        m.wdata //= s.write_W.data
        s.bypass = [BypassUnit() for _ in range(2)]
        for i, m in enumerate(s.bypass):
            s.registers.raddr[i] //= s.fetched_D.inst[15 + 5 * i : 20 + 5 * i]
            m.raddr //= s.fetched_D.inst[15 + 5 * i : 20 + 5 * i]
            m.rdata //= s.registers.rdata[i]
            m.write_X //= s.write_X
            m.write_M //= s.write_M
            m.write_W //= s.write_W
            m.late_X //= s.late_X

        @update
        def read_registers():
            s.bypass[0].en @= s.control.val_D & s.cs.rs1_en
            s.bypass[1].en @= s.control.val_D & s.cs.rs2_en
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

    def connect_control(s):
        """Whether the instruction waits, is squashed, or goes on to X."""
        s.control = m = IssueUnit()
        m.fetch_val //= s.istream.val
        m.fetch_rdy //= s.istream.rdy
        m.fresh //= s.fresh
        m.error_D //= s.fetched_D.error
        m.cs //= s.cs
        m.misaligned //= s.redirect_pc[1]
        m.stall_X //= s.stall_X
        m.squash_D //= s.squash_D
        m.mul_val //= s.mul_req.val
        m.mul_rdy //= s.mul_req.rdy
        m.div_val //= s.div_req.val
        m.div_rdy //= s.div_req.rdy
        m.redirect_D //= s.redirect_val
        m.issue //= s.issue

    def connect_interrupts(s):
        """InterruptUnit, between the decoder and the control."""
        s.irq = InPort()
        s.interrupts_X = InPort(Interrupts)
        s.interrupt_X = OutPort()
        s.interrupts = m = InterruptUnit()
        m.irq //= s.irq
        m.status //= s.interrupts_X
        m.val_D //= s.control.val_D
        m.error_D //= s.fetched_D.error
        m.stall_X //= s.stall_X
        m.decoded //= s.decoder.cs
        m.cs //= s.cs
        m.load_use //= s.load_use
        m.wait_D //= s.control.wait_D
        m.interrupt_X //= s.interrupt_X
