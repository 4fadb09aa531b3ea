"""Check: one property of a design to prove, and its verdict."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ....flow.prove.assertions import Answer
from ....flow.prove.report import Result
from ...lab.verdicts import TIME

Report = Callable[[int, int], None]

UNITS, PROTOCOL, AXI, NETLIST, PLACED = "units", "protocol", "axi4lite", "netlist", "placed"
REFUSAL, WIPE, ZEROISE = "refusal", "wipe", "zeroise"
KINDS = (UNITS, PROTOCOL, AXI, TIME, REFUSAL, WIPE, ZEROISE, NETLIST, PLACED)  # of a design
PROCESSOR = "processor"  # all of a processor


@dataclass(frozen=True)
class Outcome:
    """Verdict of a check, its method, its CPU time, and the inputs that break it."""

    verdict: Result
    how: str
    seconds: float
    counterexample: list[dict[str, int]] = field(default_factory=list)

    @classmethod
    def of(cls, answer: Answer, how: str = "") -> Outcome:
        """Convert an answer of flow/prove, with an addition to its method."""
        told = f"{answer.how}; {how}" if how else answer.how
        return cls(answer.verdict, told, answer.seconds, answer.inputs)

    def as_json(self) -> dict[str, Any]:
        """The keys of the command, but for the name of the check."""
        told: dict[str, Any] = {"verdict": self.verdict, "seconds": round(self.seconds, 2), "how": self.how}
        if self.counterexample:
            told["counterexample"] = self.counterexample
        return told


@dataclass(frozen=True)
class Planted:
    """A fault in what a check is about: where it is, and what the check then comes to.

    refused: why what is left is no hardware; empty if it is. same: whether it still does what it did, for all
    inputs from any state.
    """

    what: str
    run: Callable[[float, Report], Outcome]
    refused: Callable[[], str]
    same: Callable[[float], Outcome]


@dataclass(frozen=True)
class Check:
    """Name, kind and description of a check, and the function that decides it within a CPU time.

    `mutants`: faults, one at a time. `identity`: of two checks that have the same one, one run is enough.
    """

    name: str
    kind: str
    says: str
    run: Callable[[float, Report], Outcome]
    mutants: Callable[[], Iterable[Planted]] = tuple
    identity: str = ""


def spent() -> float:
    """Seconds of a processor so far, here and in what was started and has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime
