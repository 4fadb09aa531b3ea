"""Design: an entry of the catalogue.

A design is a multiplier, a domain, and a control with its schedule; each leaves parameters open. `at` turns a
width and settings into a Machine, by which everything else is asked.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...fl.domains import DOMAINS
from ...fl.errors import BadInput, unknown
from ...fl.param import PAPER_NBITS, Param
from .control import Control
from .machine import Machine
from .multipliers.multiplier import Multiplier
from .promises import Promises
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
        """Return its parameters, the schedule first."""
        control = self.control
        return (control.schedule, *control.first, *self.multiplier.params, *control.last)

    def at(self, nbits: int, **settings: Any) -> Machine:
        """The machine of this width, planned once; BadInput if a parameter is unknown, out of range, or they
        make no machine.
        """
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

    def planned(self, nbits: int, values: tuple[tuple[str, Any], ...]) -> Machine:
        """A machine with these values of all parameters."""
        chosen = dict(values)
        unit = self.multiplier.unit(nbits, chosen)
        plan = self.control.plan(nbits, self.domain, unit.timing, chosen)
        build = self.control.machine(nbits, self.domain, plan, unit, chosen)
        if not plan.screened and (plan.odd_only, plan.reduced_only) != (self.odd_only, self.reduced_only):
            raise ValueError(
                f"{self.name}: domain {self.domain} has odd_only, reduced_only = "
                f"{self.odd_only}, {self.reduced_only}, "
                f"but the hardware checks {plan.odd_only}, {plan.reduced_only}: see Plan.reduced_only"
            )
        return Machine(self, nbits, values, build)

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
        """Return its name, which identifies it; sources have digests of their own."""
        return self.name

    @property
    def schedule(self) -> str:
        """The schedule that it has unless it is given another."""
        return self.control.schedule.default

    @property
    def promises(self) -> Promises:
        """The promises of its default machine."""
        return self.at(self.usual_nbits).promises

    def alternatives(self) -> Iterator[tuple[Param, Any, Promises]]:
        """The default machine with one parameter changed: each listed value of each parameter."""
        for param in self.params:
            for value in param.legal if isinstance(param.legal, tuple) else ():
                with contextlib.suppress(BadInput):  # some want another schedule as well
                    yield param, value, self.at(self.usual_nbits, **{param.name: value}).promises

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
        """The multiplier alone takes any modulus on its port, and factors and products of the machine's
        width.
        """
        return DOMAINS[self.domain].plain_unit


@functools.lru_cache(MOST_PLANNED, typed=True)
def _planned(design: Design, nbits: int, *values: Any) -> Machine:
    """The machine with these values of the parameters, made once."""
    return design.planned(
        nbits, tuple((param.name, value) for param, value in zip(design.params, values, strict=True))
    )
