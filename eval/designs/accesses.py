"""One exponentiation as a processor asks an accelerator for it: accesses to registers (modexlab.fl.xcel), and what they answer.

Push base, exponent and modulus, go, pop the result, read the status: 3 W + 1 writes and W + 1 reads for operands of W words.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...fl.status import Status
from ...fl.xcel import BASE, EXP, GO, MOD, STATUS, WORD_NBITS, to_words, words_of

Access = tuple[int, int, int]  # write, addr, data
Answer = tuple[int, int]  # write, data


def accesses(nbits: int, base: int, exp: int, mod: int) -> list[Access]:
    """The accesses of one operation, in order."""
    pushed = ((BASE, base), (EXP, exp), (MOD, mod))
    writes = [(1, addr, word) for addr, value in pushed for word in to_words(value, nbits)]
    return [*writes, (1, GO, 0), *([(0, GO, 0)] * words_of(nbits)), (0, STATUS, 0)]


def outcome(nbits: int, answers: Sequence[Answer]) -> tuple[Status, int]:
    """Status and result, from the answers to the accesses of one operation."""
    *words, status = [data for write, data in answers if not write]
    assert len(words) == words_of(nbits), answers
    return Status(status), sum(word << (WORD_NBITS * i) for i, word in enumerate(words))
