"""MontModExp: the paper's Montgomery machine, three units in series (paper 001, Figure 13).

MontConvertIn (two product units and a divider), a ModExp that takes its operands as given (two product
units), and MontConvertOut (one): five product units, and up to three operations under way.

Ports: istream {base, exp, mod} -> ostream {status, result}, as every machine.
`gated`: whether the registers of MontConvertIn can be gated (mont_convert.py).
Cycles: the sum of the three; modexlab.cl.timing has the closed formula.
"""

from pymtl3 import *

from ..messages import connect_in_series, declare_streams, mk_modexp_req, mk_modexp_resp, trace_conversions
from .mod_exp import ModExp
from .mont_convert import MontConvertIn, MontConvertOut


class MontModExp(Component):
    def construct(s, plan, mk_unit, gated=True):
        nbits = plan.nbits
        declare_streams(s, mk_modexp_req(nbits), mk_modexp_resp(nbits))

        s.convert_in = MontConvertIn(nbits, mk_unit, gated)
        s.mod_exp = ModExp(plan, mk_unit)
        s.convert_out = MontConvertOut(nbits, mk_unit)

        connect_in_series(s, s.convert_in, s.mod_exp, s.convert_out)

    line_trace = trace_conversions
