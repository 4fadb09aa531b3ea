"""Closed formulas for the cycles of every unit and machine, from the handshake of the request to that of the
response.

They hold with ports that are always ready, and are exact: tests compare them with the CL twins and with RTL,
row by row.

A unit is told by `latency(a, b, mod)`, the cycles of one product, and `pair(...)`, from the first request to
the second answer of two products that are offered one after the other. `fixed` is the latency where it is the
same for all operands. A unit that `fits` has its width at run time, in blocks of `block_nbits` bits:
`blocks_of(mod)` are those that a modulus needs, and `product_cycles(nblocks)` the latency then, whatever the
operands. `latency` and `pair` are those of a unit that has been given blocks_of(mod), and `fixed` is None, as
the modulus decides. Every other unit is one block, of its whole width.

A machine (program_exp.py) is a sequence of steps, each ov + its products long, where ov is 1 without
forwarding:
    right-to-left-2   len * (ov + L)        len: length of the exponent, ones: how many of its bits are 1
    right-to-left-1   ones * (ov + pair) + (len - ones) * (ov + L)
    left-to-right     1 + (len + ones - 2) * (ov + L)       (ov + L instead of 1 in the identity domain)
    always            2 * len * (ov + L)
    ladder            len * (ov + L)
for len > 0; for len = 0 nothing, or with steps_once a step without a 1. With full_scan, len is nbits. Where L
depends on the
operands, the sum runs over the products instead.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from ..fl.mod_exp import operand_status
from ..fl.program.plan import Plan
from ..fl.program.schedules import SCHEDULES, Step
from ..rtl.units.div_rem import div_rem_block_nbits
from ..rtl.units.shift_sub import shift_sub_block_nbits

Factors = tuple[int, int]
NONE = (0, 0)  # factors, where they do not matter

montgomery_status = partial(operand_status, odd_only=True, reduced_only=True)


def aligned_div_rem_cycles(dividend: int, divisor: int) -> int:
    """AlignedDivRem: up and down again by the length of the quotient."""
    if divisor == 0:
        return 1
    shift = dividend.bit_length() - divisor.bit_length()  # the quotient has as many bits, or one more
    if shift >= 0 and dividend >> shift >= divisor:
        shift += 1
    return 2 * max(shift, 0) + 2


class Dependence(IntEnum):
    """How cycles depend on a number."""

    NONE = 0
    LENGTH = 1  # on its bits from the highest 1 on
    VALUE = 2


class UnitTiming:
    """The cycles of a product unit of one width. A class says what `product_cycles` are, and `_block`, if its
    units can be made to fit; units whose operands decide also say what `latency` is.
    """

    fits: bool = False
    nbits: int

    @property
    def _block(self) -> int:
        """Bits of a block of the unit that fits."""
        raise NotImplementedError

    def product_cycles(self, nblocks: int) -> int | None:
        """Cycles of a product with so many blocks, whatever the operands; None if they decide."""
        raise NotImplementedError

    @property
    def fixed(self) -> int | None:
        """The cycles of every product; None if they are not the same for all."""
        return None if self.fits else self.product_cycles(1)

    @property
    def depends(self) -> Dependence:
        """How the cycles of a product depend on its operands: LENGTH is that of the modulus."""
        if self.fixed is not None:
            return Dependence.NONE
        return Dependence.VALUE if self.product_cycles(1) is None else Dependence.LENGTH

    @property
    def block_nbits(self) -> int:
        """Bits of the modulus in a block; 0: one block, as wide as the unit."""
        return self._block if self.fits else 0

    def blocks_of(self, mod: int) -> int:
        """The blocks that the modulus needs; all there are, if the unit does not fit."""
        return max(1, -(-mod.bit_length() // self._block)) if self.fits else 1

    def _width(self, nblocks: int) -> int:
        """Bits of a factor that are taken."""
        return nblocks * self._block if self.fits else self.nbits

    def latency(self, a: int = 0, b: int = 0, mod: int = 0) -> int:
        cycles = self.product_cycles(self.blocks_of(mod))
        assert cycles is not None, "whose operands decide says how"
        return cycles

    def pair(self, first: Factors = NONE, second: Factors = NONE, mod: int = 0) -> int:
        """The second product starts as the first one leaves."""
        return self.latency(*first, mod) + self.latency(*second, mod)


@dataclass(frozen=True)
class FixedTiming(UnitTiming):
    """A unit that makes one product at a time, in the same cycles whatever the operands."""

    cycles: int

    def product_cycles(self, nblocks: int) -> int:
        return self.cycles


@dataclass(frozen=True)
class MontMulRemTiming(UnitTiming):
    """MontMulRem: a pass through all steps, whatever the operands; a block is what a stage takes."""

    nbits: int
    steps_per_stage: int
    nstages: int
    pipelined: bool
    fits: bool = False

    @property
    def _block(self) -> int:
        return self.steps_per_stage

    def product_cycles(self, nblocks: int) -> int:
        return self._width(nblocks) // self.steps_per_stage

    def pair(self, first: Factors = NONE, second: Factors = NONE, mod: int = 0) -> int:
        """Pipelined, the second product follows a stage behind; otherwise it starts as the first one
        leaves.
        """
        product = self.latency(mod=mod)
        return product + (1 if self.pipelined and self.nstages > 1 else product)


@dataclass(frozen=True)
class MulRemTiming(UnitTiming):
    """MulRem: the multiplier, then the divider; the next product may be made while the divider works. The
    divider alone can fit.
    """

    nbits: int
    divider: str
    quotient_bits_per_cycle: int
    multiplier_bits_per_cycle: int
    fits: bool = False

    @property
    def _block(self) -> int:
        return div_rem_block_nbits(self.nbits, self.quotient_bits_per_cycle)

    def product_cycles(self, nblocks: int) -> int | None:
        return None if self.divider == "aligned" else self.multiply_cycles + self.restoring_cycles(nblocks)

    def restoring_cycles(self, nblocks: int) -> int:
        """Cycles of the restoring divider."""
        return 2 * self._width(nblocks) // self.quotient_bits_per_cycle + 1

    @property
    def multiply_cycles(self) -> int:
        """Cycles of the multiplier: 0 bits a cycle stand for a combinational one."""
        per_cycle = self.multiplier_bits_per_cycle
        return self.nbits // per_cycle + 1 if per_cycle else 1

    def divide_cycles(self, product: int, mod: int) -> int:
        if self.divider == "aligned":
            return aligned_div_rem_cycles(product, mod)
        return self.restoring_cycles(self.blocks_of(mod))

    def latency(self, a: int = 0, b: int = 0, mod: int = 0) -> int:
        return self.multiply_cycles + self.divide_cycles(a * b, mod)

    def pair(self, first: Factors = NONE, second: Factors = NONE, mod: int = 0) -> int:
        """The divider takes the second product as the first one leaves (the aligning one a cycle later), or
        when it is made.
        """
        divider_free = self.latency(*first, mod) + int(self.divider == "aligned")
        return max(2 * self.multiply_cycles, divider_free) + self.divide_cycles(second[0] * second[1], mod)


@dataclass(frozen=True)
class SerialMontTiming(UnitTiming):
    """MMMul and MMRed: a step a bit, and a cycle for the last subtraction or for the step that stands in for
    it.
    """

    nbits: int
    bits_per_cycle: int = 1

    def product_cycles(self, nblocks: int) -> int:
        return self.nbits // self.bits_per_cycle + 2


@dataclass(frozen=True)
class ShiftSubTiming(UnitTiming):
    """ShiftSub and ShiftSubCarrySave: a step a bit, all of them or up to the highest 1 of b. ShiftSub that
    takes all can fit.
    """

    nbits: int
    bits_per_cycle: int
    until: str
    carry_save: bool = False
    fits: bool = False

    @property
    def _block(self) -> int:
        return shift_sub_block_nbits(self.nbits, self.bits_per_cycle)

    @property
    def depends(self) -> Dependence:
        """The carry-save unit takes all bits too, and aligns the modulus first."""
        aligns = self.until == "count" and self.carry_save
        return Dependence.LENGTH if aligns else super().depends

    def product_cycles(self, nblocks: int) -> int | None:
        if self.until != "count" or self.carry_save:
            return None
        return -(-self._width(nblocks) // self.bits_per_cycle) + 1

    def latency(self, a: int = 0, b: int = 0, mod: int = 0) -> int:
        if (alike := self.product_cycles(self.blocks_of(mod))) is not None:
            return alike
        steps = self.nbits if self.until == "count" else b.bit_length()
        cycles = -(-steps // self.bits_per_cycle)
        if self.until == "noticed":
            return cycles + 2
        leading_zeros = self.nbits - mod.bit_length()
        return max(cycles, 1) + (3 + 2 * leading_zeros if self.carry_save else 1)


def square_of_r_cycles(nbits: int, mod: int) -> int:
    """SquareOfR: one product of R - n, or two where the modulus is short."""
    unit = ShiftSubTiming(nbits, 1, "noticed")
    r = (1 << nbits) - mod
    if mod >> (nbits - 1):
        return 1 + unit.latency(r, r, mod)
    reduced = r % mod
    return 2 + unit.latency(1, r, mod) + unit.latency(reduced, reduced, mod)


def loop_cycles(plan: Plan, unit: UnitTiming, base: int, exp: int, mod: int) -> int:
    """The schedule's own part, from the loop's entry to the last answer."""
    ov = int(not plan.forward)
    length = plan.nbits if plan.full_scan else exp.bit_length()
    ones = exp.bit_count()
    if length == 0:
        return ov + unit.latency(base, base, mod) if plan.steps_once else 0
    top = int(plan.takes_top)  # a cycle of its own, or the product 1 * base
    if plan.reduces_top:
        top = ov + unit.latency(1 % mod, base, mod)
        base %= mod
    if (product := unit.fixed) is not None:
        if plan.schedule == "right-to-left-1":
            both = unit.pair(mod=mod or 1)
            return ones * (ov + both) + (length - ones) * (ov + product)
        return top + _products(plan, length, ones) * (ov + product)
    # the operands decide: one unit that makes both products of a step is given them as a step of two
    name = "right-to-left-2" if plan.right_to_left else plan.schedule
    options = {"nbits": plan.nbits} if plan.full_scan else {}
    steps: list[Step] = []
    SCHEDULES[name](base, exp, lambda x, y: x * y % mod, 1 % mod, trace=steps, **options)
    return top + sum(ov + _step_cycles(plan, unit, step, mod) for step in steps)


def _products(plan: Plan, length: int, ones: int) -> int:
    """Products of the loop that follow one another, but for the one that reduces the top."""
    return {
        "right-to-left-2": length,
        "right-to-left-1": length + ones,
        "ladder": length,
        "always": 2 * length,
        "left-to-right": max(0, length + ones - 2),
    }[plan.schedule]


def _step_cycles(plan: Plan, unit: UnitTiming, step: Step, mod: int) -> int:
    if len(step) > plan.nunits:
        first, second = ((made.a, made.b) for made in step)
        return unit.pair(first, second, mod)
    return max(unit.latency(made.a, made.b, mod) for made in step)


def setup_cycles(plan: Plan, unit: UnitTiming, mod: int) -> int:
    """From the request to the end of the conversion into the multiplier's domain."""
    if not plan.montgomery:
        return 0
    ov = int(not plan.forward)
    if plan.conversion == "shift-sub":
        start = square_of_r_cycles(plan.nbits, mod)
    else:
        start = plan.doublings // plan.doublings_per_cycle
    if plan.conversion == "double":
        return start * (1 + plan.enters_one)
    product = unit.latency(mod=1)
    enter = ov + product
    if plan.enters_one and plan.nunits == 1:
        # paper 004's machines make one behind the other what others offer together
        apart = plan.dependent and plan.conversion == "shift-sub"
        enter = 2 * (ov + product) if apart else ov + unit.pair(mod=mod)
    return start + plan.squarings * (ov + product) + enter


def mod_exp_cycles(plan: Plan, unit: UnitTiming, base: int, exp: int, mod: int) -> int:
    """ModExp: conversion, leading zeros, schedule, conversion back, answer."""
    reason = operand_status(base, mod, odd_only=plan.odd_only, reduced_only=plan.reduced_only)
    return 1 if reason else _mod_exp_cycles(plan, unit, base, exp, mod)


def _mod_exp_cycles(plan: Plan, unit: UnitTiming, base: int, exp: int, mod: int) -> int:
    begin = setup_cycles(plan, unit, mod)
    if plan.aligns:
        begin = max(begin, plan.nbits - exp.bit_length())
    scanned = plan.full_scan or plan.steps_once or exp > 0
    if plan.forward and begin == 0 and scanned and not (plan.takes_top and not plan.reduces_top):
        begin = 1  # products are not forwarded from the request itself
    leave = int(not plan.forward) + unit.latency(mod=1) if plan.enters_one else 0
    return begin + loop_cycles(plan, unit, base, exp, mod) + leave + 1


def product_count(plan: Plan, exp: int) -> int:
    """Products of a ProgramExp that follow one another; two side by side count once."""
    length = plan.nbits if plan.full_scan else exp.bit_length()
    ones = exp.bit_count()
    loop = max(_products(plan, length, ones) + int(plan.reduces_top and length > 0), int(plan.steps_once))
    enter = 0
    if plan.conversion in ("square", "shift-sub"):
        enter = plan.squarings + (2 if plan.enters_one and plan.nunits == 1 else 1)
    return enter + loop + int(plan.enters_one)


def convert_in_cycles(unit: UnitTiming, nbits: int, base: int, mod: int) -> int:
    """MontConvertIn: the division for R^2 mod n, and a product."""
    if montgomery_status(base, mod):
        return 1
    return aligned_div_rem_cycles(1 << (2 * nbits), mod) + unit.latency(mod=1)


def convert_out_cycles(unit: UnitTiming) -> int:
    """MontConvertOut: a product."""
    return unit.latency(mod=1)


def given_cycles(plan: Plan, unit: UnitTiming, exp: int, status: int) -> int:
    """The ModExp between two converters, whose operands come with a status; its units take the same cycles
    for all.
    """
    return 1 if status else _mod_exp_cycles(plan, unit, 0, exp, 1)


def fixed_mod_exp_cycles(plan: Plan, unit: UnitTiming, corrects: bool, exp: int, status: int) -> int:
    """FixedModExp: its ModExp, and a cycle for the correction of a pseudo-modulus."""
    return given_cycles(plan, unit, exp, status) + int(corrects)


def mont_mod_exp_cycles(plan: Plan, unit: UnitTiming, base: int, exp: int, mod: int) -> int:
    """Return the cycles of MontModExp: three units in series."""
    status = montgomery_status(base, mod)
    return (
        convert_in_cycles(unit, plan.nbits, base, mod)
        + given_cycles(plan, unit, exp, status)
        + convert_out_cycles(unit)
    )
