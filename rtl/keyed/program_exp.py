"""ProgramExp: a machine that executes a program of products (fl/program/ir.py), over any multiplier.

              +-----------+  DpathIfc   +--------------+
    request --| Sequencer |-------------| ResidueDpath |-- result
              |  MicroRom |             +--------------+
              +-----------+              |  a, b, modulus     |  operand
                    |  handshakes        v    product         v    residue
                    +--------------- product units ------ converter

Neither controller nor datapath knows what a product is: a unit takes {a, b} and answers with their product,
both over val/rdy. It sees the modulus on a static port, and with `block_nbits` the number of blocks to work
on. With two units the products of a microinstruction are made side by side, with one of them one after the
other.

Ports: istream {base, exp, mod, ...} -> ostream {status, result}; the program says which numbers of a key
follow mod. A program with a memory reads its request field by field before it accepts it. A status other than
0 says why there is no result (modexlab.fl.status). One operation at a time. Cycles: modexlab.cl.program has
the rule, modexlab.cl.program_formula closed formulas. Area order: the units, registers of n bits for r, b
(and s), exponent and modulus, the memory.
"""

from pymtl3 import *

from ...fl.status import STATUS_NBITS, Status
from ..messages import answer_stays, declare_streams, fields_of
from ..mod_exp.operand_check import check_operands
from ..units.mod_double import ModDouble
from ..units.scaled.scaled_setup import ScaledSetup
from ..units.serial_ctrl import connect_serial
from ..wires import connect_low
from .microcode import Microcode
from .residue_dpath import ResidueDpath
from .sequencer import Sequencer


class ProgramExp(Component):
    """Modular exponentiation by microcode on residue registers and multipliers."""

    def construct(s, program, mk_unit, shape):
        microcode = Microcode(program, shape)
        declare_streams(s, microcode.request_type, microcode.response_type)
        s.ctrl = Sequencer(microcode)  # executes the program
        s.dpath = ResidueDpath(microcode)  # holds the operands, and selects factors
        s.units = [mk_unit(shape.nbits)]  # computes products
        s.ctrl.dpath //= s.dpath.ctrl

        connect_serial(s)
        answer_stays(s, "" if program.fields else "dpath__mod")
        s.istream.msg //= s.dpath.request
        s.ostream.msg.status //= s.ctrl.out_status
        s.ostream.msg.result //= s.dpath.result
        s.inspect_request(program, shape)
        for i, unit in enumerate(s.units):
            s.connect_unit(unit, i, shape)
        if shape.form:
            s.connect_scaled_setup(shape.form)
        elif microcode.has_converter:
            s.connect_converter(microcode)
        else:
            s.ctrl.convert_done //= 0

    def inspect_request(s, program, shape):
        """The status of a request: whether its operands can be computed with."""
        check_operands(s, shape.nbits, shape.odd_only, shape.reduced_only)
        if program.public:
            s.ctrl.public //= s.istream.msg.public
        if program.public and len(program.fields) > 1:
            s.inspect_key(program.fields)
        elif any(name == "p" for name, _ in program.fields):
            s.in_status = Wire(STATUS_NBITS)
            s.in_status //= s.ctrl.in_status
            BAD_KEY = Status.BAD_KEY

            @update
            def check_primes():
                s.in_status @= s.operand_check.status
                if (s.operand_check.status == 0) & ~(s.istream.msg.p[0] & s.istream.msg.q[0]):
                    s.in_status @= BAD_KEY

        else:
            s.operand_check.status //= s.ctrl.in_status

    def inspect_key(s, fields):
        """Refuse a request with a public exponent and with numbers of a private key, and one with even
        primes.
        """
        s.in_status = Wire(STATUS_NBITS)
        s.in_status //= s.ctrl.in_status
        s.public = Wire()
        s.public //= s.istream.msg.public
        private = [(name, nbits) for name, nbits in fields if name != "public"]
        s.key = Wire(sum(nbits for _, nbits in private))
        s.odd = Wire()  # both primes are odd, or there are none
        BAD_KEY = Status.BAD_KEY
        low = 0
        for number in fields_of(s.istream.msg, private).values():
            nbits = number.get_type().nbits
            s.key[low : low + nbits] //= number
            low += nbits
        if "p" in dict(fields):

            @update
            def primes():
                s.odd @= s.istream.msg.p[0] & s.istream.msg.q[0]

        else:
            s.odd //= 1

        @update
        def check_key():
            s.in_status @= s.operand_check.status
            if (s.operand_check.status == 0) & (s.public & (s.key != 0) | ~s.public & ~s.odd):
                s.in_status @= BAD_KEY

    def connect_unit(s, unit, i, shape):
        """A product unit; on a scaled modulus it gets M', and has zeros above the residue."""
        unit.istream.val //= s.ctrl.req_val[i]
        unit.istream.rdy //= s.ctrl.req_rdy[i]
        unit.ostream.val //= s.ctrl.resp_val[i]
        unit.ostream.rdy //= 1
        unit.istream.msg.a //= s.dpath.req_a[i]
        connect_low(unit.istream.msg.b, s.dpath.req_b[i])
        connect_low(unit.modulus, s.dpath.m_prime if shape.form else s.dpath.mod)
        s.dpath.product[i] //= unit.ostream.msg[0 : shape.residue_nbits]
        if shape.block_nbits:
            unit.nblocks //= s.dpath.nblocks

    def connect_converter(s, microcode):
        shape, counted = microcode.shape, microcode.counts_doublings
        nbits = s.dpath.convert_last.get_type().nbits if counted else 0
        doublings = microcode.doublings, shape.doublings_per_cycle
        s.setup = ModDouble(shape.nbits, *doublings, nbits)  # the converter to the domain
        s.connect_conversion()
        s.setup.ostream.msg //= s.dpath.converted
        if counted:
            s.setup.last //= s.dpath.convert_last

    def connect_scaled_setup(s, form):
        s.setup = ScaledSetup(form)  # the converter to the domain
        s.connect_conversion()
        s.setup.kind //= s.ctrl.convert_kind
        s.setup.m_prime //= s.dpath.m_prime_in
        s.setup.doubled //= s.dpath.converted
        s.setup.ostream.msg //= s.dpath.halved

    def connect_conversion(s):
        s.setup.modulus //= s.dpath.mod
        s.setup.istream.val //= s.ctrl.convert_val
        s.setup.istream.msg //= s.dpath.convert_in
        s.setup.ostream.val //= s.ctrl.convert_done
        s.setup.ostream.rdy //= 1

    def line_trace(s):
        units = " ".join("*" if unit.ostream.val else "." for unit in s.units)
        return f"{s.istream}|{int(s.ctrl.pc):3d}|{units}|{s.ostream}"
