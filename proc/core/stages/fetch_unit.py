"""FetchUnit: stage F, which fetches one instruction after another and follows redirections.

One request is outstanding at a time. The next one is sent in the cycle in which the answer to the last is
accepted, so that a memory with a latency of one cycle delivers one instruction per cycle. A redirection drops
the instruction in F, or the outstanding answer, and requests the new address in the same cycle. An address
that has been offered to the memory stays offered until it is accepted (the promise of val/rdy), even after a
redirection: the answer is then dropped.

Ports: imem_req, imem_resp; ostream {error (no memory there), pc, inst} to D; redirect_val, redirect_pc; stop
(the machine halts); entry (the first address); fresh (nothing has been delivered since reset). Area order: 4
words of registers, a mux and an adder.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ..messages import Fetched, MemReq, MemResp


class FetchUnit(Component):
    def construct(s):
        s.imem_req = SendIfcRTL(MemReq)
        s.imem_resp = RecvIfcRTL(MemResp)
        s.entry = InPort(32)
        s.redirect_val = InPort()
        s.redirect_pc = InPort(32)
        s.stop = InPort()
        s.ostream = SendIfcRTL(Fetched)
        s.fresh = OutPort()

        s.next_pc = Wire(32)
        s.refused = Wire()  # the request of the last cycle was not accepted and stays offered
        s.refused_addr = Wire(32)
        s.refused_is_stale = Wire()
        s.busy = Wire()  # a request is outstanding
        s.stale = Wire()  # its answer will be dropped
        s.pc = Wire(32)  # its address
        s.addr = Wire(32)
        s.off_path = Wire()  # the request that is offered now is stale
        s.fired = Wire()
        s.answered = Wire()
        s.path_pc = Wire(32)

        @update
        def accept():
            s.imem_resp.rdy @= s.busy & (s.stale | s.redirect_val | s.stop | s.ostream.rdy)
            s.answered @= s.imem_resp.rdy & s.imem_resp.val

        @update
        def deliver():
            s.ostream.msg @= Fetched(s.imem_resp.msg.error, s.pc, s.imem_resp.msg.data)
            s.ostream.val @= s.busy & ~s.stale & s.imem_resp.val & ~s.redirect_val & ~s.stop

        s.select_request()
        s.registers()

    def select_request(s):
        """The request that is offered, and the address after it."""

        @update
        def request():
            s.imem_req.val @= s.refused | ((~s.busy | s.answered) & ~s.stop)
            s.off_path @= s.refused & (s.refused_is_stale | s.redirect_val)
            if s.refused:
                s.addr @= s.refused_addr
            elif s.redirect_val:
                s.addr @= s.redirect_pc
            else:
                s.addr @= s.next_pc
            s.imem_req.msg @= MemReq(0, 0, s.addr, 0)

        @update
        def advance():
            s.fired @= s.imem_req.val & s.imem_req.rdy
            s.path_pc @= s.redirect_pc
            if s.reset:
                s.path_pc @= s.entry
            elif s.fired & ~s.off_path:
                s.path_pc @= s.addr + 4

    def registers(s):
        """The state of the request, and the addresses."""

        @update_ff
        def control():
            if s.reset:
                s.refused <<= 0
                s.refused_is_stale <<= 0
                s.busy <<= 0
                s.stale <<= 0
                s.fresh <<= 1
            else:
                s.refused <<= s.imem_req.val & ~s.imem_req.rdy
                s.refused_is_stale <<= s.off_path
                if s.fired:
                    s.busy <<= 1
                    s.stale <<= s.off_path
                elif s.answered:
                    s.busy <<= 0
                elif s.redirect_val:
                    s.stale <<= 1
                if s.ostream.val:
                    s.fresh <<= 0

        @update_ff
        def addresses():
            if s.reset | (s.fired & ~s.off_path) | s.redirect_val:
                s.next_pc <<= s.path_pc
            if s.imem_req.val & ~s.imem_req.rdy:
                s.refused_addr <<= s.addr
            if s.fired:
                s.pc <<= s.addr
