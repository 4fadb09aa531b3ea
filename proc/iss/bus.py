"""The processor's bus at the functional level: one slave at the start of the window, and its interrupt line.

There is no clock. A slave does what an access asks for before it answers, so that its line can only change by
an access; `sleep` is for models that raise it by themselves. Addresses are those of words.
"""

from ...fl.axi4lite import OKAY, Axi4LiteFL
from ..software.memory import BUS_BASE


class Axi4LiteBus:
    """A slave alone on the bus; what is beyond its addresses is refused."""

    def __init__(self, slave: Axi4LiteFL) -> None:
        self.slave = slave

    def read(self, addr: int) -> tuple[int, bool]:
        """The word of the slave, and whether the access is refused."""
        offset = addr - BUS_BASE
        if offset >> self.slave.address_nbits:
            return 0, True
        word, answer = self.slave.read(offset)
        return word, answer != OKAY

    def write(self, addr: int, data: int, strobes: int) -> bool:
        """Write the bytes that the strobes name; whether it is refused."""
        offset = addr - BUS_BASE
        return bool(offset >> self.slave.address_nbits) or self.slave.write(offset, data, strobes) != OKAY

    @property
    def interrupt(self) -> bool:
        return self.slave.interrupt

    def sleep(self) -> None:
        """The processor waits for the line; nothing happens by itself."""
