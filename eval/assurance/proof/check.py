"""Check: one property of a design to prove, and the function that decides it."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

from pymtl3 import Component

from ....flow.prove.assertions import Decision, spent
from ....rtl.sim.translation.translate import top_name, translate
from ...lab.verdicts import TIME

UNITS, PROTOCOL, AXI, NETLIST, PLACED = "units", "protocol", "axi4lite", "netlist", "placed"
REFUSAL, WIPE, ZEROISE = "refusal", "wipe", "zeroise"
KINDS = (UNITS, PROTOCOL, AXI, TIME, REFUSAL, WIPE, ZEROISE, NETLIST, PLACED)  # of a design
PROCESSOR = "processor"  # all of a processor

Source = Callable[[], tuple[str, str]]


def source_of(make: Callable[[], Component]) -> Source:
    """The text of a component and the name of its top module, translated on first use."""

    @functools.cache
    def source() -> tuple[str, str]:
        made = make()
        return translate(made, whole=True), top_name(made)

    return source


@dataclass(frozen=True)
class Check:
    """Name, kind and description of a check, and the function that decides it within a CPU time.

    decide: gets the CPU seconds and, if there is a source, a text and its top module. source: the text in
    which, or in whose `module`, mutants are planted; None: there are no mutants. identity: checks with the
    same identity need one run.
    """

    name: str
    kind: str
    says: str
    decide: Callable[..., Decision]
    source: Source | None = None
    module: str = ""
    identity: str = ""

    @property
    def mutable(self) -> bool:
        """Whether it is the check of a unit, in which mutants are planted."""
        return self.kind == PROCESSOR or (self.kind == UNITS and bool(self.says))

    def run(self, seconds: float, mutant: str = "") -> Decision:
        """Decide it, or a mutant's text; its CPU time is recorded unless the outcome has one of its own."""
        began = spent()
        asked = self.source() if self.source else ()
        outcome = self.decide(seconds, *([mutant, *asked[1:]] if mutant else asked))
        return replace(outcome, seconds=outcome.seconds or spent() - began)
