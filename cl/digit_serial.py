"""Formulas for the cycles of the digit-serial processors, of paper 003 and of our own; serial_mod_exp.py and
serial_exp.py have their models.

SerialModExp, with M = ceil((K + 3) / S) digits and an exponent of len bits:

    a product:          (2M + 2) + (K + 3) M
    an exponentiation:  (len + 2) products, or 3 + len + ones with one processor, then M + (M + 1)

A request is accepted M cycles after it is offered, while its operands are loaded into the memories.

SerialExp (fl/multipliers/scaled_serial.py), with M words, of which G hold the digits of a factor, and s
squarings:

    a product:          P = G + (L + 1) M
    an exponentiation:  k + M + doublings (M + 2) + (s + 3 + 2 len) P + 1 + (M + 2) + 2 (M + 2) + M + 1
"""

from ..fl.multipliers.digit_serial import SerialShape
from ..fl.multipliers.scaled_serial import ScaledSerialShape
from .timing import montgomery_status


def serial_product_cycles(shape: SerialShape) -> int:
    """Cycles of a product: loading A into its register, computing 2B + N, the pipeline latency, and the
    additions.
    """
    return 2 * shape.ndigits + 2 + shape.nsteps * shape.ndigits


def scaled_serial_product_cycles(shape: ScaledSerialShape) -> int:
    """Cycles of a product: one per group for the words of x, and one per word of each step."""
    return shape.groups + shape.scaled.nsteps * shape.nwords


def serial_products(processors: int, exp: int) -> int:
    """The number of products in series."""
    length = exp.bit_length()
    return length + 2 if processors == 2 else length + exp.bit_count() + 3


def serial_mod_exp_cycles(shape: SerialShape, processors: int, base: int, exp: int, mod: int) -> int:
    """Cycles of SerialModExp."""
    if montgomery_status(base, mod):
        return 1
    return serial_products(processors, exp) * serial_product_cycles(shape) + 2 * shape.ndigits + 1


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
    return set_up + serial_exp_products(shape, exp) * scaled_serial_product_cycles(shape) + way_out
