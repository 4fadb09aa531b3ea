"""Families of cells that differ only in drive strength, and interchangeable inputs."""

import itertools
from typing import Any

import numpy as np

from ...kit.functions import parse
from ...kit.liberty import Cell, Library
from ...timing.cells import CellTables


class Families(CellTables):
    """Cells that differ in strength alone, and their areas and limits by number of kind."""

    def __init__(self, library: Library) -> None:
        super().__init__(library, library.cells, worst=True)
        self.library = library
        self.area = np.array([library.cells[kind].area for kind in self.kinds])
        limits = (
            [pin.max_cap_ff for pin in library.cells[kind].pins.values() if pin.max_cap_ff]
            for kind in self.kinds
        )
        self.max_load = np.array([min(found, default=np.inf) for found in limits])
        self.others = {number: self._others(kind) for number, kind in enumerate(self.kinds)}
        self.commutative = {kind: commutative(library.cells[kind]) for kind in self.kinds}

    def _others(self, kind: str) -> list[int]:
        family = self.library.roles.family
        return [
            self.number[other]
            for other in self.kinds
            if other != kind
            and family(other) == family(kind) is not None
            and self._arcs(other) == self._arcs(kind)
            and same_function(self.library.cells[kind], self.library.cells[other])
        ]

    def _arcs(self, kind: str) -> tuple[list[Any], list[Any]]:
        """The arcs and checks of a kind without their tables."""
        compiled = self.compiled[kind]
        return [row[:5] for row in compiled.rows], [check[:4] for check in compiled.checks]


def same_function(one: Cell, two: Cell) -> bool:
    """Whether two cells with pins of the same names do the same."""
    if one.pins.keys() != two.pins.keys():
        return False
    if one.sequential or two.sequential:
        return (one.ff, one.latch, one.clock_gate) == (two.ff, two.latch, two.clock_gate)
    return all(truth(one, pin) == truth(two, pin) for pin in one.outputs)


def truth(cell: Cell, output: str, exchange: tuple[str, ...] = ()) -> int | None:
    """The truth table of an output over all inputs, two of which may change places; None for no function."""
    function = cell.pins[output].function
    others = dict(zip(exchange, exchange[::-1], strict=True))
    return parse(function).table(tuple(others.get(pin, pin) for pin in cell.inputs)) if function else None


def commutative(cell: Cell) -> list[tuple[str, str]]:
    """Pairs of inputs that may be exchanged."""
    if cell.sequential or not cell.outputs or any(cell.pins[pin].three_state for pin in cell.outputs):
        return []
    return [
        pair
        for pair in itertools.combinations(cell.inputs, 2)
        if all(truth(cell, pin) == truth(cell, pin, pair) for pin in cell.outputs)
    ]
