"""RowSelect and PairDecode: rows of a product, each of which is one of up to three multiples, or 0.

A digit of two bits selects one of {0, X, 2X, 3X} with one inverting gate a bit (AOI222). Two rows of ANDs
would need two gates and a full adder, and Booth recoding sign bits. The flow maps the rows to AOI222 cells by
the name of the module. Ports: x, y, z, and a bit for each row in take_x, take_y and take_z, of which at
most one is 1 -> out, the complements of the selected multiples. PairDecode: digit -> one, two, three, a bit
for each pair of its bits. All combinational.
"""

from pymtl3 import *


class RowSelect(Component):
    """Rows that are each one of up to three multiples, or 0, by one AND-OR-invert gate per bit."""

    PARAMETERS = ("nbits",)

    def construct(s, nrows, nbits):
        s.x = InPort(nbits)
        s.y = InPort(nbits)
        s.z = InPort(nbits)
        s.take_x = InPort(nrows)
        s.take_y = InPort(nrows)
        s.take_z = InPort(nrows)
        s.out = [OutPort(nbits) for _ in range(nrows)]
        NONE = mk_bits(nbits)(0)

        @update
        def select():
            for i in range(nrows):
                s.out[i] @= ~(
                    (s.x if s.take_x[i] else NONE)
                    | (s.y if s.take_y[i] else NONE)
                    | (s.z if s.take_z[i] else NONE)
                )


class PairDecode(Component):
    """Decodes each pair of bits of a digit to the select lines of X, 2X and 3X."""

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
