"""ScaledModExpCL: the cycle-level twin of ScaledModExp, and its formula.

Cycles: max(wide / doublings, w / halvings) + those of SystolicExp + wide / halvings, with doublings and
halvings a cycle and wide = w * L. A bad operand costs 1 cycle in each of the first two.
"""

from __future__ import annotations

from pymtl3 import *

from ..fl.mod_exp import operand_status
from ..fl.multipliers.scaled import ScaledMontgomery, ScaledShape
from ..fl.status import Status
from ..rtl.messages import mk_entered_req, mk_entered_resp, mk_modexp_resp
from .mod_exp import ConvertedModExpCL
from .systolic import systolic_exp_cycles


def scaled_in_cycles(
    shape: ScaledShape, doublings_per_cycle: int, halvings_per_cycle: int, base: int, mod: int
) -> int:
    """ScaledConvertIn: doublings to R, and halvings to M' beside them."""
    if operand_status(base, mod, odd_only=True, reduced_only=True) != Status.OK:
        return 1
    return max(shape.wide // doublings_per_cycle, shape.scale_nbits // halvings_per_cycle)


def scaled_out_cycles(shape: ScaledShape, halvings_per_cycle: int) -> int:
    """ScaledConvertOut: halvings by R."""
    return shape.wide // halvings_per_cycle


def scaled_mod_exp_cycles(
    shape: ScaledShape,
    base: int,
    exp: int,
    mod: int,
    *,
    doublings_per_cycle: int,
    halvings_per_cycle: int,
) -> int:
    """Return the cycles of ScaledModExp: three units in series."""
    status = operand_status(base, mod, odd_only=True, reduced_only=True)
    return (
        scaled_in_cycles(shape, doublings_per_cycle, halvings_per_cycle, base, mod)
        + systolic_exp_cycles(shape, exp, status)
        + scaled_out_cycles(shape, halvings_per_cycle)
    )


def ScaledModExpCL(shape, doublings_per_cycle, halvings_per_cycle):
    """The twin of ScaledModExp; N goes along as the modulus."""
    nbits, wide = shape.nbits, shape.wide
    Entered, Left, Response = mk_entered_req(wide), mk_entered_resp(wide), mk_modexp_resp(nbits)

    def convert_in(msg, _):
        base, exp, mod = int(msg.base), int(msg.exp), int(msg.mod)
        status = operand_status(base, mod, odd_only=True, reduced_only=True)
        one = entered = 0
        if status == Status.OK:
            one, entered = (1 << wide) % mod, (base << wide) % mod
        cycles = scaled_in_cycles(shape, doublings_per_cycle, halvings_per_cycle, base, mod)
        return Entered(int(status), one, entered, exp, mod), cycles

    def exponentiate(msg, _):
        status, exp, mod = int(msg.status), int(msg.exp), int(msg.mod)
        result = 0
        if status == Status.OK:
            scaled = ScaledMontgomery(mod, shape)
            result = scaled.enter(pow(scaled.leave(int(msg.base)), exp, mod))
        return Left(status, result, mod), systolic_exp_cycles(shape, exp, status)

    def convert_out(msg, _):
        result = 0
        if msg.status == Status.OK:
            result = ScaledMontgomery(int(msg.mod), shape).leave(int(msg.result))
        return Response(msg.status, result), scaled_out_cycles(shape, halvings_per_cycle)

    return ConvertedModExpCL(nbits, wide, convert_in, exponentiate, convert_out)
