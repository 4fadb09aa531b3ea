"""Spec, the parameters of a machine, and Build, the plan, product unit, hardware and models generated from
them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pymtl3 import Component

from ...fl.accelerator import Fields
from ...fl.program.plan import Plan
from .multipliers.multiplier import Unit, Values
from .programmed import Programmed
from .promises import Timing

SCHEDULE = "schedule"  # name of the parameter that every design has


@dataclass(frozen=True)
class Spec:
    """A machine to be built: width, domain, multiplier, and the values of all parameters."""

    nbits: int
    domain: str
    unit: Unit
    values: Values

    @property
    def schedule(self) -> str:
        return str(self.values[SCHEDULE])


@dataclass(frozen=True)
class Given:
    """A number that software computes from the modulus, as in papers 002 and 003.

    In the request it follows the three operands. It is 0 for moduli that the machine rejects.
    """

    name: str  # of its field in the request
    nbits: int
    of: Callable[[int], int]  # computes it from the modulus
    meaning: str  # for readers


def fields_of(given: Sequence[Given]) -> Fields:
    """Names and widths of the fields for these numbers."""
    return tuple((number.name, number.nbits) for number in given)


@dataclass(frozen=True)
class Build:
    """A machine ready to elaborate: its plan, product unit, RTL, cycle-level model and cycle formula."""

    plan: Plan
    unit: Unit
    rtl: Callable[[], Component]  # the machine
    cl: Callable[[], Component]
    cycles: Callable[[int, int, int], int]  # of base, exp, mod; None for a core described by a manifest
    modulus: int = 0  # the only one that the machine accepts; 0: any
    modulus_nbits: int = 0  # of the longest that it accepts; 0: its width
    given: tuple[Given, ...] = ()
    time: Timing | None = None  # if it does not follow from plan and unit
    regular: bool = False  # a 0 bit of the exponent takes the same products as a 1, whatever the schedule
    product_cycles: int | None = None  # between successive products, if not the unit's latency
    products: Callable[[int], int | None] | None = (
        None  # number for an exponent, if it does not follow from the plan
    )
    domain_options: Mapping[str, Any] = field(default_factory=dict)
    programmed: Programmed | None = None  # if the machine executes a program
    # the RTL for a sender that keeps a request until its answer, if it then needs no copy of the operands
    rtl_in_place: Callable[[], Component] | None = None
    wiped_by_refusal: bool = False  # a request that is refused overwrites the machine, too
