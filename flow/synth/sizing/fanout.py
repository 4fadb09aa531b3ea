"""Buffer trees for high-fan-out nets, built before sizing because abc does not see cells that the design
names.

A line that selects in a row of 1,024 bits hangs on as many gates; one buffer after the other, as moves.py
finds them, would take rounds without end. A net of more than MANY readers gets a tree of one to three levels:
kinds of buffers and how many readers each has are those with the least delay by the tables of the library, a
little area counted in (NS_PER_UM2), under the net's own driver. Where a line has slack behind such a tree, it
gets the smallest one instead that takes no more than a share of that: of `heap` with 256 bits, at 1.7 ns,
4,359 buffers instead of 6,670. Readers stay in the order of the netlist, which is that of the bits of a word:
neighbours hang on one buffer. Sizes are for what follows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...kit.liberty import Cell, Library
from ...netlist.buffers import Buffers
from ...netlist.netlist import PORT
from .circuit import Circuit, wired
from .model import Model, least

MANY = 48  # readers; what abc has buffered has fewer
SPREADS = (4, 8, 12, 16, 24, 32)  # readers of one buffer that are looked at
LEVELS = 3
NS_PER_UM2 = 2e-5
SLEW_NS = 0.03
SPENT = 0.5  # of the slack of a line, on a smaller tree
STEP_NS = 0.02  # of the slack that is spent: lines that are nearly alike get the same tree
WORST_SLEW_NS = 0.15  # at readers


class Level(NamedTuple):
    """A level of a tree, from the driver on: its buffers and how many readers each has."""

    kind: str
    spread: int


def with_trees(model: Model, modules: Mapping[str, str], counts: dict[str, int]) -> Model:
    """The model with a tree on every net that has many readers, but for the clock's and the constants."""
    circuit, netlist = model.circuit, model.netlist
    wide = [
        net
        for net, sinks in enumerate(netlist.sinks)
        if len(sinks) > MANY and net not in model.clock_nets and _changes(model, net)
    ]
    if not wide or circuit.wire_ff is None:
        return model
    trees = _Trees(model.library, circuit.wire_ff)
    fastest = model.again(_spread(circuit, dict.fromkeys(wide, 0.0), modules, trees))
    slack = least(fastest.slack) - model.target
    spare = {net: STEP_NS * max(0, int(SPENT * min(slack[net], 1.0) / STEP_NS)) for net in wide}
    spread = model.again(_spread(circuit, spare, modules, trees))
    counts["spread"] += len(spread.names) - len(netlist.cells)
    return spread


def _changes(model: Model, net: int) -> bool:
    """Whether a net has a driver that is no tie."""
    if (driver := model.netlist.driver[net]) is None:
        return False
    return driver[0] == PORT or bool(model.library.cells[model.netlist.cells[driver[0]].kind].inputs)


def _spread(
    circuit: Circuit, spare: Mapping[int, float], modules: Mapping[str, str], trees: _Trees
) -> Circuit:
    """The circuit with trees on these nets, which have so many ns to spend."""
    netlist, library = circuit.netlist, trees.library
    cells = netlist.cells
    buffers = Buffers(netlist, library, "spread", dict(circuit.owners), modules)
    for net, ns in spare.items():
        driver = netlist.driver[net]
        assert driver is not None
        sinks = [sink for sink in netlist.sinks[net] if sink[0] != PORT]
        pins = [library.cells[cells[name].kind].pins[pin].cap_ff for name, pin in sinks]
        kind = cells[driver[0]].kind if driver[0] != PORT else library.roles.buffers[0]
        module = buffers.module(net, sinks)
        readers = sinks
        for level in reversed(trees.best(kind, len(sinks), round(sum(pins) / len(pins), 2), ns)):
            count = math.ceil(len(readers) / level.spread)
            heads = []
            for place in range(count):
                head, behind = buffers.insert(level.kind, net, module)
                first, end = place * len(readers) // count, (place + 1) * len(readers) // count
                buffers.hang(readers[first:end], behind)
                heads.append(head)
            readers = heads
    return wired(buffers.connected(), trees.wire_ff, around=circuit.around, owners=buffers.owners)


class Tree(NamedTuple):
    """Cost of a tree, and its levels."""

    late_ns: float
    area_um2: float
    slew_ns: float
    levels: list[Level]


class _Trees:
    """The best trees by driver, number of readers and what each takes."""

    def __init__(self, library: Library, wire_ff: float) -> None:
        self.library, self.wire_ff = library, wire_ff
        self.buffers = [library.cells[kind] for kind in library.roles.buffers[1:] or library.roles.buffers]
        self.best, self._all = functools.cache(self._best), functools.cache(self._trees)

    def _best(self, driver: str, readers: int, pin_ff: float, spare_ns: float) -> list[Level]:
        """From the driver on; no level where the driver does as well alone."""
        trees = self._all(driver, readers, pin_ff)
        fastest = min(trees, key=lambda tree: tree.late_ns + tree.area_um2 * NS_PER_UM2)
        latest = fastest.late_ns + spare_ns
        fit = [tree for tree in trees if tree.late_ns <= latest and tree.slew_ns <= WORST_SLEW_NS]
        return min(fit, key=lambda tree: tree.area_um2).levels if spare_ns and fit else fastest.levels

    def _trees(self, driver: str, readers: int, pin_ff: float) -> list[Tree]:
        return [self._tree(driver, levels, readers, pin_ff) for levels in self._shapes(readers)]

    def _tree(self, driver: str, levels: list[Level], readers: int, pin_ff: float) -> Tree:
        area, late, slew = 0.0, 0.0, SLEW_NS
        loads = []
        for level in reversed(levels):
            buffer = self.library.cells[level.kind]
            made = math.ceil(readers / level.spread)
            loads.append((buffer, math.ceil(readers / made) * (pin_ff + self.wire_ff)))
            area += made * buffer.area
            readers, pin_ff = made, buffer.pins[buffer.inputs[0]].cap_ff
        loads.append((self.library.cells[driver], readers * (pin_ff + self.wire_ff)))
        for cell, load in reversed(loads):
            delay, slew = through(cell, slew, load)
            late += delay
        return Tree(late, area, slew, levels)

    def _shapes(self, readers: int) -> Iterator[list[Level]]:
        """All trees, the shallow ones first."""
        kinds = [Level(buffer.name, spread) for buffer in self.buffers for spread in SPREADS]
        todo: list[tuple[list[Level], int]] = [([], readers)]  # and how many buffers are at the top
        for levels, heads in todo:  # grows
            yield levels
            if len(levels) < LEVELS and (not levels or heads > SPREADS[0]):
                todo += [
                    ([level, *levels], math.ceil(heads / level.spread))
                    for level in kinds
                    if level.spread < heads
                ]


def through(cell: Cell, slew: float, load: float) -> tuple[float, float]:
    """Delay and slew of a cell's slowest way from an input to its first output."""
    worst = 0.0, 0.0
    for arc in cell.pins[cell.outputs[0]].timing:
        for delay, out in ((arc.cell_rise, arc.rise_transition), (arc.cell_fall, arc.fall_transition)):
            if delay is not None and out is not None:
                worst = max(worst, (delay.at(slew, load), out.at(slew, load)))
    return worst
