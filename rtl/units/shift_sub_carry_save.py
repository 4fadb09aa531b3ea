"""ShiftSubCarrySave: paper 004's shift-subtract multiplier in carry-save form: no iteration propagates a
carry across the word.

It computes p = a * b mod n from the lowest bit of b upward: c = 2^i * a mod n is added to p if b_i is 1. The
paper subtracts n where it fits, which requires an n-bit comparison. Here p and c are pairs (sum, carry) in
two's complement with -n <= value <= n. The top four bits of a pair select the quotient digit q in {-1, 0, 1},
as in radix-2 SRT division with a carry-save residual (Ercegovac and Lang, Division and Square Root, 1994,
section 3.2):

    y = 2c or p + b_i * c, |y| <= 2n;  est = y by its bits from 2^(nbits-1) on, at most 2^nbits too small;
    q = 1 if est >= 0, 0 if est = -2^(nbits-1), else -1;  |y - q * n| <= n

This requires a modulus whose top bit is set. A shorter modulus is first shifted up, together with a, and the
product is shifted down at the end.

Ports: istream {a, b} -> ostream; `modulus` not 0 and static while the unit is busy; a < modulus, b may be any
word. Cycles: steps + 3 + twice the leading zeros of the modulus, where steps = nbits / bits_per_cycle (until
= "count": constant time), or the number of cycles up to the highest 1 of b (until = "spent"). Area order:
4 rows of full adders and two 4-bit adders per step, one carry-propagate adder, 6n register bits.
"""

from pymtl3 import *

from ..messages import declare_product_ports
from ..states import states

IDLE, RAISE, STEP, RESOLVE, CORRECT, LOWER, DONE = map(b3, range(7))


class SelectSubtract(Component):
    """The pair y - q * n, with q from the top bits of the pair y."""

    def construct(s, nbits):
        wide = nbits + 3
        LOW, HIGH = nbits - 1, nbits + 3  # the bits of the estimate
        HALF_BELOW = 15  # -1, in units of 2^(nbits-1)
        s.y_sum = InPort(wide)
        s.y_carry = InPort(wide)
        s.n = InPort(nbits)
        s.out_sum = OutPort(wide)
        s.out_carry = OutPort(wide)
        s.estimate = Wire(4)
        s.multiple = Wire(wide)  # -q * n - complete
        s.complete = Wire()

        @update
        def select():
            s.estimate @= s.y_sum[LOW:HIGH] + s.y_carry[LOW:HIGH]
            s.multiple @= 0
            s.complete @= 0
            if ~s.estimate[3]:
                s.multiple @= ~zext(s.n, wide)
                s.complete @= 1
            elif s.estimate != HALF_BELOW:
                s.multiple @= zext(s.n, wide)

        @update
        def subtract():
            s.out_sum @= s.y_sum ^ s.y_carry ^ s.multiple
            s.out_carry @= (
                ((s.y_sum & s.y_carry) | (s.y_sum & s.multiple) | (s.y_carry & s.multiple)) << 1
            ) | zext(s.complete, wide)


class ShiftSubCarrySaveStep(Component):
    """One bit of b."""

    def construct(s, nbits):
        wide = nbits + 3
        s.p_sum = InPort(wide)
        s.p_carry = InPort(wide)
        s.c_sum = InPort(wide)
        s.c_carry = InPort(wide)
        s.b_i = InPort()
        s.n = InPort(nbits)
        s.p_sum_out = OutPort(wide)
        s.p_carry_out = OutPort(wide)
        s.c_sum_out = OutPort(wide)
        s.c_carry_out = OutPort(wide)

        # p + b_i * c: four rows to two
        s.add_sum, s.add_carry, s.row_sum, s.row_carry, s.y_sum, s.y_carry = (Wire(wide) for _ in range(6))

        @update
        def gate():
            s.add_sum @= 0
            s.add_carry @= 0
            if s.b_i:
                s.add_sum @= s.c_sum
                s.add_carry @= s.c_carry

        @update
        def compress():
            s.row_sum @= s.p_sum ^ s.p_carry ^ s.add_sum
            s.row_carry @= ((s.p_sum & s.p_carry) | (s.p_sum & s.add_sum) | (s.p_carry & s.add_sum)) << 1
            s.y_sum @= s.row_sum ^ s.row_carry ^ s.add_carry
            s.y_carry @= (
                (s.row_sum & s.row_carry) | (s.row_sum & s.add_carry) | (s.row_carry & s.add_carry)
            ) << 1

        s.reduce_p = SelectSubtract(nbits)
        s.reduce_p.y_sum //= s.y_sum
        s.reduce_p.y_carry //= s.y_carry
        s.reduce_p.n //= s.n
        s.reduce_p.out_sum //= s.p_sum_out
        s.reduce_p.out_carry //= s.p_carry_out

        s.reduce_c = SelectSubtract(nbits)
        for doubled, single in ((s.reduce_c.y_sum, s.c_sum), (s.reduce_c.y_carry, s.c_carry)):
            doubled[0] //= 0
            doubled[1:wide] //= single[0 : wide - 1]
        s.reduce_c.n //= s.n
        s.reduce_c.out_sum //= s.c_sum_out
        s.reduce_c.out_carry //= s.c_carry_out


class ShiftSubCarrySave(Component):
    def construct(s, nbits, bits_per_cycle=1, until="count"):
        declare_product_ports(s, nbits)

        wide = nbits + 3
        s.st = Wire(3)
        states(s.st, IDLE=0, RAISE=1, STEP=2, RESOLVE=3, CORRECT=4, LOWER=5, DONE=6)
        s.n = Wire(nbits)  # the modulus, its top bit set after RAISE
        s.b = Wire(nbits)
        s.b_n = Wire(nbits)
        s.c_sum = Wire(wide)
        s.c_carry = Wire(wide)
        s.p_sum = Wire(wide)  # after RESOLVE, the product as a number
        s.p_carry = Wire(wide)
        s.nraised = Wire(clog2(nbits + 1))
        s.ostream.msg //= s.p_sum[0:nbits]

        s.steps = [ShiftSubCarrySaveStep(nbits) for _ in range(bits_per_cycle)]
        s.connect_steps()
        s.handshakes()
        s.end_of_steps(nbits, bits_per_cycle, until)
        s.transitions(nbits)
        s.registers(nbits, bits_per_cycle - 1)

    def connect_steps(s):
        """The chain of steps, from the lowest bit of b upward."""
        for i, step in enumerate(s.steps):
            before = s.steps[i - 1]
            step.p_sum //= s.p_sum if i == 0 else before.p_sum_out
            step.p_carry //= s.p_carry if i == 0 else before.p_carry_out
            step.c_sum //= s.c_sum if i == 0 else before.c_sum_out
            step.c_carry //= s.c_carry if i == 0 else before.c_carry_out
            step.b_i //= s.b[i]
            step.n //= s.n

    def handshakes(s):
        """Load operands in IDLE, or as the product leaves."""
        s.load = Wire()

        @update
        def handshakes():
            s.istream.rdy @= (s.st == IDLE) | ((s.st == DONE) & s.ostream.rdy)
            s.load @= s.istream.rdy & s.istream.val

        @update
        def offers():
            s.ostream.val @= s.st == DONE

    def end_of_steps(s, nbits, bits_per_cycle, until):
        """The last step: by the bits of b that are left, or by a counter."""
        s.ends = Wire()

        @update
        def what_is_left():
            s.b_n @= s.b >> bits_per_cycle

        if until == "spent":

            @update
            def ends_when_spent():
                s.ends @= s.b_n == 0

        else:
            ncycles = nbits // bits_per_cycle
            FINAL = ncycles - 1
            s.count = Wire(max(1, clog2(ncycles)))

            @update
            def ends_by_count():
                s.ends @= s.count == FINAL

            @update_ff
            def counter():
                s.count <<= 0
                if s.st == STEP:
                    s.count <<= s.count + 1

    def registers(s, nbits, LAST_STEP):
        """The pairs; at the end p = sum + carry, then p + n if it is negative, p - n if it is n."""
        wide, SIGN = nbits + 3, nbits + 2
        s.addend = Wire(wide)
        s.corrected = Wire(wide)

        @update
        def add():
            s.addend @= s.p_carry
            if s.st == CORRECT:
                s.addend @= 0
                if s.p_sum[SIGN]:
                    s.addend @= zext(s.n, wide)
            s.corrected @= s.p_sum + s.addend
            if (s.st == CORRECT) & (s.p_sum == zext(s.n, wide)):
                s.corrected @= 0

        @update_ff
        def data():
            if s.load:
                s.n <<= s.modulus
                s.b <<= s.istream.msg.b
                s.c_sum <<= zext(s.istream.msg.a, wide)
                s.c_carry <<= 0
                s.p_sum <<= 0
                s.p_carry <<= 0
                s.nraised <<= 0
            elif s.st == RAISE:
                s.n <<= s.n << 1
                s.c_sum <<= s.c_sum << 1
                s.nraised <<= s.nraised + 1
            elif s.st == STEP:
                s.b <<= s.b_n
                s.c_sum <<= s.steps[LAST_STEP].c_sum_out
                s.c_carry <<= s.steps[LAST_STEP].c_carry_out
                s.p_sum <<= s.steps[LAST_STEP].p_sum_out
                s.p_carry <<= s.steps[LAST_STEP].p_carry_out
            elif (s.st == RESOLVE) | (s.st == CORRECT):
                s.p_sum <<= s.corrected
            elif s.st == LOWER:
                s.p_sum <<= s.p_sum >> 1
                s.nraised <<= s.nraised - 1

    def transitions(s, nbits):
        """The state after this one."""
        TOP, BELOW_TOP = nbits - 1, nbits - 2

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.load:
                s.st <<= RAISE
                if s.modulus[TOP]:
                    s.st <<= STEP
            elif s.st == RAISE:
                if s.n[BELOW_TOP]:
                    s.st <<= STEP
            elif s.st == STEP:
                if s.ends:
                    s.st <<= RESOLVE
            elif s.st == RESOLVE:
                s.st <<= CORRECT
            elif s.st == CORRECT:
                s.st <<= LOWER
                if s.nraised == 0:
                    s.st <<= DONE
            elif s.st == LOWER:
                if s.nraised == 1:
                    s.st <<= DONE
            elif s.ostream.val & s.ostream.rdy:
                s.st <<= IDLE

    def line_trace(s):
        return f"{s.istream}|{'IRSVCLD'[int(s.st)]}|{s.ostream}"
