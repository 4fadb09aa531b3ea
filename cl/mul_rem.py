"""MulRemCL: the cycle-level model of MulRem; its multiplier and its divider hold one product each.

Generators do the work of both and yield once for each cycle. No number of cycles is given: they follow from
the steps, and tests compare them with the formula (MulRemTiming) and with RTL.
"""

from pymtl3 import *

from ..fl.multipliers.bit_by_bit import reduced
from ..rtl.messages import declare_product_ports, mk_product_req
from .one_at_a_time import OneAtATimeCL, counted


def multiply(a, b, nbits, bits_per_cycle):
    """The product, in one cycle (bits_per_cycle = 0), or by so many bits of b in each cycle."""
    yield  # the operands, or the product, are stored
    if not bits_per_cycle:
        return a * b
    product = 0
    for i in range(0, nbits, bits_per_cycle):
        digit = b >> i & ((1 << bits_per_cycle) - 1)
        product += (a * digit) << i
        yield
    return product


def divide_restoring(dividend, divisor, nbits, bits_per_cycle):
    """The remainder of 2 * nbits bits by nbits bits: the dividend is brought down from its highest bit."""
    remainder = 0
    yield  # the operands are stored
    for first in range(2 * nbits, 0, -bits_per_cycle):
        for i in range(first - 1, first - 1 - bits_per_cycle, -1):
            remainder = reduced(2 * remainder + (dividend >> i & 1), divisor)
        yield
    return remainder


def divide_aligned(dividend, divisor):
    """The remainder as paper 001 computes it: the divisor is doubled until it exceeds the dividend, halved
    again as often, and subtracted where it fits.
    """
    doublings = 0
    yield  # the operands are stored
    while divisor << doublings <= dividend:
        doublings += 1
        yield
    yield  # the divisor is seen to exceed the dividend
    for i in reversed(range(doublings)):
        dividend = reduced(dividend, divisor << i)
        yield
    return dividend


class MulRemCL(Component):
    def construct(s, nbits, divider="restoring", quotient_bits_per_cycle=1, multiplier_bits_per_cycle=0):
        declare_product_ports(s, nbits)
        Product = mk_bits(2 * nbits)
        Remainder = mk_bits(nbits)

        def multiplied(msg, _):
            product, cycles = counted(multiply(int(msg.a), int(msg.b), nbits, multiplier_bits_per_cycle))
            return Product(product), cycles

        def divided(product, modulus):
            if divider == "aligned":
                work = divide_aligned(int(product), modulus)
            else:
                work = divide_restoring(int(product), modulus, nbits, quotient_bits_per_cycle)
            remainder, cycles = counted(work)
            return Remainder(remainder), cycles

        s.multiplier = OneAtATimeCL(mk_product_req(nbits), Product, multiplied, True)
        s.divider = OneAtATimeCL(Product, Remainder, divided, divider != "aligned", nbits)
        s.divider.modulus //= s.modulus
        s.istream //= s.multiplier.istream
        s.multiplier.ostream //= s.divider.istream
        s.divider.ostream //= s.ostream

    def line_trace(s):
        return f"{s.multiplier.line_trace()}{s.divider.line_trace()}"
