"""FixedModExpCL: the cycle-level twin of FixedModExp and of the product units built for one modulus."""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ..fl.mod_exp import mod_exp
from ..fl.multipliers.montgomery import Montgomery
from ..fl.multipliers.mul_rem import mul_rem
from ..fl.status import Status
from ..rtl.messages import mk_modexp_req, mk_modexp_resp, mk_product_req
from .one_at_a_time import OneAtATimeCL
from .timing import SerialMontTiming, given_cycles


def DirectMulCL(nbits, modulus):
    """The twin of DirectMul: a result a cycle."""
    Word = mk_bits(nbits)

    def serve(msg, _):
        return Word(mul_rem(int(msg.a), int(msg.b), modulus)), 1

    return OneAtATimeCL(mk_product_req(nbits), Word, serve, True, nbits)


def UnsubtractedCL(nbits):
    """The twin of MMMul(nbits, subtracts=False): the sum as it is after nbits + 1 steps, below twice the
    modulus.
    """
    Word = mk_bits(nbits)

    def serve(msg, modulus):
        a, b = int(msg.a), int(msg.b)
        r = 1 << (nbits + 1)
        q = a * b * Montgomery(modulus, nbits + 1).n_prime % r
        return Word((a * b + q * modulus) // r), SerialMontTiming(nbits).fixed

    return OneAtATimeCL(mk_product_req(nbits), Word, serve, True, nbits)


class FixedModExpCL(Component):
    """`inspect(base, mod)` gives the status of operands; with `corrects`, a second operation starts behind
    the first.
    """

    def construct(s, nbits, plan, unit, inspect, corrects):
        Request, Response = mk_modexp_req(nbits), mk_modexp_resp(nbits)
        s.istream = RecvIfcRTL(Request)
        s.ostream = SendIfcRTL(Response)

        def exponentiate(msg, _):
            base, exp, mod = int(msg.base), int(msg.exp), int(msg.mod)
            status = inspect(base, mod)
            result = 0
            if status == Status.OK:
                result = mod_exp(base, exp, mod, schedule=plan.schedule)
            return Response(int(status), result), given_cycles(plan, unit, exp, status)

        s.mod_exp = OneAtATimeCL(Request, Response, exponentiate, False)
        s.istream //= s.mod_exp.istream
        if corrects:
            s.correction = OneAtATimeCL(Response, Response, lambda msg, _: (msg.clone(), 1), True)
            s.mod_exp.ostream //= s.correction.istream
            s.correction.ostream //= s.ostream
        else:
            s.mod_exp.ostream //= s.ostream

    def line_trace(s):
        return s.mod_exp.line_trace()
