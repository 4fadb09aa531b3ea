"""Result of a program on a processor with every backend, and the common parts of its testbenches.

The testbench is written twice (`pybench.py` and `native.cpp`), and tests compare the two, so that outcomes
are equal with all backends, cycle for cycle. Cycle 0 is the first cycle after reset. In each cycle the bench
drives the inputs, lets the combinational logic settle, and samples. The ports are then served in this order:
a request for an instruction; one for data, which is written at once; accepted answers; words to and from the
manager; and the commit port. All inputs of a cycle depend only on earlier samples. The memory is that of
memory.py; it is empty before each run.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...fl.errors import BadInput
from ...rtl.sim.base import Model
from ...rtl.sim.protocol import Progress, Stall
from ..core.messages import INTERRUPT_CODE
from ..isa.causes import ALWAYS_HALT, ECALL, EXTERNAL_INTERRUPT, FETCH_FAULT
from ..iss.outcome import (
    ACCELERATOR_WAIT,
    BUBBLES,
    CAUSES_OF_CYCLES,
    HANG,
    INTERRUPT_WAIT,
    TRAP_LOOP,
    Commit,
    Execution,
    Stuck,
    Trap,
    Window,
    out_of_words,
)
from ..software.elf import Program
from ..software.memory import map_text
from .harness import check

# A run times out after this many cycles without a retired instruction, whatever max_cycles is. Cycles spent
# waiting for an accelerator, or in wfi for its interrupt, are limited by `rtl.sim.protocol.hang_cycles`
# instead.
HANG_CYCLES = 1_000_000
MOST_WAITS = 10  # an upper bound for the memory accesses of an instruction, which add to HANG_CYCLES
# consecutive traps without a retired instruction that make a loop: outcome.TRAP_LOOP
LOOP_TRAPS = 2
# consecutive cycles in which an instruction waits for a word of the manager after the last one was read
STARVED_CYCLES = 1000
ACCELERATOR, MANAGER, SLEEP = map(BUBBLES.index, ("accelerator", "manager", "sleep"))
ISSUE = 16  # index of slots that are not bubbles, above all codes of the field `bubble`


PORTS = ("imem", "dmem", "mngr2proc", "proc2mngr")  # each has its own random generator


@dataclass(frozen=True)
class MemoryTiming:
    """Timing of both memory ports; stalls also apply to both manager ports.

    latency: a request that fires in cycle c is answered in cycle c + latency at the earliest. stall: the
    probability, in each cycle, that a port does not accept a request (the manager: a word), and that the
    manager holds back a word that it has not offered yet. extra: each answer is delayed by 0 to `extra` more
    cycles, uniformly distributed; answers stay in order. seed: of the random numbers, which are the same at
    every backend.
    """

    latency: int = 1
    stall: float = 0.0
    extra: int = 0
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.latency < 2**31:
            raise BadInput(f"the memory's latency must be 1 or more cycles (below 2**31), not {self.latency}")
        if not 0 <= self.extra < 2**31:
            raise BadInput(f"the memory's extra cycles must be 0 or more (below 2**31), not {self.extra}")
        if not 0 <= self.stall < 1:
            raise BadInput(f"the memory's stall probability must be in [0, 1), not {self.stall}")

    @property
    def starts(self) -> tuple[int, ...]:
        """The initial states of the generators of PORTS."""
        return tuple(Stall(len(PORTS) * self.seed + i).start for i in range(len(PORTS)))

    @property
    def threshold(self) -> int:
        """A random number of 32 bits below this value means a stall; with 0, none is generated."""
        return Stall(self.seed, source=self.stall).thresholds[0]


class MisalignedRequest(RuntimeError):
    """Error: the processor requested something other than an aligned word from its memory."""

    @classmethod
    def at(cls, port: str, addr: int, cycle: int, backend: str) -> "MisalignedRequest":
        """The error for a request on this port."""
        return cls(
            f"{port} with backend {backend} asks for address 0x{addr:x} in cycle {cycle}: bits 1:0 must be 0"
        )


class UnknownBubble(RuntimeError):
    """Error: the commit port gave a reason for an empty slot that is not in BUBBLES."""


@dataclass(frozen=True)
class Job:
    """A run with validated arguments."""

    program: Program
    manager: Sequence[int]
    timing: MemoryTiming
    max_cycles: int | None
    record: bool
    core_id: int

    def __post_init__(self) -> None:
        for i, word in enumerate(self.manager):
            if not 0 <= word < 2**32:
                raise BadInput(f"manager word {i} is {word}: give integers from 0 to 2**32 - 1")
        if self.max_cycles is not None and self.max_cycles < 1:
            raise BadInput(f"max_cycles must be at least 1, not {self.max_cycles}")
        if not 0 <= self.core_id < 2**32:
            raise BadInput(f"core_id is {self.core_id}: give an integer from 0 to 2**32 - 1")

    @property
    def hang_cycles(self) -> int:
        """The number of cycles without a retired instruction after which the processor counts as hung."""
        return HANG_CYCLES + MOST_WAITS * (self.timing.latency + self.timing.extra)


class Refused(NamedTuple):
    """A data access outside of the memory."""

    cycle: int
    addr: int
    writes: bool


class AcceleratorFault(RuntimeError):
    """Error: the accelerator made an access outside of the memory. One of the processor stops it."""

    @classmethod
    def at(cls, access: Refused, backend: str) -> "AcceleratorFault":
        """The error for its first one."""
        return cls(
            f"the accelerator {'writes' if access.writes else 'reads'} at 0x{access.addr:x} in cycle "
            f"{access.cycle} with backend {backend}, where there is no memory; memory is {map_text()}; "
            "correct the pointer in the program, or the accelerator"
        )


@dataclass
class Tally:
    """Counts of a run, and how it ended."""

    end: str = ""
    cycles: int = 0
    instructions: int = 0
    stats_instructions: int = 0
    where: list[int] = field(default_factory=lambda: [0] * (ISSUE + 1))
    stats_where: list[int] = field(default_factory=lambda: [0] * (ISSUE + 1))
    a0: int = 0
    stored: int = 0  # the word stored in tohost
    trap: Trap | None = None  # the trap that ended the run
    last_trap: Trap | None = None  # the last trap for which a handler was entered
    since: int = 0  # cycles since an instruction retired
    waiting: int = 0  # those of them spent waiting for the accelerator or an interrupt
    last_pcs: Sequence[int] = ()
    output: list[int] = field(default_factory=list)
    commits: list[Commit] | None = None
    refused: Refused | None = None  # the first data access outside of the memory

    @property
    def is_accelerator_refused(self) -> bool:
        """Whether the program ended although the memory refused an access; one of the processor halts it."""
        halted = self.end == "halt" and self.trap is not None and self.trap.cause in ALWAYS_HALT
        return self.refused is not None and self.end in ("halt", "tohost") and not halted

    def outcome(self, backend: str) -> Execution:
        """The run as an `Execution`, the type that all levels return."""
        reason, exit_code, trap, why = self.end, None, None, ""
        if self.end in (TRAP_LOOP, ACCELERATOR_WAIT, INTERRUPT_WAIT, HANG):
            reason, why = "limit", self.end
        elif self.end == "limit" and 2 * self.waiting > self.cycles:
            asleep = self.where[SLEEP] > self.where[ACCELERATOR]
            why = INTERRUPT_WAIT if asleep else ACCELERATOR_WAIT
        elif self.end == "tohost":
            exit_code = self.stored >> 1
        elif self.end == "halt" and self.trap is not None:
            if self.trap.cause == ECALL:
                reason, exit_code = "exit", self.a0
            else:
                reason = "trap"
                trap = _architectural(self.trap)
        return Execution(
            self.instructions,
            self.cycles,
            _named(self.where),
            reason=reason,
            exit_code=exit_code,
            window=Window(self.stats_instructions, sum(self.stats_where), _named(self.stats_where)),
            output=self.output,
            trap=trap,
            last_trap=self.last_trap and _architectural(self.last_trap),
            stuck=Stuck(why, self.since) if why else None,
            last_pcs=list(self.last_pcs),
            commits=self.commits,
            level="rtl",
            backend=backend,
        )


def _architectural(trap: Trap) -> Trap:
    """The trap with the cause of mcause, and without an instruction word if it could not be fetched."""
    if trap.cause == INTERRUPT_CODE:
        return trap._replace(cause=EXTERNAL_INTERRUPT)
    return trap._replace(inst=0) if trap.cause == FETCH_FAULT else trap


def _named(where: Sequence[int]) -> dict[str, int]:
    for code in range(len(BUBBLES), ISSUE):
        if where[code]:
            raise UnknownBubble(
                f"{where[code]} bubbles have the code {code}; the last one with a meaning is "
                f"{len(BUBBLES) - 1}"
            )
    counts = dict(zip(BUBBLES, where, strict=False)) | {"issue": where[ISSUE]}
    return {cause: counts[cause] for cause in CAUSES_OF_CYCLES}


class ProcSimulation(Model):
    """A processor, elaborated and built for one backend; `run` may be called any number of times."""

    read_ports = staticmethod(check)

    def run(
        self,
        program: Program,
        *,
        manager: Iterable[int] = (),
        timing: MemoryTiming | None = None,
        max_cycles: int | None = None,
        record: bool = False,
        core_id: int = 0,
        progress: Progress | None = None,
    ) -> Execution:
        """Reset the processor, load the program into an empty memory, and run it to its end.

        manager: the words that the program reads from mngr2proc. record: keep the commits. timing: by
        default, a memory that answers in the next cycle. `progress(cycles, max_cycles or 0)` is called
        occasionally in long runs. The reason of the outcome is "limit" if `max_cycles` is too small, or if
        nothing retires any more; its field `stuck` distinguishes the two. Raises BadInput if the program
        reads more words than there are; AcceleratorFault if the accelerator leaves the memory; BrokenPromise,
        MisalignedRequest and UnknownBubble report violations of the protocol of the ports.
        """
        job = Job(program, tuple(manager), timing or MemoryTiming(), max_cycles, record, core_id)
        tally = self._drive(job, progress)
        self._check_waves()
        if tally.refused is not None and tally.is_accelerator_refused:
            raise AcceleratorFault.at(tally.refused, self.backend)
        if tally.end == "starved":
            raise out_of_words(len(job.manager))
        return tally.outcome(self.backend)

    @abstractmethod
    def _drive(self, job: Job, progress: Progress | None) -> Tally:
        """Perform the job; `progress` as in `run`."""
