"""ScaledMont: Montgomery products on a multiple of the modulus that is -1 modulo 2^w."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....cl.scaled_mont import ScaledMontCL, ScaledMontTiming
from ....fl.param import Param
from ....rtl.units.scaled.scaled_mont import ScaledMont
from ....rtl.units.scaled.scaled_step import SCALED_STEPS
from .multiplier import Multiplier, Unit, Values

if TYPE_CHECKING:
    from pymtl3 import Component

DIGIT_NBITS = Param(
    "digit_nbits",
    lambda nbits: 16 if nbits >= 16 else 4,
    tuple(range(4, 33)),
    "w, the bits of a digit; a product takes about nbits / w cycles",
)
STATE = Param(
    "state", "propagate", tuple(SCALED_STEPS), "the form of the running sum (rtl/units/scaled/scaled_step.py)"
)


def unit(nbits: int, values: Values) -> Unit:
    """A unit for moduli of nbits bits; it is wider itself."""
    shape = {param.name: values[param.name] for param in (DIGIT_NBITS, STATE)}

    def rtl(_: int) -> Component:
        return ScaledMont(nbits, **shape)

    def cl(_: int) -> Component:
        return ScaledMontCL(nbits, **shape)

    return Unit(rtl, cl, ScaledMontTiming(nbits, **shape))


SCALED_MONT = Multiplier("ScaledMont", (DIGIT_NBITS, STATE), unit)
