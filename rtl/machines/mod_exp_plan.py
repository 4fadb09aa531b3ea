"""The plan of a ModExp: what its control does, decided before any hardware exists.

Plain data, shared by control, datapath and the cycle-level twin, so that a choice is made in one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ...fl.schedules import SCHEDULES


class State(IntEnum):
    """The states of ModExpCtrl."""

    IDLE = 0
    SETUP = 1  # doublings: base to b * R, or 1 to 2^k * R
    SETUP_ONE = 2  # doublings: 1 to R mod n
    SQUARE = 3  # 2^k * R to R^2 mod n by Montgomery squarings
    ENTER = 4  # products with R^2
    ALIGN = 5  # leading zeros of the exponent leave, one a cycle
    TOP = 6  # left to right: acc becomes the base, for the exponent's highest bit
    LOOP = 7  # the schedule, an exponent bit a step
    LEAVE = 8  # the product with 1 that leaves Montgomery form
    DONE = 9


STATE_NBITS = 4

# how many product units work side by side
UNITS = {name: schedule.multipliers for name, schedule in SCHEDULES.items()}

# how operands get into the domain of the multiplier:
#   identity   they are in it already
#   given      units in front of the ModExp have done it (paper 001, Figures 11 to 13)
#   square     R^2 mod n from doublings and squarings, then products of the ModExp's own multipliers
#   double     the base itself is doubled nbits times
#   shift-sub  R^2 mod n by shift-sub products from R - n (paper 004), then as with square
CONVERSIONS = ("identity", "given", "square", "double", "shift-sub")


@dataclass(frozen=True)
class Plan:
    """One ModExp: a schedule, a conversion, and how closely products follow each other."""

    nbits: int
    schedule: str
    conversion: str = "identity"
    squarings: int = 0  # conversion "square" only
    doublings_per_cycle: int = 4
    full_scan: bool = False  # all nbits exponent bits, leading zeros too
    forward: bool = False  # operands bypass the registers: a product starts in the cycle its operands appear
    reduced_only: bool = False  # refuse a base at or above the modulus; Montgomery machines always do
    screened: bool = (
        False  # operands come with a status, and results leave with their modulus ("given" always)
    )
    r_nbits: int = 0  # R = 2^r_nbits of a Montgomery unit; 0: nbits
    steps_once: bool = False  # right to left, exponent 0 squares the base once, as in paper 001's RTL, which looks at it after a step
    plain_result: bool = True  # right to left, keep the result out of Montgomery form: r * (b R) / R = r * b

    def __post_init__(self) -> None:
        object.__setattr__(self, "r_nbits", self.r_nbits or self.nbits)
        object.__setattr__(self, "screened", self.screened or self.conversion == "given")
        object.__setattr__(self, "reduced_only", self.reduced_only or self.montgomery)
        assert self.schedule in UNITS and self.conversion in CONVERSIONS, self
        assert self.r_nbits % (1 << self.squarings) == 0, self
        assert not self.full_scan or SCHEDULES[self.schedule].constant_time, self
        assert self.doublings % self.doublings_per_cycle == 0, self

    @property
    def nunits(self) -> int:
        return UNITS[self.schedule]

    @property
    def right_to_left(self) -> bool:
        return self.schedule.startswith("right-to-left")

    @property
    def dependent(self) -> bool:
        """The second product of a step needs the first one's result."""
        return self.schedule in ("left-to-right", "always")

    @property
    def montgomery(self) -> bool:
        return self.conversion in ("square", "double", "shift-sub")

    @property
    def odd_only(self) -> bool:
        return self.montgomery

    @property
    def has_setup(self) -> bool:
        return self.montgomery

    @property
    def doublings(self) -> int:
        """Of one set-up: to R, or to 2^k * R with r_nbits = k * 2^squarings."""
        if self.conversion == "square":
            return self.r_nbits + (self.r_nbits >> self.squarings)
        return self.r_nbits if self.conversion == "double" else 0

    @property
    def enters_one(self) -> bool:
        """The result is kept in Montgomery form, and starts as R mod n."""
        return self.montgomery and not (self.right_to_left and self.plain_result)

    @property
    def leaves(self) -> bool:
        return self.enters_one

    @property
    def counts(self) -> bool:
        """The loop ends after a number of bits; otherwise when no ones are left in the exponent."""
        return not self.right_to_left

    @property
    def aligns(self) -> bool:
        return not self.right_to_left and not self.full_scan

    @property
    def takes_top(self) -> bool:
        """Left to right, the exponent's highest bit only makes acc the base."""
        return self.schedule == "left-to-right"

    @property
    def reduces_top(self) -> bool:
        """... by the product 1 * base where the base may be above the modulus, else without one."""
        return self.takes_top and self.conversion == "identity"

    @property
    def dpath_sees_state(self) -> bool:
        """The datapath aligns the exponent, or doubles first the base and then 1, by the state."""
        return self.aligns or self.conversion == "double"

    @property
    def before_loop(self) -> tuple[State, ...]:
        """The states between IDLE and LOOP (or ALIGN), each taken once but for SQUARE."""
        if self.conversion in ("square", "shift-sub"):
            return (State.SETUP, *((State.SQUARE,) if self.squarings else ()), State.ENTER)
        if self.conversion == "double":
            return (State.SETUP, State.SETUP_ONE) if self.enters_one else (State.SETUP,)
        return ()

    @property
    def states(self) -> dict[str, int]:
        """Those that its control can be in, by name."""
        reached = {State.IDLE, *self.before_loop, State.LOOP, State.DONE}
        reached |= {State.ALIGN} if self.aligns else set()
        reached |= {State.TOP} if self.takes_top else set()
        reached |= {State.LEAVE} if self.leaves else set()
        return {state.name: int(state) for state in State if state in reached}

    def after(self, state: State) -> State:
        """The state that follows (LOOP stands for the loop's entry, whatever the exponent makes of it)."""
        path = (
            State.IDLE,
            *self.before_loop,
            State.LOOP,
            *((State.LEAVE,) if self.leaves else ()),
            State.DONE,
        )
        return path[path.index(state) + 1] if state in path[:-1] else State.DONE
