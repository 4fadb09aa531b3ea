"""The instruction-set simulator: every instruction against an independent formula, CSRs, traps, ports and the
ends of a program.
"""

from dataclasses import replace
from unittest.mock import Mock, call

from modexlab.proc.isa import csrs
from modexlab.proc.isa.causes import (
    BREAKPOINT,
    ECALL,
    FETCH_FAULT,
    ILLEGAL,
    LOAD_FAULT,
    MISALIGNED_FETCH,
    MISALIGNED_LOAD,
    MISALIGNED_STORE,
    STORE_FAULT,
)
from modexlab.proc.isa.isa import INSTRUCTIONS
from modexlab.proc.iss.iss import ISS
from modexlab.proc.iss.outcome import TRAP_LOOP, Commit, Stuck, Trap, Window
from modexlab.proc.iss.semantics import BRANCHES, LOADS, STORES, VALUES

from tests.harness import expect, parametrize, refused
from tests.proc.assembler import code, of_words, word
from tests.proc.examples import simulation
from tests.proc.formulas import GOLDEN, GOLDEN_IMMEDIATE, TAKEN, unsigned

RA, T0, A0, A1, A2 = 1, 5, 10, 11, 12
CORNERS = (0, 1, 2, 3, 7, 31, 32, 0x7FF, 0x8000, 0x1_0000, 0x1234_5678, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001)
CORNERS += (0xDEAD_BEEF, 0xFFFF_F800, 0xFFFF_FFFE, 0xFFFF_FFFF)
IMMEDIATES = (-2048, -2047, -1, 0, 1, 5, 31, 0x555, 2047)
BASES = (0x200, 0x8000_0000)


FINISH = "li a0, 0; ecall"


def execute(source, base=0x200, record=True, **settings):
    """Run both in fast mode and one instruction at a time; all results must agree."""
    program = of_words(code(source, base), base=base)
    fast = ISS(program, **settings)
    outcome = fast.run(max_instructions=10_000)
    if record:
        slow = ISS(program, **settings)
        single = slow.run(max_instructions=10_000, record=True)
        assert slow.x[:32] == fast.x[:32]
        assert replace(single, commits=None) == outcome
        assert len(single.commits) == single.instructions
        return single
    return outcome


def execute_at_both_levels(source, **settings):
    """Run on the pipeline as well, which must send the same words to the manager."""
    outcome = execute(source, **settings)
    assert simulation().run(of_words(code(source)), **settings).output == outcome.output
    return outcome


def test_every_instruction_is_tested():
    tested = {*GOLDEN, *GOLDEN_IMMEDIATE, *TAKEN, *LOADS, *STORES}
    others = {
        instruction.name
        for instruction in INSTRUCTIONS
        if instruction.group in ("jump", "csr", "fence", "system")
    }
    assert tested | others | {"lui", "auipc"} == {instruction.name for instruction in INSTRUCTIONS}
    assert set(VALUES) == {*GOLDEN, *GOLDEN_IMMEDIATE, "lui", "auipc"}
    assert set(BRANCHES) == set(TAKEN)


PAIRS = [(a, b) for a in CORNERS for b in CORNERS]
OPERANDS = [word for pair in PAIRS for word in pair]


def loop(body, count):
    """The body repeated `count` times, with t2 as the counter."""
    return f"li t2, {count}; again:; {body}; addi t2, t2, -1; bne t2, zero, again; {FINISH}"


RECEIVE_TWO = "csrrs t0, mngr2proc, zero; csrrs t1, mngr2proc, zero"


@parametrize("name", GOLDEN)
def test_registers_to_register(name):
    body = f"{RECEIVE_TWO}; {name} a0, t0, t1; csrrw zero, proc2mngr, a0"
    outcome = execute(loop(body, len(PAIRS)), manager=OPERANDS)
    assert outcome.output == [unsigned(GOLDEN[name](a, b)) for a, b in PAIRS]


@parametrize("name", GOLDEN_IMMEDIATE)
def test_register_and_immediate(name):
    immediates = range(32) if name in ("slli", "srli", "srai") else IMMEDIATES
    used = "; ".join(f"{name} a0, t0, {imm}; csrrw zero, proc2mngr, a0" for imm in immediates)
    outcome = execute(loop(f"csrrs t0, mngr2proc, zero; {used}", len(CORNERS)), manager=CORNERS)
    expected = [unsigned(GOLDEN_IMMEDIATE[name](a, unsigned(imm))) for a in CORNERS for imm in immediates]
    assert outcome.output == expected


@parametrize("base", BASES)
def test_upper_immediates(base):
    immediates = (0, 1, 0x12345, 0x7FFFF, 0x80000, 0xFFFFF)
    both = "lui a0, {0}; csrrw zero, proc2mngr, a0; auipc a0, {0}; csrrw zero, proc2mngr, a0;"
    outcome = execute("".join(map(both.format, immediates)) + FINISH, base)
    assert outcome.output[::2] == [imm * 4096 for imm in immediates]
    assert outcome.output[1::2] == [
        (imm * 4096 + base + 16 * i + 8) % 2**32 for i, imm in enumerate(immediates)
    ]


@parametrize("name", TAKEN)
@parametrize("forward", [True, False])
def test_branches(name, forward):
    """a0 is 1 if the branch was taken; for backward branches, the instruction that sets it precedes the
    branch.
    """
    if forward:
        body = f"li a0, 1; {name} t0, t1, 8; li a0, 0"
    else:
        body = f"li a0, 0; jal zero, 12; li a0, 1; jal zero, 8; {name} t0, t1, -8"
    source = loop(f"{RECEIVE_TWO}; {body}; csrrw zero, proc2mngr, a0", len(PAIRS))
    outcome = execute(source, manager=OPERANDS)
    assert outcome.output == [int(TAKEN[name](a, b)) for a, b in PAIRS]


@parametrize("base", BASES)
def test_jumps(base):
    source = """
        jal ra, there
        addi a1, a1, 1
        jal zero, last
    there:
        addi a1, a1, 16
        csrrw zero, proc2mngr, ra
        jalr ra, 1(ra)  # behind the first jump: the lowest bit is dropped, ra is read first
    last:
        csrrw zero, proc2mngr, ra; csrrw zero, proc2mngr, a1
        li a0, 5; ecall
    """
    outcome = execute(source, base)
    assert outcome.output == [base + 4, base + 24, 17]
    expect(outcome, reason="exit", exit_code=5, instructions=9)


def test_commits():
    source = """
        addi a0, zero, -1; addi zero, a0, 1; lui t0, 2; addi t0, t0, 1
        sb a0, 1(t0); lh a1, 1(t0); lw zero, -1(t0)
        beq a0, zero, 8; jal ra, 4; csrrs a2, mhartid, zero; fence; ecall
    """
    outcome = execute(source, core_id=3)
    expected = [
        (A0, 0xFFFF_FFFF, 0),
        (0, 0, 0),
        (T0, 0x2000, 0),
        (T0, 0x2001, 0),
        (0, 0xFFFF_FFFF, 0x2002),
        (A1, 0xFF, 0x2002),
        (0, 0, 0x2000),
        (0, 0, 0),
        (RA, 0x224, 0),
        (A2, 3, 0),
        (0, 0, 0),
    ]
    words = code(source)
    assert outcome.commits == [Commit(0x200 + 4 * i, words[i], *rest) for i, rest in enumerate(expected)], (
        "the ecall that ends the program does not retire"
    )
    assert outcome.instructions == len(expected)
    assert outcome.exit_code == 0xFFFF_FFFF


# ---- control and status registers

READ_WRITE_MASKS = {
    csrs.MTVEC: 0xFFFF_FFFC,
    csrs.MEPC: 0xFFFF_FFFC,
    csrs.MSCRATCH: 0xFFFF_FFFF,
    csrs.MCAUSE: 0xFFFF_FFFF,
    csrs.MTVAL: 0xFFFF_FFFF,
    csrs.STATS_EN: 1,
}


@parametrize("number", READ_WRITE_MASKS, ids=csrs.name_of)
def test_csr_instructions(number):
    """All six instructions on one of our registers: the values read, and the final value."""
    lines, expected, held = [], [], 0
    mask = READ_WRITE_MASKS[number]
    for name, operand in (
        ("csrrw", 0xFFFF_FFFF),
        ("csrrc", 0x0F0F_0F0F),
        ("csrrs", 0x0000_0F00),
        ("csrrw", 0x1234_5678),
        ("csrrsi", 0x1F),
        ("csrrci", 0x15),
        ("csrrwi", 0x1D),
        ("csrrs", 0),
        ("csrrc", 0x1F),
        ("csrrwi", 0),
    ):
        source = operand if name.endswith("i") else "t0"
        lines.append(f"li t0, {operand}; {name} a0, {number}, {source}; csrrw zero, proc2mngr, a0")
        expected.append(held)
        kind = name[4]
        held = (operand if kind == "w" else held | operand if kind == "s" else held - (held & operand)) & mask
    assert execute_at_both_levels("\n".join([*lines, FINISH])).output == expected


CONSTANTS = dict.fromkeys((csrs.MIE, csrs.MIP, csrs.MVENDORID, csrs.MARCHID, csrs.MIMPID), 0)
CONSTANTS |= {csrs.MSTATUS: 0x1800, csrs.MISA: 0x4000_1100, csrs.MHARTID: 9, csrs.NUMCORES: 1}


@parametrize("number, value", CONSTANTS.items())
def test_constants(number, value):
    write = f"csrrw zero, {number}, t0" if number >> 10 < 3 else ""  # the others are read only
    source = f"li t0, -1; {write}; csrrs a0, {number}, zero; csrrw zero, proc2mngr, a0; {FINISH}"
    assert execute_at_both_levels(source, core_id=9).output == [value]


def test_instructions_are_counted():
    """A counter reads as the number of preceding instructions; counting continues from a written value."""
    source = f"""
        csrrs a0, minstret, zero; csrrw zero, proc2mngr, a0; csrrs a0, cycle, zero; csrrw zero, proc2mngr, a0
        li t0, 1000; csrrw zero, minstret, t0
        csrrs a0, instret, zero; csrrw zero, proc2mngr, a0; csrrs a0, mcycle, zero; csrrw zero, proc2mngr, a0
        csrrwi zero, minstreth, 7; csrrs a0, instreth, zero; csrrw zero, proc2mngr, a0
        csrrs a0, minstret, zero; csrrw zero, proc2mngr, a0
        li t0, -2; csrrw zero, mcycle, t0; nop; nop; csrrs a0, cycle, zero; csrrs a1, mcycleh, zero
        csrrw zero, proc2mngr, a0; csrrw zero, proc2mngr, a1; {FINISH}
    """
    assert execute(source).output == [0, 2, 1000, 8, 7, 1006, 0, 1]


def test_stats_window():
    """An instruction is counted if the window was open before it."""
    on, off = "csrrwi zero, stats_en, 3", "csrrci zero, stats_en, 1"
    for source, inside in (
        (f"nop; {on}; nop; nop; {off}; nop", 3),
        (f"{on}; {on}; {off}; {off}; nop; {on}; nop", 2 + 2),
        ("nop; nop", 0),
    ):
        assert execute(f"{source}; {FINISH}").window.instructions == inside
    outcome = execute(f"{on}; nop; {FINISH}")
    assert (outcome.window.cycles, outcome.window.where, outcome.cpi) == (None, {}, None)


ILLEGAL_WORDS = [
    0x0000_0000,
    0xFFFF_FFFF,
    0x0000_4501,
    *code(
        """
        csrrs a0, 0x180, zero; csrrw zero, 0x7c2, a0; csrrw zero, mhartid, zero; csrrs zero, numcores, ra
        csrrci zero, instret, 1; csrrwi zero, cycle, 0; csrrw zero, mngr2proc, zero; csrrs a0, mngr2proc, ra
        csrrs a0, proc2mngr, zero; csrrw a0, proc2mngr, a0; csrrw a0, xr0, a0; csrrsi a0, xr31, 1
        """
    ),
    word("slli ra, ra, 1") | 1 << 25,
    word("add zero, zero, zero") | 1 << 26,
    word("lw zero, 0(zero)") | 1 << 12,
    word("ecall") | 1 << 7,
]


@parametrize("illegal", ILLEGAL_WORDS, ids=hex)
def test_illegal_instructions(illegal):
    outcome = execute(f"li a0, 1; .word {illegal}; {FINISH}")
    assert outcome.trap == Trap(0x204, illegal, ILLEGAL, illegal)
    expect(outcome, reason="trap", exit_code=None, instructions=1)


@parametrize(
    "source, reason",
    {
        "csrrs a0, 0x180, zero": "there is no CSR 0x180",
        "csrrwi zero, mhartid, 3": "mhartid is read only",
        "csrrwi zero, mngr2proc, 0": "mngr2proc is a port: an instruction may only read it, once",
        "csrrs a0, proc2mngr, zero": "proc2mngr is a port: an instruction may only write it, once",
        "csrrw a0, xr3, a1": "xr3 is a port: an instruction may only read it or write it, once",
        ".word 0x00004501": "",
    }.items(),
)
def test_illegal_instructions_are_explained(source, reason):
    (illegal,) = code(source)
    program = of_words([illegal], symbols={"main": 0x200})
    text = "; ".join(filter(None, (source, reason)))
    expected = f"illegal instruction (mcause 2, mtval 0x{illegal:x}) at pc 0x200 (main): {text}"
    assert ISS(program).run().explain(program) == expected


# ---- traps

TRAPS = [
    # value of t0, instruction, cause, mtval (None: the value of t0)
    (0x2001, "lw a0, 0(t0)", MISALIGNED_LOAD, None),
    (0x2002, "lw a0, 0(t0)", MISALIGNED_LOAD, None),
    (0x2003, "lh a0, 0(t0)", MISALIGNED_LOAD, None),
    (0x2001, "lhu zero, 0(t0)", MISALIGNED_LOAD, None),
    (0x2002, "sw a0, 0(t0)", MISALIGNED_STORE, None),
    (0x2001, "sh a0, 0(t0)", MISALIGNED_STORE, None),
    (0x1000_0001, "lw a0, 0(t0)", MISALIGNED_LOAD, None),
    (0x2000, "jalr a0, 2(t0)", MISALIGNED_FETCH, 0x2002),
    (0x2000, "jalr a0, 3(t0)", MISALIGNED_FETCH, 0x2002),
    (0, "jal a0, -6", MISALIGNED_FETCH, 0x20E),
    (0, "beq t0, zero, 10", MISALIGNED_FETCH, 0x21E),
    (0, "ebreak", BREAKPOINT, 0),
    (0, "csrrs a0, 0x180, zero", ILLEGAL, word("csrrs a0, 0x180, zero")),
    (0, ".word 0", ILLEGAL, 0),
]


HANDLER = """
    csrrs a1, mepc, zero; csrrw zero, proc2mngr, a1
    csrrs a2, mcause, zero; csrrw zero, proc2mngr, a2; csrrs a2, mtval, zero; csrrw zero, proc2mngr, a2
    addi a1, a1, 4; csrrw zero, mepc, a1; mret
"""
HALT = "csrrw zero, mtvec, zero; ecall"


def with_handler(body, handler=HANDLER):
    """The body from 0x208 on, followed by a handler."""
    return f"addi t1, zero, {0x208 + 4 * len(code(body))}; csrrw zero, mtvec, t1; {body}; {handler}"


@parametrize("held, source, cause, tval", TRAPS)
def test_traps_with_and_without_a_handler(held, source, cause, tval):
    """The instruction at 0x214 traps and has no effect on registers or memory."""
    tval = held if tval is None else tval
    body = f"la t0, {held}; li a0, 77; {source}"
    outcome = execute(f"nop; nop; {body}; {FINISH}")
    assert outcome.trap == Trap(0x214, word(source), cause, tval)
    expect(outcome, reason="trap", exit_code=None, instructions=5)
    assert outcome.last_pcs == [0x200, 0x204, 0x208, 0x20C, 0x210]

    outcome = execute(with_handler(f"{body}; csrrw zero, proc2mngr, a0; {HALT}"))
    assert outcome.output == [0x214, cause, tval, 77]
    expect(outcome, reason="exit", exit_code=77)
    assert outcome.instructions == 5 + 9 + 2, "an instruction that traps is not counted"


def test_ecall_with_a_handler():
    outcome = execute(with_handler(f"ecall; csrrw zero, proc2mngr, a0; {HALT}"))
    assert outcome.output == [0x208, ECALL, 0, 0]


@parametrize("handled", [False, True])
@parametrize(
    "name, where, cause",
    [
        ("lbu", 0, LOAD_FAULT),
        ("lw", 0x1FC, LOAD_FAULT),
        ("sh", 0x40_0000, STORE_FAULT),
        ("sw", 0xFFFF_FFFC, STORE_FAULT),
    ],
)
def test_bus_errors_halt_with_any_handler(handled, name, where, cause):
    access = f"{name} zero, 0(t0)"
    body = f"la t0, {where}; {access}; {HALT}"
    outcome = execute(with_handler(body) if handled else body)
    pc = 0x210 if handled else 0x208
    assert outcome.trap == Trap(pc, word(access), cause, where)
    text = outcome.explain(of_words([], symbols={}))
    assert f"outside memory (mcause {cause}, mtval 0x{where:x}) at pc 0x{pc:x}: {name}" in text


def test_fetch_outside_memory():
    """By a jump, and by running past the end of memory."""
    outcome = execute("la t0, 0x400000; jalr ra, 0(t0)")
    assert outcome.trap == Trap(0x40_0000, 0, FETCH_FAULT, 0x40_0000)
    assert outcome.instructions == 3
    expected = "instruction fetch outside memory (mcause 1, mtval 0x400000) at pc 0x400000"
    assert outcome.explain(of_words([])) == expected
    outcome = execute("li a0, 1; li a1, 1", 0x3F_FFF8)
    assert outcome.trap == Trap(0x40_0000, 0, FETCH_FAULT, 0x40_0000)
    assert outcome.instructions == 2
    # a handler is entered and returns to the caller of the jump
    body = f"jalr ra, 0(zero); csrrw zero, proc2mngr, ra; {HALT}"
    assert execute(with_handler(body, "csrrw zero, mepc, ra; mret")).output == [0x20C]


def test_a_branch_that_is_not_taken_has_any_target():
    expect(execute("bne zero, zero, 6; wfi; li a0, 3; ecall"), exit_code=3, instructions=3)


def test_a_handler_that_cannot_run():
    """Nothing can retire any more, so the run ends at once."""
    for target in (0x10, 0x8000_0000):  # not mapped, and zeros
        program = of_words(code(f"li t0, {target}; csrrw zero, mtvec, t0; ecall"))
        outcome = ISS(program).run()
        expect(outcome, reason="limit", instructions=2, trap=None)
        assert outcome.stuck == Stuck(TRAP_LOOP, None)
        expect(outcome.last_trap, pc=target, inst=0)
        assert outcome.explain(program).startswith(
            "nothing has retired since pc 0x204: trap loop, the handler's first instruction traps: i"
        )
        assert outcome.explain(program).split(" at pc ")[1].startswith(f"0x{target:x}")


def test_the_last_trap_that_a_handler_took():
    outcome = execute(with_handler(f"ebreak; la t0, 0x1001; lh a0, 0(t0); {HALT}"))
    expect(outcome, reason="exit", trap=None)
    assert outcome.last_trap == Trap(0x214, word("lh a0, 0(t0)"), MISALIGNED_LOAD, 0x1001)
    assert execute(FINISH).last_trap is None, "the ecall that ends a program is taken by no handler"


def test_traps_are_explained_by_symbol():
    program = of_words(code("nop; ebreak"), symbols={"_start": 0x200, "end": 0x300})
    assert ISS(program).run().explain(program) == (
        "ebreak (mcause 3, mtval 0x0) at pc 0x204 (_start+0x4): ebreak"
    )


# ---- the ends of a program


def test_limit():
    program = of_words(code("nop; nop; jal zero, -8"), symbols={"main": 0x200})
    for record in (False, True):
        for limit in (0, 1, 7, 63, 64, 65, 100, 1000):
            outcome = ISS(program).run(max_instructions=limit, record=record)
            pcs = [0x200 + 4 * (i % 3) for i in range(limit)]
            expect(outcome, reason="limit", exit_code=None, instructions=limit)
            assert outcome.last_pcs == pcs[-16:]
    assert ISS(program).run(max_instructions=3).explain(program) == (
        "no end after 3 instructions; last pcs: 0x200 0x204 0x208, the last in main+0x8"
    )


def test_outcome_of_a_level_with_cycles():
    """RTL outcomes have the same explanation and the same cycles per instruction."""
    fl = ISS(of_words(code("li a0, 1; ecall"))).run()
    assert fl.explain(of_words([])) == "the program ended with exit code 1"
    window = Window(instructions=4, cycles=10)
    rtl = replace(fl, reason="limit", cycles=3, instructions=2, window=window, last_pcs=[])
    assert (rtl.cpi, rtl.window.cpi, fl.cpi, fl.window.cpi) == (1.5, 2.5, None, None)
    assert rtl.explain(of_words([])) == "no end after 2 instructions and 3 cycles; last pcs: none"


def test_last_pcs_of_a_long_block():
    """A straight-line sequence longer than a block of the simulator, with a trap in it."""
    outcome = execute("nop;" * 150 + ".word 0")
    assert outcome.instructions == 150
    assert outcome.last_pcs == [0x200 + 4 * i for i in range(134, 150)]


@parametrize("stored, exit_code", [(1, 0), (3, 1), (0x8000_0005, 0x4000_0002)])
def test_tohost(stored, exit_code):
    """A nonzero word ends the program, and the store has retired. A byte, or another word, does not."""
    words = code(
        f"la t0, 0x2000; la t1, {stored}; sw zero, 0(t0); sb t1, 0(t0); sw t1, 4(t0); sw t1, 0(t0); .word 0"
    )
    program = of_words(words, symbols={"tohost": 0x2000})
    # also near the limit, where instructions run one at a time but are not recorded
    for limit, record in ((None, False), (None, True), (8, False)):
        outcome = ISS(program).run(limit, record=record)
        expect(outcome, reason="tohost", exit_code=exit_code, instructions=8)
        assert outcome.last_pcs[-1] == 0x21C
        if record:
            assert outcome.commits[-1] == Commit(0x21C, words[7], 0, stored, 0x2000)
            assert len(outcome.commits) == 8
    assert ISS(of_words(words)).run().reason == "trap", "without the symbol it is a store like others"


# ---- ports


def test_manager_word_that_is_missing():
    iss = ISS(of_words(code("csrrs t0, mngr2proc, zero;" * 3)), manager=[1, 2])
    with refused(r"the program reads manager word 3, and only 2 were given; give as many"):
        iss.run()
    # a run starts from reset: words can be read again
    with refused("word 3"):
        iss.run()


def test_no_accelerator():
    with refused("the program uses accelerator register xr1, and there is no accelerator"):
        execute("csrrw zero, xr1, t0")


def test_one_access_for_each_instruction():
    source = f"""
        csrrwi zero, xr31, 17; csrrs a0, xr0, zero
        csrrci zero, xr7, 0  # the result is dropped, the access is made
        csrrw zero, xr2, a0; {FINISH}
    """
    xcel = Mock()
    xcel.read.side_effect = (2, 3)
    execute(source, record=False, xcel=xcel)
    assert xcel.mock_calls == [call.write(31, 17), call.read(0), call.read(7), call.write(2, 2)]


# ---- code that changes


@parametrize("distance", [0, 1, 40, 100])
def test_new_code_is_executed_at_once(distance):
    """Without a fence: as the next instruction, later in the same straight line, or as the jump at
    its end.
    """
    between = "addi a1, a1, 1;" * distance
    where, new = 0x214 + 4 * distance, word("li a0, 2")
    source = f"""
        la t0, {where}; la t1, {new}; sw t1, 0(t0); {between}
        li a0, 1; csrrw zero, proc2mngr, a0; csrrw zero, proc2mngr, a1; {FINISH}
    """
    outcome = execute(source)
    assert outcome.output == [2, distance]
    assert outcome.commits[5 + distance] == Commit(where, new, A0, 2, 0)
    # with its top byte 0, the jump goes forward, to the instruction that sends 7, and not back
    source = f"""
        la t0, {where}; la t1, {new}; sb zero, 3(t0); {between}
        .word {word("jal zero, 8") | 0x80 << 24}; csrrw zero, proc2mngr, t0
        li a0, 7; csrrw zero, proc2mngr, a0; {FINISH}
    """
    assert execute(source).output == [7]


def test_code_that_appears():
    """Code is written to empty memory, executed, and replaced."""
    source = f"li t0, 0x9000; li t1, {word('jalr zero, 0(ra)')}; sw t1, 4(t0);"
    for number in (5, 6):
        source += f"li t1, {word(f'addi a1, a1, {number}')}; sw t1, 0(t0); fence.i; jalr ra, 0(t0);"
        source += "csrrw zero, proc2mngr, a1;"
    expect(execute(source + "li a0, 4; ecall"), output=[5, 11], exit_code=4)


def test_progress():
    body = "lw a0, 0(t0); mul a1, a0, t2; add a1, a1, a2; sltu a2, a1, a2; sw a1, 4(t0)"
    calls = []
    iss = ISS(of_words(code(f"li t0, 0x2000; {loop(body, 100_000)}")))
    assert iss.run(progress=lambda done, total: calls.append((done, total))).reason == "exit"
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert len(calls) == 2
