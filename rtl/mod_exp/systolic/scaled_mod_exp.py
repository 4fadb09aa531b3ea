"""ScaledModExp: the machine on a scaled modulus, three units in series, in the manner of MontModExp (paper
001, Figure 13).

ScaledConvertIn (doublings), a SystolicExp that takes its operands as given, and ScaledConvertOut (halvings).
Up to three operations are under way; the modulus N, which the SystolicExp does not need, goes past it.

Ports: istream {base, exp, mod} -> ostream {status, result}, of nbits, as every machine; an odd modulus, and a
base below it. Cycles: the sum of the three; modexlab.cl.scaled_mod_exp has the closed formula.
"""

from pymtl3 import *

from ...messages import (
    answer_stays,
    connect_in_series,
    declare_streams,
    mk_modexp_req,
    mk_modexp_resp,
    trace_conversions,
)
from .scaled_convert import ScaledConvertIn, ScaledConvertOut
from .systolic_exp import SystolicExp


class ScaledModExp(Component):
    """Exponentiation on a scaled modulus by three units in series: convert in, exponentiate, convert out."""

    def construct(s, shape, doublings_per_cycle, halvings_per_cycle):
        nbits = shape.nbits
        declare_streams(s, mk_modexp_req(nbits), mk_modexp_resp(nbits))

        s.convert_in = ScaledConvertIn(shape, doublings_per_cycle, halvings_per_cycle)
        s.mod_exp = SystolicExp(shape)
        s.convert_out = ScaledConvertOut(shape, halvings_per_cycle)

        answer_stays(s)
        connect_in_series(s, s.convert_in, s.mod_exp, s.convert_out)

        s.modulus = Wire(nbits)  # of the operation in mod_exp
        s.convert_out.modulus //= s.modulus

        @update_ff
        def follow():
            if s.convert_in.ostream.val & s.convert_in.ostream.rdy:
                s.modulus <<= s.convert_in.modulus

    line_trace = trace_conversions
