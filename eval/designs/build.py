"""The parts of a machine: what its control is given, and what the control makes of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pymtl3 import Component

from ...fl.accelerator import Fields
from ...fl.program.plan import Plan
from .multipliers.multiplier import Unit, Values
from .programmed import Programmed
from .promises import Timing

SCHEDULE = "schedule"  # the parameter that each design has


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
    """A number that software makes from the modulus, as papers 002 and 003 have it.

    It follows the three operands in the request; for moduli that the machine refuses it is 0.
    """

    name: str  # of the field in the request
    nbits: int
    of: Callable[[int], int]  # the modulus
    meaning: str  # for readers


def fields_of(given: Sequence[Given]) -> Fields:
    """Their names and bits."""
    return tuple((number.name, number.nbits) for number in given)


@dataclass(frozen=True)
class Build:
    """The parts of a machine: the plan of its products, their unit, and itself at two levels."""

    plan: Plan
    unit: Unit
    rtl: Callable[[], Component]  # the machine
    cl: Callable[[], Component]
    cycles: Callable[[int, int, int], int]  # of base, exp, mod; a core by a manifest returns None
    modulus: int = 0  # the only one that the machine takes; 0: any
    modulus_nbits: int = 0  # of the longest that it takes; 0: those of its width
    given: tuple[Given, ...] = ()
    time: Timing | None = None  # where it is not that of plan and unit
    regular: bool = False  # the same products for a 0 of the exponent as for a 1, whatever the schedule
    product_cycles: int | None = None  # from product to product, where that is not the unit's latency
    products: Callable[[int], int | None] | None = (
        None  # of an exponent, where that is not what the plan says
    )
    domain_options: Mapping[str, Any] = field(default_factory=dict)
    programmed: Programmed | None = None  # of a machine that executes a program
