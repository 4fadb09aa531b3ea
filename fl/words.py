"""Numbers in words of equal width, the lowest word first."""

from collections.abc import Iterable, Sequence


def split_words(x: int, nbits: int, count: int) -> list[int]:
    """The lowest words of a number."""
    mask = (1 << nbits) - 1
    return [x >> (nbits * j) & mask for j in range(count)]


def number_of(words: Iterable[int], nbits: int) -> int:
    """The number of these words."""
    return sum(word << (nbits * j) for j, word in enumerate(words))


def shifted(words: Sequence[int], above: int, nbits: int, places: int) -> list[int]:
    """The words shifted right by some bits, with the low bits of the next word above at the top."""
    low = (1 << places) - 1
    following = (*words[1:], above)
    return [
        word >> places | (upper & low) << nbits - places for word, upper in zip(words, following, strict=True)
    ]
