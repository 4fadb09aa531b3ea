"""Conversions into and out of the scaled-modulus form (scaled.py) without a divider.

A machine has words of W = nbits + v + 1 bits, and M = cN = -1 mod 2^v (v = w if the quotient is not delayed).
Every register holds a word, and a product of words is a word: a*b/R + M < 2^(2W - wide) + 2^(W-1) <= 2^W -
2^nbits, as wide > W and M <= (2^v - 1)N. So no intermediate value is reduced, even for short moduli and bases
of any size; only the residue modulo N matters. The second factor b must leave room for M', b + M' <= 2^W, as
S < D * (M' + b) within the loop; all products satisfy this. In detail:

    scale   N is aligned: N' = N * 2^k has its highest 1 at bit W - 2; a cycle shifts by a digit of
            zeros or by one bit. 2^(W-2) is doubled, and N' is subtracted if the result is at least N',
            so it stays below 2^(W-1). In parallel, M' = 2^-v mod N is computed by halvings of a power
            of 2.
    chain   The residue of 2^(wide + e) is identified by e. A doubling gives e + 1, a square 2e, so e =
            wide, the residue of R^2, is reached after a few squares. After some squares the number is
            doubled once more, again less N'. The square of a number below N' + x is below M + (N' +
            x)^2 / R, and doubling a number below N' + y gives one below N' + 2y; only chains whose
            numbers stay words are used. x becomes xR by a product with the last residue, 1 becomes R by
            one with 1.
    leave   x 2^h, from the product with 2^h or from a loop that started with it, is halved h > v times:
            (y + QN) / 2^h with Q < 2^h is below 2N for y <= 2M + 1, so one subtraction gives the number
            below N. For any word x the product with 2^h satisfies this: x * 2^h / R < 2^(W + h - wide)
            < 2^h, at most M + 1 as M >= 2^v - 1 (h is rounded up: M + 1 is compared with its 2^h).

A number of two words, hi * 2^nbits + lo, becomes a residue by hi * (2^nbits R) / R + lo. A core returns only
the upper bits of a product. The integer product of two numbers below 2^nbits takes two products of the core,
with the first factor shifted up by wide - nbits: with M' = 0 nothing is added, and the result is hi; with M =
2^(k nbits) - 1, the first of these with v ones, Q is lo * 2^(wide - nbits), and

    (a*b*2^(wide - nbits) + Q*M) / R = (a*b + lo * 2^(k nbits) - lo) / 2^nbits = hi + lo * 2^((k - 1) nbits)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..errors import BadInput
from .scaled import ScaledShape


@dataclass(frozen=True)
class Chain:
    """Doublings, then squares. `doubled` lists the squares, counted from 1, that are followed by one cycle of
    doublings.
    """

    doublings: int
    squares: int
    doubled: tuple[int, ...] = ()

    def runs(self) -> Iterator[tuple[int, bool]]:
        """Numbers of consecutive squares, each with whether doublings follow."""
        done = 0
        for place in self.doubled:
            yield place - done, True
            done = place
        if self.squares > done:
            yield self.squares - done, False


@dataclass(frozen=True)
class ScaledEntry:
    """Conversions of a machine whose units have this shape, with these numbers of doublings and halvings per
    cycle.
    """

    shape: ScaledShape
    square_cycles: int  # cycles of a product that follows another
    doublings_per_cycle: int = 1
    halvings_per_cycle: int = 1

    def __post_init__(self) -> None:
        if self.halvings >= self.word_nbits:
            raise BadInput(
                f"{self.halvings_per_cycle} halvings a cycle: 2^{self.halvings} is no word of "
                f"{self.word_nbits} bits; "
                f"give {self.shape.nbits} or less"
            )
        assert self.chain  # computed here, so that BadInput is raised early

    @property
    def word_nbits(self) -> int:
        return self.shape.operand_nbits

    @property
    def first_nbits(self) -> int:
        """The exponent of the power of 2 from which doublings start."""
        return self.word_nbits - 2

    @property
    def halvings(self) -> int:
        """h, the number of halvings when a number leaves; M' is computed from 2^(h - v)."""
        least = self.shape.scale_nbits + 1
        return -(-least // self.halvings_per_cycle) * self.halvings_per_cycle

    @property
    def halving_cycles(self) -> int:
        return self.halvings // self.halvings_per_cycle

    @property
    def leaving_cycles(self) -> int:
        """Cycles of leaving. The last subtraction takes one, so a product may be sent in it."""
        return self.halving_cycles + 1

    @property
    def side_by_side(self) -> bool:
        """Whether two doublings are computed in parallel."""
        return self.doublings_per_cycle == 2

    @property
    def lift_nbits(self) -> int:
        """The number of bits by which a factor of an integer product is shifted."""
        return self.shape.wide - self.shape.nbits

    @property
    def folds(self) -> int:
        """k, for integer products; more than 1 only if M has more low ones than N has bits."""
        return -(-self.shape.scale_nbits // self.shape.nbits)

    @property
    def ones(self) -> int:
        """M' of the modulus 2^(k nbits) - 1."""
        return 1 << self.folds * self.shape.nbits - self.shape.scale_nbits

    def part(self, whole: int, which: str) -> int:
        """A part of a number: its lower or upper word, or the bits above all folds but one."""
        nbits = self.shape.nbits
        if which == "low":
            return whole & (1 << nbits) - 1
        return whole >> (nbits if which == "high" else (self.folds - 1) * nbits)

    def align_cycles(self, mod: int) -> int:
        """Cycles that align a modulus: each shifts by a digit of zeros, or by one bit."""
        zeros = self.shape.nbits - mod.bit_length() if mod & 1 else 0
        return zeros // self.shape.digit_nbits + zeros % self.shape.digit_nbits

    def scale_cycles(self, mod: int) -> int:
        """Cycles from the modulus to the first power of 2 and to M'."""
        aligned = 1 + self.align_cycles(mod) + int(self.side_by_side)
        doubled = aligned + self.chain.doublings // self.doublings_per_cycle
        return max(doubled, self.halving_cycles)

    def constant_cycles(self, mod: int) -> int:
        """Cycles from the modulus to R^2."""
        return (
            self.scale_cycles(mod) + self._cost(self.chain) - self.chain.doublings // self.doublings_per_cycle
        )

    @cached_property
    def chain(self) -> Chain:
        """The chain with the fewest cycles, among those with at most one cycle of doublings after a square
        and whole cycles of doublings at the start.
        """
        found = min(self._chains(), key=self._cost, default=None)
        if found is None:
            raise BadInput(
                f"{self.doublings_per_cycle} doublings a cycle do not make R^2 of 2^{self.shape.wide}: give "
                "1, or an even digit_nbits"
            )
        return found

    def _cost(self, chain: Chain) -> int:
        # a step of doublings waits for the square to be registered
        return (
            chain.doublings // self.doublings_per_cycle
            + chain.squares * self.square_cycles
            + 2 * len(chain.doubled)
        )

    def _chains(self) -> Iterator[Chain]:
        step, wide = self.doublings_per_cycle, self.shape.wide
        below = wide - self.first_nbits  # doublings to R itself
        for squares in range(wide.bit_length()):
            most = wide >> squares
            for e in range(most, max(0, most - 2 * step), -1):
                # the rest of the exponent: each doubling after square `place` adds 2^(squares - place)
                missing, rest = divmod(wide - (e << squares), step)
                if (e + below) % step or rest or missing >> squares:
                    continue
                places = tuple(at for at in range(1, squares + 1) if missing >> (squares - at) & 1)
                if self._stays(squares, places):
                    yield Chain(e + below, squares, places)

    def _stays(self, squares: int, places: tuple[int, ...]) -> bool:
        """Whether all numbers of the chain are words and valid factors, for every modulus: M < N' < 2^(W-1);
        `more` is the excess above that.
        """
        shape, more = self.shape, 0
        most = (1 << self.word_nbits) - (1 << shape.nbits)
        largest = 1 << (self.word_nbits - 1)
        for place in range(1, squares + 1):
            more = ((largest + more) ** 2 >> shape.wide) + 1
            if place in places:
                more <<= self.doublings_per_cycle
            if largest + more > most:
                return False
        return True

    # ---- the numbers that the hardware computes

    def scale(self, mod: int) -> tuple[int, int]:
        """2^(first_nbits + doublings) modulo the aligned modulus, and M'."""
        assert mod & 1, mod
        x = self._times_two(1 << self.first_nbits, self.chain.doublings, mod)
        return x, self._halved(1 << self.halvings - self.shape.scale_nbits, mod)

    def aligned(self, mod: int) -> int:
        """N'; 0 for modulus 0, whose results do not matter."""
        return mod << (self.word_nbits - 1 - mod.bit_length()) if mod else 0

    def _times_two(self, x: int, times: int, mod: int) -> int:
        aligned = self.aligned(mod)
        for _ in range(times):
            x *= 2
            x -= aligned if x >= aligned else 0
        return x

    def doubled(self, x: int, mod: int) -> int:
        """x after one cycle of doublings."""
        return self._times_two(x, self.doublings_per_cycle, mod)

    def _halved(self, x: int, mod: int) -> int:
        power = 1 << self.halvings
        return (x + -x * pow(mod, -1, power) % power * mod) >> self.halvings

    def leave(self, x: int, mod: int) -> int:
        """The number below the modulus that is x / 2^h."""
        if not mod & 1:
            return 0
        made = self._halved(x, mod)
        assert made < 2 * mod, "a number that leaves is more than one subtraction away"
        return made - mod if made >= mod else made

    def product(self, a: int, b: int, m_prime: int) -> int:
        """(a*b + Q*M) / R with 0 <= Q < R; M' = 0 drops the bits below R."""
        shape = self.shape
        m = (m_prime << shape.scale_nbits) - 1
        r = 1 << shape.wide
        assert a < r and b + m_prime <= 1 << self.word_nbits, "a factor that is no word, or none for a step"
        made = (a * b + a * b * -pow(m, -1, r) % r * m) >> shape.wide
        assert made >> self.word_nbits == 0, "a product that is no word"
        return made
