"""ModSum: (A + B) mod m of the two rows that a compression tree produces (paper 000, equation 5 and Figure
6).

A + B may exceed m several times: A + B - m, - 2m and - 3m are computed in parallel with A + B, and the result
is the last of them that is not negative. The number of differences follows from the largest possible sum of
the two rows. If that maximum is itself a multiple of m, as 2m is for 2^n - 1, its difference is 0 and needs
no adder: both rows are then all ones, which is detected instead (`zero_at`).

For modulus 31 the paper gives rows of at most 30 and a sum of at most 60, "twice the modulus". But a = b =
31, a word that represents 0, produces two rows of 31: the sum is 62.
"""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class ModSum:
    """The final addition modulo m of two rows of `nbits` bits whose values are at most `most_a` and
    `most_b`.
    """

    m: int
    nbits: int
    most_a: int
    most_b: int

    @property
    def drops_carry(self) -> bool:
        """Whether m = 2^n, so that the carry out is a multiple of m."""
        return self.m == 1 << self.nbits

    @property
    def largest(self) -> int:
        return self.most_a + self.most_b

    @cached_property
    def multiples(self) -> tuple[int, ...]:
        """The multiples of m that are subtracted; none for 2^n, whose carry is dropped."""
        if self.drops_carry:
            return ()
        return tuple(j * self.m for j in range(1, self.largest // self.m + 1) if j * self.m != self.zero_at)

    @property
    def zero_at(self) -> int | None:
        """The sum that is detected instead of subtracted: the maximum, if it is a multiple of m."""
        is_multiple = self.largest and self.largest % self.m == 0 and not self.drops_carry
        return self.largest if is_multiple else None

    def add(self, a: int, b: int) -> int:
        """A + B mod m as the hardware computes it, selected by the carries out of the subtractions."""
        if a + b == self.zero_at:
            return 0
        if self.drops_carry:
            return (a + b) % self.m
        return next(a + b - multiple for multiple in reversed((0, *self.multiples)) if a + b >= multiple)
