"""The control that executes programs (fl/program/builder.py): its parameters, and its machine.

A program is a schedule and conversions, and for a private key CRT, blinding and the check of the result.
Machines with one of these three take a key beside base, exponent and modulus: `KeyNumber`s, which stand in
the request behind the modulus.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...cl.program import ProgramExpCL
from ...fl.errors import BadInput
from ...fl.multipliers.scaled_entry import ScaledEntry
from ...fl.param import BOOLS, Param
from ...fl.program.plan import Plan
from ...fl.program.schedules import SCHEDULES
from ...rtl.machines.microcode import ExpShape
from ...rtl.machines.program_exp import ProgramExp
from .build import Build, Spec
from .multipliers.multiplier import fits_modulus
from .programmed import Programmed
from .promises import timing_of

MOST_WINDOW = 8  # bits; a table of 256 numbers

WINDOW = Param(
    "window",
    0,
    tuple(range(MOST_WINDOW + 1)),
    "bits of a digit, with schedule=fixed-window or sliding-window; 0: those with the fewest products",
)
FIT = Param(
    "fit",
    "machine",
    ("machine", "modulus"),
    "what a product's cycles follow: the width of the machine, or the length of the modulus in blocks, "
    "which makes CRT worth while",
)
CRT = Param(
    "crt", False, BOOLS, "two exponentiations modulo the primes of a key, put together by Garner's formula"
)
BLIND = Param(
    "blind",
    "no",
    ("no", "message", "exponent", "both"),
    "random numbers hide the message, or the private exponent, from who looks at the machine from outside",
)
VERIFY = Param(
    "verify", False, BOOLS, "the result leaves only if it gives the message again by the public exponent"
)
PROTECTIONS = (WINDOW, FIT, CRT, BLIND, VERIFY)


def program_exp(spec: Spec, plan: Plan, scaled: ScaledEntry | None = None, **more: Any) -> Build:
    """A ProgramExp; `more` of what a machine is built of."""
    unit, values = spec.unit, spec.values
    timing, blind, window = unit.timing, values[BLIND.name], values[WINDOW.name]
    if window and not SCHEDULES[plan.schedule].windows:
        raise BadInput(
            f"window = {window} with schedule = {plan.schedule}, which has none; "
            "give schedule=fixed-window, or leave the window out"
        )
    fits = fits_modulus(values)
    recipe = plan.recipe(
        spec.domain,
        window=window,
        block_nbits=timing.block_nbits if fits else 0,
        fits=fits,
        crt=values[CRT.name],
        blind_message=blind in ("message", "both"),
        blind_exponent=blind in ("exponent", "both"),
        verify=values[VERIFY.name],
        scaled=scaled,
    )
    made = Programmed(recipe, plan, timing)
    return Build(
        plan,
        unit,
        partial(
            ProgramExp,
            made.program,
            unit.rtl,
            ExpShape(
                spec.nbits,
                recipe.nunits,
                plan.forward,
                plan.odd_only,
                plan.reduced_only,
                recipe.block_nbits,
                plan.doublings_per_cycle,
                form=scaled,
            ),
        ),
        lambda: ProgramExpCL(made.timing, made.arithmetic, made.inspect),
        made.cycles,
        time=timing_of(plan, timing, **made.scanned),
        products=made.products,
        programmed=made,
        **more,
    )
