"""ModExpDpath: the registers of a ModExp (mod_exp.py) and the factors that they offer to the product units.

acc and bas are the accumulator and the running base (paper 001, Figure 6: r and b; in the ladder R0 and R1). Each has the
value that it will take (`_n`) as a wire of its own, from which plan.forward lets the next products start a cycle earlier.
The exponent moves right (right to left) or left, one bit a step; its next value decides what the control does next.
"""

from pymtl3 import *

from ..states import states
from .mod_exp_ctrl import (
    ACC,
    BAS,
    BASE,
    FACTOR_NBITS,
    ONE,
    PRODUCT_0,
    PRODUCT_1,
    SETUP_RESULT,
    SOURCE_NBITS,
    constants,
)
from .mod_exp_plan import STATE_NBITS, State


class ModExpDpath(Component):
    def construct(s, plan):
        nbits = plan.nbits
        word = mk_bits(nbits)
        TOP = nbits - 1
        # from BITS_TAKEN on, the exponent's bits are used up
        IDLE, SETUP, BITS_TAKEN = constants(State.IDLE, State.SETUP, State.TOP)

        s.in_base = InPort(word)
        s.in_exp = InPort(word)
        s.in_mod = InPort(word)
        s.result = OutPort(word)
        s.mod = OutPort(word)

        s.product = [InPort(word) for _ in range(plan.nunits)]
        s.req_a = [OutPort(word) for _ in range(plan.nunits)]
        s.req_b = [OutPort(word) for _ in range(plan.nunits)]

        if plan.dpath_sees_state:
            s.st = InPort(STATE_NBITS)
            states(s, "st", **plan.states)
        s.accept = InPort()
        s.load = InPort()
        s.shift = InPort()
        s.acc_from = InPort(SOURCE_NBITS)
        s.bas_from = InPort(SOURCE_NBITS)
        s.x1 = InPort()
        s.y0 = InPort(FACTOR_NBITS)
        s.y1 = InPort(FACTOR_NBITS)

        s.finished_n = OutPort()
        if plan.aligns:
            s.aligned_n = OutPort()
        s.bit_n = OutPort()
        if not plan.right_to_left:
            s.bit_now = OutPort()

        # ---- accumulator and base

        s.acc = Wire(word)
        s.acc_n = Wire(word)
        s.bas = Wire(word)
        s.bas_n = Wire(word)
        s.one = Wire(word)  # the multiplicative identity, on arrival
        s.above_one = Wire()  # modulus > 1; 1 modulo 1 is 0
        s.setup_result = Wire(word)
        s.result //= s.acc
        LAST_UNIT = plan.nunits - 1

        if plan.conversion == "given":
            s.in_one = InPort(word)
            s.one //= s.in_one
        else:

            @update
            def identity():
                s.one @= zext(s.in_mod != 1, nbits)

        @update
        def next_acc():
            s.acc_n @= s.acc
            if s.accept:
                s.acc_n @= 0
                if s.load:
                    s.acc_n @= s.one
            elif s.acc_from == PRODUCT_0:
                s.acc_n @= s.product[0]
            elif s.acc_from == PRODUCT_1:
                s.acc_n @= s.product[LAST_UNIT]
            elif s.acc_from == SETUP_RESULT:
                s.acc_n @= s.setup_result
            elif s.acc_from == ONE:
                s.acc_n @= zext(s.above_one, nbits)
            elif s.acc_from == BASE:
                s.acc_n @= s.bas

        @update
        def next_bas():
            s.bas_n @= s.bas
            if s.accept:
                s.bas_n @= s.in_base
            elif s.bas_from == PRODUCT_0:
                s.bas_n @= s.product[0]
            elif s.bas_from == PRODUCT_1:
                s.bas_n @= s.product[LAST_UNIT]
            elif s.bas_from == SETUP_RESULT:
                s.bas_n @= s.setup_result

        @update_ff
        def registers():
            s.acc <<= s.acc_n
            s.bas <<= s.bas_n
            if s.accept:
                s.mod <<= s.in_mod
                s.above_one <<= s.in_mod != 1

        # ---- exponent

        s.exp = Wire(word)
        s.exp_n = Wire(word)

        if plan.right_to_left:
            s.bit_n //= s.exp_n[0]

            @update
            def next_exp_rightwards():
                s.exp_n @= s.exp
                if s.accept:
                    s.exp_n @= s.in_exp
                elif s.shift:
                    s.exp_n @= s.exp >> 1

        else:
            s.bit_n //= s.exp_n[TOP]
            s.bit_now //= s.exp[TOP]

            @update
            def next_exp_leftwards():
                s.exp_n @= s.exp
                if s.accept:
                    s.exp_n @= s.in_exp
                elif s.shift | s.align:
                    s.exp_n @= s.exp << 1

            s.align = Wire()

        @update_ff
        def exponent():
            s.exp <<= s.exp_n

        if plan.counts:
            s.nleft = Wire(clog2(nbits + 1))
            s.nleft_n = Wire(clog2(nbits + 1))

            @update
            def next_count():
                s.nleft_n @= s.nleft
                if s.accept:
                    s.nleft_n @= nbits
                elif s.steps:
                    s.nleft_n @= s.nleft - 1
                s.finished_n @= s.nleft_n == 0

            s.steps = Wire()

            @update_ff
            def count():
                s.nleft <<= s.nleft_n

            if plan.aligns:

                @update
                def alignment():
                    s.align @= (s.st < BITS_TAKEN) & (s.st != IDLE) & ~s.exp[TOP] & (s.nleft != 0)
                    s.steps @= s.shift | s.align

                @update
                def aligned():
                    s.aligned_n @= s.exp_n[TOP] | (s.nleft_n == 0)

            else:
                s.steps //= s.shift
                s.align //= 0

        else:

            @update
            def finished():
                s.finished_n @= s.exp_n == 0

        # ---- factors

        s.acc_now = Wire(word)
        s.bas_now = Wire(word)
        s.acc_now //= s.acc_n if plan.forward else s.acc
        s.bas_now //= s.bas_n if plan.forward else s.bas

        s.a1 = Wire(word)
        s.b0 = Wire(word)
        s.b1 = Wire(word)

        @update
        def factors():
            s.a1 @= s.acc_now
            if s.x1:
                s.a1 @= s.bas_now
            s.b0 @= 1
            if s.y0 == ACC:
                s.b0 @= s.acc_now
            elif s.y0 == BAS:
                s.b0 @= s.bas_now
            s.b1 @= 1
            if s.y1 == ACC:
                s.b1 @= s.acc_now
            elif s.y1 == BAS:
                s.b1 @= s.bas_now

        if plan.nunits == 2:
            s.req_a[0] //= s.acc_now
            s.req_b[0] //= s.b0
            s.req_a[1] //= s.a1
            s.req_b[1] //= s.b1
        else:
            s.second = InPort()

            @update
            def choose_product():
                s.req_a[0] @= s.acc_now
                s.req_b[0] @= s.b0
                if s.second:
                    s.req_a[0] @= s.a1
                    s.req_b[0] @= s.b1

        # ---- doublings before the loop: of the base as it arrives, or of 1

        if plan.has_setup:
            s.setup_in = InPort(word)
            s.setup_start = OutPort(word)
            s.setup_result //= s.setup_in

            if plan.conversion == "double":

                @update
                def start_from_base():
                    s.setup_start @= s.in_base
                    if s.st == SETUP:
                        s.setup_start @= zext(s.above_one, nbits)

            else:

                @update
                def start_from_one():
                    s.setup_start @= s.one

        else:
            s.setup_result //= 0
