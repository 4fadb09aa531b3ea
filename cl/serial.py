"""Cycle-level twins of the units that process a factor bit by bit: ShiftSub, ShiftSubCarrySave,
MMMul, MMRed.
"""

from ..fl.multipliers.montgomery import Montgomery
from ..fl.multipliers.mul_rem import mul_rem
from .one_at_a_time import product_cl
from .timing import SerialMontTiming, ShiftSubTiming


def SerialMontCL(nbits, bits_per_cycle=1):
    """The twin of MMMul and of MMRed."""
    timing = SerialMontTiming(nbits, bits_per_cycle)
    return product_cl(nbits, timing, lambda a, b, mod: Montgomery(mod, nbits).product(a, b))


def ShiftSubCL(nbits, bits_per_cycle=1, until="count", carry_save=False):
    """The twin of ShiftSub and of ShiftSubCarrySave."""
    return product_cl(nbits, ShiftSubTiming(nbits, bits_per_cycle, until, carry_save), mul_rem)
