"""MMMul and MMRed: paper 004's Montgomery units, a few bits of a factor per cycle."""

from __future__ import annotations

from functools import partial

from ....cl.serial import SerialMontCL
from ....cl.timing import SerialMontTiming
from ....fl.param import Count, Param, must_divide
from ....rtl.units.mm_mul import MMMul
from ....rtl.units.mm_red import MMRed
from .multiplier import Multiplier, Unit, Values

BITS_PER_CYCLE = Param("bits_per_cycle", 1, Count(1), "bits of a factor that the unit takes in a cycle")


def unit(component: type, nbits: int, values: Values) -> Unit:
    """Both take as long."""
    bits = values[BITS_PER_CYCLE.name]
    must_divide(BITS_PER_CYCLE.name, bits, nbits, "the width")
    shape = {BITS_PER_CYCLE.name: bits}
    return Unit(partial(component, **shape), partial(SerialMontCL, **shape), SerialMontTiming(nbits, bits))


MM_MUL = Multiplier("MMMul", (BITS_PER_CYCLE,), partial(unit, MMMul))
MM_RED = Multiplier("MMRed", (BITS_PER_CYCLE,), partial(unit, MMRed))
