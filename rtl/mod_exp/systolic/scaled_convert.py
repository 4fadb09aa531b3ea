"""ScaledConvertIn and ScaledConvertOut: into the form of a scaled modulus and back, with no divider
(fl/multipliers/scaled.py). Both hold one operation at a time.

ScaledConvertIn: base * R and R modulo N by doublings of base and of 1 (R = 2^wide), and beside them M' = 2^-w
modulo N by w halvings of 1. Nothing needs c, M or R^2, and modulo N is as good as modulo M = c N, but w bits
narrower. Operands that cannot be computed go on with their status and without conversion.

ScaledConvertOut: result / R modulo N by halvings and a conditional subtraction: the product with 1, under N
instead of M, so that it ends below N.

Ports: ScaledConvertIn has istream {base, exp, mod} of nbits -> ostream {status, one, base, exp, mod} of
`wide` bits with mod = M', and `modulus`, N of the operation at ostream; ScaledConvertOut has istream {status,
result, mod} of `wide` bits, with N on the port `modulus` -> ostream {status, result}. Cycles: in, max(wide /
doublings_per_cycle, w / halvings_per_cycle), or 2w of a unit with quotient delay, or 1 for a bad operand;
out, wide / halvings_per_cycle. Area order: 2 doublings_per_cycle + 2 halvings_per_cycle adders of n bits, 9n
register bits.
"""

from pymtl3 import *

from ....fl.status import STATUS_NBITS
from ...messages import (
    answer_stays,
    declare_streams,
    mk_entered_req,
    mk_entered_resp,
    mk_modexp_req,
    mk_modexp_resp,
)
from ...states import states
from ...units.cond_sub import CondSub
from ...units.mod_double import ModDouble
from ...units.mod_halve import ModHalve
from ..mont_convert import ConvertOut
from ..operand_check import check_operands


class ScaledConvertIn(Component):
    """Converts a base to the form of a scaled modulus by doublings and halvings, without a divider."""

    def construct(s, shape, doublings_per_cycle, halvings_per_cycle):
        nbits, wide = shape.nbits, shape.wide
        declare_streams(s, mk_modexp_req(nbits), mk_entered_req(wide))
        s.modulus = OutPort(nbits)

        s.st = Wire(2)
        s.status = Wire(STATUS_NBITS)
        s.exp = Wire(nbits)
        s.mod = Wire(nbits)
        s.starts = Wire()
        s.converted = Wire()
        s.leaves = Wire()
        s.modulus //= s.mod

        check_operands(s, nbits)
        answer_stays(s)
        below = "base__ostream__msg < mod && one__ostream__msg < mod"
        s.assertions |= {"OperandsBelowModulus": f"!ostream__val || status != 0 || ({below})"}
        s.add_converters(shape, doublings_per_cycle, halvings_per_cycle)
        s.add_controller(wide)

    def add_converters(s, shape, doublings_per_cycle, halvings_per_cycle):
        """The doublings of base and of 1, and the halvings of 1."""
        nbits, wide = shape.nbits, shape.wide
        s.base = ModDouble(nbits, wide, doublings_per_cycle)  # base * R
        s.one = ModDouble(nbits, wide, doublings_per_cycle)  # R
        s.constant = ModHalve(nbits, nbits, shape.scale_nbits, halvings_per_cycle)  # M'
        for unit in (s.base, s.one, s.constant):
            unit.modulus //= s.mod
            unit.istream.val //= s.starts
            unit.ostream.rdy //= s.leaves
        s.base.istream.msg //= s.istream.msg.base
        s.constant.istream.msg //= 1

        # 1 modulo 1 is 0; otherwise doublings start from 1
        @update
        def unity():
            s.one.istream.msg @= zext(s.istream.msg.mod != 1, nbits)

    def add_controller(s, wide):
        """The states, the handshakes, and the operands that leave with the results."""
        IDLE, CONVERT, BAD = states(s.st, IDLE=0, CONVERT=1, BAD=2)

        @update
        def arrival():
            s.istream.rdy @= s.st == IDLE
            s.starts @= (s.st == IDLE) & s.istream.val & (s.operand_check.status == 0)

        @update
        def departure():
            s.converted @= (s.st == CONVERT) & s.base.ostream.val & s.one.ostream.val & s.constant.ostream.val
            s.ostream.val @= (s.st == BAD) | s.converted

        @update
        def let_go():
            s.leaves @= s.converted & s.ostream.rdy

        @update
        def message():
            s.ostream.msg.status @= s.status
            s.ostream.msg.one @= zext(s.one.ostream.msg, wide)
            s.ostream.msg.base @= zext(s.base.ostream.msg, wide)
            s.ostream.msg.exp @= zext(s.exp, wide)
            s.ostream.msg.mod @= zext(s.constant.ostream.msg, wide)

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.st == IDLE:
                if s.starts:
                    s.st <<= CONVERT
                elif s.istream.val:
                    s.st <<= BAD
            elif s.ostream.val & s.ostream.rdy:
                s.st <<= IDLE

        @update_ff
        def operands():
            if (s.st == IDLE) & s.istream.val:
                s.status <<= s.operand_check.status
                s.exp <<= s.istream.msg.exp
                s.mod <<= s.istream.msg.mod

    def line_trace(s):
        return f"{s.istream}|{'IC!'[int(s.st)]}|{s.ostream}"


class ScaledConvertOut(ConvertOut):
    """Converts a result from the form of a scaled modulus by halvings and one subtraction."""

    def construct(s, shape, halvings_per_cycle):
        nbits, wide, operand = shape.nbits, shape.wide, shape.operand_nbits
        declare_streams(s, mk_entered_resp(wide), mk_modexp_resp(nbits))
        s.modulus = InPort(nbits)

        s.hold(s.modulus)
        s.unit = ModHalve(operand, nbits, wide, halvings_per_cycle)  # result / R, below 2 N
        s.unit.modulus //= s.mod
        s.unit.istream.msg //= s.istream.msg.result[0:operand]
        s.unit.ostream.rdy //= s.ostream.rdy
        s.reduction = CondSub(nbits)
        s.reduction.value //= s.unit.ostream.msg[0 : nbits + 1]
        s.reduction.n //= s.mod
        s.ostream.val //= s.unit.ostream.val

        # a refused request answers 0, and shows nothing that is left in the converter
        @update
        def message():
            s.ostream.msg.status @= s.status
            s.ostream.msg.result @= 0
            if s.status == 0:
                s.ostream.msg.result @= s.reduction.out
