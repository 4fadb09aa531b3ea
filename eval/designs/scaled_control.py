"""Machines with programs on a scaled modulus (fl/program/scaled_builder.py): one controller for all units
with the ports of HeapMont.
"""

from __future__ import annotations

from dataclasses import replace

from ...fl.domains import Domain, make_domain
from ...fl.errors import BadInput
from ...fl.multipliers.scaled import ScaledShape
from ...fl.multipliers.scaled_entry import ScaledEntry
from ...fl.param import Count, Param
from ...fl.program.plan import Plan
from ...fl.program.schedules import SCHEDULES
from .build import Build, Spec
from .control import DOUBLINGS_PER_CYCLE, FORWARD, SCAN, Control, scaled_options, schedule_param
from .multipliers.multiplier import Multiplier, Unit, Values
from .program_control import BLIND, CRT, VERIFY, WINDOW, program_exp

HALVINGS_PER_CYCLE = "halvings_per_cycle"
MOST_DOUBLINGS = 16  # a chain of more is no clock's


def shape_of(nbits: int, values: Values) -> ScaledShape:
    """Return the shape of a machine's units: with CRT they are as wide as a prime."""
    return ScaledShape(-(-nbits // 2) if values[CRT.name] else nbits, **scaled_options(values))


def of_core(multiplier: Multiplier) -> Multiplier:
    """The same for machines with these programs, whose units may be narrower than what they are asked for."""

    def unit(nbits: int, values: Values) -> Unit:
        shape = shape_of(nbits, values)
        made = multiplier.unit(shape.nbits, values)

        def space(mod: int) -> Domain:
            return make_domain("scaled", mod, shape.nbits, **scaled_options(values))

        return replace(made, space=space)

    return replace(multiplier, unit=unit)


def entry_of(spec: Spec) -> ScaledEntry:
    """With the doublings in a cycle by which R^2 is there first, at most those that are asked for; of equal
    ones the fewest.
    """
    best = _entry(spec, 1)
    longest = (1 << best.shape.nbits) - 1
    for per_cycle in range(2, spec.values[DOUBLINGS_PER_CYCLE] + 1):
        try:
            entry = _entry(spec, per_cycle)
        except BadInput:  # these doublings do not make it
            continue
        if entry.constant_cycles(longest) < best.constant_cycles(longest):
            best = entry
    return best


def _entry(spec: Spec, doublings: int) -> ScaledEntry:
    values, cycles = spec.values, spec.unit.timing.product_cycles(1)
    assert cycles is not None, spec
    follows = cycles + (0 if values[FORWARD.name] else 1)
    return ScaledEntry(shape_of(spec.nbits, values), follows, doublings, values[HALVINGS_PER_CYCLE])


def scaled_program_exp(spec: Spec) -> Build:
    """A ProgramExp on a scaled modulus."""
    full_scan = spec.values[SCAN.name] == "full"
    if full_scan and not SCHEDULES[spec.schedule].full_scan:
        raise BadInput(
            f"scan = full with schedule = {spec.schedule}, which shows the exponent all the same; "
            "give schedule=always, ladder or fixed-window"
        )
    form = entry_of(spec)
    plan = Plan(
        spec.nbits,
        spec.schedule,
        "scaled",
        doublings_per_cycle=form.doublings_per_cycle,
        full_scan=full_scan,
        forward=spec.values[FORWARD.name],
    )
    return program_exp(spec, plan, form, domain_options=scaled_options(spec.values))


SCALED_PROGRAM = Control(
    schedule_param("fixed-window", *SCHEDULES),
    scaled_program_exp,
    (SCAN,),
    (
        Param(
            DOUBLINGS_PER_CYCLE,
            1,
            tuple(range(1, MOST_DOUBLINGS + 1)),
            "modular doublings in a cycle on the way to R^2, at most: two are made side by side, others one "
            "behind the other",
        ),
        Param(
            HALVINGS_PER_CYCLE,
            1,
            Count(1),
            "halvings that are chained in a cycle, to 2^-w mod n and out of the form",
        ),
        FORWARD,
        WINDOW,
        replace(CRT, help=f"{CRT.help}; the units are half as wide then"),
        BLIND,
        VERIFY,
    ),
)
