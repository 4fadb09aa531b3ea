"""Programs from ELF files: segments, entry point and symbols, read by pyelftools and validated here."""

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ...fl.errors import BadInput
from .memory import REGIONS, map_text

COMPRESSED = 1  # in e_flags: the code has instructions of 16 bits (RISC-V ELF psABI)
EXECUTABLE = 1  # in p_flags
NOT_FLAGGED = (
    "its code is in a segment without the execute flag, which its linker script gives no segment that holds "
    "data too; "
    "it runs all the same, since no memory is protected here"
)
# the 32-bit little-endian file header: offsets and sizes of the tables of segments and sections
HEADER = struct.Struct("<28x2I6x4H2x")
NARROW_LITTLE = b"\x7fELF\x01\x01"

RECIPE = "compile with riscv64-unknown-elf-gcc -march=rv32im -misa-spec=2.2 -mabi=ilp32"


@dataclass(frozen=True)
class Program:
    """The bytes of a program by address, and the other data that a run needs."""

    name: str
    entry: int
    segments: tuple[tuple[int, bytes], ...]
    symbols: Mapping[str, int] = field(default_factory=dict)
    note: str = ""  # a harmless peculiarity of the file

    @property
    def tohost(self) -> int | None:
        """The address at which a program of the community's convention stores its result, or None."""
        return self.symbols.get("tohost")

    def near(self, addr: int) -> str:
        """An address relative to the nearest symbol before it in the same segment: "main+0x8"."""
        for first, content in self.segments:
            if first <= addr < first + len(content):
                below = [(value, name) for name, value in self.symbols.items() if first <= value <= addr]
                if below:
                    value, name = max(below)
                    return f"{name}+0x{addr - value:x}" if addr > value else name
        return f"0x{addr:x}"

    def place(self, addr: int) -> str:
        """An address, and the nearest symbol if there is one: "0x208 (main+0x8)"."""
        near = self.near(addr)
        return near if near.startswith("0x") else f"0x{addr:x} ({near})"


def load_elf(path: str | Path) -> Program:
    """The program in an ELF file; BadInput, with the reason, for a file that this processor cannot run."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _program(path.name, file)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}; give the path of an ELF file") from error
    except BadInput:
        raise
    except Exception as error:  # any: pyelftools fails in many ways on damaged files
        raise BadInput(f"{path.name} is not a whole ELF file ({error}); {RECIPE}") from error


def _program(name: str, file: BinaryIO) -> Program:
    if file.read(4) != b"\x7fELF":
        raise BadInput(f"{name} is not an ELF file; {RECIPE}")
    _check_length(name, file)
    elf = ELFFile(file)
    _check_machine(name, elf)
    segments, executable, loaded = [], [], []
    for segment in elf.iter_segments("PT_LOAD"):
        addr, size, content = segment["p_paddr"], segment["p_memsz"], segment.data()
        if len(content) != segment["p_filesz"]:
            raise _cut_short(name, f"the segment at 0x{addr:x}")
        if segment["p_offset"] == 0:
            # -Ttext puts the headers of the file on a page in front of the code, where there may be no memory
            code = content[elf["e_phoff"] + elf.num_segments() * elf["e_phentsize"] :].lstrip(b"\0")
            addr, size, content = addr + len(content) - len(code), size - len(content) + len(code), code
        if not size:
            continue
        if not any(first <= addr and addr + size <= end for first, end in REGIONS):
            where = f"0x{addr:x} to 0x{addr + size - 1:x}"
            raise BadInput(
                f"{name}: the segment at {where} is outside memory, which is {map_text()}; link it there"
            )
        if content:
            segments.append((addr, content))
        loaded.append(range(addr, addr + len(content)))
        if segment["p_flags"] & EXECUTABLE:
            executable.append(loaded[-1])
    if not segments:
        raise BadInput(
            f"{name} has nothing to load (no PT_LOAD segment with bytes in it): link it, do not only "
            "compile it"
        )
    entry = elf["e_entry"]
    if entry % 4 or not any(entry in addresses for addresses in loaded):
        raise BadInput(
            f"{name}: its entry 0x{entry:x} is not in code that is loaded; name the first instruction with "
            "ENTRY(_start)"
        )
    executes = any(entry in addresses for addresses in executable)
    note = "" if executes else NOT_FLAGGED
    return Program(name, entry, tuple(segments), _symbols(elf), note)


def _check_length(name: str, file: BinaryIO) -> None:
    """Raise BadInput if the file ends before its tables, from which pyelftools reads everything else."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    header = file.read(HEADER.size)
    if header[: len(NARROW_LITTLE)] == NARROW_LITTLE[: len(header)]:
        if len(header) < HEADER.size:
            raise _cut_short(name, "its header")
        segments, sections, segment_size, segment_count, section_size, section_count = HEADER.unpack(header)
        if segments + segment_size * segment_count > size:
            raise _cut_short(name, "its table of segments")
        if sections + section_size * section_count > size:
            raise _cut_short(name, "its table of sections")


def _cut_short(name: str, where: str) -> BadInput:
    return BadInput(f"{name} ends inside {where}: the file is cut short; build it again")


def _check_machine(name: str, elf: ELFFile) -> None:
    kind = f"{elf.elfclass}-bit {'little' if elf.little_endian else 'big'}-endian {elf['e_machine']}"
    if (elf.elfclass, elf.little_endian, elf["e_machine"]) != (32, True, "EM_RISCV"):
        raise BadInput(f"{name} is for another machine ({kind}), not 32-bit little-endian EM_RISCV; {RECIPE}")
    if elf["e_type"] != "ET_EXEC":
        raise BadInput(
            f"{name} is not a linked program ({elf['e_type']}, not ET_EXEC); link it with -static -no-pie"
        )
    if elf["e_flags"] & COMPRESSED:
        raise BadInput(
            f"{name} has compressed instructions, which this processor lacks; compile with -march=rv32im"
        )


def _symbols(elf: ELFFile) -> dict[str, int]:
    """The symbols that name an address, without files, sections and mapping symbols."""
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return {}
    return {
        symbol.name: symbol["st_value"]
        for symbol in table.iter_symbols()
        if symbol.name
        and not symbol.name.startswith("$")
        and symbol["st_shndx"] != "SHN_UNDEF"
        and symbol["st_info"]["type"] not in ("STT_FILE", "STT_SECTION")
    }
