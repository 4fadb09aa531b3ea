"""Corner rows of the flow on a third-party core at RTL, each checked against Python's `pow`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....fl.errors import shown
from ..interfaces import Operands
from .core import Unanswered
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
        """The likely defect, by the numbers."""
        _, exp, mod = self.operands
        if self.got is None or self.got == self.expected:
            return ""
        if exp == 0 and self.got == 1:
            return " (1 for the exponent 0, not reduced)"
        if self.got == mod and self.expected == 0:
            return " (the modulus in the place of 0: a last subtraction compares by > and not by >=)"
        if self.got % mod == self.expected:
            return " (the same residue, not reduced)"
        return ""


def corners(
    machine: ForeignMachine,
    rows: Sequence[tuple[str, Operands]],
    progress: Callable[[int, int], None] | None = None,
) -> list[Corner]:
    """All rows; Unanswered if the core does not answer the first of them."""
    found: dict[str, Corner] = {}
    asked: list[tuple[str, Operands]] = []
    for name, operands in rows:
        if refused := machine.refusal(*operands):
            found[name] = Corner(name, operands, 0, refused=refused)
        else:
            asked.append((name, operands))
            found[name] = Corner(name, operands, pow(*operands))
    try:
        with machine.session() as session:
            session.run([operands for _, operands in asked[:1]])  # a core that always hangs does so at once
            answers = session.run([operands for _, operands in asked], progress)
        for (name, row), answer in zip(asked, answers, strict=True):
            found[name] = Corner(name, row, pow(*row), answer.result, answer.cycles)
    except Unanswered:
        _one_by_one(machine, asked, found)
    return list(found.values())


def _one_by_one(machine: ForeignMachine, asked: list[tuple[str, Operands]], found: dict[str, Corner]) -> None:
    """Run each row from reset, to tell those that are answered from those that are not."""
    some = False
    for name, row in asked:
        try:
            with machine.session() as session:
                (answer,) = session.run([row])
        except Unanswered as error:
            if not some and name == asked[min(2, len(asked) - 1)][0]:
                raise
            found[name] = Corner(name, row, pow(*row), unanswered=f"no answer ({error})")
        else:
            some = True
            found[name] = Corner(name, row, pow(*row), answer.result, answer.cycles)
