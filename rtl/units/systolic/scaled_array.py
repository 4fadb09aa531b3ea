"""ScaledArray: Montgomery products on a scaled modulus by a row of processing elements that never idle
(scaled_pe.py).

L digits of k bits are L words and L elements; a product is L + 1 steps of two cycles, the last of them with a
digit 0 of x. The next one starts in the cycle after, on words of this one that have just come out: 2 (L + 1)
cycles from product to product, of whose 2 L (L + 1) multiplications only those of the digit 0 and of the
words above M' are idle.

Ports: as SystolicArray's, without a quotient unit. `start`: a product begins in the next cycle, if none is
under way then; `returns` in its last. `index`: which word of x is wanted on `x`: word i in cycle 2i. y, m: a
word an element (m: M'), y_j from cycle j + 1 to 2 L + j. result, done: word j of the product, in cycle 2 (L +
1) + j, to be registered at its end. Cycles: 2 (L + 1) from product to product. Area order: L multipliers of k
x k.
"""

from pymtl3 import *

from .element_row import declare_row, row_trace
from .scaled_pe import ScaledPE


class ScaledArray(Component):
    def construct(s, k, nwords):
        LAST_STEP = nwords
        step_nbits = clog2(nwords + 1)
        index_nbits = clog2(nwords)
        s.start = InPort()
        s.ready = Wire()
        s.returns = OutPort()
        s.index = OutPort(index_nbits)
        elements = declare_row(s, ScaledPE, k, nwords)
        for j, element in enumerate(elements):
            s.result[j] //= element.low
            s.done[j] //= element.done

        # ---- the steps, two cycles each

        s.busy = Wire()
        s.second = Wire()
        s.step = Wire(step_nbits)
        s.x_i = Wire(k)

        s.assertions = {"OneWordArrives": "(done & (done - 1)) == 0"}

        @update
        def phases():
            s.returns @= s.busy & s.second & (s.step == LAST_STEP)
            s.ready @= ~s.busy | s.returns
            s.first_pe.go @= s.busy & ~s.second
            s.first_pe.first @= s.step == 0
            s.first_pe.last @= s.step == LAST_STEP
            s.index @= trunc(s.step, index_nbits)
            if s.step == LAST_STEP:
                s.index @= 0

        s.first_pe.x //= s.x_i

        @update_ff
        def control():
            if s.reset:
                s.busy <<= 0
            elif s.ready:
                s.busy <<= s.start

        @update_ff
        def count():
            if s.ready:
                s.second <<= 0
                s.step <<= 0
            else:
                s.second <<= ~s.second
                if s.second:
                    s.step <<= s.step + 1

        @update_ff
        def word():
            if s.first_pe.go:
                s.x_i <<= s.x
                if s.step == LAST_STEP:
                    s.x_i <<= 0

    def line_trace(s):
        return row_trace(s)
