"""Aligner: one shifter that aligns a modulus to its highest bit and shifts a result back by the same amount.

A shift down is a shift up with the bits in reverse order. Ports: number -> zeros (above its highest 1; of the
number 0 none), and back (the value goes down by `shift`), value, shift -> out; combinational. Area order:
n log n multiplexers.
"""

from pymtl3 import *


class Aligner(Component):
    def construct(s, nbits):
        NLEVELS = clog2(nbits)
        LAST, TOP = nbits - 1, NLEVELS - 1
        ONE = mk_bits(nbits)(1)
        s.number = InPort(nbits)
        s.zeros = OutPort(NLEVELS)
        s.back = InPort()
        s.value = InPort(nbits)
        s.shift = InPort(NLEVELS)
        s.out = OutPort(nbits)

        # ---- leading zeros: spread the highest 1 downwards, and keep the first of the ones

        s.spread = [Wire(nbits) for _ in range(NLEVELS + 1)]
        s.highest = Wire(nbits)

        @update
        def mark_highest():
            s.spread[0] @= s.number
            for k in range(NLEVELS):
                s.spread[k + 1] @= s.spread[k] | (s.spread[k] >> (ONE << k))
            s.highest @= s.spread[NLEVELS] & ~(s.spread[NLEVELS] >> 1)

        Count = mk_bits(NLEVELS)
        s.count = [Wire(NLEVELS) for _ in range(nbits + 1)]
        s.zeros //= s.count[nbits]

        @update
        def count_zeros():
            s.count[0] @= 0
            for i in range(nbits):
                s.count[i + 1] @= s.count[i] | (sext(s.highest[i], NLEVELS) & Count(LAST - i))

        # ---- the shifter: a level for each bit of the amount, from the highest

        s.amount = Wire(NLEVELS)
        s.reversed_value = Wire(nbits)
        s.reversed_out = Wire(nbits)
        s.shifted = [Wire(nbits) for _ in range(NLEVELS + 1)]

        @update
        def reverse_value():
            for i in range(nbits):
                s.reversed_value[i] @= s.value[LAST - i]

        @update
        def shift_up():
            s.amount @= s.shift if s.back else s.zeros
            s.shifted[0] @= s.reversed_value if s.back else s.number
            for k in range(NLEVELS):
                s.shifted[k + 1] @= s.shifted[k] << (ONE << (TOP - k)) if s.amount[TOP - k] else s.shifted[k]

        @update
        def reverse_out():
            for i in range(nbits):
                s.reversed_out[i] @= s.shifted[NLEVELS][LAST - i]

        @update
        def choose():
            s.out @= s.reversed_out if s.back else s.shifted[NLEVELS]
