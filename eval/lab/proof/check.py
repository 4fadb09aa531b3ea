"""A check: something that is to hold of a design, and what became of it."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ....flow.prove.assertions import Answer
from ....flow.prove.report import Result

Report = Callable[[int, int], None]

UNITS, PROTOCOL, TIME, NETLIST = "units", "protocol", "time", "netlist"
KINDS = (UNITS, PROTOCOL, TIME, NETLIST)
MUTANTS = 4  # of a unit


@dataclass(frozen=True)
class Outcome:
    """The verdict, by what means, what is said, seconds of a processor, and what breaks it."""

    verdict: Result
    how: str
    seconds: float
    counterexample: list[dict[str, int]] = field(default_factory=list)

    @classmethod
    def of(cls, answer: Answer, how: str = "") -> Outcome:
        """What flow/prove found, with more words on it."""
        told = f"{answer.how}; {how}" if how else answer.how
        return cls(answer.verdict, told, answer.seconds, answer.inputs)

    def as_json(self) -> dict[str, Any]:
        """The keys of the command, but for the name of the check."""
        told: dict[str, Any] = {"verdict": self.verdict, "seconds": round(self.seconds, 2), "how": self.how}
        if self.counterexample:
            told["counterexample"] = self.counterexample
        return told


@dataclass(frozen=True)
class Check:
    """Its name, what kind it is, what it says, and how it is decided in so many seconds of a processor.

    `mutants`: the same with one operator changed, of which none may hold.
    """

    name: str
    kind: str
    says: str
    run: Callable[[float, Report], Outcome]
    mutants: Callable[[], list[Check]] = list


def spent() -> float:
    """Seconds of a processor so far, here and in what was started and has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime
