"""SystolicExp: square and multiply always from the left on one ScaledArray, for operands that are already in
its domain.

The power and the base are registers of words; the words of a product are registered where they arrive, while
the next product is under way on the first of them. A product with the base whose bit is 0 is made and
dropped.

Ports: istream {status, one, base, exp, mod} -> ostream {status, result, mod} of `wide` bits, as a ProgramExp
that takes its operands as given (mod: M'; the exponent in its lower nbits). Cycles: 2 len products of 2 (L +
1), L until the last word is there, 2, and the leading zeros of the exponent, k a cycle or one:
modexlab.cl.systolic has the closed formula. Constant time for all exponents of a length. Area order: the
array, 4 n register bits.
"""

from pymtl3 import *

from ...messages import declare_streams, mk_entered_req, mk_entered_resp
from ...units.systolic.scaled_array import ScaledArray
from ...wires import connect_words
from .systolic_mod_exp_ctrl import POWER, SystolicModExpCtrl, connect_array


class SystolicExp(Component):
    """Square and multiply always, from the left, on one systolic array and operands in its domain."""

    def construct(s, shape):
        nbits, k, nwords, wide = shape.nbits, shape.digit_nbits, shape.ndigits, shape.wide
        declare_streams(s, mk_entered_req(wide), mk_entered_resp(wide))

        # ---- the array and its operands

        s.array = ScaledArray(k, nwords)
        s.in_base, s.in_one, s.in_mod = ([Wire(k) for _ in range(nwords)] for _ in range(3))
        connect_words(s.istream.msg.base, s.in_base)
        connect_words(s.istream.msg.one, s.in_one)
        connect_words(s.istream.msg.mod, s.in_mod)
        s.base, s.power, s.mod = ([Wire(k) for _ in range(nwords)] for _ in range(3))

        s.passes = Wire()  # the first word is wanted in the cycle in which it comes

        @update
        def word_of_x():
            s.passes @= s.array.done[0] & s.ctrl.to_power & (s.array.index == 0)
            s.array.x @= s.base[s.array.index]
            if s.ctrl.source == POWER:
                s.array.x @= s.array.result[0] if s.passes else s.power[s.array.index]

        @update_ff
        def words():
            for j in range(nwords):
                if s.ctrl.accept:
                    s.base[j] <<= s.in_base[j]
                    s.mod[j] <<= s.in_mod[j]
                    s.power[j] <<= s.in_one[j]
                elif s.array.done[j] & s.ctrl.to_power:
                    s.power[j] <<= s.array.result[j]

        # ---- the controller

        s.ctrl = SystolicModExpCtrl(nbits, k, nwords, converts=False)
        s.ctrl.in_status //= s.istream.msg.status
        s.ctrl.in_exp //= s.istream.msg.exp[0:nbits]
        s.ctrl.closing //= s.array.returns
        connect_array(s, nwords)

        # ---- the response

        for j in range(nwords):
            s.ostream.msg.result[j * k : j * k + k] //= s.power[j]
            s.ostream.msg.mod[j * k : j * k + k] //= s.mod[j]

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.array.line_trace()}|{s.ostream}"
