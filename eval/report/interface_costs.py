"""Cost of the interface and the processor: cycles and area of one machine, from its multiplier alone to the
system with a processor.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from ..designs.interfaces import DEFAULT, SYSTEM, UNIT
from ..designs.workload_names import DECRYPT, ENCRYPT, PRODUCT
from ..grouping import grouped
from ..json_values import attributes
from ..lab.stages import FLOW, RTL
from .store_view import INTERFACES, Entries, Entry
from .tables import MISSING, Cell, Column, Table, figures, table_of

AREA = "area_um2"
ORDER = (UNIT, *(name for name in INTERFACES if name not in (UNIT, SYSTEM)), SYSTEM)


class Step(NamedTuple):
    """A machine behind one interface, and the same machine alone."""

    first: Entry
    cycles: Mapping[str, Entry]  # by operation
    silicon: Entry | None
    alone: "Step | None"

    @property
    def name(self) -> str:
        return self.first.alone

    @property
    def area(self) -> Cell:
        """The area added to that of the machine alone, in percent of it."""
        return self._added(self.silicon, self.alone and self.alone.silicon, AREA)

    @property
    def time(self) -> Cell:
        """The cycles of a decryption added to those of the machine alone, in percent of them."""
        return self._added(self.cycles.get(DECRYPT), self.alone and self.alone.cycles.get(DECRYPT), "cycles")

    def _added(self, here: Entry | None, alone: Entry | None, name: str) -> Cell:
        if here is None or alone is None or here is alone:
            return MISSING
        more = (here.value(name) or 0) / (alone.value(name) or 1) - 1
        return Cell(f"{100 * more:+.0f}", more)


def steps(entries: Entries) -> list[Step]:
    """The machines with cycles of a decryption behind at least three interfaces, each with its area at the
    clock that most of its interfaces share.
    """
    kept = (entry for entry in entries if entry.stage in (*RTL, FLOW))
    machines = grouped(kept, lambda entry: (entry.nbits, entry.alone))
    made: list[Step] = []
    for _, same in sorted(machines.items()):
        found = grouped(same, attrgetter("interface"))
        netlists = [entry for entry in same if entry.value(AREA) is not None]
        clocks = Counter(
            clock
            for clock, _ in {
                (entry.flow["clock_period"], entry.interface)
                for entry in netlists
                if not entry.flow.get("fmax")
            }
        )
        clock = max(clocks, key=lambda clock: (clocks[clock], clock), default=None)
        own = [_step(found[name], clock) for name in ORDER if name in found]
        counted = [step for step in own if step.cycles]
        if sum(DECRYPT in step.cycles for step in counted) > 2:
            alone = next((step for step in counted if step.first.interface == DEFAULT.name), None)
            made += (step._replace(alone=alone) for step in counted)
    return made


def _step(found: Entries, clock: float | None) -> Step:
    netlists = [entry for entry in found if entry.value(AREA) is not None]
    same = [entry for entry in netlists if entry.flow["clock_period"] == clock]
    cycles = {}
    for entry in sorted(found, key=attrgetter("stale"), reverse=True):
        if entry.operation in (ENCRYPT, DECRYPT, PRODUCT) and entry.value("cycles") is not None:
            cycles[entry.operation] = entry
    return Step(found[0], cycles, min(same, key=attrgetter("stale"), default=None), None)


COLUMNS = (
    Column("Interface", "first.behind"),
    figures("Product", "cycles", "cycles", lambda step: step.cycles.get(PRODUCT)),
    figures("Encrypt", "cycles", "cycles", lambda step: step.cycles.get(ENCRYPT)),
    figures("Decrypt", "cycles", "cycles", lambda step: step.cycles.get(DECRYPT)),
    Column("Decrypt +", "time", "%", True),
    figures("Area", AREA, "µm²", "silicon"),
    Column("Area +", "area", "%", True),
    Column("Stage of the area", "silicon.setup"),
)


def table(found: Sequence[Step]) -> Table:
    """The table of costs: a line for each interface of a machine."""
    return table_of(
        "interfaces",
        "From the multiplier to the processor",
        "The same machine behind each interface. Behind registers and AXI4-Lite, cycles include the transfer "
        "of operands and result; with a processor, they are those of the program without the call. Systems "
        "use the operands of paper 001, on which the cycles of some machines depend. All areas of a machine "
        "are at one clock. +: compared with the machine alone.",
        COLUMNS,
        (
            (step, attributes(step.first, "family", "nbits"), f"{step.name}, {step.first.nbits:,} bits")
            for step in found
        ),
    )
