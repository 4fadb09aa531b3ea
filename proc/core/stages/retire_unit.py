"""RetireUnit: the control of X, where it is decided what becomes of an instruction: it waits, retires,
traps, or is squashed.

X waits for M, and for a stream that its instruction needs. Nothing that can be seen outside leaves X
(`act`) before M is sure of its own instruction. Taken branches, jalr, traps, mret and fence.i redirect F
and squash D; a trap without a handler, and an error of the data memory (fault_M), stop the machine.

Ports: issue from D; trap, cause, wait_X, taken, to_xcel, has_handler, stats_en from ExecuteStage;
stall_M, fault_M -> x, the instruction in X; stall_X; act, retire, trap_X; squash_D; redirect_X, stop;
slot to M. Area order: 25 flip-flops.
"""

from pymtl3 import *

from ..messages import *


class RetireUnit(Component):
    def construct(s):
        s.issue = InPort(Issue)
        s.cs = InPort(Control)
        s.trap = InPort()
        s.cause = InPort(4)
        s.wait_X = InPort()
        s.taken = InPort()
        s.to_xcel = InPort()
        s.has_handler = InPort()
        s.stats_en = InPort()
        s.stall_M = InPort()
        s.fault_M = InPort()
        s.x = OutPort(Issue)
        s.stall_X = OutPort()
        s.act = OutPort()
        s.retire = OutPort()
        s.trap_X = OutPort()
        s.squash_D = OutPort(Hold)
        s.redirect_X = OutPort()
        s.stop = OutPort()
        s.slot = OutPort(Slot)

        s.leaves_X = Wire()
        s.halt_X = Wire()
        s.flush_X = Wire()
        s.halting = Wire()

        @update_ff
        def register_X():
            if s.reset:
                s.x <<= Issue(0, 0, BUBBLE_START)
            elif s.stop:
                s.x <<= Issue(0, 0, BUBBLE_FLUSH)
            elif ~s.stall_X:
                s.x <<= s.issue

        @update
        def permit():
            s.act @= s.x.val & ~s.trap & ~s.stall_M & ~s.fault_M

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
            s.redirect_X @= s.flush_X | (s.retire & s.taken)
            s.stop @= s.halt_X | s.fault_M | s.halting
            s.squash_D.val @= s.redirect_X | s.stop
            s.squash_D.bubble @= BUBBLE_BRANCH
            if s.flush_X:
                s.squash_D.bubble @= BUBBLE_FLUSH

        @update_ff
        def stopped():
            if s.reset:
                s.halting <<= 0
            else:
                s.halting <<= s.stop

        s.connect_slot()

    def connect_slot(s):
        """The slot that goes on to M: the instruction, or a bubble with the reason why X waits."""
        s.mem = Wire(2)
        s.rf_wen = Wire()
        s.bubble = Wire(4)

        @update
        def bubble_to_M():
            if s.fault_M:
                s.bubble @= BUBBLE_FLUSH
            elif ~s.x.val:
                s.bubble @= s.x.bubble
            elif s.cs.result_sel == FROM_MUL:
                s.bubble @= BUBBLE_MULTIPLIER
            elif s.cs.result_sel == FROM_DIV:
                s.bubble @= BUBBLE_DIVIDER
            elif s.to_xcel:
                s.bubble @= BUBBLE_ACCELERATOR
            elif s.cs.result_sel == FROM_CSR:
                s.bubble @= BUBBLE_MANAGER
            else:
                s.bubble @= BUBBLE_DATA_MEMORY

        @update
        def slot_to_M():
            s.mem @= MEM_NONE
            if s.retire & ((s.cs.mem != MEM_CSR) | s.to_xcel):
                s.mem @= s.cs.mem
            s.rf_wen @= s.cs.rf_wen & ~s.trap
            s.slot @= Slot(s.leaves_X, s.trap, s.halt_X, s.stats_en, s.rf_wen, s.mem, s.cause, s.bubble)
