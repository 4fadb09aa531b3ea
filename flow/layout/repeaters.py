"""Repeaters: a net whose wire alone takes long is cut into pieces, each driven by a buffer where it begins.

To sizing the wire of a net is a star, every reader at the end of a branch of its own (timing/graph.py), which
is near enough for most. One that crosses the die to 47 readers, in the unit of heap with 256 bits, takes 0.95
ns by its tree and nearly nothing by its star. So before sizes are chosen the tree of each net that keeps a
reader waiting longer than LONGEST_PS is gone through from its ends to its driver, and cut wherever more than
MOST_FF hang below. Nets of the clock have their own tree, and ports stay on the net of their name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..kit.constraints import Constraints
from ..kit.lef import Point
from ..kit.liberty import Cell, Library
from ..netlist.buffers import Buffers
from ..netlist.netlist import PORT, Netlist, Terminal
from ..synth.sizing.fanout import SLEW_NS, through
from ..timing.graph import TimingGraph
from .row_legalizer import Rows
from .wires import Wire, distance, pin_cap, wires_of

LONGEST_PS = 100.0  # from a driver to a reader, by the wire alone (Elmore)
MOST_FF = 40.0  # of a piece: wire and pins
STEP_UM = 100.0  # of a wire, between two places where a repeater may stand


@dataclass
class Piece:
    """What a repeater drives: readers, and the pieces behind it."""

    at: Point
    readers: list[Terminal]
    behind: list[Piece]


def with_repeaters(
    netlist: Netlist, rows: Rows, library: Library, asked: Constraints, modules: Mapping[str, str]
) -> tuple[Netlist, dict[str, str]]:
    """Put repeaters into the netlist and its placement; return the netlist and the repeaters' modules."""
    slow = [
        wire
        for wire in wires_of(netlist, rows.placement, rows.lef)
        if _slowest(wire, netlist, library) > LONGEST_PS
    ]
    if not slow:
        return netlist, {}
    clock_nets = TimingGraph(netlist, library, asked).clock_nets
    buffer = _repeater(library)
    buffers = Buffers(netlist, library, "repeat", {}, modules)
    for wire in slow:
        if wire.net in clock_nets:
            continue
        module = buffers.module(wire.net, wire.terminals[1:])
        uncut = [(piece, wire.net) for piece in _pieces(wire, netlist, library, buffer)]
        while uncut:
            piece, net = uncut.pop()
            (name, _), output = buffers.insert(buffer.name, net, module)
            rows.insert(name, buffer.name, *piece.at)
            buffers.hang(piece.readers, output)
            uncut += [(item, output) for item in piece.behind]
    return buffers.connected(), buffers.owners


def _slowest(wire: Wire, netlist: Netlist, library: Library) -> float:
    if wire.cap_ff <= MOST_FF:  # which is not slow, and most are so
        return 0.0
    _, *readers = wire.terminals
    return max(wire.delays_ps([0.0, *(pin_cap(netlist, library, reader) for reader in readers)]))


def _repeater(library: Library) -> Cell:
    """The buffer that drives a piece with another one behind it in the least time."""
    buffers = [library.cells[kind] for kind in library.roles.buffers]
    return min(
        buffers, key=lambda cell: through(cell, SLEW_NS, MOST_FF + cell.pins[cell.inputs[0]].cap_ff)[0]
    )


@dataclass
class _Node:
    """A place on a net's tree, and the wire from the one before it."""

    at: Point
    up: int
    wire_ff: float
    terminal: int | None = None


def _pieces(wire: Wire, netlist: Netlist, library: Library, buffer: Cell) -> list[Piece]:
    """What is cut off a net, as trees of pieces; the rest stays with its driver."""
    nodes = _from_driver(wire)
    own = buffer.pins[buffer.inputs[0]].cap_ff
    below = [0.0] * len(nodes)
    readers: list[list[Terminal]] = [[] for _ in nodes]
    behind: list[list[Piece]] = [[] for _ in nodes]
    to_a_port = [False] * len(nodes)
    for number in reversed(range(1, len(nodes))):
        node = nodes[number]
        if node.terminal is not None:
            terminal = wire.terminals[node.terminal]
            below[number] += pin_cap(netlist, library, terminal)
            if terminal[0] == PORT:
                to_a_port[number] = True
            else:
                readers[number].append(terminal)
        load = below[number] + node.wire_ff
        if load > MOST_FF and not to_a_port[number]:
            behind[node.up].append(Piece(node.at, readers[number], behind[number]))
            load = own + node.wire_ff
        else:
            readers[node.up] += readers[number]
            behind[node.up] += behind[number]
            to_a_port[node.up] |= to_a_port[number]
        below[node.up] += load
    return behind[0]


def _from_driver(wire: Wire) -> list[_Node]:
    """The tree with long edges in steps, each node behind the one that leads to it."""
    tree = wire.tree
    around: list[list[tuple[int, float]]] = [[] for _ in tree.points]
    for (a, b), wire_ff in zip(tree.edges, wire.capacitances, strict=True):
        around[a].append((b, wire_ff))
        around[b].append((a, wire_ff))
    nodes = [_Node(tree.points[0], -1, 0.0)]
    todo = [(0, -1, 0)]  # a point, the one before it, and the node of the point
    for point, before, number in todo:  # grows
        x0, y0 = tree.points[point]
        for other, wire_ff in around[point]:
            if other == before:
                continue
            x1, y1 = tree.points[other]
            steps = math.ceil(distance(tree.points[point], tree.points[other]) / STEP_UM) or 1
            last = number
            for step in range(1, steps + 1):
                at = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
                nodes.append(_Node(at, last, wire_ff / steps))
                last = len(nodes) - 1
            nodes[last].terminal = other if other < len(wire.terminals) else None
            todo.append((other, point, last))
    return nodes
