"""ScaledStep: one radix-2^w step on a scaled modulus, S' = floor(S / 2^w) + q * M' + digit * B, where q is
the low word of S.

fl/multipliers/scaled.py has the mathematics (after paper 000, equation 21), the bounds, and the widths
(`ScaledShape`). Two forms:

- `ScaledStepPropagate`: S is a number; two products of w by n bits and a carry-propagate addition of three.
- `ScaledStepCarrySave`: S is a pair (sum, carry); only the low word is added up, for q. Its carry out, what
  is left of the pair, and the 2w partial products go through a tree of full adders, so that no carry runs
  across the word and the delay of a step grows with log w, not with n.

Ports: state in and out (`state_nbits` wide, opaque to the unit around it), digit, b, m_prime; `value`
(carry-save) is the number for which the state stands, as an operand (S < 2M); combinational. Area order: 2w
rows of n + 2w + 1 full adders.
"""

from pymtl3 import *


class ScaledStepPropagate(Component):
    """The state is S."""

    @staticmethod
    def state_nbits(shape):
        return shape.state_nbits

    def construct(s, shape):
        width, w, operand = shape.state_nbits, shape.digit_nbits, shape.operand_nbits
        s.state = InPort(width)
        s.digit = InPort(w)
        s.b = InPort(operand)
        s.m_prime = InPort(shape.nbits)
        s.out = OutPort(width)

        s.from_quotient = Wire(width)
        s.from_digit = Wire(width)

        @update
        def products():
            s.from_quotient @= zext(s.state[0:w], width) * zext(s.m_prime, width)
            s.from_digit @= zext(s.digit, width) * zext(s.b, width)

        @update
        def add():
            s.out @= (s.state >> w) + s.from_quotient + s.from_digit


class ScaledStepCarrySave(Component):
    """State = {carry, sum}; their sum is S. No sum on the way is above S', so no carry is ever lost."""

    @staticmethod
    def state_nbits(shape):
        return 2 * shape.state_nbits

    def construct(s, shape):
        width, w, operand = shape.state_nbits, shape.digit_nbits, shape.operand_nbits
        s.state = InPort(2 * width)
        s.digit = InPort(w)
        s.b = InPort(operand)
        s.m_prime = InPort(shape.nbits)
        s.out = OutPort(2 * width)
        s.value = OutPort(operand)

        # the quotient digit is what the low words add up to, and its carry belongs to the rest
        low = w + 1
        s.sum = Wire(width)
        s.carry = Wire(width)
        s.sum //= s.state[0:width]
        s.carry //= s.state[width : 2 * width]
        s.quotient = Wire(low)
        s.rest = [Wire(width) for _ in range(2)]
        s.from_quotient = [Wire(width) for _ in range(w)]
        s.from_digit = [Wire(width) for _ in range(w)]

        @update
        def add_low_words():
            s.quotient @= zext(s.sum[0:w], low) + zext(s.carry[0:w], low)
            s.rest[0] @= s.sum >> w
            s.rest[1] @= s.carry >> w

        @update
        def partial_products():
            for i in range(w):
                s.from_quotient[i] @= 0
                if s.quotient[i]:
                    s.from_quotient[i] @= zext(s.m_prime, width) << i
                s.from_digit[i] @= 0
                if s.digit[i]:
                    s.from_digit[i] @= zext(s.b, width) << i

        # three rows become two until two are left; first come, first served keeps the tree flat. The
        # quotient's rows come last: they are the ones that wait for the addition of the low words.
        rows = [*s.from_digit, *s.rest, *s.from_quotient]
        s.adders = [FullAdders(width) for _ in range(len(rows) - 2)]
        for i, adder in enumerate(s.adders):
            adder.x //= rows[3 * i]
            adder.y //= rows[3 * i + 1]
            adder.z //= rows[3 * i + 2]
            rows += [adder.sum, adder.carry]
            # the last place of a row of carries is free
            if i == len(s.adders) - 1:
                adder.carry_in //= s.quotient[w]
            else:
                adder.carry_in //= 0
        s.out[0:width] //= rows[-2]
        s.out[width : 2 * width] //= rows[-1]

        @update
        def resolve():
            s.value @= s.sum[0:operand] + s.carry[0:operand]


class FullAdders(Component):
    """A row of full adders: x + y + z + carry_in = sum + carry, with no carry from one to the next."""

    def construct(s, nbits):
        s.x = InPort(nbits)
        s.y = InPort(nbits)
        s.z = InPort(nbits)
        s.carry_in = InPort()
        s.sum = OutPort(nbits)
        s.carry = OutPort(nbits)

        @update
        def add():
            s.sum @= s.x ^ s.y ^ s.z
            s.carry @= (((s.x & s.y) | (s.x & s.z) | (s.y & s.z)) << 1) | zext(s.carry_in, nbits)


SCALED_STEPS: dict[str, type[Component]] = {
    "propagate": ScaledStepPropagate,
    "carry-save": ScaledStepCarrySave,
}
