"""DigitProcessor: the P-processor of a digit-serial machine (paper 003, Figure 17.2), or with one operand
less its Z-processor.

Three stages: a digit of U (or another number) and one of V are fetched into registers; an adder of S bits
with a carry; the sum is kept, and in the next cycle written: into U, shifted right by a bit, with the lowest
bit of the digit behind it, or outside. The paper shifts where U is read; the cycles are the same. Register A
is loaded digit by digit and moves right, a bit an addition.

Ports: fetch (with index), first (U counts as 0), v; from_other, other: a digit in the place of U's; subtract;
to_u: the sums go into U. load_a, a_digit; shift_a: with the last digit of an addition. a_bit and u_bit choose
V of an addition. u: U's digit `index`. a: the whole register. sum, sum_index, sum_val: what is written
outside. carry: of the adder, in the cycle of a digit's addition; kept_carry: thereafter. Area order: an adder
of S bits, K + 3 bits of memory, K + 3 of shift register.
"""

from pymtl3 import *

from .digit_memory import DigitMemory


class DigitProcessor(Component):
    """Adder, accumulator and shift register of a digit-serial Montgomery unit (paper 003, Figure 17.2)."""

    def construct(s, shape, reduces=True):
        S, M = shape.digit_nbits, shape.ndigits
        s.index = InPort(clog2(M))
        s.fetch = InPort()
        s.first = InPort()
        s.v = InPort(S)
        s.load_a = InPort()
        s.a_digit = InPort(S)
        s.shift_a = InPort()
        s.a_bit = OutPort()
        s.u_bit = OutPort()
        s.u = OutPort(S)

        s.register_a(S, shape.wide, reduces)
        s.start_addition(S)
        s.fetch_digits(S, reduces)
        s.add_digits(S)
        s.keep_lowest_bit()
        s.write_back(S, M - 1)
        if reduces:
            s.put_out(S)

    def register_a(s, S, wide, reduces):
        """Register A, which is loaded digit by digit and moves right."""
        s.a = OutPort(wide) if reduces else Wire(wide)
        s.a_bit //= s.a[0]

        @update_ff
        def register_a():
            if s.load_a:
                s.a <<= concat(s.a_digit, s.a[S:wide])
            elif s.shift_a:
                s.a <<= s.a >> 1

    def start_addition(s, S):
        """The digit of U that is fetched, and the index of the digit that is added in the next cycle."""
        s.from_u = Wire(S)
        s.operand_u = Wire(S)
        s.operand_v = Wire(S)
        s.adds = Wire()
        s.adds_index = Wire(s.index.get_type())

        @update
        def digit_of_u():
            s.from_u @= s.u
            if s.first:
                s.from_u @= 0

        @update_ff
        def registers():
            if s.reset:
                s.adds <<= 0
            else:
                s.adds <<= s.fetch
            if s.fetch:
                s.adds_index <<= s.index

    def add_digits(s, S):
        """The adder, with the sum and its carry in registers."""
        sum_nbits = S + 1
        s.carry_in = Wire()
        s.kept = Wire()
        s.total = Wire(sum_nbits)
        s.low = Wire(S)  # low digit of the registered sum

        @update
        def adder():
            s.carry_in @= s.subtracts if s.adds_index == 0 else s.kept
            s.total @= (
                zext(s.operand_u, sum_nbits) + zext(s.operand_v, sum_nbits) + zext(s.carry_in, sum_nbits)
            )

        @update_ff
        def keeps_sum():
            if s.adds:
                s.kept <<= s.total[S]
                s.low <<= s.total[0:S]

    def keep_lowest_bit(s):
        """The register of U's lowest bit, which chooses V of an addition."""
        s.next_bit = Wire()  # the lowest bit of U, for the addition after this one

        @update_ff
        def parity():
            if s.adds & (s.adds_index == 0):
                s.next_bit <<= s.total[1]
            if s.load_a:
                s.u_bit <<= 0
            elif s.shift_a:
                s.u_bit <<= s.next_bit

    def fetch_digits(s, S, reduces):
        """A digit of U, or another number, and one of V, or its complement."""
        s.subtracts = Wire()
        s.keeps = Wire()
        if reduces:
            s.from_other = InPort()
            s.other = InPort(S)
            s.subtract = InPort()
            s.to_u = InPort()
            s.assertions = {"OneDigitIsWritten": "!(waits && adds && keeps && adds_index != 0)"}

            @update_ff
            def fetches():
                if s.fetch:
                    s.operand_u <<= s.other if s.from_other else s.from_u
                    s.operand_v <<= ~s.v if s.subtract else s.v
                    s.subtracts <<= s.subtract
                    s.keeps <<= s.to_u

        else:
            s.subtracts //= 0
            s.keeps //= 1

            @update_ff
            def fetches_alone():
                if s.fetch:
                    s.operand_u <<= s.from_u
                    s.operand_v <<= s.v

    def write_back(s, S, LAST):
        """A digit goes into U when the lowest bit of the next one is there, the last one with the carry."""
        s.waits = Wire()  # the last digit of a sum is kept, and not written yet
        s.writes_u = Wire()
        s.u_index = Wire(s.index.get_type())
        s.top = Wire()

        @update
        def shifted():
            s.writes_u @= s.waits | (s.adds & s.keeps & (s.adds_index != 0))
            s.u_index @= s.adds_index - 1
            s.top @= s.total[0]
            if s.waits:
                s.u_index @= LAST
                s.top @= s.kept

        @update_ff
        def waiting():
            if s.reset:
                s.waits <<= 0
            else:
                s.waits <<= s.adds & s.keeps & (s.adds_index == LAST)

        s.memory = DigitMemory(LAST + 1, S)
        s.memory.write //= s.writes_u
        s.memory.write_index //= s.u_index
        s.memory.write_digit[0 : S - 1] //= s.low[1:S]
        s.memory.write_digit[S - 1] //= s.top
        s.memory.index //= s.index
        s.memory.digit //= s.u

    def put_out(s, S):
        """The sums that are written outside."""
        s.sum_val = OutPort()
        s.sum_index = OutPort(s.index.get_type())
        s.sum = OutPort(S)
        s.carry = OutPort()
        s.kept_carry = OutPort()
        s.sum //= s.low
        s.carry //= s.total[S]
        s.kept_carry //= s.kept

        @update_ff
        def outside():
            if s.reset:
                s.sum_val <<= 0
            else:
                s.sum_val <<= s.adds & ~s.keeps
            if s.adds:
                s.sum_index <<= s.adds_index

    def line_trace(s):
        return f"{'+' if s.adds else '.'}{s.a_bit}{s.u_bit}"
