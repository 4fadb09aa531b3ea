"""TinyExpCL: the cycle-level twin of TinyExp, and its formula.

A pass over the n bits takes n / k cycles, a product n + 1 passes, and each bit of the exponent one more:
    n / k (n + products (n + 1)) + 1    where products are max(len, 1) squares and one for each 1, or 2 n
A refused request is answered a cycle after it is taken. Any request is taken after a pass.
"""

from functools import partial

from ..fl.mod_exp import mod_exp, operand_status
from .one_at_a_time import exponentiation_cl

tiny_status = partial(operand_status, odd_only=False, reduced_only=True)


def tiny_products(nbits: int, full_scan: bool, exp: int) -> int:
    """The products of an exponentiation; the first square is that of 1."""
    return 2 * nbits if full_scan else max(exp.bit_length(), 1) + exp.bit_count()


def tiny_exp_cycles(nbits: int, digit_nbits: int, full_scan: bool, base: int, exp: int, mod: int) -> int:
    """TinyExp."""
    if tiny_status(base, mod):
        return 1
    passes = nbits + tiny_products(nbits, full_scan, exp) * (nbits + 1)
    return nbits // digit_nbits * passes + 1


def TinyExpCL(nbits, digit_nbits, full_scan):
    """The twin of TinyExp."""
    return exponentiation_cl(
        nbits,
        tiny_status,
        mod_exp,
        partial(tiny_exp_cycles, nbits, digit_nbits, full_scan),
        loads=nbits // digit_nbits,
        loads_all=True,
    )
