"""SerialExpCtrl: the controller of a SerialExp (serial_exp.py). An operation takes one word per cycle.

FREE     wait for a request; a request that cannot be computed is answered at once
LOAD     modulus and base go into the memories, M cycles; the request is accepted in the last one
INVERT   c = -n^-1, k cycles
SCALE    M' = (c n + 1) / 2^k, M cycles
DOUBLE   2 Y or 2 Y - n, M + 2 cycles, until Y is R 2^t modulo n, which SQUARES make R^2; the leading zeros of
         the exponent are shifted out at the same time
DIGIT    fetch a word of x
STEP     one digit of a product, M cycles; a product is L + 1 steps, with a DIGIT before each word of x
FIXQ     the quotient digit modulo n
FIX      (v + q n) / 2^k, M + 2 cycles
REDUCE   Y or Y - n, twice
READ     the result goes into the exponent's register, M cycles
DONE     the answer is offered

`turn` names the product: SQUARES to R^2, ENTER the base, ENTER_ONE, SQUARE and MULTIPLY for each bit of the
exponent, LEAVE.
"""

from enum import IntEnum

from pymtl3 import *

from ....fl.status import STATUS_NBITS
from ...states import state_name, states
from ...units.serial_ctrl import accept_when_loaded, declare_handshakes

OP_NBITS = 4
Op = IntEnum("Op", "FREE LOAD INVERT SCALE DOUBLE DIGIT STEP FIXQ FIX REDUCE READ DONE", start=0)
FREE, LOAD, INVERT, SCALE, DOUBLE, DIGIT, STEP, FIXQ, FIX, REDUCE, READ, DONE = map(mk_bits(OP_NBITS), Op)
TURN_NBITS = 3
Turn = IntEnum("Turn", "SQUARES ENTER ENTER_ONE SQUARE MULTIPLY LEAVE", start=0)
SQUARES, ENTER, ENTER_ONE, SQUARE, MULTIPLY, LEAVE = map(mk_bits(TURN_NBITS), Turn)


class SerialExpCtrl(Component):
    def construct(s, shape):
        M, k, nbits = shape.nwords, shape.digit_nbits, shape.nbits
        index_nbits = clog2(M)

        declare_handshakes(s, STATUS_NBITS)
        s.accept = OutPort()
        s.exp_top = InPort()
        s.shift_exp = OutPort()
        s.op = OutPort(OP_NBITS)
        s.turn = OutPort(TURN_NBITS)
        s.index = OutPort(index_nbits)  # index of the word; in DIGIT of the word of x
        s.fetch = OutPort()
        s.first_step = OutPort()
        s.last_step = OutPort()

        s.st = Wire(OP_NBITS)
        s.next_st = Wire(OP_NBITS)
        states(s.st, s.next_st, **Op.__members__)
        s.op //= s.st
        s.next_turn = Wire(TURN_NBITS)
        s.count = Wire(clog2(max(M + 2, k)))
        s.step = Wire(clog2(shape.scaled.nsteps))
        s.in_word = Wire(clog2(shape.word_nbits // k))  # place of the digit in its word of x
        s.group = Wire(index_nbits)
        s.times = Wire(clog2(max(shape.doublings, 2)))
        s.nleft = Wire(clog2(nbits + 1))
        s.ends = Wire()  # the operation's last cycle
        s.product_ends = Wire()

        accept_when_loaded(s, FREE, LOAD, DONE)
        s.assertions = {"TurnIsKnown": f"st < DIGIT || turn <= {int(LEAVE)}"}
        s.outputs(shape)
        s.transitions(shape)
        s.turns(shape)
        s.registers(shape)
        s.counters(shape)

    def outputs(s, shape):
        """The last cycle of the operation, the word that it fetches, and the ends of steps and products."""
        M, index_nbits = shape.nwords, clog2(shape.nwords)
        LAST, BUBBLE, LAST_BIT = M - 1, M + 1, shape.digit_nbits - 1
        LAST_STEP = shape.scaled.nsteps - 1

        @update
        def lasts():
            s.ends @= 1
            if (s.st == LOAD) | (s.st == SCALE) | (s.st == STEP) | (s.st == READ):
                s.ends @= s.count == LAST
            elif (s.st == DOUBLE) | (s.st == FIX) | (s.st == REDUCE):
                s.ends @= s.count == BUBBLE
            elif s.st == INVERT:
                s.ends @= s.count == LAST_BIT

        @update
        def fetches():
            s.index @= 0
            if s.st == DIGIT:
                s.index @= s.group
            elif s.count < M:
                s.index @= trunc(s.count, index_nbits)
            s.fetch @= (s.st == SCALE) | (s.st == STEP) | (s.st == FIXQ)
            if (s.st == DOUBLE) | (s.st == FIX) | (s.st == REDUCE):
                s.fetch @= s.count < M

        @update
        def ends_of_steps():
            s.first_step @= s.step == 0
            s.last_step @= s.step == LAST_STEP
            s.product_ends @= (s.st == STEP) & s.ends & s.last_step
            s.shift_exp @= (s.turn == MULTIPLY) & s.product_ends
            if s.st == DOUBLE:
                s.shift_exp @= ~s.exp_top & (s.nleft != 0)

    def transitions(s, shape):
        """The operation after this one."""
        LAST_PASS, LAST_STEP = shape.doublings - 1, shape.scaled.nsteps - 1
        LAST_IN_WORD = shape.word_nbits // shape.digit_nbits - 1

        @update
        def next_operation():
            s.next_st @= s.st
            if s.st == FREE:
                if s.istream_val:
                    s.next_st @= LOAD
                    if ~s.good:
                        s.next_st @= DONE
            elif s.st == DONE:
                if s.ostream_rdy:
                    s.next_st @= FREE
            elif s.ends:
                if s.st == LOAD:
                    s.next_st @= INVERT
                elif s.st == INVERT:
                    s.next_st @= SCALE
                elif s.st == SCALE:
                    s.next_st @= DOUBLE
                elif s.st == DOUBLE:
                    if s.times == LAST_PASS:
                        s.next_st @= DIGIT
                elif s.st == DIGIT:
                    s.next_st @= STEP
                elif s.st == STEP:
                    if s.last_step:
                        s.next_st @= DIGIT
                        if s.turn == LEAVE:
                            s.next_st @= FIXQ
                    elif (s.in_word == LAST_IN_WORD) & (s.step != LAST_STEP - 1):
                        s.next_st @= DIGIT
                elif s.st == FIXQ:
                    s.next_st @= FIX
                elif s.st == FIX:
                    s.next_st @= REDUCE
                elif s.st == REDUCE:
                    if s.times == 1:
                        s.next_st @= READ
                elif s.st == READ:
                    s.next_st @= DONE

    def turns(s, shape):
        """The product after this one."""
        LAST_SQUARING = shape.squarings - 1

        @update
        def next_product():
            s.next_turn @= s.turn
            if s.turn == SQUARES:
                if s.times == LAST_SQUARING:
                    s.next_turn @= ENTER
            elif s.turn == ENTER:
                s.next_turn @= ENTER_ONE
            elif s.turn == SQUARE:
                s.next_turn @= MULTIPLY
            elif (s.turn == ENTER_ONE) | (s.turn == MULTIPLY):
                s.next_turn @= SQUARE
                if ((s.turn == ENTER_ONE) & (s.nleft == 0)) | ((s.turn == MULTIPLY) & (s.nleft == 1)):
                    s.next_turn @= LEAVE

    def registers(s, shape):
        """The operation, its product, and the status of the request."""
        FIRST_TURN = SQUARES if shape.squarings else ENTER

        @update_ff
        def state():
            if s.reset:
                s.st <<= FREE
            else:
                s.st <<= s.next_st
            if s.st == SCALE:
                s.turn <<= FIRST_TURN
            elif s.product_ends:
                s.turn <<= s.next_turn
            if s.accept:
                s.out_status <<= s.in_status

    def counters(s, shape):
        """Cycles, steps, digits, words, passes, and the bits left of the exponent."""
        LAST_PASS, nbits = shape.doublings - 1, shape.nbits

        @update_ff
        def counts():
            s.count <<= s.count + 1
            if s.ends | (s.st == FREE):
                s.count <<= 0
            if s.st != STEP:
                if s.st != DIGIT:
                    s.step <<= 0
            elif s.ends:
                s.step <<= s.step + 1
                if s.last_step:
                    s.step <<= 0
            if s.st == DIGIT:
                s.in_word <<= 0
            elif (s.st == STEP) & s.ends:
                s.in_word <<= s.in_word + 1
            if (s.st == SCALE) | s.product_ends:
                s.group <<= 0
            elif s.st == DIGIT:
                s.group <<= s.group + 1
            if s.st == SCALE:
                s.times <<= 0
            elif (s.st == DOUBLE) & s.ends:
                s.times <<= s.times + 1
                if s.times == LAST_PASS:
                    s.times <<= 0
            elif s.product_ends:
                s.times <<= 0
                if s.turn == SQUARES:
                    s.times <<= s.times + 1
            elif (s.st == REDUCE) & s.ends:
                s.times <<= s.times + 1

        @update_ff
        def bits_left():
            if s.accept:
                s.nleft <<= nbits
            elif s.shift_exp:
                s.nleft <<= s.nleft - 1

    def line_trace(s):
        return f"{state_name(s, s.st)} {int(s.turn)} {int(s.step)}.{int(s.count)}"
