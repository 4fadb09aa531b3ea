"""Control: the schedule of a machine's products, the conversions into and out of its domain, and the machine
that executes them.

A Control is what a design has beside a multiplier and a domain. Each function below that returns one is a
kind of machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...cl.digit_serial import (
    SerialExpCL,
    SerialModExpCL,
    serial_exp_cycles,
    serial_exp_products,
    serial_mod_exp_cycles,
    serial_products,
)
from ...cl.fixed_mod_exp import FixedModExpCL
from ...cl.fold_exp import FoldExpCL, fold_exp_cycles, scanned
from ...cl.mod_exp import ModExpCL, MontModExpCL
from ...cl.scaled_mont import ScaledModExpCL, scaled_mod_exp_cycles
from ...cl.systolic import (
    SystolicModExpCL,
    systolic_exp_cycles,
    systolic_interval,
    systolic_mod_exp_cycles,
)
from ...cl.timing import (
    Dependence,
    UnitTiming,
    fixed_mod_exp_cycles,
    given_cycles,
    mod_exp_cycles,
    mont_mod_exp_cycles,
    product_count,
)
from ...fl.domains import DOMAINS
from ...fl.mod_exp import operand_status
from ...fl.multipliers.scaled import ScaledShape
from ...fl.param import BOOLS, Count, Param, largest_divisor, must_divide
from ...fl.program.plan import Plan
from ...fl.program.schedules import BINARY, SCHEDULES
from ...fl.status import Status
from ...rtl.machines.fixed_mod_exp import FixedModExp
from ...rtl.machines.fold_exp import FoldExp
from ...rtl.machines.mont_mod_exp import MontModExp
from ...rtl.machines.program_exp import planned_exp
from ...rtl.machines.scaled_mod_exp import ScaledModExp
from ...rtl.machines.serial_exp import SerialExp
from ...rtl.machines.serial_mod_exp import SerialModExp
from ...rtl.machines.systolic_exp import SystolicExp
from ...rtl.machines.systolic_mod_exp import SystolicModExp
from .machine import Build, Given
from .multipliers import digit_serial, one_modulus, row_fold
from .multipliers.gating import GATED
from .multipliers.heap_mont import QUOTIENT_DELAY
from .multipliers.multiplier import Unit
from .multipliers.scaled_mont import DIGIT_NBITS
from .multipliers.systolic import shape_of
from .promises import Timing, timing_of
from .protection import PROTECTIONS, program_exp

if TYPE_CHECKING:
    from pymtl3 import Component

Values = Mapping[str, Any]  # of all parameters of a design

HARDWARE = tuple(SCHEDULES.values())
SINGLE_UNIT = tuple(
    schedule.name for schedule in HARDWARE if schedule.multipliers == 1 and not schedule.windows
)
TWO_UNITS = tuple(schedule.name for schedule in HARDWARE if schedule.multipliers == 2)

SCHEDULE = "schedule"  # the parameter that each design has
FORWARD = Param(
    "forward", True, BOOLS, "a product starts in the cycle its factors appear, past the registers"
)
SCAN = Param(
    "scan",
    "length",
    ("length", "full"),
    "the exponent bits that are scanned: from the highest 1 on, or all, which hides the length too, as "
    "windows do either way",
)
FULL_SCAN = replace(SCAN, standard="full")  # of designs that promise the same time for every exponent
DOUBLINGS_PER_CYCLE = "doublings_per_cycle"


def schedule_param(default: str = "right-to-left-2", legal: tuple[str, ...] | None = None) -> Param:
    """The schedules of a design, its own first; legal: those that it may have, else all that there are in
    hardware.
    """
    names = BINARY if legal is None else legal
    return Param(
        SCHEDULE,
        default,
        (default, *(name for name in names if name != default)),
        "the order of the products; right-to-left-2 and ladder have two units",
    )


ANY_SCHEDULE = schedule_param()
ANY_PROGRAM = schedule_param(legal=tuple(schedule.name for schedule in HARDWARE))
HIDING = schedule_param("ladder", tuple(schedule.name for schedule in HARDWARE if schedule.full_scan))


def mod_exp(nbits: int, domain: str, plan: Plan, unit: Unit, values: Values) -> Build:
    """Products in the order of the plan, between paper 001's converters where operands are given."""
    timing = unit.timing
    if plan.conversion != "given":
        made = partial(planned_exp, plan, unit.rtl, domain), partial(ModExpCL, plan, timing)
        return Build(plan, unit, *made, partial(mod_exp_cycles, plan, timing))
    return Build(
        plan,
        unit,
        partial(MontModExp, plan, unit.rtl, gated=values.get(GATED.name, True)),
        partial(MontModExpCL, plan, timing),
        partial(mont_mod_exp_cycles, plan, timing),
        time=timing_of(plan, timing, conversion=Dependence.LENGTH),  # its divider aligns the modulus
        products=lambda exp: product_count(plan, exp) + 2,  # into the domain and out of it
    )


@dataclass(frozen=True)
class Control:
    """The schedule and the conversions of a design, with their parameters."""

    schedule: Param
    plan: Callable[
        [int, str, UnitTiming, Values], Plan
    ]  # of width, domain, multiplier, values of all parameters
    first: tuple[Param, ...] = ()  # parameters named before the multiplier's
    last: tuple[Param, ...] = ()  # and behind them
    machine: Callable[[int, str, Plan, Unit, Values], Build] = mod_exp


# ---- machines whose operands are in the domain as they come


def direct_plan(nbits: int, domain: str, timing: UnitTiming, values: Values) -> Plan:
    """The schedule alone; larger bases are refused where the domain has them below the modulus."""
    return Plan(
        nbits,
        values[SCHEDULE],
        forward=values.get(FORWARD.name, False),
        full_scan=values.get(SCAN.name) == "full",
        reduced_only=DOMAINS[domain].reduced_only,
    )


BARE = Control(ANY_SCHEDULE, direct_plan)
DIRECT = Control(ANY_PROGRAM, direct_plan, last=(FORWARD, *PROTECTIONS), machine=program_exp)
DIRECT_CT = Control(HIDING, direct_plan, (FULL_SCAN,), (FORWARD, *PROTECTIONS), machine=program_exp)


# ---- into Montgomery form


def converted_plan(nbits: int, domain: str, timing: UnitTiming, values: Values) -> Plan:
    """Into Montgomery form by doublings; squarings as many as make it shortest."""
    schedule, conversion, per_cycle = values[SCHEDULE], values["conversion"], values[DOUBLINGS_PER_CYCLE]
    must_divide(DOUBLINGS_PER_CYCLE, per_cycle, nbits, "the width")
    if timing.fits:
        per_cycle = largest_divisor(timing.block_nbits, per_cycle)  # a modulus has whole blocks
    common = {
        DOUBLINGS_PER_CYCLE: per_cycle,
        "full_scan": values.get(SCAN.name) == "full",
        "forward": values[FORWARD.name],
    }
    if conversion == "double":
        return Plan(nbits, schedule, conversion, **common)
    product_cycles = timing.product_cycles(timing.blocks_of((1 << nbits) - 1))
    assert product_cycles is not None, timing
    product = product_cycles + (0 if values[FORWARD.name] else 1)
    # R^2 = (2^k R)^(2^s) with nbits = k * 2^s: fewer doublings for each squaring more
    counts = [s for s in range(nbits.bit_length()) if nbits % (1 << s) == 0 and (nbits >> s) % per_cycle == 0]
    best = min(counts, key=lambda s: (nbits >> s) // per_cycle + s * product)
    return Plan(nbits, schedule, conversion, squarings=best, **common)


def conversion_params(default: str) -> tuple[Param, ...]:
    """The way into Montgomery form, and how closely products follow each other."""
    return (
        Param(
            DOUBLINGS_PER_CYCLE,
            lambda nbits: largest_divisor(nbits, 4),
            Count(1),
            "modular doublings that are chained in a cycle, on the way into Montgomery form; at most, with "
            "fit=modulus",
        ),
        Param(
            "conversion",
            default,
            ("double", "square"),
            "into Montgomery form: doubling the base nbits times, or a product with R^2 mod n from "
            "doublings and squarings",
        ),
        FORWARD,
    )


CONVERTED = Control(
    ANY_PROGRAM, converted_plan, last=(*conversion_params("double"), *PROTECTIONS), machine=program_exp
)
CONVERTED_CT = Control(
    HIDING, converted_plan, (FULL_SCAN,), (*conversion_params("square"), *PROTECTIONS), machine=program_exp
)


# ---- as published


def plan_001(conversion: str, nbits: int, domain: str, timing: UnitTiming, values: Values) -> Plan:
    """Paper 001: right to left, exponent 0 takes a step all the same."""
    schedule = values[SCHEDULE]
    return Plan(nbits, schedule, conversion, steps_once=schedule.startswith("right-to-left"))


def plan_004(nbits: int, domain: str, timing: UnitTiming, values: Values) -> Plan:
    """Paper 004's Montgomery machines: R^2 mod n by shift-sub from R - n."""
    return Plan(nbits, values[SCHEDULE], "shift-sub", plain_result=False)


GIVEN_001 = Control(ANY_SCHEDULE, partial(plan_001, "given"))
IDENTITY_001 = Control(ANY_SCHEDULE, partial(plan_001, "identity"))
SHIFT_SUB_004 = Control(ANY_SCHEDULE, plan_004)


# ---- machines for one modulus (paper 000)


def screened_plan(nbits: int, domain: str, timing: UnitTiming, values: Values) -> Plan:
    """Operands are looked at in front."""
    return Plan(nbits, values[SCHEDULE], "given", forward=True)


def unsubtracted_plan(nbits: int, domain: str, timing: UnitTiming, values: Values) -> Plan:
    """One bit more than the modulus, for residues below twice of it; R = 2^(nbits + 2)."""
    return Plan(
        nbits + 1,
        values[SCHEDULE],
        "double",
        doublings_per_cycle=largest_divisor(nbits + 2, 4),
        screened=True,
        r_nbits=nbits + 2,
        plain_result=False,
    )


def fixed_mod_exp(finish: str, nbits: int, domain: str, plan: Plan, unit: Unit, values: Values) -> Build:
    """A FixedModExp with this last correction."""
    modulus = one_modulus.modulus(nbits, values)
    working = one_modulus.working(nbits, domain, values) if modulus else 0
    pseudo = domain == "pseudo"
    kind = DOMAINS[domain]
    if finish == "reduce":
        one_modulus.check_reduction(modulus, plan.nbits)

    def inspect(base: int, mod: int) -> Status:
        if modulus and mod != modulus:
            return Status.WRONG_MODULUS
        return operand_status(base, mod, odd_only=kind.odd_only, reduced_only=kind.reduced_only)

    return Build(
        plan,
        unit,
        partial(FixedModExp, nbits, plan, unit.rtl, modulus, working, finish, **one_modulus.tree(values)),
        partial(FixedModExpCL, nbits, plan, unit.timing, inspect, pseudo),
        lambda base, exp, mod: fixed_mod_exp_cycles(plan, unit.timing, pseudo, exp, inspect(base, mod)),
        modulus,
    )


def one_modulus_control(schedules: tuple[str, ...], finish: str, *, subtracts: bool = True) -> Control:
    """Any of these schedules, then the last correction; a multiplier that does not subtract needs another
    plan.
    """
    return Control(
        schedule_param(schedules[0], schedules),
        screened_plan if subtracts else unsubtracted_plan,
        machine=partial(fixed_mod_exp, finish),
    )


# ---- on a scaled modulus


def scaled_shape(nbits: int, values: Values) -> ScaledShape:
    """The widths that the multiplier's parameters make."""
    return ScaledShape(nbits, **scaled_options(values))


def scaled_options(values: Values) -> dict[str, int]:
    """Return the options of the domain."""
    return {name: values[name] for name in (DIGIT_NBITS.name, QUOTIENT_DELAY.name) if name in values}


def scaled_plan(nbits: int, domain: str, timing: UnitTiming, values: Values) -> Plan:
    """As wide as its digits make it."""
    wide = scaled_shape(nbits, values).wide
    return Plan(wide, values[SCHEDULE], "given", forward=values.get(FORWARD.name, False))


def scaled_mod_exp(nbits: int, domain: str, plan: Plan, unit: Unit, values: Values) -> Build:
    """A ScaledModExp, whose converters do as much in a cycle as divides its width."""
    shape, core = scaled_shape(nbits, values), partial(given_cycles, plan, unit.timing)
    return _scaled(plan, unit, values, core, shape, 4, partial(ScaledModExp, plan, unit.rtl, shape))


def scaled_core(
    mk_core: Callable[[ScaledShape], Component],
    mk_cycles: Callable[[ScaledShape], Callable[[int, int], int]],
    nbits: int,
    domain: str,
    plan: Plan,
    unit: Unit,
    values: Values,
) -> Build:
    """A ScaledModExp with another machine in the middle, whose products are square and multiply always."""
    shape = scaled_shape(nbits, values)
    rtl = partial(ScaledModExp, plan, None, shape, mk_core=mk_core)
    return _scaled(plan, unit, values, mk_cycles(shape), shape, values[DOUBLINGS_PER_CYCLE], rtl)


def _scaled(
    plan: Plan,
    unit: Unit,
    values: Values,
    core: Callable[[int, int], int],
    shape: ScaledShape,
    most_halvings: int,
    rtl: Callable[..., Component],
) -> Build:
    """Converters around a core, which chain as many doublings and halvings as divide their widths."""
    chains = {
        DOUBLINGS_PER_CYCLE: largest_divisor(shape.wide, values[DOUBLINGS_PER_CYCLE]),
        "halvings_per_cycle": largest_divisor(shape.digit_nbits, most_halvings),
    }
    return Build(
        plan,
        unit,
        partial(rtl, **chains),
        partial(ScaledModExpCL, core, shape, **chains),
        partial(scaled_mod_exp_cycles, core, shape, **chains),
        domain_options=scaled_options(values),
    )


SCALED = Control(
    ANY_SCHEDULE,
    scaled_plan,
    last=(
        Param(DOUBLINGS_PER_CYCLE, 4, Count(1), "modular doublings that are chained in a cycle, at most"),
        FORWARD,
    ),
    machine=scaled_mod_exp,
)


ALWAYS = schedule_param("always", ("always",))
CHAINS = Param(
    DOUBLINGS_PER_CYCLE,
    1,
    Count(1),
    "modular doublings and halvings that are chained in a cycle, at most, on the ways into the domain and "
    "out of it",
)
SYSTOLIC_CORE = Control(
    ALWAYS,
    scaled_plan,
    last=(CHAINS,),
    machine=partial(scaled_core, SystolicExp, lambda shape: partial(systolic_exp_cycles, shape)),
)


def given_plan(nbits: int, domain: str, timing: UnitTiming, values: Values) -> Plan:
    """Operands are brought into the domain by the machine itself, or by what is given."""
    return Plan(nbits, values[SCHEDULE], "given")


def serial_exp(nbits: int, domain: str, plan: Plan, unit: Unit, values: Values) -> Build:
    """A SerialExp."""
    shape = digit_serial.words_of(nbits, values)
    return Build(
        plan,
        unit,
        partial(SerialExp, shape),
        partial(SerialExpCL, shape),
        partial(serial_exp_cycles, shape),
        products=partial(serial_exp_products, shape),
        domain_options={"digit_nbits": shape.digit_nbits},
    )


SERIAL = Control(ALWAYS, given_plan, machine=serial_exp)


# ---- with numbers that are given, as published


def r_mod_n(r_nbits: int, nbits: int) -> Given:
    """The residue of 1."""
    return Given("one", nbits, lambda mod: (1 << r_nbits) % mod if mod else 0, f"2^{r_nbits} mod n")


def r2_mod_n(r_nbits: int, nbits: int) -> Given:
    """Return the operands with which numbers become residues."""
    return Given(
        "square", nbits, lambda mod: (1 << 2 * r_nbits) % mod if mod else 0, f"2^{2 * r_nbits} mod n"
    )


def systolic_mod_exp(nbits: int, domain: str, plan: Plan, unit: Unit, values: Values) -> Build:
    """A SystolicModExp."""
    shape = shape_of(nbits, values)
    k = shape.digit_nbits
    given = (
        r_mod_n(shape.wide, nbits),
        r2_mod_n(shape.wide, nbits),
        Given("n_prime", k, shape.inverse, f"-n^-1 mod 2^{k}"),
    )
    fields = tuple((item.name, item.nbits) for item in given)
    return Build(
        plan,
        unit,
        partial(SystolicModExp, shape),
        partial(SystolicModExpCL, shape, fields),
        partial(systolic_mod_exp_cycles, shape),
        modulus_nbits=shape.modulus_nbits,
        given=given,
        product_cycles=systolic_interval(shape),
        products=lambda exp: 2 * exp.bit_length() + 2,
        domain_options={"r_nbits": shape.wide},
    )


SYSTOLIC_002 = Control(ALWAYS, given_plan, machine=systolic_mod_exp)


def serial_mod_exp(processors: int, nbits: int, domain: str, plan: Plan, unit: Unit, values: Values) -> Build:
    """A SerialModExp of so many processors."""
    shape = digit_serial.shape_of(nbits, values)
    given = (r2_mod_n(nbits + 2, nbits),)
    fields = tuple((item.name, item.nbits) for item in given)
    return Build(
        plan,
        unit,
        partial(SerialModExp, shape, processors),
        partial(SerialModExpCL, shape, processors, fields),
        partial(serial_mod_exp_cycles, shape, processors),
        given=given,
        products=partial(serial_products, processors),
    )


SERIAL_003 = Control(
    schedule_param("right-to-left-2", ("right-to-left-2",)),
    given_plan,
    machine=partial(serial_mod_exp, 2),
)
SERIAL_003_ONE = Control(
    schedule_param("right-to-left-1", ("right-to-left-1",)),
    given_plan,
    machine=partial(serial_mod_exp, 1),
)


# ---- by rows of residues


def fold_plan(nbits: int, domain: str, timing: UnitTiming, values: Values) -> Plan:
    """Operands are in the domain as they come."""
    return Plan(nbits, values[SCHEDULE])


def fold_exp(nbits: int, domain: str, plan: Plan, unit: Unit, values: Values) -> Build:
    """A FoldExp."""
    shape = row_fold.shape_of(nbits, values)
    full = values[SCAN.name] == "full"
    return Build(
        plan,
        unit,
        partial(FoldExp, shape, full),
        partial(FoldExpCL, shape, full),
        partial(fold_exp_cycles, shape, full),
        time=Timing(Dependence.NONE if full else Dependence.LENGTH),
        regular=True,
        product_cycles=1,
        products=lambda exp: 2 * scanned(shape, full, exp),
    )


FOLD = Control(
    schedule_param("right-to-left-1", ("right-to-left-1",)),
    fold_plan,
    (SCAN,),
    machine=fold_exp,
)
FOLD_CT = replace(FOLD, first=(FULL_SCAN,))
