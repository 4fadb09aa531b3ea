"""MulUnit: mul, mulh, mulhsu, mulhu (paper 001, section 2.4: one product of 64 bits, of which the instruction
selects a half).

The operands have separate registers, so that the gates of the multiplier do not toggle during other
instructions. The product is unsigned; the high half of a signed product is that minus b if a is negative, and
minus a if b is. With latency > 1 the product passes through latency - 1 further registers, which the
synthesis tool can move into the multiplier.

Ports: istream {funct3, a, b} -> ostream of 32 bits. Cycles: latency; it accepts the next operands in the
cycle in which a result is accepted. Area order: 32^2 full adders, 64 + 64 (latency - 1) flip-flops.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from .messages import MulDivReq
from .parameters import check_units


class MulUnit(Component):
    def construct(s, latency=1):
        check_units(mul_latency=latency)
        s.istream = RecvIfcRTL(MulDivReq)
        s.ostream = SendIfcRTL(Bits32)

        LAST = latency - 1
        s.val = Wire(latency)
        s.a = Wire(32)
        s.b = Wire(32)
        s.funct3 = Wire(3)
        s.advance = Wire()

        @update
        def handshake():
            s.advance @= ~s.val[LAST] | s.ostream.rdy
            s.istream.rdy @= s.advance

        s.ostream.val //= s.val[LAST]

        @update_ff
        def operands():
            if s.advance & s.istream.val:
                s.a <<= s.istream.msg.a
                s.b <<= s.istream.msg.b
                s.funct3 <<= s.istream.msg.funct3

        s.product = Wire(64)
        s.less_b = Wire(32)
        s.less_a = Wire(32)
        s.half = Wire(32)

        @update
        def multiply():
            s.product @= zext(s.a, 64) * zext(s.b, 64)
            s.less_b @= 0
            s.less_a @= 0
            if s.a[31] & (s.funct3 != 3):
                s.less_b @= s.b
            if s.b[31] & (s.funct3 == 1):
                s.less_a @= s.a
            if s.funct3 == 0:
                s.half @= s.product[0:32]
            else:
                s.half @= s.product[32:64] - s.less_b - s.less_a

        s.delay(latency)

    def delay(s, latency):
        """The registers behind the product, and the valid bits of all stages."""
        LAST = latency - 1
        s.next_val = Wire(latency)
        s.next_val[0] //= s.istream.val

        @update_ff
        def valid():
            if s.reset:
                s.val <<= 0
            elif s.advance:
                s.val <<= s.next_val

        if latency == 1:
            s.ostream.msg //= s.half
        else:
            s.next_val[1:latency] //= s.val[0:LAST]
            s.later = [Wire(32) for _ in range(LAST)]
            s.ostream.msg //= s.later[latency - 2]

            @update_ff
            def stages():
                if s.advance:
                    s.later[0] <<= s.half
                    for i in range(1, LAST):
                        s.later[i] <<= s.later[i - 1]

    def line_trace(s):
        return f"{s.istream}|{s.ostream}"
