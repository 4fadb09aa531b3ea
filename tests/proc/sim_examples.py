"""Substitutes for a processor, for the tests of proc/sim: one that only fetches, one that breaks promises,
and an accelerator that never answers.
"""

from modexlab.proc.core.ports import processor_ports
from modexlab.rtl.messages import mk_xcel_req, mk_xcel_resp
from pymtl3 import Component, Wire, update, update_ff
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

WITHDRAWS_IMEM, CHANGES_DMEM, CHANGES_MANAGER, MISALIGNED_IMEM, MISALIGNED_DMEM, ODD_BUBBLE = range(1, 7)


class Walker(Component):
    """Requests one word after the other, as fast as the memory accepts requests. Each answer retires as an
    instruction, until 0 or an error stops it.
    """

    def construct(s):
        processor_ports(s)
        s.ahead = Wire(32)  # number of requests
        s.behind = Wire(32)  # number of answers

        s.dmem_resp.rdy //= 1

        @update
        def ports():
            s.imem_req.val @= 1
            s.imem_req.msg.addr @= s.entry + s.ahead
            s.imem_resp.rdy @= 1
            # every word from the manager is sent back
            s.proc2mngr.val @= s.mngr2proc.val
            s.proc2mngr.msg @= s.mngr2proc.msg
            s.mngr2proc.rdy @= s.proc2mngr.rdy

        @update
        def retire():
            s.commit.halt @= s.imem_resp.val & (s.imem_resp.msg.error | (s.imem_resp.msg.data == 0))
            s.commit.trap @= s.commit.halt
            s.commit.cause @= 11
            if s.imem_resp.msg.error:
                s.commit.cause @= 1
            s.commit.val @= s.imem_resp.val & ~s.commit.halt
            s.commit.pc @= s.entry + s.behind
            s.commit.inst @= s.imem_resp.msg.data

        @update_ff
        def count():
            if s.reset:
                s.ahead <<= 0
                s.behind <<= 0
            else:
                if s.imem_req.rdy:
                    s.ahead <<= s.ahead + 4
                if s.imem_resp.val:
                    s.behind <<= s.behind + 4


class Liar(Component):
    """Breaks the promise selected by core_id."""

    def construct(s):
        processor_ports(s)
        s.count = Wire(32)

        @update
        def lie():
            s.imem_req.val @= (s.core_id == MISALIGNED_IMEM) | ((s.core_id == WITHDRAWS_IMEM) & ~s.count[0])
            s.imem_req.msg.addr @= s.entry
            if s.core_id == MISALIGNED_IMEM:
                s.imem_req.msg.addr @= s.entry + 2
            s.dmem_req.val @= (s.core_id == MISALIGNED_DMEM) | (s.core_id == CHANGES_DMEM)
            s.dmem_req.msg.addr @= s.entry
            if s.core_id == CHANGES_DMEM:
                s.dmem_req.msg.data @= s.count
            if s.core_id == MISALIGNED_DMEM:
                s.dmem_req.msg.addr @= s.entry + 1
            s.proc2mngr.val @= s.core_id == CHANGES_MANAGER
            s.proc2mngr.msg @= s.count
            s.commit.bubble @= 0
            if s.core_id == ODD_BUBBLE:
                s.commit.bubble @= 12

        @update_ff
        def counter():
            if s.reset:
                s.count <<= 0
            else:
                s.count <<= s.count + 1


class SilentXcel(Component):
    """An accelerator that accepts every request and never answers."""

    def construct(s):
        s.istream = RecvIfcRTL(mk_xcel_req())
        s.ostream = SendIfcRTL(mk_xcel_resp())
        s.istream.rdy //= 1
        s.ostream.val //= 0
        s.ostream.msg.write //= 0
        s.ostream.msg.data //= 0

    def line_trace(s):
        return "silent"
