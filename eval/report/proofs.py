"""Verdicts of `modexlab prove` by design."""

import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...flow.prove.report import PROVED, REFUTED
from ..assurance.proof.check import AXI, KINDS, PROCESSOR, UNITS
from ..grouping import grouped
from ..json_values import canonical
from ..lab.verdicts import ATTACKS, OTHER_SCHEDULE, Verdict
from .tables import MISSING, Cell, Column, Table, table_of

ALONE = tuple(
    item for item in KINDS if item != UNITS
)  # checks that a machine has once, or for time once per schedule
TITLES = {AXI: "AXI4-Lite"}
MOST_OPEN = 3  # unproved checks that are listed by name


class Proven(NamedTuple):
    """A machine and its verdicts."""

    verdicts: Sequence[Verdict]
    stale: bool

    @property
    def first(self) -> Verdict:
        return self.verdicts[0]

    @property
    def name(self) -> str:
        """The name of the design, without its folder."""
        return self.first.subject.partition("@")[0]

    def of(self, kind: str) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.kind == kind]


def proven(verdicts: Iterable[Verdict]) -> list[Proven]:
    """The machines with proofs among these verdicts."""
    proofs = (item for item in verdicts if item.kind not in ATTACKS)
    machines = grouped(proofs, lambda item: (item.subject, item.nbits, canonical(item.settings)))
    return [Proven(found, any(verdict.stale for verdict in found)) for found in machines.values()]


def attacked(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts of attacks among these."""
    return [item for item in verdicts if item.kind in ATTACKS]


def _units(machine: Proven) -> Cell:
    """The number of units that are proved."""
    found = [verdict.verdict for verdict in (*machine.of(UNITS), *machine.of(PROCESSOR))]
    if not found:
        return MISSING
    proved = found.count(PROVED)
    tone = "bad" if REFUTED in found else "good" if proved == len(found) else ""
    return Cell(f"{proved} of {len(found)}", proved / len(found), tone=tone)


def _alone(machine: Proven, kind: str) -> Cell:
    """The verdict of a check that exists once, or once for each schedule; that of the machine's own schedule
    comes first.
    """
    found = machine.of(kind)
    if not found:
        return MISSING
    own = next((verdict for verdict in found if verdict.name == kind), found[0])
    others = [verdict.verdict for verdict in found if verdict is not own]
    tones: dict[str, str] = {PROVED: "good", REFUTED: "quiet" if own.by_nature else "bad"}
    more = ""
    if others:
        named = any(OTHER_SCHEDULE in verdict.name for verdict in found if verdict is not own)
        which = "other schedules" if named else "further promises"
        more = f"; {which} {others.count(PROVED)} of {len(others)}"
    return Cell(f"{own.verdict}{more}", tone="bad" if REFUTED in others else tones.get(own.verdict, ""))


def _open(machine: Proven) -> Cell:
    """The checks without a proof, with the reasons."""
    found = [
        f"{item.name} {item.verdict}: {item.how}".removesuffix(": ")
        for item in machine.verdicts
        if item.verdict != PROVED
    ]
    more = [f"{len(found) - MOST_OPEN} more"] if len(found) > MOST_OPEN else []
    return Cell("; ".join([*found[:MOST_OPEN], *more]) or "nothing", tone="" if found else "quiet")


COLUMNS = (
    Column("Design", lambda machine: Cell(machine.name, stale=machine.stale)),
    Column("Bits", "first.nbits", number=True),
    Column("Units", _units),
    *(Column(TITLES.get(kind, kind.capitalize()), functools.partial(_alone, kind=kind)) for kind in ALONE),
    Column("Not proved, and why", _open),
)


def table(found: Sequence[Proven]) -> Table:
    """The table of proofs: one machine per line."""
    made = sorted(found, key=lambda item: (item.first.family, item.first.subject, item.first.nbits))
    # filtered by family only: widths of proofs are small, widths of figures are not
    return table_of(
        "proofs",
        "Proofs",
        "Units: each unit computes its function for all inputs. Protocol: one answer per request within a "
        "bounded time, for all delays. AXI4-Lite: the rules of that bus. Time: equal cycles for all "
        "exponents of a length, or for all values of the secret fields; it is disproved, as expected, for "
        "designs that do not promise it. Netlist: equivalent to the RTL. Placed: equivalent to the "
        "netlist. The units of the processor are its instructions and the checks of riscv-formal, for a "
        "bounded number of cycles from any state. `modexlab prove DESIGN` proves a design again and prints "
        "counterexamples.",
        COLUMNS,
        ((item, {"family": item.first.family}) for item in made),
    )


def _verdict(item: Verdict) -> Cell:
    tone = "good" if item.verdict.startswith("no ") else "bad"
    return Cell(item.verdict, tone=tone, stale=item.stale)


ATTACKED = (
    Column("Design", "subject"),
    Column("Bits", "nbits", number=True),
    Column("Attack, program", "name"),
    Column("Verdict", _verdict),
    Column("Counts", "how"),
    Column("Command", "command"),
)


def attacks(found: Sequence[Verdict]) -> Table:
    """The table of attacks: one attack per line."""
    made = sorted(found, key=lambda item: (item.kind, item.nbits, item.subject, item.name))
    return table_of(
        "attacks",
        "Leakage and faults",
        "Leakage: operations with one exponent against operations with random exponents. A leak is a Welch's "
        "t above 4.5 in both halves, of the number of register bits that change, or a difference in time. "
        "Simulated at RTL without noise, wires or glitches. Faults: one flip-flop flips in one cycle. "
        "`modexlab attack all` runs all attacks.",
        ATTACKED,
        ((item, {"family": item.family}, item.kind.capitalize()) for item in made),
    )
