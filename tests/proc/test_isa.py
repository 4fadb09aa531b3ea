"""The instruction set: encoding, decoding and the disassembler, compared with GNU binutils."""

import random
import re

import pytest
from modexlab.proc.isa import csrs, isa
from modexlab.proc.isa.isa import BY_NAME, INSTRUCTIONS, decode, disassemble

from tests.harness import finished, parametrize
from tests.proc.assembler import ORDER, RANGES, encode

TOOLS = "riscv64-unknown-elf-"
BY_NAME_CASES = [pytest.param(item, id=item.name) for item in INSTRUCTIONS]


def registers(fmt):
    return [name for name in ORDER[fmt].split() if name != "imm"]


def operands(instruction, draw):
    fmt = instruction.fmt
    fields = {name: draw.choice((0, 31, draw.randrange(32))) for name in registers(fmt)}
    if fmt == "F":  # the assembler has no syntax for an empty set
        fields["imm"] = draw.randrange(1, 16) << 4 | draw.randrange(1, 16)
    elif fmt in RANGES:
        first, last, unit = RANGES[fmt]
        fields["imm"] = draw.choice((first, last, draw.randrange(first, last + 1, unit)))
    return fields


def sample(instruction, count):
    draw = random.Random(instruction.name)
    return [encode(instruction.name, **operands(instruction, draw)) for _ in range(count)]


def run(tool, *arguments, cwd):
    done = finished([TOOLS + tool, *arguments], cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_set_is_complete():
    """RV32I has 40 instructions, M has 8, Zicsr 6, Zifencei 1; machine mode adds mret and wfi."""
    assert len(INSTRUCTIONS) == 40 + 8 + 6 + 1 + 2
    assert len(BY_NAME) == len(INSTRUCTIONS)


def test_no_two_instructions_share_a_word():
    for i, one in enumerate(INSTRUCTIONS):
        assert one.match & ~one.mask == 0
        for other in INSTRUCTIONS[i + 1 :]:
            common = one.mask & other.mask
            assert one.match & common != other.match & common, (one.name, other.name)


@parametrize("instruction", BY_NAME_CASES)
def test_what_is_encoded_is_decoded(instruction):
    draw = random.Random(instruction.name)
    for _ in range(100):
        given = operands(instruction, draw)
        word = encode(instruction.name, **given)
        assert decode(word) is instruction
        assert isa.imm(word, instruction.fmt) == given.get("imm", 0)
        for name in registers(instruction.fmt):
            assert getattr(isa, name)(word) == given[name]


def test_assembler_reads_the_disassembly_back(tmp_path):
    words = [word for instruction in INSTRUCTIONS for word in sample(instruction, 25)]
    names = [
        f".equ {csrs.name_of(csr.number + i)}, {csr.number + i}"
        for csr in csrs.CSRS
        for i in range(csr.registers)
        if csrs.name_of(csr.number + i) in ("mngr2proc", "proc2mngr", "stats_en", "numcores")
        or csr.number == csrs.XCEL_FIRST
    ]
    (tmp_path / "all.s").write_text("\n".join([*names, *map(disassemble, words)]) + "\n")
    run("as", "-march=rv32im_zicsr_zifencei", "-mabi=ilp32", "all.s", "-o", "all.o", cwd=tmp_path)
    run("objcopy", "-O", "binary", "all.o", "all.bin", cwd=tmp_path)
    content = (tmp_path / "all.bin").read_bytes()
    assembled = [int.from_bytes(content[i : i + 4], "little") for i in range(0, len(content), 4)]
    assert [hex(word) for word in assembled] == [hex(word) for word in words]


def test_decoder_agrees_with_objdump(tmp_path):
    """Agreement on every opcode and function code, legal or not, and on random words."""
    draw = random.Random(4)
    words = [word for instruction in INSTRUCTIONS for word in sample(instruction, 5)]
    words += [
        opcode | funct3 << 12 | funct7 << 25 | draw.getrandbits(5) << 7 | draw.getrandbits(10) << 15
        for opcode in range(3, 128, 4)
        for funct3 in range(8)
        for funct7 in (0x00, 0x01, 0x20, 0x21, 0x18, 0x08, draw.getrandbits(7))
    ]
    words += [draw.getrandbits(32) | 3 for _ in range(1000)]
    words = [word for word in words if word & 0x1F != 0x1F]  # starts a longer instruction
    (tmp_path / "all.s").write_text("".join(f".insn 4, 0x{word:08x}\n" for word in words))
    run("as", "-march=rv32im_zicsr_zifencei", "-mabi=ilp32", "all.s", "-o", "all.o", cwd=tmp_path)
    listing = run("objdump", "-d", "-M", "no-aliases", "all.o", cwd=tmp_path)
    rows = re.findall(r"^ *[0-9a-f]+:\t([0-9a-f]{8}) *\t(\S+)", listing, re.MULTILINE)
    assert [int(row[0], 16) for row in rows] == words
    for word, (_, name) in zip(words, rows, strict=True):
        decoded = decode(word)
        if decoded is not None and decoded.group == "fence":
            continue  # objdump refuses words with nonzero reserved fields, which an implementation ignores
        is_data = name.startswith(".")  # printed by a directive, whose name depends on the version
        if name in ("slli", "srli", "srai") and word >> 25 & 1:
            is_data = True  # objdump accepts a sixth bit of the amount, which is for 64 bits
        assert (decoded and decoded.name) == (None if is_data else name), hex(word)


@parametrize(
    "text, word",
    {
        "addi a0, a0, -1": 0xFFF50513,
        "bne a0, a1, .-8": 0xFEB51CE3,
        "jalr zero, 0(ra)": 0x00008067,
        "lw t0, -4(sp)": 0xFFC12283,
        "sb t0, 7(sp)": 0x005103A3,
        "lui t6, 0xfffff": 0xFFFFFFB7,
        "srai s0, s1, 31": 0x41F4D413,
        "csrrw zero, mtvec, t0": 0x30529073,
        "csrrwi zero, stats_en, 1": 0x7C10D073,
        "csrrs a0, xr31, zero": 0x7FF02573,
        "csrrs a0, 0x180, zero": 0x18002573,
        "fence iorw, iorw": 0x0FF0000F,
        "fence w, 0": 0x0100000F,
        "fence.i": 0x0000100F,
        "mret": 0x30200073,
        ".word 0x00000000": 0x00000000,
        ".word 0xffffffff": 0xFFFFFFFF,
    }.items(),
)
def test_disassembly(word, text):
    assert disassemble(word) == text


def test_disassembly_with_targets():
    assert disassemble(0x00B51A63, 0x200) == "bne a0, a1, 0x214"
    assert disassemble(0xFF9FF0EF, 4) == "jal ra, 0xfffffffc"


def test_csr_table():
    assert len(csrs.BY_NUMBER) == sum(csr.registers for csr in csrs.CSRS)
    for number, csr in csrs.BY_NUMBER.items():
        # the two upper bits of a CSR number determine whether the register can be written
        assert (csr.access in (csrs.READ_ONLY, csrs.READ_PORT)) == (number >> 10 == 3), csr.name
    assert csrs.name_of(csrs.XCEL_FIRST + 5) == "xr5"
