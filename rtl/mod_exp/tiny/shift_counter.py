"""ShiftCounter: a counter that is a shift register with nonlinear feedback, smaller than a binary counter.

A linear-feedback shift register of w bits goes through 2^w - 1 states, all but 0. Here the bit that enters is
inverted if the bits that stay are all 0, which puts 0 between 10..0 and 0..01 (a de Bruijn sequence). The
register starts at 0; with 2^w counts it returns there without more gates. `states_of(count)` lists the states
in order: a word whose digits are selected by the state is connected in this order.

Ports: clears, steps -> state. Area order: w flip-flops and w + 4 gates.
"""

from pymtl3 import *

# feedback taps for 1 to 12 bits: the coefficients of a primitive polynomial
TAPS = (0x1, 0x3, 0x6, 0xC, 0x14, 0x30, 0x60, 0xB8, 0x110, 0x240, 0x500, 0xE08)


def states_of(count: int) -> list[int]:
    """The first `count` states in counting order; at most 4,096."""
    nbits = clog2(count)
    kept, taps = (1 << nbits - 1) - 1, TAPS[nbits - 1]
    states = [0]
    while len(states) < count:
        state = states[-1]
        enters = (state & taps).bit_count() % 2 ^ (state & kept == 0)
        states.append((state & kept) << 1 | enters)
    return states


class ShiftCounter(Component):
    """Counts steps from 0 up to count - 1, in the order of states_of(count), and starts again."""

    def construct(s, count):
        nbits = clog2(count)
        LAST, TAPPED, KEPT = states_of(count)[-1], TAPS[nbits - 1], (1 << nbits - 1) - 1
        s.clears, s.steps = InPort(), InPort()
        s.state = OutPort(nbits)
        s.next_state = Wire(nbits)
        s.restarts = Wire()
        s.wraps = Wire()
        s.wraps //= int(count == 1 << nbits)  # to 0, without a restart

        @update
        def feedback():
            s.next_state @= s.state << 1
            s.next_state[0] @= reduce_xor(s.state & TAPPED) ^ ((s.state & KEPT) == 0)
            s.restarts @= s.clears | ((s.state == LAST) & ~s.wraps)

        @update_ff
        def count_up():  # without a separate reset, so that steps can become a clock gate
            if s.clears | s.steps:
                s.state <<= 0 if s.restarts else s.next_state
