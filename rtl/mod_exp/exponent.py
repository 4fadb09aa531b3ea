"""Exponent registers: shift registers that show the bits of an exponent one after the other.

    RightToLeftExponent   from the lowest bit, until no 1 is left
    LeftToRightExponent   from the highest bit on, all bits; `align` shifts out a leading zero

Ports: load, the exponent in; shift, the bit has been used -> the bit (`exp_bit`) and, for the next cycle, the
next bit (`next_bit`) and whether no bit is left (`next_done`). Area order: a register of n bits.
"""

from pymtl3 import *


class RightToLeftExponent(Component):
    """An exponent whose lowest bit comes first; leading zeros are never reached."""

    def construct(s, nbits):
        s.load = InPort()
        s.exp = InPort(nbits)
        s.shift = InPort()
        s.next_bit = OutPort()
        s.next_done = OutPort()
        s.bits = Wire(nbits)
        s.next_bits = Wire(nbits)

        @update
        def next_value():
            s.next_bits @= s.bits
            if s.load:
                s.next_bits @= s.exp
            elif s.shift:
                s.next_bits @= s.bits >> 1

        @update
        def next_status():
            s.next_bit @= s.next_bits[0]
            s.next_done @= s.next_bits == 0

        @update_ff
        def register():
            s.bits <<= s.next_bits


class LeftToRightExponent(Component):
    """An exponent whose highest bit comes first, and a count of the bits that are left.

    With `aligns`, `next_aligned` says that the next bit is a 1, or that no bit is left. `next_bit` is there
    with `looks_ahead`.
    """

    def construct(s, nbits, aligns, looks_ahead):
        Count = mk_bits(clog2(nbits + 1))
        TOP = nbits - 1
        s.load = InPort()
        s.exp = InPort(nbits)
        s.shift = InPort()
        s.exp_bit = OutPort()
        s.next_done = OutPort()
        s.bits = Wire(nbits)
        s.next_bits = Wire(nbits)
        s.left = Wire(Count)
        s.fewer = Wire(Count)
        s.moves = Wire()

        if aligns:
            s.align = InPort()
            s.next_aligned = OutPort()

            @update
            def used_or_leading_zero():
                s.moves @= s.shift | (s.align & ~s.bits[TOP] & (s.left != 0))

            @update
            def aligned():
                s.next_aligned @= s.next_bits[TOP] | s.next_done

        else:
            s.moves //= s.shift

        @update
        def next_value():
            s.next_bits @= s.bits
            if s.load:
                s.next_bits @= s.exp
            elif s.moves:
                s.next_bits @= s.bits << 1

        s.exp_bit //= s.bits[TOP]
        if looks_ahead:
            s.next_bit = OutPort()
            s.next_bit //= s.next_bits[TOP]

        # the comparison of each case ends before the case is known
        @update
        def next_end():
            s.fewer @= s.left - 1
            s.next_done @= s.left == 0
            if s.load:
                s.next_done @= 0
            elif s.moves:
                s.next_done @= s.fewer == 0

        @update_ff
        def registers():
            s.bits <<= s.next_bits
            if s.load:
                s.left <<= nbits
            elif s.moves:
                s.left <<= s.fewer
