"""The units of the processor, against independent formulas: the decoder against the table of instructions,
ALU, comparison, byte lanes, immediates; multiplier and divider at several stages with delays; the CSRs
through programs.
"""

import itertools
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from modexlab.proc.core import messages
from modexlab.proc.core.alu import Alu
from modexlab.proc.core.branch_unit import BranchUnit
from modexlab.proc.core.decoder import Decoder
from modexlab.proc.core.div_unit import DivUnit
from modexlab.proc.core.imm_gen import ImmGen
from modexlab.proc.core.load_store import LoadAlign, StoreAlign
from modexlab.proc.core.mul_unit import MulUnit
from modexlab.proc.core.proc import Proc
from modexlab.proc.isa import csrs, isa
from modexlab.proc.isa.isa import BY_NAME, INSTRUCTIONS, decode
from modexlab.proc.sim import MemoryTiming
from modexlab.rtl.sim import Stall, simulate

from tests.harness import draws, evaluated, parametrize, refuses, regress, regress_if, stepped
from tests.proc.assembler import DATA, Assembler, assemble, encode
from tests.proc.examples import simulation
from tests.proc.formulas import GOLDEN, TAKEN, unsigned
from tests.proc.programs import CORNERS, HANDLER, check, golden

WORD = st.integers(0, 2**32 - 1) | st.sampled_from(CORNERS)
M = 0xFFFF_FFFF


# ---- decoder


def codes(prefix, names):
    """The codes of the decoder's fields, by the names of what they stand for."""
    return {name: getattr(messages, f"{prefix}_{name.upper().replace('.', '_')}") for name in names}


JUMPS, ACCESSES = codes("JUMP", ("branch", "jal", "jalr")), codes("MEM", ("load", "store", "csr"))
IMMEDIATES = codes("IMM", "ISBUJZ")
SYSTEMS = codes("SYS", ("ecall", "ebreak", "mret", "fence.i", "wfi"))
ALU_FUNCTIONS = codes("ALU", ("add", "sub", "sll", "slt", "sltu", "xor", "srl", "sra", "or", "and"))


def wanted(instruction):
    """The fields that the decoder must set for an instruction; the others do not matter."""
    name, fmt, group = instruction.name, instruction.fmt, instruction.group
    fields = {
        "legal": 1,
        "rs1_en": fmt in "RISBHC",
        "rs2_en": fmt in "RSB",
        "rf_wen": fmt in "RIUJHCZ",
        "jump": JUMPS.get(group, JUMPS.get(name, messages.NEXT)),
        "mem": ACCESSES.get(group, messages.MEM_NONE),
        "system": SYSTEMS.get(name, messages.SYS_NONE),
    }
    if fmt in IMMEDIATES:
        fields["imm_type"] = IMMEDIATES[fmt]
    if fmt not in "JFN" and name != "auipc" and group != "branch":
        fields["op2_imm"] = (
            fmt not in "RC"
        )  # a branch compares its registers; jal and auipc use a separate adder
    if fields["rf_wen"]:
        sources = {"mul": messages.FROM_MUL, "div": messages.FROM_DIV, "csr": messages.FROM_CSR}
        sources |= {"jump": messages.FROM_LINK}
        fields["result_sel"] = (
            messages.FROM_TARGET if name == "auipc" else sources.get(group, messages.FROM_ALU)
        )
        if group == "alu" and name not in ("lui", "auipc"):
            operation = {"sltiu": "sltu"}.get(name) or (name[:-1] if fmt in "IH" else name)
            fields["alu_fn"] = ALU_FUNCTIONS[operation]
    if group in ("load", "store") or name in ("jalr", "lui"):
        fields["alu_fn"] = messages.ALU_ADD
    return fields


DECODER = stepped(Decoder())


def check_decoder(word):
    """Check the decoder on one word."""
    decoded = evaluated(DECODER, inst=word).cs
    instruction = decode(word)
    if instruction is None:
        assert decoded.legal == 0, f"{word:08x}"
        return
    for field, value in wanted(instruction).items():
        assert getattr(decoded, field) == value, f"{instruction.name} {word:08x}: {field}"


def neighbours(instruction):
    """The instruction with all operand bits 0, with all 1, and both with one bit inverted."""
    words = [instruction.match, instruction.match | ~instruction.mask & M]
    return words + [word ^ 1 << i for word in words for i in range(32)]


def test_decoder_on_every_instruction():
    """Each row of the table, and all words that differ from it in one bit."""
    for instruction in INSTRUCTIONS:
        for word in neighbours(instruction):
            check_decoder(word)


def test_decoder_on_every_code():
    """All combinations of opcode, funct3 and the meaningful values of funct7."""
    for opcode, funct3, funct7 in itertools.product(range(128), range(8), (0, 1, 0x20, 0x21, 0x18)):
        check_decoder(funct7 << 25 | 3 << 20 | 4 << 15 | funct3 << 12 | 5 << 7 | opcode)


@draws(500)
@given(word=WORD, instruction=st.sampled_from([*INSTRUCTIONS, None]))
def test_decoder_on_any_word(word, instruction):
    """Arbitrary bits, most with the code of an instruction."""
    check_decoder(word if instruction is None else word & ~instruction.mask | instruction.match)


# ---- combinational units

ALU = stepped(Alu())
BRANCH = stepped(BranchUnit())


def check_alu(a, b):
    for name, function in ALU_FUNCTIONS.items():
        assert evaluated(ALU, a=a, b=b, fn=function).out == unsigned(GOLDEN[name](a, b)), (name, a, b)


def check_branch(a, b):
    for name, formula in TAKEN.items():
        funct3 = BY_NAME[name].match >> 12 & 7
        found = evaluated(BRANCH, jump=messages.JUMP_BRANCH, a=a, b=b, funct3=funct3).taken
        assert found == formula(a, b), (name, a, b)


def test_corners():
    """ALU and comparison on all pairs of corner values, and all shift amounts."""
    for a, b in itertools.product(CORNERS, CORNERS):
        check_alu(a, b)
        check_branch(a, b)
    for amount in range(33):
        check_alu(0x8000_0001, amount)
        check_alu(0x5A5A_C3C3, M - amount)


@draws(300)
@given(WORD, WORD)
def test_alu_and_branch_on_any_operands(a, b):
    check_alu(a, b)
    check_branch(a, b)


STORE, LOAD = stepped(StoreAlign()), stepped(LoadAlign())
SIZES = {0: 1, 1: 2, 2: 4, 4: 1, 5: 2}


@draws(150)
@given(WORD, WORD)
@example(0x8182_8384, 0x0102_0304)
@example(0x7FFF_8000, 0x8000_7FFF)
def test_byte_lanes(memory, data):
    """All sizes at all addresses: the memory after a store, and the value of a load."""
    for (funct3, nbytes), at in itertools.product(SIZES.items(), range(4)):
        evaluated(STORE, mem=messages.MEM_STORE, funct3=funct3, addr=at, data=data)
        assert bool(STORE.misaligned) == (at % nbytes > 0)
        if at % nbytes:
            continue
        content = bytearray(memory.to_bytes(4, "little"))
        if funct3 < 4:
            for lane, byte in enumerate(int(STORE.req.data).to_bytes(4, "little")):
                if int(STORE.req.strobe) >> lane & 1:
                    content[lane] = byte
            expected = bytearray(memory.to_bytes(4, "little"))
            expected[at : at + nbytes] = data.to_bytes(4, "little")[:nbytes]
            assert content == expected, (funct3, at)
        evaluated(LOAD, funct3=funct3, addr=at, word=int.from_bytes(content, "little"))
        value = int.from_bytes(content[at : at + nbytes], "little", signed=funct3 < 4)
        assert LOAD.out == value & M, (funct3, at)


IMM_GEN = stepped(ImmGen())


@draws(300)
@given(WORD)
@example(0)
@example(M)
def test_immediates(word):
    """The immediates of arbitrary words in every format equal those of the table of instructions."""
    for fmt, imm_type in IMMEDIATES.items():
        value = (
            isa.imm(word, fmt) << 12 if fmt == "U" else isa.rs1(word) if fmt == "Z" else isa.imm(word, fmt)
        )
        assert evaluated(IMM_GEN, inst=word, imm_type=imm_type).imm == value & M, fmt


def test_units_that_cannot_be_made():
    for made, message in (
        (MulUnit(0), "a multiplier with a latency of 0 is not possible; give 1 to 32"),
        (MulUnit(33), "a multiplier with a latency of 33 is not possible"),
        (DivUnit(3), "a divider of 3 bits per cycle is not possible; give one of 1, 2, 4, 8, 16, 32"),
        (Proc(div_bits=64), "a divider of 64 bits per cycle is not possible"),
    ):
        refuses(made.elaborate, message)


# ---- multiplier and divider


FUNCTIONS = ("mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu")  # by funct3


def result(funct3, a, b):
    """The expected product or quotient."""
    return unsigned(GOLDEN[FUNCTIONS[funct3]](a, b))


def unit(kind, parameter):
    """A unit and its latency."""
    if kind == "mul":
        return MulUnit(parameter), parameter
    return DivUnit(parameter), 32 // parameter + 1


KINDS = {"mul": range(4), "div": range(4, 8)}
UNITS = [("mul", 1), ("mul", 2), ("mul", 3), ("div", 1), ("div", 2), ("div", 4)]
# the others run programs in the processor
EACH_UNIT = parametrize(
    "kind, parameter",
    [pytest.param(*unit, marks=regress_if(unit not in (("mul", 2), ("div", 4)))) for unit in UNITS],
)
STALL = Stall(seed=9, source=0.3, sink=0.4)


@EACH_UNIT
@parametrize("backend", ["python", "native"])
def test_muldiv_rows(backend, kind, parameter):
    """Corner rows, all functions: a single request takes `latency` cycles, and with delays and stalls the
    results are the same.
    """
    component, latency = unit(kind, parameter)
    corners = CORNERS if backend == "native" else CORNERS[::3]
    rows = list(itertools.product(KINDS[kind], corners, corners))
    expected = list(itertools.starmap(result, rows))
    with simulate(component, backend) as sim:
        spaced = sim.run(rows, source_delays=[latency + 1] * len(rows))
        assert spaced.responses == expected
        assert set(spaced.latencies) == {latency}
        streamed = sim.run(rows)
        assert streamed.responses == expected
        gap = 1 if kind == "mul" else latency
        assert {after - before for before, after in itertools.pairwise(streamed.done)} == {gap}
        draw = random.Random(7)
        delays = {
            f"{side}_delays": [draw.choice([0, 0, 1, 2, 40]) for _ in rows] for side in ("source", "sink")
        }
        assert sim.run(rows[::2], stall=STALL).responses == expected[::2]
        if backend == "native":
            assert sim.run(rows, **delays).responses == expected


@EACH_UNIT
def test_muldiv_on_any_operands(kind, parameter):
    """Hypothesis: streams of arbitrary operands with arbitrary delays, natively."""
    component, _ = unit(kind, parameter)
    row = st.tuples(st.sampled_from(KINDS[kind]), WORD, WORD, st.integers(0, 5), st.integers(0, 5))
    with simulate(component, "native") as sim:

        @draws(100)
        @given(st.lists(row, min_size=1, max_size=10), st.integers(0, 2**20), st.sampled_from([0.0, 0.5]))
        def verify(rows, seed, p):
            run = sim.run(
                [item[:3] for item in rows],
                source_delays=[item[3] for item in rows],
                sink_delays=[item[4] for item in rows],
                stall=Stall(seed, p, p),
            )
            assert run.responses == [result(*item[:3]) for item in rows]

        verify()


# ---- CSRs, through programs


# the rule of the privileged manual and the list of the project, written independently
READ_ONLY = {0xC00, 0xC02, 0xC80, 0xC82, 0xF11, 0xF12, 0xF13, 0xF14, 0xFC1}
READ_WRITE = {0x300, 0x301, 0x304, 0x305, *range(0x340, 0x345), 0x7C1, 0xB00, 0xB02, 0xB80, 0xB82}
PORTS = set(range(0x7E0, 0x800))


def is_legal(number, name, rd, field):
    """Whether this access is a legal instruction."""
    write_form = name in ("csrrw", "csrrwi")
    only_reads, only_writes = not write_form and field == 0, write_form and rd == 0
    if number in READ_ONLY:
        return only_reads
    if number in READ_WRITE:
        return True
    if number == 0xFC0:
        return only_reads
    if number == 0x7C0:
        return only_writes
    return number in PORTS and (only_reads or only_writes)


FORMS = list(itertools.product(("csrrw", "csrrs", "csrrc", "csrrwi", "csrrsi", "csrrci"), (0, 9), (0, 8)))
KNOWN = sorted(READ_ONLY | READ_WRITE | PORTS | {0xFC0, 0x7C0})


def check_accesses(numbers):
    """All forms of access to these registers in one program; the manager receives the number of each access
    that traps.
    """
    asm = Assembler()
    asm.text(f"li gp, {DATA}; li s0, 0x1234567; la t0, handler; csrrw zero, mtvec, t0; csrrw zero, xr0, s0")
    expected = []
    for number in numbers:
        for name, rd, field in FORMS:
            if number in (0x305, 0x7C1, 0xB02, 0xB82) and field:
                continue  # the program needs the handler and the counts
            if number in (0x305, 0xB02, 0xB82) and name.startswith("csrrw"):
                continue
            legal = is_legal(number, name, rd, field)
            if not legal:
                expected.append(encode(name, rd, field, imm=number))
            elif number == 0x7C0:
                expected.append(0x1234567 if (name, field) == ("csrrw", 8) else field)
            # cycle counts differ between the levels, so they must not be observed
            if number in (0xC00, 0xC80, 0xB00, 0xB80) and rd and legal:
                continue
            asm.emit(name, rd, field, imm=number)
    asm.text(
        """
        csrrwi zero, mtvec, 0; li a0, 0; ecall
    handler:
        csrrs t1, mtval, zero; csrrw zero, proc2mngr, t1
        csrrs t1, mepc, zero; addi t1, t1, 4; csrrw zero, mepc, t1; mret
        """
    )
    program = asm.program("accesses to CSRs")
    manager = list(range(100, 200))
    outcome = simulation().run(program, manager=manager, record=True)
    check(golden(program, manager, 2_000_000), outcome, f"CSRs 0x{numbers[0]:x} to 0x{numbers[-1]:x}")
    assert outcome.output == expected


def test_csr_accesses():
    """Legal and illegal accesses in all forms: all registers, the adjacent numbers, and some others."""
    check_accesses(KNOWN)
    others = {number + step for number in KNOWN for step in (-1, 1) if 0 <= number + step < 4096} - set(KNOWN)
    check_accesses(sorted(others | set(range(0, 4096, 61)) - set(KNOWN)))


@regress
@parametrize("first", range(0, 4096, 256))
def test_csr_accesses_all(first):
    """All register numbers."""
    check_accesses(range(first, first + 256))


def test_counters():
    """minstret and mcycle continue from a written value, across the boundary of their words."""
    source = """
        csrrs s0, mcycle, zero; csrrs s1, mcycle, zero; csrrs s2, minstret, zero; csrrs s3, instret, zero
        li t0, -2; csrrw zero, minstreth, zero; csrrw s4, minstret, t0; csrrs s4, minstret, zero
        csrrs s5, minstret, zero; csrrs s6, minstret, zero; csrrs s7, instreth, zero
        csrrw zero, mcycleh, zero; csrrw zero, mcycle, t0; csrrs s8, mcycle, zero; csrrs s9, mcycle, zero
        csrrs s10, cycle, zero
        csrrs s11, cycleh, zero; lw t1, 512(zero); csrrs t2, minstret, zero
    """
    sends = "; ".join(f"csrrw zero, proc2mngr, s{i}" for i in range(1, 12))
    program = assemble(f"{source}; sub s1, s1, s0; {sends}; csrrw zero, proc2mngr, t2; li a0, 0; ecall")
    wanted_words = [1, 2, 3, M - 1, M, 0, 1, M - 1, M, 0, 1]
    for timing in (MemoryTiming(), MemoryTiming(stall=0.2)):
        counts = simulation().run(program, timing=timing).output
        assert counts[1:7] == wanted_words[1:7]
        assert counts[11] == 9
        if timing == MemoryTiming():
            assert counts[:11] == wanted_words


def test_illegal_words_trap():
    """Every illegal word that differs from an instruction in one bit traps, with the word in mtval, and has
    no other effect.
    """
    words = sorted(
        {word for instruction in INSTRUCTIONS for word in neighbours(instruction) if decode(word) is None}
    )
    draw = random.Random(3)
    words += [word for word in (draw.getrandbits(32) for _ in range(1000)) if decode(word) is None]
    asm = Assembler()
    asm.text("la t0, handler; csrrw zero, mtvec, t0")
    for word in words:
        asm.word(word)
    asm.end()
    asm.text(HANDLER)
    program = asm.program("illegal words")
    outcome = simulation().run(program, record=True)
    check(golden(program), outcome, "illegal words")
    assert [
        commit.data for commit in outcome.commits if commit.inst == encode("csrrs", 30, imm=csrs.MTVAL)
    ] == words
