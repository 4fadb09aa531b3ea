"""A processor with a bus: accesses, refusals, and the external interrupt at every cycle, at FL and RTL.

The interrupt is timed by the clock, which the functional level does not have. The test finds in the commits
of the RTL the instructions before which the interrupt was taken, and the functional level must behave the
same with the line raised there. Without the handler's commits, a run has the commits of one without
interrupt.
"""

import random
import re
from functools import cache, partial

from modexlab.eval.designs.catalogue import designs, find
from modexlab.eval.designs.soc_system import System, Xcel
from modexlab.eval.designs.system_catalogue import workloads
from modexlab.fl.xcel import to_words
from modexlab.proc.core.null_xcel import NullXcelFL
from modexlab.proc.core.proc import Proc
from modexlab.proc.isa import causes, csrs
from modexlab.proc.isa.isa import BY_NAME
from modexlab.proc.iss.iss import ISS
from modexlab.proc.iss.outcome import INTERRUPT_WAIT
from modexlab.proc.sim import MemoryTiming, simulate_proc
from modexlab.proc.software.kernels import kernel_program, rsa_program
from modexlab.proc.software.memory import BUS_BASE, BUS_NBITS, REGIONS
from modexlab.proc.software.seeded_keys import seeded_key
from modexlab.rtl.sim import translate

from tests.harness import RTL_BACKENDS, examples, expect, later, one_now, parametrize, regress, untraced
from tests.proc.assembler import NUMBER, Assembler, code, word
from tests.proc.bus_examples import COUNT, LOWER, TIMER, TimerBus, mk_system
from tests.proc.programs import RandomProgram, check
from tests.programs import PROTECTIONS
from tests.tables.keyed import EIGHT, FOUR, good, result

BASE = 0x1000  # of programs; a handler can address lower words relative to x0
MAX_CYCLES = 100_000
EXTERNAL = 1 << csrs.EXTERNAL_BIT
LOAD, STORE = causes.LOAD_FAULT, causes.STORE_FAULT
MRET, READ_CAUSE = BY_NAME["mret"].match, word("csrrs t6, mcause, zero")
MEMORIES = (MemoryTiming(), MemoryTiming(3), MemoryTiming(2, stall=0.3, extra=3, seed=11))

HANDLER = """
handler:
    sw    t5, 0x600(zero)
    sw    t6, 0x604(zero)
    csrrs t6, mcause, zero
    blt   t6, zero, external
    csrrw zero, proc2mngr, t6
    csrrs t6, mtval, zero
    csrrw zero, proc2mngr, t6
    csrrs t6, mepc, zero
    addi  t6, t6, 4
    csrrw zero, mepc, t6
    jal   zero, leave
external:
    lui   t6, 0x40000
    sw    zero, 0x18(t6)
    lw    t5, 0x608(zero)
    addi  t5, t5, 1
    sw    t5, 0x608(zero)
leave:
    lw    t5, 0x600(zero)
    lw    t6, 0x604(zero)
    mret
"""
# the bus in gp, the handler, and the interrupt enabled in mie
START = f"li gp, {BUS_BASE}; la t0, handler; csrrw zero, mtvec, t0; li t0, {EXTERNAL}; csrrw zero, mie, t0"


@cache
def simulation(backend="native", stalls=False):
    """The simulation of the system, shared by all tests."""
    return simulate_proc(mk_system(stalls), backend)


def on_rtl(what, backend="native", stalls=False, **options):
    """The outcome of the hardware."""
    return simulation(backend, stalls).run(what, max_cycles=MAX_CYCLES, record=True, **options)


def program(source, name="program"):
    """A program of the start, this text, the end, and the handler."""
    asm = Assembler(BASE)
    asm.text(f"{START}\n{source}")
    asm.end()
    asm.text(HANDLER)
    return asm.program(name)


def on_iss(what, rises=(), record=True, manager=()):
    """The outcome at the functional level, where the line rises before these instructions."""
    bus = TimerBus(rises)
    bus.iss = ISS(what, NullXcelFL(), manager, bus=bus, sleep=bus.sleep)
    return bus.iss.run(200_000, record=record)


def taken(outcome, what):
    """Indices of the first and last commit of each handler run for an interrupt."""
    commits, handler, found = outcome.commits or [], what.symbols["handler"], []
    for i, commit in enumerate(commits):
        if commit.pc == handler and commits[i + 2].inst == READ_CAUSE and commits[i + 2].data >> 31:
            found.append((i, next(k for k in range(i, len(commits)) if commits[k].inst == MRET)))
    return found


def check_interrupts(what, found, where, manager=()):
    """The functional level does the same with the line raised before the same instructions, which are
    returned.
    """
    places = [first for first, _ in taken(found, what)]
    check(on_iss(what, places, manager=manager), found, where)
    return places


def without_handler(outcome, what):
    """The commits without those of interrupt handlers."""
    commits = list(outcome.commits or [])
    for first, last in reversed(taken(outcome, what)):
        del commits[first : last + 1]
    return commits


# ---- accesses

ACCESSES = """
    li t0, 0x89ABCDEF; sw t0, 0(gp); sb t0, 5(gp); sb t0, 6(gp); sh t0, 10(gp); sh t0, 12(gp); lw a0, 0(gp)
    lb a1, 5(gp)
    lbu a2, 6(gp); lh a3, 10(gp); lhu a4, 12(gp); lw a5, 4(gp); lw s2, 16(gp); lw s3, 16(gp); add s4, s2, s3
    sw s4, 16(gp); lw s5, 16(gp)
    sw t0, 0x700(zero); lw s6, 0x700(zero); lw s7, 0(gp); mul s8, s7, s6; divu s9, s7, s2
    csrrw zero, proc2mngr, a0
    csrrw zero, proc2mngr, s5; sb s7, 0x701(zero); lw s10, 0x700(zero)
"""
REFUSALS = """
    li s2, 7; mul s3, s2, s2; lw s2, 0x20(gp); mul s4, s2, s2; sw s2, 0x20(gp); divu s5, s4, s2
    lb s2, 0x123(gp); addi s2, s2, 1
    lui s6, 0x4FFFF; sh s2, 2(s6); lhu s2, 2(s6); mul s7, s2, s2; csrrs s8, minstret, zero; lw s2, 1(gp)
    sw s2, 2(gp)
    lw s9, 16(gp); sw s9, 0x7FC(gp); lw s9, 16(gp)
"""


@parametrize("backend", one_now(RTL_BACKENDS, "native"))
def test_accesses(backend):
    """Words, half words and bytes are accessed once and in order, together with memory; a refused access
    traps, and no later instruction has an effect.
    """
    for name, source in (("accesses", ACCESSES), ("refusals", REFUSALS)):
        what = program(source, name)
        expected = on_iss(what)
        for stalls in (False, True) if backend != "verilog" else (True,):
            for timing in MEMORIES if backend == "native" else MEMORIES[:1]:
                check(expected, on_rtl(what, backend, stalls, timing=timing), f"{name}, {backend}, {timing}")
        assert on_iss(what, record=False).output == expected.output


def test_what_a_refusal_says():
    """mcause and mtval of each refusal."""
    far = 0x4FFF_F002
    assert on_iss(program(REFUSALS)).output == [
        *(LOAD, BUS_BASE + 0x20, STORE, BUS_BASE + 0x20, LOAD, BUS_BASE + 0x123, STORE, far, LOAD, far),
        *(causes.MISALIGNED_LOAD, BUS_BASE + 1, causes.MISALIGNED_STORE, BUS_BASE + 2),
        *(STORE, BUS_BASE + 0x7FC),
    ]


def test_refusal_without_a_handler_halts():
    """Like every trap."""
    what = program("csrrw zero, mtvec, zero; lw a0, 0x40(gp)")
    for outcome in (on_iss(what), on_rtl(what)):
        assert outcome.trap[2:] == (LOAD, BUS_BASE + 0x40)


def test_window():
    """The window is separate from memory, and is a block of the upper address bits."""
    for first, end in REGIONS:
        assert end <= BUS_BASE or first >= BUS_BASE + (1 << BUS_NBITS)
    assert BUS_BASE % (1 << BUS_NBITS) == 0


REGISTERS = """
    lw s2, 0(gp); lw s3, 8(gp); lw s4, 0x200(gp); sw s2, 0(gp); li t0, 0xE00; add t0, t0, gp; lw s5, 0(t0)
    lw s6, 0x7FC(gp); lui t1, 1
    add t1, t1, gp; lw s7, 0(t1); sw s7, 4(t1); li s8, 4; sb s8, 0x200(gp); sw zero, 0x210(gp); li s9, 3
    sw s9, 0x400(gp); li s10, 5
    sh s10, 0x600(gp); li s11, 1; sw s11, 12(gp); mul a1, s8, s9
poll:
    lw a2, 16(gp); andi a3, a2, 1; bne a3, zero, poll; lw a4, 0(t0); csrrw zero, proc2mngr, a4
    lw a5, 16(gp); csrrw zero, proc2mngr, a5
"""


@parametrize("backend", one_now(["native", "python"], "native"))
def test_registers_behind_axi4lite(backend):
    """Loads and stores over AXI4-Lite: answers and refusals are those of the functional model of the
    registers.
    """
    xcel = Xcel(find("mont"), interface="axi4lite")
    what = program(REGISTERS, "registers")
    expected = ISS(what, xcel.fl(), bus=xcel.bus()).run(10_000)
    assert expected.output[-2:] == [pow(4, 3, 5), 2]
    assert expected.output[:-2:2] == [LOAD, STORE, LOAD, LOAD, LOAD, STORE, STORE]
    with simulate_proc(xcel.system(), backend) as sim:
        for timing in MEMORIES:
            found = sim.run(what, timing=timing, max_cycles=MAX_CYCLES)
            assert (found.output, found.reason) == (expected.output, "exit"), timing


# ---- the interrupt

# The first word of the manager sets the timer; 0: no interrupt. In the middle there is a jump to unmapped
# memory; the handler returns after it.
NOWHERE, BACK = 0x1FC, word("jalr zero, 0(s1)")
MIX = f"""
    csrrs t1, mngr2proc, zero; sw t1, {TIMER}(gp)
    csrrsi zero, mstatus, 8
    li s2, 3; li s3, 1000; sw s2, 0(gp); lw s4, 16(gp); mul s5, s4, s3; divu s6, s3, s2; csrrw zero, xr0, s6
    csrrs s7, xr0, zero
    li t2, 3
loop:
    lw s8, 16(gp); add s9, s8, s4; sw s9, 0x700(zero); lw s10, 0x700(zero); csrrw zero, proc2mngr, s10
    jal ra, function; addi t2, t2, -1; bne t2, zero, loop; lw s11, 0x40(gp); csrrs a1, mngr2proc, zero
    sb s11, 1(gp); lw a2, 0(gp)
    li s1, {BACK}; sw s1, {NOWHERE + 4}(zero); fence.i; la s1, back; jalr zero, {NOWHERE}(zero)
back:
    csrrci zero, mstatus, 8; lw a3, 16(gp); addi a3, a3, 1; csrrsi zero, mstatus, 8; remu a4, s3, a3
    sw a4, 16(gp); ecall; jal zero, over
function:
    mulhu a5, s9, s10; jalr zero, 0(ra); addi a5, a5, 1
over:
    csrrci zero, mstatus, 8
"""
MANAGER = (0x1234,)
CASES = [(MEMORIES[0], False), (MEMORIES[1], False), (MEMORIES[2], True)]


def plain(commits):
    """The commits without the value to which the timer was set."""
    return [
        commit._replace(data=0) if commit.rd == NUMBER["t1"] or commit.addr == BUS_BASE + TIMER else commit
        for commit in commits
    ]


def run(what, time, timing, stalls, backend="native"):
    """A run with the interrupt at this time, compared with the functional level."""
    words = (time, *MANAGER)
    found = on_rtl(what, backend, stalls, manager=words, timing=timing)
    where = f"{what.name}, interrupt after {time}, {timing}, stalls {stalls}, backend {backend}"
    assert found.reason == "exit", where
    check_interrupts(what, found, where, words)
    return found


@parametrize("timing, stalls", CASES)
def test_interrupt_at_every_cycle(timing, stalls):
    """No instruction is lost or executed twice, whenever the interrupt comes; it is taken at most places, and
    never while disabled.
    """
    what = program(MIX, "mix")
    alone = run(what, 0, timing, stalls)
    assert alone.cycles is not None and not taken(alone, what)
    count = 0
    for time in range(1, alone.cycles):
        found = run(what, time, timing, stalls)
        assert plain(without_handler(found, what)) == plain(alone.commits or []), time
        assert found.output == alone.output
        count += len(taken(found, what))
    assert 0.7 * alone.cycles < count < alone.cycles


@parametrize("backend", one_now(["python", "verilog"], "python"))
def test_interrupt_at_other_stages(backend):
    """Other backends agree with native in every cycle."""
    what = program(MIX, "mix")
    for time in (20, 77):
        found, native = (run(what, time, MEMORIES[0], True, name) for name in (backend, "native"))
        expect(found, cycles=native.cycles, where=native.where, commits=native.commits)


# sleeps until the handler has counted an interrupt
WAITING = f"""
    csrrs t1, mngr2proc, zero; sw t1, {TIMER}(gp)
    csrrci zero, mstatus, 8; li s2, 0
again:
    lw s3, 0x608(zero); bne s3, zero, woken; wfi; addi s2, s2, 1; csrrsi zero, mstatus, 8
    csrrci zero, mstatus, 8; jal zero, again
woken:
    csrrw zero, proc2mngr, s3
"""
# with interrupts disabled, wfi ends when the line rises, and no interrupt is taken
AWAKE = f"""
    csrrs t1, mngr2proc, zero; sw t1, {TIMER}(gp); csrrci zero, mstatus, 8
    wfi; csrrs s2, mip, zero; csrrw zero, proc2mngr, s2; wfi; sw zero, {LOWER}(gp); csrrs s2, mip, zero
    csrrw zero, proc2mngr, s2
    lw s3, 0x608(zero); csrrw zero, proc2mngr, s3
"""
# interrupts are enabled: the interrupt replaces the instruction after wfi
ASLEEP = (
    f"csrrs t1, mngr2proc, zero; csrrsi zero, mstatus, 8; sw t1, {TIMER}(gp); wfi; lw s3, 0x608(zero); "
    "csrrw zero, proc2mngr, s3"
)


@parametrize("timing, stalls", CASES[::2])
def test_sleep(timing, stalls):
    """wfi waits for any time, and wakes with interrupts enabled or disabled; a correctly written wait misses
    no interrupt.
    """
    for time in (*range(1, 60), 5000):
        found = run(program(WAITING), time, timing, stalls)
        assert found.output == [1]
        assert time < 5000 or found.where["sleep"] > 4900
        awake = on_rtl(program(AWAKE), stalls=stalls, manager=(time,), timing=timing)
        assert awake.output == [EXTERNAL, 0, 0]
    for time in (40, 5000):
        what = program(ASLEEP)
        found = run(what, time, timing, stalls)
        assert found.output == [1]
        first, _ = taken(found, what)[0]
        assert (found.commits or [])[first - 1].inst == BY_NAME["wfi"].match
    assert on_iss(program(AWAKE), manager=(1,)).output == [EXTERNAL, 0, 0]
    assert on_iss(program(ASLEEP), manager=(1,), record=False).output == [1]


@parametrize("source", ["wfi", f"csrrw zero, mie, zero; li t1, 1; sw t1, {TIMER}(gp); wfi"])
def test_sleep_for_ever(source):
    """The line is never raised, or not enabled in mie: both levels report it."""
    what = program(source)
    for outcome in (on_iss(what), simulation().run(what, max_cycles=5000)):
        assert outcome.reason == "limit" and outcome.stuck is not None
        assert outcome.stuck.why == INTERRUPT_WAIT
        assert INTERRUPT_WAIT in outcome.explain(what)


STATUS = """
    csrrs a0, mstatus, zero; csrrw zero, proc2mngr, a0; li t2, -1; csrrw a0, mstatus, t2
    csrrs a0, mstatus, zero; csrrw zero, proc2mngr, a0
    csrrci zero, mstatus, 8; csrrs a0, mstatus, zero; csrrw zero, proc2mngr, a0; csrrw zero, mstatus, zero
    csrrw a0, mie, t2; csrrw zero, proc2mngr, a0; csrrs a0, mie, zero; csrrw zero, proc2mngr, a0
    csrrc zero, mie, t2
    csrrs a0, mie, zero; csrrw zero, proc2mngr, a0; csrrw zero, mip, t2; csrrs a0, mip, zero
    csrrw zero, proc2mngr, a0
    la t2, resume; csrrw zero, mepc, t2; li t2, 128; csrrw zero, mstatus, t2; mret
resume:
    csrrs a0, mstatus, zero; csrrw zero, proc2mngr, a0
    la t2, again; csrrw zero, mepc, t2; csrrw zero, mstatus, zero; mret
again:
    csrrs a0, mstatus, zero; csrrw zero, proc2mngr, a0; li t2, -1; csrrw zero, mstatus, t2; ecall
    csrrs a0, mstatus, zero; csrrw zero, proc2mngr, a0; li t2, -8; csrrw zero, mcause, t2
    csrrs a0, mcause, zero; csrrw zero, proc2mngr, a0
"""
BOTH = 1 << csrs.MIE_BIT | 1 << csrs.MPIE_BIT


def test_status():
    """The bits of mstatus, mie, mip and mcause: initial values, writable bits, and the effects of traps and
    mret.
    """
    what = program(STATUS)
    expected = on_iss(what)
    check(expected, on_rtl(what), "status")
    initial = csrs.MSTATUS_VALUE
    assert expected.output == [
        *(initial, initial | BOTH, initial | 1 << csrs.MPIE_BIT, EXTERNAL, EXTERNAL, 0, 0),
        *(initial | BOTH, initial | 1 << csrs.MPIE_BIT, causes.ECALL, 0, initial | BOTH, 2**32 - 8),
    ]


TOLD = "csrrs a0, mcause, zero; csrrw zero, proc2mngr, a0"
CAUSES = f"{ASLEEP}; {TOLD}; csrrsi zero, mcause, 16; {TOLD}; lui t2, 0x80000; csrrc zero, mcause, t2; {TOLD}"


def test_cause_of_an_interrupt():
    """The upper bit of mcause can be read, set, cleared and written like the others."""
    for source, expected in (
        (CAUSES, [1, 0x8000_000B, 0x8000_001B, 0x1B]),
        (f"{ASLEEP}; csrrwi zero, mcause, 5; {TOLD}", [1, 5]),
        (f"{ASLEEP}; csrrw zero, mcause, zero; ecall; {TOLD}", [1, causes.ECALL, 0, causes.ECALL]),
    ):
        assert run(program(source), 40, MEMORIES[0], False).output == expected


# the line is high before interrupts are enabled or disabled: the next instruction is interrupted or not
SWITCHES = f"""
    li t1, 1; sw t1, {TIMER}(gp); nop; nop; nop; nop; nop; li s2, 0
    csrrsi zero, mstatus, 8; addi s2, s2, 1; csrrci zero, mstatus, 8; sw t1, {TIMER}(gp); nop; nop; nop; nop
    nop
    csrrw zero, mie, zero; csrrsi zero, mstatus, 8; li t2, {EXTERNAL}; csrrs zero, mie, t2; addi s2, s2, 1
    csrrc zero, mie, t2
    sw t1, {TIMER}(gp); nop; nop; nop; nop; nop; csrrs zero, mie, t2; csrrci zero, mstatus, 8
"""


@parametrize("timing", MEMORIES)
def test_switches_count_at_once(timing):
    """A write to mstatus or mie takes effect at the next instruction."""
    what = program(SWITCHES)
    found = on_rtl(what, timing=timing)
    before = [found.commits[first - 1].inst for first in check_interrupts(what, found, "switches")]
    assert before == code("csrrsi zero, mstatus, 8; csrrs zero, mie, t2; csrrs zero, mie, t2")


def test_no_interrupt_without_a_handler():
    """While mtvec is 0, the interrupt stays pending."""
    what = program(
        f"csrrsi zero, mstatus, 8; csrrw zero, mtvec, zero; li t1, 1; sw t1, {TIMER}(gp); nop; nop; nop; "
        "nop; nop; nop"
    )
    outcome = on_rtl(what)
    assert outcome.exit_code == 0 and outcome.last_trap is None


class BusProgram(RandomProgram):
    """A random program that also accesses the bus and is interrupted."""

    handler = HANDLER

    def __init__(self, seed):
        super().__init__(seed, base=BASE)

    def _start(self):
        super()._start()
        self.with_traps = True
        for name, weight in (("bus", 12), ("switch", 5), ("timer", 4)):
            self.kinds.append(name)
            self.weights.append(weight)
        self.text(START.replace("t0", "t6").replace(f"li gp, {BUS_BASE}", "csrrsi zero, mstatus, 8"))

    def fence(self):
        """No wfi, which could sleep forever."""
        self.text(self.pick(["fence", "fence.i"]))
        return 1

    def csr(self):
        """An access to a CSR that an interrupt does not change."""
        name = self.pick(["csrrw", "csrrs"])
        self.text(f"{name} x{self.target()}, mscratch, x{self.source()}")
        return 1

    def trap(self):
        """An instruction that traps and that the handler skips by four bytes."""
        self.text(self.pick(["ecall", "ebreak"]))
        return 1

    def bus(self):
        """An access to the bus, sometimes to an address without a register."""
        pointer, offset = self.written(), self.pick([0, 4, 8, 12, COUNT])
        self.text(f"li x{pointer}, {BUS_BASE + self.pick([0, 0, 0x20, 0x1000])}")
        if self.often(0.5):
            rd = self.target()
            self.text(f"{self.pick(['lw', 'lh', 'lbu'])} x{rd}, {offset}(x{pointer})")
            self.two_sources(["add", "mul", "divu"], rd)
        else:
            name = self.pick(["sw", "sh", "sb"])
            self.text(f"{name} x{self.source()}, {offset}(x{pointer})")
        return 2

    def switch(self):
        """Enable or disable interrupts."""
        self.text(f"{self.pick(['csrrsi', 'csrrsi', 'csrrci'])} zero, mstatus, 8")
        return 1

    def timer(self):
        """Set the timer to interrupt soon."""
        pointer, time = self.random.sample(["t0", "t1", "t2"], 2)
        self.text(f"li {pointer}, {BUS_BASE}; li {time}, {self.random.randint(1, 60)}")
        self.text(f"sw {time}, {TIMER}({pointer})")
        return 3


def fuzz(sim, seeds):
    """Run random programs, comparing commit by commit; the number of interrupts that were taken."""
    interrupts = 0
    for seed in seeds:
        drawn = BusProgram(seed)
        what = drawn.program()
        draw = random.Random(seed)
        timing = draw.choice([MEMORIES[0], MemoryTiming(draw.randint(1, 4), 0.3, draw.randint(0, 4), seed)])
        found = sim.run(what, manager=drawn.manager, timing=timing, max_cycles=MAX_CYCLES, record=True)
        interrupts += len(check_interrupts(what, found, f"{drawn.name}, {timing}", drawn.manager))
    return interrupts


@untraced
@parametrize("stalls", one_now((False, True), True))
def test_random_programs(stalls):
    """Accesses, refusals and interrupts mixed with all other instructions."""
    assert fuzz(simulation("native", stalls), range(1000 * stalls, 1000 * stalls + examples(100))) > 200


@untraced
@parametrize("seed", [1, 2])
def test_power_up(seed):
    """Registers start with random bits, so reset must be effective."""
    with simulate_proc(mk_system(True), "native", power_up_seed=seed) as sim:
        fuzz(sim, range(10_000 * seed, 10_000 * seed + 5))


def test_who_has_no_bus_does_not_pay():
    """Without a bus, the Verilog contains no port, unit or name of it."""
    without, with_bus = (translate(proc, "top", unique=True) for proc in (Proc(), Proc(bus=True)))
    for name in ("bus_req", "irq", "BusUnit", "is_wfi", "meie"):
        assert re.search(rf"\b(top_)?{name}", with_bus) and not re.search(name, without), name


# ---- the driver on a machine


@parametrize(
    "design, nbits",
    [
        (find("mont"), 32),
        *later((find("heap"), 64), (next(item for item in designs() if item.at(32).given), 32)),
    ],
)
def test_driver(design, nbits):
    """The driver computes in all ways at both levels; the cycle count that the program reads is that of the
    formula.
    """
    xcel = Xcel(design, nbits, interface="axi4lite")
    machine = xcel.machine
    work, _ = workloads(nbits)
    given = machine.given_of(work.mod)
    with System(xcel) as rtl, System(xcel, level="fl") as fl:
        cycles = {}
        for kernel in ("bus", "bus-irq", "bus-key"):
            what = kernel_program(kernel, nbits, *work.operands, given=given)
            expected, found = fl.run(what), rtl.run(what)
            assert expected.exit_code == found.exit_code == 0, kernel
            assert expected.output[:-2] == found.output[:-2]
            assert found.output[-2:] == [machine.cycles(*work.operands) + 1, 0]
            assert (found.window.where["sleep"] > 0) == (kernel == "bus-irq")
            cycles[kernel] = found.window.cycles or 0
    assert cycles["bus-key"] < cycles["bus"] < cycles["bus-irq"]


@parametrize("kernel", ["bus", "bus-irq"])
@parametrize("nbits", one_now([32, 1024], 32))
def test_rsa_on_the_bus(kernel, nbits):
    """Encrypt and decrypt with a key of this length, and compare; both keys go through the driver."""
    key = seeded_key(nbits)
    message = random.Random(nbits).randrange(key.n)
    with System(Xcel(find("mont"), nbits, interface="axi4lite")) as system:
        outcome = system.run(rsa_program(kernel, key, message))
    expect(outcome, exit_code=0, output=[*to_words(key.encrypt(message), nbits), *to_words(message, nbits)])


# ---- a machine that takes a private key


@regress
@parametrize("interface", ["xcel", "axi4lite"])
@parametrize(
    "name, nbits, settings",
    [
        ("mont-keyed", 16, EIGHT),
        ("mont-keyed", 72, EIGHT),
        ("mont-keyed", 64, FOUR),
        *(("heap", 40, how) for how in PROTECTIONS),
    ],
)
def test_a_private_key_goes_through_the_processor(name, nbits, settings, interface):
    """A key is transferred from memory to the machine, in all ways at both levels; wrong numbers give a
    status; rsa.c decrypts.
    """
    xcel = Xcel(find(name), nbits, settings, interface)
    machine = xcel.machine
    base, exp, mod, *given = good(machine)
    key = machine.key
    _, sent, _, *numbers = machine.carried(key.encrypt(5), machine.key.d, key.n)
    kernels = ["xcel"] if interface == "xcel" else ["bus", "bus-irq", "bus-key"]
    with System(xcel) as rtl, System(xcel, level="fl") as fl:
        for kernel in kernels:
            made = partial(kernel_program, kernel, nbits, base, exp, mod, expected=result(machine))
            for system in (rtl, fl):
                assert system.run(made(given=given)).exit_code == 0, (kernel, system.level)
            crt = "qinv" in machine.programmed.names
            wrong = [*given[:4], given[4] ^ 2, *given[5:]] if crt else given[:-1]
            if len(wrong) == len(given):
                assert rtl.run(made(given=wrong)).exit_code == 1, kernel
        if interface == "axi4lite":
            counted = machine.cycles(0, machine.key.d, key.n) + machine.programmed.timing.loading_cycles + 1
            assert rtl.run(
                kernel_program("bus", nbits, base, exp, mod, expected=result(machine), given=given)
            ).output[-2:] == [counted, 0]
        program = rsa_program(kernels[0], key, 5, nbits=nbits, given=numbers, private_exp=sent)
        assert rtl.run(program).exit_code == fl.run(program).exit_code == 0
