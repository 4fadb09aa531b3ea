"""Design: an entry of the catalogue, and everything that can be made of it.

A design is a multiplier, a domain, a schedule and the parameters that it leaves open. `build` turns a width and settings into a
`Build`: one machine, with its units, at each level. Everything else follows from that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...cl.timing import UnitTiming
from ...fl.domains import DOMAINS, Domain, make_domain
from ...fl.errors import BadInput, shown, unknown
from ...fl.mod_exp import mod_exp, operand_status
from ...fl.status import Status
from ...rtl.machines.mod_exp_plan import Plan
from .interfaces import Interface
from .param import Param

if TYPE_CHECKING:
    from pymtl3 import Component

MIN_NBITS, MAX_NBITS = 8, 4096


@dataclass(frozen=True)
class Build:
    """One machine of a design: its product unit, how that is driven, and what is around it."""

    plan: Plan
    mk_unit: Callable[[int], Component]  # a product unit in RTL, of plan.nbits bits
    mk_unit_cl: Callable[[int], Component]  # and its cycle-level twin
    timing: UnitTiming
    rtl: Callable[[], Component]  # the machine
    cl: Callable[[], Component]
    cycles: Callable[[int, int, int], int]  # of base, exp, mod
    modulus: int = 0  # the only one that the machine takes; 0: any
    domain_options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Design:
    """An accelerator: multiplier x domain x schedule, with its parameters."""

    name: str
    family: str  # the multiplier
    paper: str  # the published work whose machine it is, or ""
    domain: str
    schedule: str
    constant_time: bool
    summary: str
    params: tuple[Param, ...]
    build: Callable[[int, Mapping[str, Any]], Build]
    published: Mapping[str, int] = field(default_factory=dict)  # cycles by workload

    # ---- parameters and preconditions

    def resolve(self, nbits: int, settings: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters at this width; BadInput if one is unknown, out of range, or they make no machine."""
        return self._resolved(nbits, settings)[0]

    def _resolved(self, nbits: int, settings: Mapping[str, Any]) -> tuple[dict[str, Any], Build]:
        if not MIN_NBITS <= nbits <= MAX_NBITS:
            raise BadInput(f"a width of {shown(nbits)} bits is out of range; give {MIN_NBITS} to {MAX_NBITS}")
        names = [param.name for param in self.params]
        for name in settings:
            if name not in names:
                raise unknown(f"parameter of {self.name}", name, names)
        values = {
            param.name: param.checked(settings[param.name])
            if param.name in settings
            else param.default_at(nbits)
            for param in self.params
        }
        build = self.build(nbits, values)
        plan = build.plan
        if not plan.screened and (plan.odd_only, plan.reduced_only) != (self.odd_only, self.reduced_only):
            raise ValueError(
                f"{self.name}: domain {self.domain} has odd_only, reduced_only = {self.odd_only}, {self.reduced_only}, "
                f"but the hardware checks {plan.odd_only}, {plan.reduced_only}: see Plan.reduced_only"
            )
        return values, build

    def made(self, nbits: int, **settings: Any) -> Build:
        """The machine at this width, not yet elaborated."""
        return self._resolved(nbits, settings)[1]

    @property
    def odd_only(self) -> bool:
        """Even moduli are refused."""
        return DOMAINS[self.domain].odd_only

    @property
    def reduced_only(self) -> bool:
        """Bases at or above the modulus are refused."""
        return DOMAINS[self.domain].reduced_only

    @property
    def plain_unit(self) -> bool:
        """The multiplier alone takes any modulus on its port, and factors and products of the machine's width."""
        return DOMAINS[self.domain].plain_unit

    def modulus(self, nbits: int, **settings: Any) -> int:
        """The only modulus that the machine takes, or 0 if it takes any."""
        return self.made(nbits, **settings).modulus

    def check(self, nbits: int, base: int, exp: int, mod: int, **settings: Any) -> Status:
        """What the machine answers to these operands."""
        if max(base, exp, mod).bit_length() > nbits:
            return Status.TOO_WIDE
        return self._inspect(self.modulus(nbits, **settings), base, mod)

    def _inspect(self, modulus: int, base: int, mod: int) -> Status:
        if modulus and mod != modulus:
            return Status.WRONG_MODULUS
        return operand_status(base, mod, odd_only=self.odd_only, reduced_only=self.reduced_only)

    def require(self, nbits: int, base: int, exp: int, mod: int, **settings: Any) -> None:
        """BadInput, with the remedy, for operands that the machine answers with a status other than 0."""
        for name, value in (("base", base), ("exponent", exp), ("modulus", mod)):
            if value < 0:
                raise BadInput(f"{name} {shown(value)} is negative; give 0 or more")
            if value.bit_length() > nbits:
                raise BadInput(
                    f"{name} {shown(value)} does not fit in {nbits} bits; give --nbits {value.bit_length()} or more"
                )
        status = self.check(nbits, base, exp, mod, **settings)
        if status == Status.ZERO_MODULUS:
            raise BadInput("modulus 0: there are no numbers below it; give a modulus of 1 or more")
        if status == Status.WRONG_MODULUS:
            raise BadInput(
                f"modulus {shown(mod)}: this {self.name} of {nbits} bits is made for the modulus "
                f"{self.modulus(nbits, **settings)} alone; give that one, or make another with --set modulus=..."
            )
        if status == Status.EVEN_MODULUS:
            raise BadInput(
                f"modulus {shown(mod)} is even, and {self.name} computes in Montgomery form, which needs an odd one; "
                "take a design of the identity domain, such as naive"
            )
        if status == Status.BASE_TOO_LARGE:
            raise BadInput(
                f"base {shown(base)} is not below the modulus {shown(mod)}; "
                f"reduce it first ({shown(base % mod)}), or take a design of the identity domain, such as naive"
            )

    # ---- the three levels

    def space(self, nbits: int, mod: int, **settings: Any) -> Domain:
        """The domain in which the machine computes modulo `mod`."""
        return make_domain(self.domain, mod, nbits, **self.made(nbits, **settings).domain_options)

    def fl(self, nbits: int, base: int, exp: int, mod: int, **settings: Any) -> tuple[Status, int]:
        """What: status and result, by the products of the design's own domain and schedule."""
        build = self.made(nbits, **settings)
        status = self.check(nbits, base, exp, mod, **settings)
        if status != Status.OK:
            return status, 0
        space = make_domain(self.domain, mod, nbits, **build.domain_options)
        scan = nbits if build.plan.full_scan else None
        result = mod_exp(base, exp, mod, domain=space, schedule=build.plan.schedule, exp_nbits=scan)
        return status, result

    def cl(self, nbits: int, **settings: Any) -> Component:
        """When: the cycle-level twin of `rtl`."""
        return self.made(nbits, **settings).cl()

    def rtl(self, nbits: int, **settings: Any) -> Component:
        """How: the machine, istream {base, exp, mod} -> ostream {status, result}."""
        return self.made(nbits, **settings).rtl()

    def wrapped(self, interface: Interface, nbits: int, **settings: Any) -> Component:
        """The machine behind an interface."""
        return interface.wrap(nbits, self.made(nbits, **settings).rtl)

    def top(self, interface: Interface, nbits: int) -> str:
        """The name of the top module of that."""
        return re.sub(r"\W", "_", f"{self.name}_{nbits}{interface.suffix}")

    def cycles(self, nbits: int, base: int, exp: int, mod: int, **settings: Any) -> int:
        """Cycles from request to answer, by the closed formula."""
        return self.made(nbits, **settings).cycles(base, exp, mod)

    # ---- the multiplier alone

    def multiplier(self, nbits: int, **settings: Any) -> Component:
        """One product unit in RTL: istream {a, b} -> ostream, static port `modulus`."""
        build = self.made(nbits, **settings)
        return build.mk_unit(build.plan.nbits)

    def multiplier_cl(self, nbits: int, **settings: Any) -> Component:
        """The cycle-level twin of `multiplier`."""
        build = self.made(nbits, **settings)
        return build.mk_unit_cl(build.plan.nbits)

    def timing(self, nbits: int, **settings: Any) -> UnitTiming:
        """The formula for the cycles of `multiplier`."""
        return self.made(nbits, **settings).timing

    def product(
        self,
        nbits: int,
        a: int,
        b: int,
        mod: int,
        run: Callable[[Sequence[tuple[int, int]]], Sequence[int]],
    ) -> int:
        """a * b mod `mod` on a plain unit: `run` has it make products. Montgomery: (a * R^2 / R) * b / R."""
        domain = make_domain(self.domain, mod, nbits)
        if domain.enter_by is not None:
            (a,) = run([(a, domain.enter_by)])
        (result,) = run([(a, b)])
        return result
