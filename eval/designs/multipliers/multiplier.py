"""Multiplier: a family of product units; a width and parameters select one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pymtl3 import Component

from ....cl.timing import UnitTiming
from ....fl.domains import Domain
from ....fl.errors import BadInput
from ....fl.param import BOOLS, Param

Values = Mapping[str, Any]  # of all parameters of a design
DOMAIN = "domain"  # name of the parameter of a multiplier that has several domains
GATED = Param(  # of paper 001's machines
    "gated",
    False,
    BOOLS,
    "registers have an enable and no reset, so that synthesis gates their "
    "clock; the paper's RTL resets first",
)


@dataclass(frozen=True)
class Unit:
    """A product unit (istream {a, b} -> ostream, static port `modulus`), its twin and its cycle formula."""

    rtl: Callable[[int], Component]  # by width in bits
    cl: Callable[[int], Component]
    timing: UnitTiming
    space: Callable[[int], Domain] | None = None  # domain of its products, if not the machine's


def within_machine(why: str, timing: UnitTiming) -> Unit:
    """A unit for a family whose products use parts of the machine; building it alone raises BadInput with the
    reason.
    """

    def none(_):
        raise BadInput(f"there is no multiplier apart from its machine: {why}")

    return Unit(none, none, timing)


@dataclass(frozen=True)
class Multiplier:
    """A family of product units, with its open parameters."""

    family: str
    params: tuple[Param, ...]
    unit: Callable[[int, Values], Unit]  # by the machine's width


def fits_modulus(values: Values) -> bool:
    """Whether the cycles of products follow the length of the modulus."""
    return values.get("fit") == "modulus"
