"""TinyExpCL: the cycle-level twin of TinyExp, and its formula.

A pass over the n bits takes n / k cycles, a product 2 n + 1 passes (n + 1 if a pass is one cycle), and each
leading bit of the exponent down to its highest 1 takes one cycle:

    n - len + 1 + products n / k (2 n + 1) + 1    where len is at least 1, and products are len + ones

With `full_scan` there are 2 n products, and no bit takes a separate cycle. A refused request is answered one
cycle after it is accepted. Every request is accepted after two passes.
"""

from functools import partial

from ..fl.mod_exp import mod_exp, operand_status
from .one_at_a_time import exponentiation_cl

tiny_status = partial(operand_status, odd_only=False, reduced_only=True)


def tiny_products(nbits: int, full_scan: bool, exp: int) -> int:
    """The number of products of an exponentiation; the first square is that of 1."""
    return 2 * nbits if full_scan else max(exp.bit_length(), 1) + exp.bit_count()


def tiny_product_cycles(nbits: int, digit_nbits: int) -> int:
    """Cycles of a product: two passes (or one cycle) per bit, and a final pass that reduces the result."""
    digits = nbits // digit_nbits
    return nbits + 1 if digits == 1 else digits * (2 * nbits + 1)


def tiny_exp_cycles(nbits: int, digit_nbits: int, full_scan: bool, base: int, exp: int, mod: int) -> int:
    """Cycles of TinyExp."""
    if tiny_status(base, mod):
        return 1
    scan = 0 if full_scan else nbits - max(exp.bit_length(), 1) + 1
    return scan + tiny_products(nbits, full_scan, exp) * tiny_product_cycles(nbits, digit_nbits) + 1


def TinyExpCL(nbits, digit_nbits, full_scan):
    """The twin of TinyExp."""
    return exponentiation_cl(
        nbits,
        tiny_status,
        mod_exp,
        partial(tiny_exp_cycles, nbits, digit_nbits, full_scan),
        loads=2 * (nbits // digit_nbits),
        loads_all=True,
    )
