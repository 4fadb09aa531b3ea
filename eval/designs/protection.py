"""Machines that execute programs (fl/program/builder.py): their parameters, and the machine built from a
multiplier.

A program is a schedule and conversions, and for a private key CRT, blinding and the check of the result.
Machines with one of these three take a key beside base, exponent and modulus: `KeyNumber`s, which stand in
the request behind the modulus.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ...cl.program import ProgramExpCL, ProgramTiming
from ...cl.program_formula import Formula
from ...cl.scaled_formula import ScaledFormula
from ...cl.timing import Dependence, UnitTiming, mod_exp_cycles, product_count
from ...fl.errors import BadInput
from ...fl.mod_exp import operand_status
from ...fl.multipliers.scaled_entry import ScaledEntry
from ...fl.param import BOOLS, Param
from ...fl.program.builder import program_of
from ...fl.program.interpreter import Arithmetic, Executed, Outcome, run
from ...fl.program.ir import Program
from ...fl.program.plan import Plan
from ...fl.program.recipe import Recipe
from ...fl.program.schedules import BINARY, SCHEDULES
from ...fl.rsa_keys import RSAKey
from ...fl.status import Status
from ...rtl.machines.program_exp import ProgramExp
from .machine import Build
from .multipliers.multiplier import Unit
from .promises import Promises, timing_of

if TYPE_CHECKING:
    from .design import Design
    from .machine import Machine

MOST_WINDOW = 8  # bits; a table of 256 numbers
Values = Mapping[str, Any]
Draw = Callable[[int], int]  # a random number below another

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

# programs by their names, as settings; `crt` and what follows want products that follow the modulus, where a
# multiplier has them
WINDOWED = {"schedule": "fixed-window"}
BY_CRT = {**WINDOWED, "crt": True}
PROGRAMS: Mapping[str, Mapping[str, Any]] = {
    **{name: {"schedule": name} for name, schedule in SCHEDULES.items() if not schedule.windows},
    "sliding-window": {"schedule": "sliding-window"},
    "fixed-window": WINDOWED,
    "fixed-window, check": {**WINDOWED, "verify": True},
    "fixed-window, check, blinded": {**WINDOWED, "verify": True, "blind": "both"},
    "crt": BY_CRT,
    "crt, check": {**BY_CRT, "verify": True},
    "crt, check, message blinded": {**BY_CRT, "verify": True, "blind": "message"},
    "crt, check, exponent blinded": {**BY_CRT, "verify": True, "blind": "exponent"},
    "crt, check, blinded": {**BY_CRT, "verify": True, "blind": "both"},
}


def private_settings(
    design: Design, nbits: int, settings: Values, *, crt: bool, blind: str
) -> dict[str, Any]:
    """The settings for a private operation: a fixed window, CRT, blinding and the check, unless `settings`
    say otherwise.
    """
    wanted: dict[str, Any] = {**WINDOWED, "crt": crt, "blind": blind, "verify": True, **settings}
    return fitted(design, nbits, wanted, wanted["crt"])


def fitted(design: Design, nbits: int, settings: Values, wanted: bool = True) -> dict[str, Any]:
    """With products that follow the modulus, if they are wanted and the multiplier has them."""
    if not wanted or FIT.name in settings:
        return dict(settings)
    try:
        design.at(nbits, **settings, fit="modulus")
    except BadInput:
        return dict(settings)
    return {**settings, FIT.name: "modulus"}


MEANINGS = {
    "p": "a prime factor of the modulus",
    "q": "the other prime factor",
    "dp": "d mod p - 1",
    "dq": "d mod q - 1",
    "qinv": "q^-1 mod p",
    "e": "the public exponent",
    "phi": "a multiple of the orders of all residues, such as (p - 1)(q - 1)",
    "x": "a random number that has no factor in common with the modulus",
    "k": "a random factor",
    "kp": "a random factor",
    "kq": "a random factor, another",
}


def recipe_of(
    nbits: int, domain: str, plan: Plan, timing: UnitTiming, values: Values, scaled: ScaledEntry | None = None
) -> Recipe:
    """Return the recipe of these settings."""
    fits = values.get(FIT.name) == "modulus"
    blind = values[BLIND.name]
    if values[WINDOW.name] and not SCHEDULES[plan.schedule].windows:
        raise BadInput(
            f"window = {values[WINDOW.name]} with schedule = {plan.schedule}, which has none; "
            "give schedule=fixed-window, or leave the window out"
        )
    return plan.recipe(
        domain,
        window=values[WINDOW.name],
        block_nbits=timing.block_nbits if fits else 0,
        fits=fits,
        crt=values[CRT.name],
        blind_message=blind in ("message", "both"),
        blind_exponent=blind in ("exponent", "both"),
        verify=values[VERIFY.name],
        scaled=scaled,
    )


@dataclass(frozen=True)
class Programmed:
    """Answers of a machine's program to an operation, and its cycles by microinstructions and by formula."""

    recipe: Recipe
    plan: Plan
    unit: UnitTiming

    @functools.cached_property
    def program(self) -> Program:
        return program_of(self.recipe)

    @property
    def arithmetic(self) -> Arithmetic:
        recipe = self.recipe
        return Arithmetic(recipe.domain, recipe.nbits, recipe.block_nbits, recipe.fits, recipe.scaled)

    @property
    def timing(self) -> ProgramTiming:
        recipe = self.recipe
        return ProgramTiming(
            self.program,
            self.unit,
            recipe.nunits,
            recipe.nbits,
            self.plan.forward,
            recipe.doublings_per_cycle,
            recipe.scaled,
        )

    @property
    def closed(self) -> Formula:
        """The closed formulas of its cycles."""
        kind = Formula if self.recipe.scaled is None else ScaledFormula
        return kind(self.recipe, self.unit, self.plan.forward)

    @property
    def scanned(self) -> dict[str, Dependence]:
        """How the scan depends on the exponent, where a key or skipped digits overrule the plan."""
        recipe = self.recipe
        if recipe.keyed and not recipe.shape.right:
            return {"exponent": Dependence.NONE}
        return {"exponent": Dependence.LENGTH} if recipe.skips else {}

    @property
    def names(self) -> tuple[str, ...]:
        """The fields of the request."""
        return ("base", "exp", "mod", *(name for name, _ in self.program.fields))

    def named(self, operands: tuple[int, ...]) -> dict[str, int]:
        """The fields with their values."""
        if len(operands) != len(self.names):
            raise BadInput(
                f"{len(operands)} operands for a machine that takes {', '.join(self.names)}: "
                "`operands` of its program makes them of a key"
            )
        return dict(zip(self.names, operands, strict=True))

    def inspect(self, fields: Mapping[str, int]) -> Status:
        """The status with which a request is refused."""
        status = operand_status(
            fields["base"],
            fields["mod"],
            odd_only=self.recipe.odd_only,
            reduced_only=self.recipe.domain != "identity",
        )
        even = "p" in fields and not fields["p"] & fields["q"] & 1
        return Status.BAD_KEY if status is Status.OK and even else status

    def fl(self, operands: tuple[int, ...]) -> Outcome:
        """Status and result, by the program."""
        fields = self.named(operands)
        return run(self.program, fields, self.arithmetic, self.inspect(fields))

    def trace(self, operands: tuple[int, ...]) -> list[Executed]:
        """The words that are executed."""
        fields = self.named(operands)
        return self.executed(fields, self.arithmetic, self.inspect(fields))

    def executed(
        self, fields: Mapping[str, int], arithmetic: Arithmetic | None, status: Status = Status.OK
    ) -> list[Executed]:
        """The words that are executed for these fields; without arithmetic, none of the numbers decides."""
        trace: list[Executed] = []
        run(self.program, fields, arithmetic, status, trace)
        return trace

    def cycles(self, *operands: int) -> int:
        """By a closed formula, if the multiplier's cycles are the same for all operands; else word by
        word.
        """
        fields = self.named(operands)
        recipe, status = self.recipe, self.inspect(fields)
        by_formula = self.unit.product_cycles(1) is not None
        if isinstance(self.closed, ScaledFormula) and not recipe.keyed and not recipe.shape.sliding:
            return self.closed.plain(fields["mod"], fields["exp"], self.plan) if status is Status.OK else 1
        if recipe.schedule in BINARY and not recipe.keyed and not recipe.fits:
            return mod_exp_cycles(self.plan, self.unit, fields["base"], fields["exp"], fields["mod"])
        if by_formula and not recipe.keyed and recipe.shape.digit and status is Status.OK:
            return self.closed.plain(fields["mod"], fields["exp"])
        return self.timing.cycles(fields, self.arithmetic, status)

    def products(self, exp: int) -> int:
        """Products that follow one another, of an operation without a key."""
        if self.recipe.schedule in BINARY:
            return product_count(self.plan, exp)
        fields = {"base": 1, "exp": exp, "mod": (1 << self.recipe.nbits) - 1}
        return sum(len(word.made) for word in self.executed(fields, None))

    # ---- keys

    @property
    def fields(self) -> tuple[tuple[str, int, str], ...]:
        return tuple((name, nbits, MEANINGS[name]) for name, nbits in self.program.fields)

    @property
    def e_nbits(self) -> int:
        """Bits that a key's public exponent may have."""
        return self.recipe.half_nbits if self.recipe.joins else self.recipe.nbits

    def operands(self, key: RSAKey, message: int, draw: Draw) -> tuple[int, ...]:
        """The request for message^d with this key; draw(n) is a random number below n."""
        if key.d is None:
            raise BadInput(f"the key with n = {key.n} is public; give a private key to decrypt")
        recipe, most = self.recipe, self.e_nbits
        numbers: dict[str, int] = {"e": key.e}
        if key.e.bit_length() > most:
            least = key.e.bit_length() * (2 if recipe.joins else 1)
            raise BadInput(
                f"e of the key has {key.e.bit_length()} bits: this machine takes {most}; give --nbits "
                f"{least} or more"
            )
        if recipe.crt:
            numbers |= key.crt()._asdict()
        if recipe.blind_exponent and not recipe.crt:
            p, q, *_ = key.crt()
            numbers["phi"] = (p - 1) * (q - 1)
        values = []
        for name, nbits in self.program.fields:
            if name == "x":
                values.append(_coprime(key.n, draw, 1 << nbits))
            elif name in ("k", "kp", "kq"):
                values.append(draw(1 << nbits))
            else:
                value = numbers[name]
                if value.bit_length() > nbits:
                    raise BadInput(
                        f"{name} of the key has {value.bit_length()} bits: this machine of {recipe.nbits} "
                        f"bits takes {nbits}; "
                        f"give --nbits {2 * value.bit_length() if recipe.crt else value.bit_length()} or more"
                    )
                values.append(value)
        return (message, key.e if recipe.crt else key.d, key.n, *values)

    def formula(self, key: RSAKey) -> int:
        """The cycles of a private operation with this key, in closed form."""
        assert key.d is not None
        return self.closed.keyed(key.n, key.d, key.e, key.p or 0, key.q or 0)


def _coprime(n: int, draw: Draw, above: int) -> int:
    """A random number from 2 on, below n and the other, without a common factor with n."""
    while True:
        number = 2 + draw(min(n, above) - 2)
        if math.gcd(number, n) == 1:
            return number


def program_exp(
    nbits: int,
    domain: str,
    plan: Plan,
    unit: Unit,
    values: Values,
    scaled: ScaledEntry | None = None,
    **more: Any,
) -> Build:
    """A ProgramExp; `more` of what a machine is built of."""
    recipe = recipe_of(nbits, domain, plan, unit.timing, values, scaled)
    made = Programmed(recipe, plan, unit.timing)
    program = made.program
    return Build(
        plan,
        unit,
        partial(
            ProgramExp,
            nbits,
            program,
            unit.rtl,
            recipe.nunits,
            plan.forward,
            plan.odd_only,
            plan.reduced_only,
            recipe.block_nbits,
            plan.doublings_per_cycle,
            **({} if scaled is None else {"form": scaled}),
        ),
        lambda: ProgramExpCL(made.timing, made.arithmetic, made.inspect),
        made.cycles,
        time=timing_of(plan, unit.timing, **made.scanned),
        products=made.products,
        programmed=made,
        **more,
    )


# ---- what a program costs


@dataclass(frozen=True)
class Costs:
    """A private operation with an exponent of full length, half of whose bits are ones."""

    products: int
    cycles: int  # word by word
    formula: int | None  # in closed form, where there is one
    loading_cycles: int  # for which the request waits before it is taken
    promises: Promises

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        figures = {name: value for name, value in vars(self).items() if name != "promises"}
        return figures | self.promises.as_json()

    def sentence(self) -> str:
        """Describe it in words."""
        formula = "" if self.formula is None else f" (by formula {self.formula:,})"
        loading = (
            f", behind {self.loading_cycles} in which the request is looked at" if self.loading_cycles else ""
        )
        time = (
            "the same for all secrets",
            "the same for all exponents of a length",
            "which depend on the exponent",
        )
        counts = f"{self.products:,} products, {self.cycles:,} cycles{formula}{loading}"
        return f"{counts}, {time[self.promises.time.exponent]}"


def costs(machine: Machine) -> Costs:
    """By a key of the machine's width; where a multiplier asks for numbers that belong together, by a real
    one.
    """
    made = machine.programmed
    recipe = made.recipe
    counted = made.unit.product_cycles(1) is not None
    if counted:
        fields, key = _numbers_like_a_key(recipe)
    else:
        real = machine.key
        assert real.d is not None
        key = (real.n, real.d, real.e, real.p or 0, real.q or 0)
        operands = made.operands(real, 3, random.Random(1).randrange) if recipe.keyed else (3, real.d, real.n)
        fields = made.named(operands)
    trace = made.executed(fields, None if counted else made.arithmetic)
    formula = None
    if counted and recipe.keyed:
        formula = made.closed.keyed(*key)
    elif counted and not recipe.shape.sliding and not (recipe.fits and not recipe.shape.digit):
        formula = made.cycles(fields["base"], fields["exp"], fields["mod"])
    return Costs(
        products=sum(len(executed.made) for executed in trace),
        cycles=made.timing.replayed(trace, fields["exp"]),
        formula=formula,
        loading_cycles=made.timing.loading_cycles,
        promises=machine.promises,
    )


def _numbers_like_a_key(recipe: Recipe) -> tuple[dict[str, int], tuple[int, int, int, int, int]]:
    """Return numbers as long as those of a key: cycles depend on nothing else, so no primes are searched."""
    nbits, half = recipe.nbits, recipe.half_nbits
    e = 65537 if nbits > 17 and not (recipe.joins and half < 17) else 17
    # as many ones as zeros, the highest and the lowest bit among them
    d = sum(1 << at for at in range(0, nbits - 1, 2)) | 1 << (nbits - 1)
    n, p = (1 << nbits) - 1, (1 << half) - 1
    fields = {"base": 3, "exp": e if recipe.crt else d, "mod": n}
    fields |= {name: (1 << wide) - 1 for name, wide in program_of(recipe).fields}
    fields |= {"e": e, "dp": d % p, "dq": d % p}
    return fields, (n, d, e, p, p)
