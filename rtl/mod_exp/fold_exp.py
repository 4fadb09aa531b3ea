"""FoldExp: right-to-left exponentiation on one multiplier that makes a product a cycle, modulo n by rows of
residues (fl/multipliers/row_fold.py).

There are two pipeline stages, and one carry-propagate addition per product:
    1  add up the pair from stage 2 to x; multiply x * y to a pair in one bit heap (ProductPair), y = x for a
       square
    2  fold the pair modulo M in another heap (RowFold), and run the first levels of the adder (SplitAdder)
Squares b * b and products r * y alternate, so that a bit of the exponent takes two cycles: y is b for a 1, 1
for a 0. r and b are in the stages alone. A product is made for every bit. Before that, a chain of doublings
makes the residues, `steps` a cycle, and the first squares start while the last ones are made. At the end the
same chain divides the result.

The controller is its own instead of a program's: a ProgramExp keeps r and b in registers, which would put a
cycle and a multiplexer on the way from stage 2 to stage 1, the critical loop.

Ports: istream {base, exp, mod} -> ostream {status, result}; any modulus except 0, even ones too, and any
base. Cycles: modexlab.cl.fold_exp has the closed formula. Constant time for all exponents of a length, for
all of a width with `full_scan`, and for all moduli and bases. Area order: 2 n^2 gates and full adders and
more (46 rows instead of 32), n registers of n bits.
"""

from pymtl3 import *

from ..messages import answer_stays, connect_fields, declare_streams, mk_modexp_req, mk_modexp_resp
from ..units.fold.aligner import Aligner
from ..units.fold.mod_quadruple import ModQuadruple
from ..units.fold.product_pair import ProductPair
from ..units.fold.row_fold import RowFold
from ..units.fold.split_adder import AdderBack, AdderFront
from ..units.serial_ctrl import answer_if_ok, connect_checked
from .fold_exp_ctrl import FoldExpCtrl
from .operand_check import check_operands

FRONT_LEVELS = 2  # of the adder's levels those in stage 2; then the stages are alike at 32 bits


class FoldExp(Component):
    """Right-to-left exponentiation on one pipelined multiplier, with reduction by a table of residues."""

    def construct(s, shape, full_scan=False):
        nbits, wide = shape.nbits, shape.operand_nbits
        declare_streams(s, mk_modexp_req(nbits), mk_modexp_resp(nbits))
        s.ctrl = FoldExpCtrl(shape)
        check_operands(s, nbits, odd_only=False, reduced_only=False)
        connect_checked(s)
        answer_stays(s, "(mod >> shift)")

        s.exponent(nbits, full_scan)

        s.mod = Wire(nbits)
        s.shift = Wire(clog2(nbits))
        s.aligner = Aligner(nbits)  # moves the top bit of the modulus to the top, and the result back
        s.aligner.number //= s.istream.msg.mod
        s.aligner.shift //= s.shift

        @update
        def direction():
            s.aligner.back @= ~s.ctrl.idle

        @update_ff
        def modulus():
            if s.ctrl.accept:
                s.mod <<= s.aligner.out
                s.shift <<= s.aligner.zeros

        s.multiply(shape)

        s.chain = ResidueChain(shape)  # computes the residues, and divides the result at the end

        # ---- stage 2: fold the product, and begin to add up the pair

        s.product_sum = Wire(shape.product_nbits)
        s.product_carry = Wire(shape.product_nbits)
        s.fold = RowFold(shape)
        s.fold.sum //= s.product_sum
        s.fold.carry //= s.product_carry
        s.front = AdderFront(wide, FRONT_LEVELS)
        s.front.sum //= s.fold.next_sum
        s.front.carry //= s.fold.next_carry

        for folded, made in zip(s.fold.residue, s.chain.residue, strict=True):
            folded //= made

        @update_ff
        def stages():
            s.product_sum <<= s.product.sum
            s.product_carry <<= s.product.carry
            s.half_sum <<= s.front.p
            s.generated <<= s.front.g
            s.propagated <<= s.front.q

        connect_fields(s.chain, s.ctrl, "accept", "making", "writes", "load")
        s.chain.divide //= s.ctrl.tail
        s.chain.modulus //= s.mod
        s.chain.dividend //= s.x
        s.chain.rest //= s.aligner.value

        answer_if_ok(s, s.aligner.out)

    def multiply(s, shape):
        """Stage 1: add up the pair, and multiply. Registers hold complements."""
        wide = shape.operand_nbits
        ONE = mk_bits(wide)(1)
        s.half_sum = Wire(wide)
        s.generated = Wire(wide)
        s.propagated = Wire(wide)
        s.x = Wire(wide)
        s.y = Wire(wide)
        s.other = Wire(wide)  # y of a product that is no square, else 0
        # ---- stage 1: finish the addition, and multiply

        s.back = AdderBack(wide, FRONT_LEVELS)
        s.back.p //= s.half_sum
        s.back.g //= s.generated
        s.back.q //= s.propagated
        s.product = ProductPair(wide, shape.product_nbits)
        s.product.x //= s.x
        s.product.y //= s.y

        # The stages hold 0 when the base enters: the last operation has left them, and a reset, which may be
        # one cycle long, clears y.
        @update
        def factors():
            s.x @= s.back.out | zext(s.ctrl.enter, wide)
            s.y @= (s.x & sext(s.ctrl.square, wide)) | (s.other & ~sext(s.reset, wide))

        @update_ff
        def other_factor():
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

    def exponent(s, nbits, full_scan):
        """Shift the exponent down; with a full scan a 1 above it says where it ends."""
        SKIPPED = 2 if full_scan else 1
        s.exp = Wire(nbits + full_scan)
        s.in_exp = Wire(nbits + full_scan)
        s.in_exp[0:nbits] //= s.istream.msg.exp
        if full_scan:
            s.in_exp[nbits] //= 1

        @update
        def exponent_ends():
            s.ctrl.exp_ends @= (s.exp >> SKIPPED) == 0

        @update_ff
        def shift_exponent():
            if s.ctrl.accept:
                s.exp <<= s.in_exp
            elif s.ctrl.square:
                s.exp <<= s.exp >> 1

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.x}|{s.ostream}"


class ResidueChain(Component):
    """A chain of modular doublings, which computes the table of residues and divides the result."""

    def construct(s, shape):
        nbits, steps, tail, wider = shape.nbits, shape.steps, shape.tail_nbits, shape.nbits + 2
        PER_CYCLE = 2 * steps
        ALL_ONES = mk_bits(wider)(-1)
        s.accept = InPort()
        s.making = InPort()
        s.writes = InPort(shape.made_by(shape.residues) + 1)  # one-hot: the cycle of the residues to write
        s.load = InPort()
        s.divide = InPort()
        s.modulus = InPort(nbits)
        s.dividend = InPort(shape.operand_nbits)
        s.residue = [OutPort(nbits) for _ in range(shape.residues)]
        s.rest = OutPort(nbits)

        s.thrice = Wire(wider)  # three times the modulus, all ones before it is known
        s.tail = Wire(tail)
        s.digits = Wire(PER_CYCLE)
        s.doubled = [Wire(nbits) for _ in range(steps)]
        s.step = [ModQuadruple(nbits) for _ in range(steps)]
        for i, step in enumerate(s.step):
            step.x //= s.step[i - 1].out if i else s.rest
            step.digit //= s.digits[PER_CYCLE - 2 - 2 * i : PER_CYCLE - 2 * i]
            step.modulus //= s.modulus
            step.thrice //= s.thrice
            step.out //= s.doubled[i]

        @update
        def next_digits():
            s.digits @= s.tail[tail - PER_CYCLE : tail] & sext(s.divide, PER_CYCLE)

        @update_ff
        def triple():
            if s.accept:
                s.thrice <<= ALL_ONES
            elif s.writes[0]:
                s.thrice <<= (zext(s.modulus, wider) << 2) - zext(s.modulus, wider)

        s.add_remainder(shape)
        s.add_residues(shape)

    def add_remainder(s, shape):
        """The number that the chain doubles, and the digits of the dividend that have not entered it."""
        nbits, steps, tail = shape.nbits, shape.steps, shape.tail_nbits
        PER_CYCLE = 2 * steps
        START = mk_bits(nbits)(1 << (nbits - 2))

        @update_ff
        def remainder():
            if s.accept:
                s.rest <<= START
            elif s.load:
                s.rest <<= trunc(s.dividend >> tail, nbits)
            elif s.writes[0]:
                s.rest <<= s.doubled[0]
            elif s.making | s.divide:
                s.rest <<= s.doubled[steps - 1]

        @update_ff
        def next_tail():
            if s.load:
                s.tail <<= s.dividend[0:tail]
            elif s.divide:
                s.tail <<= s.tail << PER_CYCLE

    def add_residues(s, shape):
        """The registers of the table, `steps` of which are written per cycle."""
        steps, LAST = shape.steps, shape.made_by(shape.residues)
        CYCLES, REST = divmod(shape.residues - 1, steps)

        @update_ff
        def write_residues():
            if s.writes[0]:
                s.residue[0] <<= s.doubled[0]
            for cycle in range(CYCLES):
                if s.writes[cycle + 1]:
                    for i in range(steps):
                        s.residue[cycle * steps + i + 1] <<= s.doubled[i]
            for i in range(REST):
                if s.writes[LAST]:
                    s.residue[CYCLES * steps + i + 1] <<= s.doubled[i]
