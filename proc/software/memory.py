"""Memory as seen by software, sparse and little-endian: one map for the simulator and the testbenches of the
RTL.

Page zero is not mapped, so that null pointers are detected. Words that have not been written read as 0.
"""

import struct
from collections.abc import Iterable

# (first address, address after the last); the community's test programs are linked to the second
REGIONS = ((0x0000_0200, 0x0040_0000), (0x8000_0000, 0x8100_0000))

# The window of the bus, where a processor with a bus has the registers of its slave instead of memory: loads
# and stores use the port `bus`. Programs know the first address as BUS_BASE (compiler.py).
BUS_BASE = 0x4000_0000
BUS_NBITS = 28  # width of an address in the window

PAGE_SHIFT = 8  # pages of 256 bytes: the simulator watches stores into pages with code
PAGE_WORDS = 1 << PAGE_SHIFT - 2


class AccessFault(Exception):
    """An access to an address that is not mapped."""


def mapped(addr: int) -> bool:
    """Whether there is memory at this address."""
    return any(first <= addr < end for first, end in REGIONS)


def on_bus(addr: int) -> bool:
    """Whether the address is in the window of the bus."""
    return addr >> BUS_NBITS == BUS_BASE >> BUS_NBITS


def map_text() -> str:
    """The map as text for a message."""
    return " and ".join(f"0x{first:x} to 0x{end - 1:x}" for first, end in REGIONS)


class Memory:
    """Pages of 32-bit words by the upper bits of the address, allocated when they are first accessed."""

    def __init__(self) -> None:
        self.pages: dict[int, list[int]] = {}

    def load(self, segments: Iterable[tuple[int, bytes]]) -> None:
        """Write the segments of a program (addresses and bytes); where two overlap, the later one wins."""
        for addr, content in segments:
            start, end = addr & ~3, addr + len(content)
            # the first and the last word may contain bytes of another segment
            before = self.read(start, 4).to_bytes(4, "little")[: addr - start] if addr > start else b""
            behind = self.read(end & ~3, 4).to_bytes(4, "little")[end & 3 :] if end & 3 else b""
            for i, (word,) in enumerate(struct.iter_unpack("<I", before + content + behind)):
                self.page(start + 4 * i)[(start >> 2) + i & PAGE_WORDS - 1] = word

    def page(self, addr: int) -> list[int]:
        """The words of the page that contains this address."""
        page = self.pages.get(addr >> PAGE_SHIFT)
        if page is None:
            if not mapped(addr):
                raise AccessFault(f"address 0x{addr:x} is not mapped; memory is {map_text()}")
            page = self.pages[addr >> PAGE_SHIFT] = [0] * PAGE_WORDS
        return page

    def read(self, addr: int, nbytes: int) -> int:
        """The number in 1, 2 or 4 bytes at an aligned address."""
        word = self.page(addr)[addr >> 2 & PAGE_WORDS - 1]
        return word >> (addr & 3) * 8 & (1 << 8 * nbytes) - 1

    def write(self, addr: int, nbytes: int, value: int) -> None:
        """Write the low 1, 2 or 4 bytes of value to an aligned address."""
        page = self.page(addr)
        index = addr >> 2 & PAGE_WORDS - 1
        shift = (addr & 3) * 8
        mask = (1 << 8 * nbytes) - 1
        page[index] = page[index] & ~(mask << shift) | (value & mask) << shift
