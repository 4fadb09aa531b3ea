"""PrefixAdder: x + y by a parallel-prefix network (paper 000, section 2.2.2 uses Brent and Kung's), or by
plain `+`.

`adder`: "brent-kung", "kogge-stone", "sklansky" instantiate the network that fl/compression/prefix.py plans,
a PrefixLevel for each of its levels; "carry-propagate" leaves the adder to the synthesis tool.

Ports: x, y -> sum and carry out; combinational. Area order: 5 gates a bit and 3 a node: about 2n nodes
(Brent-Kung), n/2 log2 n (Sklansky), n log2 n (Kogge-Stone).
"""

from pymtl3 import *

from ...fl.compression.prefix import CARRY_PROPAGATE, prefix_network


class PrefixAdder(Component):
    def construct(s, nbits, adder):
        s.x = InPort(nbits)
        s.y = InPort(nbits)
        s.sum = OutPort(nbits)
        s.carry_out = OutPort()
        LAST = nbits - 1
        wide = nbits + 1

        if adder == CARRY_PROPAGATE:
            s.total = Wire(wide)

            @update
            def add():
                s.total @= zext(s.x, wide) + zext(s.y, wide)

            s.sum //= s.total[0:nbits]
            s.carry_out //= s.total[nbits]
        else:
            s.g = Wire(nbits)
            s.p = Wire(nbits)
            s.carries = Wire(nbits)  # carry out of each bit

            @update
            def bits():
                s.g @= s.x & s.y
                s.p @= s.x ^ s.y

            nlevels = len(prefix_network(adder, nbits))
            s.levels = [PrefixLevel(nbits, adder, i) for i in range(nlevels - 1)]
            g, p = connect_levels(s.levels, s.g, s.p)
            if nlevels:
                s.last_level = CarryLevel(nbits, adder, nlevels - 1)
                g, _ = connect_levels([s.last_level], g, p)
            s.carries //= g

            @update
            def add_carries():
                s.sum @= s.p ^ (s.carries << 1)
                s.carry_out @= s.carries[LAST]


def connect_levels(levels, g, p):
    """Connect levels in series; generate and propagate (None behind the last level) as they come out."""
    for level in levels:
        level.g //= g
        level.p //= p
        g, p = level.g_out, level.p_out if isinstance(level, PrefixLevel) else None
    return g, p


class CarryLevel(Component):
    """The last level of a prefix adder, which computes carries alone: g_i + p_i g_j.

    The values at the lower positions j are shifted to the first node that reads them, and spread from there
    in powers of two to the others.
    """

    PARAMETERS = ("nbits", "level")

    def construct(s, nbits, adder, level):
        s.g = InPort(nbits)
        s.p = InPort(nbits)
        s.g_out = OutPort(nbits)
        LOWER, ONE, SHIFT, SPREAD = s.constants(nbits, adder, level)
        s.g_below = [Wire(nbits) for _ in range(SPREAD + 1)]

        @update
        def generate_below():
            s.g_below[0] @= (s.g & LOWER) << SHIFT
            for k in range(SPREAD):
                s.g_below[k + 1] @= s.g_below[k] | (s.g_below[k] << (ONE << k))

        @update
        def generate_carries():
            s.g_out @= s.g | (s.p & s.g_below[SPREAD])

    def constants(s, nbits, adder, level):
        """Return the lower positions and 1, as words, the shift, and the steps of the spread."""
        nodes, word = prefix_network(adder, nbits)[level], mk_bits(nbits)
        spans = {i - j for i, j in nodes}
        lower = sum({1 << j for _, j in nodes})
        return word(lower), word(1), min(spans), (max(spans) - min(spans)).bit_length()


class PrefixLevel(CarryLevel):
    """One level of a prefix adder: carry operators on (generate, propagate), (g_i + p_i g_j, p_i p_j)."""

    def construct(s, nbits, adder, level):
        super().construct(nbits, adder, level)
        s.p_out = OutPort(nbits)
        LOWER, ONE, SHIFT, SPREAD = s.constants(nbits, adder, level)
        NODES = mk_bits(nbits)(sum(1 << i for i, _ in prefix_network(adder, nbits)[level]))
        s.p_below = [Wire(nbits) for _ in range(SPREAD + 1)]

        @update
        def propagate_below():
            s.p_below[0] @= (s.p & LOWER) << SHIFT
            for k in range(SPREAD):
                s.p_below[k + 1] @= s.p_below[k] | (s.p_below[k] << (ONE << k))

        @update
        def propagate():
            s.p_out @= s.p & (s.p_below[SPREAD] | ~NODES)
