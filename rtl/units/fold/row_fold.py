"""RowFold: reduces a pair s + c to a shorter pair of the same residue, with one row of residues per high
column (fl/multipliers/row_fold.py).

Rows of a column are {0, X, 2X}, or {0, 2X, X'} where X' is the residue of the next two columns; a half adder
says which. Ports: sum, carry (complements), residue -> next_sum, next_carry (complements); combinational.
Area order: c rows of n gates AOI22 and full adders, for c columns above the n bits of the modulus.
"""

from pymtl3 import *

from ....fl.compression.bit_heap import Line, plan_heap
from ..heap.bit_heap import BitHeap
from ..heap.row_select import RowGate

# from the columns to the rows of residues, beside the low words, which are there at once; ns
CHOICE_DELAY = 0.25


class RowFold(Component):
    def construct(s, shape):
        nbits, columns, wide = shape.nbits, shape.columns, shape.nbits + 1
        s.sum = InPort(shape.product_nbits)
        s.carry = InPort(shape.product_nbits)
        s.residue = [InPort(nbits) for _ in range(shape.residues)]
        s.next_sum = OutPort(shape.operand_nbits)
        s.next_carry = OutPort(shape.operand_nbits)

        # half adders of the high columns: the carry of a column is the next one's
        s.one = Wire(columns)
        s.both = Wire(columns)
        high = shape.product_nbits

        @update
        def half_add():
            s.one @= s.sum[nbits:high] ^ s.carry[nbits:high]
            s.both @= ~(s.sum[nbits:high] | s.carry[nbits:high])

        s.once = [Wire(wide) for _ in range(shape.residues)]
        s.twice = [Wire(wide) for _ in range(shape.residues)]

        @update
        def multiples():
            for g in range(shape.residues):
                s.once[g] @= zext(s.residue[g], wide)
                s.twice[g] @= zext(s.residue[g], wide) << 1

        lines = [Line(CHOICE_DELAY, 0, wide)] * columns + [Line(0.0, 0, nbits)] * 2
        s.heap = BitHeap(plan_heap(lines, shape.operand_nbits), complements=True)
        for column in range(columns):
            group, odd = divmod(column, 2)
            last = column == columns - 1  # a product has no bit above
            row = RowGate(wide) if last else RowOfTwo(wide)
            setattr(s, f"row_{column}", row)
            if last:
                row.x //= s.twice[group]
                row.take //= s.one[column]
            else:
                row.x //= s.twice[group] if odd else s.once[group]
                row.take_x //= s.one[column]
                row.y //= s.once[group + 1] if odd else s.twice[group]
                row.take_y //= s.both[column]
            connect(row.out, getattr(s.heap, f"row_{column}"))
        connect(s.sum[0:nbits], getattr(s.heap, f"row_{columns}"))
        connect(s.carry[0:nbits], getattr(s.heap, f"row_{columns + 1}"))
        s.next_sum //= s.heap.sum
        s.next_carry //= s.heap.carry


class RowOfTwo(Component):
    """~(what is taken): x, y or nothing."""

    def construct(s, count):
        s.x = InPort(count)
        s.y = InPort(count)
        s.take_x = InPort()
        s.take_y = InPort()
        s.out = OutPort(count)

        @update
        def select():
            s.out @= ~((s.x & sext(s.take_x, count)) | (s.y & sext(s.take_y, count)))
