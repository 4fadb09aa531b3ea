"""FullAdders and HalfAdders: vectors of independent adders, the building blocks of trees and heaps.

The flow maps them to adder cells by the names of the modules (flow/synth/named_cells.py). Ports: v, w (and x)
-> sum, carry; combinational. FullAdders and HalfAdders put a carry in the place of the bits that made it, so
that the reader shifts it; FullAddersLevel puts it in the next column.
"""

from pymtl3 import *


class FullAdders(Component):
    """Independent full adders, one per bit: sum + 2 * carry = v + w + x."""

    PARAMETERS = ("count",)

    def construct(s, count):
        s.v = InPort(count)
        s.w = InPort(count)
        s.x = InPort(count)
        s.sum = OutPort(count)
        s.carry = OutPort(count)

        @update
        def add():
            s.sum @= s.v ^ s.w ^ s.x
            s.carry @= (s.v & s.w) | (s.v & s.x) | (s.w & s.x)


class FullAddersLevel(Component):
    """Rows of full adders on complements: ~sum + ~carry = ~v + ~w + ~x modulo 2^columns in each row."""

    PARAMETERS = ("count", "columns")

    def construct(s, count, columns):
        LOWEST = mk_bits(columns)(1)
        s.v, s.w, s.x = ([InPort(columns) for _ in range(count)] for _ in range(3))
        s.sum, s.carry = ([OutPort(columns) for _ in range(count)] for _ in range(2))

        @update
        def add():
            for i in range(count):
                s.sum[i] @= s.v[i] ^ s.w[i] ^ s.x[i]
                s.carry[i] @= (((s.v[i] & s.w[i]) | (s.v[i] & s.x[i]) | (s.w[i] & s.x[i])) << 1) | LOWEST


class HalfAdders(Component):
    """sum + 2 * carry = v + w in every bit."""

    def construct(s, count):
        s.v = InPort(count)
        s.w = InPort(count)
        s.sum = OutPort(count)
        s.carry = OutPort(count)

        @update
        def add():
            s.sum @= s.v ^ s.w
            s.carry @= s.v & s.w
