"""Third-party RSA machines: a Design made from a manifest, and its machine at a width.

The functional level is Python's `pow` within the limits of the manifest; cycles are measured by simulation.
"""

import functools
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, NoReturn, cast

from ....fl.accelerator import Message
from ....fl.errors import BadInput, shown
from ....fl.param import Param
from ....fl.status import MEANING, Status
from ....rtl.sim import cache
from ..build import Build
from ..control import Control
from ..machine import Design, Machine, require_positive
from ..multipliers.multiplier import Multiplier
from ..promises import NO_PROMISE, Promises
from ..widths import width_for
from .core import Core, Unanswered
from .manifest import Manifest

FOREIGN = "foreign"  # family and domain of third-party designs


class _Absent:
    """Placeholder for a part that only built-in designs have; its use raises BadInput."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise BadInput(
            f"{self._what} is described by a manifest, and only its Verilog is known; take a design of "
            "the catalogue"
        )

    def __call__(self, *_: object) -> NoReturn:
        raise BadInput(
            f"{self._what} is described by a manifest, and has only RTL; give --level rtl, and no "
            "backend but native"
        )


@dataclass(frozen=True, eq=False)
class ForeignDesign(Design):
    """A design described by a manifest."""

    manifest: Manifest = dataclass_field(kw_only=True)

    @classmethod
    def of(cls, manifest: Manifest) -> "ForeignDesign":
        """The design of a manifest."""
        name, absent = manifest.of.name, cast(Any, _Absent(manifest.of.name))
        own = Param("schedule", "its own", ("its own",), "the order of the products is the core's")
        parts = Multiplier(FOREIGN, (), absent), FOREIGN, Control(own, absent)
        return cls(name, *parts, manifest.summary, manifest=manifest)

    @property
    def params(self):
        """The parameters of the module that the manifest leaves open."""
        return self.manifest.params

    @property
    def reference(self):
        return f"{self.name}@{self.manifest.path}"

    @functools.cached_property
    def identity(self):
        return cache.key(self.manifest.text, self.manifest.verilog)

    @property
    def odd_only(self):
        return self.manifest.of.limits.odd_modulus

    @property
    def reduced_only(self):
        return self.manifest.of.limits.reduced_base

    plain_unit = False

    @property
    def usual_nbits(self):
        """The width of the papers' machines, or the nearest available one."""
        return self.manifest.usual_nbits

    def width_for(self, *numbers):
        """The narrowest available width for these numbers."""
        widest = max(number.bit_length() for number in numbers)
        fitting = (nbits for nbits in self.manifest.of.nbits if nbits >= widest)
        return min(fitting, default=width_for(*numbers))

    def planned(self, nbits, values):
        self.manifest.check_width(nbits)
        absent, unknown = cast(Any, _Absent(self.name)), cast(Any, lambda *_: None)
        build = Build(absent, absent, absent, absent, cycles=unknown, products=unknown)
        return ForeignMachine(self, nbits, values, build)


@dataclass(frozen=True, eq=False)
class ForeignMachine(Core, Machine):
    """A core at one width."""

    @property
    def manifest(self):
        return cast(ForeignDesign, self.design).manifest

    @functools.cached_property
    def promises(self):
        """The limits of its manifest; its time is not known."""
        return Promises(NO_PROMISE, False, self.design.odd_only, self.design.reduced_only)

    # ---- preconditions

    @property
    def modulus_nbits(self):
        given = self.manifest.of.limits.modulus_nbits
        return min(self.nbits, self._number("limits", "modulus_nbits", given=given))

    def _refused(self, base: int, exp: int, mod: int) -> tuple[Status, str]:
        """The first limit of the manifest that these operands break, and the closest status."""
        of, modulus_nbits = self.manifest.of.limits, self.modulus_nbits
        longest = self._number("limits", "exponent_nbits", given=of.exponent_nbits)
        if max(base, exp, mod).bit_length() > self.nbits:
            return Status.TOO_WIDE, f"an operand is wider than {self.nbits} bits"
        if mod == 0:
            return Status.ZERO_MODULUS, MEANING[Status.ZERO_MODULUS]
        length = mod.bit_length()
        for broken, status, reason in (
            (length > modulus_nbits, Status.TOO_WIDE, f"the modulus is longer than {modulus_nbits} bits"),
            (of.odd_modulus and mod % 2 == 0, Status.EVEN_MODULUS, "the modulus is even"),
            (of.reduced_base and base >= mod, Status.BASE_TOO_LARGE, "the base is not below the modulus"),
            (
                of.full_modulus and length < modulus_nbits,
                Status.NO_RESULT,
                f"the modulus is shorter than {modulus_nbits} bits",
            ),
            (exp < of.least_exponent, Status.NO_RESULT, f"the exponent is below {of.least_exponent}"),
            (mod < of.least_modulus, Status.NO_RESULT, f"the modulus is below {of.least_modulus}"),
            (exp.bit_length() > longest, Status.TOO_WIDE, f"the exponent is longer than {longest} bits"),
        ):
            if broken:
                return status, f"{reason}, which the limits of {self.design.name} exclude"
        unmet = self.unmet(base, exp, mod)
        return Status.NO_RESULT if unmet else Status.OK, unmet

    def refusal(self, base, exp, mod):
        """The limit of the manifest that excludes these operands; empty if none does."""
        return self._refused(base, exp, mod)[1]

    def check(self, base, exp, mod):
        return self._refused(base, exp, mod)[0]

    def require(self, base, exp, mod):
        require_positive(base, exp, mod)
        if reason := self.refusal(base, exp, mod):
            raise BadInput(f"{shown(base)} ^ {shown(exp)} mod {shown(mod)}: {reason}; give other operands")

    # ---- requests and answers

    @property
    def given_fields(self):
        return self.prepared_fields

    def expected(self, base: int, exp: int, mod: int) -> int:
        """The answer that the core should give."""
        stated = self.manifest.of.answer
        request = (base, exp, mod)
        return pow(*request) if stated is None else self._by(stated.expected, "expected", request)

    def answered(self, request, response):
        """The status, and the power that the core's answer represents."""
        stated, (status, answer) = self.manifest.of.answer, response
        if status:
            asked = ", ".join(map(shown, request[:3]))
            raise self.manifest.error(
                ("top",),
                f"{self.manifest.of.top} answers status {status} to {asked}, and the limits allow them; "
                "answer status 0, or correct the limits",
                Unanswered,
            )
        return status, answer if stated is None else self._by(stated.result, "result", request, answer=answer)

    def _by(self, text: str, key: str, request: Message, **more: int) -> int:
        return self.manifest.number(("answer", key), text, {**self.values_of(request), **more}, self.nbits)

    # ---- levels

    def exported(self, interface):
        raise BadInput(
            f"{self.name} is described by a manifest, whose files are its Verilog; "
            "give a design of the catalogue"
        )

    def fl(self, base, exp, mod, *_):
        """Python's `pow`, within the limits."""
        status = self.check(base, exp, mod)
        return status, 0 if status else pow(base, exp, mod)

    @functools.cached_property
    def product_cycles(self):
        """Half the cycles of an exponent bit, by simulation, which sets the length of exponents in rows; None
        if the limits exclude the samples.
        """
        requests = [[(2, exp, (1 << self.modulus_nbits) - 1)] for exp in (0b1111, 0b1111_1111)]
        if any(self.refusal(*request) for (request,) in requests):
            return None
        with self.session() as session:
            short, long = (operated.cycles or 0 for operated in session.operate(requests))
        return max(1, (long - short) // 8)
