"""All checks of a design: of its units, found by what its hardware instantiates, and of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ....flow.prove.report import REFUTED
from .check import KINDS, Check, Outcome, Report
from .machine_checks import machine_checks
from .stream_checks import PROMISED
from .unit_checks import unit_checks

if TYPE_CHECKING:
    from ...designs.machine import Machine


@dataclass(frozen=True)
class Proof:
    """A check and what became of it; of a mutant, where the fault is."""

    check: Check
    outcome: Outcome

    @property
    def refuted(self) -> bool:
        return self.outcome.verdict == REFUTED

    def as_json(self) -> dict[str, Any]:
        """One entry of `modexlab prove --json`."""
        told = {"check": self.check.name, **self.outcome.as_json()}
        return told | {"says": self.check.says} if self.check.says else told


def checks(machine: Machine, wanted: Sequence[str] = (), *, all_of_them: bool = True) -> list[Check]:
    """Those of the machine, or of these kinds or names: a name may be the first word of one, such as AddRedKoc.

    all_of_them: BadInput if the machine lacks one.
    """
    hardware = machine.rtl()
    hardware.elaborate()
    found = [*unit_checks(hardware), *machine_checks(machine)]
    for each in wanted:
        if all_of_them and not any(_is(check, each) for check in found):
            names = dict.fromkeys([*KINDS, *(check.name.split()[0] for check in found)])
            raise BadInput(
                f"--check {each}: {machine.design.name} has no such check; give one of {', '.join(names)}"
            )
    return [check for check in found if not wanted or any(_is(check, each) for each in wanted)]


def first_of_each_class(nbits: int, wanted: Sequence[str] = ()) -> dict[str, tuple[str, Check]]:
    """By class, a check of what a unit answers or does, and the design that has it."""
    from ...designs.catalogue import designs

    found: dict[str, tuple[str, Check]] = {}
    for design in designs():
        hardware = design.at(nbits).rtl()
        hardware.elaborate()
        for check in unit_checks(hardware):
            if check.says != PROMISED and (not wanted or any(_is(check, each) for each in wanted)):
                found.setdefault(check.name.split()[0], (design.name, check))
    return found


def _is(check: Check, name: str) -> bool:
    return name in (check.kind, check.name, check.name.split()[0])


def prove(found: Sequence[Check], seconds: float, report: Callable[[Check], Report]) -> Iterator[Proof]:
    """One after the other, each in so many seconds of a processor; `report` is told what is under way."""
    for check in found:
        yield Proof(check, check.run(seconds, report(check)))
