"""LfsrNotRandom: a shift register that delivers one byte per cycle, for simulation only. NOT RANDOM: never
build it, its padding is predictable.

In the place of a true source, which is analogue and belongs to whoever makes the chip (fl/random_bytes.py has
the sequence).

Ports: ostream, bytes, always valid. Area order: 32 registers.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import SendIfcRTL

from ....fl.random_bytes import LFSR_SEED


class LfsrNotRandom(Component):
    def construct(s, seed=LFSR_SEED):
        s.ostream = SendIfcRTL(mk_bits(8))
        s.state = Wire(32)
        s.steps = [LfsrStep() for _ in range(8)]
        for i, step in enumerate(s.steps):
            step.state //= s.state if i == 0 else s.steps[i - 1].out
        s.ostream.val //= 1
        s.ostream.msg //= s.steps[7].out[0:8]

        @update_ff
        def advance():
            if s.reset:
                s.state <<= seed
            elif s.ostream.rdy:
                s.state <<= s.steps[7].out

    def line_trace(s):
        return f"{s.ostream}"


class LfsrStep(Component):
    """One bit: x^32 + x^22 + x^2 + x + 1."""

    def construct(s):
        s.state = InPort(32)
        s.out = OutPort(32)
        s.out[1:32] //= s.state[0:31]

        @update
        def feed_back():
            s.out[0] @= s.state[31] ^ s.state[21] ^ s.state[1] ^ s.state[0]
