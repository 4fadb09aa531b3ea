"""The message types of the processor: its memory ports, its commit port, and the structs between its stages.

The first field is the most significant one in the packed port. Codes of encoded fields (format of the
immediate, result source, ...) are enumerations here, for the decoder that sends them and for the units that
receive them.
"""

from enum import IntEnum
from typing import Any

from pymtl3 import Bits1, Bits2, Bits3, Bits4, Bits5, Bits32, b4, bitstruct

# formats of immediates
Imm = IntEnum("Imm", "IMM_I IMM_S IMM_B IMM_U IMM_J IMM_Z", start=0)
IMM_I, IMM_S, IMM_B, IMM_U, IMM_J, IMM_Z = map(Bits3, Imm)

# functions of the ALU: {alternate function, funct3} of the instruction
ALU_ADD, ALU_SLL, ALU_SLT, ALU_SLTU, ALU_XOR, ALU_SRL, ALU_OR, ALU_AND = map(Bits4, range(8))
ALU_SUB, ALU_SRA = b4(8), b4(13)

# the source of the value that X computes
From = IntEnum("From", "FROM_ALU FROM_TARGET FROM_LINK FROM_CSR FROM_MUL FROM_DIV", start=0)
FROM_ALU, FROM_TARGET, FROM_LINK, FROM_CSR, FROM_MUL, FROM_DIV = map(Bits3, From)

# jumps and branches
Jump = IntEnum("Jump", "NEXT JUMP_BRANCH JUMP_JAL JUMP_JALR", start=0)
NEXT, JUMP_BRANCH, JUMP_JAL, JUMP_JALR = map(Bits2, Jump)

# accesses to the data memory or a CSR; in M, the last one is an access to the accelerator
Mem = IntEnum("Mem", "MEM_NONE MEM_LOAD MEM_STORE MEM_CSR", start=0)
MEM_NONE, MEM_LOAD, MEM_STORE, MEM_CSR = map(Bits2, Mem)

# instructions that control the pipeline itself
Sys = IntEnum("Sys", "SYS_NONE SYS_ECALL SYS_EBREAK SYS_MRET SYS_FENCE_I SYS_WFI", start=0)
SYS_NONE, SYS_ECALL, SYS_EBREAK, SYS_MRET, SYS_FENCE_I, SYS_WFI = map(Bits3, Sys)

# reasons for an empty slot of the pipeline: commit.bubble
Bubble = IntEnum(
    "Bubble",
    "BUBBLE_START BUBBLE_LOAD_USE BUBBLE_BRANCH BUBBLE_MULTIPLIER BUBBLE_DIVIDER BUBBLE_ACCELERATOR "
    "BUBBLE_FETCH BUBBLE_DATA_MEMORY BUBBLE_MANAGER BUBBLE_FLUSH BUBBLE_SLEEP",
    start=0,
)
(
    BUBBLE_START,
    BUBBLE_LOAD_USE,
    BUBBLE_BRANCH,
    BUBBLE_MULTIPLIER,
    BUBBLE_DIVIDER,
    BUBBLE_ACCELERATOR,
    BUBBLE_FETCH,
    BUBBLE_DATA_MEMORY,
    BUBBLE_MANAGER,
    BUBBLE_FLUSH,
    BUBBLE_SLEEP,
) = map(Bits4, Bubble)

# the interrupt in the field `cause` of the commit port; no exception has this number
INTERRUPT_CODE = 15

Struct: Any = object  # bitstructs are generated from their fields, which mypy cannot infer


@bitstruct
class MemReq(Struct):
    """One access to an aligned word; `strobe` selects the bytes that are written."""

    write: Bits1
    strobe: Bits4
    addr: Bits32
    data: Bits32


@bitstruct
class MemResp(Struct):
    """The word that was read; `error`: there is no memory at this address."""

    error: Bits1
    data: Bits32


@bitstruct
class Fetched(Struct):
    """F to D: an instruction; `error`: there is no memory at its address."""

    error: Bits1
    pc: Bits32
    inst: Bits32


@bitstruct
class Control(Struct):
    """The control signals of an instruction: a row of the decoder's table."""

    legal: Bits1
    rs1_en: Bits1
    rs2_en: Bits1
    rf_wen: Bits1
    imm_type: Bits3  # IMM_I, ...
    op2_imm: Bits1  # the second operand of the ALU is the immediate
    alu_fn: Bits4  # ALU_ADD, ...
    result_sel: Bits3  # FROM_ALU, ...
    jump: Bits2  # NEXT, ...
    mem: Bits2  # MEM_NONE, ...
    system: Bits3  # SYS_NONE, ...


@bitstruct
class Issue(Struct):
    """D to X, control: `error` is that of the fetch, `bubble` the reason why the slot is empty."""

    val: Bits1
    error: Bits1
    bubble: Bits4


@bitstruct
class Operands(Struct):
    """D to X, data: `store` is the word to store, `target` that of jal and branches."""

    cs: Control
    pc: Bits32
    inst: Bits32
    a: Bits32
    b: Bits32
    store: Bits32
    target: Bits32


@bitstruct
class Slot(Struct):
    """X to M to W, control: an instruction that retires or traps (val), or a bubble."""

    val: Bits1
    trap: Bits1
    halt: Bits1
    stats: Bits1
    rf_wen: Bits1
    mem: Bits2
    cause: Bits4
    bubble: Bits4


@bitstruct
class Result(Struct):
    """X to M to W, data: `value` is the value for rd, or mtval."""

    pc: Bits32
    inst: Bits32
    addr: Bits32
    store: Bits32
    value: Bits32


@bitstruct
class Write(Struct):
    """The register-file write of an instruction in X, M or W, for the bypasses."""

    en: Bits1
    addr: Bits5
    data: Bits32


@bitstruct
class Hold(Struct):
    """val: an instruction waits or is squashed; bubble: the reason recorded in the bubble that
    replaces it.
    """

    val: Bits1
    bubble: Bits4


@bitstruct
class Interrupts(Struct):
    """X to D, with a bus: interrupts are enabled; an interrupt would end a wfi (wakes); X may change this
    state (changing).
    """

    enabled: Bits1
    wakes: Bits1
    changing: Bits1


@bitstruct
class MulDivReq(Struct):
    """One multiplication or division, as encoded in the instruction."""

    funct3: Bits3
    a: Bits32
    b: Bits32


@bitstruct
class Commit(Struct):
    """The slot in W: an instruction that retires (val) or traps (trap), or a bubble and its reason.

    data: the value for rd (wen), or the value stored by a store; for a trap, mtval. addr: of a load or store.
    stats: the slot is inside the program's stats window. halt: a trap without a handler, after which nothing
    retires.
    """

    val: Bits1
    trap: Bits1
    halt: Bits1
    stats: Bits1
    wen: Bits1
    bubble: Bits4
    cause: Bits4
    rd: Bits5
    pc: Bits32
    inst: Bits32
    data: Bits32
    addr: Bits32
