"""Machines with a dedicated controller instead of a program: for one modulus, with systolic arrays, serial,
tiny, and by rows of residues.
"""

from collections.abc import Mapping
from functools import partial

from ...cl.digit_serial import (
    serial_exp_cycles,
    serial_exp_products,
    serial_mod_exp_cycles,
    serial_products,
)
from ...cl.fixed_mod_exp import FixedModExpCL
from ...cl.fold_exp import FoldExpCL, fold_exp_cycles, scanned
from ...cl.scaled_mod_exp import ScaledModExpCL, scaled_mod_exp_cycles
from ...cl.serial_exp import SerialExpCL
from ...cl.serial_mod_exp import SerialModExpCL
from ...cl.systolic import SystolicModExpCL, systolic_interval, systolic_mod_exp_cycles
from ...cl.timing import Dependence, given_cycles
from ...cl.tiny_exp import TinyExpCL, tiny_exp_cycles, tiny_products
from ...fl.domains import DOMAINS
from ...fl.mod_exp import operand_status
from ...fl.param import Count, Param, largest_divisor
from ...fl.program.plan import Plan
from ...fl.program.schedules import SCHEDULES
from ...fl.status import Status
from ...rtl.mod_exp.fixed_mod_exp import FixedModExp
from ...rtl.mod_exp.fold_exp import FoldExp
from ...rtl.mod_exp.serial.serial_exp import SerialExp
from ...rtl.mod_exp.serial.serial_mod_exp import SerialModExp
from ...rtl.mod_exp.systolic.scaled_mod_exp import ScaledModExp
from ...rtl.mod_exp.systolic.systolic_mod_exp import SystolicModExp
from ...rtl.mod_exp.tiny.tiny_exp import TinyExp
from .build import Build, Given, Spec, fields_of
from .control import (
    DOUBLINGS_PER_CYCLE,
    HALVINGS_PER_CYCLE,
    SCAN,
    Control,
    scaled_options,
    scaled_shape,
    schedule_param,
)
from .multipliers import bit_serial, digit_serial, one_modulus, row_fold, systolic
from .promises import Timing

ONE_UNIT, TWO_UNITS = (
    tuple(
        schedule.name
        for schedule in SCHEDULES.values()
        if schedule.multipliers == count and not schedule.windows
    )
    for count in (1, 2)
)
ALWAYS = schedule_param("always")


def given_plan(spec: Spec) -> Plan:
    """A plan whose conversions are left to the controller or to numbers in the request."""
    return Plan(spec.nbits, spec.schedule, "given")


# ---- machines for one modulus (paper 000)


def fixed_mod_exp(finishes: Mapping[str, str], subtracts: bool, spec: Spec) -> Build:
    """A FixedModExp with the final correction of its domain.

    Its multiplier subtracts. Otherwise it is one bit wider than the modulus, for residues below twice the
    modulus, and R = 2^(nbits + 2).
    """
    nbits, unit, schedule, finish = spec.nbits, spec.unit, spec.schedule, finishes[spec.domain]
    if subtracts:  # operands are checked before the products
        plan = Plan(nbits, schedule, "given", forward=True)
    else:
        plan = Plan(
            nbits + 1,
            schedule,
            "double",
            doublings_per_cycle=largest_divisor(nbits + 2, 4),
            screened=True,
            r_nbits=nbits + 2,
            plain_result=False,
        )
    modulus = one_modulus.modulus(nbits, spec.values)
    working = one_modulus.working(nbits, spec.domain, spec.values) if modulus else 0
    pseudo = spec.domain == "pseudo"
    kind = DOMAINS[spec.domain]
    if finish == "reduce":
        one_modulus.check_tree("reduce", "the final correction", modulus, plan.nbits)

    def inspect(base, mod):
        if modulus and mod != modulus:
            return Status.WRONG_MODULUS
        return operand_status(base, mod, odd_only=kind.odd_only, reduced_only=kind.reduced_only)

    tree = one_modulus.tree(spec.values)
    return Build(
        plan,
        unit,
        partial(FixedModExp, nbits, plan, unit.rtl, modulus, working, finish, **tree),
        partial(FixedModExpCL, nbits, plan, unit.cl, inspect, modulus, working, finish),
        lambda base, exp, mod: given_cycles(plan, unit.timing, exp, inspect(base, mod)) + pseudo,
        modulus,
    )


def one_modulus_control(*, subtracts: bool = True, **finishes: str) -> Control:
    """A control with these final corrections by domain."""
    return Control(schedule_param(*TWO_UNITS, *ONE_UNIT), partial(fixed_mod_exp, finishes, subtracts))


CM_000 = one_modulus_control(fixed="none", pseudo="reduce")
DM_000 = one_modulus_control(fixed="none", pseudo="remainder")
MM_000 = one_modulus_control(redundant="subtract", pseudo="reduce", subtracts=False)


# ---- on a scaled modulus


def scaled_mod_exp(spec: Spec) -> Build:
    """A ScaledModExp. Its converters chain the most doublings and halvings, up to the limit, that divide
    their widths.
    """
    shape = scaled_shape(spec.nbits, spec.values)
    chains = {
        DOUBLINGS_PER_CYCLE: largest_divisor(shape.wide, spec.values[DOUBLINGS_PER_CYCLE]),
        HALVINGS_PER_CYCLE: largest_divisor(shape.digit_nbits, spec.values[DOUBLINGS_PER_CYCLE]),
    }
    return Build(
        Plan(shape.wide, spec.schedule, "given"),
        spec.unit,
        partial(ScaledModExp, shape, **chains),
        partial(ScaledModExpCL, shape, **chains),
        partial(scaled_mod_exp_cycles, shape, **chains),
        domain_options=scaled_options(spec.values),
    )


CHAINS = Param(
    DOUBLINGS_PER_CYCLE,
    1,
    Count(1),
    "upper limit of modular doublings and halvings per cycle in the conversions",
)
SYSTOLIC_CORE = Control(ALWAYS, scaled_mod_exp, last=(CHAINS,))


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


# ---- with numbers from software, as published


def r_mod_n(name: str, r_nbits: int, nbits: int) -> Given:
    """The residue of a power of 2, from software."""
    return Given(name, nbits, lambda mod: (1 << r_nbits) % mod if mod else 0, f"2^{r_nbits} mod n")


def systolic_mod_exp(spec: Spec) -> Build:
    """A SystolicModExp."""
    shape = systolic.shape_of(spec.nbits, spec.values)
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


def serial_mod_exp(spec: Spec) -> Build:
    """A SerialModExp with as many processors as its schedule has products at a time."""
    processors = SCHEDULES[spec.schedule].multipliers
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


SERIAL_003 = Control(schedule_param("right-to-left-2", "right-to-left-1"), serial_mod_exp)


# ---- by rows of residues


def fold_exp(spec: Spec) -> Build:
    """A FoldExp; operands need no conversion."""
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


FOLD = Control(schedule_param("right-to-left-1"), fold_exp, (SCAN,))


# ---- with a serial adder


def tiny_exp(spec: Spec) -> Build:
    """A TinyExp; with the schedule `always` it scans the whole exponent."""
    nbits, k = spec.nbits, spec.values[bit_serial.ADDER_NBITS.name]
    full = spec.schedule == "always"
    return Build(
        Plan(nbits, spec.schedule, reduced_only=True),
        spec.unit,
        partial(TinyExp, nbits, k, full),
        partial(TinyExpCL, nbits, k, full),
        partial(tiny_exp_cycles, nbits, k, full),
        time=Timing(Dependence.NONE if full else Dependence.VALUE),
        rtl_in_place=partial(TinyExp, nbits, k, full, in_place=True),
        wiped_by_refusal=True,
        regular=full,
        products=partial(tiny_products, nbits, full),
    )


TINY = Control(schedule_param("left-to-right", "always"), tiny_exp)
