"""SplitAdder: Sklansky prefix adder (fl/compression/prefix.py) with a pipeline register between two of its
levels.

AdderFront has the first levels, AdderBack the last ones; between them go p (the half sums), g and q: generate
and propagate of the spans so far. A pipeline puts its register where its stages become alike. Ports: of
AdderFront sum, carry (complements) -> p, g, q; of AdderBack p, g, q -> out; combinational. Area order: n/2
log2 n nodes in all.
"""

from pymtl3 import *

from ..prefix_adder import CarryLevel, PrefixLevel, connect_levels

NETWORK = "sklansky"


class AdderFront(Component):
    """The first `nlevels` levels of a prefix adder that is split by a pipeline register."""

    def construct(s, nbits, nlevels):
        s.sum = InPort(nbits)
        s.carry = InPort(nbits)
        s.p = OutPort(nbits)
        s.g = OutPort(nbits)
        s.q = OutPort(nbits)
        s.generated = Wire(nbits)

        @update
        def half_sums():
            s.p @= s.sum ^ s.carry
            s.generated @= ~(s.sum | s.carry)

        s.levels = [PrefixLevel(nbits, NETWORK, i) for i in range(nlevels)]
        g, q = connect_levels(s.levels, s.generated, s.p)
        s.g //= g
        s.q //= q


class AdderBack(Component):
    """The levels from `nlevels` on, at least one, of a prefix adder that is split by a pipeline register."""

    def construct(s, nbits, nlevels):
        s.p = InPort(nbits)
        s.g = InPort(nbits)
        s.q = InPort(nbits)
        s.out = OutPort(nbits)
        s.carries = Wire(nbits)

        LAST = clog2(nbits) - 1
        s.levels = [PrefixLevel(nbits, NETWORK, i) for i in range(nlevels, LAST)]
        s.last_level = CarryLevel(nbits, NETWORK, LAST)
        connect_levels([*s.levels, s.last_level], s.g, s.q)
        s.last_level.g_out //= s.carries

        @update
        def add_carries():
            s.out @= s.p ^ (s.carries << 1)
