"""Tables of a library stacked into arrays, so that many points of many tables are looked up in one go."""

from __future__ import annotations

import numpy as np

from ..kit.liberty import Table, between


class Tables:
    """Delays, slews, constraints and energies, each by its number."""

    def __init__(self) -> None:
        self._tables: list[Table] = []
        self._numbers: dict[int, int] = {}
        self._arrays: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def add(self, table: Table) -> int:
        """The number of a table, to look it up by."""
        number = self._numbers.get(id(table))
        if number is None:
            number = self._numbers[id(table)] = len(self._tables)
            self._tables.append(table)
            self._arrays = None
        return number

    def look_up(self, numbers: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The value of table numbers[k] at (first[k], second[k])."""
        if self._arrays is None:
            self._arrays = self._stacked()
        axis_1, axis_2, values = self._arrays
        i, x = _interval(axis_1[numbers], first)
        j, y = _interval(axis_2[numbers], second)
        low, low_after = values[numbers, i, j], values[numbers, i, j + 1]
        high, high_after = values[numbers, i + 1, j], values[numbers, i + 1, j + 1]
        return between(low, low_after, high, high_after, x, y)

    def _stacked(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        # an axis of one point gets a second one with the same values
        width = max([2, *(len(axis) for table in self._tables for axis in (table.index_1, table.index_2))])
        count = len(self._tables)
        axes = np.full((2, count, width), np.inf)
        values = np.zeros((count, width, width))
        for number, table in enumerate(self._tables):
            grid = np.array(table.values)
            for place, axis in enumerate((table.index_1, table.index_2)):
                points = axis if len(axis) > 1 else (axis[0], axis[0] + 1)
                axes[place, number, : len(points)] = points
                if len(axis) == 1:
                    grid = np.repeat(grid, 2, axis=place)
            values[number, : grid.shape[0], : grid.shape[1]] = grid
        return axes[0], axes[1], values


def _interval(axes: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which interval of its axis each value falls into, and where in it; the outer ones reach to infinity."""
    last = np.isfinite(axes).sum(axis=1) - 2
    place = np.minimum((at[:, None] >= axes[:, 1:]).sum(axis=1), last)
    rows = np.arange(len(at))
    low, high = axes[rows, place], axes[rows, place + 1]
    return place, (at - low) / (high - low)
