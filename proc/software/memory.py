"""Memory as software sees it, sparse and little endian: one map for the simulator and the test benches of the
RTL.

Page zero is not mapped, so that a null pointer shows. Words that nobody has written read as 0.
"""

import struct
from collections.abc import Iterable

# (first address, address after the last); the second is where the community's test programs are linked
REGIONS = ((0x0000_0200, 0x0040_0000), (0x8000_0000, 0x8100_0000))

# A processor with a bus has no memory here, but the registers of what is on it: loads and stores leave by the
# port `bus`. Programs know the first address as BUS_BASE (compiler.py).
BUS_BASE = 0x4000_0000
BUS_NBITS = 28  # of an address in the window

PAGE_SHIFT = 8  # pages of 256 bytes: the simulator watches stores into those with code in them
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
    """The map as messages show it."""
    return " and ".join(f"0x{first:x} to 0x{end - 1:x}" for first, end in REGIONS)


class Memory:
    """Pages of 32-bit words by the upper bits of the address, made when they are first touched."""

    def __init__(self) -> None:
        self.pages: dict[int, list[int]] = {}

    def load(self, segments: Iterable[tuple[int, bytes]]) -> None:
        """Write the segments of a program, addresses and bytes; where two overlap, the later one counts."""
        for addr, content in segments:
            start, end = addr & ~3, addr + len(content)
            # the first and the last word may have bytes of another segment
            before = self.read(start, 4).to_bytes(4, "little")[: addr - start] if addr > start else b""
            behind = self.read(end & ~3, 4).to_bytes(4, "little")[end & 3 :] if end & 3 else b""
            for i, (word,) in enumerate(struct.iter_unpack("<I", before + content + behind)):
                self.page(start + 4 * i)[(start >> 2) + i & PAGE_WORDS - 1] = word

    def page(self, addr: int) -> list[int]:
        """The words of the page with this address."""
        page = self.pages.get(addr >> PAGE_SHIFT)
        if page is None:
            if not mapped(addr):
                raise AccessFault(f"address 0x{addr:x} is not mapped; memory is {map_text()}")
            page = self.pages[addr >> PAGE_SHIFT] = [0] * PAGE_WORDS
        return page

    def read(self, addr: int, nbytes: int) -> int:
        """The number in 1, 2 or 4 bytes from an address that is a multiple of their number."""
        word = self.page(addr)[addr >> 2 & PAGE_WORDS - 1]
        return word >> (addr & 3) * 8 & (1 << 8 * nbytes) - 1

    def write(self, addr: int, nbytes: int, value: int) -> None:
        """Write the low 1, 2 or 4 bytes of value to an address that is a multiple of their number."""
        page, index, shift = self.page(addr), addr >> 2 & PAGE_WORDS - 1, (addr & 3) * 8
        mask = (1 << 8 * nbytes) - 1
        page[index] = page[index] & ~(mask << shift) | (value & mask) << shift
