"""ProductPair: x * y as a carry-save pair, in one heap of gated rows (fl/compression/bit_heap.py).

Ports: x, y -> sum, carry: complements, as the heap makes them, of words of 2 n bits or as many as
`product_nbits` says a product has; combinational. Area order: n^2 gates and as many full adders.
"""

from pymtl3 import *

from ....fl.compression.bit_heap import Line, plan_heap
from ..heap.bit_heap import BitHeap


class ProductPair(Component):
    """x * y as a carry-save pair, x * y = ~sum + ~carry, from one bit heap."""

    def construct(s, nbits, product_nbits=0):
        columns = product_nbits or 2 * nbits
        s.x = InPort(nbits)
        s.y = InPort(nbits)
        s.sum = OutPort(columns)
        s.carry = OutPort(columns)

        s.heap = BitHeap(plan_heap([Line(0.0, i, i + nbits) for i in range(nbits)], columns))
        s.heap.sum //= s.sum
        s.heap.carry //= s.carry

        @update
        def gate_rows():
            for i in range(nbits):
                s.heap.row[i] @= ~((zext(s.y, columns) << i) & sext(s.x[i], columns))
