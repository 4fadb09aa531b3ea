"""MontMulRem: Montgomery products by a pipeline of AddReds."""

from functools import partial

from ....cl.mont_mul_rem import MontMulRemCL
from ....cl.timing import MontMulRemTiming
from ....fl.errors import BadInput
from ....fl.param import BOOLS, Count, Param, largest_divisor
from ....rtl.units.add_red import ADD_REDS
from ....rtl.units.mont_mul_rem import MontMulRem
from .multiplier import GATED, Multiplier, Unit, Values, fits_modulus


def unit(nbits: int, values: Values) -> Unit:
    """A unit of nstages pipeline stages with steps_per_stage AddReds each."""
    steps, nstages = values["steps_per_stage"], values["nstages"]
    if nbits % (steps * nstages):
        raise BadInput(
            f"steps_per_stage = {steps} times nstages = {nstages} does not divide the width of {nbits} bits; "
            f"with {nstages} stages, give steps_per_stage = {largest_divisor(nbits // nstages or 1, steps)}"
            if nbits % nstages == 0
            else f"nstages = {nstages} does not divide the width of {nbits} bits; "
            f"give nstages = {largest_divisor(nbits, nstages)}"
        )
    shape = {"steps_per_stage": steps, "nstages": nstages, "pipelined": values["pipelined"]}
    form = {"add_red": values["add_red"]}
    fits = fits_modulus(values)
    if fits and nstages != 1:
        raise BadInput(
            f"fit = modulus with nstages = {nstages}: a product that goes through stages passes all of "
            "them; give nstages=1"
        )
    return Unit(
        partial(MontMulRem, **shape, **form, gated=values.get(GATED.name, True), fits=fits or None),
        partial(MontMulRemCL, **shape, **form, fits=fits or None),
        MontMulRemTiming(nbits, **shape, fits=fits),
    )


def mont_mul_rem(steps: int, nstages: int, add_red: str, *more: Param) -> Multiplier:
    """The family with these defaults: AddReds per stage, stages, form of an AddRed."""
    return Multiplier(
        "MontMulRem",
        (
            Param(
                "steps_per_stage",
                lambda nbits: largest_divisor(nbits // largest_divisor(nbits, nstages), steps),
                Count(1),
                "AddReds between registers; a product takes nbits / steps_per_stage cycles",
            ),
            Param(
                "nstages",
                lambda nbits: largest_divisor(nbits, nstages),
                Count(1),
                "pipeline stages; if nstages * steps_per_stage is less than nbits, a "
                "product passes them several times",
            ),
            Param("add_red", add_red, tuple(ADD_REDS), "the form of an AddRed (rtl/units/add_red.py)"),
            Param("pipelined", False, BOOLS, "whether several products can be in flight"),
            *more,
        ),
        unit,
    )
