"""DivUnit: div, divu, rem, remu: RISC-V's signs around the unsigned divider of rtl/units/div_rem.py.

It divides magnitudes. The quotient is negated if the signs differ, the remainder if the dividend is negative.
The results that RISC-V requires for a division by 0 (all ones, and the dividend) and for -2^31 / -1 (-2^31,
and 0) need no special case, except that the quotient of a division by 0 is never negated.

Ports: istream {funct3, a, b} -> ostream of 32 bits. Cycles: 32 / div_bits + 1. Area order: div_bits
subtractors of 33 bits, three negations of 32, 96 flip-flops.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...rtl.units.div_rem import DivRem
from .messages import MulDivReq
from .parameters import check_units


class DivUnit(Component):
    """Executes div, divu, rem and remu on one unsigned divider."""

    def construct(s, div_bits=2):
        check_units(div_bits=div_bits)
        s.istream = RecvIfcRTL(MulDivReq)
        s.ostream = SendIfcRTL(Bits32)

        s.divider = m = DivRem(32, 32, div_bits)
        m.istream.val //= s.istream.val
        m.istream.rdy //= s.istream.rdy
        m.ostream.val //= s.ostream.val
        m.ostream.rdy //= s.ostream.rdy

        s.negative_a = Wire()
        s.negative_b = Wire()

        @update
        def magnitudes():
            s.negative_a @= s.istream.msg.a[31] & ~s.istream.msg.funct3[0]
            s.negative_b @= s.istream.msg.b[31] & ~s.istream.msg.funct3[0]
            s.divider.istream.msg.dividend @= s.istream.msg.a
            s.divider.istream.msg.divisor @= s.istream.msg.b
            if s.negative_a:
                s.divider.istream.msg.dividend @= ~s.istream.msg.a + 1
            if s.negative_b:
                s.divider.istream.msg.divisor @= ~s.istream.msg.b + 1

        s.remainder = Wire()  # the result is the remainder
        s.negate = Wire()

        @update_ff
        def remember():
            if s.istream.val & s.istream.rdy:
                s.remainder <<= s.istream.msg.funct3[1]
                if s.istream.msg.funct3[1]:
                    s.negate <<= s.negative_a
                else:
                    s.negate <<= (s.negative_a ^ s.negative_b) & (s.istream.msg.b != 0)

        s.magnitude = Wire(32)

        @update
        def result():
            s.magnitude @= s.divider.ostream.msg.quotient
            if s.remainder:
                s.magnitude @= s.divider.ostream.msg.remainder
            s.ostream.msg @= s.magnitude
            if s.negate:
                s.ostream.msg @= ~s.magnitude + 1

    def line_trace(s):
        return s.divider.line_trace()
