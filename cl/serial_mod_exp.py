"""SerialModExpCL: the cycle-level model of SerialModExp, paper 003's digit-serial processors.

A processor adds a digit in each cycle; its phases follow one another. No number of cycles is given: they
follow from the digits of the additions, and tests compare them with the formula (digit_serial.py) and with
RTL.
"""

from functools import partial

from ..fl.words import number_of, shifted, split_words
from .one_at_a_time import stepped_mod_exp_cl, together
from .timing import montgomery_status


def summed(columns, nbits, carry=0):
    """The digits of a sum, one in each cycle from the lowest, and the carry; columns: the sums by digit."""
    digits, mask = [], (1 << nbits) - 1
    for column in columns:
        total = column + carry
        digits.append(total & mask)
        carry = total >> nbits
        yield
    return digits, carry


def difference(x, n, nbits):
    """The digits of x - n, one in each cycle, and whether x is n or more."""
    columns = ((1 << nbits) - 1 - n_j + x_j for x_j, n_j in zip(x, n, strict=True))
    digits, carry = yield from summed(columns, nbits, carry=1)
    return digits, bool(carry)


def doubled(x, nbits):
    """The digits of 2 x, if x has a bit to spare."""
    mask = (1 << nbits) - 1
    return [(x_j << 1 & mask) | below >> nbits - 1 for x_j, below in zip(x, (0, *x[:-1]), strict=True)]


def each_digit(shape):
    """A cycle for each digit that moves."""
    for _ in range(shape.ndigits):
        yield


def additions(shape, a, multiples):
    """U <- (U + V) / 2 for each bit of A from the lowest, with 0, N, 2B or 2B + N for V."""
    nbits, u = shape.digit_nbits, [0] * shape.ndigits
    for _ in range(shape.nsteps):
        v = multiples[2 * (a & 1) + (u[0] & 1)]
        a >>= 1
        digits, carry = yield from summed(map(int.__add__, u, v), nbits)
        u = shifted(digits, carry, nbits, 1)
    return u


def products(shape, factors, b, n):
    """A product with B of each factor, on a processor of its own."""
    nbits, twice = shape.digit_nbits, doubled(b, shape.digit_nbits)
    yield from each_digit(shape)  # the factors enter their registers A, and the last results the memories
    both, _ = yield from summed(map(int.__add__, n, twice), nbits)  # 2B + N
    yield  # its last digit is added
    yield  # and written
    multiples = ([0] * shape.ndigits, n, twice, both)
    works = (additions(shape, number_of(a, nbits), multiples) for a in factors)
    return (yield from together(*works))


def SerialModExpCL(shape, processors, given):
    """The model of SerialModExp."""
    digits_of = partial(split_words, nbits=shape.digit_nbits, count=shape.ndigits)

    def step(p, z, b, n, multiplies=True):
        """P * B, if it multiplies, and Z * B, side by side on two processors or in turn on one."""
        if not multiplies:
            return p, *(yield from products(shape, [z], b, n))
        if processors == 2:
            return (yield from products(shape, [p, z], b, n))
        (p,) = yield from products(shape, [p], b, n)
        return p, *(yield from products(shape, [z], b, n))

    def work(base, exp, mod, square):
        one, z, n = map(digits_of, (1, base, mod))
        yield  # the last digits of the operands are in the memories
        p, z = yield from step(one, z, digits_of(square), n)
        while exp:
            p, z = yield from step(p, z, z, n, multiplies=exp & 1)
            exp >>= 1
        (p,) = yield from products(shape, [p], one, n)
        rest, fits = yield from difference(p, n, shape.digit_nbits)
        yield from each_digit(shape)  # the result leaves the memory
        return number_of(rest if fits else p, shape.digit_nbits)

    # a digit of each operand is loaded in a cycle
    return stepped_mod_exp_cl(shape.nbits, montgomery_status, work, given, loads=shape.ndigits)
