"""DivRem: quotient and remainder of an unsigned division, in two forms.

`DivRem`: restoring division, k quotient bits a cycle from the top, whatever the operands.
    Cycles: nbits / k + 1. Area order: k subtractors of dbits + 1, registers nbits + 2 dbits.
`AlignedDivRem`: paper 001, section 2.3 and Figure 2. The divisor is shifted up until it exceeds the dividend,
then
    down again, one bit a cycle, and subtracted where it fits; a second register counts along and collects the
    quotient.
    Cycles: 2k + 2 for a quotient of k bits: data-dependent, and quick only when the quotient is short. (The
    paper's RTL ends a
    cycle earlier where the quotient is 0, and earlier still where the remainder is 0 and low bits of the
    quotient are: both by
    comparators of their own, for operands that keys do not have.)
    `gated`: its registers have an enable alone, for clock gates; otherwise a reset goes before it, as in the
    paper's RTL, and
    Yosys' clock gating leaves them alone.

Both: istream {dividend, divisor} -> ostream {quotient, remainder}; one division at a time. DivRem takes the
next one in the cycle in which its result is taken, AlignedDivRem in the cycle after. Dividing by 0 gives all
ones and the dividend, as RISC-V has it (for the remainder: its low dbits).
"""

from pymtl3 import *

from ..messages import declare_streams, mk_div_req, mk_div_resp
from ..states import states
from .serial_ctrl import SerialCtrl, connect_serial

IDLE, UP, DOWN, DONE = (b2(i) for i in range(4))  # of AlignedDivRem


class DivStep(Component):
    """One quotient bit of a restoring division: brings down a bit, subtracts the divisor if it fits."""

    def construct(s, dbits):
        s.remainder = InPort(dbits)
        s.next_bit = InPort()
        s.divisor = InPort(dbits)
        s.out = OutPort(dbits)
        s.quotient_bit = OutPort()

        wide = dbits + 2
        BORROW = dbits + 1  # place of the top bit
        LOW = dbits - 1
        s.difference = Wire(wide)

        @update
        def step():
            s.difference @= concat(b1(0), s.remainder, s.next_bit) - zext(s.divisor, wide)
            s.quotient_bit @= ~s.difference[BORROW]
            if s.difference[BORROW]:
                s.out @= concat(s.remainder[0:LOW], s.next_bit)
            else:
                s.out @= s.difference[0:dbits]


class DivRem(Component):
    def construct(s, nbits, dbits, bits_per_cycle=1):
        declare_streams(s, mk_div_req(nbits, dbits), mk_div_resp(nbits, dbits))

        assert nbits % bits_per_cycle == 0
        LAST_STEP = bits_per_cycle - 1
        s.dividend = Wire(nbits)  # loses its top bits, gains quotient bits below
        s.remainder = Wire(dbits)
        s.divisor = Wire(dbits)
        s.shifted = Wire(nbits)

        s.steps = [DivStep(dbits) for _ in range(bits_per_cycle)]
        for i, step in enumerate(s.steps):
            step.remainder //= s.remainder if i == 0 else s.steps[i - 1].out
            step.next_bit //= s.dividend[nbits - 1 - i]
            step.divisor //= s.divisor
            s.shifted[LAST_STEP - i] //= step.quotient_bit
        if bits_per_cycle < nbits:
            s.shifted[bits_per_cycle:nbits] //= s.dividend[0 : nbits - bits_per_cycle]

        s.ctrl = SerialCtrl(nbits // bits_per_cycle)
        connect_serial(s)
        s.ostream.msg.quotient //= s.dividend
        s.ostream.msg.remainder //= s.remainder
        s.assertions = {
            "RemainderBelowDivisor": "!ostream__val || divisor == 0 || remainder < divisor",
        }

        # Constants enter through the data inputs: each register has one enable, and so a clock gate.
        s.next_remainder = Wire(dbits)

        @update
        def next_values():
            s.next_remainder @= s.steps[LAST_STEP].out
            if s.ctrl.load:
                s.next_remainder @= 0

        @update_ff
        def data():
            if s.ctrl.load:
                s.dividend <<= s.istream.msg.dividend
                s.divisor <<= s.istream.msg.divisor
            elif s.ctrl.step:
                s.dividend <<= s.shifted
            if s.ctrl.load | s.ctrl.step:
                s.remainder <<= s.next_remainder

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.ostream}"


class AlignedDivRem(Component):
    """Unsigned division that first aligns the divisor to the dividend, then subtracts and shifts."""

    def construct(s, nbits, dbits, gated=True):
        declare_streams(s, mk_div_req(nbits, dbits), mk_div_resp(nbits, dbits))

        wide = nbits + 1  # the divisor passes the dividend by one place
        wider = nbits + 2
        s.st = Wire(2)
        states(s.st, IDLE=0, UP=1, DOWN=2, DONE=3)
        s.remainder = Wire(nbits)
        s.divisor = Wire(wide)
        s.weight = Wire(wide)  # 2^(places the divisor is shifted)
        s.quotient = Wire(nbits)
        s.difference = Wire(wider)  # remainder - divisor / 2; the top bit is the borrow

        s.ostream.msg.quotient //= s.quotient
        s.ostream.msg.remainder //= s.remainder[0:dbits]
        s.assertions = {
            "OneWeight": "st == IDLE || (weight & (weight - 1)) == 0",
            "RemainderBelowDivisor": "!ostream__val || divisor == 0 || {1'd0, remainder} < divisor",
        }

        @update
        def handshakes():
            s.istream.rdy @= s.st == IDLE
            s.ostream.val @= s.st == DONE

        @update
        def subtract():
            s.difference @= zext(s.remainder, wider) - zext(s.divisor[1:wide], wider)

        s.above = Wire()
        s.last = Wire()

        @update
        def compare():
            s.above @= s.divisor > zext(s.remainder, wide)
            s.last @= s.weight[1]

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.st == IDLE:
                if s.istream.val:
                    s.st <<= UP
                    if s.istream.msg.divisor == 0:
                        s.st <<= DONE
            elif s.st == UP:
                if s.above:
                    s.st <<= DOWN
                    if s.weight[0]:
                        s.st <<= DONE
            elif s.st == DOWN:
                if s.last:
                    s.st <<= DONE
            elif s.ostream.rdy:
                s.st <<= IDLE

        s.registers(nbits, wide, gated)

    def registers(s, nbits, wide, gated):
        """Each register has one enable."""
        ALL_ONES = mk_bits(nbits)(-1)
        s.load = Wire()
        s.moves = Wire()
        s.taken = Wire()
        s.next_divisor = Wire(wide)
        s.next_weight = Wire(wide)
        s.next_remainder = Wire(nbits)
        s.next_quotient = Wire(nbits)

        @update
        def enables():
            s.load @= (s.st == IDLE) & s.istream.val
            s.moves @= s.load | ((s.st == UP) & ~s.above) | (s.st == DOWN)
            s.taken @= s.load | ((s.st == DOWN) & ~s.difference[wide])

        @update
        def next_values():
            s.next_divisor @= s.divisor >> 1
            s.next_weight @= s.weight >> 1
            s.next_remainder @= s.difference[0:nbits]
            s.next_quotient @= s.quotient | s.weight[1:wide]
            if s.st == UP:
                s.next_divisor @= s.divisor << 1
                s.next_weight @= s.weight << 1
            if s.st == IDLE:
                s.next_divisor @= zext(s.istream.msg.divisor, wide)
                s.next_weight @= 1
                s.next_remainder @= s.istream.msg.dividend
                s.next_quotient @= 0
                if s.istream.msg.divisor == 0:
                    s.next_quotient @= ALL_ONES

        clears = not gated

        @update_ff
        def data():
            if clears & s.reset:
                s.divisor <<= 0
                s.weight <<= 0
                s.remainder <<= 0
                s.quotient <<= 0
            else:
                if s.moves:
                    s.divisor <<= s.next_divisor
                    s.weight <<= s.next_weight
                if s.taken:
                    s.remainder <<= s.next_remainder
                    s.quotient <<= s.next_quotient

    def line_trace(s):
        return f"{s.istream}|{'IUDD'[int(s.st)]}|{s.ostream}"
