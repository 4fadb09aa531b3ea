"""Programs by name, the settings of private operations, and the costs of a program."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...fl.errors import BadInput
from ...fl.program.builder import program_of
from ...fl.program.recipe import Recipe
from ..errors import NoMeasurement
from .control import BLIND, FIT, VERIFY
from .machine import Design, Machine
from .multipliers.multiplier import Values
from .promises import Promises

# settings of programs by name; `fitted` adds fit=modulus to those with CRT
WINDOWED = {"schedule": "fixed-window"}
BY_CRT = {**WINDOWED, "crt": True}
PROGRAMS: Mapping[str, Mapping[str, Any]] = {
    "always": {"schedule": "always"},
    "sliding-window": {"schedule": "sliding-window"},
    "fixed-window": WINDOWED,
    "fixed-window, check": {**WINDOWED, "verify": True},
    "fixed-window, check, blinded": {**WINDOWED, "verify": True, "blind": "both"},
    "crt": {**BY_CRT, "verify": False},
    "crt, check": {**BY_CRT, "verify": True},
    "crt, check, message blinded": {**BY_CRT, "verify": True, "blind": "message"},
    "crt, check, exponent blinded": {**BY_CRT, "verify": True, "blind": "exponent"},
    "crt, check, blinded": {**BY_CRT, "verify": True, "blind": "both"},
}


def private_settings(
    design: Design, nbits: int, settings: Values, *, crt: bool, blind: str, verify: bool
) -> dict[str, Any]:
    """The settings for a private operation: a fixed window, CRT, blinding and the check, overridden by
    `settings`. The check is part of CRT and blinding; `verify` asks for it without them.
    """
    asked = {"crt": crt, "blind": blind} | ({"verify": True} if verify else {})
    wanted = {**WINDOWED, **asked, **settings}
    return fitted(design, nbits, wanted, wanted["crt"])


class Requested(NamedTuple):
    """The protections that the options --crt, --blind and --verify request."""

    crt: bool = False
    blind: str = BLIND.default
    verify: bool = False

    @property
    def any(self) -> bool:
        return self != Requested()

    @property
    def options(self) -> list[str]:
        """The options of a command that request them."""
        blind = [] if self.blind == BLIND.default else ["--blind", self.blind]
        return [*["--crt"] * self.crt, *blind, *["--verify"] * self.verify]

    def settings(self, design: Design, nbits: int, settings: Values) -> dict[str, Any]:
        """The settings with those of the private operation; BadInput if the design has no program."""
        if not self.any:
            return dict(settings)
        self.require(design)
        return private_settings(design, nbits, settings, **self._asdict())

    def require(self, design: Design) -> None:
        """BadInput if the design has no program, which the protections need."""
        if self.any:
            design.needs_program("--crt, --blind or --verify")

    def selects(self, design: Any, nbits: int, parameters: Values) -> bool:
        """Whether a machine with these parameters has exactly the protections; without a request, any has."""
        if not self.any:
            return True
        if not isinstance(design, Design) or not design.programmed:
            return False
        chosen = self.settings(design, nbits, {})
        try:
            wanted = design.at(nbits, **chosen).parameters
        except BadInput:  # no such machine at this width
            return False
        return all(parameters.get(name) == wanted[name] for name in (*chosen, VERIFY.name))


ANY = Requested()  # with or without protections


def fitted(design: Design, nbits: int, settings: Values, wanted: bool = True) -> dict[str, Any]:
    """The settings with fit=modulus added, if wanted, not set already, and supported by the multiplier."""
    if not wanted or FIT.name in settings:
        return dict(settings)
    try:
        design.at(nbits, **settings, fit="modulus")
    except BadInput:
        return dict(settings)
    return {**settings, FIT.name: "modulus"}


# ---- the costs of a program


@dataclass(frozen=True)
class Costs:
    """The costs of an operation with a full-length exponent, half of whose bits are 1."""

    products: int
    cycles: int  # by microinstruction
    formula: int | None  # in closed form, if there is one
    loading_cycles: int  # before the request is accepted
    promises: Promises

    def as_json(self) -> dict[str, Any]:
        """The costs as JSON."""
        figures = {name: value for name, value in vars(self).items() if name != "promises"}
        return figures | self.promises.as_json()

    def sentence(self) -> str:
        """The costs as a sentence."""
        words = [
            f"a full-length exponent, half ones, takes {self.products:,} products",
            f"{self.cycles:,} cycles",
        ]
        if self.formula is not None:
            words[-1] += f" (by formula {self.formula:,})"
        if self.loading_cycles:
            words.append(f"after {self.loading_cycles} in which the request is examined")
        same = "the same for all secrets", "the same for all exponents of a length"
        return ", ".join([*words, (*same, "which depend on the exponent")[self.promises.time.exponent]])


def costs(machine: Machine) -> Costs:
    """The costs with numbers as long as those of a key. NoMeasurement if the formula differs from the counted
    cycles.
    """
    made = machine.programmed
    recipe, shape = made.recipe, made.recipe.shape
    fields, key = _numbers_like_a_key(recipe)
    trace = made.executed(fields, None)
    formula = None
    if recipe.keyed:
        formula = made.closed.keyed(*key)
    elif not shape.sliding and (shape.digit or not recipe.fits):
        formula = made.cycles(*(fields.get(name, 0) for name in made.names))
    cycles = made.timing.replayed(trace, fields["exp"])
    if formula not in (None, cycles):
        how = ", ".join(machine.changed) or "its defaults"
        raise NoMeasurement(
            f"{machine.name} of {machine.nbits} bits with {how}: "
            f"{cycles:,} cycles by microinstruction, {formula:,} by formula; report this error"
        )
    return Costs(
        products=sum(len(executed.made) for executed in trace),
        cycles=cycles,
        formula=formula,
        loading_cycles=made.timing.loading_cycles,
        promises=machine.promises,
    )


def _numbers_like_a_key(recipe: Recipe) -> tuple[dict[str, int], tuple[int, int, int, int, int]]:
    """Numbers as long as those of a key. Cycles depend on the lengths only, so no primes are needed."""
    nbits, half = recipe.nbits, recipe.half_nbits
    e = 65537 if nbits > 17 else 17
    n, p = (1 << nbits) - 1, (1 << half) - 1
    d = (1 << nbits + nbits % 2) // 3 | 1 << (
        nbits - 1
    )  # as many ones as zeros; the highest and the lowest bit are 1
    fields = {"base": 3, "exp": e if recipe.crt else d, "mod": n}
    fields |= {name: (1 << wide) - 1 for name, wide in program_of(recipe).fields}
    return fields | {"e": e, "dp": d % p, "dq": d % p, "public": 0}, (n, d, e, p, p)
