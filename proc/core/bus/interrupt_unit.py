"""InterruptUnit: the machine external interrupt replaces the instruction in D.

That instruction has done nothing yet. It becomes an ecall, which traps in X with mtval 0 and mepc its own
address; interrupt_X says that it was an interrupt. So an interrupt waits for the instruction in X (a
quotient, an access to the bus), and nothing is done twice.

wfi waits in D until the interrupt is pending and enabled in mie, whatever mstatus.MIE is, and is never
replaced itself: the interrupt replaces the instruction behind it. While the line is up, an instruction
behind a csr instruction waits for one cycle, so that a change of mstatus or mie counts for the next
instruction. Without a handler (mtvec = 0) no interrupt is taken.

Ports: irq, a level; status of the CSRs (messages.Interrupts); the instruction in D (val_D, error_D,
decoded, load_use) -> cs, the control signals that go on; wait_D; interrupt_X. Area order: 1 flip-flop.
"""

from pymtl3 import *

from ..messages import *


class InterruptUnit(Component):
    def construct(s):
        s.irq = InPort()
        s.status = InPort(Interrupts)
        s.val_D = InPort()
        s.error_D = InPort()
        s.load_use = InPort()
        s.stall_X = InPort()
        s.decoded = InPort(Control)
        s.cs = OutPort(Control)
        s.wait_D = OutPort(Hold)
        s.interrupt_X = OutPort()

        s.is_wfi = Wire()
        s.taken = Wire()
        s.changing = Wire()  # the instruction in X may change whether interrupts are taken
        s.sleeps = Wire()
        s.waits = Wire()

        @update
        def decide():
            s.is_wfi @= s.decoded.system == SYS_WFI
            s.taken @= s.irq & s.status.enabled & ~s.is_wfi
            s.changing @= s.irq & s.status.changing
            s.sleeps @= s.is_wfi & ~(s.irq & s.status.wakes)

        @update
        def hold():
            s.waits @= s.val_D & ~s.error_D & (s.changing | s.sleeps)
            s.wait_D.val @= s.load_use | s.waits
            if ~s.waits:
                s.wait_D.bubble @= BUBBLE_LOAD_USE
            elif s.changing:
                s.wait_D.bubble @= BUBBLE_FLUSH
            else:
                s.wait_D.bubble @= BUBBLE_SLEEP

        @update
        def replace():
            s.cs @= s.decoded
            if s.taken:
                s.cs @= Control(1, 0, 0, 0, IMM_I, 0, ALU_ADD, FROM_ALU, NEXT, MEM_NONE, SYS_ECALL)
            elif s.changing:
                s.cs.result_sel @= FROM_ALU  # while it waits, it asks for no product and no quotient

        @update_ff
        def register_X():
            if ~s.stall_X:
                s.interrupt_X <<= s.taken & s.val_D & ~s.error_D
