"""ModExpCL and MontModExpCL: cycle-level twins of machines, which deliver the FL result after the cycles of
timing.py.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ..fl.mod_exp import mod_exp, operand_status
from ..fl.multipliers.montgomery import Montgomery
from ..fl.program.schedules import SCHEDULES
from ..fl.status import Status
from ..rtl.messages import mk_entered_req, mk_entered_resp, mk_modexp_req, mk_modexp_resp
from .one_at_a_time import OneAtATimeCL
from .timing import convert_in_cycles, convert_out_cycles, given_cycles, mod_exp_cycles


def ModExpCL(plan, unit):
    """The twin of the machine of a plan (planned_exp) over units with the timing `unit`."""
    Resp = mk_modexp_resp(plan.nbits)
    domain = "montgomery" if plan.montgomery else "identity"

    def serve(msg, _):
        base, exp, mod = int(msg.base), int(msg.exp), int(msg.mod)
        status = operand_status(base, mod, odd_only=plan.odd_only, reduced_only=plan.reduced_only)
        result = 0
        if status == Status.OK:
            result = mod_exp(base, exp, mod, domain=domain, schedule=plan.schedule, nbits=plan.nbits)
        return Resp(int(status), result), mod_exp_cycles(plan, unit, base, exp, mod)

    return OneAtATimeCL(mk_modexp_req(plan.nbits), Resp, serve, False)


class ConvertedModExpCL(Component):
    """Three units in series: conversion into the domain, exponentiation, and conversion back."""

    def construct(s, nbits, wide, convert_in, exponentiate, convert_out):
        Entered, Left = mk_entered_req(wide), mk_entered_resp(wide)
        s.istream = RecvIfcRTL(mk_modexp_req(nbits))
        s.ostream = SendIfcRTL(mk_modexp_resp(nbits))
        s.convert_in = OneAtATimeCL(mk_modexp_req(nbits), Entered, convert_in, False)
        s.mod_exp = OneAtATimeCL(Entered, Left, exponentiate, False)
        s.convert_out = OneAtATimeCL(Left, mk_modexp_resp(nbits), convert_out, False)
        s.istream //= s.convert_in.istream
        s.convert_in.ostream //= s.mod_exp.istream
        s.mod_exp.ostream //= s.convert_out.istream
        s.ostream //= s.convert_out.ostream

    def line_trace(s):
        return "  ".join(part.line_trace() for part in (s.convert_in, s.mod_exp, s.convert_out))


def MontModExpCL(plan, unit):
    """The twin of MontModExp."""
    nbits = plan.nbits
    Entered, Left, Response = mk_entered_req(nbits), mk_entered_resp(nbits), mk_modexp_resp(nbits)

    def convert_in(msg, _):
        base, mod = int(msg.base), int(msg.mod)
        status = operand_status(base, mod, odd_only=True, reduced_only=True)
        one = entered = 0
        if status == Status.OK:
            domain = Montgomery(mod, nbits)
            one, entered = domain.r_mod_n, domain.product(base, domain.r2_mod_n)
        answer = Entered(int(status), one, entered, msg.exp, msg.mod)
        return answer, convert_in_cycles(unit, nbits, base, mod)

    def exponentiate(msg, _):
        status, exp, mod = int(msg.status), int(msg.exp), int(msg.mod)
        result = 0
        if status == Status.OK:
            domain = Montgomery(mod, nbits)
            result = SCHEDULES[plan.schedule](int(msg.base), exp, domain.product, int(msg.one))
        return Left(status, result, mod), given_cycles(plan, unit, exp, status)

    def convert_out(msg, _):
        result = Montgomery(int(msg.mod), nbits).redc(int(msg.result)) if msg.status == Status.OK else 0
        return Response(msg.status, result), convert_out_cycles(unit)

    return ConvertedModExpCL(nbits, nbits, convert_in, exponentiate, convert_out)
