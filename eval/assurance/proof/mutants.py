"""Mutants of units: one operator or index is changed, and the check of the unit must disprove the mutant.

Of the faults in a text the first few are of all its parts. A text that is no hardware any more is passed
over. Where the check holds in spite of a fault, it is asked whether the changed unit does what the whole one
does: then it is none. Else it is one that the check does not see, such as one that needs operands which are
not allowed.
"""

from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....flow.prove import assertions, registers
from ....flow.prove.mutants import mutants
from ....flow.prove.report import PROVED, REFUTED
from . import benches
from .check import Check, Outcome, Planted, Report

MOST = 64  # faults that are tried
GOLDEN = (5**0.5 - 1) / 2  # multiples of it are spread evenly between whole numbers


def planted(
    verilog: str, top: str, run: Callable[[str], Callable[[float, Report], Outcome]], module: str = ""
) -> Iterator[Planted]:
    """Faults in the module of a text (`top`, if none is given); run(text): the check of the text."""
    found = list(mutants(verilog, module or top))
    for at in sorted(range(len(found)), key=lambda at: at * GOLDEN % 1):
        text = found[at].text
        yield Planted(
            found[at].what,
            run(text),
            functools.partial(_refused, text, top),
            functools.partial(_same, verilog, text, top),
        )


def _refused(verilog: str, top: str) -> str:
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        return assertions.refused(verilog, top, Path(directory))


def _same(verilog: str, changed: str, top: str, seconds: float) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        work = Path(directory)
        found = registers.read(verilog, top, work)
        stored, _ = found.behind(found.ports("output"), through=True)
        bench = benches.same(verilog, changed, top, found.ports("input"), found.ports("output"), stored)
        return Outcome.of(assertions.decide(bench, work, seconds=seconds, cycles=2))


@dataclass
class Search:
    """Mutants of a unit up to the first that its check kills: how it is killed, and the results of those
    before.
    """

    check: Check
    what: str = ""
    outcome: Outcome | None = None
    refused: int = 0  # texts that are no hardware
    same: list[str] = field(default_factory=list)  # the unit does what it did
    unseen: list[str] = field(default_factory=list)  # it does not, and the check holds
    undecided: list[str] = field(default_factory=list)

    @property
    def refuted(self) -> bool:
        return self.outcome is not None

    def as_json(self) -> dict[str, Any]:
        """One entry of `modexlab prove --mutants --json`."""
        told: dict[str, Any] = {"check": self.check.name, "refuted": self.refuted}
        if self.outcome is not None:
            told |= {"mutant": self.what, **self.outcome.as_json()}
        others = {"same": self.same, "unseen": self.unseen, "undecided": self.undecided}
        return told | {"refused": self.refused, **others}


def first_refuted(check: Check, seconds: float, report: Callable[[str], None] = lambda _: None) -> Search:
    """Find the first mutant that a check kills, each within a CPU time; `report` receives the progress."""
    found = Search(check)
    for fault in itertools.islice(check.mutants(), MOST):
        report(fault.what)
        if fault.refused():
            found.refused += 1
            continue
        outcome = fault.run(seconds, lambda *_: None)
        if outcome.verdict == REFUTED:
            found.what, found.outcome = fault.what, outcome
            break
        if outcome.verdict != PROVED:
            found.undecided.append(fault.what)
        elif fault.same(seconds).verdict == PROVED:
            found.same.append(fault.what)
        else:
            found.unseen.append(fault.what)
    return found
