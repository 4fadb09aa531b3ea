"""Montgomery's product on a scaled modulus M = c*N = -1 mod 2^w: the low word itself is the quotient digit.

Paper 000 (section 4.1, equation 21) computes modulo an easier multiple of the modulus and reduces to the
modulus once, at the end. Its multiples are 2^t - 1, which have a reasonable size only for moduli of known
factorisation (pseudo_modulus.py). But every odd N has a multiple that is easy at its low end: c = -N^-1 mod
2^w, below 2^w, makes the w lowest bits ones. With M' = (M + 1) / 2^w a step in radix 2^w is

    q = S mod 2^w;   S <- (S + q*M) / 2^w + a_i*B = floor(S / 2^w) + q*M' + a_i*B

Since cN + 1 = 0 mod 2^w, M' is 2^-w mod N, which w halvings of 1 modulo N compute: the step computes S/2^w
mod N, digit by digit.

Bounds. Let D = 2^w, R = D^L. After the L digits of A and a digit 0, S = (A*B + Q*M) / R with 0 <= Q < R:
every q is a digit of Q. So A, B < 2M give S < 4M^2/R + M <= 2M if R >= 4M, and products follow each other
without a subtraction. M <= (D-1)N < 2^(n+w) requires w*L >= n + w + 2, so L = 1 + ceil((n + 2) / w). Within
the loop S < D*(M' + B), as a step maps values below that bound to values below (M' + B) + (D-1)(M' + B); as
M' <= N, this is below D*(1 + 2(D-1))*N < 2^(n + 2w + 1). The product with 1 is S = (A + Q*M) / R <= M + (A -
M) / R < M + 1: at most M, and still a residue modulo M. Modulo N itself, with the same R, it is (A + Q*N) / R
<= N + (A - N) / R < N + 1: at most N, so one conditional subtraction completes it. Numbers leave in this way:
the product with 1 and the reduction from M to N are one operation.

Delay (Orup, ARITH-12, 1995). With M = -1 mod 2^(w * (d + 1)) and M' = (M + 1) / 2^(w * (d + 1)) a quotient
digit is used d steps after it was found: S / 2^w drops it, and q*M' compensates d digits further down. Here d
is 0 or 1. With d = 1 the adder of the low word and the selection of q*M' are in different cycles. M is w bits
longer, which costs a digit, and one more step ends the product, which is then {S, the last q}. The bounds are
the same with n + w for n.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import BadInput, bits, require_nbits, shown
from ..words import split_words
from .montgomery import Montgomery

DIGIT_NBITS = range(4, 209)  # legal w
DELAYS = (0, 1)  # legal d


@dataclass(frozen=True)
class ScaledShape:
    """The widths of a machine for moduli of nbits bits, with digits of w = digit_nbits bits that are used d =
    quotient_delay steps later.
    """

    nbits: int
    digit_nbits: int = 16
    quotient_delay: int = 0

    def __post_init__(self) -> None:
        if self.nbits < 1:
            raise BadInput(f"a modulus of {bits(self.nbits)}: give 1 or more")
        require_nbits("digits", self.digit_nbits, DIGIT_NBITS)
        if self.quotient_delay not in DELAYS:
            raise BadInput(f"a quotient that is used {self.quotient_delay} steps later: give 0 or 1")

    @property
    def scale_nbits(self) -> int:
        """The number of ones at the low end of M."""
        return self.digit_nbits * (self.quotient_delay + 1)

    @property
    def ndigits(self) -> int:
        """L, chosen so that R = 2^(w*L) >= 4M for every modulus of nbits bits."""
        return self.quotient_delay + 1 + -(-(self.nbits + 2) // self.digit_nbits)

    @property
    def wide(self) -> int:
        """The width of all digits together: R = 2^wide."""
        return self.ndigits * self.digit_nbits

    @property
    def operand_nbits(self) -> int:
        """The width of a number below 2M."""
        return self.nbits + self.scale_nbits + 1

    @property
    def state_nbits(self) -> int:
        """The width of S within the loop."""
        return self.operand_nbits + self.digit_nbits

    @property
    def nsteps(self) -> int:
        """The number of steps of a product: one per digit, and one for the last quotient digit, or two if it
        is delayed.
        """
        return self.ndigits + 1 + self.quotient_delay

    def words(self, x: int) -> list[int]:
        """The digits of a number, lowest first."""
        return split_words(x, self.digit_nbits, self.ndigits)


def word_step(
    shape: ScaledShape, s: list[int], q: int, m_prime: list[int], digit: int, b: list[int]
) -> Iterator[int]:
    """S <- floor(S / 2^w) + q * M' + digit * B without a quotient delay, a word of w bits at a time from the
    lowest: yields the index of each word that has been added. S has a word more than M' and B.
    """
    w, carry = shape.digit_nbits, 0
    for j, (m_j, b_j) in enumerate(zip(m_prime, b, strict=True)):
        total = s[j + 1] + q * m_j + digit * b_j + carry
        carry = total >> w
        s[j] = total & ((1 << w) - 1)
        if j == shape.ndigits - 1:
            s[j + 1] = carry
        yield j


class DigitState(NamedTuple):
    """S between two steps, and the quotient digits that were found and not yet used."""

    s: int
    quotients: tuple[int, ...]

    def step(self, shape: ScaledShape, digit: int, b: int, m_prime: int) -> "DigitState":
        """The next state: S <- floor(S / 2^w) + q * M' + digit * B."""
        w = shape.digit_nbits
        q, *later = *self.quotients, self.s & (1 << w) - 1
        return DigitState((self.s >> w) + q * m_prime + digit * b, tuple(later))

    def product(self, shape: ScaledShape) -> int:
        """The product after the last step."""
        w = shape.digit_nbits
        return self.s << w * len(self.quotients) | sum(q << w * i for i, q in enumerate(self.quotients))


def first_state(shape: ScaledShape) -> DigitState:
    """The state before the first step."""
    return DigitState(0, (0,) * shape.quotient_delay)


class ScaledMontgomery:
    """The arithmetic of one odd modulus n on its multiple m = c*n."""

    def __init__(self, n: int, shape: ScaledShape) -> None:
        w = shape.scale_nbits
        if n.bit_length() > shape.nbits:
            raise BadInput(
                f"modulus {shown(n)} does not fit in {shape.nbits} bits: "
                f"give a width of at least {n.bit_length()}"
            )
        self.n, self.shape = n, shape
        self.original = Montgomery(n, shape.wide)  # refuses even moduli, 0 and less
        self.c = (1 << w) - pow(n, -1, 1 << w)  # -n^-1 mod 2^w, where w is the number of low ones of M
        self.m = self.c * n
        self.m_prime = (self.m + 1) >> w  # 2^-w mod n
        self.multiple = Montgomery(self.m, shape.wide)

    def _checked(self, *operands: int) -> None:
        for x in operands:
            if not 0 <= x < 2 * self.m:
                raise BadInput(f"{shown(x)} is outside 0..2M-1 for M = {shown(self.m)}: reduce it modulo M")

    def product(self, a: int, b: int) -> int:
        """a * b / R modulo m, below 2m, for a and b below 2m: the number (a*b + Q*m) / R with 0 <= Q < R."""
        self._checked(a, b)
        return self.multiple.unreduced(a, b)

    def digit_serial(self, a: int, b: int) -> int:
        """The same number, computed by the steps of the hardware, one digit of a after the other."""
        self._checked(a, b)
        shape, state = self.shape, first_state(self.shape)
        for i in range(shape.nsteps):
            digit = a >> (shape.digit_nbits * i) & (1 << shape.digit_nbits) - 1
            state = state.step(shape, digit, b, self.m_prime)
        return state.product(shape)

    def enter(self, x: int) -> int:
        """The representation of x: a number below 2m that is x*R modulo n (not modulo m, as only n matters in
        the end).
        """
        return self.product(x, self.original.r2_mod_n)

    def leave(self, x: int) -> int:
        """The number below n that x represents: its product with 1 modulo n itself."""
        self._checked(x)
        return self.original.redc(x)
