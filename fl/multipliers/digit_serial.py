"""Digit-serial processor of paper 003: Montgomery's product by additions of digits, powers, and widths.

U <- (U + V) / 2 is repeated K + 3 times, where V is 0, 2B, N or 2B + N, depending on a bit of A and the
lowest bit of U (Algorithm 17.1.1 as implemented in section 17.2), so R = 2^(K + 2). An addition takes M =
ceil((K + 3) / S) digits of S bits: U and 2B + N stay below 5N. The paper has ceil((K + 2) / S), which is the
same at its widths, but one bit short if S divides K + 2.
"""

from dataclasses import dataclass

from ..errors import BadInput, bits, require_nbits
from .bit_by_bit import reduced

LEAST_DIGIT = 2
DIGIT_NBITS = range(LEAST_DIGIT, 1025)  # legal S
LEAST_DIGITS = 3  # an addition must write a digit before the next addition reads it


@dataclass(frozen=True)
class SerialShape:
    """The digits of a machine for moduli of `nbits` bits (K), each with `digit_nbits` bits (S)."""

    nbits: int
    digit_nbits: int

    def __post_init__(self) -> None:
        require_nbits("digits", self.digit_nbits, DIGIT_NBITS)
        if self.ndigits < LEAST_DIGITS:
            most = widest_digit(self.nbits)
            raise BadInput(
                f"digits of {bits(self.digit_nbits)} are {self.ndigits} to a word of {self.nbits} + 3 bits, "
                "and the pipeline needs "
                f"{LEAST_DIGITS} or more; the nearest that the width can have is {most}"
            )

    @property
    def ndigits(self) -> int:
        """M, the number of digits of a number."""
        return -(-(self.nbits + 3) // self.digit_nbits)

    @property
    def wide(self) -> int:
        """The width of all digits together."""
        return self.ndigits * self.digit_nbits

    @property
    def nsteps(self) -> int:
        """The number of additions of a product."""
        return self.nbits + 3


def widest_digit(nbits: int) -> int:
    """The widest digit with which a word still has enough digits."""
    return -(-(nbits + 3) // (LEAST_DIGITS - 1)) - 1


def product(nbits: int, a: int, b: int, n: int) -> int:
    """a * b / 2^(nbits + 2) modulo n, below 2n for a and b below 2n, addition by addition."""
    v = (0, n, 2 * b, 2 * b + n)
    u = 0
    for i in range(nbits + 3):
        u = (u + v[2 * (a >> i & 1) + (u & 1)]) >> 1
    return u


def power(nbits: int, base: int, exp: int, n: int) -> int:
    """base^exp modulo n by the products P and Z from the lowest bit of the exponent (Algorithm 17.1.2), for
    an odd n and a base below n.
    """
    square = 4 ** (nbits + 2) % n
    p, z = product(nbits, 1, square, n), product(nbits, base, square, n)
    while exp:
        if exp & 1:
            p = product(nbits, p, z, n)
        z = product(nbits, z, z, n)
        exp >>= 1
    return reduced(product(nbits, p, 1, n), n)
