"""Plan of a bit heap: rows of bits with their columns and arrival times, reduced to a pair by rows of adders.

compression_plan.py goes by columns, and has a cell for each bit; here all is vectors, as the columns of a
wide heap are alike but for its ends. A row adder takes the three rows that are there first (three-greedy:
Oklobdzija, Villeger and Liu, 1996, by rows): full adders where all three have a bit, and where one or two
have one, it passes, or both. If a carry comes to two that should pass, it is laid into a later row that has
nothing in this column; or, if there is none or the two do not go on for long, half adders take them. Of equal
rows those go together that end alike, as this happens where one row ends before another. R rows take R - 2
row adders. Rows that have no column in common share one.

A row is a list of parts, from low columns to high ones: bits of a row of the input or of an output of an
adder. No carry leaves the heap at its upper end: the sum of all rows must be below 2^columns. The adders of
complements: a full adder is self-dual, a half adder not (rtl/units/heap/full_adders.py), where nothing is
there stands a 1.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

# ns from the second and the last input of a full adder to its outputs: FA_X1 of the NanGate library with a
# fan-out of one
SUM_DELAY, SUM_DELAY_LAST = 0.12, 0.10
CARRY_DELAY, CARRY_DELAY_LAST = 0.09, 0.07
LEAST_PASSING = 2  # columns: a carry is laid off where so many would take half adders


class Line(NamedTuple):
    """A row of the input: columns lo to hi - 1, there at this time (ns, of which only differences count)."""

    arrival: float
    lo: int
    hi: int


class Part(NamedTuple):
    """Columns lo to hi - 1 of a row: the bits from `at` on of an output ("row": of the input) of an adder."""

    lo: int
    hi: int
    output: str  # row, full_sum, full_carry, half_sum, half_carry
    number: int
    at: int

    def cut(self, lo: int, hi: int) -> Part:
        return self._replace(lo=lo, hi=hi, at=self.at + lo - self.lo)

    @property
    def nbits(self) -> int:
        return self.hi - self.lo


Row = tuple[Part, ...]


@dataclass(frozen=True)
class RowAdder:
    """Full adders and half adders side by side: what each input takes, from the lowest column on."""

    full: tuple[Row, Row, Row]
    half: tuple[Row, Row]

    @property
    def nfull(self) -> int:
        return sum(part.nbits for part in self.full[0])

    @property
    def nhalf(self) -> int:
        return sum(part.nbits for part in self.half[0])


@dataclass(frozen=True)
class HeapPlan:
    """A heap that is planned; `pair` has the two rows that are left."""

    columns: int
    lines: tuple[Line, ...]
    adders: tuple[RowAdder, ...]
    pair: tuple[Row, Row]
    arrival: float

    @property
    def described(self) -> str:
        """Its size, for the comment above the module."""
        return (
            f"of {len(self.lines)} rows in {self.columns} columns, "
            f"with {len(self.adders)} row adders ({self.nfull} full adders, {self.nhalf} half adders)"
        )

    @property
    def nfull(self) -> int:
        return sum(adder.nfull for adder in self.adders)

    @property
    def nhalf(self) -> int:
        return sum(adder.nhalf for adder in self.adders)


def plan_heap(lines: Iterable[Line], columns: int) -> HeapPlan:
    """Rows of the input down to a pair."""
    return _Planner(tuple(lines), columns).plan()


class _Waiting(NamedTuple):
    """A row in the queue, in the order in which rows are taken."""

    arrival: float
    hi: int
    number: int
    row: Row

    def free(self, lo: int, hi: int) -> bool:
        """It has no bit in these columns."""
        return all(part.hi <= lo or hi <= part.lo for part in self.row)

    def with_part(self, part: Part) -> _Waiting:
        row = _joined(sorted((*self.row, part)))
        return self._replace(hi=row[-1].hi, row=row)


class _Planner:
    def __init__(self, lines: tuple[Line, ...], columns: int) -> None:
        self.lines = lines
        self.columns = columns
        self.queue: list[_Waiting] = []
        self.adders: list[RowAdder] = []

    def plan(self) -> HeapPlan:
        self._share()
        made = len(self.lines)
        while len(self.queue) > 2:
            heapq.heapify(self.queue)
            three = [heapq.heappop(self.queue) for _ in range(3)]
            total, carry = self._add(three)
            for row, arrival in ((total, _sum_arrival(three)), (carry, _carry_arrival(three))):
                if row:
                    self.queue.append(_Waiting(arrival, row[-1].hi, made, row))
                    made += 1
        first, second = (*(waiting.row for waiting in sorted(self.queue)), (), ())[:2]
        last = max((waiting.arrival for waiting in self.queue), default=0.0)
        return HeapPlan(self.columns, self.lines, tuple(self.adders), (first, second), last)

    def _share(self) -> None:
        """The rows of the input; one that has no column in common with another, not earlier one lies beside
        it.
        """
        for number, line in sorted(enumerate(self.lines), key=lambda item: (-item[1].arrival, item[1].lo)):
            part = Part(line.lo, min(line.hi, self.columns), "row", number, 0)
            if part.nbits <= 0:
                continue
            for i, other in enumerate(self.queue):
                if other.free(part.lo, part.hi):
                    self.queue[i] = other.with_part(part)
                    break
            else:
                self.queue.append(_Waiting(line.arrival, part.hi, number, (part,)))

    def _add(self, three: Sequence[_Waiting]) -> tuple[Row, Row]:
        """The adders of three rows, and the rows that they make: sums and carries."""
        number = len(self.adders)
        rows = [waiting.row for waiting in three]
        ends = sorted({end for row in rows for part in row for end in (part.lo, part.hi)})
        full: tuple[list[Part], ...] = ([], [], [])
        half: tuple[list[Part], ...] = ([], [])
        total: list[Part] = []
        carry: list[Part] = []
        nfull = nhalf = 0
        for lo, hi in pairwise(ends):
            here = [part.cut(lo, hi) for row in rows for part in row if part.lo <= lo and hi <= part.hi]
            comes = len(here) == 2 and bool(carry) and carry[-1].hi > lo
            if comes and hi - lo >= LEAST_PASSING and self._laid_off(carry[-1].cut(lo, lo + 1), three):
                carry[-1] = carry[-1].cut(carry[-1].lo, lo)
                comes = False
            if len(here) == 3:
                for place, part in zip(full, here, strict=True):
                    place.append(part)
                total.append(Part(lo, hi, "full_sum", number, nfull))
                carry.append(Part(lo + 1, hi + 1, "full_carry", number, nfull))
                nfull += hi - lo
            elif comes:
                for place, part in zip(half, here, strict=True):
                    place.append(part)
                total.append(Part(lo, hi, "half_sum", number, nhalf))
                carry.append(Part(lo + 1, hi + 1, "half_carry", number, nhalf))
                nhalf += hi - lo
            else:
                total += here[:1]
                carry += here[1:]
        x, y, z = map(_joined, full)
        v, w = map(_joined, half)
        self.adders.append(RowAdder((x, y, z), (v, w)))
        return _joined(total), _joined(self._below(carry))

    def _laid_off(self, bit: Part, three: Sequence[_Waiting]) -> bool:
        """A carry of these rows goes to the latest row that has place for it; False if there is none."""
        there = _carry_arrival(three)
        hosts = [
            waiting for waiting in self.queue if waiting.arrival >= there and waiting.free(bit.lo, bit.hi)
        ]
        if not hosts:
            return False
        host = max(hosts)
        self.queue[self.queue.index(host)] = host.with_part(bit)
        return True

    def _below(self, parts: Iterable[Part]) -> Iterable[Part]:
        """Return the parts below the upper end."""
        for part in parts:
            if part.lo < self.columns and part.nbits:
                yield part.cut(part.lo, min(part.hi, self.columns))


def _sum_arrival(three: Sequence[_Waiting]) -> float:
    return max(three[1].arrival + SUM_DELAY, three[2].arrival + SUM_DELAY_LAST)


def _carry_arrival(three: Sequence[_Waiting]) -> float:
    return max(three[1].arrival + CARRY_DELAY, three[2].arrival + CARRY_DELAY_LAST)


def _joined(parts: Iterable[Part]) -> Row:
    """Parts that follow one another in the same output as one."""
    row: list[Part] = []
    for part in parts:
        if row and part == row[-1].cut(row[-1].hi, part.hi):
            row[-1] = row[-1]._replace(hi=part.hi)
        else:
            row.append(part)
    return tuple(row)
