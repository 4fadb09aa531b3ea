"""ModExpCtrl: the control of a ModExp (mod_exp.py), a sequence of steps.

A step is one or two products, called 0 and 1, and ends (`advance`) when all its products have come back.
unsent[i]: product i has still to be sent; awaited[i]: it has still to come back. With plan.forward the products of the next step
are sent in the cycle in which this one's last product arrives, from the values that acc and bas are about to take;
otherwise in the cycle after.

Ports: the two streams, the units' handshakes, the doubler's, and wires to ModExpDpath, named there as here.
"""

from pymtl3 import *

from ...fl.status import STATUS_NBITS
from ..states import states
from .mod_exp_plan import STATE_NBITS, State

# Where acc and bas take their next value from.
SOURCE_NBITS = 3
HOLD, PRODUCT_0, PRODUCT_1, SETUP_RESULT, ONE, BASE = (mk_bits(SOURCE_NBITS)(i) for i in range(6))
# The second factor of a product.
FACTOR_NBITS = 2
ACC, BAS, UNITY = (mk_bits(FACTOR_NBITS)(i) for i in range(3))


def constants(*named):
    """States as words of the state register, for update blocks; a plan does not reach all of them."""
    return tuple(mk_bits(STATE_NBITS)(int(state)) for state in named)


class ModExpCtrl(Component):
    def construct(s, plan):
        s.istream_val = InPort()
        s.istream_rdy = OutPort()
        s.in_status = InPort(STATUS_NBITS)
        s.ostream_val = OutPort()
        s.ostream_rdy = InPort()
        s.out_status = OutPort(STATUS_NBITS)

        s.req_val = [OutPort() for _ in range(plan.nunits)]
        s.req_rdy = [InPort() for _ in range(plan.nunits)]
        s.resp_val = [InPort() for _ in range(plan.nunits)]

        s.st = Wire(STATE_NBITS)
        if plan.dpath_sees_state:
            s.state_now = OutPort(STATE_NBITS)
            s.state_now //= s.st
        s.accept = OutPort()  # an operation arrives
        s.load = OutPort()  # ... and can be computed
        s.shift = OutPort()  # the exponent moves by a bit
        s.acc_from = OutPort(SOURCE_NBITS)
        s.bas_from = OutPort(SOURCE_NBITS)
        s.x1 = OutPort()  # the first factor of product 1: bas, else acc; that of product 0 is always acc
        s.y0 = OutPort(FACTOR_NBITS)
        s.y1 = OutPort(FACTOR_NBITS)

        # the exponent as it will be after this cycle (_n), and as it is
        s.finished_n = InPort()  # no bit is left
        if plan.aligns:
            s.aligned_n = InPort()  # the top bit is in place
        else:
            s.aligned_n = Wire()
            s.aligned_n //= 1
        s.bit_n = InPort()
        if not plan.right_to_left:
            s.bit_now = InPort()

        IDLE, SETUP, SETUP_ONE, SQUARE, ENTER = constants(
            State.IDLE, State.SETUP, State.SETUP_ONE, State.SQUARE, State.ENTER
        )
        ALIGN, TOP, LOOP, LEAVE, DONE = constants(State.ALIGN, State.TOP, State.LOOP, State.LEAVE, State.DONE)

        s.unsent = [Wire() for _ in range(2)]
        s.awaited = [Wire() for _ in range(2)]
        s.arrived = [Wire() for _ in range(2)]
        s.step_done = Wire()
        s.setup_rdy = Wire()
        s.setup_done = Wire()
        s.waits_for_none = Wire()
        s.advance = Wire()
        s.next_st = Wire(STATE_NBITS)
        s.path_st = Wire(STATE_NBITS)
        s.next_products = [Wire() for _ in range(2)]

        @update
        def handshakes():
            s.istream_rdy @= (s.st == IDLE) & s.setup_rdy
            s.ostream_val @= s.st == DONE
            s.accept @= s.istream_val & s.istream_rdy
            s.load @= s.accept & (s.in_status == 0)

        # ---- the end of a step: two units answer separately, one unit answers in order

        if plan.nunits == 2:

            @update
            def arrivals_of_two():
                for i in range(2):
                    s.arrived[i] @= s.resp_val[i] & s.awaited[i]

        else:

            @update
            def arrivals_in_order():
                s.arrived[0] @= s.resp_val[0] & s.awaited[0]
                s.arrived[1] @= s.resp_val[0] & ~s.awaited[0] & s.awaited[1]

        # (three blocks, so that no tool sees a loop from shift over aligned_n to advance)
        @update
        def ends_step():
            s.step_done @= (
                (s.awaited[0] | s.awaited[1])
                & (~s.awaited[0] | s.arrived[0])
                & (~s.awaited[1] | s.arrived[1])
            )

        @update
        def moves_exponent():
            s.shift @= (s.step_done & s.in_loop) | ((s.st == TOP) & ~s.reduces_top)

        @update
        def ends_state():
            s.waits_for_none @= ((s.st == ALIGN) & s.aligned_n) | ((s.st == TOP) & ~s.reduces_top)
            s.advance @= s.accept | s.setup_done | s.step_done | s.waits_for_none

        # ---- the next state: a path fixed by the plan, then what the exponent has to say

        AFTER_IDLE, AFTER_SETUP, AFTER_LOOP = constants(
            *(plan.after(state) for state in (State.IDLE, State.SETUP, State.LOOP))
        )

        s.nsquarings = Wire(clog2(plan.squarings + 2))

        @update
        def path():
            s.path_st @= DONE
            if s.st == IDLE:
                s.path_st @= AFTER_IDLE
            elif s.st == SETUP:
                s.path_st @= AFTER_SETUP
            elif s.st == SQUARE:
                s.path_st @= SQUARE
                if s.nsquarings == 1:
                    s.path_st @= ENTER
            elif (s.st == SETUP_ONE) | (s.st == ENTER) | (s.st == ALIGN) | (s.st == TOP) | (s.st == LOOP):
                s.path_st @= LOOP

        if plan.squarings:
            SQUARINGS = plan.squarings

            @update_ff
            def count_squarings():
                if s.st == IDLE:
                    s.nsquarings <<= SQUARINGS
                elif s.step_done & (s.st == SQUARE):
                    s.nsquarings <<= s.nsquarings - 1

        else:
            s.nsquarings //= 0

        # paper 001 looks at the exponent only behind a step; a gate more in the others would move their netlists
        if plan.steps_once:

            @update
            def next_state_after_a_step():
                s.next_st @= s.path_st
                if s.accept & ~s.load:
                    s.next_st @= DONE
                elif s.path_st == LOOP:
                    if ~s.aligned_n & ~s.in_loop:
                        s.next_st @= ALIGN
                    elif s.finished_n & s.in_loop:
                        s.next_st @= AFTER_LOOP
                    elif s.takes_top & ~s.in_loop:
                        s.next_st @= TOP

        else:

            @update
            def next_state():
                s.next_st @= s.path_st
                if s.accept & ~s.load:
                    s.next_st @= DONE
                elif s.path_st == LOOP:
                    if ~s.aligned_n & ~s.in_loop:
                        s.next_st @= ALIGN
                    elif s.finished_n:
                        s.next_st @= AFTER_LOOP
                    elif s.takes_top & ~s.in_loop:
                        s.next_st @= TOP

        s.takes_top = Wire()
        s.takes_top //= int(plan.takes_top)
        s.reduces_top = Wire()
        s.reduces_top //= int(plan.reduces_top)
        s.in_loop = Wire()

        @update
        def within_loop():
            s.in_loop @= (s.st == LOOP) | (s.st == TOP)

        # ---- the products of the next step

        ENTERS_ONE = int(plan.enters_one)
        s.loop_products = [Wire() for _ in range(2)]
        s.loop_products[0] //= s.bit_n if plan.right_to_left else 1
        s.loop_products[1] //= s.bit_n if plan.schedule == "left-to-right" else 1

        @update
        def products_of_next():
            s.next_products[0] @= (s.next_st == SQUARE) | (s.next_st == ENTER) | (s.next_st == LEAVE)
            s.next_products[1] @= 0
            if s.next_st == LOOP:
                s.next_products[0] @= s.loop_products[0]
                s.next_products[1] @= s.loop_products[1]
            elif s.next_st == ENTER:
                s.next_products[1] @= ENTERS_ONE
            elif s.next_st == TOP:
                s.next_products[1] @= s.reduces_top

        # ---- sending: this step's products, or already the next one's

        s.send = [Wire() for _ in range(2)]
        s.sent = [Wire() for _ in range(2)]

        @update
        def sending():
            for i in range(2):
                s.send[i] @= s.unsent[i]
            if s.forwards:
                for i in range(2):
                    s.send[i] @= s.next_products[i]

        # without a way into a representation and out of it, every step has the same factors
        same_factors = not {"SQUARE", "ENTER", "LEAVE"} & plan.states.keys()
        s.send_st = Wire(STATE_NBITS)
        if same_factors:
            s.send_st //= s.st
        else:

            @update
            def sending_step():
                s.send_st @= s.st
                if s.forwards:
                    s.send_st @= s.next_st

        states(s, "st", "next_st", "path_st", "send_st", **plan.states)

        # not on arrival: the units see the modulus from the next cycle on
        s.forward = Wire()
        s.forward //= int(plan.forward)
        s.forwards = Wire()

        @update
        def forwarding():
            s.forwards @= s.forward & s.advance & ~s.accept

        if plan.nunits == 2:
            # both units are idle when a step begins, so both requests fire in its first cycle
            @update
            def requests_to_two():
                for i in range(2):
                    s.req_val[i] @= s.send[i]
                    s.sent[i] @= s.send[i] & s.req_rdy[i]

        else:
            s.second = OutPort()  # product 1 is on the unit's port, not product 0
            s.second_ready = Wire()

            if plan.dependent:

                @update
                def second_waits():
                    s.second_ready @= ~s.awaited[0]
                    if s.forward:
                        s.second_ready @= ~s.awaited[0] | s.arrived[0]

            else:
                s.second_ready //= 1

            @update
            def requests_in_turn():
                s.second @= ~s.send[0]
                s.sent[0] @= s.send[0] & s.req_rdy[0]
                s.sent[1] @= s.second & s.send[1] & s.second_ready & s.req_rdy[0]
                s.req_val[0] @= s.send[0] | (s.send[1] & s.second_ready)

        # ---- factors of the products sent, destinations of those that arrive

        s.new_acc = Wire(SOURCE_NBITS)
        s.new_bas = Wire(SOURCE_NBITS)

        if plan.right_to_left:
            # the result starts as 1 out of Montgomery form, or product 1 of ENTER makes it R mod n
            entered_acc = HOLD if plan.enters_one else ONE

            # acc = acc * bas if the bit is 1;  bas = bas * bas
            if not same_factors:

                @update
                def factors_right_to_left():
                    s.x1 @= 1
                    s.y0 @= BAS
                    s.y1 @= BAS
                    if s.send_st == SQUARE:
                        s.y0 @= ACC
                    elif s.send_st == ENTER:
                        s.x1 @= 0
                        s.y1 @= UNITY
                    elif s.send_st == LEAVE:
                        s.y0 @= UNITY

            else:  # constants, so that unit 1 is a squarer and no factor needs a multiplexer

                @update
                def factors_of_the_loop():
                    s.x1 @= 1
                    s.y0 @= BAS
                    s.y1 @= BAS

            @update
            def destinations_right_to_left():
                s.new_acc @= HOLD
                s.new_bas @= HOLD
                if s.st == ENTER:
                    if s.arrived[0]:
                        s.new_bas @= PRODUCT_0
                        s.new_acc @= entered_acc
                    if s.arrived[1]:
                        s.new_acc @= PRODUCT_1
                else:
                    if s.arrived[0]:
                        s.new_acc @= PRODUCT_0
                    if s.arrived[1]:
                        s.new_bas @= PRODUCT_1

        elif (
            plan.schedule == "ladder"
        ):  # (acc, bas) = (acc * bas, bas^2) if the bit is 1, else (acc^2, acc * bas)
            s.send_bit = Wire()

            @update
            def sending_bit():
                s.send_bit @= s.bit_now
                if s.forwards:
                    s.send_bit @= s.bit_n

            @update
            def factors_ladder():
                s.x1 @= s.send_bit
                s.y0 @= BAS
                s.y1 @= ACC
                if s.send_bit:
                    s.y1 @= BAS
                if s.send_st == SQUARE:
                    s.y0 @= ACC
                elif s.send_st == ENTER:
                    s.x1 @= 0
                    s.y1 @= UNITY
                elif s.send_st == LEAVE:
                    s.y0 @= UNITY

            @update
            def destinations_ladder():
                s.new_acc @= HOLD
                s.new_bas @= HOLD
                if (s.st == ENTER) | ((s.st == LOOP) & ~s.bit_now):
                    if s.arrived[0]:
                        s.new_bas @= PRODUCT_0
                    if s.arrived[1]:
                        s.new_acc @= PRODUCT_1
                else:
                    if s.arrived[0]:
                        s.new_acc @= PRODUCT_0
                    if s.arrived[1]:
                        s.new_bas @= PRODUCT_1

        else:  # left-to-right, always: acc = acc^2, then acc = acc * bas if the bit is 1

            @update
            def factors_left_to_right():
                s.x1 @= 0
                s.y0 @= ACC
                s.y1 @= BAS
                if s.send_st == ENTER:
                    s.y0 @= BAS
                    s.y1 @= UNITY
                elif s.send_st == LEAVE:
                    s.y0 @= UNITY

            @update
            def destinations_left_to_right():
                s.new_acc @= HOLD
                s.new_bas @= HOLD
                if s.arrived[0] & (s.st == ENTER):
                    s.new_bas @= PRODUCT_0
                elif s.arrived[0]:
                    s.new_acc @= PRODUCT_0
                elif s.arrived[1] & ((s.bit_now & (s.st == LOOP)) | (s.st == ENTER)):
                    s.new_acc @= PRODUCT_1
                elif s.st == TOP:
                    s.new_acc @= BASE
                    if s.reduces_top:
                        s.new_acc @= HOLD
                        if s.arrived[1]:
                            s.new_acc @= PRODUCT_1
                            s.new_bas @= PRODUCT_1

        # ---- doublings before the loop: the base doubled goes to bas, 1 doubled goes to acc

        if plan.has_setup:
            s.setup_req_val = OutPort()
            s.setup_req_rdy = InPort()
            s.setup_resp_val = InPort()
            s.setup_rdy //= s.setup_req_rdy
            s.setup_done //= s.setup_resp_val
            s.base_doubled = Wire()
            s.base_doubled //= int(plan.conversion == "double")

            @update
            def setup_requests():
                s.setup_req_val @= s.advance & ((s.next_st == SETUP) | (s.next_st == SETUP_ONE))

            @update
            def sources():
                s.acc_from @= s.new_acc
                s.bas_from @= s.new_bas
                if s.setup_done:
                    if s.base_doubled & (s.st == SETUP):
                        s.bas_from @= SETUP_RESULT
                    else:
                        s.acc_from @= SETUP_RESULT

        else:
            s.setup_rdy //= 1
            s.setup_done //= 0
            s.acc_from //= s.new_acc
            s.bas_from //= s.new_bas

        # ---- registers

        @update_ff
        def state():
            if s.reset:
                s.st <<= IDLE
                for i in range(2):
                    s.unsent[i] <<= 0
                    s.awaited[i] <<= 0
            else:
                for i in range(2):
                    s.unsent[i] <<= s.send[i] & ~s.sent[i]
                    s.awaited[i] <<= s.awaited[i] & ~s.arrived[i]
                if s.advance:
                    s.st <<= s.next_st
                    for i in range(2):
                        s.awaited[i] <<= s.next_products[i]
                        if ~s.forwards:
                            s.unsent[i] <<= s.next_products[i]
                elif s.ostream_val & s.ostream_rdy:
                    s.st <<= IDLE

        s.status = Wire(STATUS_NBITS)
        s.out_status //= s.status

        @update_ff
        def remember_status():
            if s.accept:
                s.status <<= s.in_status
