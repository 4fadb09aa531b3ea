"""Verdicts: what `modexlab prove` found of a machine, as the ledger keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...fl.errors import BadInput
from ...flow.prove.report import REFUTED
from ..designs import catalogue
from . import keys
from .proof.check import TIME

if TYPE_CHECKING:
    from ..designs.machine import Machine
    from .proof.checks import Proof


@dataclass(frozen=True)
class Verdict:
    """A check of a machine, and what it came to."""

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
    def of(cls, machine: Machine, proof: Proof) -> Verdict:
        """Of a proof that has just ended."""
        design, outcome = machine.design, proof.outcome
        return cls(
            key_of(machine),
            design.name,
            design.family,
            machine.nbits,
            dict(machine.parameters),
            proof.check.name,
            proof.check.kind,
            outcome.verdict,
            outcome.how,
            outcome.seconds,
        )

    @property
    def by_nature(self) -> bool:
        """It is refuted that its time is the same for all exponents, and the design does not say that it were."""
        named = {design.name: design for design in catalogue.designs()}
        design = named.get(self.subject)  # it may be one of yesterday
        promised = design is not None and self.settings["schedule"] in design.constant_schedules
        return self.kind == TIME and self.verdict == REFUTED and not promised

    @property
    def stale(self) -> bool:
        """Sources have changed since."""
        try:
            return key_of(catalogue.find(self.subject).at(self.nbits, **self.settings)) != self.key
        except BadInput:  # a design or a parameter that is no more
            return True


def key_of(machine: Machine) -> str:
    """Of the machine, and of all that decides on a verdict."""
    from ...rtl.sim import cache

    what = [machine.design.identity, machine.nbits, machine.parameters]
    return cache.key(json.dumps(what, sort_keys=True), keys.sources_of_proofs())
