"""Design: an entry of the catalogue.

A design is a multiplier, a domain, and a control with its schedule; each leaves parameters open. `at` turns a width and settings into a
Machine, by which everything else is asked.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from ...fl.domains import DOMAINS
from ...fl.errors import unknown
from ...fl.program.schedules import SCHEDULES
from .control import Control
from .machine import Machine
from .multipliers.multiplier import Multiplier
from .param import PAPER_NBITS, Param
from .widths import check_width, width_for

MOST_PLANNED = 1024  # machines that are kept


@dataclass(frozen=True, eq=False)
class Design:
    """An accelerator: multiplier x domain x control, with their parameters."""

    name: str
    multiplier: Multiplier
    domain: str
    control: Control
    summary: str
    paper: str = ""  # the published work whose machine it is

    @property
    def family(self) -> str:
        """The family of its multiplier."""
        return self.multiplier.family

    @property
    def params(self) -> tuple[Param, ...]:
        """All that it leaves open, the schedule first."""
        control = self.control
        return (control.schedule, *control.first, *self.multiplier.params, *control.last)

    def at(self, nbits: int, **settings: Any) -> Machine:
        """The machine of this width, planned once; BadInput if a parameter is unknown, out of range, or they make no machine."""
        check_width(nbits)
        names = [param.name for param in self.params]
        for name in settings:
            if name not in names:
                raise unknown(f"parameter of {self.name}", name, names)
        values = (
            param.checked(settings[param.name]) if param.name in settings else param.default_at(nbits)
            for param in self.params
        )
        return _planned(self, nbits, *values)

    @property
    def usual_nbits(self) -> int:
        """The width that it has where none is asked for."""
        return PAPER_NBITS

    def width_for(self, *numbers: int) -> int:
        """The width of machine for these numbers."""
        return width_for(*numbers)

    @property
    def reference(self) -> str:
        """The name by which it is found again, in another process too (catalogue.find)."""
        return self.name

    @property
    def identity(self) -> str:
        """What tells it from all others: the name, as the sources are told by digests of their own."""
        return self.name

    @property
    def schedule(self) -> str:
        """The schedule that it has unless it is given another."""
        return self.control.schedule.default

    @property
    def constant_schedules(self) -> tuple[str, ...]:
        """Those by which it takes as many cycles for all exponents of a length."""
        legal = self.control.schedule.legal
        assert isinstance(legal, tuple)
        return tuple(name for name in legal if self.control.alike or SCHEDULES[name].constant_time)

    @property
    def constant_time(self) -> bool:
        """With whichever schedule it may have."""
        return self.constant_schedules == self.control.schedule.legal

    @property
    def odd_only(self) -> bool:
        """Even moduli are refused."""
        return DOMAINS[self.domain].odd_only

    @property
    def reduced_only(self) -> bool:
        """Bases at or above the modulus are refused."""
        return DOMAINS[self.domain].reduced_only

    @property
    def programmed(self) -> bool:
        """Its machines execute programs, which settings choose (protection.py)."""
        return "crt" in {param.name for param in self.params}

    @property
    def plain_unit(self) -> bool:
        """The multiplier alone takes any modulus on its port, and factors and products of the machine's width."""
        return DOMAINS[self.domain].plain_unit


@functools.lru_cache(MOST_PLANNED, typed=True)
def _planned(design: Design, nbits: int, *values: Any) -> Machine:
    """The machine with these values of the parameters."""
    named = tuple((param.name, value) for param, value in zip(design.params, values, strict=True))
    chosen = dict(named)
    unit = design.multiplier.unit(nbits, chosen)
    plan = design.control.plan(nbits, design.domain, unit.timing, chosen)
    build = design.control.machine(nbits, design.domain, plan, unit, chosen)
    if not plan.screened and (plan.odd_only, plan.reduced_only) != (design.odd_only, design.reduced_only):
        raise ValueError(
            f"{design.name}: domain {design.domain} has odd_only, reduced_only = "
            f"{design.odd_only}, {design.reduced_only}, "
            f"but the hardware checks {plan.odd_only}, {plan.reduced_only}: see Plan.reduced_only"
        )
    return Machine(design, nbits, named, build)
