"""Verdicts: what `modexlab prove` found of a machine, or of the processor, as the ledger keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...fl.errors import BadInput
from ...flow.prove.report import REFUTED
from ..designs import catalogue
from . import keys
from .proof.check import OTHER_SCHEDULE, PROC, TIME

if TYPE_CHECKING:
    from ..designs.machine import Machine
    from .proof.checks import Proof


@dataclass(frozen=True)
class Subject:
    """What something is proved of; key: of itself, and of all that decides on a verdict."""

    name: str
    family: str
    nbits: int
    settings: Mapping[str, Any]
    key: str

    @classmethod
    def of(cls, machine: Machine) -> Subject:
        """A machine of the catalogue."""
        design = machine.design
        key = _key([design.identity, machine.nbits, machine.parameters], keys.sources_of_proofs())
        return cls(design.name, design.family, machine.nbits, dict(machine.parameters), key)

    @classmethod
    def processor(cls) -> Subject:
        """As it is by default."""
        return cls(PROC, "processor", 32, {}, _key([PROC], keys.sources_of_processor_proofs()))

    def __str__(self) -> str:
        return f"{self.name}, {self.nbits} bits"


@dataclass(frozen=True)
class Verdict:
    """A check of something, and what it came to."""

    key: str
    subject: str
    family: str
    nbits: int
    settings: Mapping[str, Any]
    name: str
    kind: str
    verdict: str
    how: str
    seconds: float
    at: str = ""  # when; empty before it is written

    @classmethod
    def of(cls, subject: Subject, proof: Proof) -> Verdict:
        """Of a proof that has just ended."""
        check, outcome = proof.check, proof.outcome
        return cls(
            subject.key,
            subject.name,
            subject.family,
            subject.nbits,
            subject.settings,
            check.name,
            check.kind,
            outcome.verdict,
            outcome.how,
            outcome.seconds,
        )

    @property
    def by_nature(self) -> bool:
        """It is refuted that its time is the same for all exponents, and the design does not say that it were."""
        named = {design.name: design for design in catalogue.designs()}
        design = named.get(self.subject)  # it may be one of yesterday
        # that of a check of another schedule than the machine's own is in its name
        schedule = self.name.partition(OTHER_SCHEDULE)[2] or self.settings["schedule"]
        promised = design is not None and schedule in design.constant_schedules
        return self.kind == TIME and self.verdict == REFUTED and not promised

    @property
    def stale(self) -> bool:
        """Sources have changed since."""
        try:
            return self._now.key != self.key
        except BadInput:  # a design or a parameter that is no more
            return True

    @property
    def _now(self) -> Subject:
        if self.subject == PROC:
            return Subject.processor()
        return Subject.of(catalogue.find(self.subject).at(self.nbits, **self.settings))


def _key(what: Any, sources: str) -> str:
    from ...rtl.sim import cache

    return cache.key(json.dumps(what, sort_keys=True), sources)
