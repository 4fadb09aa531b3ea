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
from dataclasses import dataclass, field

from ..kit.constraints import Constraints
from ..kit.lef import Point
from ..kit.liberty import Cell, Library
from ..netlist.buffers import Buffers
from ..netlist.netlist import PORT, Terminal
from ..synth.sizing.fanout import SLEW_NS, through
from ..timing.graph import TimingGraph
from .placed import Placed
from .wires import Wire, distance, wires_of

LONGEST_PS = 100.0  # from a driver to a reader, by the wire alone (Elmore)
MOST_FF = 40.0  # of a piece: wire and pins
STEP_UM = 100.0  # of a wire, between two places where a repeater may stand


@dataclass
class Piece:
    """The load of a repeater: readers, and the pieces behind it."""

    at: Point
    readers: list[Terminal] = field(default_factory=list)
    behind: list[Piece] = field(default_factory=list)


def insert_repeaters(placed: Placed, asked: Constraints, modules: Mapping[str, str]) -> dict[str, str]:
    """Put repeaters into the netlist and its placement; return their modules."""
    slow = [
        wire
        for wire in wires_of(placed)
        if wire.cap_ff > MOST_FF and max(wire.delays_ps()) > LONGEST_PS  # most have too little to be slow
    ]
    if not slow:
        return {}
    clock_nets = TimingGraph(placed.netlist, placed.library, asked).clock_nets
    buffer = _repeater(placed.library)
    buffers = Buffers(placed.netlist, placed.library, "repeat", {}, modules)
    for wire in slow:
        if wire.net in clock_nets:
            continue
        module = buffers.module(wire.net, wire.terminals[1:])
        uncut = [(piece, wire.net) for piece in _pieces(wire, buffer)]
        while uncut:
            piece, net = uncut.pop()
            (name, _), output = buffers.insert(buffer.name, net, module)
            placed.rows.insert(name, buffer.name, *piece.at)
            buffers.hang(piece.readers, output)
            uncut += [(item, output) for item in piece.behind]
    placed.netlist = buffers.connected()
    return buffers.owners


def _repeater(library: Library) -> Cell:
    """The buffer that drives a piece with another one behind it in the least time."""
    buffers = [library.cells[kind] for kind in library.roles.buffers]
    return min(
        buffers, key=lambda cell: through(cell, SLEW_NS, MOST_FF + cell.pins[cell.inputs[0]].cap_ff)[0]
    )


@dataclass
class _Node(Piece):
    """A node of a net's tree, with the wire from its parent and the load below it."""

    up: int = 0
    wire_ff: float = 0.0
    below_ff: float = 0.0
    to_a_port: bool = False


def _pieces(wire: Wire, buffer: Cell) -> list[Piece]:
    """Cut pieces off a net, as trees; the rest stays with its driver."""
    nodes = _from_driver(wire)
    for node in reversed(nodes[1:]):
        up, load = nodes[node.up], node.below_ff + node.wire_ff
        if load > MOST_FF and not node.to_a_port:
            up.behind.append(node)
            load = buffer.pins[buffer.inputs[0]].cap_ff + node.wire_ff
        else:
            up.readers += node.readers
            up.behind += node.behind
            up.to_a_port |= node.to_a_port
        up.below_ff += load
    return nodes[0].behind


def _from_driver(wire: Wire) -> list[_Node]:
    """The tree with long edges in steps, each node behind the one that leads to it."""
    points = wire.tree.points
    nodes = [_Node(points[0])]
    number = {0: 0}  # the node of each point
    for point, before, edge in wire.branches:
        (x0, y0), (x1, y1) = points[before], points[point]
        steps = math.ceil(distance(points[before], points[point]) / STEP_UM) or 1
        up = number[before]
        for step in range(1, steps + 1):
            at = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            nodes.append(_Node(at, up=up, wire_ff=wire.capacitances[edge] / steps))
            up = len(nodes) - 1
        number[point] = up
        if point < len(wire.terminals):
            nodes[up].below_ff = wire.loads_ff[point]
            nodes[up].to_a_port = wire.terminals[point][0] == PORT
            nodes[up].readers = [] if nodes[up].to_a_port else [wire.terminals[point]]
    return nodes
