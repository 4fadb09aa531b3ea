"""Families of cells that differ only in drive strength, and interchangeable inputs."""

from __future__ import annotations

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
        self.max_load = np.full(len(self.kinds), np.inf)
        for number, kind in enumerate(self.kinds):
            limits = [pin.max_cap_ff for pin in library.cells[kind].pins.values() if pin.max_cap_ff]
            self.max_load[number] = min(limits, default=np.inf)
        self.others = {number: self._others(kind) for number, kind in enumerate(self.kinds)}
        self.commutative = {kind: commutative(library.cells[kind]) for kind in self.kinds}

    def _others(self, kind: str) -> list[int]:
        roles = self.library.roles
        family = roles.family(kind)
        if family is None:
            return []
        return [
            self.number[other]
            for other in self.kinds
            if other != kind and roles.family(other) == family and self._alike(kind, other)
        ]

    def _alike(self, kind: str, other: str) -> bool:
        a, b = self.library.cells[kind], self.library.cells[other]
        rows = [
            [(row.input, row.start, row.output, row.end, row.when) for row in self.compiled[name].rows]
            for name in (kind, other)
        ]
        checks = [[check[:4] for check in self.compiled[name].checks] for name in (kind, other)]
        if set(a.pins) != set(b.pins) or rows[0] != rows[1] or checks[0] != checks[1]:
            return False
        if a.sequential or b.sequential:
            return (a.ff, a.latch, a.clock_gate) == (b.ff, b.latch, b.clock_gate)
        return all(truth(a, pin) == truth(b, pin) for pin in a.outputs)


def truth(cell: Cell, output: str, exchange: tuple[str, str] | None = None) -> tuple[Any, ...]:
    """The values of an output over all inputs, two of which may be exchanged."""
    function = cell.pins[output].function
    if not function:
        return (function,)
    parsed = parse(function)
    values = []
    for bits in itertools.product((0, 1), repeat=len(cell.inputs)):
        at = dict(zip(cell.inputs, bits, strict=True))
        if exchange:
            at[exchange[0]], at[exchange[1]] = at[exchange[1]], at[exchange[0]]
        values.append(parsed.value(**{name: at[name] for name in parsed.inputs}))
    return tuple(values)


def commutative(cell: Cell) -> list[tuple[str, str]]:
    """Pairs of inputs that may be exchanged."""
    if cell.sequential or not cell.outputs or any(cell.pins[pin].three_state for pin in cell.outputs):
        return []
    return [
        pair
        for pair in itertools.combinations(cell.inputs, 2)
        if all(truth(cell, pin) == truth(cell, pin, pair) for pin in cell.outputs)
    ]
