"""ScaledModExpCL: the cycle-level twin of ScaledModExp, and its formula.

The cycles are max(wide / doublings, w / halvings) + those of SystolicExp + wide / halvings, with the numbers
of doublings and halvings per cycle and wide = w * L. An invalid operand takes 1 cycle in each of the first
two units.
"""

from functools import partial

from ..fl.multipliers.scaled import ScaledShape
from .mod_exp import ConvertedModExpCL
from .systolic import systolic_exp_cycles
from .timing import montgomery_status


def scaled_in_cycles(
    shape: ScaledShape, doublings_per_cycle: int, halvings_per_cycle: int, base: int, mod: int
) -> int:
    """Cycles of ScaledConvertIn: doublings to R, and halvings to M' in parallel."""
    if montgomery_status(base, mod):
        return 1
    return max(shape.wide // doublings_per_cycle, shape.scale_nbits // halvings_per_cycle)


def scaled_mod_exp_cycles(
    shape: ScaledShape,
    base: int,
    exp: int,
    mod: int,
    *,
    doublings_per_cycle: int,
    halvings_per_cycle: int,
) -> int:
    """Cycles of ScaledModExp: three units in series, the last of which divides by R by halvings."""
    return (
        scaled_in_cycles(shape, doublings_per_cycle, halvings_per_cycle, base, mod)
        + systolic_exp_cycles(shape, exp, montgomery_status(base, mod))
        + shape.wide // halvings_per_cycle
    )


def ScaledModExpCL(shape, doublings_per_cycle, halvings_per_cycle):
    """The twin of ScaledModExp."""
    return ConvertedModExpCL(
        shape.nbits,
        partial(scaled_in_cycles, shape, doublings_per_cycle, halvings_per_cycle),
        partial(systolic_exp_cycles, shape),
        shape.wide // halvings_per_cycle,
    )
