"""Results of the crosschecks."""

import importlib.metadata
from collections.abc import Sequence

import msgspec


class Compared(msgspec.Struct):
    """One figure: ours, and what the other tool says. It agrees, or `cause` says why it does not, or it is
    wrong.
    """

    check: str
    what: str
    ours: float
    theirs: float
    agrees: bool
    tool: str
    unit: str = ""
    cause: str = ""  # why it differs, where that was found by experiment
    note: str = ""

    @property
    def difference(self) -> float:
        """Ours less theirs."""
        return self.ours - self.theirs

    @property
    def wrong(self) -> bool:
        """The figures differ without a known cause."""
        return not self.agrees and not self.cause


SHOWN = 3  # faults in a note


def faults(check: str, what: str, found: Sequence[str], cause: str = "") -> Compared:
    """Faults that KLayout has found, where there should be none."""
    tool, note = f"KLayout {importlib.metadata.version('klayout')}", "; ".join(found[:SHOWN])
    return Compared(check, what, 0, len(found), not found, tool, "faults", cause if found else "", note)


class FiguresReport(msgspec.Struct):
    """All comparisons of a run."""

    design: str
    nbits: int | None
    compared: list[Compared]
    left_out: dict[str, str]  # checks that could not be done, and why
    notes: list[str]  # what no check can say

    @property
    def wrong(self) -> list[Compared]:
        """Return the comparisons that need a look."""
        return [compared for compared in self.compared if compared.wrong]
