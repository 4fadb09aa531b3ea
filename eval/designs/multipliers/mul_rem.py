"""MulRem: a multiplication followed by a division."""

from functools import partial

from ....cl.mul_rem import MulRemCL
from ....cl.timing import MulRemTiming
from ....fl.param import Count, Param, must_divide
from ....rtl.units.mul_rem import MulRem
from .multiplier import GATED, Multiplier, Unit, Values

QUOTIENT_BITS = Param("quotient_bits_per_cycle", 2, Count(1), "quotient bits per cycle of the divider")
MULTIPLIER_BITS = Param(
    "multiplier_bits_per_cycle",
    0,
    Count(0),
    "factor bits that the multiplier consumes per cycle; 0: all of them, in a combinational multiplier",
)


def unit(divider: str, nbits: int, values: Values) -> Unit:
    """A multiplier and a divider: `restoring`, or paper 001's, which is `aligned` and ends early."""
    quotient_bits = values.get(QUOTIENT_BITS.name, 1)
    multiplier_bits = values[MULTIPLIER_BITS.name]
    must_divide(QUOTIENT_BITS.name, quotient_bits, 2 * nbits, "the bits of the product")
    if multiplier_bits:
        must_divide(MULTIPLIER_BITS.name, multiplier_bits, nbits, "the width")
    shape = {
        "divider": divider,
        QUOTIENT_BITS.name: quotient_bits,
        MULTIPLIER_BITS.name: multiplier_bits,
    }
    return Unit(
        partial(MulRem, **shape, gated=values.get(GATED.name, True)),
        partial(MulRemCL, **shape),
        MulRemTiming(nbits, **shape),
    )


MUL_REM = Multiplier("MulRem", (QUOTIENT_BITS, MULTIPLIER_BITS), partial(unit, "restoring"))
MUL_REM_001 = Multiplier("MulRem", (MULTIPLIER_BITS, GATED), partial(unit, "aligned"))
