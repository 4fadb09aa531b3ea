"""RowSelect, RowGate and PairDecode: one row of a product, complemented: one of up to three multiples, or
none.

A digit of two bits takes of {0, X, 2X, 3X} by one gate a bit that inverts (AOI222), where two rows of AND
would take two and a full adder; there are no signs, as Booth's digits have. The flow makes cells of these by
the names of the modules. Ports: x, y, z and take_x, take_y, take_z, of which at most one is 1 -> out = ~(what
is taken). PairDecode: digit -> one, two, three, a bit for each pair of its bits. All combinational.
"""

from pymtl3 import *


class RowSelect(Component):
    def construct(s, count):
        s.x = InPort(count)
        s.y = InPort(count)
        s.z = InPort(count)
        s.take_x = InPort()
        s.take_y = InPort()
        s.take_z = InPort()
        s.out = OutPort(count)
        NONE = mk_bits(count)(0)

        @update
        def select():
            s.out @= ~(
                (s.x if s.take_x else NONE) | (s.y if s.take_y else NONE) | (s.z if s.take_z else NONE)
            )


class RowGate(Component):
    def construct(s, count):
        s.x = InPort(count)
        s.take = InPort()
        s.out = OutPort(count)
        NONE = mk_bits(count)(0)

        @update
        def gate():
            s.out @= ~(s.x if s.take else NONE)


class PairDecode(Component):
    def construct(s, nbits):
        PAIRS = nbits // 2
        s.digit = InPort(nbits)
        s.one = OutPort(PAIRS)
        s.two = OutPort(PAIRS)
        s.three = OutPort(PAIRS)

        @update
        def decode():
            for i in range(PAIRS):
                s.one[i] @= s.digit[2 * i] & ~s.digit[2 * i + 1]
                s.two[i] @= ~s.digit[2 * i] & s.digit[2 * i + 1]
                s.three[i] @= s.digit[2 * i] & s.digit[2 * i + 1]
