"""FetchUnit: stage F, which fetches one instruction after another and accepts redirections.

One request is outstanding at a time; the next one leaves in the cycle in which the answer to the last is
taken, so that a memory of one cycle delivers an instruction a cycle. A redirection drops what F has, and what
is still to come for it, and asks for the new address in the same cycle. An address that the memory has been
offered and has not taken stays offered (the promise of val/rdy) even if it is not wanted any more: the answer
is then dropped.

Ports: imem_req, imem_resp; out_val, out_rdy, out_inst, out_pc, out_error (no memory there) to stage D;
redirect_val, redirect_pc; stop (the machine halts); entry (the first address); fresh (nothing has been
delivered since reset). Area order: 4 words of registers, a mux and an adder.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from .messages import mk_mem_req, mk_mem_resp


class FetchUnit(Component):
    def construct(s):
        s.imem_req = SendIfcRTL(mk_mem_req())
        s.imem_resp = RecvIfcRTL(mk_mem_resp())
        s.entry = InPort(32)
        s.redirect_val = InPort()
        s.redirect_pc = InPort(32)
        s.stop = InPort()
        s.out_val = OutPort()
        s.out_rdy = InPort()
        s.out_inst = OutPort(32)
        s.out_pc = OutPort(32)
        s.out_error = OutPort()
        s.fresh = OutPort()

        s.next_pc = Wire(32)  # where the path goes on that has been asked for so far
        s.refused = Wire()  # the request of the last cycle was not taken, and stays
        s.refused_addr = Wire(32)
        s.refused_is_stale = Wire()
        s.busy = Wire()  # a request is out
        s.stale = Wire()  # and nobody wants its answer
        s.pc = Wire(32)  # its address

        s.request = Wire()
        s.addr = Wire(32)
        s.off_path = Wire()  # the request that is offered now is not wanted any more
        s.fired = Wire()
        s.answered = Wire()
        s.first = Wire()

        s.imem_req.msg.write //= 0
        s.imem_req.msg.strobe //= 0
        s.imem_req.msg.data //= 0
        s.imem_req.msg.addr //= s.addr
        s.imem_req.val //= s.request
        s.out_inst //= s.imem_resp.msg.data
        s.out_error //= s.imem_resp.msg.error
        s.out_pc //= s.pc
        s.fresh //= s.first

        @update
        def take():
            s.imem_resp.rdy @= s.busy & (s.stale | s.redirect_val | s.stop | s.out_rdy)
            s.answered @= s.imem_resp.rdy & s.imem_resp.val

        @update
        def deliver():
            s.out_val @= s.busy & ~s.stale & s.imem_resp.val & ~s.redirect_val & ~s.stop

        @update
        def ask():
            s.request @= s.refused | ((~s.busy | s.answered) & ~s.stop)
            s.off_path @= s.refused & (s.refused_is_stale | s.redirect_val)
            if s.refused:
                s.addr @= s.refused_addr
            elif s.redirect_val:
                s.addr @= s.redirect_pc
            else:
                s.addr @= s.next_pc

        @update
        def fire():
            s.fired @= s.request & s.imem_req.rdy

        s.path_pc = Wire(32)

        @update
        def path():
            s.path_pc @= s.redirect_pc
            if s.reset:
                s.path_pc @= s.entry
            elif s.fired & ~s.off_path:
                s.path_pc @= s.addr + 4

        @update_ff
        def go_on():
            if s.reset | (s.fired & ~s.off_path) | s.redirect_val:
                s.next_pc <<= s.path_pc

        @update_ff
        def state():
            if s.reset:
                s.refused <<= 0
                s.refused_is_stale <<= 0
                s.busy <<= 0
                s.stale <<= 0
                s.first <<= 1
            else:
                s.refused <<= s.request & ~s.imem_req.rdy
                s.refused_is_stale <<= s.off_path
                if s.fired:
                    s.busy <<= 1
                    s.stale <<= s.off_path
                elif s.answered:
                    s.busy <<= 0
                elif s.redirect_val:
                    s.stale <<= 1
                if s.out_val:
                    s.first <<= 0

        @update_ff
        def addresses():
            if s.request & ~s.imem_req.rdy:
                s.refused_addr <<= s.addr
            if s.fired:
                s.pc <<= s.addr

    def line_trace(s):
        if not s.busy:
            return ""
        return f"{'~' if s.stale else ''}{int(s.pc):x}"
