"""Assembler for test programs: single instructions, and programs from their text, with labels."""

import re

from modexlab.proc.isa.csrs import BY_NUMBER, MTVEC, XCEL_FIRST
from modexlab.proc.isa.isa import BY_NAME, REGISTERS
from modexlab.proc.software.elf import Program

CODE = 0x200
# The middle of the data. Offsets from here reach 4 KiB; the program's image contains the middle part.
DATA = 0x0010_0000
DATA_BYTES = 512

NUMBER = {name: i for i, name in enumerate(REGISTERS)} | {f"x{i}": i for i in range(32)}
NAMED = {csr.name: csr.number for csr in BY_NUMBER.values()} | NUMBER
NAMED |= {f"xr{i}": XCEL_FIRST + i for i in range(32)}
EXIT = 93  # system call of Linux

# format: first and last immediate, and the alignment
RANGES = {
    **dict.fromkeys("IS", (-2048, 2047, 1)),
    "H": (0, 31, 1),
    "B": (-4096, 4094, 2),
    "U": (0, 0xF_FFFF, 1),
    "J": (-(1 << 20), (1 << 20) - 2, 2),
    **dict.fromkeys("CZF", (0, 0xFFF, 1)),
}
# format: the operands in assembly syntax
ORDER = {
    **{"R": "rd rs1 rs2", "S": "rs2 imm rs1", "B": "rs1 rs2 imm", "F": "", "N": ""},
    **dict.fromkeys("IH", "rd rs1 imm"),
    **dict.fromkeys("UJ", "rd imm"),
    **dict.fromkeys("CZ", "rd imm rs1"),
}


def encode(name, rd=0, rs1=0, rs2=0, imm=0):
    """The word of an instruction; for CSR instructions, imm is the CSR, and rs1 the register or the uimm."""
    instruction = BY_NAME[name]
    for field, number in {"rd": rd, "rs1": rs1, "rs2": rs2}.items():
        assert 0 <= number <= (31 if field in ORDER[instruction.fmt] else 0), (name, field, number)
    first, last, unit = RANGES.get(instruction.fmt, (0, 0, 1))
    assert first <= imm <= last and imm % unit == 0, (name, imm)
    word = instruction.match | rd << 7 | rs1 << 15 | rs2 << 20
    if instruction.fmt == "S":
        return word | (imm >> 5 & 0x7F) << 25 | (imm & 31) << 7
    if instruction.fmt == "B":
        high = (imm >> 12 & 1) << 31 | (imm >> 11 & 1) << 7
        return word | high | (imm >> 5 & 0x3F) << 25 | (imm >> 1 & 0xF) << 8
    if instruction.fmt == "U":
        return word | imm << 12
    if instruction.fmt == "J":
        high = (imm >> 20 & 1) << 31 | (imm >> 12 & 0xFF) << 12
        return word | high | (imm >> 11 & 1) << 20 | (imm >> 1 & 0x3FF) << 21
    return word | (imm & 0xFFF) << 20 if instruction.fmt in RANGES else word


class Assembler:
    """Words at consecutive addresses; a label may be used before it is set."""

    def __init__(self, base=CODE):
        self.base = base
        self.words = []
        self.labels = {}
        self.data = bytearray(DATA_BYTES)
        self._unnamed = 0
        self._open = []  # instructions whose label is not known yet

    @property
    def here(self):
        """The address of the next word."""
        return self.base + 4 * len(self.words)

    def label(self, name=None):
        """Name this address; without a name, generate a unique one."""
        name = name or self.fresh()
        assert name not in self.labels, f"label {name} is set twice"
        self.labels[name] = self.here
        return name

    def fresh(self):
        """A unique name for a label that is set later."""
        self._unnamed += 1
        return f"_{self._unnamed}"

    def word(self, word):
        """Append an arbitrary word."""
        self.words.append(word)

    def emit(self, name, rd=0, rs1=0, rs2=0, imm=0):
        """Append one instruction; imm may be the target label of a jump or branch, or "%hi label", "%lo
        label".
        """
        if isinstance(imm, str):
            self._open.append((len(self.words), name, rd, rs1, rs2, imm))
            imm = 0
        self.words.append(encode(name, rd, rs1, rs2, imm))

    def li(self, rd, value):
        """Load a constant, in one or two instructions."""
        value &= 0xFFFF_FFFF
        low = (value & 0xFFF ^ 0x800) - 0x800
        if value == low & 0xFFFF_FFFF:
            self.emit("addi", rd, 0, imm=low)
            return
        self.emit("lui", rd, imm=value - low >> 12 & 0xF_FFFF)
        if low:
            self.emit("addi", rd, rd, imm=low)

    def la(self, rd, label):
        """Load the address of a label, or a number, in two instructions."""
        self.emit("lui", rd, imm=f"%hi {label}")
        self.emit("addi", rd, rd, imm=f"%lo {label}")

    def nops(self, count):
        """Append instructions that do nothing."""
        for _ in range(count):
            self.emit("addi")

    def store(self, offset, value):
        """Set the initial data word at DATA + offset."""
        at = DATA_BYTES // 2 + offset
        self.data[at : at + 4] = (value & 0xFFFF_FFFF).to_bytes(4, "little")

    def end(self, code=0):
        """Append the exit of the program."""
        self.emit("csrrwi", imm=MTVEC)
        self.li(NUMBER["a7"], EXIT)
        self.li(NUMBER["a0"], code)
        self.emit("ecall")

    def text(self, source):
        """Append instructions in assembly syntax, separated by newlines or semicolons."""
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
            fields = ORDER[instruction.fmt].split()
            if instruction.group in ("load", "jump") and instruction.fmt == "I":
                fields = ["rd", "imm", "rs1"]
            self.emit(
                name, **{field: _operand(text) for field, text in zip(fields, operands, strict=bool(fields))}
            )

    def program(self, name="program"):
        """The program written so far, with its data."""
        for index, what, rd, rs1, rs2, place in self._open:
            label = place.split()[-1]
            addr = self.labels[label] if label in self.labels else int(label, 0)
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
    """The value of a register, the name of a CSR, or a number; otherwise the label itself."""
    if text in NAMED:
        return NAMED[text]
    try:
        return int(text, 0)
    except ValueError:
        return text


def assemble(source, name="program"):
    """The program of an assembly text."""
    assembler = Assembler()
    assembler.text(source)
    return assembler.program(name)


def of_words(words, base=CODE, name="words", symbols=None):
    """A program of these words, starting at the first."""
    content = b"".join(word.to_bytes(4, "little") for word in words)
    return Program(name, base, ((base, content),), symbols or {})


def code(source, base=CODE):
    """The words of an assembly text."""
    assembler = Assembler(base)
    assembler.text(source)
    assembler.program()
    return assembler.words


def word(source):
    """The word of one instruction."""
    (only,) = code(source)
    return only
