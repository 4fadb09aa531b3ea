"""Checks of the units of a design against their mathematics."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pymtl3 import Component

from ....fl.errors import BadInput
from ....flow.prove.assertions import Decision, decide
from ....flow.prove.report import REFUTED, UNDECIDED
from . import benches
from .check import UNITS, Check, source_of
from .contract_lang import Contract
from .exhaustive import ANSWERS, answers_of
from .heap_sum import heap_check
from .ports import arguments, fresh, inside
from .stream_checks import stream_checks
from .unit_contracts import CONTRACTS, FullAdders, FullAddersLevel, HalfAdders, contract_of

if TYPE_CHECKING:
    from ...designs.multipliers.multiplier import Unit

PLACE = f"{__package__.partition('.')[0]}.rtl.units."  # other registers are control around them
NO_CONTRACT = Decision(UNDECIDED, "there is no contract for it; units inside it have their own")
LATENCY = "product-latency"  # reports a promise that cannot be checked on any unit of the machine
BITWISE = (FullAdders, HalfAdders, FullAddersLevel)  # all of their bits are alike: the widest stands for all


def unit_checks(machine: Component, multiplier: "tuple[Unit, int] | None" = None) -> Iterator[Check]:
    """Checks of all units that an elaborated machine instantiates.

    A unit with neither a contract nor a checked unit around it is reported. multiplier: the product unit, and
    its width; if its timing promises a latency, its answers must take exactly that long. A promise that
    cannot be checked on any unit of the machine is reported as undecided.
    """
    promised, why = ({}, "") if multiplier is None else _promised(*multiplier)
    told: set[int] = set()  # units and all that is inside them
    for unit in _different(machine):
        name, identity = _name(unit), _identity(unit)
        cycles = promised.get(identity)
        found = [
            replace(check, identity=f"{identity} {cycles} {check.name}")
            for check in _checks(name, unit, cycles)
        ]
        yield from found
        if cycles is not None and found and type(unit) not in CONTRACTS and type(unit) in ANSWERS:
            why = ""
        ours = type(unit).__module__.startswith(PLACE)
        if ours and not found and id(unit) not in told:
            yield Check(name, UNITS, "", lambda _: NO_CONTRACT)
        if found or ours:
            told.update(map(id, inside(unit)))
    if why:
        yield Check(LATENCY, UNITS, "", lambda _: Decision(UNDECIDED, why))


def _promised(multiplier: "Unit", nbits: int) -> tuple[dict[str, int], str]:
    """The promised latency by the identity of the product unit, and the report if the machine lacks it.

    Both are empty if no latency is promised.
    """
    if (cycles := multiplier.timing.fixed) is None:
        return {}, ""
    no_proof = f"the promised {cycles} cycles of a product are not proved"
    try:
        unit = multiplier.rtl(nbits)
    except BadInput as error:  # products are computed by parts of the machine
        return {}, f"{no_proof}: {error}"
    why = f"{no_proof}: the machine contains no {type(unit).__name__} that can be asked"
    return {_identity(unit): cycles}, why


def _identity(unit: Component) -> str:
    return f"{type(unit).__qualname__} {arguments(unit)!r}"


def _checks(name: str, unit: Component, cycles: int | None) -> Iterator[Check]:
    """The checks of a unit by its class."""
    if type(unit) in CONTRACTS:
        yield _contract_check(name, unit)
    elif (said := answers_of(unit)) is not None:
        said = said if cycles is None else said.in_constant_time(cycles)
        yield from stream_checks(name if said.stand_in is None else _named(unit, said.stand_in), unit, said)
    elif (check := heap_check(name, unit)) is not None:
        yield check


def _different(machine: Component) -> list[Component]:
    found: dict[object, Component] = {}
    for unit in inside(machine):
        kind = type(unit)
        if kind in BITWISE:
            before = found.setdefault(kind, unit)
            if arguments(before)["count"] < arguments(unit)["count"]:
                found[kind] = unit
        else:
            found.setdefault((kind, repr(arguments(unit))), unit)
    return list(found.values())


def _named(unit: Component, stand_in: Component) -> str:
    """The name of the unit that is run; one with streams around it has its parameters."""
    return _name(stand_in).replace(type(stand_in).__name__, type(unit).__name__)


def _name(unit: Component) -> str:
    """The class, and the parameters that are numbers, strings or true."""
    given = arguments(unit)
    if shape := getattr(given.get("entry"), "shape", None):
        given = {"nbits": shape.nbits, "digit_nbits": shape.digit_nbits} | given
    words = [
        (f"{name}={value}" if not isinstance(value, bool) else name).replace("_", "-")
        for name, value in given.items()
        if isinstance(value, int | str) and value not in (False, "")
    ]
    return " ".join([type(unit).__name__, *words])


# ---- units without registers


def _contract_check(name: str, unit: Component) -> Check:
    said = contract_of(unit)

    def run(seconds: float, text: str, top: str) -> Decision:
        def decided(said: Contract) -> Decision:
            return decide(benches.contract(text, top, unit, said), seconds, 2 if said.registers else None)

        found = decided(said)
        if found.proved and said.given:  # contradictory conditions would prove anything
            if decided(replace(said, holds=("0",))).verdict != REFUTED:
                return replace(found, verdict=UNDECIDED, how="no known inputs satisfy the assumptions")
        if found.proved and said.instead:
            found = replace(found, how=f"{found.how}; of {', '.join(said.instead)} what its own check says")
        inputs = [
            {name.removesuffix(benches.PIN): value for name, value in entry.items()}
            for entry in found.counterexample
        ]
        return replace(found, counterexample=inputs)

    return Check(name, UNITS, said.says, run, source_of(lambda: fresh(unit)))
