"""The catalogue: the one list of designs. Tests, command line, sweeps, flow and report all iterate over it.

To add a design, append an entry to DESIGNS: a name, what it is, its parameters, and a function that builds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ..cl.mont_mul_rem import MontMulRemCL
from ..cl.mul_rem import MulRemCL
from ..cl.serial import SerialMontCL, ShiftSubCL
from ..cl.timing import MontMulRemTiming, MulRemTiming, SerialMontTiming, ShiftSubTiming
from ..fl.errors import BadInput, unknown
from ..rtl.add_red import ADD_REDS
from ..rtl.mm_mul import MMMul
from ..rtl.mm_red import MMRed
from ..rtl.mod_exp_plan import UNITS, Plan
from ..rtl.mont_mul_rem import MontMulRem
from ..rtl.mul_rem import MulRem
from ..rtl.shift_sub import ShiftSub
from ..rtl.shift_sub_carry_save import ShiftSubCarrySave
from .design import Build, Design
from .param import Count, Param

SCHEDULES = tuple(UNITS)
CONSTANT_TIME_SCHEDULES = ("ladder", "always")
BOOLS = (False, True)

PAPER_001_CYCLES = {  # the paper's own RTL, from request to response, without the processor
    "naive": {"encrypt": 1079, "decrypt": 1877},
    "montgomery": {"encrypt": 162, "decrypt": 227},
}


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor of `number` that is at most `most`."""
    return max(d for d in range(1, most + 1) if number % d == 0)


def must_divide(name: str, value: int, whole: int, what: str) -> None:
    """BadInput unless `value`, the parameter `name`, divides `whole`."""
    if whole % value:
        nearest = largest_divisor(whole, min(value, whole))
        raise BadInput(
            f"{name} = {value} does not divide {what} ({whole}); the next smaller one that does is {nearest}"
        )


# ---- multipliers

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
    return Build(plan, partial(MulRem, **unit), partial(MulRemCL, **unit), MulRemTiming(nbits, **unit))


def mont_mul_rem_params(steps: int, nstages: int, add_red: str, pipelined: bool) -> tuple[Param, ...]:
    return (
        Param(
            "steps_per_stage",
            lambda nbits: largest_divisor(nbits, max(1, min(steps, nbits // nstages))),
            Count(1),
            "AddReds between two registers; nbits / steps_per_stage is the latency of a product",
        ),
        Param(
            "nstages",
            nstages,
            Count(1),
            "pipeline stages; where nstages * steps_per_stage is less than nbits, a product goes around them again",
        ),
        Param("add_red", add_red, tuple(ADD_REDS), "the form of an AddRed (rtl/add_red.py)"),
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
    return Build(plan, partial(MontMulRem, **unit), partial(MontMulRemCL, **unit), timing)


BITS_PER_CYCLE = Param("bits_per_cycle", 1, Count(1), "bits of a factor that the unit takes in a cycle")
CARRY_SAVE = Param("carry_save", False, BOOLS, "keep sums in carry-save form: no carry runs across the word")


def build_shift_sub(nbits: int, plan: Plan, until: str, values: Mapping[str, Any]) -> Build:
    bits, carry_save = values["bits_per_cycle"], values.get("carry_save", False)
    must_divide("bits_per_cycle", bits, nbits, "the width")
    shape = {"bits_per_cycle": bits, "until": until}
    return Build(
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
    return Build(plan, partial(unit, **shape), partial(SerialMontCL, **shape), SerialMontTiming(nbits, bits))


# ---- schedules and conversions


def schedule_param(default: str, legal: tuple[str, ...] = SCHEDULES) -> Param:
    return Param(
        "schedule", default, legal, "the order of the products; right-to-left-2 and ladder have two units"
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


# ---- designs


def build_naive_001(nbits: int, values: Mapping[str, Any]) -> Build:
    return build_mul_rem(nbits, Plan(nbits, values["schedule"]), "aligned", values)


def build_naive(nbits: int, values: Mapping[str, Any]) -> Build:
    full_scan = values.get("scan") == "full"
    plan = Plan(nbits, values["schedule"], forward=values["forward"], full_scan=full_scan)
    return build_mul_rem(nbits, plan, "restoring", values)


def build_mont_001(nbits: int, values: Mapping[str, Any]) -> Build:
    return build_mont_mul_rem(nbits, Plan(nbits, values["schedule"], "given"), values)


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
        schedule="right-to-left-2",
        constant_time=False,
        summary="the paper's naive machine: two units of a combinational multiplier and an aligning divider",
        params=(schedule_param("right-to-left-2"), *MUL_REM_PARAMS[1:]),
        build=build_naive_001,
        published=PAPER_001_CYCLES["naive"],
    ),
    Design(
        name="mont-001",
        family="MontMulRem",
        paper="001",
        domain="montgomery",
        schedule="right-to-left-2",
        constant_time=False,
        summary="the paper's Montgomery machine: 4 stages x 8 AddReds, five product units, a divider for R^2 mod n",
        params=(schedule_param("right-to-left-2"), *mont_mul_rem_params(8, 4, "koc", True)),
        build=build_mont_001,
        published=PAPER_001_CYCLES["montgomery"],
    ),
    Design(
        name="naive",
        family="MulRem",
        paper="",
        domain="identity",
        schedule="right-to-left-2",
        constant_time=False,
        summary="two units of a combinational multiplier and a restoring divider; any modulus, any base",
        params=(schedule_param("right-to-left-2"), *MUL_REM_PARAMS, FORWARD),
        build=build_naive,
        published=PAPER_001_CYCLES["naive"],
    ),
    Design(
        name="naive-ct",
        family="MulRem",
        paper="",
        domain="identity",
        schedule="ladder",
        constant_time=True,
        summary="the naive machine as a Montgomery ladder: as many cycles for all exponents of a length",
        params=(schedule_param("ladder", CONSTANT_TIME_SCHEDULES), SCAN, *MUL_REM_PARAMS, FORWARD),
        build=build_naive,
        published=PAPER_001_CYCLES["naive"],
    ),
    Design(
        name="mont",
        family="MontMulRem",
        paper="",
        domain="montgomery",
        schedule="right-to-left-2",
        constant_time=False,
        summary="two Montgomery units, 8 AddReds each, and no divider: the base gets into Montgomery form by doublings",
        params=(
            schedule_param("right-to-left-2"),
            *mont_mul_rem_params(8, 1, "textbook", False),
            *CONVERSION_PARAMS,
            FORWARD,
        ),
        build=build_mont,
        published=PAPER_001_CYCLES["montgomery"],
    ),
    Design(
        name="mont-ct",
        family="MontMulRem",
        paper="",
        domain="montgomery",
        schedule="ladder",
        constant_time=True,
        summary="the Montgomery machine as a ladder, R^2 mod n by doublings and squarings: "
        "as many cycles for all exponents of a length",
        params=(
            schedule_param("ladder", CONSTANT_TIME_SCHEDULES),
            SCAN,
            *mont_mul_rem_params(8, 1, "textbook", False),
            *(
                Param(param.name, "square", param.legal, param.help) if param.name == "conversion" else param
                for param in CONVERSION_PARAMS
            ),
            FORWARD,
        ),
        build=build_mont,
        published=PAPER_001_CYCLES["montgomery"],
    ),
    Design(
        name="ssmm-004",
        family="ShiftSub",
        paper="004",
        domain="residue",
        schedule="right-to-left-2",
        constant_time=False,
        summary="the paper's Algorithm 6: two shift-sub units, which stop when no ones are left in the multiplier",
        params=(schedule_param("right-to-left-2"), BITS_PER_CYCLE),
        build=build_ssmm_004,
    ),
    Design(
        name="mmmul-004",
        family="MMMul",
        paper="004",
        domain="montgomery",
        schedule="right-to-left-2",
        constant_time=False,
        summary="the paper's Algorithm 4: two bit-serial Montgomery units, R^2 mod n by shift-sub from R - n",
        params=(schedule_param("right-to-left-2"), BITS_PER_CYCLE),
        build=partial(build_serial_mont, MMMul),
    ),
    Design(
        name="mmred-004",
        family="MMRed",
        paper="004",
        domain="montgomery",
        schedule="right-to-left-2",
        constant_time=False,
        summary="the paper's Algorithm 2: two big multipliers with bit-serial Montgomery reduction",
        params=(schedule_param("right-to-left-2"), BITS_PER_CYCLE),
        build=partial(build_serial_mont, MMRed),
    ),
    Design(
        name="ssmm",
        family="ShiftSub",
        paper="",
        domain="residue",
        schedule="right-to-left-2",
        constant_time=False,
        summary="two shift-sub units of 1, 2, 4, ... bits a cycle, which stop with the highest 1 of the multiplier",
        params=(schedule_param("right-to-left-2"), BITS_PER_CYCLE, CARRY_SAVE, FORWARD),
        build=build_ssmm,
    ),
    Design(
        name="ssmm-ct",
        family="ShiftSub",
        paper="",
        domain="residue",
        schedule="ladder",
        constant_time=True,
        summary="shift-sub as a Montgomery ladder, all bits of every factor: as many cycles for all exponents of a length",
        params=(schedule_param("ladder", CONSTANT_TIME_SCHEDULES), SCAN, BITS_PER_CYCLE, CARRY_SAVE, FORWARD),
        build=build_ssmm,
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
