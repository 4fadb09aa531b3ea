"""HeapStep: one radix-2^w step on a scaled modulus in one bit heap, S' = floor(S / 2^w) + q * M' + digit * B.

fl/multipliers/scaled.py has the mathematics and the bounds, scaled_heap.py the rows, and
fl/compression/bit_heap.py the plan of the heap. The state is a pair (sum, carry), in complements as the heap
outputs them, and `carry_in` of the lowest column: the carry of the low words, so that no row waits for it.
Only the low words are added up, for q. In the `first` step of a product the state counts as 0: its registers
may still hold the pair of the product before. With quotient delay 1 the quotient digit is a part of the
state, and is used in the next step.

Ports: sum, carry, carry_in, with a delay late_quotient, first, digit, b, m_prime, and multiples for the rows:
b_thrice and m_thrice (radix-4), or b_and_m (joint) -> next_sum, next_carry, next_carry_in and, with a delay,
next_quotient; combinational. Area order: w rows (radix-4) of n + w gates AOI222 and as many
full adders.
"""

from pymtl3 import *

from ....fl.multipliers.scaled_heap import step_heap
from .bit_heap import BitHeap
from .row_select import PairDecode, RowSelect


class HeapStep(Component):
    def construct(s, shape, rows):
        width, w, operand, nbits = shape.state_nbits, shape.digit_nbits, shape.operand_nbits, shape.nbits
        delayed = shape.quotient_delay == 1
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

        s.quotient_digit = Wire(w)

        @update
        def find_quotient():
            s.quotient_digit @= s.low[1 : w + 1] & ~sext(s.first, w)

        if delayed:
            s.next_quotient //= s.quotient_digit

            @update
            def use_late_quotient():
                s.quotient @= s.late_quotient & ~sext(s.first, w)

        else:
            s.quotient //= s.quotient_digit

        ONES = mk_bits(w)(-1)
        s.shifted_sum = Wire(width)
        s.shifted_carry = Wire(width)
        s.heap = BitHeap(step_heap(shape, rows))  # adds up the state and the rows
        s.heap.sum //= s.next_sum
        s.heap.carry //= s.next_carry

        @update
        def shift_state():
            s.shifted_sum @= concat(ONES, s.sum[w:width]) | sext(s.first, width)
            s.shifted_carry @= concat(ONES, s.carry[w:width]) | sext(s.first, width)

        {"radix-4": s.radix_4_rows, "and": s.and_rows, "joint": s.joint_rows}[rows](shape)

    def radix_4_rows(s, shape):
        """Two bits of a digit select a multiple; rows of B and of M' alternate in the heap."""
        PAIRS = shape.digit_nbits // 2
        b_nbits, m_nbits = shape.operand_nbits + 2, shape.nbits + 2
        B_ONES, M_ONES = (mk_bits(shape.state_nbits - n)(-1) for n in (b_nbits, m_nbits))
        s.b_thrice = InPort(b_nbits)
        s.m_thrice = InPort(m_nbits)
        s.digit_pairs = PairDecode(shape.digit_nbits)  # bits of the digit, in pairs
        s.digit_pairs.digit //= s.digit
        s.quotient_pairs = PairDecode(shape.digit_nbits)  # bits of the quotient digit, in pairs
        s.quotient_pairs.digit //= s.quotient
        s.digit_rows = RowSelect(PAIRS, b_nbits)  # digit * b
        s.quotient_rows = RowSelect(PAIRS, m_nbits)  # quotient * m_prime
        s.digit_rows.z //= s.b_thrice
        s.quotient_rows.z //= s.m_thrice
        for pairs, select in ((s.digit_pairs, s.digit_rows), (s.quotient_pairs, s.quotient_rows)):
            select.take_x //= pairs.one
            select.take_y //= pairs.two
            select.take_z //= pairs.three

        @update
        def multiples():
            s.digit_rows.x @= zext(s.b, b_nbits)
            s.digit_rows.y @= zext(s.b, b_nbits) << 1
            s.quotient_rows.x @= zext(s.m_prime, m_nbits)
            s.quotient_rows.y @= zext(s.m_prime, m_nbits) << 1

        @update
        def place_radix_4_rows():
            s.heap.row[0] @= s.shifted_sum
            s.heap.row[1] @= s.shifted_carry
            for i in range(PAIRS):
                s.heap.row[2 * i + 2] @= ~(~concat(B_ONES, s.digit_rows.out[i]) << i << i)
                s.heap.row[2 * i + 3] @= ~(~concat(M_ONES, s.quotient_rows.out[i]) << i << i)

    def and_rows(s, shape):
        """A bit of a digit gates a word; rows of B and of M' alternate in the heap."""
        width, DIGIT_NBITS = shape.state_nbits, shape.digit_nbits

        @update
        def gate_rows():
            s.heap.row[0] @= s.shifted_sum
            s.heap.row[1] @= s.shifted_carry
            for i in range(DIGIT_NBITS):
                s.heap.row[2 * i + 2] @= ~((zext(s.b, width) << i) & sext(s.digit[i], width))
                s.heap.row[2 * i + 3] @= ~((zext(s.m_prime, width) << i) & sext(s.quotient[i], width))

    def joint_rows(s, shape):
        """A bit of the digit and one of the quotient select B, M' or their sum."""
        DIGIT_NBITS, wide = shape.digit_nbits, shape.operand_nbits + 1
        ONES = mk_bits(shape.state_nbits - wide)(-1)
        s.b_and_m = InPort(wide)
        s.rows = RowSelect(DIGIT_NBITS, wide)
        s.rows.z //= s.b_and_m

        @update
        def select_both():
            s.rows.x @= zext(s.b, wide)
            s.rows.y @= zext(s.m_prime, wide)
            s.rows.take_x @= s.digit & ~s.quotient
            s.rows.take_y @= s.quotient & ~s.digit
            s.rows.take_z @= s.digit & s.quotient

        @update
        def place_joint_rows():
            s.heap.row[0] @= s.shifted_sum
            s.heap.row[1] @= s.shifted_carry
            for i in range(DIGIT_NBITS):
                s.heap.row[i + 2] @= ~(~concat(ONES, s.rows.out[i]) << i)
