"""Aligner: one shifter that aligns a modulus to its highest bit and shifts a result back by the same amount.

Down is up with the bits in reverse order, where only zeros leave at the other end. Ports: number -> zeros
(above its highest 1; of the number 0 as of 1), and back (the value goes down by `shift`), value, shift ->
out; combinational. Area order: n log n multiplexers.
"""

from pymtl3 import *


class Aligner(Component):
    def construct(s, nbits):
        nlevels = clog2(nbits)
        s.number = InPort(nbits)
        s.zeros = OutPort(nlevels)
        s.back = InPort()
        s.value = InPort(nbits)
        s.shift = InPort(nlevels)
        s.out = OutPort(nbits)

        # ---- ones from the highest one down, of which all but the first are taken away

        below = s.number
        for k in range(nlevels):
            spread = SpreadDown(nbits, 1 << k)
            setattr(s, f"spread_{k}", spread)
            spread.in_ //= below
            below = spread.out
        s.ones = Wire(nbits)
        s.ones //= below
        s.highest = Wire(nbits)

        @update
        def mark_highest():
            s.highest @= s.ones & ~(s.ones >> 1)

        for k in range(nlevels):
            places = mk_bits(nbits)(sum(1 << i for i in range(nbits) if nbits - 1 - i >> k & 1))
            bit = AnyOf(places, nbits)
            setattr(s, f"count_{k}", bit)
            bit.in_ //= s.highest
            bit.out //= s.zeros[k]

        # ---- the shifter, a level for each bit of the count, the largest first

        s.reverse_value = Wire(nbits)
        for i in range(nbits):
            s.reverse_value[i] //= s.value[nbits - 1 - i]
        s.amount = Wire(nlevels)
        s.unshifted = Wire(nbits)

        @update
        def ways():
            s.amount @= s.zeros
            s.unshifted @= s.number
            if s.back:
                s.amount @= s.shift
                s.unshifted @= s.reverse_value

        shifted = s.unshifted
        for k in reversed(range(nlevels)):
            level = ShiftUp(nbits, 1 << k)
            setattr(s, f"shift_{k}", level)
            level.in_ //= shifted
            level.taken //= s.amount[k]
            shifted = level.out
        s.shifted = Wire(nbits)
        s.shifted //= shifted
        s.reverse_shifted = Wire(nbits)
        for i in range(nbits):
            s.reverse_shifted[i] //= s.shifted[nbits - 1 - i]

        @update
        def choose():
            s.out @= s.reverse_shifted if s.back else s.shifted


class SpreadDown(Component):
    """Each bit beside that `places` above it."""

    def construct(s, nbits, places):
        s.in_ = InPort(nbits)
        s.out = OutPort(nbits)

        @update
        def spread():
            s.out @= s.in_ | (s.in_ >> places)


class AnyOf(Component):
    """One of these bits is 1."""

    def construct(s, places, nbits):
        s.in_ = InPort(nbits)
        s.out = OutPort()

        @update
        def any_of():
            s.out @= (s.in_ & places) != 0


class ShiftUp(Component):
    """So many places up, or not."""

    def construct(s, nbits, places):
        s.in_ = InPort(nbits)
        s.taken = InPort()
        s.out = OutPort(nbits)

        @update
        def shift_up():
            s.out @= s.in_
            if s.taken:
                s.out @= s.in_ << places
