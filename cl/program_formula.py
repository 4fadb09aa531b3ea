"""Closed formulas for the cycles of programs with a window or a key (fl/program/builder.py); program.py
counts the same cycles by microinstruction.

T is the cycles of a product under the current modulus, ov is 1 without forwarding, P = ov + T; a digit has k
bits, d is the number of digits, and S = 2^k + 2 the cycles of a scan:

    fixed window        1 + (2^k - 2) P + 1 + S + (d - 1) (max(k P + ov, S) + T)    always 2 d P    ladder d P
    public exponent e   P per bit, and for each 1 the extra cycles of a second product on one unit (right to
                        left)
    into the domain     doublings / doublings per cycle for the constant, and P per number

All other microinstructions take one cycle: stores, loads, moves, sums, comparisons. `modexlab show --costs`
prints the sums by width.
"""

from dataclasses import dataclass, replace

from ..fl.program.builder import program_of
from ..fl.program.plan import Plan
from ..fl.program.recipe import Recipe
from .timing import UnitTiming, mod_exp_cycles


@dataclass(frozen=True)
class Formula:
    """Closed formula of a recipe on a multiplier whose cycles do not depend on its operands."""

    recipe: Recipe
    unit: UnitTiming
    forward: bool = True

    @property
    def ov(self) -> int:
        return 0 if self.forward else 1

    def product(self, modulus: int) -> int:
        """Cycles of a product under a modulus; with modulus 0, of a wide product."""
        recipe = self.recipe
        most = (1 << recipe.nbits) - 1
        cycles = self.unit.product_cycles(self.unit.blocks_of(modulus or most if recipe.fits else most))
        assert cycles is not None, "a multiplier whose cycles its operands decide has no formula"
        return cycles

    def p(self, modulus: int) -> int:
        """Cycles of a product that follows another microinstruction."""
        return self.ov + self.product(modulus)

    def pair(self, modulus: int) -> int:
        """Cycles of a microinstruction with two products."""
        return self.ov + self.unit.pair(mod=modulus or (1 << self.recipe.nbits) - 1)

    @property
    def montgomery(self) -> int:
        """1 if the entering constant takes a microinstruction, otherwise 0."""
        return int(self.recipe.montgomery)

    # ---- parts

    def constant(self, modulus: int) -> int:
        """Cycles of the doublings and squarings that compute the entering constant."""
        recipe = self.recipe
        if not recipe.montgomery:
            return 0
        if recipe.fits:
            doublings = recipe.nbits + recipe.block * self.unit.blocks_of(modulus)
            return doublings // recipe.doublings_per_cycle
        doublings = recipe.nbits + (recipe.nbits >> recipe.squarings)
        return doublings // recipe.doublings_per_cycle + recipe.squarings * self.p(modulus)

    def public(self, exp: int, modulus: int) -> int:
        """Cycles of a right-to-left loop."""
        ones = exp.bit_count()
        return (exp.bit_length() - ones) * self.p(modulus) + ones * self.pair(modulus)

    def digits(self, exp: int, modulus: int) -> int:
        """The number of digits that are scanned; those above modulus and exponent may be skipped."""
        recipe = self.recipe
        if not recipe.skips:
            return recipe.ndigits
        blocks = max(self.unit.blocks_of(modulus), -(-exp.bit_length() // recipe.block))
        return blocks * recipe.block // recipe.digit_nbits

    def loop(self, exp: int, modulus: int) -> int:
        """Cycles of the loop of the schedule. Only the length of `exp` matters, if digits are skipped, and
        from right to left also its number of ones.
        """
        recipe = self.recipe
        k, d = recipe.digit_nbits, self.digits(exp, modulus)
        if recipe.shape.right:
            return self.public(exp, modulus)
        if recipe.shape.digit:
            scan = (1 << k) + 2
            digit = max(k * self.p(modulus) + self.ov, scan) + self.product(modulus)
            return 1 + ((1 << k) - 2) * self.p(modulus) + 1 + scan + (d - 1) * digit
        return d * (self.p(modulus) if recipe.schedule == "ladder" else 2 * self.p(modulus))

    def power(self, exp: int, modulus: int, made: bool = False) -> int:
        """Cycles from setting the modulus to the end of the loop; `made`: the entering constant is already
        stored.
        """
        recipe = self.recipe
        into = 1 + (self.montgomery if made else self.constant(modulus)) + 1
        one = self.p(0) if recipe.montgomery and not recipe.shape.plain_result else 0
        stretched = 2 + recipe.random_nbits if recipe.blind_exponent else 0
        return into + one + self.p(0) + stretched + 2 + self.loop(exp, modulus)

    # ---- programs

    def plain(self, modulus: int, exp: int = 0) -> int:
        """Cycles of a program with a window and without a key: {base, exp, mod}."""
        recipe = self.recipe
        skipped = 0
        if recipe.skips:
            skipped = (recipe.ndigits - self.digits(exp, modulus)) * recipe.digit_nbits // recipe.block + 1
        if recipe.montgomery:
            if recipe.conversion == "double":
                doublings = recipe.block * self.unit.blocks_of(modulus) if recipe.fits else recipe.nbits
                into = 2 * (doublings // recipe.doublings_per_cycle)
            else:
                into = self.constant(modulus) + self.pair(0)
        else:
            # the first product follows the request and does not see its modulus yet
            into = 1 - self.ov + self.p(0) if recipe.domain == "identity" else 0
        leave = self.p(modulus) if recipe.montgomery else 0
        return skipped + into + self.loop(exp, modulus) + leave + self.wiping(modulus) + 1

    def wiping(self, modulus: int) -> int:
        """Cycles to clear the registers, the units and the table; for a request with a public exponent,
        including all that follows its result.
        """
        recipe = self.recipe
        entries = 1 << recipe.digit_nbits if recipe.shape.digit else 0
        converter = recipe.scaled is not None or recipe.doubles_base_last
        return 1 + self.p(modulus) + entries + converter

    def public_request(self, plan: Plan, base: int, exp: int, modulus: int) -> int:
        """Cycles of a request with a public exponent, by the plan of the machine."""
        recipe = self.recipe
        other = replace(self, recipe=recipe.of_public)
        bitwise = replace(plan, schedule=other.recipe.schedule, full_scan=False)
        wiping = 0
        if recipe.keyed or recipe.entries:
            wiping = other.wiping(modulus) + 2 * recipe.verify
        return other.bitwise(bitwise, base, exp, modulus) + wiping

    def bitwise(self, plan: Plan, base: int, exp: int, modulus: int) -> int:
        """Cycles of a binary schedule without a key, before wiping."""
        if not self.recipe.apart:
            return mod_exp_cycles(plan, self.unit, base, exp, modulus)
        # a product directly after the request does not see the modulus yet
        late = exp & 1 & self.forward & (not plan.montgomery)
        return mod_exp_cycles(plan, self.unit, base, 0, modulus) + late + self.apart(exp, modulus)

    def apart(self, exp: int, modulus: int) -> int:
        """Cycles of a right-to-left loop with one product per microinstruction."""
        ones, bits = exp.bit_count(), exp.bit_length()
        return (bits + ones) * self.p(modulus) + bits - ones

    def keyed(self, n: int, d: int, e: int, p: int = 0, q: int = 0) -> int:
        """Cycles of a program with a consistent key."""
        recipe = self.recipe
        m = self.montgomery
        cycles = 0
        if recipe.blind_message:
            cycles += 1 + self.constant(n) + 1 + self.p(0) + 3 + self.public(e & ~1, n)
            cycles += 1 + self.p(0) + self.p(n) + 1 + self.p(n) + 1
        if recipe.crt:
            cycles += self.power(0, q) + m * self.p(q) + 1
            cycles += self.power(0, p)
            cycles += m + 1 + self.p(0) + 1 + self.p(p) + 1
            cycles += m + 1 + self.p(0) + self.p(p) + 1
            cycles += 1 + (m if recipe.blind_message else self.constant(n)) + 1
            cycles += self.p(0) + self.p(n) + 1 + self.p(n) + 2
        else:
            cycles += self.power(d & ~int(recipe.blind_message), n, recipe.blind_message)
            cycles += self.p(n) if recipe.montgomery and not recipe.shape.plain_result else 0
        if recipe.blind_message:
            cycles += m + 1 + self.p(0) + self.p(n)
        if recipe.verify:
            cycles += 2 + m + 1 + self.p(0) + 2 + self.public(e, n) + 5
        return cycles + self.refused()

    def refused(self) -> int:
        """Cycles of a refused request: the wiping and the answer, which end every keyed program."""
        recipe = self.recipe
        result = (
            0 if recipe.verify else 2
        )  # the result is stored and fetched; with a check, two slots that are not cleared offset that
        return result + 1 + (1 + self.product(0)) + self.montgomery + program_of(recipe).depth + 1
