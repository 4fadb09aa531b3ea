"""AddRed: one radix-2 Montgomery step, state' = (state + x_i * Y + q * N) / 2 with q making the sum even.

Paper 001, Algorithm 4 lines 3 to 7 and Figure 8. Three forms of the same step:

- `AddRedTextbook` (Figure 8a): add x_i * Y, look at the sum's last bit, add N, halve.
- `AddRedKoc` (Figure 8b, after Koc): x_i * Y and x_i * Y + N are ready before the state arrives; one bit,
  S_0 xor x_i * Y_0, chooses which of them is added. One adder between state and state'.
- `AddRedCarrySave`: the state is a pair (sum, carry) whose sum is S; two rows of full adders, no carry runs
  across the word, so the delay of a step does not depend on the width.

Ports: state in and out (WORDS of n + 1 bits, opaque to the units around it), x_i, y, n; combinational.
The state stands for S < 2N when y < N. `Resolve` turns a state into the n+1 bits of S.
Area order: n full adders for each of the two additions; Koc's form adds a multiplexer row.
"""

from pymtl3 import *


def declare_step(s, nbits):
    """The ports of a step."""
    state_nbits = s.WORDS * (nbits + 1)
    s.state = InPort(state_nbits)
    s.x_i = InPort()
    s.y = InPort(nbits)
    s.n = InPort(nbits)
    s.out = OutPort(state_nbits)


class AddRedTextbook(Component):
    """A radix-2 Montgomery step (paper 001, Figure 8a)."""

    PARAMETERS = ("nbits",)
    WORDS = 1

    def construct(s, nbits):
        declare_step(s, nbits)

        wide = nbits + 2
        s.sum_y = Wire(wide)
        s.sum_n = Wire(wide)

        @update
        def add_y():
            s.sum_y @= zext(s.state, wide) + zext(s.y, wide) if s.x_i else zext(s.state, wide)

        @update
        def add_n():
            s.sum_n @= s.sum_y + zext(s.n, wide) if s.sum_y[0] else s.sum_y

        s.out //= s.sum_n[1:wide]


class AddRedKoc(Component):
    """A radix-2 Montgomery step that selects one of two addends (paper 001, Figure 8b)."""

    WORDS = 1

    def construct(s, nbits):
        declare_step(s, nbits)

        wide = nbits + 2
        s.addend_even = Wire(wide)  # x_i * Y
        s.addend_odd = Wire(wide)  # x_i * Y + N
        s.sum = Wire(wide)

        @update
        def addends():
            s.addend_even @= zext(s.y, wide) & sext(s.x_i, wide)
            s.addend_odd @= s.addend_even + zext(s.n, wide)

        @update
        def choose_and_add():
            if s.state[0] ^ s.addend_even[0]:
                s.sum @= zext(s.state, wide) + s.addend_odd
            else:
                s.sum @= zext(s.state, wide) + s.addend_even

        s.out //= s.sum[1:wide]


class AddRedCarrySave(Component):
    """State = {carry, sum}, each n+1 bits; their sum is S."""

    WORDS = 2

    def construct(s, nbits):
        half = nbits + 1
        wide = nbits + 2
        declare_step(s, nbits)

        s.sum_in = Wire(wide)
        s.carry_in = Wire(wide)
        s.sum_in[0:half] //= s.state[0:half]
        s.sum_in[half] //= 0
        s.carry_in[0:half] //= s.state[half : 2 * half]
        s.carry_in[half] //= 0
        s.partial = Wire(wide)  # x_i * Y
        s.sum_y = Wire(wide)
        s.carry_y = Wire(wide)
        s.multiple = Wire(wide)  # q * N
        s.sum_n = Wire(wide)
        s.carry_n = Wire(wide)

        @update
        def add_y():
            s.partial @= zext(s.y, wide) & sext(s.x_i, wide)
            s.sum_y @= s.sum_in ^ s.carry_in ^ s.partial
            # the majority row weighs twice as much; its top bit is 0 because the three rows sum to less than
            # 4N
            s.carry_y @= ((s.sum_in & s.carry_in) | (s.sum_in & s.partial) | (s.carry_in & s.partial)) << 1

        @update
        def add_n():
            s.multiple @= zext(s.n, wide) & sext(s.sum_y[0], wide)
            s.sum_n @= s.sum_y ^ s.carry_y ^ s.multiple
            # this row stays unshifted: halving the state moves it back by the one place it is ahead
            s.carry_n @= (s.sum_y & s.carry_y) | (s.sum_y & s.multiple) | (s.carry_y & s.multiple)

        s.out[0:half] //= s.sum_n[1:wide]
        s.out[half : 2 * half] //= s.carry_n[0:half]


class Resolve(Component):
    """The binary value of a state: the carry-propagate addition that carry-save form postponed."""

    def construct(s, nbits):
        half = nbits + 1
        s.state = InPort(2 * half)
        s.value = OutPort(half)

        s.sum = Wire(half)
        s.carry = Wire(half)
        s.sum //= s.state[0:half]
        s.carry //= s.state[half : 2 * half]

        @update
        def add():
            s.value @= s.sum + s.carry


ADD_REDS: dict[str, type[Component]] = {
    "textbook": AddRedTextbook,
    "koc": AddRedKoc,
    "carry-save": AddRedCarrySave,
}
