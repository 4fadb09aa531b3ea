"""DirectMul: a * b mod m for one modulus, as the Verilog operators `*` and `%` (paper 000, equations 24 to
26).

The synthesis tool chooses the circuit; paper 000 uses it as the reference for its compression trees.

Ports: istream {a, b} -> ostream; any words. The port `modulus`, which every product unit has, is not read:
the modulus is constant. Cycles: 1, the result is registered. Accepts the next operands in the cycle in which
its result is accepted. Area order: n^2 full adders for the product and about as many for the remainder.
"""

from pymtl3 import *

from ..messages import declare_product_ports
from .serial_ctrl import answer_registered

# Verilator divides words of up to 4096 bits (its VL_MULS_MAX_WORDS), and a product has twice as many
MAX_NBITS = 2048


class DirectMul(Component):
    UNREAD = (("modulus", "every product unit has this port; here the modulus is baked in"),)

    def construct(s, nbits, modulus):
        declare_product_ports(s, nbits)

        double = 2 * nbits
        MODULUS = mk_bits(double)(modulus)
        s.residue = Wire(double)

        @update
        def multiply():
            s.residue @= (zext(s.istream.msg.a, double) * zext(s.istream.msg.b, double)) % MODULUS

        answer_registered(s, s.residue[0:nbits])

    def line_trace(s):
        return f"{s.istream}|{s.ostream}"
