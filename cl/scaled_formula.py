"""Closed formulas for the cycles of programs on a scaled modulus (fl/program/scaled_builder.py); program.py
counts the same cycles by microinstruction.

As in program_formula.py, T is the cycles of a product, ov is 1 without forwarding, P = ov + T. C is the
cycles to R^2 (ScaledEntry: doublings, squares of P). A product directly after M' waits one cycle for it, as
after any change of the modulus; without squares, a program with a key stores R^2 first and does not wait. H
is the cycles of h halvings and the subtraction after them.

    into the form   C, and P per number, or 3 P + 3 for one of two words      out of it   P + 1 + H
    private         apart from microinstructions of one cycle: C + 2 P + loop + P + H without CRT,
                    2 C + 2 loop + 28 P + 3 H with CRT
    check           modulo n C + 2 P + H + the public power; by CRT 2 (C + 7 P + 2 H + the public power)
"""

from dataclasses import dataclass
from functools import cached_property

from ..fl.multipliers.scaled_entry import ScaledEntry
from ..fl.program.builder import program_of
from ..fl.program.plan import Plan
from .program_formula import Formula
from .timing import loop_cycles


@dataclass(frozen=True)
class ScaledFormula(Formula):
    """Closed formula of a recipe on units whose modulus is scaled."""

    @property
    def form(self) -> ScaledEntry:
        assert self.recipe.scaled is not None
        return self.recipe.scaled

    @cached_property
    def each(self) -> int:
        """P, which does not depend on the modulus."""
        return self.p(0)

    @property
    def late(self) -> int:
        """The cycles by which a product waits after a microinstruction that changes the modulus."""
        return 1 - self.ov

    @property
    def halve(self) -> int:
        return 1 + self.form.leaving_cycles

    @property
    def leave(self) -> int:
        return self.each + self.halve

    def constant(self, modulus: int, stored: bool = False) -> int:
        """Cycles to R^2; `stored`: a store follows, not a product."""
        waits = self.form.chain.squares or not stored
        return self.form.constant_cycles(modulus) + self.late * bool(waits)

    def plain(self, modulus: int, exp: int = 0, plan: Plan | None = None) -> int:
        """Cycles of a program without a key; by `plan` if the schedule is binary."""
        recipe, product = self.recipe, self.each
        enters = product if recipe.starts_plain else 2 * product
        into = self.constant(modulus) + enters
        leave = self.halve if recipe.starts_plain else self.leave
        if recipe.shape.digit:
            return into + self.loop(exp, modulus) + leave + self.wiping(modulus) + 1
        assert plan is not None
        if plan.aligns:
            into = max(into, recipe.nbits - exp.bit_length())
        return into + loop_cycles(plan, self.unit, 0, exp, 1) + leave + 1

    def bitwise(self, plan: Plan, base: int, exp: int, modulus: int) -> int:
        if not self.recipe.apart:
            return self.plain(modulus, exp, plan)
        return self.plain(modulus, 0, plan) + self.apart(exp, modulus)

    # ---- the parts of programs with a key

    def _modulus(self, modulus: int) -> int:
        return 1 + self.constant(modulus, stored=True) + 1 + (self.each + 1 if self.recipe.joins else 0)

    @property
    def _number(self) -> int:
        return 1 + self.each + (2 + self.each if self.recipe.joins else 0)

    def _public(self, exp: int) -> int:
        """Cycles of a power by the public exponent, which a program that joins has in two words."""
        if not self.recipe.joins:
            return 2 + self.public(exp, 0)
        nbits = self.recipe.half_nbits
        high = exp >> nbits
        raised = nbits * self.each if high else 0
        return 4 + self.public(exp & (1 << nbits) - 1, 0) + raised + self.public(high, 0)

    def power(self, exp: int, modulus: int, made: bool = False, e: int = 0) -> int:
        """Cycles from setting the modulus to the end of the loop, including the blinding of the message by
        the public exponent e.
        """
        recipe, product = self.recipe, self.each
        blinded = (
            1 + 2 * product + self._public(e & ~1) + 1 + 2 * product + 1 + product
            if recipe.blind_message
            else 0
        )
        stretched = 2 + recipe.random_nbits if recipe.blind_exponent else 0
        return (
            self._modulus(modulus)
            + self._number
            + blinded
            + product
            + stretched
            + 2
            + self.loop(exp, modulus)
        )

    @property
    def _garner(self) -> int:
        return 9 * self.each + 7 + self.halve + self.leave

    @property
    def _integer(self) -> int:
        return 4 + self.late + 2 * self.each + int(self.form.folds > 1)

    def _check(self, e: int, modulus: int) -> int:
        """Cycles to raise the result to e and reduce it below the modulus."""
        return self._modulus(modulus) + self._number + 1 + self._public(e) + self.halve

    def keyed(self, n: int, d: int, e: int, p: int = 0, q: int = 0) -> int:
        recipe = self.recipe
        if recipe.crt:
            cycles = self.power(0, q, e=e) + self.leave + 1 + self.power(0, p, e=e)
            cycles += self._garner + self._integer + 3 + self._integer + 2
            if recipe.verify:
                again = 1 + 1 + self._number + self.each + self.halve + 2
                cycles += 4 + sum(self._check(e, prime) + again for prime in (p, q))
        else:
            cycles = self.power(d & ~int(recipe.blind_message), n, e=e) + self.leave
            if recipe.verify:
                cycles += 4 + self._check(e, n) + 2
        return cycles + self.refused()

    def refused(self) -> int:
        """Cycles of a refused request: the wiping and the answer, which end every keyed program."""
        recipe = self.recipe
        joins = int(recipe.joins)
        kept = 0 if recipe.verify else 1 + joins
        fetched = 1 + joins + (1 + joins if recipe.verify else 0)
        ones = (1 if joins else 2) if recipe.verify else 0
        return kept + 1 + (1 + self.product(0)) + 1 + fetched + program_of(recipe).depth - ones + 1
