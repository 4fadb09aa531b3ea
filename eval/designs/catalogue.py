"""The catalogue: the one list of designs. Tests, command line, sweeps, flow and report all iterate over it.

To add a design, append an entry to DESIGNS: a name, what it is, its parameters, and a function that builds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...cl.fixed_mod_exp import DirectMulCL, FixedModExpCL, UnsubtractedCL
from ...cl.mod_exp import ModExpCL, MontModExpCL
from ...cl.mont_mul_rem import MontMulRemCL
from ...cl.mul_rem import MulRemCL
from ...cl.pseudo_mul import PseudoMulCL, PseudoMulTiming
from ...cl.scaled_mont import ScaledModExpCL, ScaledMontCL, ScaledMontTiming, scaled_mod_exp_cycles
from ...cl.serial import SerialMontCL, ShiftSubCL
from ...cl.timing import (
    MontMulRemTiming,
    MulRemTiming,
    SerialMontTiming,
    ShiftSubTiming,
    UnitTiming,
    fixed_mod_exp_cycles,
    mod_exp_cycles,
    mont_mod_exp_cycles,
)
from ...fl.compression import BEST, STRATEGIES
from ...fl.domains import DOMAINS
from ...fl.errors import BadInput, shown, unknown
from ...fl.mod_exp import operand_status
from ...fl.prefix import ADDERS
from ...fl.scaled import ScaledShape
from ...fl.schedules import SCHEDULES
from ...fl.status import Status
from ...rtl.machines.fixed_mod_exp import FixedModExp
from ...rtl.machines.mod_exp import ModExp
from ...rtl.machines.mod_exp_plan import Plan
from ...rtl.machines.mont_mod_exp import MontModExp
from ...rtl.machines.scaled_mod_exp import ScaledModExp
from ...rtl.units.add_red import ADD_REDS
from ...rtl.units.compression_tree import MAX_OPERAND_NBITS
from ...rtl.units.direct_mul import DirectMul
from ...rtl.units.mm_mul import MMMul
from ...rtl.units.mm_red import MMRed
from ...rtl.units.mont_mul_rem import MontMulRem
from ...rtl.units.mul_rem import MulRem
from ...rtl.units.pseudo_mul import PseudoMul, modulus_of
from ...rtl.units.scaled_mont import ScaledMont
from ...rtl.units.scaled_step import SCALED_STEPS
from ...rtl.units.shift_sub import ShiftSub
from ...rtl.units.shift_sub_carry_save import ShiftSubCarrySave
from .design import SCHEDULE, Design
from .machine import Build
from .param import Count, Param

BOOLS = (False, True)


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor of `number` that is at most `most`."""
    return max(d for d in range(1, min(most, number) + 1) if number % d == 0)


def must_divide(name: str, value: int, whole: int, what: str) -> None:
    """BadInput unless `value`, the parameter `name`, divides `whole`."""
    if whole % value:
        nearest = largest_divisor(whole, min(value, whole))
        raise BadInput(
            f"{name} = {value} does not divide {what} ({whole}); the next smaller one that does is {nearest}"
        )


def assemble(plan: Plan, mk_unit: Any, mk_unit_cl: Any, timing: UnitTiming, gated: bool = True) -> Build:
    """A ModExp, between the paper's converters where its operands are given; `gated` is for the registers of those."""
    rtl, cl, cycles = (
        (partial(MontModExp, gated=gated), MontModExpCL, mont_mod_exp_cycles)
        if plan.conversion == "given"
        else (ModExp, ModExpCL, mod_exp_cycles)
    )
    return Build(
        plan,
        mk_unit,
        mk_unit_cl,
        timing,
        partial(rtl, plan, mk_unit),
        partial(cl, plan, timing),
        partial(cycles, plan, timing),
    )


# ---- multipliers

GATED = Param(
    "gated",
    False,
    BOOLS,
    "registers have an enable alone, so that synthesis gates their clock; not so in the paper's RTL, where a reset goes before it",
)

MUL_REM_PARAMS = (
    Param("quotient_bits_per_cycle", 2, Count(1), "quotient bits that the divider makes in a cycle"),
    Param(
        "multiplier_bits_per_cycle",
        0,
        Count(0),
        "bits of a factor that the multiplier takes in a cycle; 0: all, in a combinational multiplier",
    ),
)


def build_mul_rem(nbits: int, plan: Plan, divider: str, values: Mapping[str, Any]) -> Build:
    quotient_bits = values.get("quotient_bits_per_cycle", 1)
    multiplier_bits = values["multiplier_bits_per_cycle"]
    must_divide("quotient_bits_per_cycle", quotient_bits, 2 * nbits, "the bits of the product")
    if multiplier_bits:
        must_divide("multiplier_bits_per_cycle", multiplier_bits, nbits, "the width")
    unit = {
        "divider": divider,
        "quotient_bits_per_cycle": quotient_bits,
        "multiplier_bits_per_cycle": multiplier_bits,
    }
    mk_unit = partial(MulRem, **unit, gated=values.get("gated", True))
    return assemble(plan, mk_unit, partial(MulRemCL, **unit), MulRemTiming(nbits, **unit))


def mont_mul_rem_params(steps: int, nstages: int, add_red: str, pipelined: bool) -> tuple[Param, ...]:
    return (
        Param(
            "steps_per_stage",
            lambda nbits: largest_divisor(nbits // largest_divisor(nbits, nstages), steps),
            Count(1),
            "AddReds between two registers; nbits / steps_per_stage is the latency of a product",
        ),
        Param(
            "nstages",
            lambda nbits: largest_divisor(nbits, nstages),
            Count(1),
            "pipeline stages; where nstages * steps_per_stage is less than nbits, a product goes around them again",
        ),
        Param("add_red", add_red, tuple(ADD_REDS), "the form of an AddRed (rtl/units/add_red.py)"),
        Param("pipelined", pipelined, BOOLS, "several products under way, or one"),
    )


def build_mont_mul_rem(nbits: int, plan: Plan, values: Mapping[str, Any]) -> Build:
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
    unit = {**shape, "add_red": values["add_red"]}
    timing = MontMulRemTiming(nbits, **shape)
    gated = values.get("gated", True)
    mk_unit = partial(MontMulRem, **unit, gated=gated)
    return assemble(plan, mk_unit, partial(MontMulRemCL, **unit), timing, gated)


BITS_PER_CYCLE = Param("bits_per_cycle", 1, Count(1), "bits of a factor that the unit takes in a cycle")
CARRY_SAVE = Param("carry_save", False, BOOLS, "keep sums in carry-save form: no carry runs across the word")


def build_shift_sub(nbits: int, plan: Plan, until: str, values: Mapping[str, Any]) -> Build:
    bits, carry_save = values["bits_per_cycle"], values.get("carry_save", False)
    must_divide("bits_per_cycle", bits, nbits, "the width")
    shape = {"bits_per_cycle": bits, "until": until}
    return assemble(
        plan,
        partial(ShiftSubCarrySave if carry_save else ShiftSub, **shape),
        partial(ShiftSubCL, carry_save=carry_save, **shape),
        ShiftSubTiming(nbits, carry_save=carry_save, **shape),
    )


def build_serial_mont(unit: type, nbits: int, values: Mapping[str, Any]) -> Build:
    bits = values["bits_per_cycle"]
    must_divide("bits_per_cycle", bits, nbits, "the width")
    plan = Plan(nbits, values["schedule"], "shift-sub", plain_result=False)
    shape = {"bits_per_cycle": bits}
    return assemble(
        plan, partial(unit, **shape), partial(SerialMontCL, **shape), SerialMontTiming(nbits, bits)
    )


# ---- schedules and conversions


HARDWARE = tuple(schedule for schedule in SCHEDULES.values() if schedule.hardware)
SINGLE_UNIT = tuple(schedule.name for schedule in HARDWARE if schedule.multipliers == 1)
TWO_UNITS = tuple(schedule.name for schedule in HARDWARE if schedule.multipliers == 2)
CONSTANT_TIME = tuple(schedule.name for schedule in HARDWARE if schedule.constant_time)


def schedule_param(default: str = "right-to-left-2", legal: tuple[str, ...] | None = None) -> Param:
    """The schedules of a design, its own first; legal: those that it may have, else all that there are in hardware."""
    names = [schedule.name for schedule in HARDWARE] if legal is None else legal
    return Param(
        SCHEDULE,
        default,
        (default, *(name for name in names if name != default)),
        "the order of the products; right-to-left-2 and ladder have two units",
    )


FORWARD = Param(
    "forward", True, BOOLS, "a product starts in the cycle its factors appear, past the registers"
)
SCAN = Param(
    "scan",
    "length",
    ("length", "full"),
    "the exponent bits that are scanned: from the highest 1 on, or all, which hides the length too",
)
CONVERSION_PARAMS = (
    Param(
        "doublings_per_cycle",
        lambda nbits: largest_divisor(nbits, 4),
        Count(1),
        "modular doublings that are chained in a cycle, on the way into Montgomery form",
    ),
    Param(
        "conversion",
        "double",
        ("double", "square"),
        "into Montgomery form: doubling the base nbits times, or a product with R^2 mod n from doublings and squarings",
    ),
)


def conversion_plan(nbits: int, schedule: str, values: Mapping[str, Any]) -> Plan:
    """A machine that gets into Montgomery form by doublings; squarings as many as make it shortest."""
    conversion, per_cycle = values["conversion"], values["doublings_per_cycle"]
    must_divide("doublings_per_cycle", per_cycle, nbits, "the width")
    common = {
        "doublings_per_cycle": per_cycle,
        "full_scan": values.get("scan") == "full",
        "forward": values["forward"],
    }
    if conversion == "double":
        return Plan(nbits, schedule, conversion, **common)
    product = nbits // values["steps_per_stage"] + (0 if values["forward"] else 1)
    # R^2 = (2^k R)^(2^s) with nbits = k * 2^s: fewer doublings for each squaring more
    counts = [s for s in range(nbits.bit_length()) if nbits % (1 << s) == 0 and (nbits >> s) % per_cycle == 0]
    best = min(counts, key=lambda s: (nbits >> s) // per_cycle + s * product)
    return Plan(nbits, schedule, conversion, squarings=best, **common)


# ---- machines for one modulus (paper 000), and on a scaled modulus

MODULUS = Param(
    "modulus",
    lambda nbits: ((1 << nbits) - 1) // (1 if nbits % 2 else 3),
    Count(3),
    "the modulus that the machine is made for; the default is the paper's family, (2^nbits - 1) / 3, whose factors are known: "
    "arithmetic, no key",
)
TREE_PARAMS = (
    Param(
        "strategy",
        BEST,
        (BEST, *STRATEGIES),
        "compressors of the tree; best: the one with the least delay x area",
    ),
    Param("adder", "brent-kung", tuple(ADDERS), "the adder behind the tree"),
)


def inspection(domain: str, modulus: int) -> Any:
    """What FixedModExp answers to (base, mod)."""
    kind = DOMAINS[domain]

    def inspect(base: int, mod: int) -> Status:
        if modulus and mod != modulus:
            return Status.WRONG_MODULUS
        return operand_status(base, mod, odd_only=kind.odd_only, reduced_only=kind.reduced_only)

    return inspect


def check_tree(what: str, nbits: int, most: int) -> None:
    """BadInput for a compression tree that is too large to make."""
    if nbits > most:
        raise BadInput(
            f"a compression tree of {nbits} bits ({what}) is too large to translate; give at most {most} bits "
            "(`modexlab draw` plans larger ones)"
        )


@dataclass(frozen=True)
class Operator:
    """A multiplier of paper 000, and the machine's control around it."""

    family: str
    what: str  # in words
    figure: str  # of the paper
    domain: str  # on the modulus itself
    finish: str  # the last correction there
    finish_pseudo: str  # and from the pseudo-modulus
    params: tuple[Param, ...]
    parts: Callable[[int, str, int, Mapping[str, str]], tuple[Plan, Any, Any, UnitTiming]]


def parts_cm(
    nbits: int, schedule: str, working: int, tree: Mapping[str, str]
) -> tuple[Plan, Any, Any, UnitTiming]:
    """Plan, unit, its twin and its timing for CM, modulo `working`."""
    check_tree("cm", nbits, MAX_OPERAND_NBITS["multiply"])
    modulus_of(working, None, nbits)
    return (
        Plan(nbits, schedule, "given", forward=True),
        partial(PseudoMul, modulus=working, **tree),
        partial(PseudoMulCL, modulus=working, **tree),
        PseudoMulTiming(),
    )


def parts_dm(
    nbits: int, schedule: str, working: int, tree: Mapping[str, str]
) -> tuple[Plan, Any, Any, UnitTiming]:
    """The same for DM."""
    plan = Plan(nbits, schedule, "given", forward=True)
    return plan, partial(DirectMul, modulus=working), partial(DirectMulCL, modulus=working), PseudoMulTiming()


def parts_mm(
    nbits: int, schedule: str, working: int, tree: Mapping[str, str]
) -> tuple[Plan, Any, Any, UnitTiming]:
    """The same for MM: one bit more than the modulus, for residues below twice of it; R = 2^(nbits + 2)."""
    plan = Plan(
        nbits + 1,
        schedule,
        "double",
        doublings_per_cycle=largest_divisor(nbits + 2, 4),
        screened=True,
        r_nbits=nbits + 2,
        plain_result=False,
    )
    return plan, partial(MMMul, subtracts=False), UnsubtractedCL, SerialMontTiming(nbits + 1)


OPERATORS = {
    "cm": Operator(
        "PseudoMul", "a compression tree", "Figure 16", "fixed", "none", "reduce", TREE_PARAMS, parts_cm
    ),
    "dm": Operator("DirectMul", "`*` and `%`", "Figure 16", "fixed", "none", "remainder", (), parts_dm),
    "mm": Operator(
        "MMMul",
        "Montgomery without last subtraction",
        "Figure 18",
        "redundant",
        "subtract",
        "reduce",
        (),
        parts_mm,
    ),
}


def build_000(operator: Operator, domain: str, nbits: int, values: Mapping[str, Any]) -> Build:
    """The machines of paper 000, on a modulus or on the pseudo-modulus 2^nbits - 1 above it."""
    modulus = values.get("modulus", 0)
    if modulus.bit_length() > nbits:
        raise BadInput(
            f"modulus = {shown(modulus)} does not fit in {nbits} bits; give --nbits {modulus.bit_length()}"
        )
    pseudo = domain == "pseudo"
    if pseudo:
        DOMAINS[domain](modulus, nbits)  # refuses a modulus that does not divide 2^nbits - 1
    working = (1 << nbits) - 1 if pseudo else modulus
    tree = {name: values[name] for name in ("strategy", "adder") if name in values}
    plan, unit, unit_cl, timing = operator.parts(nbits, values["schedule"], working, tree)
    finish = operator.finish_pseudo if pseudo else operator.finish
    if finish == "reduce":
        check_tree("the final correction", plan.nbits, MAX_OPERAND_NBITS["reduce"])
        modulus_of(modulus, None, plan.nbits)
    inspect = inspection(domain, modulus)
    return Build(
        plan,
        unit,
        unit_cl,
        timing,
        partial(FixedModExp, nbits, plan, unit, modulus, working if modulus else 0, finish, **tree),
        partial(FixedModExpCL, nbits, plan, timing, inspect, pseudo),
        lambda base, exp, mod: fixed_mod_exp_cycles(plan, timing, pseudo, exp, inspect(base, mod)),
        modulus,
    )


def build_scaled(nbits: int, values: Mapping[str, Any]) -> Build:
    """ScaledModExp, as wide as its digits make it."""
    digit = values["digit_nbits"]
    shape = ScaledShape(nbits, digit)
    plan = Plan(shape.wide, values["schedule"], "given", forward=values["forward"])
    unit = {"digit_nbits": digit, "state": values["state"]}
    timing = ScaledMontTiming(nbits, **unit)
    chains = {
        "doublings_per_cycle": largest_divisor(shape.wide, values["doublings_per_cycle"]),
        "halvings_per_cycle": largest_divisor(digit, 4),
    }

    def mk_unit(_: int) -> Any:
        return ScaledMont(nbits, **unit)

    def mk_unit_cl(_: int) -> Any:
        return ScaledMontCL(nbits, **unit)

    return Build(
        plan,
        mk_unit,
        mk_unit_cl,
        timing,
        partial(ScaledModExp, plan, mk_unit, shape, **chains),
        partial(ScaledModExpCL, plan, timing, shape, **chains),
        partial(scaled_mod_exp_cycles, plan, timing, shape, **chains),
        domain_options={"digit_nbits": digit},
    )


def designs_000() -> tuple[Design, ...]:
    """Three operators, on modulus and pseudo-modulus, with two multipliers and with one."""
    entries = []
    for name, operator in OPERATORS.items():
        for residues in ("m", "pm"):
            pseudo = residues == "pm"
            domain = "pseudo" if pseudo else operator.domain
            on = "the pseudo-modulus 2^nbits - 1, with final correction" if pseudo else "the modulus itself"
            own = () if domain == "redundant" else (MODULUS,)
            for suffix, units, schedules in (("", "two units", TWO_UNITS), ("-one", "one unit", SINGLE_UNIT)):
                entries.append(
                    Design(
                        name=f"{name}-{residues}-000{suffix}",
                        family=operator.family,
                        paper="000",
                        domain=domain,
                        summary=f"the paper's {name.upper()} ({residues.upper()}), {operator.figure} and its kin: "
                        f"{units} of {operator.what}, on {on}",
                        params=(schedule_param(schedules[0], schedules), *own, *operator.params),
                        build=partial(build_000, operator, domain),
                    )
                )
    return tuple(entries)


# ---- designs


def paper_plan(nbits: int, schedule: str, conversion: str) -> Plan:
    """The control of paper 001's machines: right to left, exponent 0 takes a step all the same."""
    return Plan(nbits, schedule, conversion, steps_once=schedule.startswith("right-to-left"))


def build_naive_001(nbits: int, values: Mapping[str, Any]) -> Build:
    return build_mul_rem(nbits, paper_plan(nbits, values["schedule"], "identity"), "aligned", values)


def build_naive(nbits: int, values: Mapping[str, Any]) -> Build:
    full_scan = values.get("scan") == "full"
    plan = Plan(nbits, values["schedule"], forward=values["forward"], full_scan=full_scan)
    return build_mul_rem(nbits, plan, "restoring", values)


def build_mont_001(nbits: int, values: Mapping[str, Any]) -> Build:
    return build_mont_mul_rem(nbits, paper_plan(nbits, values["schedule"], "given"), values)


def build_mont(nbits: int, values: Mapping[str, Any]) -> Build:
    return build_mont_mul_rem(nbits, conversion_plan(nbits, values["schedule"], values), values)


def build_ssmm_004(nbits: int, values: Mapping[str, Any]) -> Build:
    return build_shift_sub(nbits, Plan(nbits, values["schedule"], reduced_only=True), "noticed", values)


def build_ssmm(nbits: int, values: Mapping[str, Any]) -> Build:
    plan = Plan(
        nbits,
        values["schedule"],
        forward=values["forward"],
        full_scan=values.get("scan") == "full",
        reduced_only=True,
    )
    return build_shift_sub(nbits, plan, "count" if "scan" in values else "spent", values)


DESIGNS = (
    Design(
        name="naive-001",
        family="MulRem",
        paper="001",
        domain="identity",
        summary="the paper's naive machine: two units of a combinational multiplier and an aligning divider",
        params=(schedule_param(), *MUL_REM_PARAMS[1:], GATED),
        build=build_naive_001,
    ),
    Design(
        name="mont-001",
        family="MontMulRem",
        paper="001",
        domain="montgomery",
        summary="the paper's Montgomery machine: 4 stages x 8 AddReds, five product units, a divider for R^2 mod n",
        params=(schedule_param(), *mont_mul_rem_params(8, 4, "koc", False), GATED),
        build=build_mont_001,
    ),
    Design(
        name="naive",
        family="MulRem",
        domain="identity",
        summary="two units of a combinational multiplier and a restoring divider; any modulus, any base",
        params=(schedule_param(), *MUL_REM_PARAMS, FORWARD),
        build=build_naive,
    ),
    Design(
        name="naive-ct",
        family="MulRem",
        domain="identity",
        summary="the naive machine as a Montgomery ladder: as many cycles for all exponents of a length",
        params=(schedule_param("ladder", CONSTANT_TIME), SCAN, *MUL_REM_PARAMS, FORWARD),
        build=build_naive,
    ),
    Design(
        name="mont",
        family="MontMulRem",
        domain="montgomery",
        summary="two Montgomery units, 8 AddReds each, and no divider: the base gets into Montgomery form by doublings",
        params=(
            schedule_param(),
            *mont_mul_rem_params(8, 1, "textbook", False),
            *CONVERSION_PARAMS,
            FORWARD,
        ),
        build=build_mont,
    ),
    Design(
        name="mont-ct",
        family="MontMulRem",
        domain="montgomery",
        summary="the Montgomery machine as a ladder, R^2 mod n by doublings and squarings: "
        "as many cycles for all exponents of a length",
        params=(
            schedule_param("ladder", CONSTANT_TIME),
            SCAN,
            *mont_mul_rem_params(8, 1, "textbook", False),
            *(
                Param(param.name, "square", param.legal, param.help) if param.name == "conversion" else param
                for param in CONVERSION_PARAMS
            ),
            FORWARD,
        ),
        build=build_mont,
    ),
    Design(
        name="ssmm-004",
        family="ShiftSub",
        paper="004",
        domain="residue",
        summary="the paper's Algorithm 6: two shift-sub units, which stop when no ones are left in the multiplier",
        params=(schedule_param(), BITS_PER_CYCLE),
        build=build_ssmm_004,
    ),
    Design(
        name="mmmul-004",
        family="MMMul",
        paper="004",
        domain="montgomery",
        summary="the paper's Algorithm 4: two bit-serial Montgomery units, R^2 mod n by shift-sub from R - n",
        params=(schedule_param(), BITS_PER_CYCLE),
        build=partial(build_serial_mont, MMMul),
    ),
    Design(
        name="mmred-004",
        family="MMRed",
        paper="004",
        domain="montgomery",
        summary="the paper's Algorithm 2: two big multipliers with bit-serial Montgomery reduction",
        params=(schedule_param(), BITS_PER_CYCLE),
        build=partial(build_serial_mont, MMRed),
    ),
    Design(
        name="ssmm",
        family="ShiftSub",
        domain="residue",
        summary="two shift-sub units of 1, 2, 4, ... bits a cycle, which stop with the highest 1 of the multiplier",
        params=(schedule_param(), BITS_PER_CYCLE, CARRY_SAVE, FORWARD),
        build=build_ssmm,
    ),
    Design(
        name="ssmm-ct",
        family="ShiftSub",
        domain="residue",
        summary="shift-sub as a Montgomery ladder, all bits of every factor: as many cycles for all exponents of a length",
        params=(schedule_param("ladder", CONSTANT_TIME), SCAN, BITS_PER_CYCLE, CARRY_SAVE, FORWARD),
        build=build_ssmm,
    ),
    *designs_000(),
    Design(
        name="scaled",
        family="ScaledMont",
        domain="scaled",
        summary="two Montgomery units on a multiple of the modulus that is -1 modulo 2^w: the quotient digit is the low word",
        params=(
            schedule_param(),
            Param(
                "digit_nbits",
                lambda nbits: 16 if nbits >= 16 else 4,
                tuple(range(4, 33)),
                "w, the bits of a digit; a product takes about nbits / w cycles",
            ),
            Param(
                "state",
                "propagate",
                tuple(SCALED_STEPS),
                "the form of the running sum (rtl/units/scaled_step.py)",
            ),
            Param(
                "doublings_per_cycle", 4, Count(1), "modular doublings that are chained in a cycle, at most"
            ),
            FORWARD,
        ),
        build=build_scaled,
    ),
)

_BY_NAME = {design.name: design for design in DESIGNS}


def designs() -> list[Design]:
    """All designs, in the order of the catalogue."""
    return list(DESIGNS)


def find(name: str) -> Design:
    """The design with this name."""
    if name not in _BY_NAME:
        raise unknown("design", name, _BY_NAME)
    return _BY_NAME[name]
