"""SystolicModExp: paper 002's exponentiator, square and multiply always from the left (Algorithm 5, Figure 6)
on one systolic array.

S[0] and S[1] are registers of words, as is the base x; the words of a product are registered where they
arrive, skewed, while the next product begins on the first of them:
    x <- x * R^2,  S[0] <- R        (S[0] holds R^2 mod m until then, S[1] R mod m)
    for each bit of the exponent:   S[0] <- S[0]^2;   S[1] <- x * S[0];   S[0] <- S[bit]
    S[0] <- S[0] * 1
R mod m, R^2 mod m and m' = -m^-1 mod 2^k are inputs, as in the paper. The paper does not specify two details.
Here leading zeros of the exponent are skipped during the first product, k per cycle or one. The result m,
which a product with 1 gives for 0, is returned as 0.

Ports: istream {base, exp, mod, one, square, n_prime} -> ostream {status, result}; an odd modulus of up to k*s
- 2 bits, a base below it. Cycles: (2 len + 2) products of 3s + 2, and s - 1 until the last word is there;
modexlab.cl.systolic has the closed formula. Constant time for all exponents of a length. Area order: the
array, and 5 n register bits.
"""

from pymtl3 import *

from ....fl.status import STATUS_NBITS, Status
from ...messages import answer_stays, declare_streams, mk_keyed_req, mk_modexp_resp
from ...units.systolic.systolic_array import SystolicArray
from ...wires import connect_words
from ..operand_check import check_operands
from .systolic_mod_exp_ctrl import BASE, POWER, SystolicModExpCtrl, connect_array


class SystolicModExp(Component):
    def construct(s, shape):
        nbits, k, nwords, wide = shape.nbits, shape.digit_nbits, shape.nwords, shape.wide
        declare_streams(
            s, mk_keyed_req(nbits, (("one", nbits), ("square", nbits), ("n_prime", k))), mk_modexp_resp(nbits)
        )

        # ---- the words of the request, and its status

        check_operands(s, nbits)
        s.in_status = Wire(STATUS_NBITS)

        s.in_base, s.in_mod, s.in_one, s.in_square = ([Wire(k) for _ in range(nwords)] for _ in range(4))
        connect_words(s.istream.msg.base, s.in_base)
        connect_words(s.istream.msg.mod, s.in_mod)
        connect_words(s.istream.msg.one, s.in_one)
        connect_words(s.istream.msg.square, s.in_square)

        if shape.modulus_nbits < nbits:
            TOO_WIDE = Status.TOO_WIDE
            fits = shape.modulus_nbits

            @update
            def judge():
                s.in_status @= TOO_WIDE if s.istream.msg.mod[fits:nbits] != 0 else s.operand_check.status

        else:
            s.in_status //= s.operand_check.status

        s.words(k, nwords)

        # ---- the controller

        s.ctrl = SystolicModExpCtrl(nbits, k, nwords)
        s.ctrl.in_status //= s.in_status
        s.ctrl.in_exp //= s.istream.msg.exp
        s.ctrl.closing //= s.array.closing
        connect_array(s, nwords)

        # ---- the response: a residue m is answered as 0

        answer_stays(s, f"{nbits}'(modulus)")
        s.result = Wire(wide)
        s.modulus = Wire(wide)
        for j in range(nwords):
            s.result[j * k : j * k + k] //= s.power[j]
            s.modulus[j * k : j * k + k] //= s.mod[j]

        s.answer = Wire(nbits)
        s.ostream.msg.result //= s.answer

        @update
        def leaves():
            s.answer @= 0
            if s.ctrl.valid & (s.result != s.modulus):
                s.answer @= s.result[0:nbits]

    def words(s, k, nwords):
        """The array, and the words that it works on."""
        s.array = SystolicArray(k, nwords)
        s.base = [Wire(k) for _ in range(nwords)]
        s.power = [Wire(k) for _ in range(nwords)]  # S[0]
        s.other = [Wire(k) for _ in range(nwords)]  # S[1]
        s.mod = [Wire(k) for _ in range(nwords)]
        s.n_prime = Wire(k)
        s.array.n_prime //= s.n_prime

        @update
        def word_of_x():
            s.array.x @= 0
            if s.ctrl.source == BASE:
                s.array.x @= s.base[s.array.index]
            elif s.ctrl.source == POWER:
                s.array.x @= s.power[s.array.index]
            elif s.array.index == 0:
                s.array.x @= 1

        @update_ff
        def words():
            if s.ctrl.accept:
                s.n_prime <<= s.istream.msg.n_prime
            for j in range(nwords):
                if s.ctrl.accept:
                    s.base[j] <<= s.in_base[j]
                    s.power[j] <<= s.in_square[j]
                    s.other[j] <<= s.in_one[j]
                    s.mod[j] <<= s.in_mod[j]
                elif s.array.done[j]:
                    if s.ctrl.to_base:
                        s.base[j] <<= s.array.result[j]
                    if s.ctrl.from_other:
                        s.power[j] <<= s.other[j]
                    elif s.ctrl.to_power:
                        s.power[j] <<= s.array.result[j]
                    if s.ctrl.to_other:
                        s.other[j] <<= s.array.result[j]

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.array.line_trace()}|{s.ostream}"
