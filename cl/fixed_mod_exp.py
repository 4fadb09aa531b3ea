"""FixedModExpCL: the cycle-level twin of FixedModExp and of the product units built for one modulus."""

from functools import partial

from pymtl3 import *

from ..fl.mod_exp import mod_exp
from ..fl.multipliers.montgomery import Montgomery
from ..fl.multipliers.mul_rem import mul_rem
from ..rtl.messages import declare_streams, mk_modexp_req, mk_modexp_resp
from .one_at_a_time import OneAtATimeCL, exponentiation_cl, product_cl
from .timing import FixedTiming, SerialMontTiming, given_cycles


def DirectMulCL(nbits, modulus):
    """The twin of DirectMul, which gives one result per cycle."""
    return product_cl(nbits, FixedTiming(1), lambda a, b, _: mul_rem(a, b, modulus))


def UnsubtractedCL(nbits):
    """The twin of MMMul(nbits, subtracts=False): the sum after nbits + 1 steps, below twice the modulus,
    without a final subtraction.
    """
    timing = SerialMontTiming(nbits)
    return product_cl(nbits, timing, lambda a, b, mod: Montgomery(mod, nbits + 1).unreduced(a, b))


class FixedModExpCL(Component):
    """The twin of FixedModExp. `inspect(base, mod)` gives the status of operands. With `corrects`, a second
    operation starts while the correction of the first runs.
    """

    def construct(s, nbits, plan, unit, inspect, corrects):
        Request, Response = mk_modexp_req(nbits), mk_modexp_resp(nbits)
        declare_streams(s, Request, Response)

        def cycles(base, exp, mod):
            return given_cycles(plan, unit, exp, inspect(base, mod))

        s.mod_exp = exponentiation_cl(nbits, inspect, partial(mod_exp, schedule=plan.schedule), cycles)
        s.istream //= s.mod_exp.istream
        if corrects:
            s.correction = OneAtATimeCL(Response, Response, lambda msg, _: (msg.clone(), 1), True)
            s.mod_exp.ostream //= s.correction.istream
            s.correction.ostream //= s.ostream
        else:
            s.mod_exp.ostream //= s.ostream

    def line_trace(s):
        return s.mod_exp.line_trace()
