"""Random bytes for padding: cutoffs of the continuous health tests of NIST SP 800-90B, 4.4, and a
deterministic test sequence.

The repetition count test counts equal bytes in a row; the adaptive proportion test counts the bytes of a
window that equal its first. A source with `entropy` bits per byte reaches a cutoff by chance once in 2^20
tests. A failure is permanent.
"""

import math
from collections.abc import Iterator

WINDOW = 512
FALSE_ALARM_BITS = 20
LFSR_SEED = 0x1234_5678


def repetition_cutoff(entropy: float) -> int:
    """The number of equal bytes in a row at which the repetition count test fails."""
    return 1 + math.ceil(FALSE_ALARM_BITS / entropy)


def proportion_cutoff(entropy: float) -> int:
    """The number of bytes equal to the first of a window, including it, at which the adaptive proportion test
    fails: 1 + the quantile of the binomial distribution.
    """
    p = 2.0**-entropy
    below, count = 0.0, -1
    while below < 1 - 2.0**-FALSE_ALARM_BITS:
        count += 1
        below += math.comb(WINDOW, count) * p**count * (1 - p) ** (WINDOW - count)
    return 1 + count


def lfsr_not_random(seed: int = LFSR_SEED) -> Iterator[int]:
    """Bytes of the LFSR x^32 + x^22 + x^2 + x + 1, eight steps per byte. NOT RANDOM: four bytes determine all
    others.
    """
    state = seed
    while True:
        for _ in range(8):
            bit = (state >> 31 ^ state >> 21 ^ state >> 1 ^ state) & 1
            state = (state << 1 | bit) & 0xFFFF_FFFF
        yield state & 0xFF
