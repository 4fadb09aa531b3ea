"""TinyExpCL: the cycle-level model of TinyExp, and its formula.

The model makes the passes of the machine, a digit of k bits in each cycle. No number of cycles is given: they
follow from the passes, and tests compare them with the formula and with RTL.

In the formula a pass over the n bits takes n / k cycles, a product 2 n + 1 passes (n + 1 if a pass is one
cycle), and each leading bit of the exponent down to its highest 1 takes one cycle:

    n - len + 1 + products n / k (2 n + 1) + 1    where len is at least 1, and products are len + ones

With `full_scan` there are 2 n products, and no bit takes a separate cycle. A refused request is answered one
cycle after it is accepted. Every request is accepted after two passes.
"""

from functools import partial

from ..fl.mod_exp import operand_status
from ..fl.multipliers.bit_by_bit import add_signed, double_signed
from .one_at_a_time import stepped_mod_exp_cl

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


def one_pass(ndigits):
    """A pass over the digits of a number."""
    for _ in range(ndigits):
        yield


def product(x, y, mod, nbits, ndigits):
    """x y mod n by two passes, or one cycle, for each bit of x from the highest."""
    p = 0
    for place in reversed(range(nbits)):
        p = double_signed(p, mod)
        if ndigits > 1:  # otherwise one cycle doubles and adds
            yield from one_pass(ndigits)
        p = add_signed(p, y if x >> place & 1 else 0, mod)
        yield from one_pass(ndigits)
    yield from one_pass(ndigits)  # the result, reduced, takes the place of r
    return p + mod if p < 0 else p


def TinyExpCL(nbits, digit_nbits, full_scan):
    """The model of TinyExp."""
    ndigits = nbits // digit_nbits

    def power(base, exp, mod):
        r, place = 1, nbits - 1
        yield  # the last digit of the base is compared
        if not full_scan:
            while place and not exp >> place & 1:
                place -= 1
                yield
            yield  # the highest 1 is seen, or the lowest bit
        for bit in (exp >> i & 1 for i in reversed(range(place + 1))):
            r = yield from product(r, r, mod, nbits, ndigits)
            if bit or full_scan:
                multiplied = yield from product(r, base, mod, nbits, ndigits)
                r = multiplied if bit else r
        return r

    # one pass opens the words, and one compares the base with the modulus
    return stepped_mod_exp_cl(nbits, tiny_status, power, loads=2 * ndigits, loads_all=True)
