"""SystolicMontCL and SystolicModExpCL: the cycle-level twins of paper 002's multiplier and exponentiator, and
their formulas.

With s words of k bits, a product starts P = 3s + 2 cycles after the previous one (its words are consumed as
those of the previous product leave):

    a product, all words at once:   4s + 1
    an exponentiation:              max(P, a + 1) + (2 len + 1) P + s - 1

len is the length of the exponent. Its z leading zeros of nbits take a = floor(z / k) + z mod k shifts (z, if
the machine has at most one word). The formula has the 2 len + 2 products of the paper, and s - 1 cycles until
the last word arrives.

Our own machine, on a scaled modulus of L digits, has P = 2 (L + 1) and takes 2 + a + 2 len P + L cycles, or 2
+ a for exponent 0 (between the converters of scaled_mod_exp.py).
"""

from functools import partial

from ..fl.domains import Redundant
from ..fl.mod_exp import mod_exp
from ..fl.multipliers.scaled import ScaledShape
from ..fl.multipliers.systolic import SystolicShape, product
from ..fl.status import Status
from ..rtl.messages import mk_keyed_req
from .one_at_a_time import exponentiation_cl, product_cl
from .timing import FixedTiming, montgomery_status


def systolic_interval(shape: SystolicShape) -> int:
    """Cycles from one product to the next."""
    return 3 * shape.nwords + 2


def systolic_timing(shape: SystolicShape) -> FixedTiming:
    """Timing of SystolicMont, whose product is complete when its last word is."""
    return FixedTiming(4 * shape.nwords + 1)


def systolic_status(shape: SystolicShape, base: int, mod: int) -> Status:
    """The status of these operands."""
    if mod.bit_length() > shape.modulus_nbits:
        return Status.TOO_WIDE
    return montgomery_status(base, mod)


def systolic_mod_exp_cycles(shape: SystolicShape, base: int, exp: int, mod: int) -> int:
    """Cycles of SystolicModExp."""
    if systolic_status(shape, base, mod):
        return 1
    interval = systolic_interval(shape)
    length = exp.bit_length()
    return (
        max(interval, aligns(shape.nbits, shape.digit_nbits, length) + 1)
        + (2 * length + 1) * interval
        + shape.nwords
        - 1
    )


def aligns(nbits: int, k: int, length: int) -> int:
    """The number of shifts, by k bits and by one bit, that bring the highest 1 of the exponent into place."""
    zeros = nbits - length
    return zeros // k + zeros % k if nbits > k else zeros


def scaled_array_timing(shape: ScaledShape) -> FixedTiming:
    """Timing of ScaledArray: products without a pause."""
    return FixedTiming(2 * shape.nsteps)


def systolic_exp_cycles(shape: ScaledShape, exp: int, status: int) -> int:
    """Cycles of SystolicExp, between its converters."""
    if status:
        return 1
    length = exp.bit_length()
    start = 2 + aligns(shape.nbits, shape.digit_nbits, length)
    return start + (2 * length * scaled_array_timing(shape).cycles + shape.ndigits if length else 0)


def SystolicMontCL(shape):
    """The twin of SystolicMont."""
    return product_cl(shape.wide, systolic_timing(shape), partial(product, shape))


def SystolicModExpCL(shape, given):
    """The twin of SystolicModExp. It ignores the given numbers, because it computes them itself."""

    def power(base, exp, mod):
        return mod_exp(base, exp, mod, domain=Redundant(mod, shape.nbits, shape.wide), schedule="always")

    return exponentiation_cl(
        shape.nbits,
        partial(systolic_status, shape),
        power,
        partial(systolic_mod_exp_cycles, shape),
        mk_keyed_req(shape.nbits, given),
    )
