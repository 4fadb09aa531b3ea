"""What a run of a program is, at every level and stage: how it ended, what it did, and where the cycles went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from . import csrs
from .causes import FETCH_FAULT, ILLEGAL, MEANING
from .isa import decode, disassemble, imm

if TYPE_CHECKING:
    from .elf import Program

# What a cycle was spent on, in the words of the table: an instruction retires or traps (issue), or a bubble leaves
# the pipeline in its place, and this is why. BUBBLES are in the order of the commit port's field `bubble`.
CAUSES_OF_CYCLES = (
    "issue",
    "load_use",
    "branch",
    "multiplier",
    "divider",
    "accelerator",
    "fetch",
    "data_memory",
    "manager",
    "flush",
    "start",
)
BUBBLES = ("start", *CAUSES_OF_CYCLES[1:-1])


class Commit(NamedTuple):
    """One instruction that has retired.

    data: what was written to register rd; both are 0 if none was, and for x0. For a store, the whole of rs2.
    addr: of a load or store, else 0.
    """

    pc: int
    inst: int
    rd: int
    data: int
    addr: int


class Trap(NamedTuple):
    """The trap at which a machine stopped: mcause and mtval of `modexlab.proc.causes`."""

    pc: int
    inst: int
    cause: int
    tval: int


@dataclass(frozen=True)
class Window:
    """What was inside the stats window; the functional level has no cycles."""

    instructions: int
    cycles: int | None = None
    where: Mapping[str, int] = field(default_factory=dict)

    @property
    def cpi(self) -> float | None:
        """Cycles per instruction, where there are both."""
        return self.cycles / self.instructions if self.cycles is not None and self.instructions else None


@dataclass(frozen=True)
class Outcome:
    """The end of a run.

    reason: "exit" (an ecall; the code is in a0), "tohost" (a word was stored there), "trap", or "limit" (given up).
    cycles: from the first after reset to the one in which the last instruction retires or traps, inclusive.
    where: cycles by CAUSES_OF_CYCLES; their sum is `cycles`.
    output: the words that the program sent to the manager.
    last_pcs: of the last instructions that retired, at most 16, the latest last.
    """

    reason: str
    exit_code: int | None
    instructions: int
    cycles: int | None
    where: Mapping[str, int]
    window: Window
    output: list[int]
    trap: Trap | None
    last_pcs: list[int]
    commits: list[Commit] | None
    level: str
    stage: str | None

    @property
    def cpi(self) -> float | None:
        """Cycles per instruction, where there are both."""
        return self.cycles / self.instructions if self.cycles is not None and self.instructions else None

    def explain(self, program: Program) -> str:
        """One line on an end that is not the program's own: which instruction trapped and why, or where it still was."""
        if self.trap is not None:
            pc, inst, cause, tval = self.trap
            text = f"{MEANING[cause]} (mcause {cause}, mtval 0x{tval:x}) at pc {program.place(pc)}"
            if cause == FETCH_FAULT:  # there is no word that could not be fetched
                return text
            text += f": {disassemble(inst, pc)}"
            each = decode(inst)
            if cause == ILLEGAL and each is not None and each.group == "csr":
                text += f"; {csrs.refusal(imm(inst, each.fmt))}"
            return text
        if self.reason == "limit":
            cycles = "" if self.cycles is None else f" and {self.cycles} cycles"
            pcs = " ".join(f"0x{pc:x}" for pc in self.last_pcs) or "none"
            last = f", the last in {program.near(self.last_pcs[-1])}" if self.last_pcs else ""
            return f"no end after {self.instructions} instructions{cycles}; last pcs: {pcs}{last}"
        return f"the program ended with exit code {self.exit_code}"
