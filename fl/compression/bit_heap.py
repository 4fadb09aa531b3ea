"""Plan of a bit heap: rows of bits with their columns and arrival times, reduced to two rows by row adders.

compression_plan.py works column by column and has a cell for each bit. Here the unit is a row, because the
columns of a wide heap are alike except at its ends. A row adder takes the three rows that arrive first
(three-greedy: Oklobdzija, Villeger and Liu, 1996, by rows) and produces two words, sums and carries. Columns
with three bits have full adders. A single bit passes to the sums. Two bits pass, one to the sums and one to
the row of carries, unless a carry arrives from the column below. Such a carry is moved into a later row that
has no bit in its column. If there is no such row, or only a few columns would pass, half adders take the two
bits. Among rows that arrive together, those that end in the same column are added together, because carries
arrive where one row ends before another. R rows take R - 2 row adders. Rows that have no column in common
share one row.

Words are numbered: first the input rows, then the sums and the carries of each row adder. A bit keeps its
column. A row is a list of parts of words. No carry leaves the heap at its upper end: the sum of all rows must
be below 2^columns.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

# ns from the second and the last input of a full adder to its outputs: FA_X1 of the NanGate library with a
# fan-out of one
SUM_DELAYS = 0.12, 0.10
CARRY_DELAYS = 0.09, 0.07
LEAST_PASSING = 4  # columns: a carry is moved to a later row if it saves at least this many half adders


class Line(NamedTuple):
    """An input row: columns lo to hi - 1, with its arrival time (in ns; only differences matter)."""

    arrival: float
    lo: int
    hi: int


class Part(NamedTuple):
    """The bits of a word in the columns of a mask."""

    word: int
    columns: int


Row = tuple[Part, ...]


def columns_of(row: Iterable[Part]) -> int:
    """The columns in which a row has a bit, as a mask."""
    return sum(part.columns for part in row)


def runs(columns: int) -> Iterator[tuple[int, int]]:
    """The first column and the one after the last of each run of ones in a mask."""
    while columns:
        lo = (columns & -columns).bit_length() - 1
        columns += 1 << lo
        hi = (columns & -columns).bit_length() - 1
        columns &= columns - 1
        yield lo, hi


@dataclass(frozen=True)
class RowAdder:
    """A row adder: its three input rows, without the bits that pass to its row of carries."""

    rows: tuple[Row, Row, Row]

    @cached_property
    def full(self) -> int:
        """The columns with full adders, as a mask."""
        x, y, z = map(columns_of, self.rows)
        return x & y & z

    @cached_property
    def half(self) -> int:
        """The columns with half adders, as a mask."""
        x, y, z = map(columns_of, self.rows)
        return (x & y | x & z | y & z) & ~self.full


@dataclass(frozen=True)
class HeapPlan:
    """A planned heap; `pair` has the two remaining rows, `words` the columns of each word."""

    columns: int
    lines: tuple[Line, ...]
    adders: tuple[RowAdder, ...]
    pair: tuple[Row, Row]
    words: tuple[int, ...]
    arrival: float

    @property
    def described(self) -> str:
        """Its size, for the comment above the Verilog module."""
        return (
            f"of {len(self.lines)} rows in {self.columns} columns, "
            f"with {len(self.adders)} row adders ({self.nfull} full adders, {self.nhalf} half adders)"
        )

    @property
    def nfull(self) -> int:
        return sum(adder.full.bit_count() for adder in self.adders)

    @property
    def nhalf(self) -> int:
        return sum(adder.half.bit_count() for adder in self.adders)

    @cached_property
    def levels(self) -> list[list[int]]:
        """The row adders of each level, which read only input rows and adders of lower levels."""
        depth = [0] * len(self.lines)
        levels: list[list[int]] = []
        for number, adder in enumerate(self.adders):
            level = max(depth[part.word] for row in adder.rows for part in row)
            depth += [level + 1] * 2
            levels += [[]] * (level == len(levels))
            levels[level] = [*levels[level], number]
        return levels


def plan_heap(lines: Iterable[Line], columns: int) -> HeapPlan:
    """The plan that reduces these input rows to two."""
    return _Planner(tuple(lines), columns).plan()


class _Waiting(NamedTuple):
    """A row in the queue; rows are compared by arrival time first."""

    arrival: float
    hi: int
    number: int
    row: Row

    @property
    def columns(self) -> int:
        return columns_of(self.row)

    def with_part(self, part: Part) -> _Waiting:
        row = _joined((*self.row, part))
        return self._replace(hi=columns_of(row).bit_length(), row=row)


class _Planner:
    def __init__(self, lines: tuple[Line, ...], columns: int) -> None:
        self.lines = lines
        self.columns = (1 << columns) - 1
        self.queue: list[_Waiting] = []
        self.adders: list[RowAdder] = []
        self.words = [(1 << line.hi) - (1 << line.lo) & self.columns for line in lines]

    def plan(self) -> HeapPlan:
        self._share()
        made = len(self.lines)
        while len(self.queue) > 2:
            heapq.heapify(self.queue)
            three = [heapq.heappop(self.queue) for _ in range(3)]
            total, carry = self._add(three)
            for row, arrival in (
                (total, _arrival(three, SUM_DELAYS)),
                (carry, _arrival(three, CARRY_DELAYS)),
            ):
                if row:
                    self.queue.append(_Waiting(arrival, columns_of(row).bit_length(), made, row))
                    made += 1
        rows = [waiting.row for waiting in sorted(self.queue)]
        rows += [()] * (2 - len(rows))
        last = max((waiting.arrival for waiting in self.queue), default=0.0)
        adders, words = tuple(self.adders), tuple(self.words)
        return HeapPlan(self.columns.bit_length(), self.lines, adders, (rows[0], rows[1]), words, last)

    def _share(self) -> None:
        """Queue the input rows. A row that has no column in common with another, not earlier one shares its
        entry.
        """
        for number, line in sorted(enumerate(self.lines), key=lambda item: (-item[1].arrival, item[1].lo)):
            part = Part(number, self.words[number])
            if not part.columns:
                continue
            for i, other in enumerate(self.queue):
                if not other.columns & part.columns:
                    self.queue[i] = other.with_part(part)
                    break
            else:
                self.queue.append(_Waiting(line.arrival, part.columns.bit_length(), number, (part,)))

    def _add(self, three: Sequence[_Waiting]) -> tuple[Row, Row]:
        """Plan the adder of three rows and return the two rows it produces: sums and carries."""
        x, y, z = (waiting.columns for waiting in three)
        sums, carries = len(self.words), len(self.words) + 1
        full = cells = x & y & z
        laid = 0
        for lo, hi in runs((x & y | x & z | y & z) & ~full):
            if lo and cells >> lo - 1 & 1:  # a carry arrives
                if hi - lo >= LEAST_PASSING and self._laid_off(Part(carries, 1 << lo), three):
                    laid |= 1 << lo
                else:
                    cells |= (1 << hi) - (1 << lo)
        passing_z = (x | y) & z & ~cells
        passing_y = x & y & ~cells
        rows = (three[0].row, _cut(three[1].row, ~passing_y), _cut(three[2].row, ~passing_z))
        self.adders.append(RowAdder(rows))
        self.words += [x | y | z, cells << 1 & self.columns]
        passing = (*_cut(three[1].row, passing_y), *_cut(three[2].row, passing_z))
        carry = (Part(carries, self.words[carries] & ~laid), *passing)
        return (Part(sums, x | y | z),), _joined(part for part in carry if part.columns)

    def _laid_off(self, carry: Part, three: Sequence[_Waiting]) -> bool:
        """Move a carry of these rows into the latest row that has no bit in its column; False if there is
        none.
        """
        there = _arrival(three, CARRY_DELAYS)
        hosts = [
            waiting
            for waiting in self.queue
            if waiting.arrival >= there and not waiting.columns & carry.columns
        ]
        if not hosts:
            return False
        host = max(hosts)
        self.queue[self.queue.index(host)] = host.with_part(carry)
        return True


def _arrival(three: Sequence[_Waiting], delays: tuple[float, float]) -> float:
    return max(waiting.arrival + delay for waiting, delay in zip(three[1:], delays, strict=True))


def _cut(row: Row, columns: int) -> Row:
    """The bits of a row in these columns."""
    cut = (Part(part.word, part.columns & columns) for part in row)
    return tuple(part for part in cut if part.columns)


def _joined(parts: Iterable[Part]) -> Row:
    """The parts merged so that each word has one."""
    columns: dict[int, int] = {}
    for part in parts:
        columns[part.word] = columns.get(part.word, 0) | part.columns
    return tuple(Part(*item) for item in columns.items())
