"""Welch's t-test on moments: decides whether two classes of operations differ in their power.

Test vector leakage assessment (G. Goodwill, B. Jun, J. Jaffe, P. Rohatgi: A testing methodology for
side-channel resistance validation, 2011): if the two means are equal, the absolute value of t exceeds 4.5
only once in 147,000 tests. A point leaks if both halves of the traces exceed it with the same sign, which
makes false alarms unlikely even in curves of thousands of points.

Cycles are compared by their distributions (Kolmogorov and Smirnov), since different times may have the same
mean.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ....rtl.sim.campaigns.leak import Moments

THRESHOLD = 4.5
CERTAIN = 1e6  # stands for an infinite t: the means differ and neither class varies

# kinds of operations: a class in a half
CLASSES = FIXED, RANDOM = range(2)
HALVES = range(2)


def kind_of(which: int, half: int) -> int:
    """The index of a class in a half."""
    return 2 * half + which


class Point(NamedTuple):
    """The t of a point: of all operations, and of each half."""

    both: float
    first: float
    second: float

    @property
    def leaks(self) -> bool:
        """Both halves exceed the threshold with the same sign."""
        return min(abs(self.first), abs(self.second)) > THRESHOLD and self.first * self.second > 0


def welch(one: Moments, other: Moments) -> float:
    """The t of a difference of two means; 0 if there is nothing to compare."""
    if one.number < 2 or other.number < 2:
        return 0.0
    difference = one.total / one.number - other.total / other.number
    error = math.sqrt(_variance(one) / one.number + _variance(other) / other.number)
    if error:
        return difference / error
    return math.copysign(CERTAIN, difference) if difference else 0.0


def _variance(moments: Moments) -> float:
    """The variance of a sample, as a difference of integers, without loss of precision."""
    number, total, squares = moments
    return (number * squares - total * total) / (number * (number - 1))


def point_of(kinds: list[Moments]) -> Point:
    """The point of some moments, by kind."""
    sums = [
        Moments(*(sum(row) for row in zip(*(kinds[kind_of(which, half)] for half in HALVES), strict=True)))
        for which in CLASSES
    ]
    halves = [welch(kinds[kind_of(FIXED, half)], kinds[kind_of(RANDOM, half)]) for half in HALVES]
    return Point(welch(*sums), *halves)


def apart(one: Sequence[int], other: Sequence[int]) -> float:
    """The largest difference of two cumulative distributions, as a fraction of the critical value."""
    if not one or not other:
        return 0.0
    counts, others = Counter(one), Counter(other)
    share = shared = most = 0.0
    for value in sorted(counts.keys() | others.keys()):
        share += counts[value] / len(one)
        shared += others[value] / len(other)
        most = max(most, abs(share - shared))
    chance = math.erfc(THRESHOLD / math.sqrt(2))
    return most / math.sqrt(-math.log(chance / 2) / 2 * (1 / len(one) + 1 / len(other)))
