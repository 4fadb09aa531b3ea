"""ScaledMont: the Montgomery product a * b / R on a scaled modulus M = c*N = -1 mod 2^w, a digit of w bits a
cycle.

The quotient digit of a step is the low word of the state: there is no product with m' in the loop.
Mathematics, bounds and widths are in fl/multipliers/scaled.py (after paper 000, section 4.1), the step and
its two forms (`state`) in scaled_step.py.

Ports: istream {a, b} -> ostream, words of `wide` bits with a, b and the product below 2M, R = 2^wide;
`modulus` is M' = (M + 1) / 2^w = 2^-w mod N, in the lower nbits of a wide port, static while the unit is
busy. Cycles: L + 1 with L = 1 + ceil((nbits + 2) / w) digits, whatever the operands; one more in carry-save
form, where the last cycle adds the pair up. One product at a time, operands registered once; the next one is
taken in the cycle in which a result leaves. `fits`: L is the static port `nblocks`, 1 to the digits of the
width, and R = 2^(w * nblocks). A modulus N of len bits wants L >= 1 + ceil((len + 2) / w), by the bounds of
fl/multipliers/scaled.py with len for its n: then a, b below 2M give a product below 2M. That is 1 + the
blocks of w bits that 4N fills (BlockCount of {N, 00}). Area order: 2w rows of full adders of n + 2w + 1 bits;
registers of n bits for a, b and the state (carry-save: a pair).
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ....fl.multipliers.scaled import ScaledShape
from ...messages import mk_product_req
from .scaled_step import SCALED_STEPS


class ScaledMont(Component):
    def construct(s, nbits, digit_nbits=16, state="propagate", fits=None):
        shape = ScaledShape(nbits, digit_nbits)
        wide, operand = shape.wide, shape.operand_nbits
        s.istream = RecvIfcRTL(mk_product_req(wide))
        s.ostream = SendIfcRTL(mk_bits(wide))
        s.modulus = InPort(wide)

        Step = SCALED_STEPS[state]
        # in carry-save form the result is read from the state, otherwise from the last step
        registered = state == "carry-save"
        LAST = shape.nsteps if registered else shape.nsteps - 1

        s.busy = Wire()
        count_nbits = clog2(LAST + 1)
        s.count = Wire(count_nbits)
        s.a = Wire(wide)
        s.b = Wire(operand)
        s.state = Wire(Step.state_nbits(shape))
        s.take = Wire()
        s.result = Wire(operand)

        s.step = Step(shape)
        s.step.state //= s.state
        s.step.digit //= s.a[0:digit_nbits]
        s.step.b //= s.b
        s.step.m_prime //= s.modulus[0:nbits]
        if registered:
            s.result //= s.step.value
        else:
            s.result //= s.step.out[0:operand]

        @update
        def out_msg():
            s.ostream.msg @= zext(s.result, wide)

        if fits:
            s.nblocks = InPort(clog2(shape.ndigits + 1))
            s.last = Wire(count_nbits)
            MORE = LAST - shape.ndigits

            @update
            def out_val_of_digits():
                s.last @= zext(s.nblocks, count_nbits) + MORE
                s.ostream.val @= s.busy & (s.count == s.last)

        else:

            @update
            def out_val():
                s.ostream.val @= s.busy & (s.count == LAST)

        @update
        def in_rdy():
            s.istream.rdy @= ~s.busy | (s.ostream.val & s.ostream.rdy)
            s.take @= s.istream.val & s.istream.rdy

        @update_ff
        def control():
            if s.reset:
                s.busy <<= 0
            elif s.take:
                s.busy <<= 1
            elif s.ostream.val & s.ostream.rdy:
                s.busy <<= 0

        @update_ff
        def data():
            if s.take:
                s.a <<= s.istream.msg.a
                s.b <<= s.istream.msg.b[0:operand]
                s.state <<= 0
                s.count <<= 0
            elif s.busy & ~s.ostream.val:
                s.a <<= s.a >> digit_nbits
                s.state <<= s.step.out
                s.count <<= s.count + 1

    def line_trace(s):
        return f"{s.istream}({s.count if s.busy else ''}){s.ostream}"
