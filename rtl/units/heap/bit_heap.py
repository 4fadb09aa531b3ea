"""BitHeap: reduces rows of bits to a pair, sum and carry, by the row adders that fl/compression/bit_heap.py
plans.

All rows, and the pair, are complements: the gates that produce rows invert at no cost, and full adders are
self-dual. A column without a bit holds 1, and synthesis reduces a full adder with one such input to a half
adder, and with two to a wire. Level L has the row adders that read only input rows and lower levels.

Ports: row, one word for each line of the plan -> sum, carry; combinational. Area order: a full adder for each
bit of a row except two a column.
"""

from pymtl3 import *

from ....fl.compression.bit_heap import runs
from .full_adders import FullAddersLevel


class BitHeap(Component):
    """Compresses rows of bits to a sum and a carry row by planned levels of full adders."""

    def construct(s, plan):
        columns = plan.columns
        s.row = [InPort(columns) for _ in plan.lines]
        s.sum = OutPort(columns)
        s.carry = OutPort(columns)

        words = dict(enumerate(s.row))
        for depth, numbers in enumerate(plan.levels):
            level = FullAddersLevel(len(numbers), columns)
            setattr(s, f"level_{depth}", level)  # PyMTL3 translates no list of components whose ports differ
            for place, number in enumerate(numbers):
                made = len(plan.lines) + 2 * number
                words[made] = level.sum[place]
                words[made + 1] = level.carry[place]
                for port, row in zip((level.v, level.w, level.x), plan.adders[number].rows, strict=True):
                    s.connect_row(port[place], plan, row, words)
        s.connect_row(s.sum, plan, plan.pair[0], words)
        s.connect_row(s.carry, plan, plan.pair[1], words)

    def connect_row(s, port, plan, row, words):
        """Connect a port to its row. A word whose bits are all in the row is connected as a whole."""
        for word, lo, hi in slices(plan, row):
            if word is None:
                port[lo:hi] //= (1 << hi - lo) - 1
            elif hi - lo == plan.columns:
                port //= words[word]
            else:
                port[lo:hi] //= words[word][lo:hi]


def slices(plan, row):
    """The columns of a row from the lowest to the highest, as (word, lo, hi); word None has no bits.

    A slice extends over columns in which neither the row nor its word has a bit.
    """
    found: list[tuple[int | None, int, int]] = []
    for lo, hi, word in sorted((*run, part.word) for part in row for run in runs(part.columns)):
        start = found[-1][2] if found else 0
        gap = (1 << lo) - (1 << start)
        if found and found[-1][0] == word and not plan.words[word] & gap:
            start = found.pop()[1]
        elif plan.words[word] & gap:
            found.append((None, start, lo))
            start = lo
        found.append((word, start, hi))
    word, start, end = found.pop() if found else (None, 0, 0)
    if word is None or not plan.words[word] >> end:
        return [*found, (word, start, plan.columns)]
    return [*found, (word, start, end), (None, end, plan.columns)]
