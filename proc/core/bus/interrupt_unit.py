"""InterruptUnit: the machine external interrupt takes the place of the instruction in D.

The instruction in D has done nothing yet. It is decoded as an ecall instead, which traps in X like one, with
mtval 0 and mepc its own address; that mcause has its upper bit set, and that this was no ecall, is carried
along. So an interrupt waits for whatever is in X (a quotient, an access to a bus), and nothing is done twice.

wfi waits in D until the interrupt is pending and enabled in mie, whatever mstatus.MIE is, and is never
replaced itself: the interrupt takes the place of the instruction behind it. While the line is up, what is
behind a csr instruction waits for one cycle, so that a change of mstatus or mie counts for the next
instruction. Without a handler (mtvec = 0) no interrupt is taken.

Ports: irq, a level; `on` and `wakes` of the CSRs; the instruction in D as decoded -> as it goes on; waits_D
and why; the kind of trap with the enables of the stages -> causes for mcause (in X) and for the commit port
(in W). Area order: 5 flip-flops.
"""

from pymtl3 import *

from ...isa.isa import BY_NAME
from ..messages import *

WFI_WORD = BY_NAME["wfi"].match


class InterruptUnit(Component):
    def construct(s):
        s.irq = InPort()
        s.on = InPort()  # mstatus.MIE and mie.MEIE
        s.wakes = InPort()  # mie.MEIE
        s.has_handler = InPort()
        s.inst_D = InPort(32)
        s.fetched_D = InPort()
        s.decoded_D = InPort(mk_decoded())
        s.decoded = OutPort(mk_decoded())
        s.waits_D = OutPort()
        s.wait_reason_D = OutPort(BUBBLE_NBITS)
        s.is_csr_X = InPort()
        s.refused_X = InPort()  # the access in X, by the bus
        s.enable_X = InPort()
        s.enable_M = InPort()
        s.enable_W = InPort()
        s.interrupt_X = OutPort()
        s.cause_X = InPort(4)
        s.told_cause_X = OutPort(4)
        s.cause_W = InPort(4)
        s.told_cause_W = OutPort(4)

        s.is_wfi = Wire()
        s.takes = Wire()
        s.changes = Wire()  # what is in X may change whether interrupts are taken
        s.sleeps = Wire()

        @update
        def decide():
            s.is_wfi @= s.inst_D == WFI_WORD
            s.changes @= s.irq & s.is_csr_X
            s.sleeps @= s.is_wfi & ~(s.irq & s.wakes)

        @update
        def take():
            s.takes @= s.irq & s.on & s.has_handler & ~s.is_wfi

        @update
        def hold():
            s.waits_D @= s.fetched_D & (s.changes | s.sleeps)
            s.wait_reason_D @= BUBBLE_SLEEP
            if s.changes:
                s.wait_reason_D @= BUBBLE_FLUSH

        @update
        def replace():
            s.decoded @= s.decoded_D
            if s.takes:
                s.decoded.legal @= 1
                s.decoded.uses_rs1 @= 0
                s.decoded.uses_rs2 @= 0
                s.decoded.writes_rd @= 0
                s.decoded.result @= FROM_ALU
                s.decoded.transfer @= NEXT
                s.decoded.memory @= MEM_NONE
                s.decoded.system @= SYS_ECALL
            elif s.changes:
                s.decoded.result @= FROM_ALU  # while it waits, it asks for no product and no quotient

        s.interrupt_M = Wire()
        s.interrupt_W = Wire()
        s.refused_M = Wire()
        s.refused_W = Wire()

        @update_ff
        def kinds():
            if s.enable_X:
                s.interrupt_X <<= s.takes & s.fetched_D
            if s.enable_M:
                s.interrupt_M <<= s.interrupt_X
                s.refused_M <<= s.refused_X
            if s.enable_W:
                s.interrupt_W <<= s.interrupt_M
                s.refused_W <<= s.refused_M

        @update
        def tell():
            s.told_cause_X @= s.cause_X
            s.told_cause_X[0] @= s.cause_X[0] | s.refused_X
            s.told_cause_W @= s.cause_W
            s.told_cause_W[0] @= s.cause_W[0] | s.refused_W
            if s.interrupt_W:
                s.told_cause_W @= INTERRUPT_CODE
