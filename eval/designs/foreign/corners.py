"""Corners: the rows of the flow through a foreign core at RTL, each judged by Python's own power."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....fl.errors import shown
from .foreign import Unanswered
from .foreign_chip import ForeignChip

if TYPE_CHECKING:
    from ..interfaces import Operands
    from .foreign import ForeignMachine


@dataclass(frozen=True)
class Corner:
    """A row with what came out; `refused`: the limits exclude it, and it was not asked."""

    name: str
    operands: Operands
    expected: int
    got: int | None = None
    cycles: int | None = None
    refused: str = ""
    unanswered: str = ""

    @property
    def passed(self) -> bool:
        return not self.refused and not self.unanswered and self.got == self.expected

    @property
    def failed(self) -> bool:
        return not self.refused and not self.passed

    def __str__(self) -> str:
        """A failed row, with operands, expected and got."""
        base, exp, mod = map(shown, self.operands)
        got = self.unanswered or f"got {shown(self.got or 0)}"
        return f"{self.name}: {base} ^ {exp} mod {mod}: expected {shown(self.expected)}, {got}{self._reason}"

    @property
    def _reason(self) -> str:
        """What the numbers themselves say."""
        mod = self.operands[2]
        if self.got is None or self.got == self.expected:
            return ""
        if self.got == mod and self.expected == 0:
            return " (the modulus in the place of 0: a last subtraction compares by > and not by >=)"
        if self.got % mod == self.expected:
            return " (the same residue, not reduced)"
        return ""


def corners(machine: ForeignMachine, progress: Callable[[int, int], None] | None = None) -> list[Corner]:
    """All rows; Unanswered if the core does not answer the first of them."""
    chip = ForeignChip(machine.design, machine.nbits, machine.parameters)
    found: dict[str, Corner] = {}
    asked: list[tuple[str, Operands]] = []
    for name, each in chip.all_rows():
        if refused := machine.refusal(*each):
            found[name] = Corner(name, each, 0, refused=refused)
        else:
            asked.append((name, each))
            found[name] = Corner(name, each, pow(*each))
    try:
        with machine.session() as session:
            answers = session.run([each for _, each in asked], progress)
        for (name, each), answer in zip(asked, answers, strict=True):
            found[name] = Corner(name, each, pow(*each), answer.result, answer.cycles)
    except Unanswered:
        _one_by_one(machine, asked, found)
    return list(found.values())


def _one_by_one(machine: ForeignMachine, asked: list[tuple[str, Operands]], found: dict[str, Corner]) -> None:
    """Each row from reset, so that those that are answered are told from those that are not."""
    some = False
    for name, each in asked:
        try:
            with machine.session() as session:
                (answer,) = session.run([each])
        except Unanswered as error:
            if not some and name == asked[min(2, len(asked) - 1)][0]:
                raise
            found[name] = Corner(name, each, pow(*each), unanswered=f"no answer ({error})")
        else:
            some = True
            found[name] = Corner(name, each, pow(*each), answer.result, answer.cycles)
