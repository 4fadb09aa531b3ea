"""SystolicPE: a processing element of a systolic Montgomery multiplier (paper 002, Figures 2 to 4).

Element j makes word j of A + x_i * y + u_i * m with one multiplier, in three states:
    MULTIPLY  acc = u_i * m_j              when `go` comes, with x_i and u_i, from the element before
    ADD       acc = acc + x_i * y_j + a_j + carry
    STORE     the low word of acc is kept: it is a_(j-1) of the next step; the rest is the carry into element
              j + 1
so that element j + 1 works a cycle behind element j. `place`: the "first" element has no carry and drops its
low word, which is 0;
the "last" one has no neighbour, and keeps the upper word of its own acc as a_j.

The paper's text adds the carry in the first state, which would need the sum of the element before a cycle
before it exists: here it is added in the second. The paper has 2k + 2 bits of acc, the highest of which is
always 0: 2 (b-1)^2 + (b-1) + (2b-1) < 2 b^2.

Ports: `go`, `first` (step), `last` (step), x, q (u_i) from the element before and, a cycle later, to the next
one; y, m: the element's words, static; a: the low word that the next element keeps; carry in and out; low:
the word kept; sum: acc's word of the result in state STORE of the last step, when `done` is 1 (of the last
element: two words). Area order: a k x k multiplier, adders of 2k + 1 bits, 5k + 5 register bits.
"""

from pymtl3 import *

from ...states import states
from .element_row import declare_element

MULTIPLY, ADD, STORE = map(b2, range(3))


class SystolicPE(Component):
    def construct(s, k, place="general"):
        acc_nbits = 2 * k + 1
        declare_element(s, k, place)
        s.q = InPort(k)
        if place != "first":
            s.low = OutPort(k)
            s.done = OutPort()
            s.sum = OutPort(k if place == "general" else 2 * k)

        s.st = Wire(2)
        states(s.st, MULTIPLY=0, ADD=1, STORE=2)
        s.is_first = Wire()
        s.is_last = Wire()
        s.x_i = Wire(k)
        s.acc = Wire(acc_nbits)

        s.add_multiplier(k, place)
        s.transitions()
        s.pass_on(k, place)

    def add_multiplier(s, k, place):
        """The multiplier and the sum behind it."""
        acc_nbits = 2 * k + 1
        s.factor = Wire(k)
        s.word = Wire(k)
        s.kept = Wire(k)  # a_j, from the step before
        s.carried = Wire(k + 1)
        s.addend = Wire(acc_nbits)
        s.carried //= 0 if place == "first" else s.carry
        if place != "last":
            s.kept //= s.a

        @update
        def factors():
            s.factor @= s.q
            s.word @= s.m
            if s.st == ADD:
                s.factor @= s.x_i
                s.word @= s.y

        @update
        def adds():
            s.addend @= 0
            if s.st == ADD:
                s.addend @= s.acc + zext(s.carried, acc_nbits)
                if ~s.is_first:
                    s.addend @= s.acc + zext(s.carried, acc_nbits) + zext(s.kept, acc_nbits)

        @update_ff
        def accumulate():
            if s.st != STORE:
                s.acc <<= zext(s.factor, acc_nbits) * zext(s.word, acc_nbits) + s.addend

    def transitions(s):
        """The state after this one."""

        @update_ff
        def state():
            if s.reset:
                s.st <<= MULTIPLY
            elif s.st == MULTIPLY:
                if s.go:
                    s.st <<= ADD
            elif s.st == ADD:
                s.st <<= STORE
            else:
                s.st <<= MULTIPLY

    def pass_on(s, k, place):
        """Pass the step on to the next element, and keep the words that stay."""
        acc_nbits = 2 * k + 1

        @update_ff
        def step():
            if s.st == MULTIPLY:
                s.is_first <<= s.first
                s.is_last <<= s.last
                s.x_i <<= s.x

        if place != "last":
            s.next_first //= s.is_first
            s.next_last //= s.is_last
            s.next_x //= s.x_i
            s.next_carry //= s.acc[k:acc_nbits]

            @update
            def enables_the_next():
                s.next_go @= s.st == ADD

            @update_ff
            def quotient_digit():
                if s.st == MULTIPLY:
                    s.next_q <<= s.q

        # ---- the words kept

        if place != "first":
            s.sum //= s.acc[0:k] if place == "general" else s.acc[0 : 2 * k]

            @update
            def ends():
                s.done @= (s.st == STORE) & s.is_last

            @update_ff
            def keep_low():
                if s.st == STORE:
                    s.low <<= s.acc[0:k]

        if place == "last":
            high_end = 2 * k

            @update_ff
            def keep_high():
                if s.st == STORE:
                    s.kept <<= s.acc[k:high_end]

    def line_trace(s):
        return "*+."[int(s.st)]
