"""ModExpCL and MontModExpCL: cycle-level twins of machines; they return the FL result after the cycles of
timing.py.
"""

from functools import partial

from pymtl3 import *

from ..fl.mod_exp import mod_exp, operand_status
from ..fl.status import Status
from ..rtl.messages import (
    connect_in_series,
    declare_streams,
    mk_entered_req,
    mk_modexp_req,
    mk_modexp_resp,
    trace_conversions,
)
from .one_at_a_time import OneAtATimeCL, exponentiation_cl
from .timing import convert_in_cycles, given_cycles, mod_exp_cycles, montgomery_status


def ModExpCL(plan, unit):
    """The twin of the machine of a plan (planned_exp) over units with the timing `unit`."""
    domain = "montgomery" if plan.montgomery else "identity"
    return exponentiation_cl(
        plan.nbits,
        partial(operand_status, odd_only=plan.odd_only, reduced_only=plan.reduced_only),
        partial(mod_exp, domain=domain, schedule=plan.schedule, nbits=plan.nbits),
        partial(mod_exp_cycles, plan, unit),
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


def MontModExpCL(plan, unit):
    """The twin of MontModExp."""
    return ConvertedModExpCL(
        plan.nbits,
        partial(convert_in_cycles, unit, plan.nbits),
        partial(given_cycles, plan, unit),
        unit.latency(mod=1),
    )
