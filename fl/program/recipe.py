"""Recipe: the description of a machine from which builder.py builds its program."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..multipliers.scaled_entry import ScaledEntry
from .schedule_loops import LoopShape
from .schedules import MAX_WINDOW, SCHEDULES, best_fixed_window, best_sliding_window

RANDOM_NBITS = 64  # of the factor that blinds an exponent, unless the machine is narrower


@dataclass(frozen=True)
class Recipe:
    """An exponentiation, and its countermeasures."""

    nbits: int
    domain: str  # "identity", "residue", "montgomery" or "scaled"
    schedule: str = "right-to-left-2"
    conversion: str = "double"  # of the Montgomery domain: "double" or "square"
    squarings: int = 0
    full_scan: bool = False
    window: int = 0  # bits of a digit of the fixed window; 0: chosen to minimise products
    block_nbits: int = 0  # of the multiplier's blocks; 0: the width
    fits: bool = False  # products follow the length of the modulus
    crt: bool = False
    blind_message: bool = False
    blind_exponent: bool = False
    verify: bool = False
    doublings_per_cycle: int = 4
    public: bool = False  # requests flag a public exponent, which may affect the cycles
    apart: bool = False  # right-to-left on one unit: each product has its own microinstruction
    scaled: ScaledEntry | None = None  # for units on a scaled modulus, which are half as wide with CRT

    @property
    def starts_plain(self) -> bool:
        """Whether r starts as 1 and the result ends outside Montgomery form."""
        return self.shape.plain_result

    @property
    def doubles_base_last(self) -> bool:
        """Whether the converter holds a multiple of the base after its last use."""
        return self.montgomery and self.conversion == "double" and self.starts_plain

    @property
    def keyed(self) -> bool:
        """Whether it takes a key in addition to base, exponent and modulus."""
        return self.crt or self.blind_message or self.blind_exponent or self.verify

    @property
    def of_public(self) -> Recipe:
        """The exponentiation for requests with a public exponent: bit by bit, to its highest 1. Each product
        has its own microinstruction, which saves the multiplexer that two products in one would need.
        """
        return replace(
            self,
            schedule="right-to-left-1",
            window=0,
            full_scan=False,
            crt=False,
            blind_message=False,
            blind_exponent=False,
            verify=False,
            public=False,
            apart=True,
        )

    @property
    def asked(self) -> tuple[tuple[str, int], ...]:
        """The field of the request that says whether the exponent is public, if any."""
        return (("public", 1),) if self.public else ()

    @property
    def montgomery(self) -> bool:
        return self.domain == "montgomery"

    @property
    def odd_only(self) -> bool:
        """Whether even moduli are refused."""
        return self.domain in ("montgomery", "scaled")

    @property
    def shape(self) -> LoopShape:
        return SCHEDULES[self.schedule].loop

    @property
    def joins(self) -> bool:
        """Whether its units are half as wide as the modulus and the result is joined from two halves."""
        return self.crt and self.scaled is not None

    @property
    def half_nbits(self) -> int:
        """The width of a prime's field."""
        return -(-self.nbits // 2)

    @property
    def random_nbits(self) -> int:
        """The width of the factor that blinds an exponent."""
        words = self.half_nbits if self.joins else self.nbits
        return min(RANDOM_NBITS, words) if self.blind_exponent else 0

    @property
    def exponent_nbits(self) -> int:
        """The number of bits of the private exponent that are scanned, blinding included."""
        return (self.half_nbits if self.crt else self.nbits) + self.random_nbits

    @property
    def digit_nbits(self) -> int:
        """The number of bits in a digit that is scanned from the top."""
        if self.shape.sliding:
            return self.window or best_sliding_window(self.exponent_nbits)
        if not self.shape.digit:
            return 1
        if not self.window and (form := self.scaled) is not None:
            # products, clearing of the table, and the scan that nothing overlaps
            return min(range(1, MAX_WINDOW + 1), key=lambda k: self._window_cycles(k, form.square_cycles))
        if self.window or not self.fits or self.keyed:
            return self.window or best_fixed_window(self.exponent_nbits)
        # digits that divide a block
        return min(
            (k for k in range(1, self.block + 1) if self.block % k == 0 and k <= MAX_WINDOW),
            key=lambda k: (1 << k) - 2 + -(-self.nbits // k) * (k + 1),
        )

    def _window_cycles(self, k: int, product: int) -> int:
        """The cycles that depend on the number of bits in a digit."""
        return ((1 << k) - 2 + (-(-self.exponent_nbits // k) - 1) * (k + 1)) * product + (2 << k)

    @property
    def word_nbits(self) -> int:
        """The width of registers and memory."""
        return self.nbits if self.scaled is None else self.scaled.word_nbits

    @property
    def skips(self) -> bool:
        """Whether digits above both the modulus and the exponent are not scanned."""
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
        """The number of digits of the exponent, scanned from the top; with sliding windows, of bits."""
        return self.exponent_nbits if self.shape.sliding else -(-self.exponent_nbits // self.digit_nbits)

    @property
    def entries(self) -> int:
        """The number of table entries."""
        if self.shape.sliding:
            return 1 << self.digit_nbits - 1
        return 1 << self.digit_nbits if self.shape.digit else 0

    @property
    def block(self) -> int:
        return self.block_nbits or self.nbits
