"""XcelFL: an accelerator as its processor sees it, registers of 32 bits (paper 001, section 3.1, widened to long operands).

The protocol. Each access {write, addr, data} gets one answer {write, data}; operands travel as W = ceil(nbits / 32) words, least
significant first.

    xr0  write  go: compute base^exp mod mod with the operands pushed since the last go; an operand of which
                nothing was pushed keeps its value
         read   wait until the operation is done and pop the next word of the result
    xr1  write  push the next word of the base
    xr2  write  push the next word of the exponent
    xr3  write  push the next word of the modulus
    xr4  read   status of the last operation (modexlab.fl.status): 0 the result is valid, else why there is none
    xr5  read   W
    xr4 to xr11  write  push the next word of a number that the machine takes as given: the first, the second, up to the eighth of them,
                W words each, though its field may be shorter

Every operation ends, with a result or with a status; a result with a status other than 0 reads as W words of 0. A word popped
when none is left reads as 0 and sets the status NO_RESULT. Reads of other registers give 0, writes to them do nothing.
What is given may be the numbers of a private key; the random ones among them, which blind an operation, must be new for each.
While an operation runs, accesses wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .status import Status

WORD_NBITS = 32
GO, BASE, EXP, MOD, STATUS, WORDS = range(6)  # register numbers; GO when read is the result
GIVEN = 4  # when written: of the first number that the machine takes as given
MOST_GIVEN = 8

MASK = (1 << WORD_NBITS) - 1


def words_of(nbits: int) -> int:
    """W, the number of words of an operand."""
    return -(-nbits // WORD_NBITS)


def operand_registers(ngiven: int = 0) -> tuple[int, ...]:
    """The registers of all that is pushed: base, exponent, modulus, and so many numbers that are given."""
    assert ngiven <= MOST_GIVEN
    return (BASE, EXP, MOD, *range(GIVEN, GIVEN + ngiven))


def to_words(value: int, nbits: int) -> list[int]:
    """An operand as the words that are pushed."""
    return [value >> (WORD_NBITS * i) & MASK for i in range(words_of(nbits))]


class XcelFL:
    """The protocol over any machine: `compute(base, exp, mod, ...)` gives (status, result).

    given: bits of the numbers that the machine takes as given.
    """

    def __init__(
        self, nbits: int, compute: Callable[..., tuple[Status, int]], given: Sequence[int] = ()
    ) -> None:
        self.nbits = nbits
        self.compute = compute
        self.widths = dict(zip(operand_registers(len(given)), (nbits, nbits, nbits, *given), strict=True))
        self.status = Status.OK
        self.result: list[int] = []  # the words that have not been popped
        self.pushed: dict[int, list[int]] = {addr: [] for addr in self.widths}  # since the last go
        self.held: dict[int, int | None] = dict.fromkeys(self.widths)

    def write(self, addr: int, data: int) -> None:
        """A write access."""
        if addr == GO:
            self._go()
        elif addr in self.pushed:
            self.pushed[addr].append(data & MASK)

    def read(self, addr: int) -> int:
        """A read access."""
        if addr == GO:
            if self.result:
                return self.result.pop(0)
            self.status = Status.NO_RESULT
        elif addr == STATUS:
            return int(self.status)
        elif addr == WORDS:
            return words_of(self.nbits)
        return 0

    def _go(self) -> None:
        for addr, words in self.pushed.items():
            if len(words) == words_of(self.nbits):
                self.held[addr] = sum(word << (WORD_NBITS * i) for i, word in enumerate(words))
            elif words:
                self.held[addr] = None
            words.clear()
        operands = [value for value in self.held.values() if value is not None]
        result = 0
        if len(operands) < len(self.held):
            self.status = Status.WORD_COUNT
        elif any(
            value.bit_length() > nbits for value, nbits in zip(operands, self.widths.values(), strict=True)
        ):
            self.status = Status.TOO_WIDE
        else:
            self.status, result = self.compute(*operands)
        self.result = to_words(result, self.nbits)
