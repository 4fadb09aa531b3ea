"""XcelFL: functional model of an accelerator behind 32-bit processor registers (paper 001, section 3.1,
widened to long operands).

The protocol. Each access {write, addr, data} gets one response {write, data}. A field of a request, or of a
response, is transferred as W words, least significant first. W is ceil(nbits / 32) of the widest field.

    xr0   write  go: compute with the words pushed since the last go; other fields keep their values
          read   wait for the end of the operation, and pop the next word of the result
    xr1   write  push the next word of field 1 (of a modular exponentiation, the base)
    xr2   write  push the next word of field 2 (the exponent)
    xr3   write  push the next word of field 3 (the modulus)
    xr4   write  push the next word of field 4, and so on up to xr31 (further numbers that the machine needs)
          read   status of the last operation: 0 if the result is valid (modexlab.fl.status)
    xr5   read   W

Every operation ends with a result, or with a nonzero status and a result of 0. If there are several results,
they follow one another, W words each. Popping a word when none is left returns 0 and sets the status
NO_RESULT. Other registers read as 0 and ignore writes. Random numbers for blinding must be new in every
request. An access waits while an operation is running.
"""

from collections.abc import Callable, Iterable, Sequence

from .accelerator import WORD_NBITS, Shape
from .errors import BadInput
from .status import Status
from .words import number_of, split_words

GO, BASE, EXP, MOD, STATUS, WORDS = range(6)  # register numbers; reading GO pops the result
GIVEN = 4  # write register of the first given number
MOST_GIVEN = 8
MOST_FIELDS = 31  # registers after xr0

MASK = (1 << WORD_NBITS) - 1


def words_of(nbits: int) -> int:
    """W, the number of words of an operand."""
    return -(-nbits // WORD_NBITS)


def operand_registers(shape: Shape) -> range:
    """The registers to which the fields of a request are pushed; BadInput if there are too few."""
    if len(shape.request) > MOST_FIELDS:
        raise BadInput(
            f"a request of {len(shape.request)} fields: xcel has registers for {MOST_FIELDS}; "
            "give interface stream"
        )
    return range(1, len(shape.request) + 1)


def to_words(value: int, nbits: int) -> list[int]:
    """An operand as the words that are pushed."""
    return split_words(value, WORD_NBITS, words_of(nbits))


def from_words(words: Iterable[int]) -> int:
    """The number with these words, least significant first."""
    return number_of(words, WORD_NBITS)


class XcelFL:
    """The register protocol in front of any accelerator; `compute(*request)` returns its response."""

    def __init__(self, shape: Shape, compute: Callable[..., Sequence[int]]) -> None:
        self.shape = shape
        self.nbits = shape.widest
        self.compute = compute
        widths = [nbits for _, nbits in shape.request]
        self.widths = dict(zip(operand_registers(shape), widths, strict=True))
        self.status: int = Status.OK
        self.result: list[int] = []  # the words that have not been popped yet
        self.pushed: dict[int, list[int]] = {addr: [] for addr in self.widths}  # since the last go
        self.held: dict[int, int | None] = dict.fromkeys(self.widths)

    def write(self, addr: int, data: int) -> None:
        """Perform a write access."""
        if addr == GO:
            self._go()
        elif addr in self.pushed:
            self.pushed[addr].append(data & MASK)

    def read(self, addr: int) -> int:
        """Perform a read access and return the data."""
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
                self.held[addr] = from_words(words)
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
            self.status, result = self.shape.packed(tuple(self.compute(*operands)))
        self.result = to_words(result, self.shape.result_nbits)
