"""Hazards of the pipeline by name, for each instruction: operands that are not ready yet, results that are
used at once, squashing by jumps and traps, and the state after a trap; then the cost of each hazard in
cycles.

The programs are compared with the instruction-set simulator, commit by commit, under several memories.
"""

import itertools

from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.isa.causes import FETCH_FAULT
from modexlab.proc.isa.isa import BY_NAME, INSTRUCTIONS
from modexlab.proc.iss.outcome import Trap
from modexlab.proc.sim import MemoryTiming, simulate_proc
from modexlab.proc.software.memory import REGIONS

from tests.harness import expect, parametrize
from tests.proc.assembler import DATA, Assembler, assemble
from tests.proc.costs import Case, cost
from tests.proc.examples import HidesHalt, SlowXcel, simulation
from tests.proc.programs import HANDLER, check, golden

MEMORIES = (
    MemoryTiming(),
    MemoryTiming(3),
    MemoryTiming(stall=0.3, seed=5),
    MemoryTiming(2, stall=0.3, extra=4, seed=7),
)
MAX_CYCLES = 2_000_000
DISTANCES = range(4)
SLOT = 128  # of the data: stores go here


# (mul_latency, div_bits, accelerator), as in test_random.py
FAST, SLOW_UNITS, SLOW_XCEL = (1, 2, NullXcel), (3, 1, NullXcel), (2, 4, SlowXcel)


def run(program, manager=(), timing=None, shape=FAST):
    """A run with backend native."""
    return simulation(*shape).run(program, manager=manager, timing=timing, max_cycles=MAX_CYCLES, record=True)


def check_everywhere(program, manager=()):
    """Check a program under all memories and with other units; the expected outcome."""
    expected = golden(program, manager)
    for timing, shape in (
        *((timing, FAST) for timing in MEMORIES),
        *((timing, SLOW_XCEL) for timing in MEMORIES[::3]),
    ):
        check(expected, run(program, manager, timing, shape), f"{program.name}, {timing}, {shape}")
    return expected


# ---- the instruction under test

NAMES = [instruction.name for instruction in INSTRUCTIONS]
USES = {"R": 2, "I": 1, "H": 1, "S": 2, "B": 2, "C": 1}  # registers that an instruction of this format reads
READERS = [instruction.name for instruction in INSTRUCTIONS if USES.get(instruction.fmt)]
WRITERS = [instruction.name for instruction in INSTRUCTIONS if instruction.fmt in "RIHUJCZ"]


def values_for(name, taken):
    """Suitable operands: an address in the data, or numbers. jalr needs the address of a label instead."""
    instruction = BY_NAME[name]
    if instruction.group in ("load", "store"):
        return DATA + SLOT, 0x8765_4321
    if instruction.group == "branch":
        holds = {
            "beq": (7, 7),
            "bne": (7, 8),
            "blt": (-7, 7),
            "bge": (7, -7),
            "bltu": (7, -7),
            "bgeu": (-7, 7),
        }
        names = list(holds)  # adjacent branches are opposites
        return holds[names[names.index(name) ^ (not taken)]]
    return 0x8000_0013, 0xFFFF_FFFD


OPERANDS = {  # with harmless immediates
    **{"R": "{rd}, {rs1}, {rs2}", "I": "{rd}, {rs1}, 3", "H": "{rd}, {rs1}, 3", "S": "{rs2}, 0({rs1})"},
    **{"B": "{rs1}, {rs2}, {target}", "J": "{rd}, {target}", "U": "{rd}, 0x87654"},
    **dict.fromkeys("CZ", "{rd}, mscratch, {rs1}"),
    **dict.fromkeys("FN", ""),
}


def text_of(name, rd, rs1, rs2, target=None):
    """The instruction as text."""
    instruction = BY_NAME[name]
    operands = OPERANDS[instruction.fmt]
    if instruction.fmt == "I" and instruction.group in ("load", "jump"):
        operands = "{rd}, 0({rs1})"
    return f"{name} {operands.format(rd=rd, rs1=rs1, rs2=rs2, target=target)}"


def set_operands(asm, name, behind, taken=True):
    """Load operands into s2 and s3; for jalr, s2 is the target."""
    first, second = values_for(name, taken)
    asm.text(f"la s2, {behind}" if name == "jalr" else f"li s2, {first}")
    asm.text(f"li s3, {second}")


def emit_whole(asm, name, rd):
    """Append the instruction with operands that have long been ready; a jump or branch goes to the next
    instruction.
    """
    behind = asm.fresh()
    set_operands(asm, name, behind)
    asm.nops(3)
    asm.text(f"{text_of(name, rd, 's2', 's3', behind)}; {behind}:")


# all copy `source` to `rd`; a1 is 1, and the words from the manager are 0
PRODUCERS = (
    "addi {rd}, {source}, 0",
    "sw {source}, 64(gp); lw {rd}, 64(gp)",
    "mul {rd}, {source}, a1",
    "divu {rd}, {source}, a1",
    "csrrw zero, mscratch, {source}; csrrs {rd}, mscratch, zero",
    "csrrw zero, xr0, {source}; csrrs {rd}, xr0, zero",
    "csrrs s6, mngr2proc, zero; or {rd}, {source}, s6",
)
CASES = tuple(itertools.product(PRODUCERS, DISTANCES, ("rs1", "rs2", "both", "same")))


def start():
    """An assembler with gp, the handler and the constant 1 set up."""
    asm = Assembler()
    asm.text(f"li gp, {DATA}; li a1, 1; la t0, handler; csrrw zero, mtvec, t0")
    asm.store(SLOT, 0xFEDC_BA98)
    return asm


def check_end(asm, name, manager=()):
    """Complete a program with its end and the handler and check it everywhere: it must exit. The expected
    outcome.
    """
    asm.end()
    asm.text(HANDLER)
    expected = check_everywhere(asm.program(name), manager)
    assert expected.reason == "exit"
    return expected


@parametrize("name", READERS)
def test_operands(name):
    """Each operand, both, and both from one register, written by each kind of producer 0 to 3 instructions
    before.
    """
    asm = start()
    two = USES[BY_NAME[name].fmt] == 2
    for (producer, distance, which), taken in itertools.product(CASES, (True, False)):
        if (which != "rs1" and not two) or (not taken and BY_NAME[name].group != "branch"):
            continue
        behind = asm.fresh()
        set_operands(asm, name, behind, taken)
        asm.text("li s4, 0x5a; li s5, 0x5a; li t0, 0x5a")  # operands written too late
        asm.nops(3)
        rs1, rs2 = "s2", "s3"
        if which in ("rs2", "both"):
            asm.text(producer.format(rd="s5", source="s3"))
            rs2 = "s5"
        if which in ("rs1", "both", "same"):
            asm.text(producer.format(rd="s4", source="s2"))
            rs1 = "s4"
        if which == "same":
            rs2 = "s4"
        asm.nops(distance)
        # t1 is not written if a jump is taken
        asm.text(f"{text_of(name, 't0', rs1, rs2, behind)}; li t1, 1; {behind}:; addi t2, t0, 1")
    assert check_end(asm, f"operands of {name}", (0,) * 1000).instructions > 200


@parametrize("name", [name for name in NAMES if name != "mret"])
def test_behind_what_waits(name):
    """Directly after an instruction that waits for memory, a unit or a port, without needing its result;
    after a quotient, both are ready.
    """
    asm = start()
    for producer, after_quotient in itertools.product(PRODUCERS, (False, True)):
        behind = asm.fresh()
        set_operands(asm, name, behind)
        asm.text("li s4, 0x13579bdf")
        if after_quotient:
            asm.text("divu s5, s4, a1")
        asm.text(producer.format(rd="t1", source="s4"))
        tested = text_of(name, "t0", "s2", "s3", behind)
        asm.text(f"{tested}; {behind}:; mul t2, s3, s4; add t2, t0, t1")
    check_end(asm, f"{name} behind what waits", (0,) * 100)


@parametrize("name", WRITERS)
def test_result(name):
    """The result is used 0 to 3 instructions later: by the ALU on both sides, as an address, as a value to
    store, send or compare.
    """
    asm = start()
    users = (
        "add t1, t0, s3",
        "sub t1, s3, t0",
        "xor t1, t0, t0",
        "sw t0, 128(gp)",
        "mulhsu t1, t0, s3",
        "divu t1, s3, t0",
        "csrrw t1, mscratch, t0",
        "csrrw zero, xr0, t0",
        "csrrw zero, proc2mngr, t0",
        "bne t0, s3, 8",
    )
    for user, distance in itertools.product(users, DISTANCES):
        asm.text("li t0, 0x5a")
        emit_whole(asm, name, "t0")
        asm.nops(distance)
        asm.text(f"{user}; addi t1, t1, 1; nop")
    for distance in DISTANCES:  # x0 stays 0 when written
        emit_whole(asm, name, "zero")
        asm.nops(distance)
        asm.text("add t1, zero, zero; sw zero, 128(gp)")
    for distance in DISTANCES:  # the later of two writers wins
        emit_whole(asm, name, "t0")
        asm.text(f"li t0, {distance}")
        asm.nops(distance)
        asm.text("add t1, t0, t0; li t0, 9")
        emit_whole(asm, name, "t0")
        asm.text("add t1, t0, t0")
    check_end(asm, f"result of {name}")


# ---- jumps, and squashed instructions after them


JUMPS = {  # all ways to reach a label; they may use s2 and the registers of the handler
    **{name: f"{name} zero, a1, {{0}}" for name in ("bne", "blt", "bltu")},
    **{name: f"{name} zero, zero, {{0}}" for name in ("beq", "bge", "bgeu")},
    "jal": "jal s6, {0}",
    "jalr": "la s2, {0}; jalr s6, 0(s2)",
    "jalr to an odd target": "la s2, {0}; jalr s2, 1(s2)",  # bit 0 of the target is dropped
    "mret": "la s2, {0}; csrrw zero, mepc, s2; mret",
    "branch on a load": "lw s2, 64(gp); beq s2, s2, {0}",
    "branch on the accelerator": "csrrs s2, xr0, zero; bgeu s2, zero, {0}",
    "branch on a quotient": "divu s2, a1, a1; beq s2, a1, {0}",
    "fetch fault": "la ra, {0}; jalr zero, 0x80(zero)",
}
NO_HANDLER, OUTSIDE_MEMORY = "csrrwi zero, mtvec, 0", "lw t0, 0(zero)"  # which would halt
HARMFUL = (
    "sw a1, 128(gp)",
    "csrrw t0, mscratch, a1",
    NO_HANDLER,
    "csrrwi zero, xr0, 3",
    "csrrs t0, xr0, zero",
    "csrrwi zero, proc2mngr, 3",
    "csrrs t0, mngr2proc, zero",
    OUTSIDE_MEMORY,
    ".word 0",
    "csrrwi t0, stats_en, 1",
    "csrrwi t0, minstret, 1",
)
OBSERVE = """
    lw    t1, 128(gp)
    csrrs t1, mscratch, zero
    csrrs t1, mtvec, zero
    csrrs t1, xr0, zero
    csrrs t1, stats_en, zero
    csrrs t1, minstret, zero
    csrrs t1, mepc, zero
    addi  t1, t0, 0
"""


def shadow(asm, body, jump):
    """Jump over the body, and observe everything that it could have changed."""
    behind = asm.fresh()
    asm.text(f"li t0, 0x77; nop; nop; {jump.format(behind)}; {body}; {behind}:; {OBSERVE}")


@parametrize("jump", JUMPS)
def test_squash(jump):
    """In the shadow of a jump, stores, accesses to CSRs, accelerator and manager, faults and jumps have no
    effect.
    """
    asm = start()
    for harm, slot in itertools.product(HARMFUL, range(3)):
        shadow(asm, f"{'nop;' * slot} {harm}; {harm}", JUMPS[jump])
    for first, second in itertools.product(HARMFUL[:6], HARMFUL[6:]):
        shadow(asm, f"{first}; {second}", JUMPS[jump])
    asm.text(f"li s4, {DATA + SLOT}")
    # each instruction with a visible rd, and a jump in the shadow of a jump
    bodies = [text_of(name, "t0", "s4", "a1", "{0}") for name in NAMES]
    for body, slot in itertools.product((*bodies, *JUMPS.values()), range(3)):
        lost, over = asm.fresh(), asm.fresh()
        shadow(asm, f"{'nop;' * slot} {body.format(lost)}", JUMPS[jump])
        asm.text(f"jal zero, {over}; {lost}:; csrrwi zero, proc2mngr, 31")
        asm.end(99)
        asm.label(over)
    expect(check_end(asm, f"in the shadow of {jump}", (1, 2, 3)), exit_code=0, output=[])


@parametrize("jump", JUMPS)
def test_before_and_back_to_back(jump):
    """Instructions before a jump complete; jumps to jumps, and to themselves."""
    asm = start()
    for harm, distance in itertools.product(HARMFUL[:7], range(3)):
        if jump == "fetch fault" and harm == NO_HANDLER:  # it needs the handler
            continue
        behind = asm.fresh()
        asm.text(
            f"li t0, 0x77; {harm}; {'nop;' * distance} {JUMPS[jump].format(behind)}; li t0, 1; {behind}:"
        )
        asm.text(f"la s2, handler; csrrw zero, mtvec, s2; {OBSERVE}")
    for other in JUMPS.values():
        first, second, third = asm.fresh(), asm.fresh(), asm.fresh()
        back, there = JUMPS[jump].format(first), JUMPS[jump].format(second)
        asm.text(f"{there}; {first}:; {other.format(third)}; csrrwi zero, proc2mngr, 9; {second}:; {back}")
        asm.text(f"csrrwi zero, proc2mngr, 9; {third}:; {OBSERVE}")
    assert 9 not in check_end(asm, f"before and behind {jump}", (1, 2, 3) * 10).output


NOT_TAKEN = {
    **{"beq": "beq zero, a1", "bne": "bne zero, zero", "blt": "blt zero, zero", "bge": "bge zero, a1"},
    **{"bltu": "bltu a1, zero", "bgeu": "bgeu zero, a1"},
}


@parametrize("name", NOT_TAKEN)
def test_not_taken(name):
    """A branch that is not taken squashes nothing: stores, CSRs, ports, faults and jumps directly
    after it.
    """
    asm = start()
    branch = NOT_TAKEN[name]
    for harm, count in itertools.product(HARMFUL, (1, 2, 3)):
        if harm in (NO_HANDLER, OUTSIDE_MEMORY):
            continue
        lost = asm.fresh()
        asm.text(f"{f'{branch}, {lost};' * count} {harm}; {OBSERVE}; {lost}:")
    for other in NAMES:
        if other == "mret":  # where to? see JUMPS
            continue
        lost, behind = asm.fresh(), asm.fresh()
        asm.text(f"la s4, {behind if other == 'jalr' else DATA + SLOT}; {branch}, {lost}")
        asm.text(f"{text_of(other, 't0', 's4', 'a1', behind)}; {behind}:; {OBSERVE}; {lost}:")
    for jump in JUMPS.values():
        lost, behind = asm.fresh(), asm.fresh()
        asm.text(f"{branch}, {lost}; {jump.format(behind)}; {lost}:; csrrwi zero, proc2mngr, 9; {behind}:")
        asm.text(f"{branch}, {behind}")
    assert 9 not in check_end(asm, f"{name} not taken", (1, 2, 3) * 10).output


# ---- traps

TRAPS = {
    "illegal": ".word 0",
    "ecall": "ecall",
    "ebreak": "ebreak",
    "misaligned load": "lw t0, 1(gp)",
    "misaligned store": "sh s3, 3(gp)",
    "misaligned branch": "beq zero, zero, 6",
    "misaligned jal": "jal t0, 6",
    "misaligned jalr": "jalr t0, 2(gp)",
    "misaligned jalr of an odd target": "jalr t0, 7(gp)",
    "fetch fault": "jalr ra, 16(zero)",
    "unknown csr": "csrrw t0, 0x123, s3",
    "read-only csr": "csrrw t0, numcores, s3",
    "write of the manager's words": "csrrw zero, mngr2proc, s3",
    "read of the words to the manager": "csrrs t0, proc2mngr, zero",
    "two accesses to the accelerator": "csrrw t0, xr0, s3",
}


@parametrize("trap", TRAPS)
def test_trap_neighbourhood(trap):
    """Each instruction 1 to 3 before and after an instruction that traps: both have their effects exactly
    once.
    """
    asm = start()
    for name, distance in itertools.product(NAMES, range(3)):
        if name == "mret":
            continue  # to a handler's end only: see test_squash
        for before in (True, False):
            behind = asm.fresh()
            set_operands(asm, name, behind, taken=before)
            tested = f"{text_of(name, 't0', 's2', 's3', behind)}; {behind}:"
            around = (tested, TRAPS[trap]) if before else (TRAPS[trap], tested)
            asm.text(f"sw s3, 128(gp); {around[0]}; {'nop;' * distance} {around[1]}")
            asm.text("addi t1, t0, 0; lw t1, 128(gp)")
    check_end(asm, f"around {trap}")


@parametrize("trap", TRAPS)
def test_trap_behind_everything_that_waits(trap):
    """A trap after a load, a product, a quotient, accesses to ports; a trap directly after a trap; the store
    after it has no effect.
    """
    asm = start()
    asm.text("li s3, 0x12345678")
    for producer in PRODUCERS:
        produce = producer.format(rd="t0", source="s3")
        asm.text(f"{produce}; {TRAPS[trap]}; sw t0, 128(gp); {produce}")
        asm.text(f"{TRAPS[trap]}; {TRAPS[trap]}; add t1, t0, t0; csrrs t2, minstret, zero")
    for other in TRAPS.values():
        asm.text(f"{TRAPS[trap]}; {other}; csrrs t2, minstret, zero")
    check_end(asm, f"{trap} behind what waits", (0,) * 100)


@parametrize("trap", [*TRAPS, "load fault", "store fault"])
@parametrize("distance", [0, 1, 2])
def test_halt(trap, distance):
    """Without a handler the machine stops: instructions before the trap complete, later ones do not; bus
    errors always stop it.
    """
    text = {"load fault": "lhu t0, 10(zero)", "store fault": "sb t0, 5(zero)"}.get(trap) or TRAPS[trap]
    for handler in ("zero", "t2") if trap.endswith("load fault") or trap == "store fault" else ("zero",):
        for before in (
            "sw gp, 128(gp)",
            "csrrw zero, proc2mngr, gp",
            "lw t1, 128(gp)",
            "divu t1, gp, gp",
            "nop",
        ):
            source = f"""
                li gp, {DATA}; li t2, 512; csrrw zero, mtvec, {handler}; csrrw zero, xr0, gp
                {before}
                {"nop;" * distance} {text}
                csrrwi zero, proc2mngr, 1; csrrwi zero, proc2mngr, 2; sw zero, 0(gp); csrrwi zero, xr0, 5
                csrrs t0, mngr2proc, zero
            """
            expected = check_everywhere(assemble(source, f"{trap} halts"), (1, 2))
            if trap == "ecall":
                assert expected.reason == "exit"
            elif "two accesses" not in trap:
                assert expected.reason == "trap"
                assert expected.instructions in (5 + distance, 6 + distance, 7 + distance)


def test_every_fault_of_the_bus_wins_over_what_follows():
    """Directly after a failing access, a trap, a jump, and each access to a port have no effect."""
    for fault, text in itertools.product(
        ("lw t0, 12(zero)", "sw t0, 4(zero)"),
        [
            *TRAPS.values(),
            "jal zero, 8",
            "csrrwi zero, proc2mngr, 1",
            "csrrs t0, mngr2proc, zero",
            "csrrwi zero, xr0, 1",
        ],
    ):
        expected = check_everywhere(assemble(f"li gp, {DATA}; {fault}; {text}; nop"), (1,))
        expect(expected, reason="trap", instructions=1, output=[])


def test_nothing_after_the_end():
    """Many cycles after the halt, no further instruction has retired, no word has been sent, and
    halted is 1.
    """
    system = HidesHalt()
    causes = ["lw t0, 0(zero)", "sb gp, 0(zero)", "ecall", ".word 0", "jal t0, 6", "jalr t0, 16(zero)"]
    followers = [
        "csrrwi zero, proc2mngr, 1",
        "csrrwi t0, stats_en, 1",
        "jal t0, 8",
        "divu t0, t0, t0",
        ".word 0",
    ]
    with simulate_proc(system, "python") as sim:
        for cause, follower, timing in itertools.product(causes, followers, MEMORIES[::3]):
            program = assemble(
                f"li gp, {DATA}; {cause}; {follower}; csrrwi zero, proc2mngr, 2; addi t0, t0, 1"
            )
            outcome = sim.run(
                program, timing=timing, max_cycles=25 if timing.latency == 1 else 50, record=True
            )
            expected = golden(program)
            what = f"{cause}; {follower}, {timing}"
            assert (outcome.reason, outcome.commits, outcome.output) == ("limit", expected.commits, []), what
            expect(system, halted=1, stats_en=0)


@parametrize("name", NAMES)
def test_self_modifying(name):
    """fence.i: the instruction is stored over another one and executed 0 to 2 instructions after
    the fence.
    """
    asm = start()
    for distance, patched in itertools.product(range(3), (True, False)):
        slot, behind, source, top, out, place = (asm.fresh() for _ in range(6))
        asm.text(f"li s0, 2; {top}:")
        set_operands(asm, name, behind)
        if name == "mret":
            asm.text(f"la s2, {behind}; csrrw zero, mepc, s2")
        asm.text(f"""
            la t1, {source}; la t2, {slot}; lw t1, 0(t1); {"sw t1, 0(t2);" * patched} fence.i
            {"nop;" * distance}
        {slot}:
            li t0, 0x55; addi t1, t0, 0
        {behind}:
            addi s0, s0, -1; bne s0, zero, {top}; jal zero, {out}
        {source}:
            {text_of(name, "t0", "s2", "s3", place)}; nop  # the same distance as from slot to behind
        {place}:
        {out}:
        """)
    check_end(asm, f"{name} in modified code")


def test_first_and_last_instruction_of_a_handler():
    """mtvec is written directly before the trap, mepc directly before mret; and a trap directly after the
    mret.
    """
    source = f"""
        li gp, {DATA}; la t0, one; la t1, two
        csrrw zero, mtvec, t0; ecall; csrrw zero, mtvec, t1; ebreak; csrrw t2, mtvec, t0; .word 0
        csrrwi zero, mtvec, 0; ecall
    one:
        csrrs t3, mepc, zero; addi t3, t3, 4; csrrw zero, mepc, t3; mret
        .word 0
    two:
        csrrs t3, mepc, zero; addi t3, t3, 4; csrrs t4, mcause, zero; csrrw zero, mepc, t3; mret
        ecall
    """
    expect(check_everywhere(assemble(source)), reason="exit", instructions=22)


@parametrize(
    "last", ["nop", "lw t1, 0(t0)", "jal zero, -12", "jalr zero, -4(t0)", "beq zero, zero, -12", "ecall"]
)
@parametrize("end", [end for _, end in REGIONS])
def test_end_of_memory(end, last):
    """The word after the end of memory is requested, which fails; it is a trap only if control reaches it."""
    asm = Assembler(end - 20)
    asm.text(f"jal zero, 8; ecall; auipc t0, 0; nop; {last}")
    expected = check_everywhere(asm.program(f"{last} at the end of memory"))
    if last in ("nop", "lw t1, 0(t0)"):
        assert expected.trap == Trap(end, 0, FETCH_FAULT, end)
    else:
        assert expected.reason == "exit"


# ---- cost

START = 5  # cycles until the first instruction is in W
MEASURED = {  # the cause of the bubbles, their number with FAST and with SLOW_UNITS: the measured texts
    ("issue", 0, 0): {
        "nothing": "add t0, t1, t2; sub t1, t0, t0; lui t1, 5; auipc t1, 5; fence; wfi",
        "alu, use": "addi t0, a1, 5; add t1, t0, t0; bne t1, t1, 8; sw t1, 0(gp); slt t2, t1, t0",
        "load": "lw t0, 0(gp); lbu t1, 4(gp); lh t2, 2(gp)",
        "store": "sw t0, 0(gp); sb t0, 4(gp); lw t1, 0(gp)",
        "load, use one later": "lw t0, 0(gp); nop; addi t1, t0, 1",
        "load, another": "lw t0, 0(gp); addi t1, t2, 1",
        "load to x0, use of x0": "lw zero, 0(gp); addi t1, zero, 1",
        "load, lui with its number in the immediate": "lw t0, 0(gp); lui t1, 0x28000",
        "branch not taken": "bne zero, zero, 8; beq zero, a1, 8; nop",
        "csr, use": "csrrw t0, mscratch, a1; add t1, t0, t0; csrrs t0, mscratch, t1",
        "accelerator": "csrrw zero, xr0, t0; csrrs t0, xr0, zero; csrrw zero, xr0, t1",
        "manager": "csrrs t0, mngr2proc, zero; csrrw zero, proc2mngr, t0; add t1, t0, t0",
    },
    ("load_use", 1, 1): {
        "load, use": "lw t0, 0(gp); addi t1, t0, 1",
        "load, use on both sides": "lw t0, 0(gp); add t1, t0, t0",
        "load, use as an address": "lw t0, 4(gp); lw t0, 0(t0)",
        "load, store": "lw t0, 0(gp); sw t0, 8(gp)",
        "load, branch": "lw t0, 0(gp); bne t0, t0, 8; nop",
        "accelerator, use": "csrrs t0, xr0, zero; add t1, t0, t0",
    },
    ("branch", 2, 2): {
        "branch taken": "beq zero, zero, 8; nop",
        "jal to jal": "jal t0, 8; nop; jal t0, 8; nop",
        "jalr": "la t0, there{i}; jalr t0, 0(t0); there{i}:",
    },
    ("branch", 4, 4): {
        "branch back": "li t0, 3; addi t0, t0, -1; bne t0, zero, -4",
        "two branches taken": "beq zero, zero, 8; nop; beq zero, zero, 8; nop",
    },
    ("branch", 1, 1): {"jal": "jal t0, 8; nop; addi t0, t0, 1"},
    ("multiplier", 0, 2): {
        "product": "mul t0, t1, t2; nop",
        "product, use": "mulh t0, t1, t2; add t1, t0, t0",
    },
    ("multiplier", 0, 8): {
        "products": "mul t0, t1, t2; mulhu t1, t2, t2; mul t2, t0, t1; mulhsu t2, t2, t2",
    },
    ("flush", 2, 2): {"fence.i": "fence.i; nop"},
}
COSTS = {name: (text, *costs) for costs, texts in MEASURED.items() for name, text in texts.items()}
COSTS |= {
    f"{name}{after}": (f"{name} t0, t1, a1{text}", "divider", cost, 2 * cost)
    for name in ("div", "divu", "rem", "remu")
    for after, text, cost in (
        ("", "; nop", 16),
        (", use", "; add t1, t0, t0", 16),
        (" twice", f"; {name} t2, t0, t1", 32),
    )
}


@parametrize("slow", [False, True])
@parametrize("what", COSTS)
def test_cost(what, slow):
    """Cycles without an instruction, and their causes; slow: mul_latency 3, div_bits 1."""
    text, reason, *costs = COSTS[what]
    found = cost(simulation(*(SLOW_UNITS if slow else FAST)), Case(text))
    assert found.causes == ({reason: costs[slow]} if costs[slow] else {})


@parametrize("latency", [1, 2, 3, 5])
@parametrize("access", ["", "lw t0, 0(gp)", "sw t0, 0(gp)"])
def test_cost_of_memory(latency, access):
    """One instruction is fetched at a time, in `latency` cycles; a load or store takes as long, partly in
    parallel.
    """
    timing = MemoryTiming(latency)
    found = cost(simulation(), Case(f"{20 * 'nop;'} {access}"), timing)
    executed, waits = 20 + bool(access), bool(access) * (latency - 1)
    assert latency * executed <= found.cycles <= latency * executed + waits
    assert found.causes.get("data_memory", 0) == waits
    assert access or found.causes.get("fetch", 0) == (latency - 1) * executed
    assert run(assemble("ecall"), timing=timing).where["start"] == START + latency - 1
