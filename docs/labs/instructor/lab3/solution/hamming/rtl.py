"""HammingRTL: shifts the difference of two words out, and counts its ones.

Ports: istream {a, b} -> ostream {distance}. Cycles: nbits / bits + 1.
"""

from modexlab.rtl.messages import mk_message
from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL


class HammingRTL(Component):
    def construct(s, nbits, bits):
        s.istream = RecvIfcRTL(mk_message(f"HammingRequest_{nbits}", (("a", nbits), ("b", nbits))))
        s.ostream = SendIfcRTL(mk_message(f"HammingResponse_{nbits}", (("distance", 6),)))
        IDLE, CALC, DONE = (b2(i) for i in range(3))
        last = nbits // bits - 1

        s.state = Wire(2)
        s.count = Wire(6)
        s.left = Wire(nbits)
        s.distance = Wire(6)
        s.ostream.msg.distance //= s.distance
        s.total = Wire(6)

        @update
        def handshakes():
            s.istream.rdy @= s.state == IDLE
            s.ostream.val @= s.state == DONE

        @update
        def ones():
            s.total @= s.distance
            for i in range(bits):
                s.total @= s.total + zext(s.left[i], 6)

        @update_ff
        def control():
            if s.reset:
                s.state <<= IDLE
            elif s.state == IDLE:
                if s.istream.val:
                    s.state <<= CALC
            elif s.state == CALC:
                if s.count == last:
                    s.state <<= DONE
            elif s.ostream.rdy:
                s.state <<= IDLE

        @update_ff
        def datapath():
            if s.state == IDLE:
                s.count <<= 0
                s.left <<= s.istream.msg.a ^ s.istream.msg.b
                s.distance <<= 0
            elif s.state == CALC:
                s.count <<= s.count + 1
                s.left <<= s.left >> bits
                s.distance <<= s.total

    def line_trace(s):
        return f"{s.istream}({s.state}:{s.distance}){s.ostream}"
