"""Pareto fronts: the points that no other point dominates.

Internally every objective is minimised: a figure to be maximised is negated. Points are compared only within
one operation, because an encryption and a decryption are different work. Figures without an operation (an
area) belong to all operations. Equal points do not dominate each other, so both stay.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from ...fl.errors import BadInput
from .metrics import Figure
from .store.rows import Row

Vector = tuple[float, ...]
Goals = Mapping[str, int]  # by metric: 1 if smaller is better, -1 if larger
DIRECTIONS = {"min": 1, "max": -1}
T = TypeVar("T")


def goals_of(objectives: Mapping[str, str]) -> Goals:
    """The goals for the objectives of a space, for example {"time_ns": "min"}."""
    for metric, direction in objectives.items():
        if direction not in DIRECTIONS:
            raise BadInput(f'objective {metric}: unknown direction {direction!r}; give "min" or "max"')
    return {metric: DIRECTIONS[direction] for metric, direction in objectives.items()}


def by_operation(figures: Iterable[Figure | Row]) -> dict[str, dict[str, float]]:
    """The values by metric for each operation, with the figures that belong to all; without operations, under
    "".
    """
    figures = sorted(figures, key=lambda figure: figure.operation)
    operations = dict.fromkeys(figure.operation for figure in figures if figure.operation)
    return {
        operation: {item.metric: item.value for item in figures if item.operation in ("", operation)}
        for operation in operations or [""]
    }


def figures_by_operation(
    figures: Iterable[Figure | Row], metrics: Collection[str]
) -> dict[str, tuple[float, ...]]:
    """The values of these metrics for each operation that has them all; without operations, under ""."""
    found = by_operation(figure for figure in figures if figure.metric in metrics)
    return {
        operation: tuple(values[metric] for metric in metrics)
        for operation, values in found.items()
        if metrics and values.keys() >= set(metrics)
    }


def to_minimise(values: Sequence[float], goals: Goals) -> Vector:
    """The values as a vector whose components are all to be minimised."""
    return tuple(sign * value for value, sign in zip(values, goals.values(), strict=True))


def dominates(one: Vector, other: Vector) -> bool:
    """Whether `one` is nowhere worse than `other` and somewhere better."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


class Front(Generic[T]):
    """The points that no other dominates, updated as points arrive."""

    def __init__(self, points: Iterable[tuple[Vector, T]] = ()) -> None:
        self._members: list[tuple[Vector, T]] = []
        for point in points:
            self.add(*point)

    def add(self, vector: Vector, item: T) -> bool:
        """Add a point unless it is dominated, and remove those that it dominates; whether it was added."""
        if any(dominates(other, vector) for other, _ in self._members):
            return False
        self._members = [member for member in self._members if not dominates(vector, member[0])]
        self._members.append((vector, item))
        return True

    def __len__(self) -> int:
        return len(self._members)

    def sorted(self) -> list[tuple[Vector, T]]:
        """The members, the best value of the first objective first."""
        return sorted(self._members, key=lambda member: member[0])
