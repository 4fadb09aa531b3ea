"""Random bytes for padding: the continuous health tests of NIST SP 800-90B, 4.4, and a deterministic test
sequence.

Repetition count: so many equal bytes in a row. Adaptive proportion: so many equal to the first of a window.
The cutoffs are those at which a source of `entropy` bits a byte fails by chance once in 2^20 tests. A failure
stays.
"""

import math
from collections.abc import Iterator

WINDOW = 512
FALSE_ALARM_BITS = 20
LFSR_SEED = 0x1234_5678


def repetition_cutoff(entropy: float) -> int:
    """Equal bytes in a row that are too many."""
    return 1 + math.ceil(FALSE_ALARM_BITS / entropy)


def proportion_cutoff(entropy: float) -> int:
    """Bytes equal to the first of a window, itself among them, that are too many: 1 + the quantile of the
    binomial distribution.
    """
    p = 2.0**-entropy
    below, count = 0.0, -1
    while below < 1 - 2.0**-FALSE_ALARM_BITS:
        count += 1
        below += math.comb(WINDOW, count) * p**count * (1 - p) ** (WINDOW - count)
    return 1 + count


def lfsr_not_random(seed: int = LFSR_SEED) -> Iterator[int]:
    """x^32 + x^22 + x^2 + x + 1, eight steps a byte. NOT RANDOM: whoever sees four bytes knows all the
    others.
    """
    state = seed
    while True:
        for _ in range(8):
            bit = (state >> 31 ^ state >> 21 ^ state >> 1 ^ state) & 1
            state = (state << 1 | bit) & 0xFFFF_FFFF
        yield state & 0xFF
