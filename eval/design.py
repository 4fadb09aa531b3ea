"""Design: an entry of the catalogue, and everything that can be made of it.

A design is a multiplier, a domain, a schedule and the parameters that it leaves open. `build` turns a width and settings into a
`Build`: the plan of the machine and how to make its units at each level. Everything else follows from that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..cl.timing import UnitTiming, mod_exp_cycles, mont_mod_exp_cycles
from ..fl.domains import DOMAINS, make_domain
from ..fl.errors import BadInput, shown, unknown
from ..fl.mod_exp import mod_exp, operand_status
from ..fl.status import Status
from ..rtl.mod_exp_plan import Plan
from .param import Param

if TYPE_CHECKING:
    from pymtl3 import Component

MIN_NBITS, MAX_NBITS = 8, 4096


@dataclass(frozen=True)
class Build:
    """One machine of a design: what its units are, and how they are driven."""

    plan: Plan
    mk_unit: Callable[[int], Component]  # a product unit in RTL
    mk_unit_cl: Callable[[int], Component]  # and its cycle-level twin
    timing: UnitTiming


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
        return values, self.build(nbits, values)

    def _build(self, nbits: int, settings: Mapping[str, Any]) -> Build:
        return self._resolved(nbits, settings)[1]

    @property
    def odd_only(self) -> bool:
        """Even moduli are refused."""
        return DOMAINS[self.domain].odd_only

    @property
    def reduced_only(self) -> bool:
        """Bases at or above the modulus are refused."""
        return DOMAINS[self.domain].reduced_only

    def check(self, nbits: int, base: int, exp: int, mod: int) -> Status:
        """What the machine answers to these operands."""
        if max(base, exp, mod).bit_length() > nbits:
            return Status.TOO_WIDE
        return operand_status(base, mod, odd_only=self.odd_only, reduced_only=self.reduced_only)

    def require(self, nbits: int, base: int, exp: int, mod: int) -> None:
        """BadInput, with the remedy, for operands that the machine answers with a status other than 0."""
        for name, value in (("base", base), ("exponent", exp), ("modulus", mod)):
            if value < 0:
                raise BadInput(f"{name} {shown(value)} is negative; give 0 or more")
            if value.bit_length() > nbits:
                raise BadInput(
                    f"{name} {shown(value)} does not fit in {nbits} bits; give --nbits {value.bit_length()} or more"
                )
        status = self.check(nbits, base, exp, mod)
        if status == Status.ZERO_MODULUS:
            raise BadInput("modulus 0: there are no numbers below it; give a modulus of 1 or more")
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

    def fl(self, nbits: int, base: int, exp: int, mod: int, **settings: Any) -> tuple[Status, int]:
        """What: status and result, by the products of the design's own domain and schedule."""
        plan = self._build(nbits, settings).plan
        status = self.check(nbits, base, exp, mod)
        if status != Status.OK:
            return status, 0
        scan = nbits if plan.full_scan else None
        result = mod_exp(
            base, exp, mod, domain=self.domain, schedule=plan.schedule, nbits=nbits, exp_nbits=scan
        )
        return status, result

    def cl(self, nbits: int, **settings: Any) -> Component:
        """When: the cycle-level twin of `rtl`."""
        from ..cl.mod_exp import ModExpCL, MontModExpCL

        build = self._build(nbits, settings)
        machine = MontModExpCL if build.plan.conversion == "given" else ModExpCL
        return machine(build.plan, build.timing)

    def rtl(self, nbits: int, **settings: Any) -> Component:
        """How: the machine, istream {base, exp, mod} -> ostream {status, result}."""
        from ..rtl.mod_exp import ModExp
        from ..rtl.mont_mod_exp import MontModExp

        build = self._build(nbits, settings)
        machine = MontModExp if build.plan.conversion == "given" else ModExp
        return machine(build.plan, build.mk_unit)

    def xcel(self, nbits: int, **settings: Any) -> Component:
        """The machine behind accelerator registers (rtl/xcel_adapter.py)."""
        from ..rtl.rsa_xcel import RSAXcel

        self._build(nbits, settings)
        return RSAXcel(nbits, lambda _: self.rtl(nbits, **settings))

    def cycles(self, nbits: int, base: int, exp: int, mod: int, **settings: Any) -> int:
        """Cycles from request to answer, by the closed formula."""
        build = self._build(nbits, settings)
        formula = mont_mod_exp_cycles if build.plan.conversion == "given" else mod_exp_cycles
        return formula(build.plan, build.timing, base, exp, mod)

    # ---- the multiplier alone

    def multiplier(self, nbits: int, **settings: Any) -> Component:
        """One product unit in RTL: istream {a, b} -> ostream, static port `modulus`."""
        return self._build(nbits, settings).mk_unit(nbits)

    def multiplier_cl(self, nbits: int, **settings: Any) -> Component:
        """The cycle-level twin of `multiplier`."""
        return self._build(nbits, settings).mk_unit_cl(nbits)

    def timing(self, nbits: int, **settings: Any) -> UnitTiming:
        """The formula for the cycles of `multiplier`."""
        return self._build(nbits, settings).timing

    def product(
        self,
        nbits: int,
        a: int,
        b: int,
        mod: int,
        run: Callable[[Sequence[tuple[int, int]]], Sequence[int]],
    ) -> int:
        """a * b mod `mod` on the multiplier: `run` has it make products. Montgomery: (a * R^2 / R) * b / R."""
        domain = make_domain(self.domain, mod, nbits)
        if domain.enter_by is not None:
            (a,) = run([(a, domain.enter_by)])
        (result,) = run([(a, b)])
        return result
