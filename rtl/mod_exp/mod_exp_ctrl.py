"""ModExpCtrl: the controller of a ModExp. A state ends with the last of its products, or as listed:

    state        products              registers                           ends
    IDLE                               modulus, exponent, b = base, r = 1  with a request
    CONVERT                            b = converted                       with the conversion
    CONVERT_ONE                        r = converted                       with the conversion
    CONSTANT                           r = converted                       with the conversion
    RAISE        r * r                 r = product 0
    ENTER        r * b, and r * 1      b = product 0, r = product 1
                 or r * b alone        b = product 0, r = 1
    ENTER_ONE    r * 1                 r = product 0
    ALIGN                                                                  if the next bit is 1
    COPY                               r = b                               after a cycle
    REDUCE       r * b                 r = b = product 0
    SQUARE       r * r                 r = product 0
    MULTIPLY     r * b                 r = product 0, if the bit is 1
    STEP         r * b, b * b          r = product 0, b = product 1        (right to left; a 0
                                                                           has no product 0)
                 r * b, b * b for a 1  r = product 0, b = product 1        (ladder)
                 r * b, r * r for a 0  b = product 0, r = product 1
    LEAVE        r * 1                 r = product 0
    DONE                                                                   with the answer

A machine has those of its plan (shape.py). The products of the next state are issued when it has been
entered; with `forward` already in the last cycle of the state before it, except in IDLE, where the modulus
changes.

Ports: the handshakes of both streams, of the units and of the converter, and those of ModExpDpath.
"""

from pymtl3 import *

from ...fl.status import STATUS_NBITS
from ..messages import connect_fields
from ..states import state_name, states, states_of
from ..units.serial_ctrl import declare_handshakes
from .mod_exp_dpath import ModExpIfc, select_nbits
from .product_issue import ProductIssue


def select(sources, name):
    """The select of a source; any for a source, and then a state, that is not there."""
    return mk_bits(select_nbits(sources))(sources.index(name) if name in sources else 0)


class ModExpCtrl(Component):
    """The controller of an exponentiation."""

    def construct(s, shape):
        plan, nproducts = shape.plan, shape.nproducts
        declare_handshakes(s, STATUS_NBITS)
        s.dpath = ModExpIfc(shape, OutPort, InPort)
        s.req_val = OutPort(plan.nunits)
        s.req_rdy = InPort(plan.nunits)
        s.resp_val = InPort(plan.nunits)

        s.bit_now = Wire()  # of the exponent; schedules from the right need the next one alone
        if plan.right_to_left:
            s.bit_now //= 0
        else:
            s.bit_now //= s.dpath.exp_bit

        s.st = Wire(shape.state_nbits)
        s.enter_st = Wire(shape.state_nbits)  # the first state of the loop, or of what follows it
        s.again_st = Wire(shape.state_nbits)  # the same after a bit
        s.chosen_st = Wire(shape.state_nbits)  # the state after this one, if the request is not refused
        s.next_st = Wire(shape.state_nbits)
        s.issue_st = Wire(shape.state_nbits)  # the state whose products may be issued in this cycle
        states(s.st, s.enter_st, s.again_st, s.chosen_st, s.next_st, s.issue_st, **shape.codes)

        s.advance = Wire()  # this is the last cycle of the state
        s.done = Wire()
        s.product_val = Wire(nproducts)  # the products that arrive
        s.convert_done = (InPort if shape.converts else Wire)()

        s.issue = ProductIssue(nproducts, plan.nunits)
        connect_fields(s.issue, s, "advance", "req_val", "req_rdy", "resp_val", "product_val")

        s.handshakes(shape)
        s.loop(shape)
        s.choose_next(shape)
        s.issue_products(shape)
        s.select_factors(shape)
        s.load_r(shape)
        s.load_b(shape)

        IDLE = shape.code("IDLE")

        @update_ff
        def state():
            if s.reset:
                s.st <<= IDLE
            elif s.advance:
                s.st <<= s.next_st
            if s.dpath.load:
                s.out_status <<= s.in_status

    def handshakes(s, shape):
        IDLE, COPY, DONE = map(shape.code, ("IDLE", "COPY", "DONE"))

        @update
        def streams():
            s.istream_rdy @= s.st == IDLE
            s.dpath.load @= s.istream_rdy & s.istream_val
            s.dpath.refuse @= s.dpath.load & (s.in_status != 0)
            s.ostream_val @= s.st == DONE

        @update
        def end_of_state():
            s.done @= (
                s.dpath.load
                | s.issue.done
                | s.convert_done
                | (s.st == COPY)
                | (s.ostream_val & s.ostream_rdy)
            )

        ends = ["dpath__load", "issue__done", "ostream_val && ostream_rdy"]
        ends += ["convert_done"] * shape.converts + ["st == COPY"] * ("COPY" in shape.states)
        s.assertions = {"EndsInOneWay": " + ".join(f"32'({end})" for end in ends) + " <= 1"}

        if not shape.converts:
            s.convert_done //= 0
            return
        s.convert_val = OutPort()
        CONVERT, CONVERT_ONE, CONSTANT = map(shape.code, ("CONVERT", "CONVERT_ONE", "CONSTANT"))

        @update
        def conversion():
            s.convert_val @= s.advance & (
                (s.next_st == CONVERT) | (s.next_st == CONVERT_ONE) | (s.next_st == CONSTANT)
            )

    def loop(s, shape):
        """The states at the beginning of the loop over the bits, and at that of a further bit; there may be
        none.
        """
        LOOP, AGAIN, AFTER_LOOP = map(shape.code, (shape.loop, shape.again, shape.following("STEP")))
        if shape.plan.aligns:
            s.align_leading_zeros(shape, LOOP, AFTER_LOOP)
        elif shape.plan.steps_once:
            s.advance //= s.done
            s.enter_st //= LOOP
        else:
            s.advance //= s.done

            @update
            def enter_loop():
                s.enter_st @= AFTER_LOOP if s.dpath.next_done else LOOP

        @update
        def repeat_loop():
            s.again_st @= AFTER_LOOP if s.dpath.next_done else AGAIN

        s.raised = Wire()  # this is the last square of RAISE
        if shape.plan.squarings > 1:
            s.count_squares(shape)
        else:
            s.raised //= 1
        s.multiplies = Wire()  # a product with b follows the square
        s.multiplies //= s.bit_now if shape.plan.schedule == "left-to-right" else 1

    def choose_next(s, shape):
        """The next state."""
        IDLE, CONVERT, CONVERT_ONE, CONSTANT = map(shape.code, ("IDLE", "CONVERT", "CONVERT_ONE", "CONSTANT"))
        RAISE, ENTER, ENTER_ONE, COPY = map(shape.code, ("RAISE", "ENTER", "ENTER_ONE", "COPY"))
        REDUCE, SQUARE, MULTIPLY, STEP = map(shape.code, ("REDUCE", "SQUARE", "MULTIPLY", "STEP"))
        LEAVE, DONE = map(shape.code, ("LEAVE", "DONE"))
        FIRST, AFTER_CONSTANT = shape.code(shape.following("IDLE")), shape.code(shape.following("CONSTANT"))
        CONVERTS, HAS_ONE, ENTERS_APART = shape.converts, "CONVERT_ONE" in shape.states, shape.enters_apart

        @update
        def next_state():
            s.chosen_st @= s.enter_st
            if s.st == IDLE:
                if CONVERTS:
                    s.chosen_st @= FIRST
            elif s.st == CONVERT:
                if HAS_ONE:
                    s.chosen_st @= CONVERT_ONE
            elif s.st == CONSTANT:
                s.chosen_st @= AFTER_CONSTANT
            elif s.st == RAISE:
                s.chosen_st @= ENTER if s.raised else RAISE
            elif s.st == ENTER:
                if ENTERS_APART:
                    s.chosen_st @= ENTER_ONE
            elif s.st == SQUARE:
                s.chosen_st @= MULTIPLY if s.multiplies else s.again_st
            elif (s.st == COPY) | (s.st == REDUCE) | (s.st == MULTIPLY) | (s.st == STEP):
                s.chosen_st @= s.again_st
            elif s.st == LEAVE:
                s.chosen_st @= DONE
            elif s.st == DONE:
                s.chosen_st @= IDLE

        # factors are selected as if no request was refused, which keeps the check off their path
        @update
        def next_state_or_refusal():
            s.next_st @= DONE if s.dpath.refuse else s.chosen_st

        @update
        def next_exponent_bit():
            s.dpath.shift @= s.done & (
                (s.st == COPY)
                | (s.st == REDUCE)
                | ((s.st == SQUARE) & ~s.multiplies)
                | (s.st == MULTIPLY)
                | (s.st == STEP)
            )

    def align_leading_zeros(s, shape, LOOP, AFTER_LOOP):
        """Leading zeros are shifted out during the conversion, and those that are left in ALIGN."""
        CONVERT, CONVERT_ONE, CONSTANT, RAISE = map(
            shape.code, ("CONVERT", "CONVERT_ONE", "CONSTANT", "RAISE")
        )
        ENTER, ENTER_ONE, ALIGN = map(shape.code, ("ENTER", "ENTER_ONE", "ALIGN"))

        @update
        def align():
            s.dpath.align @= (
                (s.st == CONVERT)
                | (s.st == CONVERT_ONE)
                | (s.st == CONSTANT)
                | (s.st == RAISE)
                | (s.st == ENTER)
                | (s.st == ENTER_ONE)
                | (s.st == ALIGN)
            )

        @update
        def advance_when_aligned():
            s.advance @= s.done | ((s.st == ALIGN) & s.dpath.next_aligned)

        @update
        def enter_loop_when_aligned():
            s.enter_st @= LOOP
            if ~s.dpath.next_aligned:
                s.enter_st @= ALIGN
            elif s.dpath.next_done:
                s.enter_st @= AFTER_LOOP

    def count_squares(s, shape):
        squarings = shape.plan.squarings
        Count = mk_bits(clog2(squarings))
        CONSTANT, LAST = shape.code("CONSTANT"), Count(squarings - 1)
        s.squares = Wire(Count)

        @update
        def last_square():
            s.raised @= s.squares == LAST

        @update_ff
        def count_squares():
            if s.st == CONSTANT:
                s.squares <<= 0
            elif s.issue.done:
                s.squares <<= s.squares + 1

    # ---- products

    def issue_products(s, shape):
        IDLE, RAISE, ENTER, ENTER_ONE = map(shape.code, ("IDLE", "RAISE", "ENTER", "ENTER_ONE"))
        REDUCE, SQUARE, MULTIPLY = map(shape.code, ("REDUCE", "SQUARE", "MULTIPLY"))
        STEP, LEAVE = map(shape.code, ("STEP", "LEAVE"))
        BOTH = shape.enters_both
        s.step_multiplies = Wire()  # a step has its product 0
        s.step_multiplies //= s.dpath.next_bit if shape.plan.right_to_left else 1

        @update
        def product_0():
            s.issue.products[0] @= (
                (s.next_st == RAISE)
                | (s.next_st == ENTER)
                | (s.next_st == ENTER_ONE)
                | (s.next_st == REDUCE)
                | (s.next_st == SQUARE)
                | (s.next_st == MULTIPLY)
                | ((s.next_st == STEP) & s.step_multiplies)
                | (s.next_st == LEAVE)
            )

        if shape.nproducts > 1:

            @update
            def product_1():
                s.issue.products[1] @= s.next_st == STEP
                if BOTH:
                    if s.next_st == ENTER:
                        s.issue.products[1] @= 1

        if shape.plan.forward:

            @update
            def issue_at_once():
                s.issue.send_now @= s.advance & (s.st != IDLE)
                s.issue_st @= s.chosen_st if s.advance else s.st

        else:
            s.issue.send_now //= 0
            s.issue_st //= s.st
        if shape.plan.nunits < shape.nproducts:
            s.dpath.second //= s.issue.second

    def select_factors(s, shape):
        """Product 0 is r * y0, product 1 is x1 * y1."""
        RAISE, ENTER, ENTER_ONE = map(shape.code, ("RAISE", "ENTER", "ENTER_ONE"))
        SQUARE, LEAVE = map(shape.code, ("SQUARE", "LEAVE"))
        if len(shape.y0_sources) > 1:
            Y0_B, Y0_R, Y0_UNITY = (select(shape.y0_sources, name) for name in ("b", "r", "1"))

            @update
            def factor_of_product_0():
                s.dpath.y0_sel @= Y0_B
                if (s.issue_st == SQUARE) | (s.issue_st == RAISE):
                    s.dpath.y0_sel @= Y0_R
                elif (s.issue_st == LEAVE) | (s.issue_st == ENTER_ONE):
                    s.dpath.y0_sel @= Y0_UNITY

        if shape.ladder:
            s.select_ladder_factors(shape)
            return
        if len(shape.x1_sources) > 1:
            X1_B, X1_R = (select(shape.x1_sources, name) for name in ("b", "r"))
            Y1_B, Y1_UNITY = (select(shape.y1_sources, name) for name in ("b", "1"))

            @update
            def factors_of_product_1():
                s.dpath.x1_sel @= X1_R if s.issue_st == ENTER else X1_B
                s.dpath.y1_sel @= Y1_UNITY if s.issue_st == ENTER else Y1_B

    def select_ladder_factors(s, shape):
        """Product 1 squares b for a 1, r for a 0."""
        ENTER = shape.code("ENTER")
        X1_B, X1_R = (select(shape.x1_sources, name) for name in ("b", "r"))
        Y1_B, Y1_R, Y1_UNITY = (select(shape.y1_sources, name) for name in ("b", "r", "1"))
        BOTH = shape.enters_both
        s.issue_bit = Wire()
        if shape.plan.forward:

            @update
            def bit_of_issued_products():
                s.issue_bit @= s.dpath.next_bit if s.advance else s.bit_now

        else:
            s.issue_bit //= s.bit_now

        # countermeasure LADDER: every bit takes two products, and only selects the register that is squared
        @update
        def squared_factor():
            s.dpath.x1_sel @= X1_B if s.issue_bit else X1_R
            s.dpath.y1_sel @= Y1_B if s.issue_bit else Y1_R
            if BOTH:
                if s.issue_st == ENTER:
                    s.dpath.x1_sel @= X1_R
                    s.dpath.y1_sel @= Y1_UNITY

    # ---- registers

    def load_r(s, shape):
        CONVERT_ONE, CONSTANT, ENTER = map(shape.code, ("CONVERT_ONE", "CONSTANT", "ENTER"))
        IDLE, COPY, MULTIPLY, STEP = map(shape.code, ("IDLE", "COPY", "MULTIPLY", "STEP"))
        BOTH, RESTARTS = shape.enters_both, not (shape.enters_both or shape.enters_apart)
        ALWAYS, LADDER = shape.always, shape.ladder
        R_ONE, R_CONVERTED, R_B, R_PRODUCT_0, R_PRODUCT_1 = (
            select(shape.r_sources, name)
            for name in ("one", "converted", "b", shape.product(0), shape.product(1))
        )
        LAST = shape.nproducts - 1

        @update
        def result_register():
            s.dpath.r_en @= s.product_val[0]
            s.dpath.r_sel @= R_PRODUCT_0
            if s.st == IDLE:
                s.dpath.r_en @= s.dpath.load
                s.dpath.r_sel @= R_ONE
            elif (s.st == CONVERT_ONE) | (s.st == CONSTANT):
                s.dpath.r_en @= s.convert_done
                s.dpath.r_sel @= R_CONVERTED
            elif s.st == ENTER:
                s.dpath.r_en @= 0
                if BOTH:
                    s.dpath.r_en @= s.product_val[LAST]
                    s.dpath.r_sel @= R_PRODUCT_1
                if RESTARTS:  # the constant was R^2
                    s.dpath.r_en @= s.issue.done
                    s.dpath.r_sel @= R_ONE
            elif s.st == COPY:
                s.dpath.r_en @= 1
                s.dpath.r_sel @= R_B
            elif s.st == MULTIPLY:
                if ALWAYS:
                    # countermeasure ALWAYS_MULTIPLY: a 0 takes a product as well, which is not stored
                    s.dpath.r_en @= s.product_val[0] & s.bit_now
            elif s.st == STEP:
                if LADDER:
                    if ~s.bit_now:
                        s.dpath.r_en @= s.product_val[LAST]
                        s.dpath.r_sel @= R_PRODUCT_1

    def load_b(s, shape):
        IDLE, CONVERT, ENTER, REDUCE, STEP = map(shape.code, ("IDLE", "CONVERT", "ENTER", "REDUCE", "STEP"))
        LADDER, LAST = shape.ladder, shape.nproducts - 1
        B_BASE, B_CONVERTED, B_PRODUCT_0, B_PRODUCT_1 = (
            select(shape.b_sources, name)
            for name in ("base", "converted", shape.product(0), shape.product(1))
        )
        if len(shape.b_sources) == 1:
            s.dpath.b_en //= s.dpath.load
            return

        @update
        def base_register():
            s.dpath.b_en @= 0
            s.dpath.b_sel @= B_BASE
            if s.st == IDLE:
                s.dpath.b_en @= s.dpath.load
            elif s.st == CONVERT:
                s.dpath.b_en @= s.convert_done
                s.dpath.b_sel @= B_CONVERTED
            elif (s.st == ENTER) | (s.st == REDUCE):
                s.dpath.b_en @= s.product_val[0]
                s.dpath.b_sel @= B_PRODUCT_0
            elif s.st == STEP:
                s.dpath.b_en @= s.product_val[LAST]
                s.dpath.b_sel @= B_PRODUCT_1
                if LADDER:
                    if ~s.bit_now:
                        s.dpath.b_en @= s.product_val[0]
                        s.dpath.b_sel @= B_PRODUCT_0

    def line_trace(s):
        longest = max(map(len, states_of(s).codes))
        return f"{state_name(s, s.st):{longest}s}"
