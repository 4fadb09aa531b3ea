"""The instruction set RV32IM with Zicsr and Zifencei: one table for the simulator, the RTL, the tests and the
pages.

The source is the RISC-V unprivileged specification (20191213), chapters 2, 3, 7, 9 and 24; mret and wfi are
from the privileged one. A word is an instruction if it equals `match` in the bits of `mask`; the format gives
the positions of its operands:

    R  rd, rs1, rs2               S  rs2, imm(rs1)             C  rd, csr, rs1 (csrrw ...)
    I  rd, rs1, imm or imm(rs1)   B  rs1, rs2, target          Z  rd, csr, uimm (csrrwi ...)
    H  rd, rs1, shift amount      U  rd, imm (20 bits)         F  fence pred, succ
                                  J  rd, target                N  nothing

An immediate is the number written in assembly: bytes from pc for B and J, the upper 20 bits for U, the
register number for C and Z, whose uimm is in the field rs1, and {fm, pred, succ} for F.
"""

from functools import lru_cache
from typing import NamedTuple

from . import csrs

LOAD, MISC_MEM, OP_IMM, AUIPC = 0x03, 0x0F, 0x13, 0x17
STORE, OP, LUI = 0x23, 0x33, 0x37
BRANCH, JALR, JAL, SYSTEM = 0x63, 0x67, 0x6F, 0x73

REGISTERS = (
    "zero",
    "ra",
    "sp",
    "gp",
    "tp",
    "t0",
    "t1",
    "t2",
    "s0",
    "s1",
    *(f"a{i}" for i in range(8)),
    *(f"s{i}" for i in range(2, 12)),
    *(f"t{i}" for i in range(3, 7)),
)


class Instruction(NamedTuple):
    """One instruction; instructions of the same `group` have the same cost in cycles."""

    name: str
    fmt: str
    match: int
    mask: int
    group: str


def _row(opcode: int, fmt: str, group: str, names: str, funct7: int | None = None) -> list[Instruction]:
    """The instructions of one opcode, in order of funct3; a dot is an unused code."""
    mask = 0x707F if funct7 is None else 0xFE00_707F
    return [
        Instruction(name, fmt, opcode | funct3 << 12 | (funct7 or 0) << 25, mask, group)
        for funct3, name in enumerate(names.split())
        if name != "."
    ]


def _word(name: str, match: int) -> Instruction:
    """An instruction without operands."""
    return Instruction(name, "N", match, 0xFFFF_FFFF, "system")


INSTRUCTIONS = (
    Instruction("lui", "U", LUI, 0x7F, "alu"),
    Instruction("auipc", "U", AUIPC, 0x7F, "alu"),
    Instruction("jal", "J", JAL, 0x7F, "jump"),
    *_row(JALR, "I", "jump", "jalr"),
    *_row(BRANCH, "B", "branch", "beq bne . . blt bge bltu bgeu"),
    *_row(LOAD, "I", "load", "lb lh lw . lbu lhu"),
    *_row(STORE, "S", "store", "sb sh sw"),
    *_row(OP_IMM, "I", "alu", "addi . slti sltiu xori . ori andi"),
    *_row(OP_IMM, "H", "alu", ". slli . . . srli", 0x00),
    *_row(OP_IMM, "H", "alu", ". . . . . srai", 0x20),
    *_row(OP, "R", "alu", "add sll slt sltu xor srl or and", 0x00),
    *_row(OP, "R", "alu", "sub . . . . sra", 0x20),
    *_row(OP, "R", "mul", "mul mulh mulhsu mulhu", 0x01),
    *_row(OP, "R", "div", ". . . . div divu rem remu", 0x01),
    *_row(MISC_MEM, "F", "fence", "fence"),
    # the other fields of fence.i are reserved and ignored by implementations (chapter 3)
    Instruction("fence.i", "N", MISC_MEM | 1 << 12, 0x707F, "fence"),
    *_row(SYSTEM, "C", "csr", ". csrrw csrrs csrrc"),
    *_row(SYSTEM, "Z", "csr", ". . . . . csrrwi csrrsi csrrci"),
    _word("ecall", 0x0000_0073),
    _word("ebreak", 0x0010_0073),
    _word("mret", 0x3020_0073),
    _word("wfi", 0x1050_0073),
)

BY_NAME = {instruction.name: instruction for instruction in INSTRUCTIONS}


@lru_cache(maxsize=1 << 16)
def decode(word: int) -> Instruction | None:
    """The instruction in this word, or None if it is illegal (`csrs` checks the number of a CSR)."""
    return next((found for found in INSTRUCTIONS if word & found.mask == found.match), None)


def rd(word: int) -> int:
    """The number of the destination register; meaningless in formats S, B, F and N."""
    return word >> 7 & 31


def rs1(word: int) -> int:
    """The number of the first source register, or uimm in format Z; the shift amount is not here."""
    return word >> 15 & 31


def rs2(word: int) -> int:
    """The number of the second source register."""
    return word >> 20 & 31


def imm(word: int, fmt: str) -> int:
    """The immediate of a word of this format; 0 if the format has none."""
    signed = word - (word >> 31 << 32)  # right shifts extend its sign
    if fmt == "I":
        return signed >> 20
    if fmt == "H":
        return word >> 20 & 31
    if fmt == "S":
        return signed >> 25 << 5 | word >> 7 & 31
    if fmt == "B":
        high = signed >> 31 << 12 | (word >> 7 & 1) << 11
        return high | (word >> 25 & 0x3F) << 5 | (word >> 8 & 0xF) << 1
    if fmt == "U":
        return word >> 12
    if fmt == "J":
        high = signed >> 31 << 20 | (word >> 12 & 0xFF) << 12
        return high | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1
    return word >> 20 if fmt in ("C", "Z", "F") else 0


_OPERANDS = {
    **{"R": "{d}, {a}, {b}", "S": "{b}, {value}({a})", "B": "{a}, {b}, {target}", "J": "{d}, {target}"},
    **{"U": "{d}, 0x{value:x}", "C": "{d}, {csr}, {a}", "Z": "{d}, {csr}, {uimm}", "F": "{pred}, {succ}"},
    **{"I": "{d}, {a}, {value}", "H": "{d}, {a}, {value}", "N": ""},
}


def disassemble(word: int, pc: int | None = None) -> str:
    """The instruction in assembly; targets are addresses if the pc is given."""
    instruction = decode(word)
    if instruction is None:
        return f".word 0x{word:08x}"
    fmt = instruction.fmt
    value = imm(word, instruction.fmt)
    form = _OPERANDS[fmt]
    if fmt == "I" and instruction.group in ("load", "jump"):
        form = "{d}, {value}({a})"
    operands = form.format(
        **{name: REGISTERS[field(word)] for name, field in (("d", rd), ("a", rs1), ("b", rs2))},
        value=value,
        target=f".{value:+d}" if pc is None else f"0x{pc + value & 0xFFFF_FFFF:x}",
        csr=csrs.name_of(value),
        uimm=rs1(word),
        pred=_devices(value >> 4),
        succ=_devices(value),
    )
    return f"{instruction.name} {operands}".rstrip()


def _devices(bits: int) -> str:
    """The accesses that a fence orders: input, output, read and write."""
    return "".join(letter for i, letter in enumerate("iorw") if bits >> 3 - i & 1) or "0"
