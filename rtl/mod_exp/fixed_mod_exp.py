"""FixedModExp: a machine for one modulus m, known when it is made (paper 000, Figures 16 to 19, 37 and 38).

It checks the operands, passes them to a ModExp, and finishes the result (`finish`):
    "none"      the ModExp works modulo m and reduces
    "subtract"  it works modulo m, but ends at m for 0 (Montgomery without last subtraction)
    "reduce"    it works modulo a pseudo-modulus, a multiple of m with cheap arithmetic: one reduction, "the
                final correction block", takes a cycle (a compression tree)
    "remainder" the same by `%`, for a modulus that has no tree
Without a fixed modulus (modulus = 0) it is a Montgomery machine for any odd modulus, with the same checks.

Ports: istream {base, exp, mod} -> ostream {status, result}. A request with another modulus than m is answered
with a status, and so is a base not below it. Cycles: those of the ModExp, 1 more with "reduce" and
"remainder". Area order: the ModExp and the tree.
"""

from pymtl3 import *

from ...fl.compression.compression import BEST
from ...fl.status import STATUS_NBITS, Status
from ..messages import connect_handshake, declare_streams, mk_modexp_req, mk_modexp_resp
from ..units.cond_sub import CondSub
from ..units.pseudo_mul import PseudoReduce, modulus_of
from ..units.serial_ctrl import answer_registered
from ..wires import connect_low
from .mod_exp import ModExp
from .operand_check import OperandCheck


class FixedCheck(Component):
    """Checks that a request has this machine's modulus and a base below it."""

    def construct(s, nbits, modulus):
        s.base = InPort(nbits)
        s.mod = InPort(nbits)
        s.status = OutPort(STATUS_NBITS)
        MODULUS = mk_bits(nbits)(modulus)
        OK, WRONG_MODULUS = Status.OK, Status.WRONG_MODULUS
        BASE_TOO_LARGE = Status.BASE_TOO_LARGE

        @update
        def judge():
            s.status @= OK
            if s.mod != MODULUS:
                s.status @= WRONG_MODULUS
            elif s.base >= MODULUS:
                s.status @= BASE_TOO_LARGE


class Remainder(Component):
    """x mod m by `%`, registered; ports as PseudoReduce."""

    def construct(s, nbits, modulus):
        declare_streams(s, mk_bits(nbits), mk_bits(nbits))
        MODULUS = mk_bits(nbits)(modulus)
        s.residue = Wire(nbits)

        @update
        def divide():
            s.residue @= s.istream.msg % MODULUS

        answer_registered(s, s.residue)


class FixedModExp(Component):
    """Exponentiation for one modulus that is fixed in the hardware (paper 000, Figures 16 to 19)."""

    def construct(
        s,
        nbits,
        plan,
        mk_unit,
        modulus=0,
        working_modulus=0,
        finish="none",
        strategy=BEST,
        adder="brent-kung",
    ):
        declare_streams(s, mk_modexp_req(nbits), mk_modexp_resp(nbits))
        wide = plan.nbits

        if modulus:
            s.operand_check = FixedCheck(nbits, modulus)
        else:
            s.operand_check = OperandCheck(nbits, odd_only=True, reduced_only=True)
        s.operand_check.base //= s.istream.msg.base
        s.operand_check.mod //= s.istream.msg.mod

        s.mod_exp = ModExp(plan, mk_unit)
        connect_handshake(s.istream, s.mod_exp.istream)
        s.mod_exp.istream.msg.status //= s.operand_check.status
        s.mod_exp.istream.msg.one //= 1
        connect_low(s.mod_exp.istream.msg.base, s.istream.msg.base)
        connect_low(s.mod_exp.istream.msg.exp, s.istream.msg.exp)
        if working_modulus:
            s.mod_exp.istream.msg.mod //= working_modulus
        else:
            connect_low(s.mod_exp.istream.msg.mod, s.istream.msg.mod)

        if finish == "reduce":
            s.correction = PseudoReduce(wide, modulus, strategy, adder)
            s.correction.modulus //= 0
            s.connect_correction(min(modulus_of(modulus, wide).operand_nbits, nbits))
        elif finish == "remainder":
            s.correction = Remainder(wide, modulus)
            s.connect_correction(nbits)
        else:
            connect_handshake(s.ostream, s.mod_exp.ostream)
            s.ostream.msg.status //= s.mod_exp.ostream.msg.status
            if finish == "subtract":
                s.correction = CondSub(nbits)
                s.correction.value //= s.mod_exp.ostream.msg.result[0 : nbits + 1]
                s.correction.n //= s.mod_exp.ostream.msg.mod[0:nbits]
                s.ostream.msg.result //= s.correction.out
            else:
                s.ostream.msg.result //= s.mod_exp.ostream.msg.result[0:nbits]

    def connect_correction(s, residue_nbits):
        """Pass the result through the correction block, and delay its status by the same cycle."""
        connect_handshake(s.correction.istream, s.mod_exp.ostream)
        s.correction.istream.msg //= s.mod_exp.ostream.msg.result
        connect_handshake(s.ostream, s.correction.ostream)
        s.status = Wire(STATUS_NBITS)
        s.ostream.msg.status //= s.status
        connect_low(s.ostream.msg.result, s.correction.ostream.msg[0:residue_nbits])

        @update_ff
        def keep_status():
            if s.mod_exp.ostream.val & s.mod_exp.ostream.rdy:
                s.status <<= s.mod_exp.ostream.msg.status

    def line_trace(s):
        return f"{s.istream}|{s.mod_exp.line_trace()}|{s.ostream}"
