"""FoldExp: right to left on one multiplier that makes a product a cycle, modulo n by rows of residues
(fl/multipliers/row_fold.py).

Two stages, and no carry runs but once a product:
    1  x, the pair from stage 2 added up; the pair of x * y in one bit heap (ProductPair), y = x in the cycle of a square
    2  the pair of what that is modulo M, in another (RowFold), and the first levels of the adder (SplitAdder)
Squares b * b and products r * y follow each other a cycle apart, so that a bit of the exponent takes two: y
is b for a 1 of it, 1 for a
0, and r and b are nowhere but in the stages. Products are made for all bits alike. Before that a chain of
doublings makes the residues,
`steps` of them a cycle, the first squares while the last ones come; behind it the same chain is the division
that ends the operation.

It has a control of its own, not a program's: a ProgramExp keeps r and b in registers, and its products end in
one of them, a cycle and a multiplexer on the way from stage 2 to stage 1, which is the loop that decides.

Ports: istream {base, exp, mod} -> ostream {status, result}; any modulus but 0, even ones too, and any base.
Cycles: modexlab.cl.fold_exp has the closed formula. Constant time for all exponents of a length, for all of a
width with `full_scan`; for all moduli and bases. Area order: 2 n^2 gates and full adders and more (46 rows in
place of 32), n registers of n bits.
"""

from pymtl3 import *

from ...fl.status import Status
from ..messages import declare_streams, mk_modexp_req, mk_modexp_resp
from ..units.fold.aligner import Aligner
from ..units.fold.mod_quadruple import ModQuadruple
from ..units.fold.product_pair import ProductPair
from ..units.fold.row_fold import RowFold
from ..units.fold.split_adder import AdderBack, AdderFront
from ..units.serial_ctrl import connect_checked
from .fold_exp_ctrl import FoldExpCtrl
from .operand_check import check_operands

FRONT_LEVELS = 2  # of the adder's levels those in stage 2; then the stages are alike at 32 bits


class FoldExp(Component):
    def construct(s, shape, full_scan=False):
        nbits, wide, steps, tail = shape.nbits, shape.operand_nbits, shape.steps, shape.tail_nbits
        OK = int(Status.OK)
        declare_streams(s, mk_modexp_req(nbits), mk_modexp_resp(nbits))
        s.ctrl = FoldExpCtrl(shape)
        check_operands(s, nbits, odd_only=False, reduced_only=False)
        connect_checked(s)

        # ---- the modulus, its highest bit at the top, and the way back of the result

        nlevels = clog2(nbits)
        s.mod = Wire(nbits)
        s.shift = Wire(nlevels)
        s.rest = Wire(nbits)  # what the chain doubles
        s.aligner = Aligner(nbits)
        s.aligner.number //= s.istream.msg.mod
        s.aligner.value //= s.rest
        s.aligner.shift //= s.shift

        @update
        def direction():
            s.aligner.back @= ~s.ctrl.idle

        # ---- the chain: residues, and at last the division

        wider = nbits + 2
        ALL_ONES = mk_bits(wider)((1 << wider) - 1)
        START = mk_bits(nbits)(1 << (nbits - 2))
        per_cycle = 2 * steps
        s.thrice = Wire(wider)
        s.tail = Wire(tail)
        s.digits = Wire(per_cycle)
        s.last_rest = Wire(nbits)
        s.loaded = Wire(nbits)

        s.chain = [ModQuadruple(nbits) for _ in range(steps)]
        for i, step in enumerate(s.chain):
            step.x //= s.rest if i == 0 else s.chain[i - 1].out
            step.digit //= s.digits[per_cycle - 2 - 2 * i : per_cycle - 2 * i]
            step.modulus //= s.mod
            step.thrice //= s.thrice
        s.last_rest //= s.chain[steps - 1].out

        @update
        def enters_digits():
            s.digits @= 0
            if s.ctrl.tail:
                s.digits @= s.tail[tail - per_cycle : tail]

        @update_ff
        def modulus():
            if s.ctrl.accept:
                s.mod <<= s.aligner.out
                s.shift <<= s.aligner.zeros
                s.thrice <<= ALL_ONES
            elif s.ctrl.first:
                s.thrice <<= (zext(s.mod, wider) << 2) - zext(s.mod, wider)

        @update_ff
        def chains():
            if s.ctrl.accept:
                s.rest <<= START
            elif s.ctrl.load:
                s.rest <<= s.loaded
            elif s.ctrl.first:
                s.rest <<= s.chain[0].out
            elif s.ctrl.making | s.ctrl.tail:
                s.rest <<= s.last_rest

        s.residues = [WordRegister(nbits) for _ in range(shape.residues)]
        for g, residue in enumerate(s.residues):
            residue.in_ //= s.chain[(g - 1) % steps if g else 0].out
            residue.write //= s.ctrl.writes[shape.made_by(g + 1)]

        # ---- stage 1: registers hold complements

        s.half_sum = Wire(wide)
        s.generated = Wire(wide)
        s.propagated = Wire(wide)
        s.x = Wire(wide)
        s.y = Wire(wide)
        s.other = Wire(wide)  # y of a product that is no square, else 0
        s.back = AdderBack(wide, FRONT_LEVELS)
        s.back.p //= s.half_sum
        s.back.g //= s.generated
        s.back.q //= s.propagated
        s.product = ProductPair(wide, shape.product_nbits)
        s.product.x //= s.x
        s.product.y //= s.y

        # there are zeros in the stages when the base enters: since the last operation, or the reset
        @update
        def factors():
            s.x @= s.back.out | zext(s.ctrl.enter, wide)
            s.y @= (s.x & sext(s.ctrl.square, wide)) | (s.other & ~sext(s.reset, wide))

        ONE = mk_bits(wide)(1)

        @update_ff
        def others():
            if s.reset:
                s.other <<= 0
            elif s.ctrl.accept:
                s.other <<= zext(s.istream.msg.base, wide)
            elif s.ctrl.enter_base:
                s.other <<= ONE << zext(s.shift, wide)
            elif s.ctrl.square:
                s.other <<= s.x if s.exp[0] else ONE
            elif ~s.ctrl.hold:
                s.other <<= 0

        # ---- stage 2

        s.product_sum = Wire(shape.product_nbits)
        s.product_carry = Wire(shape.product_nbits)
        s.fold = RowFold(shape)
        s.fold.sum //= s.product_sum
        s.fold.carry //= s.product_carry
        for g, residue in enumerate(s.residues):
            s.fold.residue[g] //= residue.out
        s.front = AdderFront(wide, FRONT_LEVELS)
        s.front.sum //= s.fold.next_sum
        s.front.carry //= s.fold.next_carry

        @update_ff
        def stages():
            s.product_sum <<= s.product.sum
            s.product_carry <<= s.product.carry
            s.half_sum <<= s.front.p
            s.generated <<= s.front.g
            s.propagated <<= s.front.q

        @update
        def starts_division():
            s.loaded @= trunc(s.x >> tail, nbits)

        @update_ff
        def tails():
            if s.ctrl.load:
                s.tail <<= s.x[0:tail]
            elif s.ctrl.tail:
                s.tail <<= s.tail << per_cycle

        # ---- the exponent; with a full scan a 1 above it says where it ends

        if full_scan:
            s.exp = Wire(nbits + 1)

            @update
            def ends_at_top():
                s.ctrl.exp_ends @= (s.exp >> 2) == 0

            @update_ff
            def full_exponent():
                if s.ctrl.accept:
                    s.exp <<= concat(b1(1), s.istream.msg.exp)
                elif s.ctrl.square:
                    s.exp <<= s.exp >> 1

        else:
            s.exp = Wire(nbits)

            @update
            def ends_at_highest():
                s.ctrl.exp_ends @= (s.exp >> 1) == 0

            @update_ff
            def exponent():
                if s.ctrl.accept:
                    s.exp <<= s.istream.msg.exp
                elif s.ctrl.square:
                    s.exp <<= s.exp >> 1

        # ---- what leaves

        s.answer = Wire(nbits)
        s.ostream.msg.result //= s.answer

        @update
        def leaves():
            s.answer @= 0
            if s.ctrl.out_status == OK:
                s.answer @= s.aligner.out

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.x}|{s.ostream}"


class WordRegister(Component):
    """A word that is written now and then."""

    def construct(s, nbits):
        s.in_ = InPort(nbits)
        s.write = InPort()
        s.out = OutPort(nbits)

        @update_ff
        def keep():
            if s.write:
                s.out <<= s.in_
