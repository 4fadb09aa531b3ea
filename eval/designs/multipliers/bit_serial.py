"""Multipliers of a few bits per cycle: paper 004's MMMul and MMRed, and ShiftSub, which reduces while it
multiplies.
"""

from functools import partial

from ....cl.serial import SerialMontCL, ShiftSubCL
from ....cl.timing import FixedTiming, SerialMontTiming, ShiftSubTiming
from ....cl.tiny_exp import tiny_product_cycles
from ....fl.errors import BadInput
from ....fl.param import BOOLS, Count, Param, must_divide
from ....rtl.units.mm_mul import MMMul
from ....rtl.units.mm_red import MMRed
from ....rtl.units.shift_sub import ShiftSub
from ....rtl.units.shift_sub_carry_save import ShiftSubCarrySave
from .multiplier import Multiplier, Unit, Values, within_machine

BITS_PER_CYCLE = Param("bits_per_cycle", 1, Count(1), "factor bits that the unit consumes per cycle")


def mont_unit(component: type, nbits: int, values: Values) -> Unit:
    """A unit of MMMul or MMRed, which take the same cycles."""
    bits = values[BITS_PER_CYCLE.name]
    must_divide(BITS_PER_CYCLE.name, bits, nbits, "the width")
    shape = {BITS_PER_CYCLE.name: bits}
    return Unit(partial(component, **shape), partial(SerialMontCL, **shape), SerialMontTiming(nbits, bits))


MM_MUL = Multiplier("MMMul", (BITS_PER_CYCLE,), partial(mont_unit, MMMul))
MM_RED = Multiplier("MMRed", (BITS_PER_CYCLE,), partial(mont_unit, MMRed))


CARRY_SAVE = Param(
    "carry_save", False, BOOLS, "keep sums in carry-save form, so that no carry crosses the word"
)


UNTIL = Param(
    "until",
    "spent",
    ("spent", "count"),
    "end of a product: when the 1s of its factor are spent, or after a fixed count of cycles",
)


def unit(nbits: int, values: Values) -> Unit:
    """A ShiftSub unit; paper 004's ends a product one cycle after the last 1 of its factor."""
    bits, carry_save = values[BITS_PER_CYCLE.name], values.get(CARRY_SAVE.name, False)
    until = values.get(UNTIL.name, "noticed")
    must_divide(BITS_PER_CYCLE.name, bits, nbits, "the width")
    shape = {"bits_per_cycle": bits, "until": until}
    return Unit(
        partial(ShiftSubCarrySave if carry_save else ShiftSub, **shape),
        partial(ShiftSubCL, carry_save=carry_save, **shape),
        ShiftSubTiming(nbits, carry_save=carry_save, **shape),
    )


SHIFT_SUB_004 = Multiplier("ShiftSub", (BITS_PER_CYCLE,), unit)
SHIFT_SUB = Multiplier("ShiftSub", (BITS_PER_CYCLE, CARRY_SAVE, UNTIL), unit)


# ---- products interleaved with their reduction, in a minimal machine

ADDER_NBITS = Param(
    "digit_nbits",
    1,
    Count(1),
    "k, the bits of the adder, a power of two; a pass over n bits takes n / k cycles",
)


def passes_unit(nbits: int, values: Values) -> Unit:
    """The cycles of a product; there is no unit apart from the machine."""
    k = values[ADDER_NBITS.name]
    must_divide(ADDER_NBITS.name, k, nbits, "the width")
    if k & (k - 1):
        raise BadInput(f"digit_nbits = {k} is no power of two; give {1 << k.bit_length() - 1}")
    return within_machine(
        "its operands are in the machine's registers; take the whole machine",
        FixedTiming(tiny_product_cycles(nbits, k)),
    )


INTERLEAVED = Multiplier("Interleaved", (ADDER_NBITS,), passes_unit)
