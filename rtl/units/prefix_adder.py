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
        s.carry_out = OutPort(1)
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
            s.carries = Wire(nbits)  # out of each bit

            @update
            def bits():
                s.g @= s.x & s.y
                s.p @= s.x ^ s.y

            g, p = s.g, s.p
            for i in range(len(prefix_network(adder, nbits))):
                level = PrefixLevel(nbits, adder, i)
                setattr(s, f"level_{i}", level)
                level.g //= g
                level.p //= p
                g, p = level.g_out, None if level.is_last else level.p_out
            s.carries //= g

            @update
            def add_carries():
                s.sum @= s.p ^ (s.carries << 1)
                s.carry_out @= s.carries[LAST]


class PrefixLevel(Component):
    """One level of nodes on (generate, propagate): (g_i + p_i g_j, p_i p_j); the other positions pass."""

    def construct(s, nbits, adder, level):
        s.g = InPort(nbits)
        s.p = InPort(nbits)
        s.g_out = OutPort(nbits)
        s.g_below = Wire(nbits)  # of the position that a node joins; (0, 1) changes nothing

        network = prefix_network(adder, nbits)
        nodes = network[level]
        below = dict(nodes)
        NODES = mk_bits(nbits)(sum(1 << i for i, _ in nodes))
        SPAN = nodes[0][0] - nodes[0][1]
        same_distance = all(i - j == SPAN for i, j in nodes)

        if same_distance:

            @update
            def generate_below():
                s.g_below @= (s.g << SPAN) & NODES

        else:
            for i in range(nbits):
                s.g_below[i] //= s.g[below[i]] if i in below else 0

        @update
        def generate_carries():
            s.g_out @= s.g | (s.p & s.g_below)

        s.is_last = level == len(network) - 1  # the propagate bits of the last level are unused
        if not s.is_last:
            s.p_out = OutPort(nbits)
            s.p_below = Wire(nbits)

            if same_distance:

                @update
                def propagate_below():
                    s.p_below @= (s.p << SPAN) | ~NODES

            else:
                for i in range(nbits):
                    s.p_below[i] //= s.p[below[i]] if i in below else 1

            @update
            def propagate():
                s.p_out @= s.p & s.p_below
