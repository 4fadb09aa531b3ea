"""WordMultiplier: u + q * c + x * y on numbers in words of S bits with digits of k bits, one word per cycle.

Three stages: words are fetched into registers; two k x S multipliers and an adder with a carry of k + 1 bits;
the sum is kept, and written: as it is, or shifted right by a digit, with the low digit of the word behind it.

Ports: fetch, with index, u, c, y, carry_in (of the first word), shifts (the sums are written shifted) and
`to`, which goes through; q and x in the cycle after, that of the addition (adds, adds_index). low_digit: of
the sum, carries: out of it, in that cycle. write, write_index, write_word, write_to: what is written. Area
order: two k x S multipliers, an adder of S + k bits, 4 S register bits.
"""

from pymtl3 import *

TO_NBITS = 3  # where a sum goes: as its user has it


class WordMultiplier(Component):
    def construct(s, shape):
        S, k, M = shape.word_nbits, shape.digit_nbits, shape.nwords
        index_nbits = clog2(M)
        s.fetch = InPort()
        s.index = InPort(index_nbits)
        s.u = InPort(S)
        s.c = InPort(S)
        s.y = InPort(S)
        s.q = InPort(k)
        s.x = InPort(k)
        s.carry_in = InPort()
        s.shifts = InPort()
        s.to = InPort(TO_NBITS)
        s.adds = OutPort()
        s.adds_index = OutPort(index_nbits)
        s.low_digit = OutPort(k)
        s.carries = OutPort()
        s.write = OutPort()
        s.write_index = OutPort(index_nbits)
        s.write_word = OutPort(S)
        s.write_to = OutPort(TO_NBITS)

        s.fetch_words(S)
        s.multiply_and_add(S, k)
        s.write_back(S, k, M - 1)

    def fetch_words(s, S):
        """The registers of the words, and of what is to be done with their sum."""
        s.operand_u = Wire(S)
        s.operand_c = Wire(S)
        s.operand_y = Wire(S)
        s.starts = Wire()  # carry into the first word
        s.shifting = Wire()
        s.adds_to = Wire(TO_NBITS)

        @update_ff
        def fetches():
            if s.reset:
                s.adds <<= 0
            else:
                s.adds <<= s.fetch
            if s.fetch:
                s.adds_index <<= s.index
                s.operand_u <<= s.u
                s.operand_c <<= s.c
                s.operand_y <<= s.y
                s.starts <<= s.carry_in
                s.shifting <<= s.shifts
                s.adds_to <<= s.to

    def multiply_and_add(s, S, k):
        """The two multipliers, and the adder with the carry of the previous word."""
        carry_nbits = k + 1
        sum_nbits = S + carry_nbits
        s.carry = Wire(carry_nbits)
        s.carry_now = Wire(carry_nbits)
        s.total = Wire(sum_nbits)
        s.low_digit //= s.total[0:k]
        s.carries //= s.total[S]

        @update
        def adder():
            s.carry_now @= zext(s.starts, carry_nbits) if s.adds_index == 0 else s.carry
            s.total @= (
                zext(s.q, sum_nbits) * zext(s.operand_c, sum_nbits)
                + zext(s.x, sum_nbits) * zext(s.operand_y, sum_nbits)
                + zext(s.operand_u, sum_nbits)
                + zext(s.carry_now, sum_nbits)
            )

    def write_back(s, S, k, LAST):
        """Write the sum: as it is, or shifted once the next word's low digit or the last carry is known."""
        sum_nbits, index_nbits = s.total.get_type().nbits, s.index.get_type().nbits
        s.kept = Wire(S)
        s.kept_index = Wire(index_nbits)
        s.waits = Wire()  # the kept word is still to be written: the last one, or one that is not shifted
        s.plain = Wire()

        s.assertions = {"OneWordIsWritten": "!(waits && adds && shifting && adds_index != 0)"}

        @update_ff
        def keeps():
            if s.reset:
                s.waits <<= 0
            else:
                s.waits <<= s.adds & (~s.shifting | (s.adds_index == LAST))
            if s.adds:
                s.kept <<= s.total[0:S]
                s.carry <<= s.total[S:sum_nbits]
                s.kept_index <<= s.adds_index
                s.plain <<= ~s.shifting
                s.write_to <<= s.adds_to

        @update
        def writes():
            s.write @= s.waits | (s.adds & s.shifting & (s.adds_index != 0))
            s.write_index @= s.kept_index
            s.write_word @= concat(s.total[0:k], s.kept[k:S])
            if s.waits:
                s.write_word @= s.kept if s.plain else concat(s.carry[0:k], s.kept[k:S])

    def line_trace(s):
        return f"{s.adds_index}" if s.adds else "."
