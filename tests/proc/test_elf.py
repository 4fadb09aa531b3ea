"""ELF files, valid and damaged, constructed here byte by byte, and one from the linker; the memory into which
they are loaded.
"""

import random
import struct
import subprocess
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modexlab.fl.errors import BadInput
from modexlab.proc.software.elf import load_elf
from modexlab.proc.software.memory import REGIONS, AccessFault, Memory, mapped

from tests.harness import draws, expect, parametrize, refused, refuses
from tests.proc.assembler import encode

CODE = struct.pack("<2I", encode("addi", rd=10, imm=3), encode("ecall"))
HEADER_SIZE, SEGMENT_SIZE = 52, 32


@dataclass(frozen=True)
class Segment:
    """A row of the program header table, and the contents that it loads."""

    addr: int = 0x200
    content: bytes = CODE
    flags: int = 5
    kind: int = 1  # PT_LOAD
    memory_size: int | None = None
    file_size: int | None = None  # the size in the table, if wrong


@dataclass(frozen=True)
class File:
    """An ELF file without sections (System V gABI, chapters 4 and 5)."""

    segments: tuple[Segment, ...] = field(default_factory=lambda: (Segment(),))
    entry: int = 0x200
    elf_class: int = 1
    order: int = 1
    machine: int = 243
    kind: int = 2  # ET_EXEC
    flags: int = 0
    align: int = 4  # of addresses and file offsets

    def write(self, path):
        pack = ">" if self.order == 2 else "<"
        identity = bytes([0x7F, *b"ELF", self.elf_class, self.order, 1]).ljust(16, b"\0")
        start = HEADER_SIZE + SEGMENT_SIZE * len(self.segments)
        table, contents = b"", b""
        for segment in self.segments:
            contents += bytes((segment.addr - start - len(contents)) % self.align)
            size = len(segment.content) if segment.file_size is None else segment.file_size
            memory_size = size if segment.memory_size is None else segment.memory_size
            where = (start + len(contents), segment.addr, segment.addr)
            table += struct.pack(
                f"{pack}8I", segment.kind, *where, size, memory_size, segment.flags, self.align
            )
            contents += segment.content
        header = struct.pack(
            f"{pack}2H5I6H",
            self.kind,
            self.machine,
            1,
            self.entry,
            HEADER_SIZE,
            0,
            self.flags,
            HEADER_SIZE,
            SEGMENT_SIZE,
            len(self.segments),
            40,
            0,
            0,
        )
        path.write_bytes(identity + header + table + contents)
        return path


def test_code_in_a_segment_without_the_execute_flag(tmp_path):
    """riscv-tests since January 2026: one readable and writable segment for code and data."""
    program = load_elf(File((Segment(flags=6),)).write(tmp_path / "rv32ui-p-add"))
    assert (program.entry, program.segments[0][0]) == (0x200, 0x200)
    assert "without the execute flag" in program.note and "runs all the same" in program.note
    assert not load_elf(File((Segment(),)).write(tmp_path / "usual.elf")).note


def test_segments_and_entry(tmp_path):
    data = Segment(addr=0x8000_0000, content=b"\x01\x02\x03", flags=6, memory_size=100)
    empty = Segment(addr=0x3000, content=b"", flags=6, memory_size=64)
    note = Segment(addr=0, content=b"note", kind=4)
    path = File((Segment(), data, empty, note), entry=0x204).write(tmp_path / "good.elf")
    program = load_elf(path)
    expect(program, name="good.elf", entry=0x204)
    assert program.segments == ((0x200, CODE), (0x8000_0000, b"\x01\x02\x03"))
    assert program.symbols == {}
    assert program.tohost is None
    assert load_elf(str(path)) == program


@parametrize(
    "file, message",
    {
        File(elf_class=2): "for another machine",
        File(order=2): "for another machine (32-bit big-endian EM_RISCV)",
        File(
            machine=40
        ): "for another machine (32-bit little-endian EM_ARM), not 32-bit little-endian EM_RISCV",
        File(kind=1): "is not a linked program (ET_REL, not ET_EXEC); link it with -static -no-pie",
        File(kind=3): "is not a linked program (ET_DYN, not ET_EXEC)",
        File(flags=1): "has compressed instructions, which this processor lacks; compile with -march=rv32im",
        File(
            (Segment(), Segment(addr=0x4000_0000, content=b"1234"))
        ): "the segment at 0x40000000 to 0x40000003 is outside memory, "
        "which is 0x200 to 0x3fffff and 0x80000000 to 0x80ffffff; link it there",
        File((Segment(addr=0x100),)): "the segment at 0x100 to 0x107 is outside memory",
        File((Segment(memory_size=0x40_0000),)): "the segment at 0x200 to 0x4001ff is outside memory",
        File(entry=0): "its entry 0x0 is not in code that is loaded; name the first instruction",
        File(entry=0x208): "its entry 0x208 is not in code",
        File(entry=0x202): "its entry 0x202 is not in code",
        File(()): "has nothing to load",
        File((Segment(content=b"", memory_size=64),)): "has nothing to load",
        File((Segment(file_size=100),)): "ends inside the segment at 0x200: the file is cut short",
    }.items(),
)
def test_files_that_cannot_run(file, message, tmp_path):
    refuses(lambda: load_elf(file.write(tmp_path / "bad.elf")), "bad.elf", message)


def test_files_that_are_no_programs(tmp_path):
    with refused(r"cannot read .*none\.elf: No such file or directory; give the path"):
        load_elf(tmp_path / "none.elf")
    with refused(r"cannot read .*: Is a directory"):
        load_elf(tmp_path)
    for content in (b"", b"\x7fEL", b"int main(void) { return 0; }\n"):
        (tmp_path / "text").write_bytes(content)
        with refused(r"text is not an ELF file; compile with riscv64"):
            load_elf(tmp_path / "text")


def linked(directory, text, start):
    """Assemble and link a text with the cross tools."""
    (directory / "program.s").write_text(text)
    for command in (
        "as -march=rv32im_zicsr_zifencei -mabi=ilp32 program.s -o program.o",
        f"ld -m elf32lriscv -Ttext=0x{start:x} program.o -o program.elf",
    ):
        subprocess.run(f"riscv64-unknown-elf-{command}".split(), cwd=directory, check=True)
    return directory / "program.elf"


TEXT = """
    .globl _start
_start: nop
1:  nop
    j   1b
inner: ecall
    .data
    .globl tohost
tohost: .dword 0
    .equ  somewhere, 0x210
"""


def test_symbols(tmp_path):
    program = load_elf(linked(tmp_path, TEXT, 0x8000_0000))
    assert program.segments[0][0] == 0x8000_0000, "the headers of the file are not loaded"
    assert program.entry == program.symbols["_start"] == 0x8000_0000
    assert program.symbols["inner"] == 0x8000_000C
    assert program.tohost == program.symbols["tohost"] > 0x8000_0010
    assert not any(name.startswith(("$", ".")) or name.endswith(".o") for name in program.symbols)
    assert program.near(0x8000_0000) == "_start"
    assert program.near(0x8000_0008) == "_start+0x8"
    assert program.place(0x8000_000C) == "0x8000000c (inner)"
    assert program.near(0x200) == program.place(0x200) == "0x200"


def test_damaged_files_give_one_line(tmp_path):
    """A file with damaged bytes loads, or BadInput gives the reason; there is no other exception."""
    whole = linked(tmp_path, TEXT, 0x8000_0000).read_bytes()
    tables = struct.unpack_from(
        "<2I", whole, 28
    )  # of segments and sections: damage is there rather than in padding
    draw = random.Random(1)
    for case in range(400):
        content = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            where = draw.choice((4 + draw.randrange(48), *(table + draw.randrange(160) for table in tables)))
            content[where % len(content)] = draw.choice((0, 0xFF, draw.randrange(256)))
        if case % 4 == 0:
            del content[draw.randrange(4, len(content)) :]
        (tmp_path / "damaged.elf").write_bytes(content)
        try:
            load_elf(tmp_path / "damaged.elf")
        except BadInput as error:
            assert "damaged.elf" in str(error)
            assert "\n" not in str(error)


def test_memory_is_little_endian():
    memory = Memory()
    memory.write(0x200, 4, 0x44332211)
    assert [memory.read(0x200 + i, 1) for i in range(4)] == [0x11, 0x22, 0x33, 0x44]
    assert (memory.read(0x200, 2), memory.read(0x202, 2)) == (0x2211, 0x4433)
    memory.write(0x201, 1, 0xABFF)
    memory.write(0x202, 2, 0xFFFF5566)
    assert memory.read(0x200, 4) == 0x5566FF11
    assert memory.read(0x204, 4) == 0


@parametrize("region", REGIONS)
def test_the_map_has_ends(region):
    first, end = region
    memory = Memory()
    for addr in (first, end - 4):
        memory.write(addr, 4, addr)
        assert memory.read(addr, 4) == addr
        assert mapped(addr)
    for addr in (first - 4, end):
        assert not mapped(addr)
        with pytest.raises(AccessFault, match=f"0x{addr:x} is not mapped"):
            memory.read(addr, 4)
        with pytest.raises(AccessFault):
            memory.write(addr, 1, 0)


@draws(200)
@given(st.lists(st.tuples(st.integers(0, 40), st.binary(max_size=24)), max_size=6))
def test_the_later_of_two_segments_counts(segments):
    """The later segment wins, as in the loader of the native testbench."""
    base = 0x20F0  # a page of the memory ends 16 bytes later
    memory, oracle = Memory(), bytearray(64)
    memory.load([(base + at, content) for at, content in segments])
    for at, content in segments:
        oracle[at : at + len(content)] = content
    assert bytes(memory.read(base + at, 1) for at in range(-1, 64)) == b"\0" + oracle
