"""The message types of the processor: its memory ports, its commit port, and what its stages hand on.

The first field is the most significant one in the packed port. Words for the encoded fields (which ALU
function, which write-back) stand here as integers, for the decoder that sends them and for the units that
receive them.
"""

from functools import cache

from pymtl3 import mk_bits, mk_bitstruct

# formats of immediates
IMM_I, IMM_S, IMM_B, IMM_U, IMM_J, IMM_Z = range(6)

# functions of the ALU
ALU_ADD, ALU_SUB, ALU_SLL, ALU_SLT, ALU_SLTU, ALU_XOR, ALU_SRL, ALU_SRA, ALU_OR, ALU_AND = range(10)

# where the value that X puts out comes from
FROM_ALU, FROM_TARGET, FROM_LINK, FROM_CSR, FROM_MUL, FROM_DIV = range(6)

# transfers of control
NEXT, TO_BRANCH, TO_JAL, TO_JALR = range(4)

# what the data memory is asked for
MEM_NONE, MEM_LOAD, MEM_STORE = range(3)

# instructions that are about the pipeline itself
SYS_NONE, SYS_ECALL, SYS_EBREAK, SYS_MRET, SYS_FENCE_I, SYS_CSR = range(6)

# why a slot of the pipeline is empty: commit.bubble
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
) = range(11)
BUBBLE_NBITS = 4

# in the field `cause` of the commit port, for the interrupt: no exception has this number
INTERRUPT_CODE = 15


def _struct(name, **widths):
    return mk_bitstruct(name, {field: mk_bits(nbits) for field, nbits in widths.items()})


@cache
def mk_mem_req():
    """{write, strobe, addr, data}: one access to an aligned word; `strobe` says which of its bytes are
    written.
    """
    return _struct("MemReq", write=1, strobe=4, addr=32, data=32)


@cache
def mk_mem_resp():
    """{error, data}: the word; `error`: there is no memory at this address."""
    return _struct("MemResp", error=1, data=32)


@cache
def mk_decoded():
    """The decoder's output for an instruction."""
    return _struct(
        "Decoded",
        legal=1,
        uses_rs1=1,
        uses_rs2=1,
        writes_rd=1,
        imm_format=3,
        with_imm=1,  # the second operand of the ALU is the immediate
        alu_fn=4,
        result=3,  # FROM_ALU, ...
        transfer=2,  # NEXT, ...
        memory=2,  # MEM_NONE, ...
        system=3,  # SYS_NONE, ...
    )


@cache
def mk_muldiv_req():
    """{funct3, a, b}: one multiplication or division, as the instruction encodes it."""
    return _struct("MulDivReq", funct3=3, a=32, b=32)


@cache
def mk_commit():
    """The slot in W: an instruction that retires (val) or traps (trap), or else a bubble and its reason.

    data: the value for rd (wen), else the value that a store stores; of a trap: mtval. addr: of a load or
    store. stats: the slot is inside the program's stats window. halt: a trap without a handler, after which
    nothing retires.
    """
    return _struct(
        "Commit",
        val=1,
        trap=1,
        halt=1,
        stats=1,
        wen=1,
        bubble=BUBBLE_NBITS,
        cause=4,
        rd=5,
        pc=32,
        inst=32,
        data=32,
        addr=32,
    )
