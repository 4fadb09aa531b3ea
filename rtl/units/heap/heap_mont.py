"""HeapMont: the Montgomery product a * b / R on a scaled modulus, a digit of w bits a cycle through one bit
heap.

The state is a pair of words in carry-save form. The quotient digit of a step is the low word of the state, so
the loop has no product with m' (fl/multipliers/scaled.py), after paper 000, section 4.1. All rows of a step
are in one heap, whose delay grows with log w and not with the width, so digits can be wide. HeapStep has the
kinds of `rows`; registers hold 3b and 3M' for them.

Ports: istream {a, b} -> ostream, words of `wide` bits: factors below 2M give a product below 2M, with R =
2^wide; `modulus`, M' = (M + 1) / 2^(w * (quotient_delay + 1)), in the lower nbits of a wide port, static
while the unit is busy.

Cycles: loads + adds + L + quotient_delay, for all operands, with L = quotient_delay + 1 + ceil((nbits + 2) /
w) digits.

- `loads` = 2: the multiples of b are computed in a cycle of their own, and not in the cycle in which b
  arrives, in which a machine that forwards adds up the product that is b
- `adds` = 2: the pair is added up in two halves, a cycle each
- `streams` = 1: one product at a time; a request is accepted in the cycle in which a result leaves. 2: it is
  accepted in the last step of the product before, whose pair is added up during its first cycles: one product
  in max(loads, adds) + L + quotient_delay cycles.

Area order: w AOI222 and w full adders for each of the n + w columns (radix-4); registers of n bits for a, b,
3b, 3M' and the pair.
"""

from pymtl3 import *

from ....fl.multipliers.scaled import ScaledShape
from ...messages import answer_stays, declare_product_ports
from ...wires import connect_low
from .heap_step import HeapStep


class HeapMont(Component):
    def construct(s, nbits, digit_nbits=16, rows="radix-4", quotient_delay=0, streams=1, loads=1, adds=1):
        shape = ScaledShape(nbits, digit_nbits, quotient_delay)
        wide, operand = shape.wide, shape.operand_nbits
        declare_product_ports(s, wide)

        s.running = Wire()
        s.count = Wire(clog2(shape.nsteps))  # number of steps done
        s.summing = Wire()  # the pair is a product, to be added up
        s.a = Wire(wide)
        s.b = Wire(operand)
        s.accept = Wire()
        s.step_en = Wire()
        s.finish = Wire()  # last step of the product
        s.respond = Wire()

        s.step = HeapStep(shape, rows)
        s.step.digit //= s.a[0:digit_nbits]
        s.step.b //= s.b
        s.step.m_prime //= s.modulus[0:nbits]
        s.loading = Wire()  # the first step waits for the multiples
        s.registers(shape)
        s.multiples(shape, rows, loads)
        s.result(shape, adds)
        s.steps(shape, loads)
        overlap = streams == 2
        s.handshakes(overlap)
        s.phases(operand, digit_nbits)

        answer_stays(s)
        s.assertions |= {"ModulusStays": ("running", f"modulus[{nbits - 1}:0]")}
        if not overlap:
            s.assertions |= {"OneProduct": "!(running && summing)"}
        if not overlap and adds == 1 and not quotient_delay:
            total = f"~sum + ~carry + {shape.state_nbits}'(carry_in)"
            s.assertions |= {"ProductFits": f"!summing || (({total}) >> {operand}) == 0"}

    def steps(s, shape, loads):
        """The enable of the steps, and the last step of a product."""
        s.last = Wire(s.count.get_type())
        s.last //= shape.nsteps - 1

        if loads == 1:
            s.loading //= 0
        else:

            @update_ff
            def load():
                s.loading <<= s.accept

        # no step runs until the pair of the previous product has been added up
        @update
        def steps():
            s.step.first @= s.count == 0
            s.step_en @= s.running & ~s.loading & (~s.summing | s.respond)

        @update
        def last_step():
            s.finish @= s.step_en & (s.count == s.last)
            s.respond @= s.ostream.val & s.ostream.rdy

    def handshakes(s, overlap):
        """Accept a request; overlap: already in the last step of the previous product."""

        @update
        def in_rdy():
            s.istream.rdy @= ~s.running | s.finish if overlap else ~s.running & (~s.summing | s.respond)

        @update
        def accept_request():
            s.accept @= s.istream.val & s.istream.rdy

    def phases(s, operand, digit_nbits):
        """A product is running, or its pair is being added up."""

        @update_ff
        def control():
            if s.reset:
                s.running <<= 0
            elif s.accept:
                s.running <<= 1
            elif s.finish:
                s.running <<= 0

        @update_ff
        def result_valid():
            if s.reset:
                s.summing <<= 0
            elif s.finish:
                s.summing <<= 1
            elif s.respond:
                s.summing <<= 0

        @update_ff
        def factors():
            if s.accept:
                s.a <<= s.istream.msg.a
                s.b <<= s.istream.msg.b[0:operand]
                s.count <<= 0
            elif s.step_en:
                s.a <<= s.a >> digit_nbits
                s.count <<= s.count + 1

    def registers(s, shape):
        """The state, in complements. The first step overwrites it."""
        width = shape.state_nbits
        s.sum = Wire(width)
        s.carry = Wire(width)
        s.carry_in = Wire()
        s.step.sum //= s.sum
        s.step.carry //= s.carry
        s.step.carry_in //= s.carry_in

        # Without a quotient delay: M is a multiple of the modulus n with M = -1 mod 2^w, and `modulus`
        # carries M' = (M + 1) / 2^w = 2^-w mod n. A step computes q = S mod 2^w and then S = floor(S / 2^w)
        # + q * M' + digit * b, that is (S + q * M) / 2^w + digit * b. One step for each digit of a, lowest
        # first, and a last one with a digit of 0 make a * b / R with R = 2^(w * digits). The product of
        # numbers below 2M is below 2M. A conversion to the domain has larger ones, of as many bits as b;
        # their product has no more, as it is at most a * b / R + M. S is ~sum + ~carry + carry_in; carry_in
        # is the carry out of the low digit that the previous step dropped.
        @update_ff
        def state():
            if s.step_en:
                s.sum <<= s.step.next_sum
                s.carry <<= s.step.next_carry
                s.carry_in <<= s.step.next_carry_in

        if shape.quotient_delay:
            s.quotient = Wire(shape.digit_nbits)
            s.step.late_quotient //= s.quotient

            @update_ff
            def last_quotient():
                if s.step_en:
                    s.quotient <<= s.step.next_quotient

    def multiples(s, shape, rows, loads):
        """Add the multiples that the rows need besides b and M', computed as b arrives or in a cycle of their
        own.
        """
        operand, nbits = shape.operand_nbits, shape.nbits
        if rows == "and":
            return
        s.load_multiples = Wire()
        s.b_source = Wire(operand)
        s.load_multiples //= s.accept if loads == 1 else s.loading
        s.b_source //= s.istream.msg.b[0:operand] if loads == 1 else s.b

        if rows == "radix-4":
            b_nbits, m_nbits = operand + 2, nbits + 2
            s.b_thrice = Wire(b_nbits)
            s.m_thrice = Wire(m_nbits)
            s.step.b_thrice //= s.b_thrice
            s.step.m_thrice //= s.m_thrice

            @update_ff
            def triple():
                if s.load_multiples:
                    s.b_thrice <<= zext(s.b_source, b_nbits) + (zext(s.b_source, b_nbits) << 1)
                    s.m_thrice <<= zext(s.modulus[0:nbits], m_nbits) + (
                        zext(s.modulus[0:nbits], m_nbits) << 1
                    )

        else:
            both = operand + 1
            s.b_and_m = Wire(both)
            s.step.b_and_m //= s.b_and_m

            @update_ff
            def add_up():
                if s.load_multiples:
                    s.b_and_m <<= zext(s.b_source, both) + zext(s.modulus[0:nbits], both)

    def result(s, shape, adds):
        """The pair added up; with a quotient delay the last quotient digit stands below it."""
        operand, w = shape.operand_nbits, shape.digit_nbits
        top = operand - w * shape.quotient_delay
        s.value = Wire(top)
        half = top // 2 if adds == 2 else top
        low = half + 2  # with a place below for the carry
        s.low_sum = Wire(low)

        @update
        def add_low():
            s.low_sum @= zext(concat(~s.sum[0:half], b1(1)), low) + zext(
                concat(~s.carry[0:half], s.carry_in), low
            )

        if adds == 1:
            s.value //= s.low_sum[1 : half + 1]
            s.ostream.val //= s.summing
        else:
            high = top - half + 1
            s.low_sum_reg = Wire(half + 1)
            s.low_summed = Wire()
            s.high_sum = Wire(high)

            @update_ff
            def low_half():
                s.low_summed <<= s.summing
                if s.summing & ~s.low_summed:
                    s.low_sum_reg <<= s.low_sum[1 : half + 2]

            @update
            def add_high():
                s.high_sum @= concat(~s.sum[half:top], b1(1)) + concat(
                    ~s.carry[half:top], s.low_sum_reg[half]
                )

            s.value[0:half] //= s.low_sum_reg[0:half]
            s.value[half:top] //= s.high_sum[1:high]

            @update
            def out_val():
                s.ostream.val @= s.summing & s.low_summed

        s.product = Wire(operand)
        s.product[operand - top : operand] //= s.value
        if shape.quotient_delay:
            s.product[0:w] //= s.quotient
        connect_low(s.ostream.msg, s.product)

    def line_trace(s):
        return f"{s.istream}({s.count if s.running else ''}{'+' if s.summing else ''}){s.ostream}"
