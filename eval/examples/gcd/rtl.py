"""GCDRTL: two registers, a subtractor and a state machine.

Ports: istream {a, b} -> ostream {g}. Cycles: one per exchange or subtraction, plus two.
"""

from modexlab.rtl.messages import mk_message
from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL


class GCDRTL(Component):
    def construct(s, nbits):
        s.istream = RecvIfcRTL(mk_message("GCDRequest", (("a", nbits), ("b", nbits))))
        s.ostream = SendIfcRTL(mk_message("GCDResponse", (("g", nbits),)))
        IDLE, CALC, DONE = (b2(i) for i in range(3))

        s.state = Wire(2)
        s.a = Wire(nbits)
        s.b = Wire(nbits)
        s.ostream.msg.g //= s.a

        @update
        def handshakes():
            s.istream.rdy @= s.state == IDLE
            s.ostream.val @= s.state == DONE

        @update_ff
        def control():
            if s.reset:
                s.state <<= IDLE
            elif s.state == IDLE:
                if s.istream.val:
                    s.state <<= CALC
            elif s.state == CALC:
                if s.b == 0:
                    s.state <<= DONE
            elif s.ostream.rdy:
                s.state <<= IDLE

        @update_ff
        def datapath():
            if s.state == IDLE:
                s.a <<= s.istream.msg.a
                s.b <<= s.istream.msg.b
            elif (s.state == CALC) & (s.b != 0):
                if s.a < s.b:
                    s.a <<= s.b
                    s.b <<= s.a
                else:
                    s.a <<= s.a - s.b

    def line_trace(s):
        return f"{s.istream}({s.a}:{s.b}){s.ostream}"
