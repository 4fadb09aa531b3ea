"""Check: one property of a design to prove, and the function that decides it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ....flow.prove.assertions import Outcome, spent
from ...lab.verdicts import TIME

Report = Callable[[int, int], None]

UNITS, PROTOCOL, AXI, NETLIST, PLACED = "units", "protocol", "axi4lite", "netlist", "placed"
REFUSAL, WIPE, ZEROISE = "refusal", "wipe", "zeroise"
KINDS = (UNITS, PROTOCOL, AXI, TIME, REFUSAL, WIPE, ZEROISE, NETLIST, PLACED)  # of a design
PROCESSOR = "processor"  # all of a processor


@dataclass(frozen=True)
class Check:
    """Name, kind and description of a check, and the function that decides it within a CPU time.

    run: gets the CPU seconds, the report of progress and, for a mutant, its text. source: the text and its
    top module, in which (or in its `module`) mutants are planted; None: there are no mutants. identity: of
    two checks that have the same one, one run is enough.
    """

    name: str
    kind: str
    says: str
    run: Callable[..., Outcome]
    source: Callable[[], tuple[str, str]] | None = None
    module: str = ""
    identity: str = ""

    def timed(self, seconds: float, report: Report, *text: str) -> Outcome:
        """Run it, and note its CPU time unless the outcome has one of its own."""
        began = spent()
        outcome = self.run(seconds, report, *text)
        return replace(outcome, seconds=outcome.seconds or spent() - began)
