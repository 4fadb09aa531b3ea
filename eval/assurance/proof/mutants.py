"""Mutants of units: one operator or index is changed, and the unit's check must disprove the mutant.

The mutants that are tried are spread over the whole text. Mutants that the tools refuse are skipped. If the
check proves a mutant, a second proof decides whether the mutant is equivalent to the unit. If it is not, the
check does not see the change; this happens, for instance, if only operands that are not allowed reveal it.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ....flow.prove import assertions, registers
from ....flow.prove.assertions import Decision
from ....flow.prove.mutants import Mutant, mutants
from . import benches
from .check import Check

MOST = 64  # faults that are tried
GOLDEN = (5**0.5 - 1) / 2  # the fractional parts of its multiples are spread evenly


def _planted(verilog: str, module: str) -> Iterator[Mutant]:
    """Mutants of a module, in an order that spreads the first few over its text."""
    found = list(mutants(verilog, module))
    return (found[at] for at in sorted(range(len(found)), key=lambda at: at * GOLDEN % 1))


def _same(verilog: str, changed: str, top: str, seconds: float) -> bool:
    """Whether the mutant is equivalent to the unit, for all inputs from any state."""
    found = registers.read(verilog, top)
    stored, _ = found.behind(found.ports("output"), through=True)
    bench = benches.same(verilog, changed, top, found.ports("input"), found.ports("output"), stored)
    return assertions.decide(bench, seconds, 2).proved


@dataclass
class Search:
    """Mutants of a unit up to the first that its check kills, with the outcomes of those before."""

    check: Check
    what: str = ""
    outcome: Decision | None = None
    refused: int = 0  # by the tools
    same: list[str] = field(default_factory=list)  # equivalent to the unit
    unseen: list[str] = field(default_factory=list)  # not equivalent, but the check proves them
    undecided: list[str] = field(default_factory=list)

    @property
    def refuted(self) -> bool:
        return self.outcome is not None

    def as_json(self) -> dict[str, Any]:
        """One entry of `modexlab prove --mutants --json`."""
        told = {"check": self.check.name, "refuted": self.refuted}
        if self.outcome is not None:
            told |= {"mutant": self.what, **self.outcome.as_json()}
        others = {"same": self.same, "unseen": self.unseen, "undecided": self.undecided}
        return told | {"refused": self.refused, **others}


def first_refuted(check: Check, seconds: float, report: Callable[[str], None] = lambda _: None) -> Search:
    """Find the first mutant that a check kills, with a CPU time for each; `report` gets the names of the
    check and the mutant.
    """
    found = Search(check)
    if check.source is None:
        return found
    verilog, top = check.source()
    for mutant in itertools.islice(_planted(verilog, check.module or top), MOST):
        report(f"{check.name}: {mutant.what}")
        if assertions.refused(mutant.text, top):
            found.refused += 1
            continue
        outcome = check.run(seconds, mutant.text)
        if outcome.refuted:
            found.what, found.outcome = mutant.what, outcome
            break
        if not outcome.proved:
            found.undecided.append(mutant.what)
        elif _same(verilog, mutant.text, top, seconds):
            found.same.append(mutant.what)
        else:
            found.unseen.append(mutant.what)
    return found
