"""Pareto fronts: the points that no other point dominates.

Inside, every objective is minimised: a figure to be maximised enters with its sign turned. Points are
compared only within one operation, since an encryption and a decryption are different work: figures without
an operation (an area) belong to all of them. Equal points do not dominate each other, so both stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ...fl.errors import BadInput
from .ledger_rows import Row
from .metrics import Figure

Vector = tuple[float, ...]
DIRECTIONS = {"min": 1, "max": -1}
T = TypeVar("T")


@dataclass(frozen=True)
class Goal:
    """One objective: a metric that is to be small, or large."""

    metric: str
    sign: int  # 1: smaller is better, -1: larger is


def goals_of(objectives: Mapping[str, str]) -> tuple[Goal, ...]:
    """The goals of a space: {"time_ns": "min"}."""
    for metric, direction in objectives.items():
        if not isinstance(direction, str) or direction not in DIRECTIONS:
            raise BadInput(f'objective {metric} = {direction!r} has no such direction; give "min" or "max"')
    return tuple(Goal(metric, DIRECTIONS[direction]) for metric, direction in objectives.items())


def by_operation(figures: Iterable[Figure | Row]) -> dict[str, dict[str, float | int]]:
    """The values by metric of each operation, with those that belong to all; without operations, under ""."""
    figures = sorted(figures, key=lambda figure: figure.operation)
    operations = dict.fromkeys(figure.operation for figure in figures if figure.operation)
    return {
        operation: {item.metric: item.value for item in figures if item.operation in ("", operation)}
        for operation in operations or [""]
    }


def figures_by_operation(
    figures: Iterable[Figure | Row], metrics: Sequence[str]
) -> dict[str, tuple[float | int, ...]]:
    """The values of these metrics for each operation that has them all; without operations, under ""."""
    found = by_operation(figure for figure in figures if figure.metric in metrics)
    return {
        operation: tuple(values[metric] for metric in metrics)
        for operation, values in found.items()
        if metrics and values.keys() >= set(metrics)
    }


def to_minimise(values: Sequence[float], goals: Sequence[Goal]) -> Vector:
    """The same values as a vector of which every part is to be small."""
    return tuple(goal.sign * value for value, goal in zip(values, goals, strict=True))


def dominates(one: Vector, other: Vector) -> bool:
    """`one` is nowhere worse, and somewhere better."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


class Front(Generic[T]):
    """The points that no other dominates, kept as points arrive."""

    def __init__(self) -> None:
        self._members: list[tuple[Vector, T]] = []

    def add(self, vector: Vector, item: T) -> bool:
        """Whether it is on the front now; those that it dominates leave."""
        if any(dominates(other, vector) for other, _ in self._members):
            return False
        self._members = [member for member in self._members if not dominates(vector, member[0])]
        self._members.append((vector, item))
        return True

    def __len__(self) -> int:
        return len(self._members)

    @property
    def vectors(self) -> list[Vector]:
        return [vector for vector, _ in self.sorted()]

    def sorted(self) -> list[tuple[Vector, T]]:
        """By the first objective, the best first."""
        return sorted(self._members, key=lambda member: member[0])


def front_of(points: Iterable[tuple[Vector, T]]) -> Front[T]:
    """The front of all of these."""
    front: Front[T] = Front()
    for vector, item in points:
        front.add(vector, item)
    return front
