"""Recipe: the description of a machine from which builder.py makes its program."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..multipliers.scaled_entry import ScaledEntry
from .schedule_loops import LoopShape
from .schedules import MAX_WINDOW, SCHEDULES, best_fixed_window, best_sliding_window

RANDOM_NBITS = 64  # of the factor by which an exponent is blinded, in machines that are as wide


@dataclass(frozen=True)
class Recipe:
    """An exponentiation, and how it is protected."""

    nbits: int
    domain: str  # "identity", "residue", "montgomery" or "scaled"
    schedule: str = "right-to-left-2"
    conversion: str = "double"  # of the Montgomery domain: "double" or "square"
    squarings: int = 0
    full_scan: bool = False
    window: int = 0  # bits of a digit of the fixed window; 0: as few products as can be
    block_nbits: int = 0  # of the multiplier's blocks; 0: the width
    fits: bool = False  # products follow the length of the modulus
    crt: bool = False
    blind_message: bool = False
    blind_exponent: bool = False
    verify: bool = False
    doublings_per_cycle: int = 4
    given: bool = False  # the request has base and 1 in the domain, and the result stays there
    once: bool = (
        False  # to the right, exponent 0 takes a step, as in paper 001's RTL, which looks at it after a step
    )
    plain_result: bool = True  # to the right, the result is kept out of Montgomery form, and b alone is in it
    r_nbits: int = 0  # R = 2^r_nbits of a Montgomery domain; 0: nbits
    public: bool = False  # a request says whether its exponent is public; such a one may decide the cycles
    apart: bool = False  # to the right, one unit makes the products of a bit in words of their own
    scaled: ScaledEntry | None = None  # of units on a scaled modulus, which with CRT are half as wide

    @property
    def starts_plain(self) -> bool:
        """r starts as 1, and the result ends outside Montgomery form."""
        return self.shape.plain_result and self.plain_result

    @property
    def keyed(self) -> bool:
        """It takes a key beside base, exponent and modulus."""
        return self.crt or self.blind_message or self.blind_exponent or self.verify

    @property
    def of_public(self) -> Recipe:
        """The exponentiation of a request with a public exponent: bit by bit, to its highest 1. The factors
        of a single unit come without a multiplexer more, which two products of a word would need.
        """
        return replace(
            self,
            schedule=f"right-to-left-{self.nunits}",
            window=0,
            full_scan=False,
            crt=False,
            blind_message=False,
            blind_exponent=False,
            verify=False,
            public=False,
            apart=self.nunits == 1,
        )

    @property
    def asked(self) -> tuple[tuple[str, int], ...]:
        """The field of the request that says it."""
        return (("public", 1),) if self.public else ()

    @property
    def montgomery(self) -> bool:
        return self.domain == "montgomery"

    @property
    def odd_only(self) -> bool:
        """Even moduli are refused."""
        return self.domain in ("montgomery", "scaled")

    @property
    def shape(self) -> LoopShape:
        return SCHEDULES[self.schedule].loop

    @property
    def nunits(self) -> int:
        """Product units side by side."""
        return SCHEDULES[self.schedule].multipliers

    @property
    def joins(self) -> bool:
        """Its units are half as wide as the modulus, and a result is put together."""
        return self.crt and self.scaled is not None

    @property
    def half_nbits(self) -> int:
        """Bits of a prime's field."""
        return -(-self.nbits // 2)

    @property
    def random_nbits(self) -> int:
        """Return the bits of the factor that blinds an exponent."""
        words = self.half_nbits if self.joins else self.nbits
        return min(RANDOM_NBITS, words) if self.blind_exponent else 0

    @property
    def exponent_nbits(self) -> int:
        """Bits of the private exponent that are scanned, with what blinds it."""
        return (self.half_nbits if self.crt else self.nbits) + self.random_nbits

    @property
    def digit_nbits(self) -> int:
        """Bits of a digit from the top."""
        if self.shape.sliding:
            return self.window or best_sliding_window(self.exponent_nbits)
        if not self.shape.digit:
            return 1
        if not self.window and (form := self.scaled) is not None:
            # products, the clearing of the table, and the scan that nothing hides
            return min(range(1, MAX_WINDOW + 1), key=lambda k: self._window_cycles(k, form.square_cycles))
        if self.window or not self.fits or self.keyed:
            return self.window or best_fixed_window(self.exponent_nbits)
        # digits that blocks are made of
        return min(
            (k for k in range(1, self.block + 1) if self.block % k == 0 and k <= MAX_WINDOW),
            key=lambda k: (1 << k) - 2 + -(-self.nbits // k) * (k + 1),
        )

    def _window_cycles(self, k: int, product: int) -> int:
        """Return the cycles that depend on the bits of a digit."""
        return ((1 << k) - 2 + (-(-self.exponent_nbits // k) - 1) * (k + 1)) * product + (2 << k)

    @property
    def word_nbits(self) -> int:
        """Return the width of registers and memory."""
        return self.nbits if self.scaled is None else self.scaled.word_nbits

    @property
    def skips(self) -> bool:
        """Digits above those of modulus and exponent are not scanned."""
        shape = self.shape
        scans_all = shape.digit or self.full_scan
        even = self.block % self.digit_nbits == 0 and self.nbits % self.block == 0
        return (
            self.fits
            and not self.keyed
            and not shape.right
            and scans_all
            and even
            and self.nbits > self.block
        )

    @property
    def ndigits(self) -> int:
        """Return the digits of the exponent, counted from the top; with sliding windows, its bits."""
        return self.exponent_nbits if self.shape.sliding else -(-self.exponent_nbits // self.digit_nbits)

    @property
    def entries(self) -> int:
        """Return the entries of the table."""
        if self.shape.sliding:
            return 1 << self.digit_nbits - 1
        return 1 << self.digit_nbits if self.shape.digit else 0

    @property
    def block(self) -> int:
        return self.block_nbits or self.nbits
