"""SerialExp: square and multiply always in words, on two multipliers of a digit by a word.

Paper 003's processor adds bits; this machine multiplies digits. A step of a product uses a digit of k bits,
and base, exponent and modulus are the only inputs. A product is a * b / R modulo M =
c n with M = -1 modulo 2^k, so that its quotient digits are digits of the state, and M' = (M + 1) / 2^k.
Doublings of 1 and squarings make R^2; products with it bring base and 1 into the domain. The last product is
with 2^k, which FIX divides out modulo n, and two subtractions end below n (fl/multipliers/scaled_serial.py).

Six memories of M words: n, M', x
(the base), Y (the power) and U, and what becomes Y - n; Y and U change places where a difference is kept
(`swapped`). The exponent's register takes the result at last.

A request is taken when its numbers are in the memories, M + 1 cycles after it is offered.

Ports: istream {base, exp, mod} -> ostream {status, result}; an odd modulus, a base below it. Cycles:
modexlab.cl.digit_serial has the closed formula. Constant time for all exponents of a length. Area order: two
k x S multipliers, 5 M words of memory, the exponent.
"""

from enum import IntEnum

from pymtl3 import *

from ...messages import answer_stays, declare_streams, mk_modexp_req, mk_modexp_resp
from ...units.serial.digit_inverse import DigitInverse
from ...units.serial.digit_memory import DigitMemory
from ...units.serial.word_multiplier import TO_NBITS, WordMultiplier
from ...units.serial_ctrl import answer_if_ok, connect_checked
from ...wires import connect_words
from ..operand_check import check_operands
from .serial_exp_ctrl import (
    DIGIT,
    DOUBLE,
    ENTER,
    ENTER_ONE,
    FIX,
    FIXQ,
    LEAVE,
    LOAD,
    MULTIPLY,
    OP_NBITS,
    READ,
    REDUCE,
    SCALE,
    STEP,
    SerialExpCtrl,
)

# where a word is written; EVEN and ODD are Y and U, or U and Y where they have changed places
Destination = IntEnum("Destination", "NOWHERE EVEN ODD TO_X TO_SCALED", start=0)
NOWHERE, EVEN, ODD, TO_X, TO_SCALED = map(mk_bits(TO_NBITS), Destination)


class SerialExp(Component):
    """Square and multiply always on words in memories, with two multipliers of a digit by a word."""

    def construct(s, shape):
        nbits, S, M = shape.nbits, shape.word_nbits, shape.nwords
        declare_streams(s, mk_modexp_req(nbits), mk_modexp_resp(nbits))

        s.ctrl = SerialExpCtrl(shape)
        check_operands(s, nbits)
        connect_checked(s)
        modulus = ", ".join(f"memory_n.digits[{M - 1 - i}]" for i in range(M))
        answer_stays(s, f"{nbits}'({{{modulus}}})")
        k = shape.digit_nbits
        s.assertions |= {
            "InverseOfModulus": f"op != {int(SCALE)} || ctrl__index != 0 || "
            f"&{k}'(memory_n__digit * inverse__c)"
        }
        s.op = Wire(OP_NBITS)
        s.op //= s.ctrl.op
        s.in_base, s.in_mod = ([Wire(S) for _ in range(M)] for _ in range(2))
        connect_words(s.istream.msg.base, s.in_base)
        connect_words(s.istream.msg.mod, s.in_mod)

        memories = [DigitMemory(M, S) for _ in range(5)]
        # words of n, M' and x (the base in its form), and of Y and U, which trade places
        s.memory_n, s.memory_scaled, s.memory_x, s.memory_even, s.memory_odd = memories
        for memory in memories:
            memory.index //= s.ctrl.index

        s.multiplier = WordMultiplier(shape)  # u + q * c + x * y, a word per cycle
        s.multiplier.fetch //= s.ctrl.fetch
        s.multiplier.index //= s.ctrl.index
        s.inverse = DigitInverse(shape.digit_nbits)  # c = -1 / n modulo 2^k
        s.inverse.load //= s.ctrl.accept
        s.inverse.n //= s.istream.msg.mod[0 : shape.digit_nbits]

        s.swapped = Wire()
        s.y = Wire(S)
        s.u = Wire(S)
        s.operand = Wire(S)  # Y, or 2 Y
        s.fetch(S)
        s.destinations()
        s.digits_of_factors(S, shape.digit_nbits, M - 1)
        s.write_back(S, M - 1)
        s.exponent(nbits, S, shape.wide)
        answer_if_ok(s, s.exp[0:nbits])

    def exponent(s, nbits, S, wide):
        """The register of the exponent, which takes the result at last."""
        s.exp = Wire(wide)  # replaced by the result
        s.in_exp = Wire(wide)
        EXP_LOW = wide - nbits
        s.in_exp[EXP_LOW:wide] //= s.istream.msg.exp
        if EXP_LOW:
            s.in_exp[0:EXP_LOW] //= 0
        s.ctrl.exp_top //= s.exp[wide - 1]

        @update_ff
        def exponent():
            if s.ctrl.accept:
                s.exp <<= s.in_exp
            elif s.ctrl.shift_exp:
                s.exp <<= s.exp << 1
            elif s.op == READ:
                s.exp <<= concat(s.y, s.exp[S:wide])

    def fetch(s, S):
        """The words that enter the multiplier."""
        TOP = S - 1
        s.top_of_y = Wire()
        s.subtracts = Wire()

        @update
        def read_words():
            s.y @= s.memory_even.digit
            s.u @= s.memory_odd.digit
            if s.swapped:
                s.y @= s.memory_odd.digit
                s.u @= s.memory_even.digit

        @update
        def double():
            s.subtracts @= (s.op == DOUBLE) | (s.op == REDUCE)
            s.operand @= s.y
            if s.op == DOUBLE:
                s.operand @= s.y << 1
                if s.ctrl.index != 0:
                    s.operand @= (s.y << 1) | zext(s.top_of_y, S)

        @update_ff
        def keep_top():
            s.top_of_y <<= s.y[TOP]

        @update
        def operands():
            s.multiplier.u @= s.operand
            if s.op == STEP:
                s.multiplier.u @= s.u
                if s.ctrl.first_step:
                    s.multiplier.u @= 0
            elif (s.op == SCALE) | (s.op == FIXQ):
                s.multiplier.u @= 0
            s.multiplier.c @= s.memory_n.digit
            if s.subtracts:
                s.multiplier.c @= ~s.memory_n.digit
            elif s.op == STEP:
                s.multiplier.c @= s.memory_scaled.digit
            s.multiplier.y @= s.y
            s.multiplier.carry_in @= s.subtracts | (s.op == SCALE)
            s.multiplier.shifts @= ~s.subtracts & ~((s.op == STEP) & s.ctrl.last_step)

    def destinations(s):
        """The memory to which the sum of the multiplier goes."""
        s.product_to = Wire(TO_NBITS)

        @update
        def destinations():
            s.product_to @= ODD if s.swapped else EVEN
            s.multiplier.to @= NOWHERE
            if s.op == SCALE:
                s.multiplier.to @= TO_SCALED
            elif s.subtracts | ((s.op == STEP) & ~s.ctrl.last_step):
                s.multiplier.to @= EVEN if s.swapped else ODD
            elif s.op == FIX:
                s.multiplier.to @= s.product_to
            elif s.op == STEP:
                s.multiplier.to @= s.product_to
                if s.ctrl.turn == ENTER:
                    s.multiplier.to @= TO_X
                elif (s.ctrl.turn == MULTIPLY) & ~s.ctrl.exp_top:
                    s.multiplier.to @= NOWHERE

    def digits_of_factors(s, S, k, LAST):
        """The digits q and x, a cycle later: q is the low one of the sum before, x the next one of a word."""
        s.adds_op = Wire(OP_NBITS)
        s.adds_last = Wire()
        s.q = Wire(k)
        s.next_q = Wire(k)
        s.word = Wire(S)
        s.digits = Wire(S)

        @update
        def multiplicands():
            s.multiplier.q @= s.q
            if s.adds_op == SCALE:
                s.multiplier.q @= s.inverse.c
            elif (s.adds_op == DOUBLE) | (s.adds_op == REDUCE):
                s.multiplier.q @= 1
            elif s.adds_op == FIXQ:
                s.multiplier.q @= 0
            s.multiplier.x @= 0
            if (s.adds_op == STEP) & ~s.adds_last:
                s.multiplier.x @= s.digits[0:k]
            elif s.adds_op == FIXQ:
                s.multiplier.x @= s.inverse.c

        @update
        def word_of_x():
            s.word @= s.y
            if (s.ctrl.turn == ENTER) | (s.ctrl.turn == MULTIPLY):
                s.word @= s.memory_x.digit
            elif s.ctrl.turn == ENTER_ONE:
                s.word @= zext(s.ctrl.index == 0, S)
            elif s.ctrl.turn == LEAVE:
                s.word @= zext(s.ctrl.index == 0, S) << k

        @update_ff
        def next_digits():
            s.adds_op <<= s.op
            s.adds_last <<= s.ctrl.last_step
            if s.op == DIGIT:
                s.digits <<= s.word
                if s.ctrl.first_step:
                    s.q <<= 0
            elif (s.adds_op == STEP) & (s.multiplier.adds_index == LAST):
                s.digits <<= s.digits >> k
            if s.multiplier.adds & (s.multiplier.adds_index == 0):
                s.next_q <<= s.multiplier.low_digit
            if s.adds_op == FIXQ:
                s.q <<= s.multiplier.low_digit
            elif (s.adds_op == STEP) & (s.multiplier.adds_index == LAST):
                if ~(s.op == DIGIT) | ~s.ctrl.first_step:
                    s.q <<= s.next_q

    def write_back(s, S, LAST):
        """Operands when they arrive, then sums. Y is doubled in place; 1 is doubled at first."""
        s.doubled_even = Wire()
        s.doubled_odd = Wire()
        s.memory_n.write_index //= s.ctrl.index
        s.memory_scaled.write_index //= s.multiplier.write_index
        s.memory_scaled.write_digit //= s.multiplier.write_word

        @update
        def write_constants():
            s.memory_n.write @= s.op == LOAD
            s.memory_n.write_digit @= s.in_mod[s.ctrl.index]
            s.memory_scaled.write @= s.multiplier.write & (s.multiplier.write_to == TO_SCALED)

        @update
        def write_x():
            s.memory_x.write @= s.multiplier.write & (s.multiplier.write_to == TO_X)
            s.memory_x.write_index @= s.multiplier.write_index
            s.memory_x.write_digit @= s.multiplier.write_word
            if s.op == LOAD:
                s.memory_x.write @= 1
                s.memory_x.write_index @= s.ctrl.index
                s.memory_x.write_digit @= s.in_base[s.ctrl.index]

        @update
        def write_even():
            s.doubled_even @= (s.op == LOAD) | ((s.op == DOUBLE) & s.ctrl.fetch & ~s.swapped)
            s.memory_even.write @= s.doubled_even | (s.multiplier.write & (s.multiplier.write_to == EVEN))
            s.memory_even.write_index @= s.multiplier.write_index
            s.memory_even.write_digit @= s.multiplier.write_word
            if s.doubled_even:
                s.memory_even.write_index @= s.ctrl.index
                s.memory_even.write_digit @= s.operand
                if s.op == LOAD:
                    s.memory_even.write_digit @= zext(s.ctrl.index == 0, S)

        @update
        def write_odd():
            s.doubled_odd @= (s.op == DOUBLE) & s.ctrl.fetch & s.swapped
            s.memory_odd.write @= s.doubled_odd | (s.multiplier.write & (s.multiplier.write_to == ODD))
            s.memory_odd.write_index @= s.ctrl.index if s.doubled_odd else s.multiplier.write_index
            s.memory_odd.write_digit @= s.operand if s.doubled_odd else s.multiplier.write_word

        @update_ff
        def change_places():
            if s.op == LOAD:
                s.swapped <<= 0
            elif (s.adds_op == DOUBLE) | (s.adds_op == REDUCE):
                if s.multiplier.adds & (s.multiplier.adds_index == LAST) & s.multiplier.carries:
                    s.swapped <<= ~s.swapped

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.multiplier.line_trace()}|{s.ostream}"
