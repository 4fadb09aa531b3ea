"""SerialModExpCL and SerialExpCL: cycle-level twins of the digit-serial processors, of paper 003 and of our
own, with their formulas.

SerialModExp, with M = ceil((K + 3) / S) digits and an exponent of len bits:

    a product:          (2M + 2) + (K + 3) M
    an exponentiation:  (len + 2) products, or 3 + len + ones with one processor, then M + (M + 1)

A request is accepted M cycles after it is offered, while its operands are loaded into the memories.

SerialExp (fl/multipliers/scaled_serial.py), with M words, of which G hold the digits of a factor, and s
squarings:

    a product:          P = G + (L + 1) M
    an exponentiation:  k + M + doublings (M + 2) + (s + 3 + 2 len) P + 1 + (M + 2) + 2 (M + 2) + M + 1
"""

from functools import partial

from ..fl.mod_exp import mod_exp
from ..fl.multipliers.digit_serial import SerialShape
from ..fl.multipliers.scaled_serial import ScaledSerialShape
from ..rtl.messages import mk_keyed_req
from .one_at_a_time import exponentiation_cl
from .timing import montgomery_status


def serial_products(processors: int, exp: int) -> int:
    """The number of products in series."""
    length = exp.bit_length()
    return length + 2 if processors == 2 else length + exp.bit_count() + 3


def serial_mod_exp_cycles(shape: SerialShape, processors: int, base: int, exp: int, mod: int) -> int:
    """Cycles of SerialModExp."""
    if montgomery_status(base, mod):
        return 1
    return serial_products(processors, exp) * shape.product_cycles + 2 * shape.ndigits + 1


def serial_exp_products(shape: ScaledSerialShape, exp: int) -> int:
    """The number of products: squarings to R^2, two into the domain, two per bit of the exponent, and one out
    of the domain.
    """
    return shape.squarings + 3 + 2 * exp.bit_length()


def serial_exp_cycles(shape: ScaledSerialShape, base: int, exp: int, mod: int) -> int:
    """Cycles of SerialExp."""
    if montgomery_status(base, mod):
        return 1
    words = shape.nwords
    set_up = shape.digit_nbits + words + shape.doublings * (words + 2)
    way_out = 1 + 3 * (words + 2) + words + 1
    return set_up + serial_exp_products(shape, exp) * shape.product_cycles + way_out


def SerialModExpCL(shape, processors, given):
    """The twin of SerialModExp. It ignores the given numbers, because it computes them itself."""
    return exponentiation_cl(
        shape.nbits,
        montgomery_status,
        partial(mod_exp, domain="redundant", nbits=shape.nbits),
        partial(serial_mod_exp_cycles, shape, processors),
        mk_keyed_req(shape.nbits, given),
        loads=shape.ndigits,
    )


def SerialExpCL(shape):
    """The twin of SerialExp."""
    power, cycles = partial(mod_exp, schedule="always"), partial(serial_exp_cycles, shape)
    return exponentiation_cl(shape.nbits, montgomery_status, power, cycles, loads=shape.nwords)
