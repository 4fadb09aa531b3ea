"""IssueUnit: the control of D: whether its slot is full, waits, is squashed, or goes on to X.

An instruction waits in D for an operand that is still being loaded or for an interrupt (wait_D), for the
multiplier or divider, and for X. A jal redirects F from here.

A bubble carries its reason down the pipeline, so that every cycle is accounted for at the commit port.

Ports: fetch_val, fetch_rdy, fresh (F has delivered nothing since reset); error_D, cs, wait_D,
misaligned (the target of a jal); stall_X and squash_D from RetireUnit -> val_D; issue to X; the handshakes of
multiplier and divider; redirect_D. Area order: 5 flip-flops.
"""

from pymtl3 import *

from ..messages import *


class IssueUnit(Component):
    def construct(s):
        s.fetch_val = InPort()
        s.fetch_rdy = OutPort()
        s.fresh = InPort()
        s.error_D = InPort()
        s.cs = InPort(Control)
        s.wait_D = InPort(Hold)
        s.misaligned = InPort()
        s.stall_X = InPort()
        s.squash_D = InPort(Hold)
        s.mul_val = OutPort()
        s.mul_rdy = InPort()
        s.div_val = OutPort()
        s.div_rdy = InPort()
        s.redirect_D = OutPort()
        s.val_D = OutPort()
        s.issue = OutPort(Issue)

        s.bubble_D = Wire(4)
        s.live_D = Wire()  # there is an instruction in D, and not only an address
        s.is_mul = Wire()
        s.is_div = Wire()
        s.go = Wire()  # nothing but the multiplier or divider could hold it
        s.ostall_D = Wire(Hold)  # D itself stalls
        s.stall_D = Wire()
        s.bubble = Wire(4)  # in its place, if it does not go on

        @update_ff
        def register_D():
            if s.reset:
                s.val_D <<= 0
                s.bubble_D <<= BUBBLE_START
            elif s.squash_D.val:
                s.val_D <<= 0
                s.bubble_D <<= s.squash_D.bubble
            elif ~s.stall_D:
                s.val_D <<= s.fetch_val
                s.bubble_D <<= BUBBLE_FETCH
                if s.redirect_D:
                    s.bubble_D <<= BUBBLE_BRANCH
                elif s.fresh:
                    s.bubble_D <<= BUBBLE_START

        @update
        def issue_muldiv():
            s.live_D @= s.val_D & ~s.error_D
            s.is_mul @= s.live_D & (s.cs.result_sel == FROM_MUL)
            s.is_div @= s.live_D & (s.cs.result_sel == FROM_DIV)
            s.go @= ~s.stall_X & ~s.wait_D.val & ~s.squash_D.val
            s.mul_val @= s.is_mul & s.go
            s.div_val @= s.is_div & s.go

        @update
        def stall():
            s.ostall_D.val @= s.wait_D.val | (s.is_mul & ~s.mul_rdy) | (s.is_div & ~s.div_rdy)
            s.ostall_D.bubble @= BUBBLE_DIVIDER
            if s.wait_D.val:
                s.ostall_D.bubble @= s.wait_D.bubble
            elif s.is_mul:
                s.ostall_D.bubble @= BUBBLE_MULTIPLIER

        @update
        def advance():
            s.stall_D @= s.stall_X | s.ostall_D.val
            s.fetch_rdy @= ~s.stall_D
            s.redirect_D @= s.live_D & (s.cs.jump == JUMP_JAL) & ~s.misaligned & ~s.stall_D & ~s.squash_D.val
            s.bubble @= s.bubble_D
            if s.squash_D.val:
                s.bubble @= s.squash_D.bubble
            elif s.val_D:
                s.bubble @= s.ostall_D.bubble
            s.issue @= Issue(s.val_D & ~s.ostall_D.val & ~s.squash_D.val, s.error_D, s.bubble)
