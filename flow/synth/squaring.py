"""Rewrites squares: a * a needs half of the partial products of a * b, because a_i a_j and a_j a_i add up to
one bit of the next place.

A multiplier whose two operands are the same word becomes n (n - 1) / 2 AND gates (a_i a_j for i < j, at place
i + j + 1), the bits of the word themselves (a_i a_i = a_i, at place 2 i), a tree of full adders and one
addition. The tree adds, place by place, the three earliest bits, after Oklobdzija, Villeger and Liu, "A
method for speed optimized partial product reduction", IEEE Trans. Computers 45(3), 1996.

The naive machine of paper 001 squares its base in every step. At 32 bits, with full adders as cells
(full_adders.py), its multiplier takes 4,864 um^2 with Booth recoding and 2,950 as a squarer, each with its
register.

Works in place on yosys' JSON of a design after `proc` and `opt`: $mul with equal, unsigned operands.
"""

import heapq
from itertools import combinations

from ..netlist.document import Bit, Cell, Document
from .sharing import Words

LEAST_BITS = 4
SUM_DELAY, CARRY_DELAY = 2, 1  # of a full adder, in XORs


def make_squarers(design: Document) -> int:
    """Rewrite all modules of a design; return the number of multipliers that became squarers."""
    count = 0
    for words in map(Words, design["modules"].values()):
        multipliers = [name for name, cell in words.cells.items() if cell["type"] == "$mul"]
        for name in multipliers:
            if word := _squared(words.cells[name]):
                _squarer(words, name, word)
                count += 1
    return count


def _squared(cell: Cell) -> list[Bit]:
    """The word that a multiplier squares, without the zeros above it; empty if it does not square."""
    a, b = words = [list(cell["connections"][pin]) for pin in "AB"]
    for word in words:
        while word and word[-1] == "0":
            word.pop()
    signed = any(int(cell["parameters"][f"{pin}_SIGNED"], 2) for pin in "AB")
    known = any(isinstance(bit, str) for bit in a)
    return a if a == b and not signed and not known and len(a) >= LEAST_BITS else []


def _squarer(words: Words, name: str, word: list[Bit]) -> None:
    """Replace a multiplier by the gates of a square."""
    out = words.cells[name]["connections"]["Y"]
    places: list[list[tuple[int, int, Bit]]] = [[] for _ in range(len(out) + 1)]  # heaps: (time, number, bit)

    def put(place: int, time: int, bit: Bit) -> None:
        if place < len(out):
            heapq.heappush(places[place], (time, int(words.net()), bit))

    for i, bit in enumerate(word):
        put(2 * i, 0, bit)
    for (i, a), (j, b) in combinations(enumerate(word), 2):
        if i + j + 1 < len(out):
            (product,) = words.made(f"{name}$and{i}_{j}", "$and", A=[a], B=[b])
            put(i + j + 1, 1, product)
    for place, bits in enumerate(places):
        while len(bits) > 2:
            (_, _, a), (_, _, b), (time, _, c) = (heapq.heappop(bits) for _ in range(3))
            total, carry = words.net(), words.net()
            words.put(f"{name}$fa{total}", "$fa", [total], A=[a], B=[b], C=[c], X=[carry])
            put(place, time + SUM_DELAY, total)
            put(place + 1, time + CARRY_DELAY, carry)
    rows = zip(*(([bit for _, _, bit in bits] + ["0", "0"])[:2] for bits in places[: len(out)]), strict=True)
    words.put(name, "$add", out, **dict(zip("AB", rows, strict=True)))
