"""Memory as software sees it, sparse and little endian: one map for the simulator and the test benches of the
RTL.

Page zero is not mapped, so that a null pointer shows. Words that nobody has written read as 0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

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
        """Write the segments of a program: addresses, and what is there."""
        for addr, content in segments:
            # what is before the first boundary of words, and after the last, shares its word with something
            # else
            first = min(-addr % 4, len(content))
            last = first + (len(content) - first) // 4 * 4
            self._write_words(addr + first, struct.unpack(f"<{(last - first) // 4}I", content[first:last]))
            for i in (*range(first), *range(last, len(content))):
                self.write(addr + i, 1, content[i])

    def _write_words(self, addr: int, words: Sequence[int]) -> None:
        done = 0
        while done < len(words):
            page, index = self.page(addr + 4 * done), (addr >> 2) + done & PAGE_WORDS - 1
            count = min(PAGE_WORDS - index, len(words) - done)
            page[index : index + count] = words[done : done + count]
            done += count

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
