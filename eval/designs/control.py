"""Control: the schedule of a machine's products, the conversions into and out of its domain, and the machine
that executes them.

A design is a multiplier, a domain and a Control. Each function here that returns a Build is a kind of
machine; machines with a dedicated controller are in own_controller.py. The others execute a program
(fl/program/builder.py), or run the products of a plan directly, as published. A program is a schedule with
conversions and, for a private key, CRT, blinding and a check of the result. A machine with any of these three
accepts the numbers of a key, which follow base, exponent and modulus in the request.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...cl.mod_exp import ModExpCL, MontModExpCL
from ...cl.program import ProgramExpCL
from ...cl.timing import Dependence, mod_exp_cycles, mont_mod_exp_cycles, product_count
from ...fl.domains import DOMAINS, make_domain
from ...fl.errors import BadInput
from ...fl.multipliers.scaled import ScaledShape
from ...fl.multipliers.scaled_entry import ScaledEntry
from ...fl.param import BOOLS, Count, Param, largest_divisor, must_divide
from ...fl.program.plan import Plan
from ...fl.program.schedules import BINARY, SCHEDULES
from ...rtl.keyed.microcode import ExpShape
from ...rtl.keyed.program_exp import ProgramExp
from ...rtl.mod_exp.mod_exp import ModExp
from ...rtl.mod_exp.mont_mod_exp import MontModExp
from .build import SCHEDULE, Build, Spec
from .multipliers.heap_mont import DIGIT_NBITS, QUOTIENT_DELAY
from .multipliers.multiplier import GATED, Multiplier, Values, fits_modulus
from .programmed import Programmed
from .promises import timing_of

FORWARD = Param(
    "forward",
    True,
    BOOLS,
    "start a product when its factors arrive, bypassing the registers",
)
SCAN = Param(
    "scan",
    "length",
    ("length", "full"),
    "exponent bits that are scanned: from the highest 1, or all of them, which hides the length",
)
DOUBLINGS_PER_CYCLE, HALVINGS_PER_CYCLE = "doublings_per_cycle", "halvings_per_cycle"
WINDOW = Param(
    "window",
    0,
    tuple(range(9)),  # a table of 256 numbers at most
    "bits of a fixed or sliding window; 0: the number with the fewest products",
)
FIT = Param(
    "fit",
    "machine",
    ("machine", "modulus"),
    "whether the cycles of a product follow the width of the machine or the "
    "length of the modulus; modulus makes CRT pay off",
)
CRT = Param(
    "crt", False, BOOLS, "two exponentiations modulo the primes of a key, recombined by Garner's formula"
)
BLIND = Param(
    "blind",
    "no",
    ("no", "message", "exponent", "both"),
    "mask the message, the private exponent or both with random numbers",
)


def is_protected(values: Values) -> bool:
    """Whether these settings ask for CRT or blinding, which the result check is part of."""
    return bool(values.get(CRT.name)) or values.get(BLIND.name, BLIND.default) != BLIND.default


VERIFY = Param(
    "verify",
    False,
    BOOLS,
    "release the result only if the public exponent turns it back into the message; by default on with crt "
    "or blind",
    implied=is_protected,
)
PUBLIC = Param(
    "public",
    False,
    BOOLS,
    "requests can mark their exponent as public: they take fewer cycles, which depend on the exponent",
)
PROTECTIONS = (WINDOW, CRT, BLIND, VERIFY, PUBLIC)


def schedule_param(*names: str) -> Param:
    """The schedule parameter of a design: its legal schedules, the default first."""
    return Param(
        SCHEDULE,
        names[0],
        tuple(dict.fromkeys(names)),
        "order of the products; right-to-left-2 and ladder have two units",
    )


ANY_SCHEDULE = schedule_param("right-to-left-2", *BINARY)
# of programs: windows, and the schedule with one unit whose latency is the same for every exponent
ANY_PROGRAM = schedule_param(*(name for name in SCHEDULES if name not in BINARY), "always")
# of designs with the same latency for every exponent
HIDING = ("ladder", "always")


@dataclass(frozen=True)
class Control:
    """The schedule and the conversions of a design, with their parameters."""

    schedule: Param
    build: Callable[[Spec], Build]
    first: tuple[Param, ...] = ()  # parameters named before the multiplier's
    last: tuple[Param, ...] = ()  # and after them


def mod_exp(spec: Spec, plan: Plan) -> Build:
    """A machine that runs the products of a plan directly, between paper 001's converters if its conversion
    is `given`.
    """
    unit = spec.unit
    timing = unit.timing
    if plan.conversion != "given":
        return Build(
            plan,
            unit,
            partial(ModExp, plan, unit.rtl),
            partial(ModExpCL, plan, unit.cl),
            partial(mod_exp_cycles, plan, timing),
        )
    return Build(
        plan,
        unit,
        partial(MontModExp, plan, unit.rtl, gated=spec.values.get(GATED.name, True)),
        partial(MontModExpCL, plan, unit.cl),
        partial(mont_mod_exp_cycles, plan, timing),
        time=timing_of(plan, timing, conversion=Dependence.LENGTH),  # its divider aligns the modulus
        products=lambda exp: product_count(plan, exp) + 2,  # into the domain and out of it
    )


def program_exp(spec: Spec, plan: Plan, scaled: ScaledEntry | None = None, **more: Any) -> Build:
    """A machine that executes the plan as a program; `more`: further fields of Build."""
    unit, values = spec.unit, spec.values
    timing, blind, window = unit.timing, values[BLIND.name], values[WINDOW.name]
    if window and not SCHEDULES[plan.schedule].windows:
        raise BadInput(
            f"window = {window} with schedule = {plan.schedule}, which has none; "
            "give schedule=fixed-window, or leave the window out"
        )
    fits, public = fits_modulus(values), values[PUBLIC.name]
    if public and scaled is not None and values[CRT.name]:
        raise BadInput(
            "public = true with crt = true: the units are half as wide as a public modulus; "
            "give --set crt=false, or leave it out"
        )
    recipe = plan.recipe(
        spec.domain,
        window=window,
        block_nbits=timing.block_nbits if fits else 0,
        fits=fits,
        crt=values[CRT.name],
        blind_message=blind in ("message", "both"),
        blind_exponent=blind in ("exponent", "both"),
        verify=values[VERIFY.name],
        public=public,
        scaled=scaled,
    )
    if public and not (recipe.shape.digit or recipe.full_scan or (recipe.keyed and not recipe.shape.right)):
        raise BadInput(
            f"public = true with schedule = {plan.schedule}, whose cycles depend on every exponent; "
            "give schedule=fixed-window, or scan=full, or leave it out"
        )
    made = Programmed(recipe, plan, timing)
    shape = ExpShape(
        spec.nbits,
        plan.forward,
        plan.odd_only,
        plan.reduced_only,
        recipe.block_nbits,
        plan.doublings_per_cycle,
        form=scaled,
    )
    return Build(
        plan,
        unit,
        partial(ProgramExp, made.program, unit.rtl, shape),
        lambda: ProgramExpCL(made.timing, made.arithmetic, made.inspect),
        made.cycles,
        time=timing_of(plan, timing, **made.scanned),
        products=made.products,
        programmed=made,
        **more,
    )


def scans_all(spec: Spec) -> bool:
    """Whether all bits of the exponent are scanned; BadInput if the schedule cannot scan leading zeros."""
    full = spec.values.get(SCAN.name) == "full"
    if full and not SCHEDULES[spec.schedule].full_scan:
        raise BadInput(
            f"scan = full with schedule = {spec.schedule}, which shows the exponent all the same; "
            "give schedule=always, ladder or fixed-window"
        )
    return full


# ---- machines without conversions


def direct_plan(spec: Spec) -> Plan:
    """A plan without conversions; bases at or above the modulus are rejected if the domain requires it."""
    return Plan(
        spec.nbits,
        spec.schedule,
        forward=spec.values.get(FORWARD.name, False),
        full_scan=scans_all(spec),
        reduced_only=DOMAINS[spec.domain].reduced_only,
    )


BARE = Control(ANY_SCHEDULE, lambda spec: mod_exp(spec, direct_plan(spec)))
DIRECT = replace(BARE, first=(SCAN,), last=(FORWARD,))


# ---- into Montgomery form


def converted_plan(spec: Spec) -> Plan:
    """A plan that converts to Montgomery form by doublings. With conversion `square`, squarings replace
    doublings as far as that saves cycles.
    """
    nbits, values, timing = spec.nbits, spec.values, spec.unit.timing
    per_cycle, forward = values[DOUBLINGS_PER_CYCLE], values[FORWARD.name]
    must_divide(DOUBLINGS_PER_CYCLE, per_cycle, nbits, "the width")
    if timing.fits:
        per_cycle = largest_divisor(timing.block_nbits, per_cycle)  # a modulus is processed in whole blocks
    squarings = 0
    if values["conversion"] == "square":
        product_cycles = timing.product_cycles(timing.blocks_of((1 << nbits) - 1))
        assert product_cycles is not None, timing
        product = product_cycles + (not forward)
        # R^2 = (2^k R)^(2^s) with nbits = k * 2^s: each further squaring halves the doublings
        counts = (s for s in range(nbits.bit_length()) if nbits % (per_cycle << s) == 0)
        squarings = min(counts, key=lambda s: (nbits >> s) // per_cycle + s * product)
    return Plan(
        nbits,
        spec.schedule,
        values["conversion"],
        squarings,
        per_cycle,
        full_scan=scans_all(spec),
        forward=forward,
    )


CONVERTED = Control(
    ANY_SCHEDULE,
    lambda spec: mod_exp(spec, converted_plan(spec)),
    (SCAN,),
    (
        Param(
            DOUBLINGS_PER_CYCLE,
            lambda nbits: largest_divisor(nbits, 4),
            Count(1),
            "doublings per cycle of the conversion",
        ),
        Param(
            "conversion",
            "double",
            ("double", "square"),
            "to Montgomery form: doublings of the base, or a product with R^2 mod n",
        ),
        FORWARD,
    ),
)
# the same in a program
KEYED = Control(
    ANY_PROGRAM,
    lambda spec: program_exp(spec, converted_plan(spec)),
    (SCAN,),
    (*CONVERTED.last, FIT, *PROTECTIONS),
)


# ---- as published


def as_in_001(conversion: str) -> Control:
    """Paper 001's control; right to left, exponent 0 takes one step too."""

    def build(spec):
        once = spec.schedule.startswith("right-to-left")
        return mod_exp(spec, Plan(spec.nbits, spec.schedule, conversion, steps_once=once))

    return Control(ANY_SCHEDULE, build)


GIVEN_001, IDENTITY_001 = as_in_001("given"), as_in_001("identity")
# paper 004's Montgomery machines, which compute R^2 mod n by shift and subtract from R - n
SHIFT_SUB_004 = Control(
    ANY_SCHEDULE,
    lambda spec: mod_exp(spec, Plan(spec.nbits, spec.schedule, "shift-sub", plain_result=False)),
)


# ---- on a scaled modulus (fl/program/scaled_builder.py): one controller for units with the ports of HeapMont


def scaled_options(values: Values) -> dict[str, int]:
    """The options of the scaled domain."""
    return {name: values[name] for name in (DIGIT_NBITS.name, QUOTIENT_DELAY.name) if name in values}


def scaled_shape(nbits: int, values: Values) -> ScaledShape:
    """The shape of a machine's units; with CRT they are as wide as a prime."""
    return ScaledShape(-(-nbits // 2) if values.get(CRT.name) else nbits, **scaled_options(values))


def of_core(multiplier: Multiplier) -> Multiplier:
    """The family for machines on a scaled modulus, whose units are half as wide with CRT."""

    def unit(nbits, values):
        narrow = scaled_shape(nbits, values).nbits
        space = partial(make_domain, "scaled", nbits=narrow, **scaled_options(values))
        return replace(multiplier.unit(narrow, values), space=space)

    return replace(multiplier, unit=unit)


def entry_of(spec: Spec) -> ScaledEntry:
    """The entry into the scaled domain with the number of doublings per cycle, up to the given limit, that
    computes R^2 fastest; of equally fast ones, the smallest.
    """
    values, cycles = spec.values, spec.unit.timing.product_cycles(1)
    assert cycles is not None, spec
    shape, follows = scaled_shape(spec.nbits, values), cycles + (not values[FORWARD.name])
    found = []
    for doublings in range(1, values[DOUBLINGS_PER_CYCLE] + 1):
        try:
            found.append(ScaledEntry(shape, follows, doublings, values[HALVINGS_PER_CYCLE]))
        except BadInput:  # impossible with this number of doublings
            if doublings == 1:
                raise
    return min(found, key=lambda entry: entry.constant_cycles((1 << shape.nbits) - 1))


def scaled(spec: Spec) -> Build:
    """A program on a scaled modulus."""
    form = entry_of(spec)
    plan = Plan(
        spec.nbits,
        spec.schedule,
        "scaled",
        doublings_per_cycle=form.doublings_per_cycle,
        full_scan=scans_all(spec),
        forward=spec.values[FORWARD.name],
    )
    return program_exp(spec, plan, form, domain_options=scaled_options(spec.values))


SCALED_PROGRAM = Control(
    ANY_PROGRAM,
    scaled,
    (SCAN,),
    (
        Param(
            DOUBLINGS_PER_CYCLE,
            1,
            tuple(range(1, 17)),  # longer chains would limit the clock
            "upper limit of modular doublings per cycle in computing R^2; two run in "
            "parallel, further ones are chained",
        ),
        Param(
            HALVINGS_PER_CYCLE,
            1,
            Count(1),
            "halvings per cycle, in computing 2^-w mod n and in leaving the form",
        ),
        FORWARD,
        WINDOW,
        replace(CRT, help=f"{CRT.help}; the units are half as wide then"),
        BLIND,
        VERIFY,
        PUBLIC,
    ),
)
