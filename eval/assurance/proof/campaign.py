"""Checks as tasks of a campaign; the ledger remembers their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....flow.prove import assertions
from ...lab.campaign import Cost, Task
from ...lab.ledger.ledger import Ledger
from ...lab.schedulers import Outcome, Report
from ...lab.verdicts import Subject
from . import registry
from .check import Check


@dataclass(frozen=True)
class Proving(Task):
    """The task of deciding a check within a CPU time; `known`: outcomes of units that others have too."""

    subject: Subject
    check: Check
    seconds: float
    known: dict[str, assertions.Outcome]

    @property
    def key(self) -> str:  # type: ignore[override]
        return f"{self.subject.key} {self.subject.name} {self.check.name}"

    @property
    def cost(self) -> Cost:  # type: ignore[override]
        return Cost((None, self.check.kind))

    @property
    def text(self) -> str:  # type: ignore[override]
        return f"{self.subject}: {self.check.name}"

    def run(self, report: Report) -> registry.Proof:
        (proof,) = registry.prove([self.check], self.seconds, lambda _: lambda *_: None, self.known)
        return proof


@dataclass(frozen=True)
class Verdicts:
    """Verdicts from the same sources; all of them are forgotten where checks are proved anew."""

    ledger: Ledger
    anew: bool

    def recall(self, tasks: Mapping[str, Proving]) -> Iterator[Outcome]:
        for item in () if self.anew else self.ledger.verdicts():
            if task := tasks.get(f"{item.key} {item.subject} {item.name}"):
                yield Outcome(task, item, seconds=item.seconds, reused=True)

    def keep(self, outcome: Outcome) -> Outcome:
        if not outcome.error:
            self.ledger.note(outcome.result.of(outcome.task.subject))
        return outcome
