"""Instruction-set simulator: the processor at the functional level, the reference for the RTL.

It is fast in plain Python: each instruction is decoded once, to a function without arguments that executes it
(`modexlab.proc.iss.semantics`), and straight-line sequences are cached as blocks. A store into a word that
has been decoded discards all of them and ends its own block: subsequent instructions see the new code
immediately, without fence.i.

With a bus there is the external interrupt. It is taken before an instruction, never before a wfi. If
instructions are run singly, the line is sampled between any two of them, otherwise at the ends of blocks:
before and after every access to the bus and after csr instructions, mret and wfi. For a line that changes
only by accesses, the result is the same.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from ...fl.axi4lite import OKAY, Axi4LiteFL
from ...fl.errors import BadInput
from ..isa import causes, csrs
from ..isa.isa import BY_NAME, Instruction, decode, imm, rd, rs1, rs2
from ..software.elf import Program
from ..software.memory import BUS_BASE, PAGE_SHIFT, AccessFault, Memory, mapped, on_bus
from .outcome import (
    A0,
    INTERRUPT_WAIT,
    LAST_PCS,
    TRAP_LOOP,
    Commit,
    Execution,
    Stuck,
    Trap,
    Window,
    out_of_words,
)
from .semantics import BRANCHES, LOADS, MAKERS, STORES, VALUES, M, Step

WFI = BY_NAME["wfi"].match

SINK = 32  # the register that is written in place of x0

MAX_INSTRUCTIONS = 1_000_000_000  # minutes; callers set a limit for programs that run longer
MAX_BLOCK = 64
SLICE = 1 << 18  # instructions between reports of progress

# number of a CSR -> counter, and the lowest bit of it that the CSR shows
COUNTERS = {
    **dict.fromkeys((csrs.MCYCLE, csrs.CYCLE), (csrs.MCYCLE, 0)),
    **dict.fromkeys((csrs.MCYCLEH, csrs.CYCLEH), (csrs.MCYCLE, 32)),
    **dict.fromkeys((csrs.MINSTRET, csrs.INSTRET), (csrs.MINSTRET, 0)),
    **dict.fromkeys((csrs.MINSTRETH, csrs.INSTRETH), (csrs.MINSTRET, 32)),
}
# registers with nonzero reset values, and the bits that a program may write
RESET = {csrs.MSTATUS: csrs.MSTATUS_VALUE, csrs.MISA: csrs.MISA_VALUE, csrs.NUMCORES: 1}
WRITABLE = {csrs.MTVEC: ~3, csrs.MEPC: ~3, csrs.STATS_EN: 1}
WRITABLE |= dict.fromkeys((csrs.MSCRATCH, csrs.MCAUSE, csrs.MTVAL), M)
INTERRUPTS_ON, WERE_ON = 1 << csrs.MIE_BIT, 1 << csrs.MPIE_BIT  # of mstatus
EXTERNAL = 1 << csrs.EXTERNAL_BIT  # of mie
WRITABLE_ON_BUS = {**WRITABLE, csrs.MSTATUS: INTERRUPTS_ON | WERE_ON, csrs.MIE: EXTERNAL}


class Accelerator(Protocol):
    """Protocol of an accelerator as seen through its registers, for example modexlab.fl.xcel.XcelFL."""

    def write(self, addr: int, data: int) -> None:
        """Perform a write access."""

    def read(self, addr: int) -> int:
        """Perform a read access and return the data."""


class _Stop(Exception):
    """The current block ends before the instruction at pc, or after it if that has retired."""

    retired = False

    def __init__(self, pc: int, value: int = 0, cause: int = 0) -> None:
        self.pc, self.value, self.cause = pc, value, cause


class _Trapped(_Stop):
    """The instruction traps with this cause; value: mtval."""


class _OnBus(_Stop):
    """The instruction accesses the bus."""


class _Asleep(_Stop):
    """The wfi waits for an interrupt that cannot occur any more."""


class _ToHost(_Stop):
    """The store ends the program; value: the stored word."""

    retired = True


class _NewCode(_Stop):
    """The store has invalidated the decoded instructions."""

    retired = True


class _Operation(NamedTuple):
    """A decoded instruction."""

    run: Step  # returns the next pc if `ends`
    ends: bool = False  # the last one of a block
    counts: bool = False  # may read the instruction counter, so it has a block of its own


class _Block(NamedTuple):
    """A straight-line sequence of instructions: all but the last one, and the last one, which returns the
    next pc.
    """

    steps: tuple[Step, ...]
    last: Step
    pcs: range


class ISS:
    """A processor with its memory. Each run starts from reset, with the program reloaded.

    xcel: the accelerator that serves its registers; it is not reset between runs. bus: likewise, the slave at
    the start of the bus's window, which raises the interrupt; without it there is no bus and no interrupt,
    and wfi does nothing. There is no clock: the line of the slave changes only by an access, or in `sleep`,
    which is called before wfi waits. manager: the words that the program reads from mngr2proc. After a run,
    `x` has the registers and `memory` the memory.
    """

    def __init__(
        self,
        program: Program,
        xcel: Accelerator | None = None,
        manager: Sequence[int] = (),
        core_id: int = 0,
        bus: Axi4LiteFL | None = None,
        sleep: Callable[[], object] = lambda: None,
    ) -> None:
        self.program, self.xcel, self.manager, self.core_id = program, xcel, manager, core_id
        self.bus, self.sleep = bus, sleep
        self._writable = WRITABLE if bus is None else WRITABLE_ON_BUS

    def _reset(self, record: bool) -> None:
        self.x = [0] * (SINK + 1)
        self.memory = Memory()
        self.memory.load(self.program.segments)
        self.pc = self.program.entry
        self.retired = 0
        self._tohost = self.program.tohost
        self._csrs = {**dict.fromkeys(self._writable, 0), **RESET, csrs.MHARTID: self.core_id}
        # counters are stored as their difference from the number of retired instructions
        self._counters = {csrs.MCYCLE: 0, csrs.MINSTRET: 0}
        self._stats_since = 0  # retired instructions when the window was opened
        self._in_window = 0
        self._words_read = 0
        self._output: list[int] = []
        self._last_pcs: deque[int] = deque(maxlen=LAST_PCS)
        self._commits: list[Commit] | None = [] if record else None
        self._stuck: Stuck | None = None
        # run instructions one at a time; the next one accesses the bus and is run alone
        self._singly = self._at_bus = False
        self._last_trap: Trap | None = None  # that a handler took
        self._last_trap_after = 0  # retired instructions at that trap
        self._operations: dict[int, _Operation] = {}
        self._blocks: tuple[dict[int, _Block], ...] = {}, {}  # of many instructions, of one
        # pages with code or tohost in them, and pages whose stores have no side effects
        self._watched = set() if self._tohost is None else {self._tohost >> PAGE_SHIFT}
        self._plain: dict[int, list[int]] = {}

    def run(
        self,
        max_instructions: int | None = None,
        record: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Execution:
        """Run until the program ends, traps without a handler, or has retired max_instructions.

        max_instructions: default MAX_INSTRUCTIONS. record: keep every commit; over ten times slower.
        progress: called with the number of retired instructions and the limit.
        """
        limit = MAX_INSTRUCTIONS if max_instructions is None else max_instructions
        self._reset(record)
        while self.retired < limit and self._stuck is None:
            # single steps for the last ones, as a block would run past the limit, and for accesses to the bus
            self._singly = record or self._at_bus or self.retired + MAX_BLOCK > limit
            whole = limit if self._singly else limit - MAX_BLOCK + 1
            stop = min(whole, self.retired + (1 if self._at_bus else SLICE))
            self._at_bus = False
            try:
                if self._interrupts_at(self.pc):
                    raise _Trapped(self.pc, cause=causes.EXTERNAL_INTERRUPT)
                self._run_blocks(stop)
            except _OnBus:
                self._at_bus = True
            except _Asleep as asleep:
                self.pc = asleep.pc
                self._stuck = Stuck(INTERRUPT_WAIT, None)
            except _Trapped as trapped:
                if not self._enter_handler(trapped):
                    return self._halted(trapped)
            except _ToHost as end:
                return self._outcome("tohost", 0 if end.value == 1 else end.value >> 1)
            except _NewCode:
                pass  # continue with the new code
            if progress is not None:
                progress(self.retired, limit)
        return self._outcome("limit", None)

    # ---- running

    def _run_blocks(self, stop: int) -> None:
        """Run whole blocks, or single instructions, until `stop` instructions have retired; record commits if
        requested.
        """
        blocks = self._blocks[self._singly]
        pc = self.pc
        commits = self._commits
        recent: deque[_Block] = deque(maxlen=LAST_PCS)
        commit = None
        try:
            while self.retired < stop:
                block = blocks.get(pc) or self._block(pc)
                if commits is not None:
                    commit = self._commit(pc)
                for step in block.steps:
                    step()
                pc = block.last()
                self.retired += len(block.pcs)
                recent.append(block)
                if commits is not None and commit is not None:
                    commits.append(commit._replace(data=self.x[commit.rd]) if commit.rd else commit)
                if self.bus is not None and self._interrupts_at(pc):
                    break
        except _Stop as end:
            if commits is not None and commit is not None and end.retired:
                commits.append(commit)
            self._leave(recent, pc, end.pc + 4 * end.retired)
            raise
        self._leave(recent, pc, pc)

    def _leave(self, recent: Iterable[_Block], start: int, end: int) -> None:
        """Account for retired instructions: those of these blocks, and those of a partly executed block
        before `end`.
        """
        for block in recent:
            self._last_pcs.extend(block.pcs)
        begun = range(start, end, 4)
        self._last_pcs.extend(begun)
        self.retired += len(begun)
        self.pc = end

    def _block(self, pc: int) -> _Block:
        """The block of instructions from pc on, up to a jump or the end of memory."""
        steps: list[Step] = []
        last = None
        at = pc
        most = 1 if self._singly else MAX_BLOCK
        while last is None and len(steps) < most and (at == pc or mapped(at)):
            operation = self._operation(at)
            if steps and operation.counts:
                break
            at += 4
            if operation.ends:
                last = operation.run
            else:
                steps.append(operation.run)
        block = self._blocks[self._singly][pc] = _Block(tuple(steps), last or (lambda: at), range(pc, at, 4))
        return block

    def _commit(self, pc: int) -> Commit:
        """The commit of the instruction at pc, without the value that it will write to a register."""
        x = self.x
        word = self.memory.read(pc, 4)
        instruction = decode(word)
        group = "" if instruction is None else instruction.group
        addr = 0
        if instruction is not None and group in ("load", "store"):
            addr = x[rs1(word)] + imm(word, instruction.fmt) & M
        to = 0 if group in ("", "branch", "store", "fence", "system") else rd(word)
        return Commit(pc, word, to, x[rs2(word)] if group == "store" else 0, addr)

    # ---- traps and the end of a run

    def _enter_handler(self, trapped: _Trapped) -> bool:
        """Enter the handler at mtvec; False if there is none or the trap always halts."""
        handler = self._csrs[csrs.MTVEC]
        refused = self.bus is not None and on_bus(trapped.value)
        if not handler or (trapped.cause in causes.ALWAYS_HALT and not refused):
            return False
        self._set_interrupts(False, bool(self._csrs[csrs.MSTATUS] & INTERRUPTS_ON))
        self._csrs |= {csrs.MEPC: trapped.pc, csrs.MCAUSE: trapped.cause, csrs.MTVAL: trapped.value}
        self.pc = handler
        if self._last_trap is not None and self._last_trap_after == self.retired:
            self._stuck = Stuck(TRAP_LOOP, None)
        self._last_trap, self._last_trap_after = self._trap(trapped), self.retired
        return True

    def _halted(self, trapped: _Trapped) -> Execution:
        if trapped.cause == causes.ECALL:
            return self._outcome("exit", self.x[A0])
        return self._outcome("trap", None, self._trap(trapped))

    def _trap(self, trapped: _Trapped) -> Trap:
        word = 0 if trapped.cause == causes.FETCH_FAULT else self.memory.read(trapped.pc, 4)
        return Trap(trapped.pc, word, trapped.cause, trapped.value)

    def _outcome(self, reason: str, exit_code: int | None, trap: Trap | None = None) -> Execution:
        open_window = self.retired - self._stats_since if self._csrs[csrs.STATS_EN] else 0
        return Execution(
            self.retired,
            reason=reason,
            exit_code=exit_code,
            window=Window(self._in_window + open_window),
            output=self._output,
            trap=trap,
            last_trap=self._last_trap,
            stuck=self._stuck,
            last_pcs=list(self._last_pcs),
            commits=self._commits,
            level="fl",
        )

    # ---- slow path of memory accesses

    def _load(self, pc: int, at: int, nbytes: int) -> int:
        """The word at this address: the slow path for accesses that are misaligned, on the bus, in a page
        that does not exist yet, or outside memory.
        """
        if at & nbytes - 1:
            raise _Trapped(pc, at, causes.MISALIGNED_LOAD)
        if self.bus is not None and on_bus(at):
            if not self._singly:
                raise _OnBus(pc)
            word, answer = self.bus.read((at & ~3) - BUS_BASE)
            if answer != OKAY:
                raise _Trapped(pc, at, causes.LOAD_FAULT)
            return word & M
        try:
            return self.memory.read(at & ~3, 4)
        except AccessFault:
            raise _Trapped(pc, at, causes.LOAD_FAULT) from None

    def _store(self, pc: int, at: int, nbytes: int, value: int) -> None:
        """Store a value: the slow path for accesses that are misaligned, on the bus, in a page that is new or
        contains code or tohost, or outside memory.
        """
        if at & nbytes - 1:
            raise _Trapped(pc, at, causes.MISALIGNED_STORE)
        if self.bus is not None and on_bus(at):
            if not self._singly:
                raise _OnBus(pc)
            # strobes select the stored bytes; the other bytes of the word are copies, as in hardware
            ones = (1 << 8 * nbytes) - 1
            data, strobes = (value & ones) * (M // ones), (1 << nbytes) - 1 << (at & 3)
            if self.bus.write((at & ~3) - BUS_BASE, data, strobes) != OKAY:
                raise _Trapped(pc, at, causes.STORE_FAULT)
            return
        try:
            page = self.memory.page(at)
        except AccessFault:
            raise _Trapped(pc, at, causes.STORE_FAULT) from None
        self.memory.write(at, nbytes, value)
        number = at >> PAGE_SHIFT
        if number not in self._watched:
            self._plain[number] = page
            return
        changes_code = at & ~3 in self._operations
        if changes_code:
            self._forget()
        if at == self._tohost and nbytes == 4 and value:
            raise _ToHost(pc, value)
        if changes_code:
            raise _NewCode(pc)

    # ---- the interrupt

    def _interrupts_at(self, pc: int) -> bool:
        """Whether the interrupt is taken before this instruction."""
        if self.bus is None or not (self._csrs[csrs.MSTATUS] & INTERRUPTS_ON and self._wakes()):
            return False
        return bool(self._csrs[csrs.MTVEC]) and mapped(pc) and self.memory.read(pc, 4) != WFI

    def _wakes(self) -> bool:
        """Whether the interrupt is pending and enabled in mie."""
        return self.bus is not None and bool(self._csrs[csrs.MIE]) and self.bus.interrupt

    def _set_interrupts(self, on: bool, were_on: bool) -> None:
        if self.bus is not None:
            self._csrs[csrs.MSTATUS] = csrs.MSTATUS_VALUE | on * INTERRUPTS_ON | were_on * WERE_ON

    def _forget(self) -> None:
        """Discard all decoded instructions, as memory may have changed."""
        self._operations.clear()
        for blocks in self._blocks:
            blocks.clear()

    # ---- decoding

    def _operation(self, pc: int) -> _Operation:
        """The decoded instruction at pc; a trap if it cannot be fetched."""
        operation = self._operations.get(pc)
        if operation is None:
            try:
                word = self.memory.read(pc, 4)
            except AccessFault:
                raise _Trapped(pc, pc, causes.FETCH_FAULT) from None
            self._watched.add(pc >> PAGE_SHIFT)
            self._plain.pop(pc >> PAGE_SHIFT, None)
            operation = self._operations[pc] = self._decoded(pc, word)
        return operation

    def _decoded(self, pc: int, word: int) -> _Operation:
        instruction = decode(word)
        if instruction is None:
            return self._trapping(pc, causes.ILLEGAL, word)
        name = instruction.name
        value = imm(word, instruction.fmt)
        a, b = rs1(word), rs2(word)
        x = self.x
        to = rd(word) or SINK
        if name in VALUES:
            i = value & M
            if instruction.fmt == "U":
                i = (value << 12) + (pc if name == "auipc" else 0) & M
            return _Operation(MAKERS[name](x, to, a, b, i))
        if name in LOADS:
            return _Operation(MAKERS[name](x, to, a, value, pc, self.memory.pages, self._load))
        if name in STORES:
            return _Operation(MAKERS[name](x, a, b, value, pc, self._plain, self._store))
        if name in BRANCHES:
            return self._branch(pc, word, MAKERS[name], pc + value & M)
        return getattr(self, f"_{instruction.group}")(pc, word, instruction)

    def _trapping(self, pc: int, cause: int, tval: int = 0) -> _Operation:
        """An instruction that always traps."""

        def run() -> int:
            raise _Trapped(pc, tval, cause)

        return _Operation(run, ends=True)

    def _branch(self, pc: int, word: int, maker: Callable[..., Step], target: int) -> _Operation:
        after = pc + 4 & M
        run = maker(self.x, rs1(word), rs2(word), target, after)
        if target & 3:
            taken = run

            def run() -> int:
                if taken() == target:
                    raise _Trapped(pc, target, causes.MISALIGNED_FETCH)
                return after

        return _Operation(run, ends=True)

    def _jump(self, pc: int, word: int, instruction: Instruction) -> _Operation:
        x = self.x
        d = rd(word) or SINK
        a = rs1(word)
        offset = imm(word, instruction.fmt)
        after = pc + 4 & M
        direct = instruction.name == "jal"

        def run() -> int:
            target = (pc if direct else x[a]) + offset & M & ~1
            if target & 3:
                raise _Trapped(pc, target, causes.MISALIGNED_FETCH)
            x[d] = after
            return target

        return _Operation(run, ends=True)

    def _fence(self, pc: int, word: int, instruction: Instruction) -> _Operation:
        return _Operation(lambda: None)  # stores are complete and have invalidated the code that they changed

    def _system(self, pc: int, word: int, instruction: Instruction) -> _Operation:
        if instruction.name in ("ecall", "ebreak"):
            cause = causes.ECALL if instruction.name == "ecall" else causes.BREAKPOINT
            return self._trapping(pc, cause)
        if instruction.name == "mret":
            return _Operation(self._return, ends=True)

        def wait() -> int:
            """Execute wfi; without a bus there is nothing to wait for."""
            if self.bus is not None and not self._wakes():
                self.sleep()
                if not self._wakes():
                    raise _Asleep(pc)
            return pc + 4 & M

        return _Operation(wait, ends=True)

    def _return(self) -> int:
        """Execute mret."""
        self._set_interrupts(bool(self._csrs[csrs.MSTATUS] & WERE_ON), True)
        return self._csrs[csrs.MEPC]

    # ---- control and status registers

    def _csr(self, pc: int, word: int, instruction: Instruction) -> _Operation:
        number, field, d = imm(word, instruction.fmt), rs1(word), rd(word)
        legal = csrs.accesses(number, instruction.name.startswith("csrrw"), d, field)
        if legal is None:
            return self._trapping(pc, causes.ILLEGAL, word)
        reads, writes = legal
        x = self.x
        to = d or SINK
        after = pc + 4 & M
        function = instruction.name[4]

        def run() -> int:
            source = field if instruction.fmt == "Z" else x[field]
            old = self._read_csr(number) if reads else 0
            if writes:
                new = {"w": source, "s": old | source, "c": old & ~source}[function]
                self._write_csr(number, new)
            x[to] = old
            return after

        return _Operation(run, ends=True, counts=True)

    def _read_csr(self, number: int) -> int:
        if number in COUNTERS:
            counter, shift = COUNTERS[number]
            return self.retired + self._counters[counter] >> shift & M
        if number == csrs.MNGR2PROC:
            if self._words_read == len(self.manager):
                raise out_of_words(len(self.manager))
            self._words_read += 1
            return self.manager[self._words_read - 1] & M
        if csrs.XCEL_FIRST <= number <= csrs.XCEL_LAST:
            return self._accelerator(number).read(number - csrs.XCEL_FIRST) & M
        if number == csrs.MIP and self.bus is not None:
            return self.bus.interrupt << csrs.EXTERNAL_BIT
        return self._csrs.get(number, 0)

    def _write_csr(self, number: int, value: int) -> None:
        if number in COUNTERS:
            counter, shift = COUNTERS[number]
            old = self.retired + self._counters[counter]
            # counting continues with the next instruction
            self._counters[counter] = (old & ~(M << shift) | value << shift) - (self.retired + 1)
        elif number == csrs.PROC2MNGR:
            self._output.append(value)
        elif csrs.XCEL_FIRST <= number <= csrs.XCEL_LAST:
            self._accelerator(number).write(number - csrs.XCEL_FIRST, value)
        elif number in self._writable:
            mask = self._writable[number]
            new = self._csrs[number] & ~mask | value & mask
            if number == csrs.STATS_EN and new != self._csrs[number]:
                # the instruction that writes is inside the window if the window was open
                if not new:
                    self._in_window += self.retired + 1 - self._stats_since
                self._stats_since = self.retired + 1
            self._csrs[number] = new

    def _accelerator(self, number: int) -> Accelerator:
        if self.xcel is None:
            raise BadInput(
                f"the program uses accelerator register {csrs.name_of(number)}, and there is no "
                "accelerator; choose one"
            )
        return self.xcel
