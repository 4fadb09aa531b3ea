"""Buffer trees for high-fan-out nets, built before sizing because abc does not see cells that the design
names.

A select line of 1,024 bits drives as many gates; adding one buffer at a time, as moves.py does, would take
too many rounds. A net of more than MANY readers gets a tree of one to three levels under its own driver. The
kinds of buffers and their numbers of readers minimise the delay by the tables of the library, plus a small
weight of the area (NS_PER_UM2). A net with slack gets the smallest tree instead that uses no more than a
share of its slack (`heap` with 256 bits at 1.7 ns: 4,359 buffers instead of 6,670). Readers keep the order of
the netlist, which is that of the bits of a word, so neighbours share a buffer. Sizes are chosen later.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ...kit.liberty import Cell, Library
from ...netlist.buffers import Buffers
from ...netlist.netlist import PORT
from .circuit import wired
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
    circuit, netlist, library = model.circuit, model.netlist, model.library
    cells, wire_ff = netlist.cells, circuit.wire_ff
    wide = {}  # nets, and the kind of cell before the tree
    for net, sinks in enumerate(netlist.sinks):
        driver = netlist.driver[net]
        if len(sinks) > MANY and driver is not None and net not in model.clock_nets:
            kind = library.roles.buffers[0] if driver[0] == PORT else cells[driver[0]].kind
            if library.cells[kind].inputs:  # no tie
                wide[net] = kind
    if not wide or wire_ff is None:
        return model
    best = _best_trees(library, wire_ff)

    def spread(spare: Mapping[int, float]) -> Model:
        """The model with trees on these nets, which have so many ns to spend."""
        buffers = Buffers(netlist, library, "spread", dict(circuit.owners), modules)
        for net, ns in spare.items():
            readers = [sink for sink in netlist.sinks[net] if sink[0] != PORT]
            pins = [library.cells[cells[name].kind].pins[pin].cap_ff for name, pin in readers]
            module = buffers.module(net, readers)
            for level in reversed(best(wide[net], len(readers), round(sum(pins) / len(pins), 2), ns)):
                count = math.ceil(len(readers) / level.spread)
                heads = []
                for first, end in itertools.pairwise(k * len(readers) // count for k in range(count + 1)):
                    head, behind = buffers.insert(level.kind, net, module)
                    buffers.hang(readers[first:end], behind)
                    heads.append(head)
                readers = heads
        return model.again(wired(buffers.connected(), wire_ff, owners=buffers.owners))

    slack = least(spread(dict.fromkeys(wide, 0.0)).slack) - model.target
    spare = {net: STEP_NS * max(0, int(SPENT * min(slack[net], 1.0) / STEP_NS)) for net in wide}
    made = spread(spare)
    counts["spread"] += len(made.names) - len(cells)
    return made


class Tree(NamedTuple):
    """Cost of a tree, and its levels."""

    late_ns: float
    area_um2: float
    slew_ns: float
    levels: list[Level]


def _best_trees(library: Library, wire_ff: float) -> Callable[[str, int, float, float], list[Level]]:
    """The levels of the best tree, from the driver on, by the driver, the number of readers, the fF of each,
    and the ns to spend; no level where the driver does as well alone.
    """
    buffers = [library.cells[kind] for kind in library.roles.buffers[1:] or library.roles.buffers]
    kinds = [Level(buffer.name, spread) for buffer in buffers for spread in SPREADS]

    def shapes(readers: int) -> Iterator[list[Level]]:
        """All trees, the shallow ones first."""
        todo: list[tuple[list[Level], int]] = [([], readers)]  # and how many buffers are at the top
        for levels, heads in todo:  # grows
            yield levels
            if len(levels) < LEVELS and (not levels or heads > SPREADS[0]):
                lower = [level for level in kinds if level.spread < heads]
                todo += [([level, *levels], math.ceil(heads / level.spread)) for level in lower]

    def tree(driver: str, levels: list[Level], readers: int, pin_ff: float) -> Tree:
        area, late, slew = 0.0, 0.0, SLEW_NS
        loads = []
        for level in reversed(levels):
            buffer = library.cells[level.kind]
            made = math.ceil(readers / level.spread)
            loads.append((buffer, math.ceil(readers / made) * (pin_ff + wire_ff)))
            area += made * buffer.area
            readers, pin_ff = made, buffer.pins[buffer.inputs[0]].cap_ff
        loads.append((library.cells[driver], readers * (pin_ff + wire_ff)))
        for cell, load in reversed(loads):
            delay, slew = through(cell, slew, load)
            late += delay
        return Tree(late, area, slew, levels)

    @functools.cache
    def trees(driver: str, readers: int, pin_ff: float) -> list[Tree]:
        return [tree(driver, levels, readers, pin_ff) for levels in shapes(readers)]

    @functools.cache
    def best(driver: str, readers: int, pin_ff: float, spare_ns: float) -> list[Level]:
        every = trees(driver, readers, pin_ff)
        fastest = min(every, key=lambda tree: tree.late_ns + tree.area_um2 * NS_PER_UM2)
        latest = fastest.late_ns + spare_ns
        fit = [tree for tree in every if tree.late_ns <= latest and tree.slew_ns <= WORST_SLEW_NS]
        return min(fit, key=lambda tree: tree.area_um2).levels if spare_ns and fit else fastest.levels

    return best


def through(cell: Cell, slew: float, load: float) -> tuple[float, float]:
    """Delay and slew of a cell's slowest way from an input to its first output."""
    worst = 0.0, 0.0
    for arc in cell.pins[cell.outputs[0]].timing:
        for delay, out in ((arc.cell_rise, arc.rise_transition), (arc.cell_fall, arc.fall_transition)):
            if delay is not None and out is not None:
                worst = max(worst, (delay.at(slew, load), out.at(slew, load)))
    return worst
