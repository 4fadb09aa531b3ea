"""Python testbench for any PyMTL3 component with the ports of a processor."""

from collections import deque

from pymtl3 import Component

from ...rtl.sim import interrupt
from ...rtl.sim.protocol import Progress, Random, hang_cycles
from ...rtl.sim.pymodel import InPython, PythonStage, Receiver, Sender
from ...rtl.sim.verilog import VerilogStage
from ..isa.csrs import PROC2MNGR
from ..isa.isa import BY_NAME, LOAD, STORE, SYSTEM, disassemble
from ..iss.outcome import (
    A0,
    ACCELERATOR_WAIT,
    BUBBLES,
    HANG,
    INTERRUPT_WAIT,
    LAST_PCS,
    TRAP_LOOP,
    Commit,
    Trap,
)
from ..software.memory import Memory, mapped
from .base import (
    ACCELERATOR,
    ISSUE,
    LOOP_TRAPS,
    MANAGER,
    SLEEP,
    STARVED_CYCLES,
    Job,
    MemoryTiming,
    MisalignedRequest,
    ProcSimulation,
    Refused,
    Tally,
)

CSR_WORD = PROC2MNGR << 20 | SYSTEM  # a csr instruction that accesses proc2mngr, under CSR_MASK
CSR_MASK = 0xFFF << 20 | 0x7F
OPCODE, SW = 0x7F, BY_NAME["sw"]

ERROR = 1 << 32  # the field `error` of a packed response


class _Delays(Random):
    """The random delays of one port."""

    def __init__(self, start: int, timing: MemoryTiming) -> None:
        super().__init__(start)
        self._threshold, self._extra = timing.threshold, timing.extra

    def stall(self) -> bool:
        """Whether the port stalls in this cycle."""
        return bool(self._threshold) and self.draw() < self._threshold

    def extra(self) -> int:
        """The additional delay of an answer in cycles."""
        return self.draw() * (self._extra + 1) >> 32 if self._extra else 0


class _MemoryPort:
    """One port of the memory: it accepts requests and answers in order."""

    def __init__(
        self, name: str, top: Component, memory: Memory, timing: MemoryTiming, start: int, backend: str
    ) -> None:
        self._name, self._backend = f"{name}_req", backend
        self._req = getattr(top, self._name)
        self._requests = Receiver(self._req, f"{self._name} message", backend)
        self._responses = Sender(getattr(top, f"{name}_resp"))
        self._memory, self._latency = memory, timing.latency
        self._delays = _Delays(start, timing)
        # first cycle in which it may be given, and the answer
        self._answers: deque[tuple[int, int]] = deque()
        self.refused: Refused | None = None  # the first access outside of the memory

    def drive(self, cycle: int) -> None:
        """Drive the inputs of this cycle."""
        self._requests.ready(not self._delays.stall())
        answers = self._answers
        self._responses.offer(answers[0][1] if answers and answers[0][0] <= cycle else None)

    def serve(self, cycle: int) -> None:
        """Accept the processor's request of this cycle; drop the answer that the processor accepted."""
        if self._requests.accept(cycle) is not None:
            msg = self._req.msg
            addr = int(msg.addr)
            if addr & 3:
                raise MisalignedRequest.at(self._name, addr, cycle, self._backend)
            answer = self._access(addr, int(msg.strobe) if msg.write else None, int(msg.data))
            if answer == ERROR and self.refused is None:
                self.refused = Refused(cycle, addr, bool(msg.write))
            self._answers.append((cycle + self._latency + self._delays.extra(), answer))
        if self._responses.fires:
            self._answers.popleft()

    def _access(self, addr: int, strobe: int | None, data: int) -> int:
        if not mapped(addr):
            return ERROR
        if strobe is None:
            return self._memory.read(addr, 4)
        for i in range(4):
            if strobe >> i & 1:
                self._memory.write(addr + i, 1, data >> 8 * i & 0xFF)
        return 0


class _Manager:
    """Both streams of words between program and manager."""

    def __init__(self, top: Component, job: Job, backend: str) -> None:
        self._source = Sender(top.mngr2proc)
        self._sink = Receiver(top.proc2mngr, "proc2mngr message", backend)
        self._words = job.manager
        *_, source_start, sink_start = job.timing.starts
        self._source_delays = _Delays(source_start, job.timing)
        self._sink_delays = _Delays(sink_start, job.timing)
        self._sent, self._offered = 0, False
        self.output: list[int] = []

    def drive(self) -> None:
        """Drive the inputs of this cycle."""
        if not self._source_delays.stall() and self._sent < len(self._words):
            self._offered = True
        self._source.offer(self._words[self._sent] if self._offered else None)
        self._sink.ready(not self._sink_delays.stall())

    def exchange(self, cycle: int) -> None:
        """Move the words of this cycle."""
        if self._source.fires:
            self._sent, self._offered = self._sent + 1, False
        word = self._sink.accept(cycle)
        if word is not None:
            self.output.append(word)

    @property
    def idle(self) -> bool:
        """Whether all words have been read and no word from the program waits to be accepted."""
        return self._sent == len(self._words) and not self._sink.offered


class _Observer:
    """Observer of the commit port, which detects the end of a run."""

    def __init__(self, top: Component, job: Job, manager: _Manager, backend: str) -> None:
        self._port, self._job, self._manager = top.commit, job, manager
        self._accelerator_cycles = hang_cycles(backend)
        self._last_pcs: deque[int] = deque(maxlen=LAST_PCS)
        commits: list[Commit] | None = [] if job.record else None
        self.tally = Tally(last_pcs=self._last_pcs, output=manager.output, commits=commits)
        self._traps = 0  # since an instruction retired
        self._written = 0  # words to the manager by retired instructions
        self._asleep = False  # the last wait was that of wfi
        self._starved = 0

    def sample(self) -> str:
        """Count the slot of this cycle; return the reason why the run ends with it, or ""."""
        port, tally = self._port, self.tally
        slot = ISSUE if port.val | port.trap else int(port.bubble)
        tally.cycles += 1
        tally.where[slot] += 1
        if port.stats:
            tally.stats_where[slot] += 1
        self._starved = self._starved + 1 if slot == MANAGER and self._manager.idle else 0
        if port.val:
            return self._retire() or self._limit()
        tally.since += 1
        if slot in (ACCELERATOR, SLEEP):
            tally.waiting += 1
            self._asleep = slot == SLEEP
        if port.trap:
            trap = Trap(*map(int, (port.pc, port.inst, port.cause, port.data)))
            if port.halt:
                tally.trap = trap
                return "halt"
            tally.last_trap = trap
            self._traps += 1
        return self._limit()

    def _retire(self) -> str:
        """Record the effects of the instruction in the slot; return the reason why the run ends with it, or
        "".
        """
        port, tally = self._port, self.tally
        inst = int(port.inst)
        rd = int(port.rd) if port.wen else 0
        opcode = inst & OPCODE
        data = int(port.data) if rd or opcode == STORE else 0
        addr = int(port.addr) if opcode in (LOAD, STORE) else 0
        commit = Commit(int(port.pc), inst, rd, data, addr)
        tally.since = tally.waiting = self._traps = 0
        tally.instructions += 1
        tally.stats_instructions += int(port.stats)
        self._last_pcs.append(commit.pc)
        if tally.commits is not None:
            tally.commits.append(commit)
        if inst & CSR_MASK == CSR_WORD:
            self._written += 1
        if rd == A0:
            tally.a0 = data
        if addr == self._job.program.tohost and inst & SW.mask == SW.match and data:
            tally.stored = data
            # discard words of instructions after the end, which the pipeline has already executed
            del tally.output[self._written :]
            return "tohost"
        return ""

    def _limit(self) -> str:
        """The reason why the run times out, or ""."""
        tally, job = self.tally, self._job
        if self._traps >= LOOP_TRAPS:
            return TRAP_LOOP
        if tally.waiting >= self._accelerator_cycles:
            return INTERRUPT_WAIT if self._asleep else ACCELERATOR_WAIT
        if tally.since - tally.waiting >= job.hang_cycles:
            return HANG
        if job.max_cycles and tally.cycles >= job.max_cycles:
            return "limit"
        return "starved" if self._starved >= STARVED_CYCLES else ""


class PythonBench(InPython, ProcSimulation):
    """A testbench that runs programs on a component with the ports of a processor."""

    @interrupt.kept()
    def _drive(self, job: Job, progress: Progress | None) -> Tally:
        top = self._top
        memory = Memory()
        memory.load(job.program.segments)
        imem, dmem = (
            _MemoryPort(name, top, memory, job.timing, start, self.backend)
            for name, start in zip(("imem", "dmem"), job.timing.starts, strict=False)
        )
        manager = _Manager(top, job, self.backend)
        observer = _Observer(top, job, manager, self.backend)
        tally = observer.tally

        def drive(cycle: int) -> None:
            imem.drive(cycle)
            dmem.drive(cycle)
            manager.drive()

        def sample(cycle: int) -> bool:
            imem.serve(cycle)
            dmem.serve(cycle)
            manager.exchange(cycle)
            tally.end = observer.sample()
            return bool(tally.end)

        top.entry @= job.program.entry
        top.core_id @= job.core_id
        self._reset()
        self._cycles(drive, sample, progress and (lambda: progress(tally.cycles, job.max_cycles or 0)))
        tally.refused = dmem.refused
        return tally

    def _events(self) -> str:
        """Text for the slot that leaves the pipeline: an instruction, a trap, or a bubble and its reason."""
        commit = self._top.commit
        if not commit.val | commit.trap:
            return f"({BUBBLES[int(commit.bubble)]})"
        pc = int(commit.pc)
        text = f"{pc:08x} {disassemble(int(commit.inst), pc)}"
        return f"{text}  trap, cause {int(commit.cause)}" if commit.trap else text


class PythonProcSimulation(PythonStage, PythonBench):
    """Simulation of the component itself."""


class VerilogProcSimulation(VerilogStage, PythonBench):
    """Simulation of the component's Verilog, imported back."""
