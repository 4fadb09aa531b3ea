"""Programmed: results, cycles and private requests of a machine that executes a program."""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...cl.program import ProgramTiming
from ...cl.program_formula import Formula
from ...cl.scaled_formula import ScaledFormula
from ...cl.timing import Dependence, UnitTiming, mod_exp_cycles, product_count
from ...fl.accelerator import Fields
from ...fl.errors import BadInput
from ...fl.mod_exp import operand_status
from ...fl.program.builder import program_of
from ...fl.program.interpreter import Arithmetic, Executed, Outcome, run
from ...fl.program.ir import Program
from ...fl.program.plan import Plan
from ...fl.program.recipe import Recipe
from ...fl.program.schedules import BINARY
from ...fl.rsa_keys import RSAKey
from ...fl.status import Status

Draw = Callable[[int], int]  # draw(n): a random number below n

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
    "public": "1 if the exponent is public; the numbers of a private key are 0 then",
}


@dataclass(frozen=True)
class Programmed:
    """A machine's program with its results, and its cycles by microinstruction and by formula."""

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
        recipe, forward = self.recipe, self.plan.forward
        chained = recipe.doublings_per_cycle, recipe.scaled
        return ProgramTiming(self.program, self.unit, recipe.nbits, forward, *chained)

    @property
    def closed(self) -> Formula:
        """The closed formulas for its cycles."""
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
        """The fields of a request with their values."""
        if len(operands) != len(self.names):
            raise BadInput(
                f"{len(operands)} operands for a machine that takes {', '.join(self.names)}: "
                "`operands` of its program makes them of a key"
            )
        return dict(zip(self.names, operands, strict=True))

    def inspect(self, fields: Mapping[str, int]) -> Status:
        """The error status that rejects a request before the program runs, or OK."""
        status = operand_status(
            fields["base"],
            fields["mod"],
            odd_only=self.recipe.odd_only,
            reduced_only=self.recipe.domain != "identity",
        )
        wrong = "p" in fields and not fields["p"] & fields["q"] & 1
        if fields.get("public"):
            wrong = any(fields[name] for name, _ in self.private)
        return Status.BAD_KEY if status is Status.OK and wrong else status

    def fl(self, operands: tuple[int, ...]) -> Outcome:
        """Status and result by interpreting the program."""
        fields = self.named(operands)
        return run(self.program, fields, self.arithmetic, self.inspect(fields))

    def trace(self, operands: tuple[int, ...]) -> list[Executed]:
        """The executed microinstructions."""
        fields = self.named(operands)
        return self.executed(fields, self.arithmetic, self.inspect(fields))

    def executed(
        self, fields: Mapping[str, int], arithmetic: Arithmetic | None, status: Status = Status.OK
    ) -> list[Executed]:
        """The microinstructions executed for these fields; without arithmetic, no comparison of numbers
        decides.
        """
        trace: list[Executed] = []
        run(self.program, fields, arithmetic, status, trace)
        return trace

    def cycles(self, *operands: int) -> int:
        """Cycles by a closed formula, if product cycles do not depend on the operands; else by
        microinstruction.
        """
        fields, recipe = self.named(operands), self.recipe
        status, base, exp, mod = self.inspect(fields), *operands[:3]
        if fields.get("public"):
            if status is Status.OK and self.unit.fixed is not None and not recipe.fits:
                return self.closed.public_request(self.plan, base, exp, mod)
        elif not recipe.keyed:
            if isinstance(self.closed, ScaledFormula) and not recipe.shape.sliding:
                return self.closed.plain(mod, exp, self.plan) if status is Status.OK else 1
            if recipe.schedule in BINARY and not recipe.fits:
                return mod_exp_cycles(self.plan, self.unit, base, exp, mod)
            if self.unit.product_cycles(1) is not None and recipe.shape.digit and status is Status.OK:
                return self.closed.plain(mod, exp)
        return self.timing.cycles(fields, self.arithmetic, status)

    def products(self, exp: int) -> int:
        """Number of sequential products of an operation without a key."""
        if self.recipe.schedule in BINARY:
            return product_count(self.plan, exp)
        fields = self.named((1, exp, (1 << self.recipe.nbits) - 1, *(0 for _ in self.program.fields)))
        return sum(len(word.made) for word in self.executed(fields, None))

    # ---- keys

    @property
    def private(self) -> Fields:
        """The fields for the numbers of a private key and for blinding."""
        return tuple(field for field in self.program.fields if field[0] != "public")

    def public(self, base: int, exp: int, mod: int) -> tuple[int, ...]:
        """The request for a power with a public exponent; BadInput if requests cannot mark it as public."""
        if not self.recipe.public:
            raise BadInput(
                "this machine is not told that an exponent is public; make it with --set public=true"
            )
        return (base, exp, mod, *(0 for _ in self.private), 1)

    @property
    def fields(self) -> tuple[tuple[str, int, str], ...]:
        return tuple((name, nbits, MEANINGS[name]) for name, nbits in self.program.fields)

    def operands(self, key: RSAKey, message: int, draw: Draw) -> tuple[int, ...]:
        """The request for message^d with this key; draw(n) is a random number below n."""
        if key.d is None:
            raise BadInput(f"the key with n = {key.n} is public; give a private key to decrypt")
        recipe = self.recipe
        numbers = {"e": key.e}
        if (length := key.e.bit_length()) > recipe.nbits:
            raise BadInput(
                f"e of the key has {length} bits: this machine takes {recipe.nbits}; "
                f"give --nbits {length} or more"
            )
        if recipe.crt:
            numbers |= key.crt()._asdict()
        elif recipe.blind_exponent:
            p, q, *_ = key.crt()
            numbers["phi"] = (p - 1) * (q - 1)
        values = []
        for name, nbits in self.program.fields:
            if name == "x":
                values.append(_coprime(key.n, draw, 1 << nbits))
            elif name in ("k", "kp", "kq"):
                values.append(draw(1 << nbits))
            elif name == "public":
                values.append(0)
            else:
                values.append(numbers[name])
                if (length := values[-1].bit_length()) > nbits:
                    raise BadInput(
                        f"{name} of the key has {length} bits: this machine of {recipe.nbits} bits takes "
                        f"{nbits}; give --nbits {2 * length if recipe.crt else length} or more"
                    )
        return (message, key.e if recipe.crt else key.d, key.n, *values)

    def formula(self, key: RSAKey) -> int:
        """Cycles of a private operation with this key, in closed form."""
        return self.closed.keyed(key.n, key.d or 0, key.e, key.p or 0, key.q or 0)


def _coprime(n: int, draw: Draw, above: int) -> int:
    """A random number from 2 on, below n and `above`, coprime to n."""
    while True:
        number = 2 + draw(min(n, above) - 2)
        if math.gcd(number, n) == 1:
            return number
