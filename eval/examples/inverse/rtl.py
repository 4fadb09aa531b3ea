"""InverseRTL: the binary Euclidean algorithm for an odd modulus (Knuth, TAOCP, 4.5.2, algorithm B).

Ports: istream {a, m} -> ostream {status, x}. Cycles: one per halving or subtraction, plus three; two for a
refused request. Invariant: u = a x1 and v = a x2 modulo m.
"""

from modexlab.rtl.messages import mk_message
from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

OK, EVEN, LARGE, NONE = range(4)
IDLE, CHECK, CALC, DONE = map(Bits2, range(4))


class InverseRTL(Component):
    def construct(s, nbits):
        s.istream = RecvIfcRTL(mk_message(f"InverseRequest_{nbits}", (("a", nbits), ("m", nbits))))
        s.ostream = SendIfcRTL(mk_message(f"InverseResponse_{nbits}", (("status", 2), ("x", nbits))))
        one_more = nbits + 1

        s.state = Wire(2)
        s.m = Wire(nbits)
        s.u = Wire(nbits)
        s.v = Wire(nbits)
        s.x1 = Wire(nbits)
        s.x2 = Wire(nbits)
        s.status = Wire(2)
        s.ended = Wire()
        s.greater = Wire()
        s.half1 = Wire(one_more)  # x1 or x1 + m, whichever is even
        s.half2 = Wire(one_more)
        s.minus1 = Wire(nbits)  # x1 - x2 modulo m
        s.minus2 = Wire(nbits)
        s.ostream.msg.status //= s.status
        s.control()
        s.arithmetic(one_more)
        s.datapath(one_more)

    def control(s):
        """The state machine and the handshakes."""

        @update
        def handshakes():
            s.istream.rdy @= s.state == IDLE
            s.ostream.val @= s.state == DONE
            s.ostream.msg.x @= s.x1
            if s.status != OK:
                s.ostream.msg.x @= 0

        @update_ff
        def next_state():
            if s.reset:
                s.state <<= IDLE
            elif s.state == IDLE:
                if s.istream.val:
                    s.state <<= CHECK
            elif s.state == CHECK:
                s.state <<= CALC
                if ~s.m[0] | (s.u >= s.m):
                    s.state <<= DONE
            elif s.state == CALC:
                if s.ended:
                    s.state <<= DONE
            elif s.ostream.rdy:
                s.state <<= IDLE

    def arithmetic(s, one_more):
        """Halves, differences and comparisons of the four registers."""

        @update
        def operate():
            s.ended @= (s.u == 0) | (s.u == 1) | (s.v == 1)
            s.greater @= s.u >= s.v
            s.half1 @= zext(s.x1, one_more)
            if s.x1[0]:
                s.half1 @= zext(s.x1, one_more) + zext(s.m, one_more)
            s.half2 @= zext(s.x2, one_more)
            if s.x2[0]:
                s.half2 @= zext(s.x2, one_more) + zext(s.m, one_more)
            s.minus1 @= s.x1 - s.x2
            if s.x1 < s.x2:
                s.minus1 @= s.x1 - s.x2 + s.m
            s.minus2 @= s.x2 - s.x1
            if s.x2 < s.x1:
                s.minus2 @= s.x2 - s.x1 + s.m

    def datapath(s, one_more):
        """The registers, which keep u = a x1 and v = a x2 modulo m."""

        @update_ff
        def registers():
            if s.state == IDLE:
                s.u <<= s.istream.msg.a
                s.v <<= s.istream.msg.m
                s.m <<= s.istream.msg.m
                s.x1 <<= 1
                s.x2 <<= 0
                s.status <<= OK
            elif s.state == CHECK:
                if ~s.m[0]:
                    s.status <<= EVEN
                elif s.u >= s.m:
                    s.status <<= LARGE
            elif s.state == CALC:
                if s.v == 1:
                    s.x1 <<= s.x2
                elif s.u == 0:
                    s.status <<= NONE
                elif s.u != 1:
                    if ~s.u[0]:
                        s.u <<= s.u >> 1
                        s.x1 <<= s.half1[1:one_more]
                    elif ~s.v[0]:
                        s.v <<= s.v >> 1
                        s.x2 <<= s.half2[1:one_more]
                    elif s.greater:
                        s.u <<= s.u - s.v
                        s.x1 <<= s.minus1
                    else:
                        s.v <<= s.v - s.u
                        s.x2 <<= s.minus2

    def line_trace(s):
        return f"{s.istream}({s.u}:{s.v}){s.ostream}"
