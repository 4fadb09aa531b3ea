"""Control: the schedule of a machine's products, the conversions into and out of its domain, and the machine
that executes them.

A Control is what a design has beside a multiplier and a domain. Each function below that returns a Build is a
kind of machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

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
from ...cl.scaled_mod_exp import ScaledModExpCL, scaled_mod_exp_cycles
from ...cl.systolic import (
    SystolicModExpCL,
    systolic_interval,
    systolic_mod_exp_cycles,
)
from ...cl.timing import (
    Dependence,
    fixed_mod_exp_cycles,
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
from ...rtl.machines.systolic_mod_exp import SystolicModExp
from .build import SCHEDULE, Build, Given, Spec
from .multipliers import digit_serial, one_modulus, row_fold
from .multipliers.heap_mont import DIGIT_NBITS, QUOTIENT_DELAY
from .multipliers.multiplier import GATED, Values
from .multipliers.systolic import shape_of
from .program_control import PROTECTIONS, program_exp
from .promises import Timing, timing_of

PlanOf = Callable[[Spec], Plan]

SINGLE_UNIT = tuple(
    schedule.name for schedule in SCHEDULES.values() if schedule.multipliers == 1 and not schedule.windows
)
TWO_UNITS = tuple(schedule.name for schedule in SCHEDULES.values() if schedule.multipliers == 2)

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


def schedule_param(*names: str) -> Param:
    """The schedules that a design may have, its own first."""
    return Param(
        SCHEDULE,
        names[0],
        tuple(dict.fromkeys(names)),
        "the order of the products; right-to-left-2 and ladder have two units",
    )


ANY_SCHEDULE = schedule_param("right-to-left-2", *BINARY)
ANY_PROGRAM = schedule_param("right-to-left-2", *SCHEDULES)
HIDING = schedule_param("ladder", *(name for name, schedule in SCHEDULES.items() if schedule.full_scan))


@dataclass(frozen=True)
class Control:
    """The schedule and the conversions of a design, with their parameters."""

    schedule: Param
    build: Callable[[Spec], Build]
    first: tuple[Param, ...] = ()  # parameters named before the multiplier's
    last: tuple[Param, ...] = ()  # and behind them


def mod_exp(plan_of: PlanOf, spec: Spec) -> Build:
    """Products in the order of the plan, between paper 001's converters where operands are given."""
    plan, unit = plan_of(spec), spec.unit
    timing = unit.timing
    if plan.conversion != "given":
        return Build(
            plan,
            unit,
            partial(planned_exp, plan, unit.rtl, spec.domain),
            partial(ModExpCL, plan, timing),
            partial(mod_exp_cycles, plan, timing),
        )
    return Build(
        plan,
        unit,
        partial(MontModExp, plan, unit.rtl, gated=spec.values.get(GATED.name, True)),
        partial(MontModExpCL, plan, timing),
        partial(mont_mod_exp_cycles, plan, timing),
        time=timing_of(plan, timing, conversion=Dependence.LENGTH),  # its divider aligns the modulus
        products=lambda exp: product_count(plan, exp) + 2,  # into the domain and out of it
    )


def programmed(plan_of: PlanOf, spec: Spec) -> Build:
    """The same by a program."""
    return program_exp(spec, plan_of(spec))


# ---- machines whose operands are in the domain as they come


def direct_plan(spec: Spec) -> Plan:
    """The schedule alone; larger bases are refused where the domain has them below the modulus."""
    return Plan(
        spec.nbits,
        spec.schedule,
        forward=spec.values.get(FORWARD.name, False),
        full_scan=spec.values.get(SCAN.name) == "full",
        reduced_only=DOMAINS[spec.domain].reduced_only,
    )


DIRECT_PROGRAM = partial(programmed, direct_plan)
BARE = Control(ANY_SCHEDULE, partial(mod_exp, direct_plan))
DIRECT = Control(ANY_PROGRAM, DIRECT_PROGRAM, last=(FORWARD, *PROTECTIONS))
DIRECT_CT = Control(HIDING, DIRECT_PROGRAM, (FULL_SCAN,), (FORWARD, *PROTECTIONS))


# ---- into Montgomery form


def converted_plan(spec: Spec) -> Plan:
    """Into Montgomery form by doublings; squarings as many as make it shortest."""
    nbits, values, timing = spec.nbits, spec.values, spec.unit.timing
    per_cycle, forward = values[DOUBLINGS_PER_CYCLE], values[FORWARD.name]
    must_divide(DOUBLINGS_PER_CYCLE, per_cycle, nbits, "the width")
    if timing.fits:
        per_cycle = largest_divisor(timing.block_nbits, per_cycle)  # a modulus has whole blocks
    squarings = 0
    if values["conversion"] == "square":
        product_cycles = timing.product_cycles(timing.blocks_of((1 << nbits) - 1))
        assert product_cycles is not None, timing
        product = product_cycles + (0 if forward else 1)
        # R^2 = (2^k R)^(2^s) with nbits = k * 2^s: fewer doublings for each squaring more
        counts = (
            s for s in range(nbits.bit_length()) if nbits % (1 << s) == 0 and (nbits >> s) % per_cycle == 0
        )
        squarings = min(counts, key=lambda s: (nbits >> s) // per_cycle + s * product)
    return Plan(
        nbits,
        spec.schedule,
        values["conversion"],
        squarings,
        per_cycle,
        full_scan=values.get(SCAN.name) == "full",
        forward=forward,
    )


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


CONVERTED_PROGRAM = partial(programmed, converted_plan)
CONVERTED = Control(ANY_PROGRAM, CONVERTED_PROGRAM, last=(*conversion_params("double"), *PROTECTIONS))
CONVERTED_CT = Control(HIDING, CONVERTED_PROGRAM, (FULL_SCAN,), (*conversion_params("square"), *PROTECTIONS))


# ---- as published


def plan_001(conversion: str, spec: Spec) -> Plan:
    """Paper 001: right to left, exponent 0 takes a step all the same."""
    schedule = spec.schedule
    return Plan(spec.nbits, schedule, conversion, steps_once=schedule.startswith("right-to-left"))


def plan_004(spec: Spec) -> Plan:
    """Paper 004's Montgomery machines: R^2 mod n by shift-sub from R - n."""
    return Plan(spec.nbits, spec.schedule, "shift-sub", plain_result=False)


GIVEN_001 = Control(ANY_SCHEDULE, partial(mod_exp, partial(plan_001, "given")))
IDENTITY_001 = Control(ANY_SCHEDULE, partial(mod_exp, partial(plan_001, "identity")))
SHIFT_SUB_004 = Control(ANY_SCHEDULE, partial(mod_exp, plan_004))


# ---- machines for one modulus (paper 000)


def screened_plan(spec: Spec) -> Plan:
    """Operands are looked at in front."""
    return Plan(spec.nbits, spec.schedule, "given", forward=True)


def unsubtracted_plan(spec: Spec) -> Plan:
    """One bit more than the modulus, for residues below twice of it; R = 2^(nbits + 2)."""
    return Plan(
        spec.nbits + 1,
        spec.schedule,
        "double",
        doublings_per_cycle=largest_divisor(spec.nbits + 2, 4),
        screened=True,
        r_nbits=spec.nbits + 2,
        plain_result=False,
    )


def fixed_mod_exp(finish: str, plan_of: PlanOf, spec: Spec) -> Build:
    """A FixedModExp with this last correction."""
    nbits, unit, plan = spec.nbits, spec.unit, plan_of(spec)
    modulus = one_modulus.modulus(nbits, spec.values)
    working = one_modulus.working(nbits, spec.domain, spec.values) if modulus else 0
    pseudo = spec.domain == "pseudo"
    kind = DOMAINS[spec.domain]
    if finish == "reduce":
        one_modulus.check_tree("reduce", "the final correction", modulus, plan.nbits)

    def inspect(base: int, mod: int) -> Status:
        if modulus and mod != modulus:
            return Status.WRONG_MODULUS
        return operand_status(base, mod, odd_only=kind.odd_only, reduced_only=kind.reduced_only)

    return Build(
        plan,
        unit,
        partial(
            FixedModExp, nbits, plan, unit.rtl, modulus, working, finish, **one_modulus.tree(spec.values)
        ),
        partial(FixedModExpCL, nbits, plan, unit.timing, inspect, pseudo),
        lambda base, exp, mod: fixed_mod_exp_cycles(plan, unit.timing, pseudo, exp, inspect(base, mod)),
        modulus,
    )


def one_modulus_control(schedules: tuple[str, ...], finish: str, *, subtracts: bool = True) -> Control:
    """Any of these schedules, then the last correction; a multiplier that does not subtract needs another
    plan.
    """
    plan_of = screened_plan if subtracts else unsubtracted_plan
    return Control(schedule_param(*schedules), partial(fixed_mod_exp, finish, plan_of))


# ---- on a scaled modulus


def scaled_shape(nbits: int, values: Values) -> ScaledShape:
    """The widths that the multiplier's parameters make."""
    return ScaledShape(nbits, **scaled_options(values))


def scaled_options(values: Values) -> dict[str, int]:
    """Return the options of the domain."""
    return {name: values[name] for name in (DIGIT_NBITS.name, QUOTIENT_DELAY.name) if name in values}


def scaled_mod_exp(spec: Spec) -> Build:
    """A ScaledModExp, whose converters chain as many doublings and halvings as divide their widths."""
    shape = scaled_shape(spec.nbits, spec.values)
    chains = {
        DOUBLINGS_PER_CYCLE: largest_divisor(shape.wide, spec.values[DOUBLINGS_PER_CYCLE]),
        "halvings_per_cycle": largest_divisor(shape.digit_nbits, spec.values[DOUBLINGS_PER_CYCLE]),
    }
    return Build(
        Plan(shape.wide, spec.schedule, "given"),
        spec.unit,
        partial(ScaledModExp, shape, **chains),
        partial(ScaledModExpCL, shape, **chains),
        partial(scaled_mod_exp_cycles, shape, **chains),
        domain_options=scaled_options(spec.values),
    )


ALWAYS = schedule_param("always")
CHAINS = Param(
    DOUBLINGS_PER_CYCLE,
    1,
    Count(1),
    "modular doublings and halvings that are chained in a cycle, at most, on the ways into the domain and "
    "out of it",
)
SYSTOLIC_CORE = Control(ALWAYS, scaled_mod_exp, last=(CHAINS,))


def given_plan(spec: Spec) -> Plan:
    """Operands are brought into the domain by the machine itself, or by what is given."""
    return Plan(spec.nbits, spec.schedule, "given")


def serial_exp(spec: Spec) -> Build:
    """A SerialExp."""
    shape = digit_serial.words_of(spec.nbits, spec.values)
    return Build(
        given_plan(spec),
        spec.unit,
        partial(SerialExp, shape),
        partial(SerialExpCL, shape),
        partial(serial_exp_cycles, shape),
        products=partial(serial_exp_products, shape),
        domain_options={"digit_nbits": shape.digit_nbits},
    )


SERIAL = Control(ALWAYS, serial_exp)


# ---- with numbers that are given, as published


def r_mod_n(name: str, r_nbits: int, nbits: int) -> Given:
    """The residue of a power of 2."""
    return Given(name, nbits, lambda mod: (1 << r_nbits) % mod if mod else 0, f"2^{r_nbits} mod n")


def fields_of(given: Sequence[Given]) -> tuple[tuple[str, int], ...]:
    """Names and bits, as the cycle level has them."""
    return tuple((number.name, number.nbits) for number in given)


def systolic_mod_exp(spec: Spec) -> Build:
    """A SystolicModExp."""
    shape = shape_of(spec.nbits, spec.values)
    k = shape.digit_nbits
    given = (
        r_mod_n("one", shape.wide, spec.nbits),
        r_mod_n("square", 2 * shape.wide, spec.nbits),
        Given("n_prime", k, shape.inverse, f"-n^-1 mod 2^{k}"),
    )
    return Build(
        given_plan(spec),
        spec.unit,
        partial(SystolicModExp, shape),
        partial(SystolicModExpCL, shape, fields_of(given)),
        partial(systolic_mod_exp_cycles, shape),
        modulus_nbits=shape.modulus_nbits,
        given=given,
        product_cycles=systolic_interval(shape),
        products=lambda exp: 2 * exp.bit_length() + 2,
        domain_options={"r_nbits": shape.wide},
    )


SYSTOLIC_002 = Control(ALWAYS, systolic_mod_exp)


def serial_mod_exp(processors: int, spec: Spec) -> Build:
    """A SerialModExp of so many processors."""
    shape = digit_serial.shape_of(spec.nbits, spec.values)
    given = (r_mod_n("square", 2 * (spec.nbits + 2), spec.nbits),)
    return Build(
        given_plan(spec),
        spec.unit,
        partial(SerialModExp, shape, processors),
        partial(SerialModExpCL, shape, processors, fields_of(given)),
        partial(serial_mod_exp_cycles, shape, processors),
        given=given,
        products=partial(serial_products, processors),
    )


RIGHT_TO_LEFT_1 = schedule_param("right-to-left-1")
SERIAL_003 = Control(schedule_param("right-to-left-2"), partial(serial_mod_exp, 2))
SERIAL_003_ONE = Control(RIGHT_TO_LEFT_1, partial(serial_mod_exp, 1))


# ---- by rows of residues


def fold_exp(spec: Spec) -> Build:
    """A FoldExp; operands are in its domain as they come."""
    shape = row_fold.shape_of(spec.nbits, spec.values)
    full = spec.values[SCAN.name] == "full"
    return Build(
        Plan(spec.nbits, spec.schedule),
        spec.unit,
        partial(FoldExp, shape, full),
        partial(FoldExpCL, shape, full),
        partial(fold_exp_cycles, shape, full),
        time=Timing(Dependence.NONE if full else Dependence.LENGTH),
        regular=True,
        product_cycles=1,
        products=lambda exp: 2 * scanned(shape, full, exp),
    )


FOLD = Control(RIGHT_TO_LEFT_1, fold_exp, (SCAN,))
FOLD_CT = replace(FOLD, first=(FULL_SCAN,))
