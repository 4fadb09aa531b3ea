"""HeapMont: the Montgomery product a * b / R on a scaled modulus, a digit of w bits a cycle through one bit
heap.

The quotient digit of a step is the low word of the state, which is a pair of words in carry-save form: there
is no product with m' in the loop (mathematics, bounds and widths: fl/multipliers/scaled.py, after paper 000,
section 4.1). All rows of a step are in one heap, so that digits can be wide: the delay of a step grows with
log w, and not with the width. heap_step.py has the step and its kinds of `rows`; two multiples of b and M'
are kept in registers for them.

Ports: istream {a, b} -> ostream, words of `wide` bits with a, b and the product below 2M, R = 2^wide;
`modulus` is
M' = (M + 1) / 2^(w * (quotient_delay + 1)), in the lower nbits of a wide port, static while the unit is busy.
Cycles: loads + adds + L + quotient_delay, whatever the operands, with L = quotient_delay + 1 + ceil((nbits +
2) / w) digits.
- `loads` = 2: the multiples of b are made in a cycle of their own, not in that in which b comes (from a
  machine that forwards the last product, say, whose addition then ends in the same cycle)
- `adds` = 2: the pair is added up in two halves, a cycle each
- `streams` = 1: one product at a time; the next one is taken in the cycle in which a result leaves. 2: it is
  taken in the last step of the product before, whose pair is added up beside its first cycles: one product in
  max(loads, adds) + L + quotient_delay cycles.
`fits`: L is the static port `nblocks`, 1 to the digits of the width, and R = 2^(w * nblocks). A modulus N of
len bits needs L >= quotient_delay + 1 + ceil((len + 2) / w): that is as many more than the blocks of w bits
that 4N fills (BlockCount of {N, 00}).
Area order: w AOI222 and w full adders for each of the n + w columns (radix-4); registers of n bits for a, b,
3b, 3M' and the pair.
"""

from pymtl3 import *

from ....fl.multipliers.scaled import ScaledShape
from ...messages import declare_product_ports
from ...wires import connect_low
from .heap_step import HeapStep


class HeapMont(Component):
    def construct(
        s, nbits, digit_nbits=16, rows="radix-4", quotient_delay=0, streams=1, loads=1, adds=1, fits=None
    ):
        shape = ScaledShape(nbits, digit_nbits, quotient_delay)
        wide, operand = shape.wide, shape.operand_nbits
        declare_product_ports(s, wide)

        LAST = shape.nsteps - 1
        count_nbits = clog2(LAST + 1)
        s.running = Wire()
        s.count = Wire(count_nbits)  # of steps
        s.adding = Wire()  # the state is a product
        s.a = Wire(wide)
        s.b = Wire(operand)
        s.take = Wire()
        s.goes = Wire()  # a step
        s.ends = Wire()  # with the last one
        s.leaves = Wire()

        s.step = HeapStep(shape, rows)
        s.step.digit //= s.a[0:digit_nbits]
        s.step.b //= s.b
        s.step.m_prime //= s.modulus[0:nbits]
        s.loading = Wire()  # the first step waits
        s.registers(shape)
        s.multiples(shape, rows, loads)
        s.result(shape, adds)

        s.last = Wire(count_nbits)
        if fits:
            s.nblocks = InPort(clog2(shape.ndigits + 1))
            MORE = LAST - shape.ndigits

            @update
            def last_of_digits():
                s.last @= zext(s.nblocks, count_nbits) + MORE

        else:
            s.last //= LAST

        if loads == 1:
            s.loading //= 0
        else:

            @update_ff
            def load():
                s.loading <<= s.take

        # ... and until the state has been read
        @update
        def steps():
            s.step.first @= s.count == 0
            s.goes @= s.running & ~s.loading & (~s.adding | s.leaves)

        @update
        def last_step():
            s.ends @= s.goes & (s.count == s.last)
            s.leaves @= s.ostream.val & s.ostream.rdy

        early = streams == 2

        @update
        def in_rdy():
            s.istream.rdy @= ~s.running | s.ends if early else ~s.running & (~s.adding | s.leaves)

        @update
        def takes():
            s.take @= s.istream.val & s.istream.rdy

        s.phases(operand, digit_nbits)

    def phases(s, operand, digit_nbits):
        """A product is running, or its pair is being added up."""

        @update_ff
        def control():
            if s.reset:
                s.running <<= 0
            elif s.take:
                s.running <<= 1
            elif s.ends:
                s.running <<= 0

        @update_ff
        def result_is_there():
            if s.reset:
                s.adding <<= 0
            elif s.ends:
                s.adding <<= 1
            elif s.leaves:
                s.adding <<= 0

        @update_ff
        def factors():
            if s.take:
                s.a <<= s.istream.msg.a
                s.b <<= s.istream.msg.b[0:operand]
                s.count <<= 0
            elif s.goes:
                s.a <<= s.a >> digit_nbits
                s.count <<= s.count + 1

    def registers(s, shape):
        """The state, in complements; nothing clears it but the first step."""
        width = shape.state_nbits
        s.sum = Wire(width)
        s.carry = Wire(width)
        s.carry_in = Wire()
        s.step.sum //= s.sum
        s.step.carry //= s.carry
        s.step.carry_in //= s.carry_in

        @update_ff
        def state():
            if s.goes:
                s.sum <<= s.step.next_sum
                s.carry <<= s.step.next_carry
                s.carry_in <<= s.step.next_carry_in

        if shape.quotient_delay:
            s.quotient = Wire(shape.digit_nbits)
            s.step.late_quotient //= s.quotient

            @update_ff
            def last_quotient():
                if s.goes:
                    s.quotient <<= s.step.next_quotient

    def multiples(s, shape, rows, loads):
        """Add the multiples that the rows need besides b and M', computed as b arrives or in a cycle of their
        own.
        """
        operand, nbits = shape.operand_nbits, shape.nbits
        if rows == "and":
            return
        s.makes = Wire()
        s.new_b = Wire(operand)
        s.makes //= s.take if loads == 1 else s.loading
        s.new_b //= s.istream.msg.b[0:operand] if loads == 1 else s.b

        if rows == "radix-4":
            b_nbits, m_nbits = operand + 2, nbits + 2
            s.b_thrice = Wire(b_nbits)
            s.m_thrice = Wire(m_nbits)
            s.step.b_thrice //= s.b_thrice
            s.step.m_thrice //= s.m_thrice

            @update_ff
            def triple():
                if s.makes:
                    s.b_thrice <<= zext(s.new_b, b_nbits) + (zext(s.new_b, b_nbits) << 1)
                    s.m_thrice <<= zext(s.modulus[0:nbits], m_nbits) + (
                        zext(s.modulus[0:nbits], m_nbits) << 1
                    )

        else:
            both = operand + 1
            s.b_and_m = Wire(both)
            s.step.b_and_m //= s.b_and_m

            @update_ff
            def add_up():
                if s.makes:
                    s.b_and_m <<= zext(s.new_b, both) + zext(s.modulus[0:nbits], both)

    def result(s, shape, adds):
        """The pair added up; with a quotient delay the last quotient digit stands below it."""
        operand, w = shape.operand_nbits, shape.digit_nbits
        top = operand - w * shape.quotient_delay
        s.value = Wire(top)
        half = top // 2 if adds == 2 else top
        low = half + 2  # with a place below for the carry
        s.low = Wire(low)

        @update
        def add_low():
            s.low @= zext(concat(~s.sum[0:half], b1(1)), low) + zext(
                concat(~s.carry[0:half], s.carry_in), low
            )

        if adds == 1:
            s.value //= s.low[1 : half + 1]
            s.ostream.val //= s.adding
        else:
            high = top - half + 1
            s.low_added = Wire(half + 1)
            s.added = Wire()
            s.high = Wire(high)

            @update_ff
            def keep_low():
                s.added <<= s.adding
                if s.adding & ~s.added:
                    s.low_added <<= s.low[1 : half + 2]

            @update
            def add_high():
                s.high @= concat(~s.sum[half:top], b1(1)) + concat(~s.carry[half:top], s.low_added[half])

            s.value[0:half] //= s.low_added[0:half]
            s.value[half:top] //= s.high[1:high]

            @update
            def out_val():
                s.ostream.val @= s.adding & s.added

        s.product = Wire(operand)
        s.product[operand - top : operand] //= s.value
        if shape.quotient_delay:
            s.product[0:w] //= s.quotient
        connect_low(s.ostream.msg, s.product)

    def line_trace(s):
        return f"{s.istream}({s.count if s.running else ''}{'+' if s.adding else ''}){s.ostream}"
