"""Parallel-prefix networks as plain data: the pairs that are combined at each level to compute carries.

Position i holds the pair (generate, propagate) of a span of bits that ends at i. A node (i, j) of a level
extends it by the span that ends at j, directly below it: g_i = g_i + p_i g_j, p_i = p_i p_j. After the last
level all spans reach down to bit 0, and g_i is the carry out of bit i.

The networks are Brent-Kung (paper 000, section 2.2.2: about 2 log2 n levels, 2n nodes), Kogge-Stone (log2 n
levels, n log2 n nodes, fan-out 2) and Sklansky (log2 n levels, n/2 log2 n nodes, fan-out up to n/2).
"""

from ..errors import unknown

Level = tuple[tuple[int, int], ...]

CARRY_PROPAGATE = "carry-propagate"  # no network: a chain, or the implementation of `+` by the synthesis tool
ADDERS = (CARRY_PROPAGATE, "brent-kung", "kogge-stone", "sklansky")


def _brent_kung(nbits: int) -> list[Level]:
    levels = []
    span = 1
    while span < nbits:
        levels.append(tuple((i, i - span) for i in range(2 * span - 1, nbits, 2 * span)))
        span *= 2
    while span > 1:
        span //= 2
        levels.append(tuple((i, i - span) for i in range(3 * span - 1, nbits, 2 * span)))
    return levels


def _kogge_stone(nbits: int) -> list[Level]:
    return [
        tuple((i, i - (1 << k)) for i in range(1 << k, nbits)) for k in range(max(0, nbits - 1).bit_length())
    ]


def _sklansky(nbits: int) -> list[Level]:
    return [
        tuple((i, (i >> k << k) - 1) for i in range(nbits) if i >> k & 1)
        for k in range(max(0, nbits - 1).bit_length())
    ]


def prefix_network(adder: str, nbits: int) -> tuple[Level, ...]:
    """The levels of the network for nbits positions; none for a carry-propagate adder."""
    makers = {"brent-kung": _brent_kung, "kogge-stone": _kogge_stone, "sklansky": _sklansky}
    if adder == CARRY_PROPAGATE:
        return ()
    if adder not in makers:
        raise unknown("adder", adder, ADDERS)
    return tuple(level for level in makers[adder](nbits) if level)
