"""Programs for the processor's tests: an assembler in a few lines, random programs, and the comparison with
the simulator of instructions, commit by commit.
"""

import random
import re

from modexlab.proc.core.null_xcel import NullXcelFL
from modexlab.proc.isa.csrs import (
    BY_NUMBER,
    INSTRET,
    MCAUSE,
    MEPC,
    MINSTRET,
    MINSTRETH,
    MISA,
    MNGR2PROC,
    MSCRATCH,
    MSTATUS,
    MTVAL,
    MTVEC,
    NUMCORES,
    PROC2MNGR,
    STATS_EN,
    XCEL_FIRST,
)
from modexlab.proc.isa.isa import BY_NAME, INSTRUCTIONS, REGISTERS
from modexlab.proc.iss.iss import ISS
from modexlab.proc.software.elf import Program

from tests.proc.assembler import encode
from tests.proc.difference import first_difference

CODE = 0x200
# The middle of the data. Offsets from here reach 4 KiB, of which the program's image has the middle.
DATA = 0x0010_0000
DATA_BYTES = 512

NUMBER = {name: i for i, name in enumerate(REGISTERS)} | {f"x{i}": i for i in range(32)}
CSR_NUMBER = {csr.name: csr.number for csr in BY_NUMBER.values()} | {
    f"xr{i}": XCEL_FIRST + i for i in range(32)
}
CORNERS = (0, 1, 2, 31, 0x7F, 0x80, 0x8000, 0xFFFF)
CORNERS += (0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFE, 0xFFFF_FFFF)
EXIT = 93  # Linux's call


def of_group(*groups):
    """The names of the instructions of these groups."""
    return [instruction.name for instruction in INSTRUCTIONS if instruction.group in groups]


BRANCHES, LOADS, STORES = of_group("branch"), of_group("load"), of_group("store")
REGISTER_OPS = [
    instruction.name for instruction in INSTRUCTIONS if instruction.fmt == "R" and instruction.group == "alu"
]
IMMEDIATE_OPS = [
    instruction.name for instruction in INSTRUCTIONS if instruction.fmt in "IH" and instruction.group == "alu"
]
NBYTES = {"b": 1, "h": 2, "w": 4}


def size_of(name):
    """Bytes that a load or store moves."""
    return NBYTES[name[1]]


class Assembler:
    """Words at consecutive addresses; a label may be used before it is set."""

    def __init__(self, base=CODE):
        self.base = base
        self.words = []
        self.labels = {}
        self.data = bytearray(DATA_BYTES)
        self._unnamed = 0
        self._open = []  # words that wait for a label

    @property
    def here(self):
        """The address of the next word."""
        return self.base + 4 * len(self.words)

    def label(self, name=None):
        """Name this place; without a name, one that no other place has."""
        name = name or self.fresh()
        assert name not in self.labels, f"label {name} is set twice"
        self.labels[name] = self.here
        return name

    def fresh(self):
        """A name for a place to come."""
        self._unnamed += 1
        return f"_{self._unnamed}"

    def word(self, word):
        """Any word."""
        self.words.append(word)

    def emit(self, name, rd=0, rs1=0, rs2=0, imm=0):
        """One instruction; imm may be the label that a jump or branch goes to, or "%hi label", "%lo
        label".
        """
        if isinstance(imm, str):
            self._open.append((len(self.words), name, rd, rs1, rs2, imm))
            self.words.append(0)
        else:
            self.words.append(encode(name, rd, rs1, rs2, imm))

    def li(self, rd, value):
        """A constant, in one or two instructions."""
        value &= 0xFFFF_FFFF
        low = (value & 0xFFF ^ 0x800) - 0x800
        if value == low & 0xFFFF_FFFF:
            self.emit("addi", rd, 0, imm=low)
            return
        self.emit("lui", rd, imm=value - low >> 12 & 0xF_FFFF)
        if low:
            self.emit("addi", rd, rd, imm=low)

    def la(self, rd, label):
        """The address of a label, in two instructions."""
        self.emit("lui", rd, imm=f"%hi {label}")
        self.emit("addi", rd, rd, imm=f"%lo {label}")

    def nops(self, count):
        """Instructions that do nothing."""
        for _ in range(count):
            self.emit("addi")

    def store(self, offset, value):
        """Let the data at DATA + offset start with this word."""
        at = DATA_BYTES // 2 + offset
        self.data[at : at + 4] = (value & 0xFFFF_FFFF).to_bytes(4, "little")

    def end(self, code=0):
        """End the program."""
        self.emit("csrrwi", imm=MTVEC)
        self.li(NUMBER["a7"], EXIT)
        self.li(NUMBER["a0"], code)
        self.emit("ecall")

    def text(self, source):
        """Instructions as a programmer writes them, one on a line or between semicolons."""
        for line in re.split(r"[\n;]", source):
            line = line.split("#")[0].strip()
            if line.endswith(":"):
                self.label(line[:-1])
            elif line:
                name, _, operands = line.partition(" ")
                self._line(name, [operand for operand in re.split(r"[,\s()]+", operands) if operand])

    def _line(self, name, operands):
        if name == "nop":
            self.nops(1)
        elif name == ".word":
            self.word(int(operands[0], 0))
        elif name == "li":
            self.li(NUMBER[operands[0]], int(operands[1], 0))
        elif name == "la":
            self.la(NUMBER[operands[0]], operands[1])
        else:
            instruction = BY_NAME[name]
            order = {"R": "rd rs1 rs2", "I": "rd rs1 imm", "H": "rd rs1 imm", "S": "rs2 imm rs1"}
            order |= {"B": "rs1 rs2 imm", "U": "rd imm", "J": "rd imm", "C": "rd imm rs1", "Z": "rd imm rs1"}
            fields = order.get(instruction.fmt, "").split()
            if instruction.group in ("load", "jump") and instruction.fmt == "I":
                fields = ["rd", "imm", "rs1"]
            self.emit(
                name, **{field: _operand(text) for field, text in zip(fields, operands, strict=bool(fields))}
            )

    def program(self, name="program"):
        """Return the program written so far, with its data."""
        for index, what, rd, rs1, rs2, place in self._open:
            addr = self.labels[place.split()[-1]]
            if place.startswith("%hi"):
                imm = addr + 0x800 >> 12 & 0xF_FFFF
            elif place.startswith("%lo"):
                imm = (addr & 0xFFF ^ 0x800) - 0x800
            else:
                imm = addr - (self.base + 4 * index)
            self.words[index] = encode(what, rd, rs1, rs2, imm)
        code = b"".join(word.to_bytes(4, "little") for word in self.words)
        segments = ((self.base, code), (DATA - DATA_BYTES // 2, bytes(self.data)))
        return Program(name, self.base, segments, dict(self.labels))


def _operand(text):
    """A register, the name of a CSR, a number, or else a label."""
    if text in NUMBER:
        return NUMBER[text]
    if text in CSR_NUMBER:
        return CSR_NUMBER[text]
    try:
        return int(text, 0)
    except ValueError:
        return text


def assemble(source, name="program"):
    """A program from its text."""
    assembler = Assembler()
    assembler.text(source)
    return assembler.program(name)


# ---- comparison


def check(expected, outcome, where):
    """Two runs of one program are the same in everything but the time they took, and that is accounted
    for.
    """
    difference = first_difference(expected, outcome)
    assert difference is None, f"{where}: {difference}"
    if outcome.cycles is not None:
        assert sum(outcome.where.values()) == outcome.cycles, where
        assert outcome.where["issue"] >= outcome.instructions, where
        assert sum(outcome.window.where.values()) == outcome.window.cycles, where


def golden(program, manager=(), limit=200_000):
    """Run the instruction-set simulator; the program must end by itself."""
    outcome = ISS(program, NullXcelFL(), manager).run(limit, record=True)
    assert outcome.reason != "limit", outcome.explain(program)
    return outcome


# ---- random programs

GP, RA = NUMBER["gp"], NUMBER["ra"]
COUNTERS = (NUMBER["tp"], NUMBER["s0"])  # of outer and inner loops
RESERVED = {GP, RA, *COUNTERS}
MAX_DEPTH = len(COUNTERS)
WORDS_FROM_MANAGER = 512  # more than a program reads

# cause, mtval, and the way back: after the instruction, or from where a jump into nothing came
HANDLER = """
handler:
    csrrs t6, mcause, zero
    csrrs t5, mtval, zero
    addi  t6, t6, -1
    beq   t6, zero, lost
    csrrs t6, mepc, zero
    addi  t6, t6, 4
    csrrw zero, mepc, t6
    mret
lost:
    csrrw zero, mepc, ra
    mret
"""


class RandomProgram:
    """A random program that ends after at least `minimum` instructions.

    user: only what every system lets a program do, and `end` writes how it ends.
    """

    handler = HANDLER

    def __init__(self, seed, minimum=200, *, user=False, base=CODE):
        draw = self.random = random.Random(seed)
        self.name = f"random program {seed}"
        self.user = user
        self.asm = Assembler(base)
        self.with_traps = not user and draw.random() < 0.6
        # a few registers and places in memory that are used much more often than others
        self.hot = draw.sample([i for i in range(1, 32) if i not in RESERVED], draw.randint(2, 8))
        self.hot_offsets = [draw.randrange(-2048, 2048), *(draw.randrange(-256, 256) for _ in range(3))]
        self.functions = []
        kinds = {"alu": 30, "muldiv": 8, "load": 12, "store": 10, "far_access": 6, "branch": 12, "loop": 4}
        kinds |= {"jump": 4, "computed_jump": 3, "call": 4, "fence": 1, "patch": 1}
        if not user:
            kinds |= {"csr": 7, "xcel": 4, "manager_word": 4}
        if self.with_traps:
            kinds |= {"trap": 5}
        self.kinds, self.weights = list(kinds), list(kinds.values())
        self.asm.data[:] = draw.randbytes(DATA_BYTES)
        self.manager = [] if user else [draw.getrandbits(32) for _ in range(WORDS_FROM_MANAGER)]
        self._start()
        executed = 0
        while executed < minimum:
            executed += self.item()

    def program(self, end=Assembler.end):
        """The program, with its functions, and its end behind everything else."""
        last = self.asm.fresh()
        self.asm.emit("jal", 0, imm=last)
        for function in self.functions:
            self.asm.label(function)
            self.block(MAX_DEPTH, leaf=True)
            self.asm.emit("jalr", 0, RA)
        self.asm.text(self.handler)
        self.asm.label(last)
        end(self.asm)
        return self.asm.program(self.name)

    def _start(self):
        self.asm.li(GP, DATA)
        for register in range(1, 32):
            if register != GP:
                self.asm.li(register, self.value())
        if self.with_traps:
            self.asm.la(NUMBER["t6"], "handler")
            self.asm.emit("csrrw", 0, NUMBER["t6"], imm=MTVEC)

    # ---- draws

    def value(self):
        """A word, often one at which something changes."""
        kind = self.random.random()
        if kind < 0.4:
            return self.random.choice(CORNERS)
        if kind < 0.6:
            return self.random.randrange(-16, 16) & 0xFFFF_FFFF
        return self.random.getrandbits(32)

    def source(self):
        """Any register."""
        return self.random.choice(self.hot) if self.random.random() < 0.75 else self.random.randrange(32)

    def target(self):
        """A register that may be written."""
        if self.random.random() < 0.75:
            return self.random.choice(self.hot)
        register = self.random.randrange(32)
        return 0 if register in RESERVED else register

    def written(self):
        """A register that may be written, and is not x0."""
        return self.target() or self.random.choice(self.hot)

    def offset(self, nbytes):
        """An aligned place in the data, as its distance from gp."""
        offsets = self.hot_offsets if self.random.random() < 0.6 else [self.random.randrange(-2048, 2048)]
        return self.random.choice(offsets) & -nbytes

    # ---- items: each writes instructions, and tells how many are executed at least

    def item(self, depth=0, *, leaf=False):
        """One of the kinds below. depth: of loops around it. leaf: in a function, ra and the loops' counters
        are in use.
        """
        while True:
            kind = self.random.choices(self.kinds, self.weights)[0]
            if (kind == "loop" and depth >= MAX_DEPTH) or (kind in ("call", "trap") and leaf):
                continue
            if kind in ("branch", "loop"):
                return getattr(self, kind)(depth, leaf)
            return getattr(self, kind)()

    def block(self, depth, *, leaf=False):
        """A few items."""
        return sum(self.item(depth, leaf=leaf) for _ in range(self.random.randint(1, 5)))

    def alu(self):
        """An instruction of one cycle."""
        kind = self.random.random()
        if kind < 0.5:
            self.asm.emit(self.random.choice(REGISTER_OPS), self.target(), self.source(), self.source())
        elif kind < 0.9:
            name = self.random.choice(IMMEDIATE_OPS)
            limits = (0, 31) if BY_NAME[name].fmt == "H" else (-2048, 2047)
            imm = self.random.choice([*limits, self.random.randint(*limits)])
            self.asm.emit(name, self.target(), self.source(), imm=imm)
        else:
            self.asm.emit(
                self.random.choice(["lui", "auipc"]), self.target(), imm=self.random.getrandbits(20)
            )
        return 1

    def muldiv(self):
        """A product or a quotient."""
        name = self.random.choice(of_group("mul", "div"))
        self.asm.emit(name, self.target(), self.source(), self.source())
        return 1

    def load(self):
        """A load, and often a use right behind it."""
        name, rd = self.random.choice(LOADS), self.target()
        self.asm.emit(name, rd, GP, imm=self.offset(size_of(name)))
        if self.random.random() < 0.5:
            self.asm.emit(self.random.choice(REGISTER_OPS), self.target(), rd, self.source())
            return 2
        return 1

    def store(self):
        """A store."""
        name = self.random.choice(STORES)
        self.asm.emit(name, 0, GP, self.source(), self.offset(size_of(name)))
        return 1

    def far_access(self):
        """A load or store whose address has just been computed."""
        name, pointer = self.random.choice(LOADS + STORES), self.written()
        nbytes = size_of(name)
        self.asm.emit("andi", pointer, self.source(), imm=0x7FF & -nbytes)
        self.asm.emit("add", pointer, GP, pointer)
        low = self.random.choice([-1024, 0]) & -nbytes
        if name in LOADS:
            self.asm.emit(name, self.target(), pointer, imm=low)
        else:
            self.asm.emit(name, 0, pointer, self.source(), low)
        return 3

    def branch(self, depth, leaf):
        """If, or if and else."""
        name, end, other = self.random.choice(BRANCHES), self.asm.fresh(), self.asm.fresh()
        self.asm.emit(name, 0, self.source(), self.source(), other)
        least = 1
        if self.random.random() < 0.3:
            then = self.block(depth, leaf=leaf) + 1
            self.asm.emit("jal", 0, imm=end)
            self.asm.label(other)
            least += min(then, self.block(depth, leaf=leaf))
        else:
            self.block(depth, leaf=leaf)
            self.asm.label(other)
        self.asm.label(end)
        return least

    def loop(self, depth, leaf):
        """A loop that counts down, left at its top or at its end."""
        counter, rounds = COUNTERS[depth], self.random.randint(1, 4)
        self.asm.emit("addi", counter, imm=rounds)
        top = self.asm.label()
        if self.random.random() < 0.3:
            out = self.asm.fresh()
            self.asm.emit("beq", 0, counter, 0, out)
            inside = self.block(depth + 1, leaf=leaf)
            self.asm.emit("addi", counter, counter, imm=-1)
            self.asm.emit("jal", 0, imm=top)
            self.asm.label(out)
            return 2 + rounds * (inside + 3)
        inside = self.block(depth + 1, leaf=leaf)
        self.asm.emit("addi", counter, counter, imm=-1)
        name, rs1, rs2 = self.random.choice(
            [("bne", counter, 0), ("blt", 0, counter), ("bltu", 0, counter), ("bne", 0, counter)]
        )
        self.asm.emit(name, 0, rs1, rs2, top)
        return 1 + rounds * (inside + 2)

    def junk(self):
        """Instructions that would do harm, where none is executed."""
        for _ in range(self.random.randint(0, 3)):
            kind = self.random.randrange(6)
            if kind == 0:
                self.asm.word(self.random.getrandbits(32))
            elif kind == 1:
                self.store()
            elif kind == 2 and not self.user:
                self.manager_word()
            elif kind == 3 and not self.user:
                self.asm.emit("csrrwi", 0, 1, imm=XCEL_FIRST)
            elif kind == 4:
                self.asm.emit("jal", self.written(), imm=8 * self.random.randrange(-9, 9))
            else:
                self.asm.emit("addi", self.written(), imm=5)

    def jump(self):
        """Forward over something."""
        over = self.asm.fresh()
        self.asm.emit("jal", self.target(), imm=over)
        self.junk()
        self.asm.label(over)
        return 1

    def computed_jump(self):
        """Forward over something, by jalr."""
        pointer, over = self.written(), self.asm.fresh()
        self.asm.la(pointer, over)
        odd = self.random.randrange(2)  # bit 0 of the target is dropped
        self.asm.emit("jalr", self.target(), pointer, imm=odd)
        self.junk()
        self.asm.label(over)
        return 3

    def call(self):
        """Call a function by jal or jalr."""
        if len(self.functions) < 3:
            self.functions.append(self.asm.fresh())
        function = self.random.choice(self.functions)
        if self.random.random() < 0.5:
            self.asm.emit("jal", RA, imm=function)
            return 2
        self.asm.la(RA, function)
        self.asm.emit("jalr", RA, RA)
        return 4

    def fence(self):
        """Order, refetch, or wait for nothing."""
        if self.user:
            self.asm.emit("fence", imm=0xFF)
        else:
            self.asm.emit(self.random.choice(["fence", "fence.i", "wfi"]))
        return 1

    def patch(self):
        """Write an instruction, and execute it."""
        slot, pointer, word = self.asm.fresh(), *self.random.sample(self.hot, 2)
        new = encode("addi", self.written(), self.source(), imm=self.random.randrange(-2048, 2048))
        at = self.offset(4)
        self.asm.li(word, new)
        self.asm.la(pointer, slot)
        if self.random.random() < 0.5:  # through memory
            self.asm.emit("sw", 0, GP, word, at)
            self.asm.emit("lw", word, GP, imm=at)
        self.asm.emit("sw", 0, pointer, word)
        self.asm.emit("fence.i")
        if self.random.random() < 0.5:
            self.asm.nops(1)
        self.asm.label(slot)
        self.asm.word(encode("xori", self.target(), self.source(), imm=-1))
        return 6

    def csr(self):
        """Registers that give the same at every level."""
        kind = self.random.randrange(5)
        if kind == 0:
            constant = self.random.choice([MISA, MSTATUS, 0x304, 0x344, 0xF11, 0xF12, 0xF13, 0xF14, NUMCORES])
            self.asm.emit("csrrs", self.target(), 0, imm=constant)
        elif kind == 1:
            self.asm.emit("csrrs", self.target(), 0, imm=self.random.choice([INSTRET, MINSTRET, MINSTRETH]))
        elif kind == 2:
            name = self.random.choice(["csrrw", "csrrs", "csrrc"])
            number = self.random.choice([MINSTRET, MINSTRETH, MISA, MSTATUS, STATS_EN])
            self.asm.emit(name, self.target(), self.source(), imm=number)
        elif kind == 3:
            name = self.random.choice(["csrrsi", "csrrci"])
            self.asm.emit(name, self.target(), self.random.randrange(4), imm=MTVEC)  # bits 1:0 stay 0
        else:
            name = self.random.choice(of_group("csr"))
            number = self.random.choice([MSCRATCH, MEPC, MCAUSE, MTVAL])
            field = self.random.randrange(32) if name.endswith("i") else self.source()
            self.asm.emit(name, self.target(), field, imm=number)
        return 1

    def xcel(self):
        """A register of the accelerator: most of the null accelerator's are not there."""
        number = XCEL_FIRST + self.random.choice([0, 0, 0, 1, 31])
        if self.random.random() < 0.5:
            self.asm.emit(self.random.choice(["csrrw", "csrrwi"]), 0, self.random.randrange(32), imm=number)
            return 1
        rd = self.target()
        self.asm.emit(self.random.choice(["csrrs", "csrrci"]), rd, 0, imm=number)
        if self.random.random() < 0.5:
            self.asm.emit("add", self.target(), rd, rd)
            return 2
        return 1

    def manager_word(self):
        """A word from the manager, or to it."""
        if self.random.random() < 0.5:
            self.asm.emit("csrrw", 0, self.source(), imm=PROC2MNGR)
        else:
            self.asm.emit("csrrs", self.target(), 0, imm=MNGR2PROC)
        return 1

    def trap(self):
        """An instruction that the handler skips."""
        kind = self.random.randrange(8)
        if kind == 0:
            words = [
                0,
                0xFFFF_FFFF,
                encode("add") | 0x4000_1000,
                encode("lw") | 0x3000,
                encode("ecall") | 0x80,
            ]
            self.asm.word(self.random.choice(words))
        elif kind == 1:
            self.asm.emit(self.random.choice(["ecall", "ebreak"]))
        elif kind == 2:
            name = self.random.choice([name for name in LOADS if size_of(name) > 1])
            self.asm.emit(name, self.target(), GP, imm=self.offset(size_of(name)) | 1)
        elif kind == 3:
            self.asm.emit(self.random.choice(["sh", "sw"]), 0, GP, self.source(), self.offset(4) | 1)
        elif kind == 4:
            self.asm.emit(self.random.choice(BRANCHES), 0, self.source(), self.source(), 6)
        elif kind == 5:
            self.asm.emit("jal", self.target(), imm=2)
        elif kind == 6:
            number = self.random.choice([0x000, 0x7DF, 0xC01, MNGR2PROC, NUMCORES])
            self.asm.emit("csrrw", self.target(), self.source(), imm=number)
        else:
            self.asm.emit("jalr", RA, 0, imm=self.random.choice([0, 0x1FC, 2]))
            return 6
        return 1
