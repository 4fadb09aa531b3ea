"""RowFold: reduces a pair, ~sum + ~carry, to a shorter pair of the same residue, with one row of residues
per high column (fl/multipliers/row_fold.py).

Rows of a column are {0, X, 2X}, or {0, 2X, X'} where X' is the residue of the next two columns; a half adder
says which. Ports: sum, carry (complements), residue -> next_sum, next_carry (complements); combinational.
Area order: c rows of n gates AOI22 and full adders, for c columns above the n bits of the modulus.
"""

from pymtl3 import *

from ....fl.compression.bit_heap import Line, plan_heap
from ..heap.bit_heap import BitHeap

# from the columns to the rows of residues, beside the low words, which are there at once; ns
CHOICE_DELAY = 0.25


class RowFold(Component):
    def construct(s, shape):
        nbits, columns, high, wide = shape.nbits, shape.columns, shape.product_nbits, shape.operand_nbits
        GROUPS = shape.residues
        LAST = columns - 1
        ONES = mk_bits(wide - nbits)(-1)
        s.sum = InPort(high)
        s.carry = InPort(high)
        s.residue = [InPort(nbits) for _ in range(GROUPS)]
        s.next_sum = OutPort(wide)
        s.next_carry = OutPort(wide)

        # half adders of the high columns; the carry of a column goes to the next column
        s.one = Wire(columns)
        s.both = Wire(columns)

        @update
        def half_add():
            s.one @= s.sum[nbits:high] ^ s.carry[nbits:high]
            s.both @= ~(s.sum[nbits:high] | s.carry[nbits:high])

        s.once = [Wire(wide) for _ in range(GROUPS)]
        s.twice = [Wire(wide) for _ in range(GROUPS)]

        @update
        def multiples():
            for g in range(GROUPS):
                s.once[g] @= zext(s.residue[g], wide)
                s.twice[g] @= zext(s.residue[g], wide) << 1

        lines = [Line(CHOICE_DELAY, 0, nbits + 1)] * columns + [Line(0.0, 0, nbits)] * 2
        s.heap = BitHeap(plan_heap(lines, wide))
        s.heap.sum //= s.next_sum
        s.heap.carry //= s.next_carry

        @update
        def select_rows():
            for g in range(GROUPS):
                s.heap.row[2 * g] @= ~(
                    (s.once[g] & sext(s.one[2 * g], wide)) | (s.twice[g] & sext(s.both[2 * g], wide))
                )
            for g in range(GROUPS - 1):
                s.heap.row[2 * g + 1] @= ~(
                    (s.twice[g] & sext(s.one[2 * g + 1], wide))
                    | (s.once[g + 1] & sext(s.both[2 * g + 1], wide))
                )
            # a product has no bit above the last column
            s.heap.row[LAST] @= ~(s.twice[GROUPS - 1] & sext(s.one[LAST], wide))
            s.heap.row[columns] @= concat(ONES, s.sum[0:nbits])
            s.heap.row[columns + 1] @= concat(ONES, s.carry[0:nbits])
