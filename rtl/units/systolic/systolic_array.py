"""SystolicArray: a Montgomery product x * y / 2^(k*s) mod m, without last subtraction, by s processing
elements in a row (paper 002, Figure 1): a first, general ones and a last (systolic_pe.py), the quotient unit,
and the paper's Algorithm 4 that feeds them.

Operands and product are below 2m; an odd m of up to k*s - 2 bits. Words are taken and given skewed: word x_i
is asked for in cycle 3i, counted from `start`, element j sees y_j from cycle j + 2 on, and word j of the
product is there in cycle 3s + 1 + j (`done[j]`), to be registered at its end. So a product may start on the
words of the one before 3s + 2 cycles after that, s - 2 before it is whole.

Ports: start, when none is under way; `closing` and `returns` in the last two of the 3s + 2 cycles. `index`:
which word of x is wanted on `x`. y, m: s words each, y_j until element j has used it for the last time, in
cycle 3s - 1 + j. result, done: the words of the product, in their cycles. Cycles: 3s + 2 from start to start.
Area order: s + 2 multipliers of k x k.
"""

from pymtl3 import *

from ...states import states
from .element_row import declare_row, row_trace
from .quotient_unit import QuotientUnit
from .systolic_pe import SystolicPE

WAIT, RUN, RETURN = map(b2, range(3))


class SystolicArray(Component):
    """Montgomery products without final subtraction by a row of processing elements (paper 002, Figure 1)."""

    def construct(s, k, nwords):
        s.start = InPort()
        s.closing = OutPort()
        s.returns = OutPort()
        s.index = OutPort(clog2(nwords))
        s.n_prime = InPort(k)

        elements = declare_row(s, SystolicPE, k, nwords)
        for j, following in enumerate(elements[1:]):
            s.done[j] //= following.done
            s.result[j] //= following.sum[0:k]
        s.done[nwords - 1] //= s.last_pe.done
        s.result[nwords - 1] //= s.last_pe.sum[k : 2 * k]
        s.add_controller()
        s.feed_words(k, nwords)
        s.quotient(k, elements[1])

    def add_controller(s):
        """Algorithm 4: accept a word of x in every third cycle, and start the first element with it."""
        s.st = Wire(2)
        states(s.st, WAIT=0, RUN=1, RETURN=2)
        s.phase = Wire(2)  # phase of the first element: 0, 1, 2 as its states
        s.take = Wire()  # accepts word `index` of x

        @update
        def takes():
            s.returns @= s.st == RETURN
            s.is_last @= s.index == 0  # all words have been taken
            s.take @= ((s.st == WAIT) & s.start) | ((s.st == RUN) & (s.phase == 2) & ~s.is_last)
            s.closing @= (s.st == RUN) & (s.phase == 2) & s.is_last
            s.first_pe.go @= (s.st == RUN) & (s.phase == 0)

        @update_ff
        def control():
            if s.reset:
                s.st <<= WAIT
            elif s.st == WAIT:
                if s.start:
                    s.st <<= RUN
            elif s.st == RUN:
                if s.closing:
                    s.st <<= RETURN
            else:
                s.st <<= WAIT

        @update_ff
        def phases():
            if s.st == RUN:
                s.phase <<= s.phase + 1
                if s.phase == 2:
                    s.phase <<= 0
            else:
                s.phase <<= 0

    def feed_words(s, k, nwords):
        """The word in the first element, the index of the next one, and the ends of the operand."""
        LAST_WORD = nwords - 1
        s.x_i = Wire(k)
        s.is_first = Wire()
        s.is_last = Wire()
        s.first_pe.first //= s.is_first
        s.first_pe.last //= s.is_last
        s.first_pe.x //= s.x_i

        @update_ff
        def count():
            if s.reset:
                s.index <<= 0
            elif s.take:
                s.index <<= s.index + 1
                if s.index == LAST_WORD:
                    s.index <<= 0

        @update_ff
        def word():
            if s.take:
                s.x_i <<= s.x
                s.is_first <<= s.st == WAIT

    def quotient(s, k, second):
        """The quotient unit. It takes the word that element 1 is about to keep; at first there is none."""
        s.a_0 = Wire(k)
        s.second_sum = Wire(k)
        s.second_sum //= second.sum[0:k]

        @update
        def lowest_word():
            s.a_0 @= s.second_sum
            if s.is_first:
                s.a_0 @= 0

        s.quotient_unit = QuotientUnit(k)
        s.quotient_unit.take //= s.take
        s.quotient_unit.x //= s.x
        s.quotient_unit.y_0 //= s.y[0]
        s.quotient_unit.a_0 //= s.a_0
        s.quotient_unit.n_prime //= s.n_prime
        s.first_pe.q //= s.quotient_unit.u

    def line_trace(s):
        return row_trace(s)
