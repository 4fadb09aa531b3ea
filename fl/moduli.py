"""The moduli of compression-tree arithmetic: 2^n, 2^n - 1, 2^n + 1, 2^n - k and 2^n + k (paper 000, section
2.2.1).

The modulus is known when hardware is generated. Its shape determines how a bit beyond the word is folded
back: it is dropped, added at the low end, subtracted there, or replaced by k times its weight.

The moduli of paper 000's own family (equations 22 and 23), m2 = (2^(n+2) - 1) / 3, are for arithmetic and for
benchmarks of multipliers, not for keys: n is even, so with t = n/2 + 1 they are the products (2^t - 1)(2^t +
1) / 3 of known factors. None of them is an RSA modulus.
"""

import re
from dataclasses import dataclass
from math import gcd

from .errors import BadInput, shown, unknown

SHAPES = ("2^n", "2^n-1", "2^n+1", "2^n-k", "2^n+k")
MAX_PLANNED_NBITS = 1040  # of a modulus: 1024 bits, and the extra bits of a pseudo-modulus


@dataclass(frozen=True)
class Modulus:
    """A modulus of one of the shapes; k is 0 for 2^n and 1 for 2^n - 1 and 2^n + 1."""

    shape: str
    n: int
    k: int

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise unknown("shape of a modulus", self.shape, SHAPES)
        if not 2 <= self.n <= MAX_PLANNED_NBITS:
            raise BadInput(f"n = {self.n} in a modulus {self.shape}: give 2 to {MAX_PLANNED_NBITS}")
        self._check_k()

    def _check_k(self) -> None:
        shape, n, k = self.shape, self.n, self.k
        if not self.shape.endswith("k"):
            if k != int(shape != "2^n"):
                raise BadInput(f"k = {shown(k)} with shape {shape}: take shape {_shape_with(self.sign, k)}")
            return
        least = 4 if self.sign < 0 else 3
        if n < least:
            raise BadInput(f"n = {n} in a modulus {shape}: there is no k for it; give n of {least} or more")
        # a larger k would give 2^(n-1) + 1 or 2^(n+1) - 1, or another length
        largest = (1 << (n - 1 if self.sign < 0 else n)) - 3
        if k in (0, 1):
            raise BadInput(f"k = {k} with shape {shape}: take shape {_shape_with(self.sign, k)}")
        if not 3 <= k <= largest:
            nearest = min(max(k, 3), largest)
            raise BadInput(
                f"k = {shown(k)} with shape {shape} and n = {n}: give an odd k from 3 to {shown(largest)}, "
                f"the nearest is {shown(nearest)}"
            )
        if k % 2 == 0:
            raise BadInput(
                f"k = {shown(k)} makes the modulus {shown((1 << n) + self.sign * k)} even: give an odd k, "
                f"the nearest are {shown(k - 1)} and {shown(k + 1)}"
            )

    @property
    def sign(self) -> int:
        """The sign of k in 2^n + k or 2^n - k."""
        return -1 if "-" in self.shape else 1

    @property
    def value(self) -> int:
        return (1 << self.n) + self.sign * self.k

    @property
    def operand_nbits(self) -> int:
        """The bit length of the largest residue: n, or n + 1 for 2^n + 1 and 2^n + k."""
        return (self.value - 1).bit_length()

    @property
    def columns(self) -> int:
        """The number of columns of a tree: one per bit of a residue, except that for 2^n + 1 the weight 2^n
        is -1 (Figure 4).
        """
        return self.n if self.shape == "2^n+1" else self.operand_nbits

    def __str__(self) -> str:
        return f"2^{self.n}" + (f"{'-' if self.sign < 0 else '+'}{self.k}" if self.k else "")


def _shape_with(sign: int, k: int) -> str:
    if k == 0:
        return "2^n"
    return f"2^n{'-' if sign < 0 else '+'}{1 if k == 1 else 'k'}"


def classify(value: int) -> Modulus:
    """The modulus with this value, as 2^n - k or 2^(n-1) + k: the form whose k has fewer ones, then the
    smaller k.
    """
    if value < 3:
        raise BadInput(f"modulus {shown(value)}: the smallest that a compression tree is made for is 3")
    if value.bit_length() > MAX_PLANNED_NBITS:
        raise BadInput(
            f"modulus {shown(value)} has {value.bit_length()} bits: trees are planned up to "
            f"{MAX_PLANNED_NBITS}"
        )
    n = value.bit_length()
    if value == 1 << (n - 1):
        return Modulus("2^n", n - 1, 0)
    if value % 2 == 0:
        raise BadInput(
            f"modulus {shown(value)} is even: give an odd one, such as {shown(value - 1)} or "
            f"{shown(value + 1)}, "
            f"or a power of two, such as {shown(1 << (n - 1))}"
        )
    below, above = (1 << n) - value, value - (1 << (n - 1))
    if below == 1:
        return Modulus("2^n-1", n, 1)
    if above == 1:
        return Modulus("2^n+1", n - 1, 1)
    if n > 3 and (below.bit_count(), below) < (above.bit_count(), above):
        return Modulus("2^n-k", n, below)
    return Modulus("2^n+k", n - 1, above)


_SPEC = re.compile(r"\s*2\s*(?:\^|\*\*)\s*(\d{1,5})\s*(?:([+-])\s*(\d+|0x[0-9a-f]+))?\s*", re.IGNORECASE)


def parse(text: str) -> Modulus:
    """The modulus that a user wrote as 2^32, 2^32-1, 2^8+85, or a number in decimal or 0x..."""
    if match := _SPEC.fullmatch(text):
        n, sign, k = int(match[1]), match[2], int(match[3] or "0", 0)
        if k == 0:
            return Modulus("2^n", n, 0)
        return Modulus(f"2^n{sign}{'1' if k == 1 else 'k'}", n, k)
    try:
        return classify(int(text, 0))
    except BadInput:
        raise
    except ValueError:
        raise BadInput(
            f"modulus {text!r}: write it as 2^8, 2^8-1, 2^8+85 or as a number, decimal or 0x..."
        ) from None


def known_factors(modulus: int, nbits: int) -> tuple[int, int] | None:
    """Two factors of a modulus that divides 2^nbits - 1, as paper 000's moduli do: benchmarks of multipliers,
    but not RSA keys. None for any other modulus, and for 0.

    The first factor divides 2^(nbits/2) - 1; it is 1 if nbits is odd.
    """
    if not modulus or ((1 << nbits) - 1) % modulus:
        return None
    factor = gcd(modulus, (1 << nbits // 2) - 1)
    return factor, modulus // factor
