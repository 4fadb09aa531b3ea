"""ScaledModExp: the machine on a scaled modulus, three units in a row, in the manner of MontModExp (paper
001, Figure 13).

ScaledConvertIn (doublings), a ProgramExp of `wide` bits that takes its operands as given, over ScaledMont
units, and ScaledConvertOut (halvings). Up to three operations are under way; the modulus N, which the
ProgramExp does not need, goes beside it.

Ports: istream {base, exp, mod} -> ostream {status, result}, of nbits, as every machine; an odd modulus, and a
base below it. Cycles: the sum of the three; modexlab.cl.scaled_mont has the closed formula. The plan is that
of the ProgramExp: its width is shape.wide, so that left-to-right schedules scan wide - nbits leading zeros
more than a machine of nbits bits.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ..messages import mk_modexp_req, mk_modexp_resp
from .program_exp import planned_exp
from .scaled_convert import ScaledConvertIn, ScaledConvertOut


class ScaledModExp(Component):
    """`mk_unit(wide)` makes a product unit, as for ProgramExp; without one `mk_core(shape)` makes what stands
    in its place.
    """

    def construct(s, plan, mk_unit, shape, doublings_per_cycle=4, halvings_per_cycle=4, mk_core=None):
        assert plan.conversion == "given" and plan.nbits == shape.wide, plan
        nbits = shape.nbits
        s.istream = RecvIfcRTL(mk_modexp_req(nbits))
        s.ostream = SendIfcRTL(mk_modexp_resp(nbits))

        s.convert_in = ScaledConvertIn(shape, doublings_per_cycle, halvings_per_cycle)
        s.mod_exp = planned_exp(plan, mk_unit) if mk_core is None else mk_core(shape)
        s.convert_out = ScaledConvertOut(shape, halvings_per_cycle)

        s.istream //= s.convert_in.istream
        s.convert_in.ostream //= s.mod_exp.istream
        s.mod_exp.ostream //= s.convert_out.istream
        s.ostream //= s.convert_out.ostream

        s.modulus = Wire(nbits)  # of the operation in the ProgramExp
        s.convert_out.modulus //= s.modulus

        @update_ff
        def follow():
            if s.convert_in.ostream.val & s.convert_in.ostream.rdy:
                s.modulus <<= s.convert_in.modulus

    def line_trace(s):
        parts = (s.convert_in, s.mod_exp, s.convert_out)
        return "  ".join(part.line_trace() for part in parts)
