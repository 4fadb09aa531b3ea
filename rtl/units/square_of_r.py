"""SquareOfR: R^2 mod n with R = 2^nbits, by shift-sub products without a division (paper 004, section III).

R - n is congruent to R, and below n when n has its top bit set: then (R - n) * (R - n) mod n is it. For a
shorter n, which the paper leaves out, R - n is reduced first, as 1 * (R - n) mod n, by the same unit.

Ports: istream (any word: it only starts the unit) -> ostream; `modulus` not 0, static from the cycle after
the request on. Cycles: 1 + product, or 2 + two products; they depend on the modulus alone. Area order: a
ShiftSub and n registers.
"""

from pymtl3 import *

from ..messages import declare_streams
from ..states import states
from .shift_sub import ShiftSub


class SquareOfR(Component):
    UNREAD = (("istream__msg", "a request only starts the unit"),)

    def construct(s, nbits, until="noticed"):
        declare_streams(s, mk_bits(nbits), mk_bits(nbits))
        s.modulus = InPort(nbits)

        TOP = nbits - 1
        s.st = Wire(3)
        IDLE, BEGIN, REDUCE, AGAIN, SQUARE = states(s.st, IDLE=0, BEGIN=1, REDUCE=2, AGAIN=3, SQUARE=4)
        s.r = Wire(nbits)  # R mod n, as far as it is reduced
        s.r_n = Wire(nbits)

        s.unit = ShiftSub(nbits, 1, until)
        s.unit.modulus //= s.modulus
        s.ostream.msg //= s.unit.ostream.msg

        @update
        def operand():
            s.r_n @= ~s.modulus + 1 if s.st == BEGIN else s.r
            s.unit.istream.msg.a @= s.r_n
            s.unit.istream.msg.b @= s.r_n
            if (s.st == BEGIN) & ~s.modulus[TOP]:
                s.unit.istream.msg.a @= 1

        @update
        def requests():
            s.istream.rdy @= s.st == IDLE
            s.unit.istream.val @= (s.st == BEGIN) | (s.st == AGAIN)

        @update
        def answers():
            s.unit.ostream.rdy @= (s.st == REDUCE) | s.ostream.rdy
            s.ostream.val @= (s.st == SQUARE) & s.unit.ostream.val

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.st == IDLE:
                if s.istream.val:
                    s.st <<= BEGIN
            elif s.st == BEGIN:
                s.st <<= REDUCE
                if s.modulus[TOP]:
                    s.st <<= SQUARE
            elif s.st == REDUCE:
                if s.unit.ostream.val:
                    s.st <<= AGAIN
            elif s.st == AGAIN:
                s.st <<= SQUARE
            elif s.ostream.val & s.ostream.rdy:
                s.st <<= IDLE

        @update_ff
        def data():
            if s.st == BEGIN:
                s.r <<= s.r_n
            elif (s.st == REDUCE) & s.unit.ostream.val:
                s.r <<= s.unit.ostream.msg

    def line_trace(s):
        return f"{s.istream}|{'IBRAS'[int(s.st)]}|{s.ostream}"
