"""ModExp: base^exp mod n, bit by bit, on one or two multipliers (paper 001, Figures 6 and 10).

                  +------------+  enables, selects   +-------------+
    istream ----> | ModExpCtrl | ------------------> | ModExpDpath | ----> ostream
    {base, exp,   |            | <------------------ |             |       {status, result}
     mod}         +------------+  bits of exp        +-------------+
                    |  val, rdy                        | a, b, mod ^       | operand     ^
                    v                                  v           | p     v             |
                  +-----------------------------------------------------+  +-------------------+
                  | units[0], units[1]: r * b, b * b, ...               |  | setup: converter  |
                  +-----------------------------------------------------+  +-------------------+

The plan (fl/program/plan.py) says in which order the products come, how the operands enter the domain of the
multipliers, and thereby which states there are (shape.py). Neither controller nor datapath knows what a
product is: a unit takes {a, b} and answers with their product, both over val/rdy. The modulus is static while
a unit is busy.

Ports: istream {base, exp, mod} -> ostream {status, result}. A status other than 0 says why there is no result
(modexlab.fl.status). With `plan.screened` operands were checked before: istream {status, one, base, exp,
mod} -> ostream {status, result, mod}. One operation at a time. Cycles: modexlab.cl.timing. Area order: the
units, registers of n bits for r, b, exponent and modulus, the converter.
"""

from pymtl3 import *

from ..messages import (
    answer_stays,
    declare_streams,
    mk_entered_req,
    mk_entered_resp,
    mk_modexp_req,
    mk_modexp_resp,
)
from ..units.mod_double import ModDouble
from ..units.serial_ctrl import connect_serial
from ..units.square_of_r import SquareOfR
from .mod_exp_ctrl import ModExpCtrl
from .mod_exp_dpath import ModExpDpath
from .operand_check import check_operands
from .shape import ModExpShape


class ModExp(Component):
    """Modular exponentiation bit by bit, with the multipliers of `mk_unit(nbits)`."""

    def construct(s, plan, mk_unit):
        shape, nbits = ModExpShape(plan), plan.nbits
        Request, Response = mk_modexp_req(nbits), mk_modexp_resp(nbits)
        if plan.screened:
            Request, Response = mk_entered_req(nbits), mk_entered_resp(nbits)
        declare_streams(s, Request, Response)
        s.ctrl = ModExpCtrl(shape)
        s.dpath = ModExpDpath(shape, Request)
        s.units = [mk_unit(nbits) for _ in range(plan.nunits)]

        s.ctrl.dpath //= s.dpath.ctrl
        connect_serial(s)
        s.istream.msg //= s.dpath.request
        s.ostream.msg.status //= s.ctrl.out_status
        s.ostream.msg.result //= s.dpath.result
        if plan.screened:
            answer_stays(s)
            s.istream.msg.status //= s.ctrl.in_status
            s.ostream.msg.mod //= s.dpath.mod
        else:
            answer_stays(s, "dpath__mod")
            check_operands(s, nbits, plan.odd_only, plan.reduced_only)
            s.operand_check.status //= s.ctrl.in_status

        for i, unit in enumerate(s.units):
            unit.modulus //= s.dpath.mod
            unit.istream.val //= s.ctrl.req_val[i]
            unit.istream.rdy //= s.ctrl.req_rdy[i]
            unit.istream.msg.a //= s.dpath.req_a[i]
            unit.istream.msg.b //= s.dpath.req_b[i]
            unit.ostream.val //= s.ctrl.resp_val[i]
            unit.ostream.rdy //= 1
            unit.ostream.msg //= s.dpath.product[i]
        if shape.converts:
            s.connect_converter(plan)

    def connect_converter(s, plan):
        """Doublings of the base and of 1, or of 1 for a constant, to which paper 004 has another way."""
        if plan.conversion == "shift-sub":
            s.setup = SquareOfR(plan.nbits)
        else:
            s.setup = ModDouble(plan.nbits, plan.doublings, plan.doublings_per_cycle)
        s.setup.modulus //= s.dpath.mod
        s.setup.istream.val //= s.ctrl.convert_val
        s.setup.istream.msg //= s.dpath.convert_in
        s.setup.ostream.val //= s.ctrl.convert_done
        s.setup.ostream.rdy //= 1
        s.setup.ostream.msg //= s.dpath.converted

    def line_trace(s):
        units = " ".join("*" if unit.ostream.val else "." for unit in s.units)
        return f"{s.istream}|{s.ctrl.line_trace()}|{units}|{s.ostream}"
