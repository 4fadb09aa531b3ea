"""Pseudo-moduli: multiples c*N of an odd modulus N that make reduction easy, with the saving and the cost of
each.

Paper 000, equation 21: arithmetic modulo m1 = c * m2 needs one reduction to m2 at the end. Its family
(equations 22 and 23) is m2 = 2^n + k = (2^(n+2) - 1) / 3, so m1 = 2^(n+2) - 1, whose reduction is an
end-around carry. (As printed, the sum of equation 22 runs one term too far: k = sum of 2^(2i) for i = 0 ..
n/2 - 1, as in its Table 4.) For an N of n bits and digits of w bits:

    2^t - 1, 2^t + 1   The first exists for every odd N, but t is a multiple of the order of 2 modulo N.
                       For nearly all N that is about as long as N itself, so t bits are out of reach. If
                       t is small, N divides a number whose factors are known or easy to find; `warning`
                       reports it. The factors of N itself are not searched.
    low end            cN = -1 mod 2^w, c of w bits: the quotient digit of a Montgomery step is the low
                       word itself (scaled.py)
    high end           cN = 2^(n+w) - delta with delta < N, c of w or w+1 bits: the quotient digit of a
                       Barrett step is the top word
    both ends          both at once, c of 2w or 2w+1 bits: both reductions can meet in the middle, with
                       half the steps each

The cost is counted in digit products (w by w bits) of one modular product by steps of radix 2^w. Montgomery's
product for comparison has 2s^2 + s (s = ceil(n/w)): s of them, one in each step, produce the quotient digits,
for which the step waits.
"""

from dataclasses import dataclass
from functools import cached_property

from ..errors import BadInput, require_nbits, shown
from ..moduli import known_factors
from .scaled import DIGIT_NBITS

MAX_T = 1 << 16  # bits of the longest 2^t -+ 1 that is computed
EXACT_NBITS = 20  # up to this length the search for t covers the whole order


@dataclass(frozen=True)
class PseudoModulus:
    """A pseudo-modulus c * n = value of one shape; `formula` is its shape with numbers."""

    shape: str
    n: int
    c: int
    formula: str
    steps: int  # of one modular product
    digit_products: int
    saves: str
    costs: str

    @property
    def value(self) -> int:
        return self.c * self.n

    @property
    def extra_nbits(self) -> int:
        """The number of bits by which it is longer than n."""
        return self.value.bit_length() - self.n.bit_length()


@dataclass(frozen=True)
class PowerSearch:
    """The least t with n | 2^t - 1 (`minus`) and with n | 2^t + 1 (`plus`), or None."""

    n: int
    bound: int  # every t up to this one was tried
    minus: int | None
    plus: int | None
    exact: bool  # if true, None means that no such t exists; otherwise t, if any, is above the bound

    def remark(self, t: int | None) -> str:
        """The reason why there is no pseudo-modulus to show for this t (minus or plus)."""
        if t is not None:
            return f"the least t is {shown(t)}: a number of so many bits is out of reach"
        if self.exact:
            return "there is none: no power of 2 is -1 modulo N"
        return (
            f"no t up to {self.bound}; t is a multiple of the order of 2 modulo N, which is nearly always a "
            "number about as long as N: hopeless"
        )


class PseudoModuli:
    """All pseudo-moduli of an odd n for digits of w bits."""

    def __init__(self, n: int, w: int = 16) -> None:
        if n < 2:
            zero = ": all numbers are 0 modulo 1; " if n == 1 else ": "
            raise BadInput(f"modulus {shown(n)}{zero}give an odd modulus of 3 or more")
        if n % 2 == 0:
            raise BadInput(
                f"modulus {shown(n)} is even, and so are all its multiples: no pseudo-modulus has an odd "
                "end; "
                f"give an odd modulus (its odd part is {shown(n >> ((n & -n).bit_length() - 1))})"
            )
        require_nbits("digits", w, DIGIT_NBITS)
        self.n, self.w = n, w
        self.nbits = n.bit_length()

    def _words(self, nbits: int) -> int:
        return -(-nbits // self.w)

    @property
    def plain_steps(self) -> int:
        """The number of steps of Montgomery's product modulo n itself."""
        return self._words(self.nbits)

    @property
    def plain_digit_products(self) -> int:
        """The digit products of Montgomery's product modulo n itself: per step s for a_i * B, one for q, and
        s for q * N.
        """
        s = self.plain_steps
        return 2 * s * s + s

    # ---- shapes that exist for every odd n

    @property
    def low_end(self) -> PseudoModulus:
        """The low-end pseudo-modulus: c = -n^-1 mod 2^w."""
        w, n = self.w, self.nbits
        c = (1 << w) - pow(self.n, -1, 1 << w)
        digits = 1 + self._words(n + 2)
        return PseudoModulus(
            "low end",
            self.n,
            c,
            f"c*N = -1 mod 2^{w}",
            digits + 1,
            digits * (self._words(n + w + 1) + self._words(n)),
            "the quotient digit is the low word: no product makes it, no step waits for it; no final "
            "subtraction",
            f"operands {_count(w + 1, 'bit')} longer, {_count(digits + 1 - self._words(n), 'step')} more, "
            "one reduction at the end",
        )

    @property
    def high_end(self) -> PseudoModulus:
        """The high-end pseudo-modulus, the largest multiple below 2^(n+w)."""
        w, n = self.w, self.nbits
        top = 1 << (n + w)
        c = (top - 1) // self.n
        steps = self._words(n + w)
        return PseudoModulus(
            "high end",
            self.n,
            c,
            f"c*N = 2^{n + w} - {shown(top - c * self.n)}",
            steps,
            steps * (self._words(n + w) + self._words(n)),
            "the quotient digit is the top word: no product with a reciprocal, no estimate to correct",
            f"operands {_count(w, 'bit')} longer, {_count(steps - self._words(n), 'step')} more, "
            "one reduction at the end; carries must have settled at the top",
        )

    @property
    def both_ends(self) -> PseudoModulus:
        """The pseudo-modulus for both ends: the largest c with c*n < 2^(n+2w) that is congruent to the c of
        `low_end`.
        """
        w, n = self.w, self.nbits
        top = 1 << (n + 2 * w)
        most = (top - 1) // self.n
        c = most - (most - self.low_end.c) % (1 << w)
        steps = -(-self._words(n + 2 * w + 1) // 2) + 1
        return PseudoModulus(
            "both ends",
            self.n,
            c,
            f"c*N = -1 mod 2^{w} and above 2^{n + 2 * w} - 2^{n + w}",
            steps,
            self._words(n + 2 * w + 1) * (self._words(n + 2 * w + 1) + self._words(n + w)),
            "both quotient digits are words: a product is reduced from both ends at once (bipartite), in "
            "half the steps",
            f"operands {_count(2 * w, 'bit')} longer, two rows of multipliers side by side, one reduction "
            "at the end",
        )

    # ---- 2^t - 1 and 2^t + 1

    @cached_property
    def powers(self) -> PowerSearch:
        """The search for t, up to a bound."""
        n = self.n
        if n == 1:
            return PowerSearch(n, 1, 1, 1, True)
        bound = 1 << EXACT_NBITS if self.nbits <= EXACT_NBITS else 4 * self.nbits
        power = 1
        for t in range(1, bound + 1):
            power = 2 * power % n
            if power == n - 1:
                return PowerSearch(n, bound, 2 * t, t, True)
            if power == 1:
                return PowerSearch(n, bound, t, None, True)
        return PowerSearch(n, bound, None, None, False)

    def _power(self, sign: str, t: int | None, reduction: str) -> PseudoModulus | None:
        """The pseudo-modulus 2^t - 1 or 2^t + 1, or None if t is unknown or too large to write it down."""
        if t is None or t > MAX_T:
            return None
        s = self._words(t)
        return PseudoModulus(
            f"2^t {sign} 1",
            self.n,
            ((1 << t) + int(f"{sign}1")) // self.n,
            f"t = {t}",
            s,
            s * s,
            f"no product reduces anything: what is above bit t is {reduction} at the low end",
            f"operands {_count(max(0, t - self.nbits), 'bit')} longer, one reduction at the end",
        )

    @property
    def power_minus_one(self) -> PseudoModulus | None:
        return self._power("-", self.powers.minus, "added")

    @property
    def power_plus_one(self) -> PseudoModulus | None:
        return self._power("+", self.powers.plus, "subtracted")

    def table(self) -> list[tuple[str, PseudoModulus | None, str]]:
        """All shapes: the name, the pseudo-modulus or None, and in that case the reason."""
        powers = self.powers
        return [
            ("2^t - 1", self.power_minus_one, "" if self.power_minus_one else powers.remark(powers.minus)),
            ("2^t + 1", self.power_plus_one, "" if self.power_plus_one else powers.remark(powers.plus)),
            *((modulus.shape, modulus, "") for modulus in (self.low_end, self.high_end, self.both_ends)),
        ]

    # ---- suitability as the modulus of a key

    @property
    def warning(self) -> str:
        """The reason why n must not be the modulus of a key; empty if none is known."""
        no_key = "Do not use N as a key; arithmetic modulo N is fine, as a benchmark."
        t = (3 * self.n).bit_length()
        if 3 * self.n == (1 << t) - 1 and (factors := known_factors(self.n, t)):
            half = t // 2
            return (
                f"N = (2^{t} - 1) / 3, the family of paper 000: it is (2^{half} - 1) * (2^{half} + 1) / 3 = "
                f"{' * '.join(map(shown, factors))}. {no_key}"
            )
        if self.powers.minus is not None and self.powers.minus <= 4 * self.nbits:
            power = f"2^{self.powers.plus} + 1" if self.powers.plus else f"2^{self.powers.minus} - 1"
            return (
                f"N divides {power}: its factors come from those of a number that is in public tables or "
                f"far easier to factor than others of its length. {no_key}"
            )
        return ""

    @property
    def verdict(self) -> str:
        """The verdict on a modulus without a warning."""
        return (
            f"N divides no 2^t - 1 with t up to {4 * self.nbits}. "
            "Its factors were not searched: that does not prove that N is a good modulus."
        )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
