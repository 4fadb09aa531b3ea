"""Closed formulas for the cycles of every unit and machine, from the handshake of the request to that of the
response.

They are exact for ports that are always ready; tests compare them with the CL twins and with RTL, row by row.

A unit is described by `latency(a, b, mod)`, the cycles of one product, and `pair(...)`, the cycles from the
first request to the second response of two products that are offered one after the other. `fixed` is the
latency if it is the same for all operands. A unit that `fits` has its width at run time, in blocks of
`block_nbits` bits: `blocks_of(mod)` is the number of blocks that a modulus needs, and
`product_cycles(nblocks)` the latency with that many, whatever the operands. `latency` and `pair` are those of
a unit set to blocks_of(mod), and `fixed` is None, as the modulus matters. Every other unit is one block of
its whole width.

A machine (program_exp.py) executes a sequence of steps. Each takes ov cycles plus its products, where ov is 1
without forwarding. With the length len of the exponent, the number ones of its 1 bits, and the latency L:

    right-to-left-2   len * (ov + L)
    right-to-left-1   ones * (ov + pair) + (len - ones) * (ov + L)
    left-to-right     1 + (len + ones - 2) * (ov + L)       (ov + L instead of 1 in the identity domain)
    always            2 * len * (ov + L)
    ladder            len * (ov + L)

for len > 0. For len = 0 there is no step, or with steps_once one without a 1. With full_scan, len is nbits.
If L depends on the operands, the sum is over the products instead.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from ..fl.mod_exp import operand_status
from ..fl.program.plan import Plan
from ..fl.program.schedules import SCHEDULES, Step

Factors = tuple[int, int]
NONE = (0, 0)  # factors that do not matter

montgomery_status = partial(operand_status, odd_only=True, reduced_only=True)


def aligned_div_rem_cycles(dividend: int, divisor: int) -> int:
    """Cycles of AlignedDivRem, which shifts up and down again by the length of the quotient."""
    if divisor == 0:
        return 1
    shift = dividend.bit_length() - divisor.bit_length()  # the quotient has this many bits, or one more
    if shift >= 0 and dividend >> shift >= divisor:
        shift += 1
    return 2 * max(shift, 0) + 2


class Dependence(IntEnum):
    """How the cycles of a unit depend on an operand."""

    NONE = 0
    LENGTH = 1  # on its bit length
    VALUE = 2


class UnitTiming:
    """The cycles of a product unit of one width. A subclass defines `product_cycles`, `_block` if its units
    can fit, and `latency` if the cycles depend on the operands.
    """

    fits: bool = False
    nbits: int

    @property
    def _block(self) -> int:
        """The width of a block of a unit that fits."""
        raise NotImplementedError

    def product_cycles(self, nblocks: int) -> int | None:
        """Cycles of a product with this many blocks; None if they depend on the operands."""
        raise NotImplementedError

    @property
    def fixed(self) -> int | None:
        """The cycles of every product; None if they are not the same for all."""
        return None if self.fits else self.product_cycles(1)

    @property
    def depends(self) -> Dependence:
        """How the cycles of a product depend on its operands; LENGTH refers to the modulus."""
        if self.fixed is not None:
            return Dependence.NONE
        return Dependence.VALUE if self.product_cycles(1) is None else Dependence.LENGTH

    @property
    def block_nbits(self) -> int:
        """Bits of the modulus in a block; 0: one block, as wide as the unit."""
        return self._block if self.fits else 0

    def blocks_of(self, mod: int) -> int:
        """The number of blocks that the modulus needs; 1 if the unit does not fit."""
        return max(1, -(-mod.bit_length() // self._block)) if self.fits else 1

    def _width(self, nblocks: int) -> int:
        """The number of bits of a factor that are used."""
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
    """A unit that computes one product at a time, in a fixed number of cycles."""

    cycles: int

    def product_cycles(self, nblocks: int) -> int:
        return self.cycles


@dataclass(frozen=True)
class MontMulRemTiming(UnitTiming):
    """MontMulRem: one pass through all steps, whatever the operands; a block is the steps of a stage."""

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
        """If pipelined, the second product follows one stage behind; otherwise it starts as the first one
        leaves.
        """
        product = self.latency(mod=mod)
        return product + (1 if self.pipelined and self.nstages > 1 else product)


@dataclass(frozen=True)
class MulRemTiming(UnitTiming):
    """MulRem: the multiplier, then the divider, which can work while the multiplier computes the next
    product.
    """

    nbits: int
    divider: str
    quotient_bits_per_cycle: int
    multiplier_bits_per_cycle: int

    def product_cycles(self, nblocks: int) -> int | None:
        return None if self.divider == "aligned" else self.multiply_cycles + self.restoring_cycles

    @property
    def restoring_cycles(self) -> int:
        """Cycles of the restoring divider."""
        return 2 * self.nbits // self.quotient_bits_per_cycle + 1

    @property
    def multiply_cycles(self) -> int:
        """Cycles of the multiplier; 0 bits per cycle denotes a combinational one."""
        per_cycle = self.multiplier_bits_per_cycle
        return self.nbits // per_cycle + 1 if per_cycle else 1

    def divide_cycles(self, product: int, mod: int) -> int:
        if self.divider == "aligned":
            return aligned_div_rem_cycles(product, mod)
        return self.restoring_cycles

    def latency(self, a: int = 0, b: int = 0, mod: int = 0) -> int:
        return self.multiply_cycles + self.divide_cycles(a * b, mod)

    def pair(self, first: Factors = NONE, second: Factors = NONE, mod: int = 0) -> int:
        """The divider accepts the second product when it is ready, but not before the first one leaves (with
        the aligning divider, one cycle later).
        """
        divider_free = self.latency(*first, mod) + int(self.divider == "aligned")
        return max(2 * self.multiply_cycles, divider_free) + self.divide_cycles(second[0] * second[1], mod)


@dataclass(frozen=True)
class SerialMontTiming(UnitTiming):
    """MMMul and MMRed: one step per bit, and a cycle for the final subtraction or the step that
    replaces it.
    """

    nbits: int
    bits_per_cycle: int = 1

    def product_cycles(self, nblocks: int) -> int:
        return self.nbits // self.bits_per_cycle + 2


@dataclass(frozen=True)
class ShiftSubTiming(UnitTiming):
    """ShiftSub and ShiftSubCarrySave: one step per bit of b, for all bits or up to its highest 1."""

    nbits: int
    bits_per_cycle: int
    until: str
    carry_save: bool = False

    @property
    def depends(self) -> Dependence:
        """As in the base class; the carry-save unit depends on the length of the modulus, which it aligns
        first.
        """
        aligns = self.until == "count" and self.carry_save
        return Dependence.LENGTH if aligns else super().depends

    def product_cycles(self, nblocks: int) -> int | None:
        if self.until != "count" or self.carry_save:
            return None
        return -(-self.nbits // self.bits_per_cycle) + 1

    def latency(self, a: int = 0, b: int = 0, mod: int = 0) -> int:
        if self.fixed is not None:
            return self.fixed
        steps = self.nbits if self.until == "count" else b.bit_length()
        cycles = -(-steps // self.bits_per_cycle)
        if self.until == "noticed":
            return cycles + 2
        leading_zeros = self.nbits - mod.bit_length()
        return max(cycles, 1) + (3 + 2 * leading_zeros if self.carry_save else 1)


def square_of_r_cycles(nbits: int, mod: int) -> int:
    """Cycles of SquareOfR: one product of R - n, or two if the modulus is short."""
    unit = ShiftSubTiming(nbits, 1, "noticed")
    r = (1 << nbits) - mod
    if mod >> (nbits - 1):
        return 1 + unit.latency(r, r, mod)
    reduced = r % mod
    return 2 + unit.latency(1, r, mod) + unit.latency(reduced, reduced, mod)


def loop_cycles(plan: Plan, unit: UnitTiming, base: int, exp: int, mod: int) -> int:
    """Cycles of the schedule itself, from the entry of the loop to the last response."""
    ov = int(not plan.forward)
    length = plan.nbits if plan.full_scan else exp.bit_length()
    ones = exp.bit_count()
    if length == 0:
        return ov + unit.latency(base, base, mod) if plan.steps_once else 0
    top = int(plan.takes_top)  # a separate cycle, or the product 1 * base
    if plan.reduces_top:
        top = ov + unit.latency(1 % mod, base, mod)
        base %= mod
    if (product := unit.fixed) is not None:
        if plan.schedule == "right-to-left-1":
            both = unit.pair(mod=mod or 1)
            return ones * (ov + both) + (length - ones) * (ov + product)
        return top + _products(plan, length, ones) * (ov + product)
    # cycles depend on operands: for one unit that computes both products of a step, use steps of two
    name = "right-to-left-2" if plan.right_to_left else plan.schedule
    options = {"nbits": plan.nbits} if plan.full_scan else {}
    steps: list[Step] = []
    SCHEDULES[name](base, exp, lambda x, y: x * y % mod, 1 % mod, trace=steps, **options)
    return top + sum(ov + _step_cycles(plan, unit, step, mod) for step in steps)


def _products(plan: Plan, length: int, ones: int) -> int:
    """The number of products of the loop in series, without the one that reduces the top."""
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
    """Cycles from the request to the end of the conversion into the multiplier's domain."""
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
        # paper 004's machines compute these products in series, others offer them together
        apart = plan.dependent and plan.conversion == "shift-sub"
        enter = 2 * (ov + product) if apart else ov + unit.pair(mod=mod)
    return start + plan.squarings * (ov + product) + enter


def mod_exp_cycles(plan: Plan, unit: UnitTiming, base: int, exp: int, mod: int) -> int:
    """Cycles of ModExp: conversion, leading zeros, schedule, conversion back, answer."""
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
    """The number of products of a ProgramExp in series; two in parallel count once."""
    length = plan.nbits if plan.full_scan else exp.bit_length()
    ones = exp.bit_count()
    loop = max(_products(plan, length, ones) + int(plan.reduces_top and length > 0), int(plan.steps_once))
    enter = 0
    if plan.conversion in ("square", "shift-sub"):
        enter = plan.squarings + (2 if plan.enters_one and plan.nunits == 1 else 1)
    return enter + loop + int(plan.enters_one)


def convert_in_cycles(unit: UnitTiming, nbits: int, base: int, mod: int) -> int:
    """Cycles of MontConvertIn: the division for R^2 mod n, and a product."""
    if montgomery_status(base, mod):
        return 1
    return aligned_div_rem_cycles(1 << (2 * nbits), mod) + unit.latency(mod=1)


def given_cycles(plan: Plan, unit: UnitTiming, exp: int, status: int) -> int:
    """Cycles of the ModExp between two converters, whose operands come with a status; its units take a fixed
    number of cycles.
    """
    return 1 if status else _mod_exp_cycles(plan, unit, 0, exp, 1)


def mont_mod_exp_cycles(plan: Plan, unit: UnitTiming, base: int, exp: int, mod: int) -> int:
    """Cycles of MontModExp: three units in series, the last of which computes a product."""
    status = montgomery_status(base, mod)
    return (
        convert_in_cycles(unit, plan.nbits, base, mod)
        + given_cycles(plan, unit, exp, status)
        + unit.latency(mod=1)
    )
