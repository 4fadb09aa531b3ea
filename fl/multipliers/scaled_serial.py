"""Arithmetic of the design `serial`: products on a scaled modulus (scaled.py) by words of S bits and digits
of k bits.

A product has L + 1 steps (ScaledShape.nsteps), each over M words: U <- floor(U / 2^k) + q * M' + x_i * B,
where q is the low digit of U. Residues are computed from R^2 mod N: R * 2^t comes from doublings of 1, and s
squarings turn it into R^2, as R = 2^(t * 2^s). M' = (c * N + 1) / 2^k takes one pass over N; c = -N^-1 modulo
2^k is computed bit by bit.

On the way out, a product with 2^k gives v = P * 2^k / R, below M + 2^(k-1). Then (v + q * N) / 2^k with q = v
* c modulo 2^k is P / R modulo N and at most 2N, since M = c N with c < 2^k. Two conditional subtractions
complete it.
"""

from dataclasses import dataclass

from ..errors import BadInput, bits
from .bit_by_bit import reduced
from .scaled import ScaledShape

LEAST_WORDS = 3  # a step must write a word before the next step reads it


@dataclass(frozen=True)
class ScaledSerialShape:
    """The words of a machine for moduli of nbits bits: of `word_nbits` bits (S), with digits of `digit_nbits`
    bits (k).
    """

    nbits: int
    word_nbits: int
    digit_nbits: int

    def __post_init__(self) -> None:
        k, s = self.digit_nbits, self.word_nbits
        if s % k or s < 2 * k:
            raise BadInput(
                f"words of {bits(s)} are not two or more digits of {bits(k)}: give words of "
                f"{max(2, s // k) * k} bits"
            )
        if self.nwords < LEAST_WORDS:
            raise BadInput(
                f"words of {bits(s)} are {self.nwords} to a number of {bits(self.scaled.state_nbits)}, and "
                "the pipeline needs "
                f"{LEAST_WORDS} or more; the nearest that the width can have is {self.widest}"
            )

    @property
    def scaled(self) -> ScaledShape:
        """The shape of the underlying product (scaled.py)."""
        return ScaledShape(self.nbits, self.digit_nbits)

    @property
    def widest(self) -> int:
        """The widest word of whole digits that this width allows."""
        most = -(-self.scaled.state_nbits // (LEAST_WORDS - 1)) - 1
        return most // self.digit_nbits * self.digit_nbits

    @property
    def nwords(self) -> int:
        """M, the number of words of a number."""
        return -(-self.scaled.state_nbits // self.word_nbits)

    @property
    def wide(self) -> int:
        """The width of all words together."""
        return self.nwords * self.word_nbits

    @property
    def groups(self) -> int:
        """The number of words that hold the digits of a factor."""
        return -(-self.scaled.wide // self.word_nbits)

    @property
    def squarings(self) -> int:
        """s, the number of squarings that turn R * 2^t into R^2."""
        wide = self.scaled.wide
        return (wide & -wide).bit_length() - 1

    @property
    def doublings(self) -> int:
        """The number of doublings from 1 to R * 2^t."""
        return self.scaled.wide + (self.scaled.wide >> self.squarings)


def inverse_step(c: int, rest: int, n: int, place: int) -> tuple[int, int]:
    """One bit of c = -n^-1 modulo a power of 2: c * n + 1 is rest * 2^place, and then of the next place."""
    if rest & 1:
        return c | 1 << place, (rest + n) >> 1
    return c, rest >> 1


def product(shape: ScaledSerialShape, a: int, b: int, m_prime: int) -> int:
    """a * b / R modulo M, a digit of a at a time, with a digit 0 at the end."""
    k = shape.digit_nbits
    mask, u = (1 << k) - 1, 0
    for i in range(shape.scaled.nsteps):
        u = (u >> k) + (u & mask) * m_prime + (a >> (k * i) & mask) * b
    return u


def power(shape: ScaledSerialShape, base: int, exp: int, n: int) -> int:
    """base^exp modulo n by the steps of the machine, for an odd n and a base below n."""
    k, c, rest = shape.digit_nbits, 0, 1
    for place in range(k):
        c, rest = inverse_step(c, rest, n, place)
    m_prime, y = (c * n + 1) >> k, 1
    for _ in range(shape.doublings):
        y = reduced(2 * y, n)
    for _ in range(shape.squarings):
        y = product(shape, y, y, m_prime)
    x, y = product(shape, base, y, m_prime), product(shape, 1, y, m_prime)
    for place in reversed(range(exp.bit_length())):
        y = product(shape, y, y, m_prime)
        if exp >> place & 1:
            y = product(shape, x, y, m_prime)
    v = product(shape, 1 << k, y, m_prime)
    q = v * c & (1 << k) - 1
    return reduced(reduced((v + q * n) >> k, n), n)
