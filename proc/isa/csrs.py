"""Control and status registers of the processor: one table for the simulator, the RTL and the pages.

They are the machine-mode registers of the RISC-V privileged specification (volume II, 1.12), and those of the
course's processor (paper 001, section 2.4): two streams of words to and from a manager, the stats window, and
the registers of an accelerator.

Not implemented are mstatush, mconfigptr, mhpmcounter3 to 31 with their high words, mhpmevent3 to 31, which
could all be constant 0, and the counter time(h): this processor has no events to count and no other clock.
Accesses to them are illegal and trap. The fields of mstatus are constant in a processor without a bus,
because it has no interrupts that MIE could enable. A processor with a bus has the machine external interrupt,
and ON_BUS replaces the rows with these names.

A port moves one word per access, so an instruction may access it only once: csrrs, csrrc and their immediate
forms with rs1 = 0 read, csrrw and csrrwi with rd = x0 write, and every other access is an illegal
instruction. So are an unknown number and a write to a read-only register: csrrw always writes, csrrs and
csrrc write if the field rs1 is not 0.
"""

from typing import NamedTuple

STATS_EN = 0x7C1
PROC2MNGR = 0x7C0
MNGR2PROC = 0xFC0
NUMCORES = 0xFC1
XCEL_FIRST, XCEL_LAST = 0x7E0, 0x7FF

MSTATUS, MISA, MIE, MTVEC = 0x300, 0x301, 0x304, 0x305
MSCRATCH, MEPC, MCAUSE, MTVAL, MIP = 0x340, 0x341, 0x342, 0x343, 0x344
MCYCLE, MINSTRET, MCYCLEH, MINSTRETH = 0xB00, 0xB02, 0xB80, 0xB82
CYCLE, INSTRET, CYCLEH, INSTRETH = 0xC00, 0xC02, 0xC80, 0xC82
MVENDORID, MARCHID, MIMPID, MHARTID = 0xF11, 0xF12, 0xF13, 0xF14

MISA_VALUE = 0x4000_1100  # 32 bits, I and M
MSTATUS_VALUE = 0x1800  # MPP: machine mode, the only one
MIE_BIT, MPIE_BIT = 3, 7  # of mstatus
EXTERNAL_BIT = 11  # of mie and mip: MEIE and MEIP

READ_ONLY, READ_WRITE, CONSTANT = "read only", "read, write", "writes ignored"
READ_PORT, WRITE_PORT, PORT = "read port", "write port", "port"


class Csr(NamedTuple):
    """One register, or `registers` similar ones from `number` on; access is one of the names above."""

    number: int
    name: str
    access: str
    meaning: str
    registers: int = 1

    @property
    def port(self) -> bool:
        """Whether it is a port: each access moves a word, so an instruction may access it only once."""
        return self.access in (READ_PORT, WRITE_PORT, PORT)


CSRS = (
    Csr(MSTATUS, "mstatus", CONSTANT, "0x1800: machine mode only, no interrupts"),
    Csr(MISA, "misa", CONSTANT, "0x40001100: 32 bits, I and M"),
    Csr(MIE, "mie", CONSTANT, "0: no interrupts"),
    Csr(
        MTVEC,
        "mtvec",
        READ_WRITE,
        "address of the trap handler, bits 1:0 are 0; while it is 0, a trap stops the machine",
    ),
    Csr(MSCRATCH, "mscratch", READ_WRITE, "scratch word of the trap handler"),
    Csr(MEPC, "mepc", READ_WRITE, "pc of the instruction that trapped, bits 1:0 are 0; mret returns to it"),
    Csr(MCAUSE, "mcause", READ_WRITE, "cause of the trap"),
    Csr(MTVAL, "mtval", READ_WRITE, "faulting address or instruction"),
    Csr(MIP, "mip", CONSTANT, "0: no interrupts"),
    Csr(PROC2MNGR, "proc2mngr", WRITE_PORT, "a write sends a word to the manager"),
    Csr(STATS_EN, "stats_en", READ_WRITE, "bit 0: count the following instructions in the statistics"),
    Csr(XCEL_FIRST, "xr0", PORT, "registers 0 to 31 of the accelerator", XCEL_LAST - XCEL_FIRST + 1),
    Csr(MCYCLE, "mcycle", READ_WRITE, "cycles, low word; the functional level counts instructions"),
    Csr(MINSTRET, "minstret", READ_WRITE, "retired instructions, low word"),
    Csr(MCYCLEH, "mcycleh", READ_WRITE, "cycles, high word"),
    Csr(MINSTRETH, "minstreth", READ_WRITE, "retired instructions, high word"),
    Csr(CYCLE, "cycle", READ_ONLY, "mcycle"),
    Csr(INSTRET, "instret", READ_ONLY, "minstret"),
    Csr(CYCLEH, "cycleh", READ_ONLY, "mcycleh"),
    Csr(INSTRETH, "instreth", READ_ONLY, "minstreth"),
    Csr(MVENDORID, "mvendorid", READ_ONLY, "0"),
    Csr(MARCHID, "marchid", READ_ONLY, "0"),
    Csr(MIMPID, "mimpid", READ_ONLY, "0"),
    Csr(MHARTID, "mhartid", READ_ONLY, "number of this core"),
    Csr(MNGR2PROC, "mngr2proc", READ_PORT, "a read takes the next word from the manager, and waits for it"),
    Csr(NUMCORES, "numcores", READ_ONLY, "1"),
)

ON_BUS = (
    Csr(
        MSTATUS,
        "mstatus",
        READ_WRITE,
        "bit 3, MIE: interrupts are taken; bit 7, MPIE: MIE before the trap, and after mret; the rest 0x1800",
    ),
    Csr(MIE, "mie", READ_WRITE, "bit 11, MEIE: the external interrupt is enabled, and wakes from wfi"),
    Csr(MIP, "mip", CONSTANT, "bit 11, MEIP: the line irq"),
)

BY_NUMBER = {csr.number + i: csr for csr in CSRS for i in range(csr.registers)}


def name_of(number: int) -> str:
    """The name of a register as the disassembler prints it, or its number in hex if it has none."""
    if XCEL_FIRST <= number <= XCEL_LAST:
        return f"xr{number - XCEL_FIRST}"
    return BY_NUMBER[number].name if number in BY_NUMBER else f"0x{number:03x}"


def accesses(number: int, write_form: bool, rd: int, rs1: int) -> tuple[bool, bool] | None:
    """(reads, writes) of a csr instruction, or None if it is illegal.

    write_form: csrrw or csrrwi; rs1: the field, which holds the immediate in the immediate forms.
    """
    csr = BY_NUMBER.get(number)
    if csr is None:
        return None
    reads, writes = not write_form or rd != 0, write_form or rs1 != 0
    if writes and csr.access in (READ_ONLY, READ_PORT):
        return None
    if csr.port and (reads == writes or (reads and csr.access == WRITE_PORT)):
        return None
    return reads, writes


def refusal(number: int) -> str:
    """The reason why an access is illegal, as text."""
    csr = BY_NUMBER.get(number)
    if csr is None:
        return f"there is no CSR {name_of(number)}"
    if csr.port:
        kinds = {READ_PORT: "read it", WRITE_PORT: "write it", PORT: "read it or write it"}
        return f"{name_of(number)} is a port: an instruction may only {kinds[csr.access]}, once"
    return f"{csr.name} is read only"
