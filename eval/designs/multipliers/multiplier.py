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
GATED = Param(  # of paper 001's machines
    "gated",
    False,
    BOOLS,
    "registers have an enable and no reset, so that synthesis gates their "
    "clock; the paper's RTL resets first",
)


@dataclass(frozen=True)
class Unit:
    """A product unit: istream {a, b} -> ostream, static port `modulus`; its twin, and the formula for its
    cycles.
    """

    rtl: Callable[[int], Component]  # of a width in bits
    cl: Callable[[int], Component]
    timing: UnitTiming
    space: Callable[[int], Domain] | None = None  # of its products, where that is not the machine's


def within_machine(why: str, timing: UnitTiming) -> Unit:
    """Return a unit for a family whose products are made by parts of the machine: BadInput, with the reason,
    for a unit alone.
    """

    def none(_):
        raise BadInput(f"there is no multiplier apart from its machine: {why}")

    return Unit(none, none, timing)


@dataclass(frozen=True)
class Multiplier:
    """A family, with the parameters that it leaves open."""

    family: str
    params: tuple[Param, ...]
    unit: Callable[[int, Values], Unit]  # of the machine's width


def fits_modulus(values: Values) -> bool:
    """The machine wants products whose cycles follow the length of the modulus."""
    return values.get("fit") == "modulus"
