"""VVAddRTL: an adder, three addresses and a state machine that makes one access at a time.

Ports: istream {a, b, total, n} -> ostream {count}, and the memory port mem. Cycles: six an element, plus one.
"""

from modexlab.rtl.messages import mk_message
from pymtl3 import *
from pymtl3.stdlib.mem import mk_mem_msg
from pymtl3.stdlib.stream.ifcs import MasterIfcRTL, RecvIfcRTL, SendIfcRTL

READ, WRITE = 0, 1  # types of memory requests


class VVAddRTL(Component):
    def construct(s):
        fields = (("a", 32), ("b", 32), ("total", 32), ("n", 16))
        s.istream = RecvIfcRTL(mk_message("VVAddRequest", fields))
        s.ostream = SendIfcRTL(mk_message("VVAddResponse", (("count", 16),)))
        s.mem = MasterIfcRTL(*mk_mem_msg(8, 32, 32))
        IDLE, ASK_X, GET_X, ASK_Y, GET_Y, ASK_SUM, GET_SUM, DONE = (b3(i) for i in range(8))

        s.state = Wire(3)
        s.a = Wire(32)  # addresses of the next elements
        s.b = Wire(32)
        s.total = Wire(32)
        s.n = Wire(16)
        s.left = Wire(16)  # elements to go
        s.x = Wire(32)
        s.y = Wire(32)
        s.ostream.msg.count //= s.n
        s.add_request(ASK_Y, ASK_SUM)
        s.add_datapath(IDLE, GET_X, GET_Y, GET_SUM)

        @update
        def handshakes():
            s.istream.rdy @= s.state == IDLE
            s.ostream.val @= s.state == DONE
            s.mem.req.val @= (s.state == ASK_X) | (s.state == ASK_Y) | (s.state == ASK_SUM)
            s.mem.resp.rdy @= (s.state == GET_X) | (s.state == GET_Y) | (s.state == GET_SUM)

        @update_ff
        def control():
            if s.reset:
                s.state <<= IDLE
            elif s.state == IDLE:
                if s.istream.val:
                    s.state <<= ASK_X if s.istream.msg.n != 0 else DONE
            elif s.state == DONE:
                if s.ostream.rdy:
                    s.state <<= IDLE
            elif s.state == GET_SUM:
                if s.mem.resp.val:
                    s.state <<= ASK_X if s.left != 1 else DONE
            elif (s.mem.req.val & s.mem.req.rdy) | (s.mem.resp.val & s.mem.resp.rdy):
                s.state <<= s.state + 1

    def add_request(s, ASK_Y, ASK_SUM):
        """The request to the memory: read x, read y, write their sum."""
        s.mem.req.msg.opaque //= 0
        s.mem.req.msg.len //= 0  # a whole word

        @update
        def request():
            s.mem.req.msg.type_ @= READ
            s.mem.req.msg.addr @= s.a
            s.mem.req.msg.data @= s.x + s.y
            if s.state == ASK_Y:
                s.mem.req.msg.addr @= s.b
            elif s.state == ASK_SUM:
                s.mem.req.msg.type_ @= WRITE
                s.mem.req.msg.addr @= s.total

    def add_datapath(s, IDLE, GET_X, GET_Y, GET_SUM):
        """Addresses, numbers and the count of elements."""

        @update_ff
        def datapath():
            if s.state == IDLE:
                s.a <<= s.istream.msg.a
                s.b <<= s.istream.msg.b
                s.total <<= s.istream.msg.total
                s.n <<= s.istream.msg.n
                s.left <<= s.istream.msg.n
            elif s.mem.resp.val:
                if s.state == GET_X:
                    s.x <<= s.mem.resp.msg.data
                    s.a <<= s.a + 4
                elif s.state == GET_Y:
                    s.y <<= s.mem.resp.msg.data
                    s.b <<= s.b + 4
                elif s.state == GET_SUM:
                    s.total <<= s.total + 4
                    s.left <<= s.left - 1

    def line_trace(s):
        return f"{s.istream}({s.left}:{s.state}){s.ostream}  {s.mem.req}|{s.mem.resp}"
