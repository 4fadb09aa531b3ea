"""RV32IM as assertions: the effect of each instruction, in SystemVerilog over the signals of RVFI (rvfi.py).

Written from the unprivileged manual (chapters 2 and 7), independently of the hardware's decoder and of the
simulator, against which the hardware is tested as well; only the encodings come from proc/isa. Products and
quotients are specified by their units (units.py); here they are `unit_result`, a function of funct3 and both
operands.
"""

from collections.abc import Mapping
from typing import NamedTuple

from .....proc.isa.causes import MISALIGNED_FETCH, MISALIGNED_LOAD, MISALIGNED_STORE
from .....proc.isa.isa import BY_NAME

# in addition to `insn`, its address `pc`, and the values `rs1` and `rs2` of its source registers
OPERANDS = """\
  wire [31:0] imm_i = {{20{insn[31]}}, insn[31:20]};
  wire [31:0] imm_s = {{20{insn[31]}}, insn[31:25], insn[11:7]};
  wire [31:0] imm_b = {{20{insn[31]}}, insn[7], insn[30:25], insn[11:8], 1'b0};
  wire [31:0] imm_u = {insn[31:12], 12'b0};
  wire [31:0] imm_j = {{12{insn[31]}}, insn[19:12], insn[20], insn[30:21], 1'b0};
  wire [4:0] shamt = insn[24:20];
"""

# the new value of rd
RESULTS = {
    "lui": "imm_u",
    "auipc": "pc + imm_u",
    "jal": "pc + 4",
    "jalr": "pc + 4",
    "addi": "rs1 + imm_i",
    "slti": "$signed(rs1) < $signed(imm_i)",
    "sltiu": "rs1 < imm_i",
    "xori": "rs1 ^ imm_i",
    "ori": "rs1 | imm_i",
    "andi": "rs1 & imm_i",
    "slli": "rs1 << shamt",
    "srli": "rs1 >> shamt",
    "srai": "$signed(rs1) >>> shamt",
    "add": "rs1 + rs2",
    "sub": "rs1 - rs2",
    "sll": "rs1 << rs2[4:0]",
    "slt": "$signed(rs1) < $signed(rs2)",
    "sltu": "rs1 < rs2",
    "xor": "rs1 ^ rs2",
    "srl": "rs1 >> rs2[4:0]",
    "sra": "$signed(rs1) >>> rs2[4:0]",
    "or": "rs1 | rs2",
    "and": "rs1 & rs2",
    **dict.fromkeys(("mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu"), "unit_result"),
}
TAKEN = {
    "beq": "rs1 == rs2",
    "bne": "rs1 != rs2",
    "blt": "$signed(rs1) < $signed(rs2)",
    "bge": "$signed(rs1) >= $signed(rs2)",
    "bltu": "rs1 < rs2",
    "bgeu": "rs1 >= rs2",
}
# number of bytes, and the value; `word` is the word that was read, shifted so that its lowest byte is the one
# at the address
LOADS = {
    "lb": (1, "{{24{word[7]}}, word[7:0]}"),
    "lh": (2, "{{16{word[15]}}, word[15:0]}"),
    "lw": (4, "word"),
    "lbu": (1, "word[7:0]"),
    "lhu": (2, "word[15:0]"),
}
STORES = {"sb": 1, "sh": 2, "sw": 4}
JUMPS = {"jal": "pc + imm_j", "jalr": "(rs1 + imm_i) & 32'hfffffffe"}
NAMES = (*RESULTS, *TAKEN, *LOADS, *STORES)


class Effect(NamedTuple):
    """The effect of one instruction as expressions: its result, if any; the next pc; its traps; its memory
    access.
    """

    result: str = ""
    next_pc: str = "pc + 4"
    traps: str = "0"
    cause: int = 0
    value: str = "0"  # of mtval, for a trap
    address: str = ""  # of an access; `strobe` and `data` of a store follow from its number of bytes
    nbytes: int = 0
    stores: bool = False


def effect(name: str) -> Effect:
    """The effect of an instruction by its name."""
    if name in LOADS or name in STORES:
        stores = name in STORES
        nbytes, result = (STORES[name], "") if stores else LOADS[name]
        address = f"(rs1 + {'imm_s' if stores else 'imm_i'})"
        return Effect(
            result=result,
            traps=f"({address} & {nbytes - 1}) != 0",
            cause=MISALIGNED_STORE if stores else MISALIGNED_LOAD,
            value=address,
            address=address,
            nbytes=nbytes,
            stores=stores,
        )
    target = JUMPS.get(name) or (f"({TAKEN[name]}) ? pc + imm_b : pc + 4" if name in TAKEN else "")
    if not target:
        return Effect(result=RESULTS[name])
    return Effect(
        result=RESULTS.get(name, ""),
        next_pc=target,
        traps=f"({TAKEN.get(name, '1')}) && next_pc[1]",  # words of instructions are aligned
        cause=MISALIGNED_FETCH,
        value="next_pc",
    )


def is_a(name: str) -> str:
    """Whether `insn` is this instruction, as an expression."""
    instruction = BY_NAME[name]
    return f"(insn & 32'h{instruction.mask:08x}) == 32'h{instruction.match:08x}"


EFFECTS: Mapping[str, Effect] = {name: effect(name) for name in NAMES}
