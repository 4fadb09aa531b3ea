"""HeapStep: one radix-2^w step on a scaled modulus in one bit heap, S' = floor(S / 2^w) + q * M' + digit * B.

fl/multipliers/scaled.py has the mathematics and the bounds, scaled_heap.py beside it the rows,
fl/compression/bit_heap.py how they are added up. The state is a pair (sum, carry), in complements as the heap
makes them, and `carry_in`, which belongs to the lowest column: the carry of the low words, so that no row
waits for it. Only the low words are added up, for q. In the `first` step of a product the state counts as 0,
whatever it holds: that of the product before, which is perhaps being added up still. With quotient delay 1 a
digit that was found is a part of the state, and is used in the next step.

Ports: sum, carry, carry_in, with a delay late_quotient, first, digit, b, m_prime, and what the rows want
beside them: b_thrice and m_thrice (radix-4), or b_and_m (joint) -> next_sum, next_carry, next_carry_in and,
with a delay, next_quotient; combinational. Area order: w rows (radix-4) of n + w gates AOI222 and as many
full adders.
"""

from pymtl3 import *

from ....fl.multipliers.scaled_heap import step_heap, step_rows
from .bit_heap import BitHeap
from .row_select import PairDecode, RowGate, RowSelect


class HeapStep(Component):
    def construct(s, shape, rows):
        width, w, operand, nbits = shape.state_nbits, shape.digit_nbits, shape.operand_nbits, shape.nbits
        delayed = shape.quotient_delay == 1
        rest = width - w
        s.sum = InPort(width)
        s.carry = InPort(width)
        s.carry_in = InPort()
        s.first = InPort()
        s.digit = InPort(w)
        s.b = InPort(operand)
        s.m_prime = InPort(nbits)
        s.next_sum = OutPort(width)
        s.next_carry = OutPort(width)
        s.next_carry_in = OutPort()
        s.quotient = Wire(w)
        if delayed:
            s.late_quotient = InPort(w)
            s.next_quotient = OutPort(w)

        # the low words, with a place below them for the carry
        low = w + 2
        s.low = Wire(low)

        @update
        def add_low_words():
            s.low @= zext(concat(~s.sum[0:w], b1(1)), low) + zext(concat(~s.carry[0:w], s.carry_in), low)
            s.next_carry_in @= s.low[w + 1] & ~s.first

        if delayed:

            @update
            def quotients():
                s.quotient @= s.late_quotient & ~sext(s.first, w)
                s.next_quotient @= s.low[1 : w + 1] & ~sext(s.first, w)

        else:

            @update
            def quotient_at_once():
                s.quotient @= s.low[1 : w + 1] & ~sext(s.first, w)

        s.rest_sum = Wire(rest)
        s.rest_carry = Wire(rest)
        NOTHING = mk_bits(rest)((1 << rest) - 1)

        @update
        def rest_of_state():
            s.rest_sum @= NOTHING if s.first else s.sum[w:width]
            s.rest_carry @= NOTHING if s.first else s.carry[w:width]

        s.heap = BitHeap(step_heap(shape, rows), complements=True)
        s.heap.row_0 //= s.rest_sum
        s.heap.row_1 //= s.rest_carry
        s.next_sum //= s.heap.sum
        s.next_carry //= s.heap.carry
        {"radix-4": s.radix_4_rows, "and": s.and_rows, "joint": s.joint_rows}[rows](shape)

    def products(s, shape, rows, Cells):
        """The rows of the products, connected to the heap."""
        for i, row in enumerate(step_rows(shape, rows)):
            cells = Cells(row.line.hi - row.line.lo)
            setattr(s, f"{row.product}_row_{row.place}", cells)
            connect(cells.out, getattr(s.heap, f"row_{i + 2}"))
            yield row, cells

    def radix_4_rows(s, shape):
        operand, nbits = shape.operand_nbits, shape.nbits
        s.b_thrice = InPort(operand + 2)
        s.m_thrice = InPort(nbits + 2)
        b_nbits, m_nbits = operand + 2, nbits + 2
        s.b_once = Wire(b_nbits)
        s.b_twice = Wire(b_nbits)
        s.m_once = Wire(m_nbits)
        s.m_twice = Wire(m_nbits)

        @update
        def multiples():
            s.b_once @= zext(s.b, b_nbits)
            s.b_twice @= s.b_once << 1
            s.m_once @= zext(s.m_prime, m_nbits)
            s.m_twice @= s.m_once << 1

        s.digit_pairs = PairDecode(shape.digit_nbits)
        s.digit_pairs.digit //= s.digit
        s.quotient_pairs = PairDecode(shape.digit_nbits)
        s.quotient_pairs.digit //= s.quotient

        multiples_of = {
            "digit": (s.digit_pairs, s.b_once, s.b_twice, s.b_thrice),
            "quotient": (s.quotient_pairs, s.m_once, s.m_twice, s.m_thrice),
        }
        for row, cells in s.products(shape, "radix-4", RowSelect):
            pairs, once, twice, thrice = multiples_of[row.product]
            cells.x //= once
            cells.y //= twice
            cells.z //= thrice
            cells.take_x //= pairs.one[row.place // 2]
            cells.take_y //= pairs.two[row.place // 2]
            cells.take_z //= pairs.three[row.place // 2]

    def and_rows(s, shape):
        for row, cells in s.products(shape, "and", RowGate):
            word, digit = (s.b, s.digit) if row.product == "digit" else (s.m_prime, s.quotient)
            cells.x //= word
            cells.take //= digit[row.place]

    def joint_rows(s, shape):
        operand, w = shape.operand_nbits, shape.digit_nbits
        wide = operand + 1
        s.b_and_m = InPort(wide)
        s.b_alone = Wire(wide)
        s.m_alone = Wire(wide)
        s.take_b = Wire(w)
        s.take_m = Wire(w)
        s.take_both = Wire(w)

        @update
        def decode_both():
            s.b_alone @= zext(s.b, wide)
            s.m_alone @= zext(s.m_prime, wide)
            s.take_b @= s.digit & ~s.quotient
            s.take_m @= s.quotient & ~s.digit
            s.take_both @= s.digit & s.quotient

        for row, cells in s.products(shape, "joint", RowSelect):
            cells.x //= s.b_alone
            cells.y //= s.m_alone
            cells.z //= s.b_and_m
            cells.take_x //= s.take_b[row.place]
            cells.take_y //= s.take_m[row.place]
            cells.take_z //= s.take_both[row.place]
