"""Timing view of library cells: arcs between edges of inputs and outputs, and the checks of registers.

`CellTables` has the numbers of their tables and the capacitance of their pins in arrays by number of kind, so
that a cell changes its size by changing its number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..kit.functions import parse
from ..kit.liberty import Arc, Cell, Library
from .tables import Tables

RISE, FALL = 0, 1
EDGES = ("rise", "fall")
KOHM_FF = 1e-3  # in ns

# timing types: which edges of the output an arc knows of, and which it starts from (None: by its sense)
PROPAGATED = {
    "combinational": (None, (RISE, FALL)),
    "combinational_rise": (None, (RISE,)),
    "combinational_fall": (None, (FALL,)),
    "three_state_enable": (None, (RISE, FALL)),
    "rising_edge": (RISE, (RISE, FALL)),
    "falling_edge": (FALL, (RISE, FALL)),
}
SETUP = ("setup_rising", "recovery_rising")
HOLD = ("hold_rising", "removal_rising")


class Row(NamedTuple):
    """One edge of an input that makes one edge of an output."""

    input: str
    start: int
    output: str
    end: int
    when: str
    delay: int  # numbers of tables
    slew: int


class PinCheck(NamedTuple):
    """A setup or hold check of one edge at a pin."""

    pin: str
    edge: int
    clock: str
    setup: bool
    table: int
    when: str


@dataclass
class CellArcs:
    """The arcs of a kind of cell, edge by edge, and the checks of its registers."""

    rows: list[Row]
    checks: list[PinCheck]
    unchecked: bool
    worst: int = 0  # of the rows, the first ones, which stand for all where no pin is constant


def compiled(cell: Cell, tables: Tables) -> CellArcs:
    """The arcs and checks of a cell; its tables are added to `tables`."""
    rows: list[Row] = []
    checks: list[PinCheck] = []
    other = bool(cell.latch)
    for pin in cell.pins.values():
        for arc in pin.timing:
            if arc.kind in PROPAGATED and pin.direction == "output":
                if cell.latch and arc.kind == "combinational":
                    continue
                rows += _edges(arc, pin.name, tables)
            elif arc.kind in SETUP + HOLD:
                for edge, table in ((RISE, arc.rise_constraint), (FALL, arc.fall_constraint)):
                    if table is not None:
                        number, setup = tables.add(table), arc.kind in SETUP
                        checks.append(PinCheck(pin.name, edge, arc.related, setup, number, arc.when))
            elif arc.kind.startswith(("setup", "hold", "recovery", "removal")):
                other = True
    return CellArcs(rows, checks, other)


def _edges(arc: Arc, output: str, tables: Tables) -> Iterator[Row]:
    source, edges = PROPAGATED[arc.kind]
    for edge in edges:
        delay, slew = (
            (arc.cell_rise, arc.rise_transition) if edge == RISE else (arc.cell_fall, arc.fall_transition)
        )
        if delay is None or slew is None:
            continue
        sources: tuple[int, ...]
        if source is not None:
            sources = (source,)
        elif arc.sense == "positive_unate":
            sources = (edge,)
        elif arc.sense == "negative_unate":
            sources = (1 - edge,)
        else:
            sources = (RISE, FALL)
        for start in sources:
            yield Row(arc.related, start, output, edge, arc.when, tables.add(delay), tables.add(slew))


def constant(function: str, fixed: Mapping[str, int]) -> int | None:
    """The value of a function where these inputs are fixed, if the others do not matter."""
    if not function:
        return None
    parsed = parse(function)
    values = {parsed.value(**fixed, **free) for free in _points(parsed.inputs, fixed)}
    return values.pop() if len(values) == 1 else None


def _points(inputs: Iterable[str], fixed: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """All values of the inputs that are not fixed."""
    free = [name for name in inputs if name not in fixed]
    for values in itertools.product((0, 1), repeat=len(free)):
        yield dict(zip(free, values, strict=True))


def holds(condition: str, fixed: Mapping[str, int]) -> bool:
    """Return whether a condition of an arc can be true where these pins never change."""
    if not condition:
        return True
    parsed = parse(condition)
    return any(parsed.value(**fixed, **free) for free in _points(parsed.inputs, fixed))


def possible(cell: Cell, row: Row, fixed: Mapping[str, int]) -> bool:
    """Whether an edge of the input can make this edge of the output, under the arc's condition, where some
    pins are fixed.
    """
    if row.input in fixed:
        return False
    pin = cell.pins[row.output]
    if cell.sequential or not pin.function or pin.three_state:
        return holds(row.when, fixed)
    when = parse(row.when) if row.when else None
    function = parse(pin.function)
    names = dict.fromkeys([*function.inputs, *(when.inputs if when else ())])
    before, after = (0, 1) if row.start == RISE else (1, 0)
    for free in _points([name for name in names if name != row.input], fixed):
        values = {**fixed, **free}
        if when is not None and not when.value(**values, **{row.input: before}):
            continue
        ends = [function.value(**values, **{row.input: value}) for value in (before, after)]
        if ends == ([0, 1] if row.end == RISE else [1, 0]):
            return True
    return False


class CellTables:
    """Kinds of cells by number: their arcs, checks and pins."""

    def __init__(self, library: Library, kinds: Iterable[str], *, worst: bool = False) -> None:
        """With `worst` there is one row for each edge of an input that makes one of an output, of its latest
        condition.
        """
        self.tables = Tables()
        self.kinds = list(kinds)
        self.number = {kind: place for place, kind in enumerate(self.kinds)}
        self.compiled = {kind: compiled(library.cells[kind], self.tables) for kind in self.kinds}
        for arcs in self.compiled.values() if worst else ():
            self._prepend_worst(arcs)
        count = len(self.kinds)
        width = max((len(cell_arcs.rows) for cell_arcs in self.compiled.values()), default=0)
        checks = max((len(cell_arcs.checks) for cell_arcs in self.compiled.values()), default=0)
        self.delay = np.zeros((count, width), int)  # numbers of tables, by row
        self.slew = np.zeros((count, width), int)
        self.check = np.zeros((count, checks), int)
        # every kind's pins in the order of their names: the same in a family
        self.pins = {kind: sorted(library.cells[kind].pins) for kind in self.kinds}
        self.cap = np.zeros((count, max(map(len, self.pins.values()), default=0), 2))
        for number, kind in enumerate(self.kinds):
            for row, item in enumerate(self.compiled[kind].rows):
                self.delay[number, row], self.slew[number, row] = item.delay, item.slew
            for row, check in enumerate(self.compiled[kind].checks):
                self.check[number, row] = check.table
            for place, name in enumerate(self.pins[kind]):
                pin = library.cells[kind].pins[name]
                self.cap[number, place] = pin.cap_rise_ff, pin.cap_fall_ff

    def _prepend_worst(self, cell: CellArcs) -> None:
        edges: dict[tuple[str, int, str, int], list[Row]] = {}
        for row in cell.rows:
            edges.setdefault((row.input, row.start, row.output, row.end), []).append(row)
        worst = [
            Row(
                *edge,
                "",
                self.tables.worst([row.delay for row in rows]),
                self.tables.worst([row.slew for row in rows]),
            )
            for edge, rows in edges.items()
        ]
        cell.rows, cell.worst = [*worst, *cell.rows], len(worst)
