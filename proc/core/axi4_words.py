"""Axi4Words: an AXI4 master of 32 bits, with one beat for each access, as a client of the data memory.

A read has priority, unless a write was offered before it. Answers leave in the order of requests.

Ports: s_axi; req, resp (messages.MemReq, MemResp). Cycles: 0. Area order: the order of DEPTH accesses.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...rtl.interfaces.axi4_ifc import OKAY, SLVERR, Axi4Ifc
from ...rtl.interfaces.registers.short_queue import ShortQueue
from .messages import MemReq, MemResp

DEPTH = 4


class Axi4Words(Component):
    def construct(s):
        s.s_axi = Axi4Ifc(InPort, OutPort, 32)
        s.req = SendIfcRTL(MemReq)
        s.resp = RecvIfcRTL(MemResp)
        s.order = ShortQueue(1, DEPTH)  # whether an access writes
        s.writes = Wire()
        s.held = Wire()  # a write was offered in the last cycle, but not accepted
        s.s_axi.rlast //= 1
        s.s_axi.rdata //= s.resp.msg.data

        @update
        def request():
            s.writes @= s.s_axi.awvalid & s.s_axi.wvalid & (~s.s_axi.arvalid | s.held)
            s.req.val @= (s.s_axi.arvalid | s.writes) & s.order.recv.rdy
            s.req.msg.write @= s.writes
            s.req.msg.strobe @= s.s_axi.wstrb if s.writes else 0
            s.req.msg.addr @= s.s_axi.awaddr if s.writes else s.s_axi.araddr
            s.req.msg.data @= s.s_axi.wdata

        @update
        def accept():
            s.order.recv.val @= s.req.val & s.req.rdy
            s.order.recv.msg @= s.writes
            s.s_axi.arready @= s.req.rdy & s.order.recv.rdy & ~s.writes
            s.s_axi.awready @= s.req.rdy & s.order.recv.rdy & s.writes
            s.s_axi.wready @= s.req.rdy & s.order.recv.rdy & s.writes

        @update
        def answer():
            s.s_axi.rvalid @= s.resp.val & ~s.order.send.msg
            s.s_axi.bvalid @= s.resp.val & s.order.send.msg
            s.s_axi.rresp @= SLVERR if s.resp.msg.error else OKAY
            s.s_axi.bresp @= SLVERR if s.resp.msg.error else OKAY
            s.resp.rdy @= s.s_axi.bready if s.order.send.msg else s.s_axi.rready
            s.order.send.rdy @= s.resp.val & s.resp.rdy

        @update_ff
        def hold():
            if s.reset:
                s.held <<= 0
            else:
                s.held <<= s.req.val & ~s.req.rdy & s.writes

    def line_trace(s):
        return s.order.line_trace()
