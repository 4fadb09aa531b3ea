"""Promises: the guarantees that a machine gives.

They follow from its multiplier's timing, its schedule, its scan and its conversions. `machine.promises` is
computed once and is the only source for Verilog, registers, data sheet, report, spaces, proofs and the
command line. tests/designs/test_promises.py compares it with formula, model and hardware.
"""

from dataclasses import dataclass
from typing import Any

from ...cl.timing import Dependence, UnitTiming
from ...fl.program.plan import Plan
from ...fl.program.schedules import SCHEDULES

NONE, LENGTH, VALUE = Dependence.NONE, Dependence.LENGTH, Dependence.VALUE
WORDS = ("yes", "of a length", "no")  # by the exponent's Dependence
CONVERSIONS = {"shift-sub": VALUE, "scaled": LENGTH}  # how their cycles depend on the modulus
UNDER = (
    "for any base and modulus",
    "for any base and all moduli of the same length",
    "for any base, as long as the modulus is the same",
)


@dataclass(frozen=True)
class Timing:
    """How the cycles of an accepted operation depend on its operands.

    With a private key, `exponent` is the private exponent; `modulus` includes its primes.
    """

    exponent: Dependence
    base: Dependence = NONE
    modulus: Dependence = NONE


NO_PROMISE = Timing(VALUE, VALUE, VALUE)


def timing_of(
    plan: Plan,
    unit: UnitTiming,
    *,
    exponent: Dependence | None = None,
    conversion: Dependence = NONE,
) -> Timing:
    """The timing of a plan on a multiplier; `exponent` and `conversion` overrule the plan."""
    if unit.depends is VALUE:
        return NO_PROMISE
    schedule = SCHEDULES[plan.schedule]
    if exponent is None:
        steady = NONE if plan.full_scan or schedule.loop.digit else LENGTH
        exponent = steady if schedule.steady else VALUE
    entry = CONVERSIONS.get(plan.conversion, NONE)
    return Timing(exponent, modulus=max(unit.depends, entry, conversion))


@dataclass(frozen=True)
class Promises:
    """The guarantees of one machine."""

    time: Timing
    regular: bool  # a 0 bit of the exponent takes the same products as a 1
    odd_only: bool  # even moduli are rejected
    reduced_only: bool  # bases at or above the modulus are rejected
    modulus: int = 0  # the only one that is accepted; 0: any
    key: str = ""  # the private key that a request has: "", "d" or "crt"
    message_blinded: bool = False
    exponent_blinded: bool = False
    checked: bool = False  # a result is released only if the public exponent turns it back into the base
    public: bool = False  # requests can mark their exponent as public; cycles reveal such an exponent

    @property
    def constant_time(self) -> bool:
        """Cycles reveal at most the length of the exponent, and nothing about the base."""
        return self.time.exponent <= LENGTH and self.time.base is NONE

    @property
    def protections(self) -> list[str]:
        """The protections of the private operation in words."""
        hidden = [name for name in ("message", "exponent") if getattr(self, f"{name}_blinded")]
        words = ["CRT"] * (self.key == "crt") + [f"{' and '.join(hidden)} blinded"] * bool(hidden)
        return [*words, *["result checked"] * self.checked]

    @property
    def caveat(self) -> str:
        """The risk of CRT or blinding without the result check, in a sentence."""
        if not self.key or self.checked:
            return ""
        risk = "one fault, or one wrong number of the key, can release a wrong result"
        factor = ", which gives a factor of the modulus" if self.key == "crt" else ""
        return f"no result check ({', '.join(self.protections)}; verify=false): {risk}{factor}"

    @property
    def every_exponent(self) -> bool:
        """Cycles do not even reveal the length of the exponent."""
        return self.constant_time and self.time.exponent is NONE

    @property
    def word(self) -> str:
        """Constant time as a word for tables."""
        return WORDS[self.time.exponent]

    @property
    def sentence(self) -> str:
        """Constant time as a sentence."""
        if not self.constant_time:
            on = "the operands" if self.time.base else "the bits of the exponent"
            return f"no: the number of cycles depends on {on}"
        every = self.every_exponent
        if self.key:
            keys = f"private {'keys' if every else 'exponents'} of the same length"
            public = " and public exponent" if self.checked or self.message_blinded else ""
            which = f"messages and all {keys}{public}"
        else:
            under = "for any base" if self.modulus else UNDER[self.time.modulus]
            same = "; a public operation takes as long as a private one" if every and not self.public else ""
            which = f"exponents{'' if every else ' of the same length'}, {under}{same}"
        power = "" if self.regular else "; a 0 bit takes fewer products than a 1, which power reveals"
        public = "; for an exponent that a request calls public, cycles depend on it" if self.public else ""
        return f"{self.word}: the same number of cycles for all {which}{public}{power}"

    def as_json(self) -> dict[str, Any]:
        """The promises as JSON."""
        blinded = {"message": self.message_blinded, "exponent": self.exponent_blinded}
        return {
            "constant_time": self.constant_time,
            "constant": self.word,
            "cycles_depend_on": {name: word.name.lower() for name, word in vars(self.time).items()},
            "same_products": self.regular,
            "odd_modulus_only": self.odd_only,
            "base_below_modulus": self.reduced_only,
            "private_key": self.key,
            "blinded": [name for name, done in blinded.items() if done],
            "checked": self.checked,
            "public_requests": self.public,
        }
