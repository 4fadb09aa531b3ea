"""Montgomery's product word by word, as a systolic array computes it (paper 002, Algorithms 2 and 3).

Numbers have s words of k bits, and R = 2^(k*s). A step adds x_i * y + u_i * m and drops the lowest word,
which u_i has made 0. Operands and products are below 2m, and there is no final subtraction. The paper
requires 2m < R, which is not enough: a product of operands below 2m is below 2m only if R >= 4m, so s words
support moduli of k*s - 2 bits. Within the steps A < y + m (1 + 1/(2^k - 1)) < R.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import BadInput, bits, require_nbits, shown
from ..words import number_of, split_words

DIGIT_NBITS = range(2, 33)  # legal k
LEAST_WORDS = 2  # the first and the last element are different


@dataclass(frozen=True)
class SystolicShape:
    """The words of a machine of nbits bits: `nwords` words of `digit_nbits` bits, with one processing element
    each.
    """

    nbits: int
    digit_nbits: int
    nwords: int

    def __post_init__(self) -> None:
        k, s = self.digit_nbits, self.nwords
        require_nbits("words", k, DIGIT_NBITS)
        fewest = max(LEAST_WORDS, -(-self.nbits // k))
        if s < fewest:
            raise BadInput(
                f"{s} words of {bits(k)} do not hold {bits(self.nbits)}: give {fewest} words or more"
                + (f", or words of {bits(-(-self.nbits // s))}" if s >= LEAST_WORDS else "")
            )

    @property
    def wide(self) -> int:
        """The width of all words together: R = 2^wide."""
        return self.nwords * self.digit_nbits

    @property
    def modulus_nbits(self) -> int:
        """The length of the longest modulus that satisfies R >= 4m and fits the machine's width."""
        return min(self.nbits, self.wide - 2)

    def check(self, m: int) -> None:
        """Raise BadInput for a modulus whose products could exceed the range of operands."""
        if m.bit_length() > self.modulus_nbits:
            raise BadInput(
                f"modulus {shown(m)} of {bits(m.bit_length())}: {self.nwords} words of "
                f"{bits(self.digit_nbits)} take moduli of up to "
                f"{bits(self.modulus_nbits)}, so that R >= 4m; give "
                f"{-(-(m.bit_length() + 2) // self.digit_nbits)} words"
            )

    def inverse(self, m: int) -> int:
        """m' = -m^-1 modulo 2^k; 0 for an even m, which has no inverse."""
        base = 1 << self.digit_nbits
        return base - pow(m, -1, base) if m % 2 else 0

    def words(self, x: int) -> list[int]:
        """The words of a number, lowest first."""
        return split_words(x, self.digit_nbits, self.nwords)

    def number(self, words: Sequence[int]) -> int:
        """The number of these words."""
        return number_of(words, self.digit_nbits)


def step(shape: SystolicShape, a: list[int], x_i: int, u_i: int, y: list[int], m: list[int]) -> Iterator[int]:
    """a <- (a + x_i * y + u_i * m) / 2^k, a word at a time from the lowest: yields the index of each word
    that has been added. Its sum is word j - 1 of the new a, and a carry.
    """
    k, last = shape.digit_nbits, shape.nwords - 1
    mask, carry = (1 << k) - 1, 0
    for j in range(shape.nwords):
        total = a[j] + x_i * y[j] + u_i * m[j] + carry
        carry = total >> k
        if j:
            a[j - 1] = total & mask
        if j == last:
            a[j] = carry
        yield j


def product(shape: SystolicShape, x: int, y: int, m: int) -> int:
    """x * y / R modulo m, below 2m for x and y below 2m: Algorithm 3, word by word."""
    shape.check(m)
    for operand in (x, y):
        if not 0 <= operand < 2 * m:
            raise BadInput(f"{shown(operand)} is outside 0..2m-1 for m = {shown(m)}: reduce it modulo m")
    mask = (1 << shape.digit_nbits) - 1
    inverse = shape.inverse(m)
    y_words, m_words = shape.words(y), shape.words(m)
    a = [0] * shape.nwords
    for x_i in shape.words(x):
        u_i = (a[0] + x_i * y_words[0]) * inverse & mask
        for _ in step(shape, a, x_i, u_i, y_words, m_words):
            pass
    return shape.number(a)
