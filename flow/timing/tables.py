"""Tables of a library stacked into arrays for batched lookup (kernel.cpp)."""

from collections.abc import Sequence

import numpy as np

from ..kit.liberty import Table
from . import kernel


class Tables:
    """Delays, slews, constraints and energies, each by its number."""

    def __init__(self) -> None:
        self._tables: list[Table] = []
        self._numbers: dict[int, int] = {}
        self._groups: list[list[int]] = []
        self._arrays: list[np.ndarray] = []  # that the kernel reads
        self._stack: kernel.TablesOfC | None = None

    def add(self, table: Table) -> int:
        """The number of a table, to look it up by."""
        number = self._numbers.get(id(table))
        if number is None:
            number = self._numbers[id(table)] = len(self._tables)
            self._tables.append(table)
            self._stack = None
        return number

    def worst(self, numbers: Sequence[int]) -> int:
        """The number of the greatest of some tables, at each point."""
        several = [*dict.fromkeys(numbers)]
        if len(several) == 1:
            return several[0]
        self._groups.append(several)
        self._stack = None
        return -len(self._groups)

    def look_up(
        self, numbers: np.ndarray | int, first: np.ndarray | float, second: np.ndarray | float
    ) -> np.ndarray:
        """The value of table numbers[k] at (first[k], second[k]); a number alone is that of all k."""
        tables, *points = np.broadcast_arrays(numbers, first, second)
        out = np.empty(len(tables))
        if len(out):
            points = [np.ascontiguousarray(array, float) for array in points]
            kernel.call("look_up", self.stack, len(out), np.ascontiguousarray(tables, np.int64), *points, out)
        return out

    @property
    def stack(self) -> kernel.TablesOfC:
        """All of them, for the kernel."""
        if self._stack is None:
            self._stack = self._stacked()
        return self._stack

    def _stacked(self) -> kernel.TablesOfC:
        # an axis of one point gets a second one with the same values
        width = max([2, *(len(axis) for table in self._tables for axis in (table.index_1, table.index_2))])
        count = len(self._tables)
        axes = np.full((2, count, width), np.inf)
        values = np.zeros((count, width, width))
        places = np.zeros((count, 2), np.int64)
        for number, table in enumerate(self._tables):
            grid = np.array(table.values)
            for place, axis in enumerate((table.index_1, table.index_2)):
                points = axis if len(axis) > 1 else (axis[0], axis[0] + 1)
                axes[place, number, : len(points)] = points
                places[number, place] = len(points)
                if len(axis) == 1:
                    grid = np.repeat(grid, 2, axis=place)
            values[number, : grid.shape[0], : grid.shape[1]] = grid
        begin = np.cumsum([0, *(len(group) for group in self._groups)], dtype=np.int64)
        members = np.array([number for group in self._groups for number in group], np.int64)
        self._arrays = [axes[0], axes[1], values, places, begin, members]
        return kernel.TablesOfC(count, width, *(kernel.address(array) for array in self._arrays))
