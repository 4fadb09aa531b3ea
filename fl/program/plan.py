"""Plan of a machine that executes a schedule: every choice that is made before its hardware is built.

It is plain data, shared by the program (`recipe`) and by the closed formulas for cycles.
"""

from dataclasses import dataclass
from typing import Any

from .recipe import Recipe
from .schedules import SCHEDULES

# how operands are converted into the domain of the multiplier:
#   identity   no conversion
#   given      by units in front of the machine (paper 001, Figures 11 to 13)
#   square     R^2 mod n from doublings and squarings, then products of the machine's own multipliers
#   double     the base itself is doubled nbits times
#   shift-sub  R^2 mod n by shift-sub products from R - n (paper 004), then as with square
#   scaled     R^2 mod n from doublings and squarings, for a scaled modulus (fl/multipliers/scaled_entry.py)
CONVERSIONS = ("identity", "given", "square", "double", "shift-sub", "scaled")


@dataclass(frozen=True)
class Plan:
    """One machine: a schedule, a conversion, and how closely products follow each other."""

    nbits: int
    schedule: str
    conversion: str = "identity"
    squarings: int = 0  # conversion "square" only
    doublings_per_cycle: int = 4
    full_scan: bool = False  # scan all nbits bits of the exponent, including leading zeros
    forward: bool = False  # operands bypass the registers: a product starts in the cycle its operands appear
    reduced_only: bool = False  # refuse a base at or above the modulus; Montgomery machines always do
    screened: bool = False  # operands come with a status, and results with their modulus (always for "given")
    r_nbits: int = 0  # R = 2^r_nbits of a Montgomery unit; 0: nbits
    # right to left, exponent 0 squares the base once, as paper 001's RTL tests the exponent after a step
    steps_once: bool = False
    plain_result: bool = True  # right to left, the result is not in Montgomery form: r * (b R) / R = r * b

    def __post_init__(self) -> None:
        object.__setattr__(self, "r_nbits", self.r_nbits or self.nbits)
        object.__setattr__(self, "screened", self.screened or self.conversion == "given")
        object.__setattr__(self, "reduced_only", self.reduced_only or self.odd_only)
        assert self.schedule in SCHEDULES and self.conversion in CONVERSIONS, self
        assert self.r_nbits % (1 << self.squarings) == 0, self
        assert not self.full_scan or SCHEDULES[self.schedule].full_scan, self
        assert self.doublings % self.doublings_per_cycle == 0, self

    @property
    def nunits(self) -> int:
        """The number of parallel product units."""
        return SCHEDULES[self.schedule].multipliers

    @property
    def right_to_left(self) -> bool:
        return self.schedule.startswith("right-to-left")

    @property
    def dependent(self) -> bool:
        """Whether the second product of a step needs the first one's result."""
        return self.schedule in ("left-to-right", "always")

    @property
    def montgomery(self) -> bool:
        return self.conversion in ("square", "double", "shift-sub")

    @property
    def odd_only(self) -> bool:
        return self.montgomery or self.conversion == "scaled"

    @property
    def doublings(self) -> int:
        """The number of doublings of one set-up: to R, or to 2^k * R with r_nbits = k * 2^squarings."""
        if self.conversion == "square":
            return self.r_nbits + (self.r_nbits >> self.squarings)
        return self.r_nbits if self.conversion == "double" else 0

    @property
    def enters_one(self) -> bool:
        """Whether the result is kept in Montgomery form: it starts as R mod n and leaves by a product."""
        return self.montgomery and not (self.right_to_left and self.plain_result)

    @property
    def aligns(self) -> bool:
        return not self.right_to_left and not self.full_scan

    @property
    def takes_top(self) -> bool:
        """Whether the highest bit of the exponent only copies the base to the accumulator (left to right)."""
        return self.schedule == "left-to-right"

    @property
    def reduces_top(self) -> bool:
        """Whether the highest bit computes 1 * base instead, because the base may be at or above
        the modulus.
        """
        return self.takes_top and self.conversion == "identity"

    def recipe(self, domain: str, **more: Any) -> Recipe:
        """The recipe of the program; `domain` is that of a multiplier that needs no conversion."""
        return Recipe(
            self.nbits,
            "montgomery" if self.montgomery else domain,
            self.schedule,
            self.conversion,
            self.squarings,
            full_scan=self.full_scan,
            doublings_per_cycle=self.doublings_per_cycle,
            **more,
        )
