"""ProductPair: x * y as a carry-save pair, in one heap of gated rows (fl/compression/bit_heap.py).

Ports: x, y -> sum, carry: complements, as the heap makes them, of words of 2 n bits or as many as
`product_nbits` says a product has; combinational. Area order: n^2 gates and as many full adders.
"""

from pymtl3 import *

from ....fl.compression.bit_heap import Line, plan_heap
from ..heap.bit_heap import BitHeap
from ..heap.row_select import RowGate


class ProductPair(Component):
    def construct(s, nbits, product_nbits=0):
        columns = product_nbits or 2 * nbits
        s.x = InPort(nbits)
        s.y = InPort(nbits)
        s.sum = OutPort(columns)
        s.carry = OutPort(columns)

        s.heap = BitHeap(
            plan_heap([Line(0.0, i, i + nbits) for i in range(nbits)], columns), complements=True
        )
        s.heap.sum //= s.sum
        s.heap.carry //= s.carry
        s.rows = [RowGate(nbits) for _ in range(nbits)]
        for i, row in enumerate(s.rows):
            row.x //= s.y
            row.take //= s.x[i]
            line = getattr(s.heap, f"row_{i}")
            line //= row.out[0 : line.get_type().nbits]
