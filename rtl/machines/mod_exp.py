"""ModExp: base^exp mod mod by repeated products, over any multiplier and any of five schedules.

Paper 001, Algorithm 1 and Figure 6 (right to left, two units side by side), generalised: control and datapath do not
know what a product is, only that a unit answers {a, b} with p over val/rdy and sees the modulus on a static port.
Schedules (UNITS in mod_exp_plan.py): right-to-left-2, right-to-left-1, left-to-right, always, ladder (HAC, 14.79 and 14.76;
Joye and Yen for the ladder). How operands get into Montgomery form and back is the plan's `conversion`.

Ports: istream {base, exp, mod} -> ostream {status, result}; screened: {status, one, base, exp, mod} ->
{status, result, mod}. A status other than 0 says why there is no result (modexlab.fl.status), one cycle after the request.
Exponent 0 gives 1 mod n; modulus 1 gives 0. One operation at a time.

Cycles: modexlab.cl.timing has the closed formula. The schedules `always` and `ladder` take the same number of cycles for all
exponents of a length (of any length with full_scan), if the multiplier does; right to left, `length` is the position of the
highest one. Area order: the units, 4n register bits, one n-bit comparator.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ..messages import mk_entered_req, mk_entered_resp, mk_modexp_req, mk_modexp_resp
from ..units.mod_double import ModDouble
from ..units.square_of_r import SquareOfR
from .mod_exp_ctrl import ModExpCtrl
from .mod_exp_dpath import ModExpDpath
from .mod_exp_plan import State
from .operand_check import OperandCheck


class ModExp(Component):
    """Control, datapath and product units. `mk_unit(nbits)` makes a unit."""

    def construct(s, plan, mk_unit):
        nbits = plan.nbits
        s.istream = RecvIfcRTL(mk_entered_req(nbits) if plan.screened else mk_modexp_req(nbits))
        s.ostream = SendIfcRTL(mk_entered_resp(nbits) if plan.screened else mk_modexp_resp(nbits))

        s.ctrl = ModExpCtrl(plan)
        s.dpath = ModExpDpath(plan)
        s.units = [mk_unit(nbits) for _ in range(plan.nunits)]

        # What arrives, and whether it can be computed.
        s.istream.val //= s.ctrl.istream_val
        s.istream.rdy //= s.ctrl.istream_rdy
        s.istream.msg.base //= s.dpath.in_base
        s.istream.msg.exp //= s.dpath.in_exp
        s.istream.msg.mod //= s.dpath.in_mod
        if plan.conversion == "given":
            s.istream.msg.one //= s.dpath.in_one
        if plan.screened:
            s.istream.msg.status //= s.ctrl.in_status
        else:
            s.operand_check = OperandCheck(nbits, plan.odd_only, plan.reduced_only)
            if plan.reduced_only:
                s.operand_check.base //= s.istream.msg.base
            s.operand_check.mod //= s.istream.msg.mod
            s.operand_check.status //= s.ctrl.in_status

        # What leaves.
        s.ostream.val //= s.ctrl.ostream_val
        s.ostream.rdy //= s.ctrl.ostream_rdy
        s.ostream.msg.status //= s.ctrl.out_status
        s.ostream.msg.result //= s.dpath.result
        if plan.screened:
            s.ostream.msg.mod //= s.dpath.mod

        # Control and datapath: wires of the same name.
        if plan.dpath_sees_state:
            connect(s.ctrl.state_now, s.dpath.st)
        for name in ("accept", "load", "shift", "acc_from", "bas_from", "x1", "y0", "y1"):
            connect(getattr(s.ctrl, name), getattr(s.dpath, name))
        seen = ("bit_now",) if not plan.right_to_left else ()
        for name in ("finished_n", "bit_n", *(("aligned_n",) if plan.aligns else ()), *seen):
            connect(getattr(s.dpath, name), getattr(s.ctrl, name))

        # The product units. Two units serve one operation of a step each; one unit serves both in turn.
        for i, unit in enumerate(s.units):
            unit.modulus //= s.dpath.mod
            unit.istream.val //= s.ctrl.req_val[i]
            unit.istream.rdy //= s.ctrl.req_rdy[i]
            unit.ostream.val //= s.ctrl.resp_val[i]
            unit.ostream.rdy //= 1
            unit.istream.msg.a //= s.dpath.req_a[i]
            unit.istream.msg.b //= s.dpath.req_b[i]
            unit.ostream.msg //= s.dpath.product[i]
        if plan.nunits == 1:
            s.ctrl.second //= s.dpath.second

        if plan.has_setup:
            if plan.conversion == "shift-sub":
                s.setup = SquareOfR(nbits)
            else:
                s.setup = ModDouble(nbits, plan.doublings, plan.doublings_per_cycle)
            s.setup.modulus //= s.dpath.mod
            s.setup.istream.val //= s.ctrl.setup_req_val
            s.setup.istream.rdy //= s.ctrl.setup_req_rdy
            s.setup.istream.msg //= s.dpath.setup_start
            s.setup.ostream.val //= s.ctrl.setup_resp_val
            s.setup.ostream.rdy //= 1
            s.setup.ostream.msg //= s.dpath.setup_in

    def line_trace(s):
        st = State(int(s.ctrl.st)).name.lower()
        units = " ".join("*" if unit.ostream.val else "." for unit in s.units)
        return f"{s.istream}|{st:9s}|{units}|{s.ostream}"
