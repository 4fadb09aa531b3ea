"""Result of a program at every level and backend: its end, its effects, and its cycles by cause."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...fl.errors import BadInput
from ..isa import csrs
from ..isa.causes import FETCH_FAULT, ILLEGAL, MEANING
from ..isa.isa import REGISTERS, decode, disassemble, imm
from ..software.elf import Program

# Causes of cycles, as in the table: an instruction retires or traps (issue), or a bubble leaves the pipeline
# for one of these reasons. BUBBLES are in the order of the commit port's field `bubble`.
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
    "sleep",
    "start",
)
BUBBLES = ("start", *CAUSES_OF_CYCLES[1:-1])

A0 = REGISTERS.index("a0")  # holds the exit code
LAST_PCS = 16  # number of addresses that are kept

# Reasons why nothing retires any more: the first instruction of the handler traps, so traps repeat forever;
# an instruction waits for the accelerator; wfi waits; any other reason.
TRAP_LOOP, ACCELERATOR_WAIT, HANG = "trap loop", "waiting for the accelerator", "hang"
INTERRUPT_WAIT = "waiting for an interrupt (wfi)"


class Commit(NamedTuple):
    """One retired instruction.

    data: the value written to register rd; both are 0 if none was written, and for x0. For a store, the whole
    of rs2. addr: of a load or store, otherwise 0.
    """

    pc: int
    inst: int
    rd: int
    data: int
    addr: int


class Trap(NamedTuple):
    """The trap at which a machine stopped: mcause and mtval as in `modexlab.proc.isa.causes`."""

    pc: int
    inst: int
    cause: int
    tval: int


class Stuck(NamedTuple):
    """Why a run was ended because nothing retired any more (TRAP_LOOP ...), and after how many cycles."""

    why: str
    cycles: int | None


@dataclass(frozen=True)
class Window:
    """Counts of a run, or of its stats window; the functional level has no cycles."""

    instructions: int
    cycles: int | None = None
    where: Mapping[str, int] = field(default_factory=dict)

    @property
    def cpi(self) -> float | None:
        """Cycles per instruction, or None if there are no cycles or no instructions."""
        return self.cycles / self.instructions if self.cycles is not None and self.instructions else None


@dataclass(frozen=True, kw_only=True)
class Execution(Window):
    """The result of a run.

    reason: "exit" (an ecall; the code is in a0), "tohost" (a word was stored there), "trap", or "limit"
    (ended early). cycles: from the first after reset to the one in which the last instruction retires or
    traps, inclusive. where: cycles by CAUSES_OF_CYCLES; their sum is `cycles`. output: the words that the
    program sent to the manager. last_trap: the last trap for which a handler was entered; `trap` is the one
    that ended the run. stuck: with the reason "limit", set if nothing retired any more; otherwise the limit
    was too small. last_pcs: addresses of the last instructions that retired, at most LAST_PCS, the latest
    last.
    """

    reason: str
    exit_code: int | None
    window: Window
    output: list[int]
    trap: Trap | None
    last_trap: Trap | None
    stuck: Stuck | None
    last_pcs: list[int]
    commits: list[Commit] | None
    level: str
    backend: str | None = None

    def explain(self, program: Program) -> str:
        """One line about an end that is not the program's own: the instruction that trapped and the cause, or
        the last addresses.
        """
        if self.trap is not None:
            return explained(self.trap, program)
        if self.stuck is not None:
            return self._explain_stuck(self.stuck, program)
        if self.reason == "limit":
            cycles = "" if self.cycles is None else f" and {self.cycles} cycles"
            pcs = " ".join(f"0x{pc:x}" for pc in self.last_pcs) or "none"
            last = f", the last in {program.near(self.last_pcs[-1])}" if self.last_pcs else ""
            return f"no end after {self.instructions} instructions{cycles}; last pcs: {pcs}{last}"
        return f"the program ended with exit code {self.exit_code}"

    def _explain_stuck(self, stuck: Stuck, program: Program) -> str:
        """Text about how long nothing has retired, and why."""
        for_long = "" if stuck.cycles is None else f" for {stuck.cycles} cycles"
        since = f"since pc {program.place(self.last_pcs[-1])}" if self.last_pcs else "since reset"
        text = f"nothing has retired{for_long} {since}"
        if stuck.why == HANG:
            return text
        text += f": {stuck.why}"
        if stuck.why == TRAP_LOOP and self.last_trap is not None:
            text += f", the handler's first instruction traps: {explained(self.last_trap, program)}"
        return text


def explained(trap: Trap, program: Program) -> str:
    """A trap as text: its cause and its instruction."""
    pc, inst, cause, tval = trap
    text = f"{MEANING[cause]} (mcause {cause}, mtval 0x{tval:x}) at pc {program.place(pc)}"
    if cause == FETCH_FAULT:  # there is no instruction word
        return text
    text += f": {disassemble(inst, pc)}"
    instruction = decode(inst)
    if cause == ILLEGAL and instruction is not None and instruction.group == "csr":
        text += f"; {csrs.refusal(imm(inst, instruction.fmt))}"
    return text


def out_of_words(given: int) -> BadInput:
    """The error for a program that reads more words from mngr2proc than there are."""
    return BadInput(
        f"the program reads manager word {given + 1}, and only {given} were given; give as many words as it "
        "reads"
    )
