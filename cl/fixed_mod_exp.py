"""FixedModExpCL: the cycle-level model of FixedModExp, and those of the multipliers made for one modulus."""

from pymtl3 import *

from ..fl.multipliers.bit_by_bit import add_reds
from ..rtl.messages import declare_streams, mk_entered_resp, mk_modexp_req, mk_modexp_resp
from .mod_exp import ModExpCL
from .one_at_a_time import OneAtATimeCL, stepped_cl


def DirectMulCL(nbits, modulus):
    """DirectMul, which gives one result per cycle."""

    def work(a, b, _):
        yield  # the product is stored
        return a * b % modulus

    return stepped_cl(nbits, work)


def UnsubtractedCL(nbits):
    """MMMul(nbits, subtracts=False): a step more in the place of the subtraction, for R = 2^(nbits + 1). The
    sum is below twice the modulus.
    """

    def work(a, b, n):
        state = 0
        yield  # the operands are stored
        for i in range(nbits + 1):
            state = add_reds(state, b >> i, a, n, 1)
            yield
        return state

    return stepped_cl(nbits, work)


class FixedModExpCL(Component):
    """The model of FixedModExp. `inspect(base, mod)` is the status of operands; working: the modulus of the
    products, 0 for that of the request; finish: the last correction.
    """

    def construct(s, nbits, plan, mk_unit, inspect, modulus, working, finish):
        Entered, Response = mk_entered_resp(plan.nbits), mk_modexp_resp(nbits)
        declare_streams(s, mk_modexp_req(nbits), Response)
        s.mod_exp = ModExpCL(plan, mk_unit)
        s.mod_exp.istream.val //= s.istream.val
        s.mod_exp.istream.rdy //= s.istream.rdy
        s.result = Wire(nbits)

        @update
        def request():
            base, mod = int(s.istream.msg.base), int(s.istream.msg.mod)
            s.mod_exp.istream.msg.status @= int(inspect(base, mod))
            s.mod_exp.istream.msg.one @= 1
            s.mod_exp.istream.msg.base @= base
            s.mod_exp.istream.msg.exp @= int(s.istream.msg.exp)
            s.mod_exp.istream.msg.mod @= working or mod

        if finish in ("reduce", "remainder"):
            # the next operation starts meanwhile
            def correction(msg, _):
                return Response(msg.status, int(msg.result) % modulus), 1

            s.correction = OneAtATimeCL(Entered, Response, correction, True)
            s.mod_exp.ostream //= s.correction.istream
            s.correction.ostream //= s.ostream
        else:
            s.ostream.val //= s.mod_exp.ostream.val
            s.ostream.rdy //= s.mod_exp.ostream.rdy
            s.ostream.msg.status //= s.mod_exp.ostream.msg.status
            s.ostream.msg.result //= s.result

            @update
            def subtract():
                result, mod = int(s.mod_exp.ostream.msg.result), int(s.mod_exp.ostream.msg.mod)
                s.result @= result - mod if finish == "subtract" and result >= mod else result

    def line_trace(s):
        return s.mod_exp.line_trace()
