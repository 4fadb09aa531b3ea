"""Timing view of library cells: arcs between edges of inputs and outputs, and the checks of registers.

`CellTables` has the numbers of their tables and the capacitance of their pins in arrays by number of kind, so
that a cell changes its size by changing its number.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..kit.functions import Function, parse
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
    worst: int = 0  # number of leading rows that cover all others if no pin is constant


def compiled(cell: Cell, tables: Tables) -> CellArcs:
    """The arcs and checks of a cell; its tables are added to `tables`."""
    rows: list[Row] = []
    checks = []
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
                        number = tables.add(table)
                        setup = arc.kind in SETUP
                        checks.append(PinCheck(pin.name, edge, arc.related, setup, number, arc.when))
            elif arc.kind.startswith(("setup", "hold", "recovery", "removal")):
                other = True
    return CellArcs(rows, checks, other)


def _edges(arc: Arc, output: str, tables: Tables) -> Iterator[Row]:
    source, edges = PROPAGATED[arc.kind]
    made = {RISE: (arc.cell_rise, arc.rise_transition), FALL: (arc.cell_fall, arc.fall_transition)}
    for edge in edges:
        delay, slew = made[edge]
        if delay is None or slew is None:
            continue
        by_sense = {"positive_unate": (edge,), "negative_unate": (1 - edge,)}.get(arc.sense, (RISE, FALL))
        for start in by_sense if source is None else (source,):
            yield Row(arc.related, start, output, edge, arc.when, tables.add(delay), tables.add(slew))


def _values(function: Function, fixed: Mapping[str, int]) -> set[int]:
    """All values that a function can have where these inputs are fixed."""
    return {function.value(**fixed, **free) for free in _points(function.inputs, fixed)}


def _points(inputs: Iterable[str], fixed: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """All values of the inputs that are not fixed."""
    free = [name for name in inputs if name not in fixed]
    for values in itertools.product((0, 1), repeat=len(free)):
        yield dict(zip(free, values, strict=True))


def constant(function: str, fixed: Mapping[str, int]) -> int | None:
    """The value of a function where these inputs are fixed, if the others do not matter."""
    values = _values(parse(function), fixed) if function else set()
    return values.pop() if len(values) == 1 else None


def holds(condition: str, fixed: Mapping[str, int]) -> bool:
    """Return whether a condition of an arc can be true where these pins never change."""
    return not condition or 1 in _values(parse(condition), fixed)


def possible(cell: Cell, row: Row, fixed: Mapping[str, int]) -> bool:
    """Whether an edge of the input can make this edge of the output, under the arc's condition, where some
    pins are fixed.
    """
    if row.input in fixed:
        return False
    pin = cell.pins[row.output]
    if cell.sequential or not pin.function or pin.three_state:
        return holds(row.when, fixed)
    function = pin.logic
    when = parse(row.when or "1")
    before = int(row.start == FALL)
    wanted = [int(row.end == FALL), int(row.end == RISE)]
    for free in _points(dict.fromkeys([*function.inputs, *when.inputs]), {**fixed, row.input: before}):
        at = [{**fixed, **free, row.input: value} for value in (before, 1 - before)]
        if when.value(**at[0]) and [function.value(**values) for values in at] == wanted:
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
        # every kind's pins in the order of their names: the same in a family
        self.pins = {kind: sorted(library.cells[kind].pins) for kind in self.kinds}
        rows, checks = (
            [getattr(arcs, name) for arcs in self.compiled.values()] for name in ("rows", "checks")
        )
        self.delay = _filled([[row.delay for row in own] for own in rows])  # numbers of tables, by row
        self.slew = _filled([[row.slew for row in own] for own in rows])
        self.check = _filled([[check.table for check in own] for own in checks])
        self.cap = np.zeros((len(self.kinds), max(map(len, self.pins.values()), default=0), 2))
        for number, (kind, names) in enumerate(self.pins.items()):
            for place, name in enumerate(names):
                pin = library.cells[kind].pins[name]
                self.cap[number, place] = pin.cap_rise_ff, pin.cap_fall_ff

    def _prepend_worst(self, cell: CellArcs) -> None:
        edges: dict[tuple[str, int, str, int], list[Row]] = {}
        for row in cell.rows:
            edges.setdefault(row[:4], []).append(row)
        worst = [
            Row(
                *edge,
                "",
                *(self.tables.worst(numbers) for numbers in zip(*(row[5:] for row in rows), strict=True)),
            )
            for edge, rows in edges.items()
        ]
        cell.rows, cell.worst = [*worst, *cell.rows], len(worst)


def _filled(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Rows of numbers as an array, filled up with 0."""
    width = max(map(len, rows), default=0)
    return np.array([[*row, *[0] * (width - len(row))] for row in rows], int).reshape(len(rows), width)
