"""ModExpShape: the states that a ModExp has, and the sources of its multiplexers, by its plan
(fl/program/plan.py).

    state        does                                                         is there for
    IDLE         waits for a request
    CONVERT      the converter takes the base into Montgomery form            conversion double
    CONVERT_ONE  the converter takes 1 there, in r                            double
    CONSTANT     the converter makes R^2 mod n in r, or a root of it          square, shift-sub
    RAISE        squares of r make R^2 of the root                            square
    ENTER        products with R^2 take the base into Montgomery form, and 1  square, shift-sub
    ENTER_ONE    a product of its own takes 1 there                           shift-sub
    ALIGN        shifts out leading zeros of the exponent that are left       scans from the top
    COPY         the highest 1 of the exponent copies the base to r           left to right
    REDUCE       the same by a product with 1, for a base above the modulus   left to right
    SQUARE       r * r, for each bit                                          left to right, always
    MULTIPLY     r * b for a 1; `always` makes it for a 0, too, and drops it  left to right, always
    STEP         both products of a bit: side by side, or in series           right to left, ladder
    LEAVE        a product with 1 takes r out of Montgomery form              conversions
    DONE         offers the result

A machine goes through its states in this order, and repeats RAISE and those of the bits. In a machine that
starts with r = 1 outside of Montgomery form (right to left), the result needs neither CONVERT_ONE nor LEAVE.
"""

from dataclasses import dataclass
from functools import cached_property

from pymtl3 import Bits, clog2, mk_bits

from ...fl.program.plan import Plan

ALL_STATES = (
    *("IDLE", "CONVERT", "CONVERT_ONE", "CONSTANT", "RAISE", "ENTER", "ENTER_ONE"),
    *("ALIGN", "COPY", "REDUCE", "SQUARE", "MULTIPLY", "STEP", "LEAVE", "DONE"),
)


@dataclass(frozen=True)
class ModExpShape:
    """A plan, and what its machine has for it."""

    plan: Plan

    # ---- the controller

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The states that the machine has, in order."""
        plan = self.plan
        there = {
            "IDLE": True,
            "CONVERT": plan.conversion == "double",
            "CONVERT_ONE": plan.conversion == "double" and plan.enters_one,
            "CONSTANT": self.makes_constant,
            "RAISE": plan.squarings > 0,
            "ENTER": self.makes_constant,
            "ENTER_ONE": self.enters_apart,
            "ALIGN": plan.aligns,
            "COPY": plan.takes_top and not plan.reduces_top,
            "REDUCE": plan.reduces_top,
            "SQUARE": plan.dependent,
            "MULTIPLY": plan.dependent,
            "STEP": not plan.dependent,
            "LEAVE": plan.enters_one,
            "DONE": True,
        }
        return tuple(name for name in ALL_STATES if there[name])

    @property
    def codes(self) -> dict[str, int]:
        """The codes of the states, in order."""
        return {name: code for code, name in enumerate(self.states)}

    @property
    def state_nbits(self) -> int:
        return clog2(len(self.states) + 1)

    def code(self, name: str) -> Bits:
        """The code of a state; one above all others for a state that the machine does not have."""
        return mk_bits(self.state_nbits)(self.codes.get(name, len(self.states)))

    def following(self, *names: str) -> str:
        """The first state that comes after these."""
        later = ALL_STATES[max(map(ALL_STATES.index, names)) + 1 :]
        return next(name for name in later if name in self.states)

    @property
    def loop(self) -> str:
        """The first state of the loop over the bits."""
        return self.following("ALIGN")

    @property
    def again(self) -> str:
        """The first state of a further bit."""
        return "STEP" if "STEP" in self.states else "SQUARE"

    @property
    def makes_constant(self) -> bool:
        return self.plan.conversion in ("square", "shift-sub")

    @property
    def converts(self) -> bool:
        """Whether there is a converter."""
        return self.plan.montgomery

    @property
    def enters_apart(self) -> bool:
        """Whether the products with R^2 are in series, as in paper 004's machines with one unit."""
        plan = self.plan
        return plan.conversion == "shift-sub" and plan.dependent and plan.enters_one

    @property
    def enters_both(self) -> bool:
        """Whether ENTER has a second product, which takes 1 into Montgomery form."""
        return self.makes_constant and self.plan.enters_one and not self.enters_apart

    # ---- products

    @property
    def nproducts(self) -> int:
        """Most products of a state. Product 0 is r * y0, product 1 is x1 * y1."""
        return 2 if self.enters_both or not self.plan.dependent else 1

    @property
    def ladder(self) -> bool:
        return self.plan.schedule == "ladder"

    @property
    def looks_ahead(self) -> bool:
        """Whether products are chosen by the next bit of the exponent."""
        return self.plan.right_to_left or (self.ladder and self.plan.forward)

    @property
    def always(self) -> bool:
        return self.plan.schedule == "always"

    # ---- the sources of multiplexers, by name; a product is named for the unit that makes it

    def product(self, number: int) -> str:
        """The source that a product is."""
        return f"product_{min(number, self.plan.nunits - 1)}"

    @cached_property
    def r_sources(self) -> tuple[str, ...]:
        later = (
            ("converted", "CONVERT_ONE" in self.states or self.makes_constant),
            ("b", "COPY" in self.states),
            (self.product(0), True),
            (self.product(1), self.enters_both or self.ladder),
        )
        return tuple(dict.fromkeys(["one", *(name for name, there in later if there)]))

    @cached_property
    def b_sources(self) -> tuple[str, ...]:
        later = (
            ("converted", "CONVERT" in self.states),
            (self.product(0), self.makes_constant or self.ladder or "REDUCE" in self.states),
            (self.product(1), not self.plan.dependent),
        )
        return tuple(dict.fromkeys(["base", *(name for name, there in later if there)]))

    @cached_property
    def y0_sources(self) -> tuple[str, ...]:
        squares = self.plan.dependent or "RAISE" in self.states
        there = (("b", True), ("r", squares), ("1", "LEAVE" in self.states))
        return tuple(name for name, given in there if given)

    @cached_property
    def x1_sources(self) -> tuple[str, ...]:
        there = (("b", not self.plan.dependent), ("r", self.ladder or self.enters_both))
        return tuple(name for name, given in there if given)

    @cached_property
    def y1_sources(self) -> tuple[str, ...]:
        there = (("b", not self.plan.dependent), ("r", self.ladder), ("1", self.enters_both))
        return tuple(name for name, given in there if given)
