"""The instruction-set simulator: every instruction against another formulation, CSRs, traps, ports and the
ends of a program.
"""

import math
import struct
import subprocess
from dataclasses import replace
from fractions import Fraction

import pytest
from modexlab.fl.errors import BadInput
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.status import Status
from modexlab.fl.xcel import BASE, EXP, GO, MOD, STATUS, XcelFL
from modexlab.proc.isa import causes, csrs
from modexlab.proc.isa.isa import INSTRUCTIONS
from modexlab.proc.iss.iss import ISS
from modexlab.proc.iss.outcome import TRAP_LOOP, Commit, Stuck, Trap, Window
from modexlab.proc.iss.semantics import BRANCHES, LOADS, STORES, VALUES
from modexlab.proc.software.elf import Program, load_elf

from tests.proc.assembler import encode

ZERO, RA, SP, T0, T1, T2, A0, A1, A2 = 0, 1, 2, 5, 6, 7, 10, 11, 12
CORNERS = (0, 1, 2, 3, 7, 31, 32, 0x7FF, 0x8000, 0x1_0000, 0x1234_5678, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001)
CORNERS += (0xDEAD_BEEF, 0xFFFF_F800, 0xFFFF_FFFE, 0xFFFF_FFFF)
IMMEDIATES = (-2048, -2047, -1, 0, 1, 5, 31, 0x555, 2047)
BASES = (0x200, 0x8000_0000)


def signed(value):
    return struct.unpack("<i", struct.pack("<I", value))[0]


def unsigned(value):
    """The low 32 bits, by the bytes of two's complement."""
    return int.from_bytes(value.to_bytes(16, "little", signed=True)[:4], "little")


def upper(product):
    return int.from_bytes(product.to_bytes(16, "little", signed=True)[4:8], "little")


def divided(a, b):
    return -1 if b == 0 else math.trunc(Fraction(a, b))


# what the specification says, in other words than the simulator's
GOLDEN = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "sll": lambda a, b: a * 2 ** (b % 32),
    "slt": lambda a, b: int(signed(a) < signed(b)),
    "sltu": lambda a, b: int(a < b),
    "xor": lambda a, b: (a | b) - (a & b),
    "srl": lambda a, b: a // 2 ** (b % 32),
    "sra": lambda a, b: math.floor(Fraction(signed(a), 2 ** (b % 32))),
    "or": lambda a, b: a + b - (a & b),
    "and": lambda a, b: sum(1 << i for i in range(32) if a >> i & 1 and b >> i & 1),
    "mul": lambda a, b: signed(a) * signed(b),
    "mulh": lambda a, b: upper(signed(a) * signed(b)),
    "mulhsu": lambda a, b: upper(signed(a) * b),
    "mulhu": lambda a, b: upper(a * b),
    "div": lambda a, b: divided(signed(a), signed(b)),
    "divu": lambda a, b: divided(a, b),
    "rem": lambda a, b: signed(a) - signed(b) * divided(signed(a), signed(b)) if b else a,
    "remu": lambda a, b: a - b * divided(a, b) if b else a,
}
GOLDEN_IMMEDIATE = {
    f"{name}i": GOLDEN[name] for name in ("add", "sll", "slt", "xor", "srl", "sra", "or", "and")
}
GOLDEN_IMMEDIATE["sltiu"] = GOLDEN["sltu"]
TAKEN = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "blt": lambda a, b: signed(a) < signed(b),
    "bge": lambda a, b: signed(a) >= signed(b),
    "bltu": lambda a, b: a < b,
    "bgeu": lambda a, b: a >= b,
}


def li(register, value):
    """Two instructions, whatever the value is."""
    low = signed((value & 0xFFF) << 20) >> 20
    return [
        encode("lui", rd=register, imm=(value - low & 0xFFFF_FFFF) >> 12),
        encode("addi", rd=register, rs1=register, imm=low),
    ]


def receive(register):
    return encode("csrrs", rd=register, imm=csrs.MNGR2PROC)


def send(register):
    return encode("csrrw", rs1=register, imm=csrs.PROC2MNGR)


def finish(code=0):
    return [encode("addi", rd=A0, imm=code), encode("ecall")]


def execute(words, base=0x200, record=True, **settings):
    """Run, both fast and one instruction at a time: they must agree in all that they tell."""
    program = Program.of_words(words, base=base)
    fast = ISS(program, **settings)
    outcome = fast.run(max_instructions=10_000)
    if record:
        slow = ISS(program, **settings)
        single = slow.run(max_instructions=10_000, record=True)
        assert slow.x[:32] == fast.x[:32]
        for name in (
            "reason",
            "exit_code",
            "instructions",
            "window",
            "output",
            "trap",
            "last_trap",
            "last_pcs",
        ):
            assert getattr(single, name) == getattr(outcome, name), name
        assert len(single.commits) == single.instructions
        return single
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


def loop(body, count):
    """The body so many times, with T2 as the counter."""
    back = -4 * (len(body) + 1)
    return [
        *li(T2, count),
        *body,
        encode("addi", rd=T2, rs1=T2, imm=-1),
        encode("bne", rs1=T2, rs2=ZERO, imm=back),
        *finish(),
    ]


@pytest.mark.parametrize("name", GOLDEN)
def test_registers_to_register(name):
    body = [receive(T0), receive(T1), encode(name, rd=A0, rs1=T0, rs2=T1), send(A0)]
    words = loop(body, len(PAIRS))
    outcome = execute(words, manager=[word for pair in PAIRS for word in pair])
    for (a, b), result in zip(PAIRS, outcome.output, strict=True):
        assert result == unsigned(GOLDEN[name](a, b)), (hex(a), hex(b))


@pytest.mark.parametrize("name", GOLDEN)
def test_one_register_as_source_and_destination(name):
    body = [
        *(receive(T0), receive(T1), encode(name, rd=T0, rs1=T0, rs2=T1), send(T0)),
        *(receive(T0), encode(name, rd=T0, rs1=T0, rs2=T0), send(T0)),
        *(receive(T0), receive(T1), encode(name, rd=T1, rs1=T0, rs2=T1), send(T1)),
        *(encode(name, rd=ZERO, rs1=T0, rs2=T1), send(ZERO), encode(name, rd=A0, rs1=ZERO, rs2=T0), send(A0)),
    ]
    for a, b in ((0x8000_0000, 0xFFFF_FFFF), (7, 0xFFFF_FFFD), (0, 5)):
        golden = [GOLDEN[name](*pair) for pair in ((a, b), (a, a), (a, b), (0, a))]
        expected = [unsigned(value) for value in (*golden[:3], 0, golden[3])]
        assert execute([*body, *finish()], manager=[a, b, a, a, b]).output == expected


@pytest.mark.parametrize("name", GOLDEN_IMMEDIATE)
def test_register_and_immediate(name):
    shift = name in ("slli", "srli", "srai")
    immediates = range(32) if shift else IMMEDIATES
    body = [receive(T0)]
    for imm in immediates:
        body += [encode(name, rd=A0, rs1=T0, imm=imm), send(A0)]
    outcome = execute(loop(body, len(CORNERS)), manager=CORNERS)
    expected = [unsigned(GOLDEN_IMMEDIATE[name](a, unsigned(imm))) for a in CORNERS for imm in immediates]
    assert outcome.output == expected


@pytest.mark.parametrize("base", BASES)
def test_upper_immediates(base):
    words = []
    for imm in (0, 1, 0x12345, 0x7FFFF, 0x80000, 0xFFFFF):
        words += [encode("lui", rd=A0, imm=imm), send(A0), encode("auipc", rd=A0, imm=imm), send(A0)]
    outcome = execute([*words, *finish()], base=base)
    for i, imm in enumerate((0, 1, 0x12345, 0x7FFFF, 0x80000, 0xFFFFF)):
        assert outcome.output[2 * i] == imm * 4096
        assert outcome.output[2 * i + 1] == (imm * 4096 + base + 16 * i + 8) % 2**32


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("forward", [True, False])
def test_branches(name, forward):
    """A0 is 1 if the branch was taken; backward, the instruction that says so is before the branch."""
    if forward:
        body = [
            *(receive(T0), receive(T1), encode("addi", rd=A0, imm=1)),
            *(encode(name, rs1=T0, rs2=T1, imm=8), encode("addi", rd=A0, imm=0), send(A0)),
        ]
    else:
        body = [
            *(receive(T0), receive(T1), encode("addi", rd=A0, imm=0), encode("jal", imm=12)),
            *(encode("addi", rd=A0, imm=1), encode("jal", imm=8)),
            *(encode(name, rs1=T0, rs2=T1, imm=-8), send(A0)),
        ]
    outcome = execute(loop(body, len(PAIRS)), manager=[word for pair in PAIRS for word in pair])
    assert outcome.output == [int(TAKEN[name](a, b)) for a, b in PAIRS]


@pytest.mark.parametrize("base", BASES)
def test_jumps(base):
    words = [
        encode("jal", rd=RA, imm=12),  # 0, to 12
        encode("addi", rd=A1, rs1=A1, imm=1),  # 4
        encode("jal", rd=ZERO, imm=16),  # 8, to 24
        encode("addi", rd=A1, rs1=A1, imm=16),  # 12
        send(RA),  # 16
        encode("jalr", rd=RA, rs1=RA, imm=1),  # 20, to 4: the lowest bit is dropped, ra is read first
        send(RA),  # 24
        send(A1),  # 28
        *finish(5),
    ]
    outcome = execute(words, base=base)
    assert outcome.output == [base + 4, base + 24, 17]
    assert (outcome.reason, outcome.exit_code, outcome.instructions) == ("exit", 5, 9)


@pytest.mark.parametrize("offset", [-2048, -4, 0, 4, 2044])
def test_loads_and_stores(offset):
    """Each size at each place in a word, of values with every sign."""
    where = 0x2000
    words = [*li(T0, where - offset)]
    expected = []
    content = bytearray(b"\x80\x7f\xff\x01" + b"\x00" * 12)
    words += [*li(T1, struct.unpack("<I", content[:4])[0]), encode("sw", rs1=T0, rs2=T1, imm=offset)]
    formats = {"lb": "b", "lbu": "B", "lh": "h", "lhu": "H", "lw": "i"}
    if offset + 15 > 2047:
        offset -= 2000
        words[:2] = li(T0, where - offset)
        words[4] = encode("sw", rs1=T0, rs2=T1, imm=offset)
    for i, (name, nbytes) in enumerate((("sb", 1), ("sh", 2), ("sw", 4))):
        value = 0xCAFE_8081 + i
        words += li(T1, value)
        for at in range(4 * (i + 1), 4 * (i + 2), nbytes):
            words.append(encode(name, rs1=T0, rs2=T1, imm=offset + at))
            content[at : at + nbytes] = struct.pack("<I", value)[:nbytes]
    for name, letter in formats.items():
        size = struct.calcsize(letter)
        for at in range(0, 16, size):
            words += [encode(name, rd=A0, rs1=T0, imm=offset + at), send(A0)]
            expected.append(unsigned(struct.unpack_from(f"<{letter}", content, at)[0]))
    assert execute([*words, *finish()]).output == expected


def test_stores_leave_the_other_bytes_alone():
    for name, at, expected in (
        *(("sb", i, [0xFF if i != j else 0x5A for j in range(4)]) for i in range(4)),
        ("sh", 0, [0x5A, 0xA5, 0xFF, 0xFF]),
        ("sh", 2, [0xFF, 0xFF, 0x5A, 0xA5]),
    ):
        words = [
            *(*li(T0, 0x2000), encode("addi", rd=T1, imm=-1), encode("sw", rs1=T0, rs2=T1)),
            *(*li(T1, 0x1234_A55A), encode(name, rs1=T0, rs2=T1, imm=at)),
            *(encode("lw", rd=A0, rs1=T0), send(A0), *finish()),
        ]
        assert execute(words).output == [int.from_bytes(bytes(expected), "little")]


def test_commits():
    words = [
        encode("addi", rd=A0, rs1=ZERO, imm=-1),
        encode("addi", rd=ZERO, rs1=A0, imm=1),
        *li(T0, 0x2001),
        encode("sb", rs1=T0, rs2=A0, imm=1),
        encode("lh", rd=A1, rs1=T0, imm=1),
        encode("lw", rd=ZERO, rs1=T0, imm=-1),
        encode("beq", rs1=A0, rs2=ZERO, imm=8),
        encode("jal", rd=RA, imm=4),
        encode("csrrs", rd=A2, imm=csrs.MHARTID),
        encode("fence"),
        encode("ecall"),
    ]
    outcome = execute(words, core_id=3)
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


@pytest.mark.parametrize("number", READ_WRITE_MASKS, ids=csrs.name_of)
def test_csr_instructions(number):
    """All six, on a register of ours, with what each reads and leaves."""
    words, expected, held = [], [], 0
    mask = READ_WRITE_MASKS[number]
    for name, operand in (
        *(("csrrw", 0xFFFF_FFFF), ("csrrc", 0x0F0F_0F0F), ("csrrs", 0x0000_0F00), ("csrrw", 0x1234_5678)),
        *(("csrrsi", 0x1F), ("csrrci", 0x15), ("csrrwi", 0x1D), ("csrrs", 0), ("csrrc", 0x1F), ("csrrwi", 0)),
    ):
        immediate = name.endswith("i")
        words += [] if immediate else li(T0, operand)
        words += [encode(name, rd=A0, rs1=operand if immediate else T0, imm=number), send(A0)]
        expected.append(held)
        kind = name[4]
        held = (operand if kind == "w" else held | operand if kind == "s" else held - (held & operand)) & mask
    outcome = execute([*words, *finish()])
    assert outcome.output == expected


def test_csrrw_of_the_same_register_swaps():
    words = [
        *(*li(T0, 0x1111), encode("csrrw", rs1=T0, imm=csrs.MSCRATCH), *li(T0, 0x2222)),
        *(encode("csrrw", rd=T0, rs1=T0, imm=csrs.MSCRATCH), send(T0)),
        *(encode("csrrw", rd=ZERO, rs1=ZERO, imm=csrs.MSCRATCH), encode("csrrs", rd=A0, imm=csrs.MSCRATCH)),
        *(send(A0), *finish()),
    ]
    assert execute(words).output == [0x1111, 0]


@pytest.mark.parametrize(
    ("number", "value", "writable"),
    [
        (csrs.MSTATUS, 0x1800, True),
        (csrs.MISA, 0x4000_1100, True),
        (csrs.MIE, 0, True),
        (csrs.MIP, 0, True),
        (csrs.MVENDORID, 0, False),
        (csrs.MARCHID, 0, False),
        (csrs.MIMPID, 0, False),
        (csrs.MHARTID, 9, False),
        (csrs.NUMCORES, 1, False),
    ],
)
def test_constants(number, value, writable):
    words = [encode("addi", rd=T0, imm=-1)]
    if writable:
        words.append(encode("csrrw", rs1=T0, imm=number))
    words += [encode("csrrs", rd=A0, imm=number), send(A0), *finish()]
    assert execute(words, core_id=9).output == [value]


def test_instructions_are_counted():
    """A counter reads as the instructions before it; what is written counts on from there."""
    words = [
        *(encode("csrrs", rd=A0, imm=csrs.MINSTRET), send(A0)),
        *(encode("csrrs", rd=A0, imm=csrs.CYCLE), send(A0)),
        *(*li(T0, 1000), encode("csrrw", rs1=T0, imm=csrs.MINSTRET)),
        *(encode("csrrs", rd=A0, imm=csrs.INSTRET), send(A0)),
        *(encode("csrrs", rd=A0, imm=csrs.MCYCLE), send(A0)),
        *(encode("csrrwi", rs1=7, imm=csrs.MINSTRETH), encode("csrrs", rd=A0, imm=csrs.INSTRETH), send(A0)),
        *(encode("csrrs", rd=A0, imm=csrs.MINSTRET), send(A0)),
        *(encode("addi", rd=T0, imm=-2), encode("csrrw", rs1=T0, imm=csrs.MCYCLE), encode("fence")),
        *(encode("fence"), encode("csrrs", rd=A0, imm=csrs.CYCLE), encode("csrrs", rd=A1, imm=csrs.MCYCLEH)),
        *(send(A0), send(A1), *finish()),
    ]
    assert execute(words).output == [0, 2, 1000, 9, 7, 1006, 0, 1]


def test_stats_window():
    """An instruction is inside if the window was open before it."""
    on, off = encode("csrrwi", rs1=3, imm=csrs.STATS_EN), encode("csrrci", rs1=1, imm=csrs.STATS_EN)
    nop = encode("addi")
    assert execute([nop, on, nop, nop, off, nop, *finish()]).window.instructions == 3
    assert execute([on, on, off, off, nop, on, nop, *finish()]).window.instructions == 2 + 2
    assert execute([nop, nop, *finish()]).window.instructions == 0
    outcome = execute([on, nop, *finish()])
    assert (outcome.window.cycles, outcome.window.where, outcome.cpi) == (None, {}, None)


ILLEGAL = [
    *(0x0000_0000, 0xFFFF_FFFF, 0x0000_4501),
    encode("csrrs", rd=A0, imm=0x180),
    encode("csrrw", rs1=A0, imm=0x7C2),
    encode("csrrw", imm=csrs.MHARTID),
    encode("csrrs", rs1=1, imm=csrs.NUMCORES),
    encode("csrrci", rs1=1, imm=csrs.INSTRET),
    encode("csrrwi", rs1=0, imm=csrs.CYCLE),
    encode("csrrw", imm=csrs.MNGR2PROC),
    encode("csrrs", rd=A0, rs1=1, imm=csrs.MNGR2PROC),
    encode("csrrs", rd=A0, imm=csrs.PROC2MNGR),
    encode("csrrw", rd=A0, rs1=A0, imm=csrs.PROC2MNGR),
    encode("csrrw", rd=A0, rs1=A0, imm=csrs.XCEL_FIRST),
    encode("csrrsi", rd=A0, rs1=1, imm=csrs.XCEL_LAST),
    encode("slli", rd=1, rs1=1, imm=1) | 1 << 25,
    encode("add") | 1 << 26,
    encode("lw") | 1 << 12,
    encode("ecall") | 1 << 7,
]


@pytest.mark.parametrize("word", ILLEGAL, ids=hex)
def test_illegal_instructions(word):
    outcome = execute([encode("addi", rd=A0, imm=1), word, *finish()])
    assert outcome.trap == Trap(0x204, word, causes.ILLEGAL, word)
    assert (outcome.reason, outcome.exit_code, outcome.instructions) == ("trap", None, 1)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (encode("csrrs", rd=A0, imm=0x180), "csrrs a0, 0x180, zero; there is no CSR 0x180"),
        (encode("csrrwi", rs1=3, imm=csrs.MHARTID), "csrrwi zero, mhartid, 3; mhartid is read only"),
        (
            encode("csrrwi", imm=csrs.MNGR2PROC),
            "csrrwi zero, mngr2proc, 0; mngr2proc is a port: an instruction may only read it, once",
        ),
        (
            encode("csrrs", rd=A0, imm=csrs.PROC2MNGR),
            "csrrs a0, proc2mngr, zero; proc2mngr is a port: an instruction may only write it, once",
        ),
        (
            encode("csrrw", rd=A0, rs1=A1, imm=csrs.XCEL_FIRST + 3),
            "csrrw a0, xr3, a1; xr3 is a port: an instruction may only read it or write it, once",
        ),
        (0x0000_4501, ".word 0x00004501"),
    ],
)
def test_illegal_instructions_are_explained(word, text):
    program = Program.of_words([word], symbols={"main": 0x200})
    expected = f"illegal instruction (mcause 2, mtval 0x{word:x}) at pc 0x200 (main): {text}"
    assert ISS(program).run().explain(program) == expected


# ---- traps

TRAPS = [
    # what T0 holds, the instruction, cause, mtval (None: what T0 holds)
    (0x2001, encode("lw", rd=A0, rs1=T0), causes.MISALIGNED_LOAD, None),
    (0x2002, encode("lw", rd=A0, rs1=T0), causes.MISALIGNED_LOAD, None),
    (0x2003, encode("lh", rd=A0, rs1=T0), causes.MISALIGNED_LOAD, None),
    (0x2001, encode("lhu", rd=ZERO, rs1=T0), causes.MISALIGNED_LOAD, None),
    (0x2002, encode("sw", rs1=T0, rs2=A0), causes.MISALIGNED_STORE, None),
    (0x2001, encode("sh", rs1=T0, rs2=A0), causes.MISALIGNED_STORE, None),
    (0x1000_0001, encode("lw", rd=A0, rs1=T0), causes.MISALIGNED_LOAD, None),
    (0x2000, encode("jalr", rd=A0, rs1=T0, imm=2), causes.MISALIGNED_FETCH, 0x2002),
    (0x2000, encode("jalr", rd=A0, rs1=T0, imm=3), causes.MISALIGNED_FETCH, 0x2002),
    (0, encode("jal", rd=A0, imm=-6), causes.MISALIGNED_FETCH, 0x20E),
    (0, encode("beq", rs1=T0, rs2=ZERO, imm=10), causes.MISALIGNED_FETCH, 0x21E),
    (0, encode("ebreak"), causes.BREAKPOINT, 0),
    (0, encode("csrrs", rd=A0, imm=0x180), causes.ILLEGAL, encode("csrrs", rd=A0, imm=0x180)),
    (0, 0, causes.ILLEGAL, 0),
]


HANDLER = [
    *(encode("csrrs", rd=A1, imm=csrs.MEPC), send(A1)),
    *(encode("csrrs", rd=A2, imm=csrs.MCAUSE), send(A2)),
    *(encode("csrrs", rd=A2, imm=csrs.MTVAL), send(A2)),
    *(encode("addi", rd=A1, rs1=A1, imm=4), encode("csrrw", rs1=A1, imm=csrs.MEPC), encode("mret")),
]
HALT = [encode("csrrw", imm=csrs.MTVEC), encode("ecall")]


def with_handler(words, handler=HANDLER):
    """The words from 0x208 on, with a handler behind them."""
    where = 0x208 + 4 * len(words)
    return [encode("addi", rd=T1, imm=where), encode("csrrw", rs1=T1, imm=csrs.MTVEC), *words, *handler]


@pytest.mark.parametrize(("held", "word", "cause", "tval"), TRAPS)
def test_traps_with_and_without_a_handler(held, word, cause, tval):
    """The instruction is at 0x214. Nothing of it is done, neither the write of a register nor of memory."""
    tval = held if tval is None else tval
    words = [*li(T0, held), encode("addi", rd=A0, imm=77), word]
    outcome = execute([encode("fence"), encode("fence"), *words, *finish()])
    assert outcome.trap == Trap(0x214, word, cause, tval)
    assert (outcome.reason, outcome.exit_code, outcome.instructions) == ("trap", None, 5)
    assert outcome.last_pcs == [0x200, 0x204, 0x208, 0x20C, 0x210]

    outcome = execute(with_handler([*words, send(A0), *HALT]))
    assert outcome.output == [0x214, cause, tval, 77]
    assert (outcome.reason, outcome.exit_code) == ("exit", 77)
    assert outcome.instructions == 5 + len(HANDLER) + 2, "an instruction that traps is not counted"


def test_ecall_with_a_handler():
    outcome = execute(with_handler([encode("ecall"), send(A0), *HALT]))
    assert outcome.output == [0x208, causes.ECALL, 0, 0]


@pytest.mark.parametrize("handled", [False, True])
@pytest.mark.parametrize(
    ("name", "where", "cause"),
    [
        ("lbu", 0, causes.LOAD_FAULT),
        ("lw", 0x1FC, causes.LOAD_FAULT),
        ("sh", 0x40_0000, causes.STORE_FAULT),
        ("sw", 0xFFFF_FFFC, causes.STORE_FAULT),
    ],
)
def test_bus_errors_halt_with_any_handler(handled, name, where, cause):
    words = [*li(T0, where), encode(name, rs1=T0), *HALT]
    outcome = execute(with_handler(words) if handled else words)
    pc = 0x210 if handled else 0x208
    assert outcome.trap == Trap(pc, words[2], cause, where)
    text = outcome.explain(Program.of_words([], symbols={}))
    assert f"outside memory (mcause {cause}, mtval 0x{where:x}) at pc 0x{pc:x}: {name}" in text


def test_fetch_outside_memory():
    """By a jump, and by running off the end of memory."""
    outcome = execute([*li(T0, 0x40_0000), encode("jalr", rd=RA, rs1=T0)])
    assert outcome.trap == Trap(0x40_0000, 0, causes.FETCH_FAULT, 0x40_0000)
    assert outcome.instructions == 3
    expected = "instruction fetch outside memory (mcause 1, mtval 0x400000) at pc 0x400000"
    assert outcome.explain(Program.of_words([])) == expected
    outcome = execute([encode("addi", rd=A0, imm=1), encode("addi", rd=A1, imm=1)], base=0x3F_FFF8)
    assert outcome.trap == Trap(0x40_0000, 0, causes.FETCH_FAULT, 0x40_0000)
    assert outcome.instructions == 2
    # a handler is entered, and returns to where the jump came from
    handler = [encode("csrrw", rs1=RA, imm=csrs.MEPC), encode("mret")]
    words = [encode("jalr", rd=RA, rs1=ZERO), send(RA), *HALT]
    assert execute(with_handler(words, handler)).output == [0x20C]


def test_a_branch_that_is_not_taken_has_any_target():
    outcome = execute([encode("bne", imm=6), encode("wfi"), *finish(3)])
    assert (outcome.exit_code, outcome.instructions) == (3, 3)


def test_a_handler_that_cannot_run():
    """Nothing can retire any more: the run ends at once."""
    for target in (0x10, 0x8000_0000):  # not mapped, and zeros
        words = [*li(T0, target), encode("csrrw", rs1=T0, imm=csrs.MTVEC), encode("ecall")]
        program = Program.of_words(words)
        outcome = ISS(program).run()
        assert (outcome.reason, outcome.instructions, outcome.trap) == ("limit", 3, None)
        assert outcome.stuck == Stuck(TRAP_LOOP, None)
        assert (outcome.last_trap.pc, outcome.last_trap.inst) == (target, 0)
        assert outcome.explain(program).startswith(
            "nothing has retired since pc 0x208: trap loop, the handler's first instruction traps: i"
        )
        assert outcome.explain(program).split(" at pc ")[1].startswith(f"0x{target:x}")


def test_the_last_trap_that_a_handler_took():
    words = with_handler([encode("ebreak"), *li(T0, 0x1001), encode("lh", rd=A0, rs1=T0), *HALT])
    outcome = execute(words)
    assert (outcome.reason, outcome.trap) == ("exit", None)
    assert outcome.last_trap == Trap(0x214, encode("lh", rd=A0, rs1=T0), causes.MISALIGNED_LOAD, 0x1001)
    assert execute(finish()).last_trap is None, "the ecall that ends a program is taken by no handler"


def test_traps_are_explained_by_symbol():
    program = Program.of_words([encode("addi"), encode("ebreak")], symbols={"_start": 0x200, "end": 0x300})
    assert ISS(program).run().explain(program) == (
        "ebreak (mcause 3, mtval 0x0) at pc 0x204 (_start+0x4): ebreak"
    )


# ---- the ends of a program


def test_limit():
    program = Program.of_words(
        [encode("addi"), encode("addi"), encode("jal", imm=-8)], symbols={"main": 0x200}
    )
    for record in (False, True):
        for limit in (0, 1, 7, 63, 64, 65, 100, 1000):
            outcome = ISS(program).run(max_instructions=limit, record=record)
            pcs = [0x200 + 4 * (i % 3) for i in range(limit)]
            assert (outcome.reason, outcome.exit_code, outcome.instructions) == ("limit", None, limit)
            assert outcome.last_pcs == pcs[-16:]
    assert ISS(program).run(max_instructions=3).explain(program) == (
        "no end after 3 instructions; last pcs: 0x200 0x204 0x208, the last in main+0x8"
    )


def test_outcome_of_a_level_with_cycles():
    """Results of RTL simulations are explained and divided in the same way."""
    fl = ISS(Program.of_words(finish(1))).run()
    assert fl.explain(Program.of_words([])) == "the program ended with exit code 1"
    window = Window(instructions=4, cycles=10)
    rtl = replace(fl, reason="limit", cycles=3, instructions=2, window=window, last_pcs=[])
    assert (rtl.cpi, rtl.window.cpi, fl.cpi, fl.window.cpi) == (1.5, 2.5, None, None)
    text = "no end after 2 instructions and 3 cycles; last pcs: none"
    assert rtl.explain(Program.of_words([])) == text


def test_last_pcs_of_a_long_block():
    """One straight line that is longer than a block of the simulator, with a trap in it."""
    outcome = execute([*[encode("addi")] * 150, 0])
    assert outcome.instructions == 150
    assert outcome.last_pcs == [0x200 + 4 * i for i in range(134, 150)]


@pytest.mark.parametrize(("word", "code"), [(1, 0), (3, 1), (0x8000_0005, 0x4000_0002)])
def test_tohost(word, code):
    """A word that is not zero ends the program; the store has retired. A byte, or another word, does not."""
    words = [
        *li(T0, 0x2000),
        *li(T1, word),
        encode("sw", rs1=T0, rs2=ZERO),
        encode("sb", rs1=T0, rs2=T1),
        encode("sw", rs1=T0, rs2=T1, imm=4),
        encode("sw", rs1=T0, rs2=T1),
        0,
    ]
    program = Program.of_words(words, symbols={"tohost": 0x2000})
    # at the end of a limit, too, where instructions run one at a time but are not kept
    for limit, record in ((None, False), (None, True), (8, False)):
        outcome = ISS(program).run(limit, record=record)
        assert (outcome.reason, outcome.exit_code, outcome.instructions) == ("tohost", code, 8)
        assert outcome.last_pcs[-1] == 0x21C
        if record:
            assert outcome.commits[-1] == Commit(0x21C, words[7], 0, word, 0x2000)
            assert len(outcome.commits) == 8
    assert ISS(Program.of_words(words)).run().reason == "trap", "without the symbol it is a store like others"


# ---- ports


def test_manager_words_in_order():
    words = [receive(T0), send(T0), receive(T1), receive(ZERO), send(T1), *finish()]
    outcome = execute(words, manager=[11, 0xFFFF_FFFF, 13])
    assert outcome.output == [11, 0xFFFF_FFFF]


def test_manager_word_that_is_missing():
    iss = ISS(Program.of_words([receive(T0), receive(T0), receive(T0)]), manager=[1, 2])
    with pytest.raises(
        BadInput, match=r"the program reads manager word 3, and only 2 were given; give as many"
    ):
        iss.run()
    # a run starts anew: words that were read are there again
    with pytest.raises(BadInput, match="word 3"):
        iss.run()


def test_accelerator():
    """2^10 mod 1001 through the registers, by the model of the functional level."""
    operations = []

    def compute(base, exp, mod):
        operations.append((base, exp, mod))
        return Status.OK, pow(base, exp, mod)

    words = []
    for register, operand in ((BASE, 2), (EXP, 10), (MOD, 1001), (GO, 0)):
        words += [encode("addi", rd=T0, imm=operand), encode("csrrw", rs1=T0, imm=csrs.XCEL_FIRST + register)]
    for register in (STATUS, GO):
        words += [encode("csrrsi", rd=A0, imm=csrs.XCEL_FIRST + register), send(A0)]
    program = Program.of_words([*words, *finish()])
    outcome = ISS(program, xcel=XcelFL(exponentiation(32), compute)).run()
    assert outcome.output == [0, 1024 % 1001]
    assert operations == [(2, 10, 1001)]
    with pytest.raises(
        BadInput, match="the program uses accelerator register xr1, and there is no accelerator"
    ):
        ISS(program).run()


class Recorder:
    """An accelerator that notes its accesses and answers each read with the next number."""

    def __init__(self):
        self.accesses = []

    def write(self, addr, data):
        self.accesses.append((addr, data))

    def read(self, addr):
        self.accesses.append((addr,))
        return len(self.accesses)


def test_one_access_for_each_instruction():
    first = csrs.XCEL_FIRST
    words = [
        encode("csrrwi", rs1=17, imm=first + 31),
        encode("csrrs", rd=A0, imm=first),
        encode("csrrci", rd=ZERO, imm=first + 7),  # the result is dropped, the access is made
        encode("csrrw", rs1=A0, imm=first + 2),
        *finish(),
    ]
    recorder = Recorder()
    execute(words, record=False, xcel=recorder)
    assert recorder.accesses == [(31, 17), (0,), (7,), (2, 2)]


# ---- code that changes


def patch(fence):
    """A loop of two turns; the first replaces an instruction of the loop, that sends 1, by one that
    sends 2.
    """
    new = encode("addi", rd=A0, imm=2)
    body = [
        encode("addi", rd=A0, imm=1),  # 0x214: replaced
        send(A0),
        encode("sw", rs1=T0, rs2=T1),
        encode("fence.i") if fence else encode("fence"),
        encode("addi", rd=T2, rs1=T2, imm=-1),
    ]
    words = [*li(T0, 0x214), *li(T1, new), encode("addi", rd=T2, imm=2)]
    return [*words, *body, encode("bne", rs1=T2, imm=-4 * len(body)), *finish()]


@pytest.mark.parametrize("fence", [True, False])
def test_code_that_changes(fence):
    assert execute(patch(fence)).output == [1, 2]


def test_the_instruction_after_a_fence():
    """Changed just before it runs, in the same straight line."""
    words = [
        *(*li(T0, 0x218), *li(T1, encode("addi", rd=A0, imm=2))),
        *(encode("sw", rs1=T0, rs2=T1), encode("fence.i"), encode("addi", rd=A0, imm=1), send(A0), *finish()),
    ]
    assert execute(words).output == [2]


@pytest.mark.parametrize("distance", [0, 1, 40, 100])
def test_new_code_is_executed_at_once(distance):
    """Without a fence: the very next instruction, one further on in the straight line, the jump at its
    end.
    """
    between = [encode("addi", rd=A1, rs1=A1, imm=1)] * distance
    where = 0x214 + 4 * distance
    replaced, new = encode("addi", rd=A0, imm=1), encode("addi", rd=A0, imm=2)
    words = [*li(T0, where), *li(T1, new), encode("sw", rs1=T0, rs2=T1), *between, replaced, send(A0)]
    outcome = execute([*words, send(A1), *finish()])
    assert outcome.output == [2, distance]
    assert outcome.commits[5 + distance] == Commit(where, new, A0, 2, 0)
    over_jump = [*li(T0, where), *li(T1, new), encode("sb", rs1=T0, rs2=ZERO, imm=3), *between]
    # with its top byte 0, the jump goes forward to what sends 7, and not back to the start
    jump = encode("jal", imm=8) | 0x80 << 24
    outcome = execute([*over_jump, jump, send(T0), encode("addi", rd=A0, imm=7), send(A0), *finish()])
    assert outcome.output == [7]


def test_code_that_appears():
    """Written where there was nothing, run, and replaced."""
    words = [*li(T0, 0x9000), *li(T1, encode("jalr", rs1=RA)), encode("sw", rs1=T0, rs2=T1, imm=4)]
    for number in (5, 6):
        words += [*li(T1, encode("addi", rd=A1, rs1=A1, imm=number)), encode("sw", rs1=T0, rs2=T1)]
        words += [encode("fence.i"), encode("jalr", rd=RA, rs1=T0), send(A1)]
    outcome = execute([*words, *finish(4)])
    assert (outcome.output, outcome.exit_code) == ([5, 11], 4)


# ---- whole programs

START_UP = r"""
# What the environment "p" of the RISC-V community's test programs does before and after a test, in our words:
# registers that a small machine does not have are tried with mtvec behind the attempt.
        .macro  attempt instruction:vararg
        la      t0, 1f
        csrw    mtvec, t0
        \instruction
        .align  2
1:
        .endm

        .section .text.init, "ax"
        .globl  _start
_start: j       reset
        .align  2
trap:   csrr    t5, mcause
        li      t6, 11
        beq     t5, t6, write
other:  ori     gp, gp, 1337
write:  la      t5, tohost
        sw      gp, 0(t5)
        sw      zero, 4(t5)
        j       write

reset:  csrr    a0, mhartid
1:      bnez    a0, 1b
        attempt csrwi 0x744, 8
        attempt csrwi 0x180, 0
        li      t1, -1
        attempt csrw  0x3b0, t1
        attempt csrwi 0x3a0, 31
        csrwi   mie, 0
        attempt csrwi 0x302, 0
        attempt csrwi 0x303, 0
        li      gp, 0
        la      t0, trap
        csrw    mtvec, t0
        csrwi   mstatus, 0
        la      t0, test
        csrw    mepc, t0
        csrr    a0, mhartid
        mret

test:   li      gp, 2
        li      t1, 40
        addi    t1, t1, 2
        li      t2, RIGHT
        bne     t1, t2, fail
        fence
        li      gp, 1
        li      a7, 93
        li      a0, 0
        ecall
fail:   fence
1:      beqz    gp, 1b
        sll     gp, gp, 1
        or      gp, gp, 1
        li      a7, 93
        mv      a0, gp
        ecall

        .section .tohost, "aw"
        .align  6
        .globl  tohost
tohost: .dword  0
"""
LINK = (
    "ENTRY(_start) SECTIONS { . = 0x80000000; .text.init : { *(.text.init) } . = ALIGN(0x1000); .tohost "
    ": { *(.tohost) } }"
)


@pytest.mark.parametrize(("right", "code"), [(42, 0), (43, 2)])
def test_environment_of_the_community_tests(right, code, tmp_path):
    (tmp_path / "test.s").write_text(START_UP)
    (tmp_path / "link.ld").write_text(LINK)
    for command in (
        f"as -march=rv32im_zicsr_zifencei -mabi=ilp32 --defsym RIGHT={right} test.s -o test.o",
        "ld -m elf32lriscv -T link.ld test.o -o test.elf",
    ):
        subprocess.run(f"riscv64-unknown-elf-{command}".split(), cwd=tmp_path, check=True)
    program = load_elf(tmp_path / "test.elf")
    assert program.entry == 0x8000_0000
    for record in (False, True):
        outcome = ISS(program).run(max_instructions=1000, record=record)
        assert (outcome.reason, outcome.exit_code) == ("tohost", code)


def test_progress():
    body = [
        *(
            encode("lw", rd=A0, rs1=T0),
            encode("mul", rd=A1, rs1=A0, rs2=T2),
            encode("add", rd=A1, rs1=A1, rs2=A2),
        ),
        *(encode("sltu", rd=A2, rs1=A1, rs2=A2), encode("sw", rs1=T0, rs2=A1, imm=4)),
    ]
    calls = []
    iss = ISS(Program.of_words([*li(T0, 0x2000), *loop(body, 100_000)]))
    outcome = iss.run(progress=lambda done, total: calls.append((done, total)))
    assert outcome.reason == "exit"
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert len(calls) == 2
