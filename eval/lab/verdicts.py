"""Verdicts of `modexlab prove` on a machine or on the processor, as the ledger stores them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...fl.errors import BadInput
from ...flow.prove.report import REFUTED
from ...rtl.sim import cache, sources
from ..designs import catalogue
from ..designs.control import SCHEDULE
from ..designs.runnable import Runnable
from . import keys

TIME = "time"  # the kind of check that holds a machine to its promise about time
PROMISED = " of "  # in the name of a check of the time of other promised fields than the secret ones
OTHER_SCHEDULE = " schedule="  # in the name of a check of the time of another schedule than the machine's
PROC = "proc"  # the processor, by its name
_PROCESSOR = "eval.assurance.proof.processor.processor_checks"


class Subject(NamedTuple):
    """Subject of a proof; key: of itself, and of all inputs of a verdict."""

    name: str
    family: str
    nbits: int
    settings: Mapping[str, Any]
    key: str

    @classmethod
    def of(cls, accelerator: Runnable) -> "Subject":
        """A machine of the catalogue, or another accelerator."""
        design, settings = accelerator.design, dict(accelerator.parameters)
        key = _key([design.identity, accelerator.nbits, settings], keys.sources_of_proofs())
        return cls(design.reference, design.family, accelerator.nbits, settings, key)

    @classmethod
    def processor(cls) -> "Subject":
        """Return the processor in its default configuration."""
        return cls(PROC, "processor", 32, {}, _key([PROC], sources.digest(_PROCESSOR)))

    def __str__(self) -> str:
        return f"{self.name.partition('@')[0]}, {self.nbits} bits"


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

    @property
    def by_nature(self) -> bool:
        """The time depends on the secret, and the accelerator does not promise otherwise."""
        if self.kind != TIME or self.verdict != REFUTED or self.name.startswith(f"{TIME}{PROMISED}"):
            return False
        # the name of a check states a schedule that is not the machine's own
        other = self.name.partition(OTHER_SCHEDULE)[2]
        settings = {**self.settings, **({SCHEDULE: other} if other else {})}
        try:
            return not catalogue.entry(self.subject).at(self.nbits, **settings).constant_time
        except BadInput:  # a design or a parameter that does not exist any more
            return True

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
        return Subject.of(catalogue.entry(self.subject).at(self.nbits, **self.settings))


def _key(what: Any, sources: str) -> str:
    return cache.key(json.dumps(what, sort_keys=True), sources)
