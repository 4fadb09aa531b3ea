"""MulRemCL: the cycle-level twin of MulRem; its multiplier and its divider hold one product each."""

from pymtl3 import *

from ..fl.multipliers.mul_rem import mul_rem
from ..rtl.messages import declare_product_ports, mk_product_req
from .one_at_a_time import OneAtATimeCL
from .timing import MulRemTiming


class MulRemCL(Component):
    def construct(s, nbits, divider="restoring", quotient_bits_per_cycle=1, multiplier_bits_per_cycle=0):
        declare_product_ports(s, nbits)
        timing = MulRemTiming(nbits, divider, quotient_bits_per_cycle, multiplier_bits_per_cycle)
        Product = mk_bits(2 * nbits)
        Remainder = mk_bits(nbits)

        def multiply(msg, _):
            return Product(int(msg.a) * int(msg.b)), timing.multiply_cycles

        def divide(product, modulus):
            return Remainder(mul_rem(int(product), 1, modulus)), timing.divide_cycles(int(product), modulus)

        s.multiplier = OneAtATimeCL(mk_product_req(nbits), Product, multiply, True)
        s.divider = OneAtATimeCL(Product, Remainder, divide, divider != "aligned", nbits)
        s.divider.modulus //= s.modulus
        s.istream //= s.multiplier.istream
        s.multiplier.ostream //= s.divider.istream
        s.divider.ostream //= s.ostream

    def line_trace(s):
        return f"{s.multiplier.line_trace()}{s.divider.line_trace()}"
