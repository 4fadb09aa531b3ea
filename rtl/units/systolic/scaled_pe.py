"""ScaledPE: a processing element on a scaled modulus, which multiplies in every cycle.

On M = c*N = -1 mod 2^k the quotient digit is the low word of the state (fl/multipliers/scaled.py): no unit
makes it, and an element has two
states a step instead of paper 002's three (systolic_pe.py), since what it stores its neighbours read from acc
itself:
    go          acc = q_i * m_j               m_j: word j of M' = (M + 1) / 2^k
    the next    acc = acc + x_i * y_j + a_j + carry
a_j is the low word of element j + 1, of the step before, and carry the upper part of element j - 1: both are
in their first state then,
so that the elements are a cycle apart. `place`: the "first" element is where q_i comes from; the "last" adds
the upper part of its
own acc in its first state.

Ports: go, first (step), last (step), q with go, x a cycle later; all of them to the next element, a cycle
later; y, m: the element's words; a, carry; low: acc's low word; done: it is a word of the result. Area order:
a k x k multiplier, adders of 2k + 1 bits, 4k + 5 register bits.
"""

from pymtl3 import *

from .element_row import declare_element


class ScaledPE(Component):
    def construct(s, k, place="general"):
        acc_nbits = 2 * k + 1
        declare_element(s, k, place)
        s.low = OutPort(k)
        s.done = OutPort()
        s.q_i = Wire(k)
        s.acc = Wire(acc_nbits)
        s.low //= s.acc[0:k]

        if place == "first":

            @update
            def quotient_digit():
                s.q_i @= s.acc[0:k]
                if s.first:
                    s.q_i @= 0

        else:
            s.q = InPort(k)
            s.q_i //= s.q

        # ---- signals that move with the step: go in its first cycle, adds in its second

        s.adds = Wire()
        s.is_first = Wire()
        s.is_last = Wire()

        @update_ff
        def step():
            if s.reset:
                s.adds <<= 0
                s.done <<= 0
            else:
                s.adds <<= s.go
                s.done <<= s.adds & s.is_last
            if s.go:
                s.is_last <<= s.last

        if place != "last":
            s.next_go //= s.adds
            s.next_first //= s.is_first
            s.next_last //= s.is_last
            s.next_carry //= s.acc[k:acc_nbits]

            @update_ff
            def passes_on():
                if s.go:
                    s.is_first <<= s.first
                    s.next_q <<= s.q_i
                if s.adds:
                    s.next_x <<= s.x

        s.multiply_add(k, place)

    def multiply_add(s, k, place):
        """The multiplier, and the sum behind it."""
        acc_nbits = 2 * k + 1
        s.factor = Wire(k)
        s.word = Wire(k)
        s.addend = Wire(acc_nbits)

        @update
        def factors():
            s.factor @= s.x
            s.word @= s.y
            if s.go:
                s.factor @= s.q_i
                s.word @= s.m

        adds_low, keeps_high = place != "last", place == "last"
        s.carried = Wire(k + 1)
        s.neighbour = Wire(k)
        s.carried //= 0 if place == "first" else s.carry
        s.neighbour //= 0 if keeps_high else s.a

        @update
        def addends():
            s.addend @= 0
            if s.adds:
                s.addend @= s.acc + zext(s.carried, acc_nbits)
                if adds_low & ~s.is_first:
                    s.addend @= s.acc + zext(s.carried, acc_nbits) + zext(s.neighbour, acc_nbits)
            elif keeps_high & ~s.first:
                s.addend @= zext(s.acc[k:acc_nbits], acc_nbits)

        @update_ff
        def accumulate():
            if s.go | s.adds:
                s.acc <<= zext(s.factor, acc_nbits) * zext(s.word, acc_nbits) + s.addend

    def line_trace(s):
        return "*" if s.go else "+" if s.adds else "."
