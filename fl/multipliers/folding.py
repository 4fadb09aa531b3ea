"""Folding: the residue modulo m that replaces a bit of weight 2^i above the word (paper 000, section 2.2.1).

|2^i|_m is written either as the 1 bits of 2^i mod m or, with negative sign, as those of m - (2^i mod m),
whichever has fewer; on a tie the positive form is used. A negative bit enters the tree inverted, because
-x = (1 - x) - 1, and leaves a constant -1. The sum of these constants is the correction.

One rule is added to the paper's. A carry that is folded during compression must decrease in value, or
compression would not terminate. If both forms fit into the word, a form worth more than 3/4 of 2^columns is
therefore not used for carries (`shrinks`). None of the paper's moduli is affected.
"""

from typing import NamedTuple

from ..moduli import Modulus


class Fold(NamedTuple):
    """The fold of a weight beyond the word: the columns to which its bit goes, and whether it is inverted."""

    columns: tuple[int, ...]
    inverted: bool

    @property
    def value(self) -> int:
        """The absolute value of the digits."""
        return sum(1 << column for column in self.columns)


def fold(modulus: Modulus, weight: int, *, shrinks: bool = False) -> Fold:
    """The digits of 2^weight modulo m; with `shrinks`, of value at most 3/4 of 2^columns."""
    nothing = Fold((), False)
    positive = (1 << weight) % modulus.value
    if positive == 0:
        return nothing
    negative = modulus.value - positive
    limit = 1 << modulus.columns
    choices = [(positive, False), (negative, True)]
    fitting = [choice for choice in choices if choice[0] < limit]
    if shrinks and len(fitting) == 2:
        fitting = [choice for choice in fitting if choice[0] <= 3 * limit // 4]
    digits, inverted = min(fitting, key=lambda choice: choice[0].bit_count())  # positive if equal
    return Fold(tuple(i for i in range(digits.bit_length()) if digits >> i & 1), inverted)
