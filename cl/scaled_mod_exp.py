"""ScaledModExpCL: the cycle-level twin of ScaledModExp, and its formula.

The cycles are max(wide / doublings, w / halvings) + those of SystolicExp + wide / halvings, with the numbers
of doublings and halvings per cycle and wide = w * L. An invalid operand takes 1 cycle in each of the first
two units.
"""

from functools import partial

from pymtl3 import *

from ..fl.multipliers.scaled import ScaledShape
from ..fl.status import Status
from ..rtl.messages import (
    connect_in_series,
    declare_streams,
    mk_entered_req,
    mk_modexp_req,
    mk_modexp_resp,
    trace_conversions,
)
from .one_at_a_time import OneAtATimeCL
from .systolic import systolic_exp_cycles
from .timing import montgomery_status


def scaled_in_cycles(
    shape: ScaledShape, doublings_per_cycle: int, halvings_per_cycle: int, base: int, mod: int
) -> int:
    """Cycles of ScaledConvertIn: doublings to R, and halvings to M' in parallel."""
    if montgomery_status(base, mod):
        return 1
    return max(shape.wide // doublings_per_cycle, shape.scale_nbits // halvings_per_cycle)


def scaled_mod_exp_cycles(
    shape: ScaledShape,
    base: int,
    exp: int,
    mod: int,
    *,
    doublings_per_cycle: int,
    halvings_per_cycle: int,
) -> int:
    """Cycles of ScaledModExp: three units in series, the last of which divides by R by halvings."""
    return (
        scaled_in_cycles(shape, doublings_per_cycle, halvings_per_cycle, base, mod)
        + systolic_exp_cycles(shape, exp, montgomery_status(base, mod))
        + shape.wide // halvings_per_cycle
    )


class ConvertedModExpCL(Component):
    """Three units in series: conversion into a domain, exponentiation, and conversion back.

    cycles_in(base, mod), cycles_between(exp, status) and cycles_out are their cycles. The model does not
    convert numbers, as no port shows the converted values.
    """

    def construct(s, nbits, cycles_in, cycles_between, cycles_out):
        Request, Entered, Response = mk_modexp_req(nbits), mk_entered_req(nbits), mk_modexp_resp(nbits)

        def convert_in(msg, _):
            base, mod = int(msg.base), int(msg.mod)
            status = montgomery_status(base, mod)
            return Entered(int(status), 0, base, msg.exp, mod), cycles_in(base, mod)

        def exponentiate(msg, _):
            status, exp = int(msg.status), int(msg.exp)
            result = pow(int(msg.base), exp, int(msg.mod)) if status == Status.OK else 0
            return Response(status, result), cycles_between(exp, status)

        declare_streams(s, Request, Response)
        s.convert_in = OneAtATimeCL(Request, Entered, convert_in, False)
        s.mod_exp = OneAtATimeCL(Entered, Response, exponentiate, False)
        s.convert_out = OneAtATimeCL(Response, Response, lambda msg, _: (msg.clone(), cycles_out), False)
        connect_in_series(s, s.convert_in, s.mod_exp, s.convert_out)

    line_trace = trace_conversions


def ScaledModExpCL(shape, doublings_per_cycle, halvings_per_cycle):
    """The twin of ScaledModExp."""
    return ConvertedModExpCL(
        shape.nbits,
        partial(scaled_in_cycles, shape, doublings_per_cycle, halvings_per_cycle),
        partial(systolic_exp_cycles, shape),
        shape.wide // halvings_per_cycle,
    )
