"""ProductRTL: a Montgomery product, one bit of a in a cycle.

Ports: istream {a, b, m} -> ostream {p}. In each cycle of CALC the sum p grows by b if the lowest bit of a is
1, then by m if it is odd, and is halved. After nbits of these steps it is below 2 m.
"""

from modexlab.rtl.messages import mk_message
from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL


class ProductRTL(Component):
    def construct(s, nbits):
        request = (("a", nbits), ("b", nbits), ("m", nbits))
        s.istream = RecvIfcRTL(mk_message(f"ProductRequest_{nbits}", request))
        s.ostream = SendIfcRTL(mk_message(f"ProductResponse_{nbits}", (("p", nbits),)))
        IDLE, CALC, DONE = (b2(i) for i in range(3))
        last = nbits - 1
        full, wide = nbits + 1, nbits + 2

        s.state = Wire(2)
        s.count = Wire(clog2(nbits) + 1)
        s.a, s.b, s.m = Wire(nbits), Wire(nbits), Wire(nbits)
        s.p = Wire(full)
        s.with_b, s.even = Wire(wide), Wire(wide)
        s.reduced = Wire(full)

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
            # STEP 4: leave CALC after the last step, and DONE when the response is accepted

        @update
        def step():
            s.with_b @= zext(s.p, wide)
            if s.a[0]:
                s.with_b @= zext(s.p, wide) + zext(s.b, wide)
            s.even @= s.with_b
            if s.with_b[0]:
                s.even @= s.with_b + zext(s.m, wide)

        @update_ff
        def datapath():
            if s.state == IDLE:
                s.count <<= 0
                s.a <<= s.istream.msg.a
                s.b <<= s.istream.msg.b
                s.m <<= s.istream.msg.m
                s.p <<= 0
            elif s.state == CALC:
                s.count <<= s.count + 1
                s.a <<= s.a >> 1
                s.p <<= s.even[1:wide]

        @update
        def subtract():
            s.reduced @= s.p
            if s.p > zext(s.m, full):
                s.reduced @= s.p - zext(s.m, full)
            s.ostream.msg.p @= s.reduced[0:nbits]

    def line_trace(s):
        return f"{s.istream}({s.state}:{s.count}:{s.p}){s.ostream}"
