"""ProgramExp: a machine that executes a program of products (fl/program/ir.py), over any multiplier.

Sequencer, datapath (ResidueDpath), product units, and a unit that doubles. Neither control nor datapath knows
what a product is: a unit answers {a, b} with p over val/rdy and sees the modulus on a static port, and with
`block_nbits` the number of blocks that it is to take. A program decides what there is: with two units
products of a word go side by side, with one of them one behind the other.

Ports: istream {base, exp, mod, ...} -> ostream {status, result}; what is behind mod belongs to a key, and is
said by the program. The request of a program with a memory is looked at for some cycles, a field a cycle,
before it is taken. A status other than 0 says why there is no result (modexlab.fl.status). One operation at a
time. Cycles: modexlab.cl.program has the rule, modexlab.cl.program_formula closed formulas. Area order: the
units, registers of n bits for r, b (and s), exponent and modulus, the memory.
"""

from pymtl3 import *

from ...fl.program.builder import program_of
from ...fl.program.ir import Setup
from ...fl.status import STATUS_NBITS, Status
from ..messages import (
    declare_streams,
    mk_entered_req,
    mk_entered_resp,
    mk_keyed_req,
    mk_modexp_req,
    mk_modexp_resp,
)
from ..units.mod_double import ModDouble
from ..units.scaled.scaled_setup import ScaledSetup
from ..units.square_of_r import SquareOfR
from .microcode import Microcode
from .operand_check import check_operands
from .residue_dpath import ResidueDpath
from .sequencer import Sequencer


def planned_exp(plan, mk_unit, domain="identity"):
    """The machine of a plan; `domain`: of its multiplier, where operands are not given in it."""
    return ProgramExp(
        plan.nbits,
        program_of(plan.recipe(domain)),
        mk_unit,
        plan.nunits,
        plan.forward,
        plan.odd_only,
        plan.reduced_only,
        per_cycle=plan.doublings_per_cycle,
        screened=plan.screened,
    )


def ports(component):
    """The names of a component's ports, but for those that every component has."""
    return [
        name
        for name, var in vars(component).items()
        if isinstance(var, InPort | OutPort) and name not in ("clk", "reset")
    ]


class ProgramExp(Component):
    """`mk_unit(nbits)` makes a product unit; of `block_nbits` bits are the blocks of a unit that fits its
    modulus (0: it does not).

    screened: operands come with a status, and those that are given with their 1; results leave with their
    modulus. form: of units on a scaled modulus (fl/multipliers/scaled_entry.py), whose port `modulus` has M'.
    """

    def construct(
        s,
        nbits,
        program,
        mk_unit,
        nunits,
        forward,
        odd_only,
        reduced_only,
        block_nbits=0,
        per_cycle=4,
        screened=False,
        form=None,
    ):
        code = Microcode(program, nunits, per_cycle, forward)
        fields = program.fields
        if screened:
            declare_streams(s, mk_entered_req(nbits), mk_entered_resp(nbits))
            fields = (("one", nbits),) if program.given else ()
        else:
            declare_streams(
                s, mk_keyed_req(nbits, fields) if fields else mk_modexp_req(nbits), mk_modexp_resp(nbits)
            )

        s.ctrl = Sequencer(code)
        s.dpath = ResidueDpath(code, nbits, fields, block_nbits, form)
        s.units = [mk_unit(nbits) for _ in range(nunits)]

        # What arrives, and whether it can be computed.
        s.istream.val //= s.ctrl.istream_val
        s.istream.rdy //= s.ctrl.istream_rdy
        for name in ("base", "exp", "mod", *(name for name, _ in fields)):
            connect(getattr(s.istream.msg, name), getattr(s.dpath, f"in_{name}"))
        if not screened:
            check_operands(s, nbits, odd_only, reduced_only)
        if screened:
            s.istream.msg.status //= s.ctrl.in_status
        elif any(name == "p" for name, _ in fields):
            s.in_status = Wire(STATUS_NBITS)
            BAD_KEY = int(Status.BAD_KEY)
            s.in_status //= s.ctrl.in_status

            @update
            def check_primes():
                s.in_status @= s.operand_check.status
                if (s.operand_check.status == 0) & ~(s.istream.msg.p[0] & s.istream.msg.q[0]):
                    s.in_status @= BAD_KEY

        else:
            s.operand_check.status //= s.ctrl.in_status

        # What leaves.
        s.ostream.val //= s.ctrl.ostream_val
        s.ostream.rdy //= s.ctrl.ostream_rdy
        s.ostream.msg.status //= s.ctrl.out_status
        s.ostream.msg.result //= s.dpath.result
        if screened:
            s.ostream.msg.mod //= s.dpath.mod

        # Control and datapath: wires of the same name.
        for name in sorted(set(ports(s.ctrl)) & set(ports(s.dpath))):
            connect(getattr(s.ctrl, name), getattr(s.dpath, name))

        # The product units.
        for i, unit in enumerate(s.units):
            if form is None:
                unit.modulus //= s.dpath.mod
            else:
                part, places = form.shape.nbits, form.word_nbits
                unit.modulus[0:part] //= s.dpath.m_prime
                unit.modulus[part : form.shape.wide] //= 0
            if block_nbits:
                unit.nblocks //= s.dpath.nblocks
            unit.istream.val //= s.ctrl.req_val[i]
            unit.istream.rdy //= s.ctrl.req_rdy[i]
            unit.ostream.val //= s.ctrl.resp_val[i]
            unit.ostream.rdy //= 1
            unit.istream.msg.a //= s.dpath.req_a[i]
            if form is None:
                unit.istream.msg.b //= s.dpath.req_b[i]
                unit.ostream.msg //= s.dpath.product[i]
            else:
                unit.istream.msg.b[0:places] //= s.dpath.req_b[i]
                unit.istream.msg.b[places : form.shape.wide] //= 0
                unit.ostream.msg[0:places] //= s.dpath.product[i]

        if form is not None:
            s.setup = ScaledSetup(form)
            s.setup.modulus //= s.dpath.mod
            s.setup.kind //= s.ctrl.setup_kind
            s.setup.m_prime //= s.dpath.m_prime_in
            s.setup.istream.val //= s.ctrl.setup_req_val
            s.setup.istream.msg //= s.dpath.setup_start
            s.setup.ostream.val //= s.ctrl.setup_resp_val
            s.setup.ostream.rdy //= 1
            s.setup.doubled //= s.dpath.setup_in
            s.setup.ostream.msg //= s.dpath.left
        elif code.converts:
            counted = code.doublings is None
            most = s.dpath.setup_last.get_type().nbits if counted else 0
            if program.find(Setup)[0].kind == "square":
                s.setup = SquareOfR(nbits)
            else:
                s.setup = ModDouble(nbits, code.doublings, per_cycle, most)
            s.setup.modulus //= s.dpath.mod
            s.setup.istream.val //= s.ctrl.setup_req_val
            s.setup.istream.msg //= s.dpath.setup_start
            s.setup.ostream.val //= s.ctrl.setup_resp_val
            s.setup.ostream.rdy //= 1
            s.setup.ostream.msg //= s.dpath.setup_in
            if counted:
                s.setup.last //= s.dpath.setup_last

    def line_trace(s):
        units = " ".join("*" if unit.ostream.val else "." for unit in s.units)
        return f"{s.istream}|{int(s.ctrl.pc):3d}|{units}|{s.ostream}"
