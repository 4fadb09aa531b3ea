"""TinyExp: square and multiply with an adder of k bits, the smallest machine (design tiny).

    r = 1; for each bit of the exponent, the highest first: r = r * r mod m; if it is 1, r = r * base mod m

A product is interleaved with its reduction: p = 2 p + x y mod m for the bits x of r, the highest first; y is
r or the base. There is no comparison: p may be negative, -m <= p < m, and its sign decides the next addition,
as in non-restoring division:

    DOUBLE   p = 2 p + m if p < 0, else 2 p - m
    ADD      p = p + x y if p < 0, else p - m + x y
    REDUCE   r = p + m   if p < 0, else p, once at the end

Each is a pass over the n bits, in n / k cycles. p and r are rings that turn by a digit of k bits a cycle.
Base, modulus and exponent are only read: they are HeldWords with a DigitReader each, or, `in_place`, stay
in the registers of a sender that keeps the request until the answer. If k is n, one cycle does DOUBLE and
ADD: it computes 2 p +- m + x y and the same less m, and chooses by the sign.

Ports: istream {base, exp, mod} -> ostream {status, result}; any modulus, a base below it. A request is
accepted after two passes: its words enter, and ADD compares the base with the modulus. Cycles:
modexlab.cl.tiny_exp has the closed formula; with `full_scan` all operands take the same. Area order: 2 n
flip-flops, 3 n latches, 3 n gates that read them, 2 adders of k bits, or 3 if k is n.
"""

from pymtl3 import *

from ...messages import answer_stays, declare_streams, mk_modexp_req, mk_modexp_resp
from ...units.memory.held_word import HeldWord
from ...units.serial_ctrl import connect_serial
from .digit_reader import DigitReader, Lines, read_digit
from .shift_counter import states_of
from .tiny_exp_ctrl import TinyExpCtrl


class DigitRing(Component):
    """A word that rotates by one digit per step; a new digit enters at the top."""

    def construct(s, nbits, k):
        s.turns = InPort()
        s.entering = InPort(k)
        s.word = OutPort(nbits)
        s.turned = Wire(nbits)
        if nbits == k:
            s.turned //= s.entering
        else:
            s.turned[nbits - k : nbits] //= s.entering
            s.turned[0 : nbits - k] //= s.word[k:nbits]

        @update_ff
        def turn():
            if s.turns:
                s.word <<= s.turned


class TinyExp(Component):
    """Square and multiply with narrow adders, the smallest machine."""

    def construct(s, nbits, k, full_scan, in_place=False):
        declare_streams(s, mk_modexp_req(nbits), mk_modexp_resp(nbits))
        s.ctrl = TinyExpCtrl(nbits, k, full_scan)
        connect_serial(s)
        base, exp, mod = s.place_operands(nbits, in_place)
        # the product and the result, which enter the adder digit by digit
        s.p, s.r = DigitRing(nbits, k), DigitRing(nbits, k)
        s.p.turns //= 1
        s.r.turns //= s.ctrl.turns_result
        s.p_digit, s.r_digit = Wire(k), Wire(k)
        s.p_digit //= s.p.word[0:k]
        s.r_digit //= s.r.word[0:k]
        s.ctrl.r_digit //= s.r_digit
        s.result_digit = Wire(k)  # digit of p, reduced

        s.read_words(nbits, k, base, exp, mod)
        s.choose(k)
        if k == nbits:
            s.step_at_once(k)
        else:
            s.step(k)
        s.enter(k)

        s.ostream.msg.status //= s.ctrl.status
        s.ostream.msg.result[1:nbits] //= s.r.word[1:nbits]

        @update
        def lowest_bit():  # r is 1 if a request is refused
            s.ostream.msg.result[0] @= s.r.word[0] & ~s.ctrl.refused

    def place_operands(s, nbits, in_place):
        """The words of base, exponent and modulus."""
        request = s.istream.msg
        if in_place:
            answer_stays(s)  # software may write the next modulus while the answer is held
            return request.base, request.exp, request.mod
        answer_stays(s, "mod__word")
        # in latches if the cell library has some
        s.base, s.exp, s.mod = (HeldWord(nbits) for _ in range(3))
        for word in (s.base, s.exp, s.mod):
            word.opens //= s.ctrl.opens
        s.base.entering //= request.base
        s.exp.entering //= request.exp
        s.mod.entering //= request.mod
        return s.base.word, s.exp.word, s.mod.word

    def read_words(s, nbits, k, base, exp, mod):
        """The digits of base and modulus at the place of the pass, and a bit of the exponent."""
        s.base_digit, s.mod_digit = Wire(k), Wire(k)
        if nbits == k:
            s.base_digit //= base
            s.mod_digit //= mod
        else:
            s.places = Lines(clog2(nbits // k))  # selects the digits of the base and the modulus
            s.places.index //= s.ctrl.digit
            order = states_of(nbits // k)
            s.base_reader, s.mod_reader = (DigitReader(k << clog2(nbits // k), k) for _ in range(2))
            read_digit(s.base_reader, base, order, s.places, s.base_digit)
            read_digit(s.mod_reader, mod, order, s.places, s.mod_digit)

        s.exp_place = Lines(clog2(nbits))  # selects the bit of the exponent
        s.exp_place.index //= s.ctrl.exp_place
        s.exp_reader = DigitReader(1 << clog2(nbits), 1)
        highest_first = states_of(nbits)[::-1]
        read_digit(s.exp_reader, exp, highest_first, s.exp_place, s.ctrl.exp_bit)

    def choose(s, k):
        """The addends: y, and m, -m - 1 or 0, by the sign and the pass."""
        s.y, s.multiple = Wire(k), Wire(k)

        @update
        def addends():
            s.y @= 0
            if s.ctrl.x:
                s.y @= s.base_digit if s.ctrl.multiplies else s.r_digit
            s.multiple @= 0
            if s.ctrl.plus:
                s.multiple @= s.mod_digit
            elif s.ctrl.minus:
                s.multiple @= ~s.mod_digit

    def step(s, k):
        """A digit of a pass, with the carries from the one before; the sign when all are there."""
        TOP, wide = k - 1, k + 1
        s.doubled, s.first_term = Wire(k), Wire(k)
        s.top_before = Wire()
        s.reduced, s.sum = Wire(wide), Wire(wide)
        s.carry_reduced, s.carry_sum = Wire(), Wire()
        s.sign_before = Wire()
        s.doubled[0] //= s.top_before
        if k > 1:
            s.doubled[1:k] //= s.p_digit[0:TOP]
        s.result_digit //= s.sum[0:k]
        s.ctrl.no_modulus //= s.reduced[k]  # 0 - 0 has no borrow

        @update
        def add():
            s.first_term @= s.doubled if s.ctrl.doubles else s.p_digit
            s.reduced @= zext(s.first_term, wide) + zext(s.multiple, wide) + zext(s.carry_reduced, wide)
            s.sum @= zext(s.reduced[0:k], wide) + zext(s.y, wide) + zext(s.carry_sum, wide)

        @update
        def sign():
            s.sign_before @= s.ctrl.adds | ~(s.p_digit[TOP] ^ s.ctrl.negative)
            s.ctrl.next_negative @= s.sign_before ^ s.reduced[k] ^ s.sum[k]
            s.ctrl.below @= s.ctrl.next_negative

        @update_ff
        def carries():
            s.top_before <<= s.p_digit[TOP] & ~s.ctrl.last
            s.carry_sum <<= s.sum[k] & ~s.ctrl.last
            s.carry_reduced <<= s.reduced[k]
            if s.ctrl.last | ~s.ctrl.runs:
                s.carry_reduced <<= s.ctrl.next_minus

    def step_at_once(s, k):
        """DOUBLE and ADD of all bits: u = 2 p +- m + x y, and u - m unless u is negative."""
        wide, TOP = k + 2, k + 1
        s.first_term, s.u, s.trial = Wire(wide), Wire(wide), Wire(wide)
        s.minus_ones = Wire(2)
        s.next_p = Wire(k)
        s.result_digit //= s.next_p

        @update
        def add_at_once():
            s.first_term @= concat(s.ctrl.negative, s.p.word, b1(0))
            if s.ctrl.reduces:
                s.first_term @= concat(s.ctrl.negative, s.ctrl.negative, s.p.word)
            s.minus_ones @= 0
            if s.ctrl.minus:
                s.minus_ones @= 3
            s.u @= (
                s.first_term + concat(s.minus_ones, s.multiple) + zext(s.ctrl.minus, wide) + zext(s.y, wide)
            )
            s.trial @= s.u - zext(s.mod_digit, wide)
            s.ctrl.below @= s.u[TOP]
            s.ctrl.no_modulus @= s.mod_digit == 0

        @update
        def choose_trial():
            s.next_p @= s.trial[0:k]
            s.ctrl.next_negative @= s.trial[TOP]
            if s.u[TOP] | s.ctrl.reduces:
                s.next_p @= s.u[0:k]
            if s.u[TOP]:
                s.ctrl.next_negative @= 1

    def enter(s, k):
        """The digits that enter the rings."""

        @update
        def rings():
            s.p.entering @= 0
            if ~s.ctrl.clears:
                s.p.entering @= s.result_digit
            s.r.entering @= s.r_digit
            if s.ctrl.opens:
                s.r.entering @= zext(s.ctrl.first, k)
            elif s.ctrl.takes:
                s.r.entering @= s.result_digit

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.ostream}"
