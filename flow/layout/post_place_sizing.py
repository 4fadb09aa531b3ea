"""Timing repair after placement: inserts repeaters and buffers, resizes cells and swaps pins by the actual
wires, within the existing rows.

Synthesis and sizing before placement assume a short wire on every net; after placement some wires are a
hundred times as long. Nets with a slow wire are cut, and sizing.py goes over the placed netlist with the
wires of the placement. Changes are made in place, because placing again would change the wires: a resized
cell stays about where it was, a buffer goes half-way to its readers, and neighbours make way (placed.py). The
pass is repeated with the resulting wires, and once more with the clock tree, whose copies of clock gates lie
far from the logic that enables them. Large designs (`routes_above` in place.py) are then routed globally and
sized by these wires as well, because their final timing includes the detours.

Sizing models the wire of a net as a star with one branch for each reader (timing/graph.py), which suffices
for most nets. A net that crosses the die to 47 readers, in the unit of heap with 256 bits, has a delay of
0.95 ns by its tree and almost none by its star. Therefore the tree of each net with a wire delay above
LONGEST_PS is split into pieces before sizes are chosen: from its ends to its driver, a buffer is inserted
wherever the load below exceeds MOST_FF. Clock nets have a tree of their own, and ports stay on the net of
their name.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..kit.constraints import Constraints
from ..kit.lef import Point
from ..kit.liberty import Cell
from ..netlist.buffers import Buffers
from ..netlist.netlist import PORT, Netlist, Terminal
from ..synth.sizing import sizing
from ..synth.sizing.circuit import wired
from ..synth.sizing.fanout import SLEW_NS, through
from ..timing.graph import TimingGraph
from . import route, wires
from .placed import Placed

ROUNDS = 2
EFFORT = sizing.Effort(rounds=4, batches=40, recoveries=0)
LARGE_EFFORT = sizing.Effort(rounds=2, batches=20, recoveries=0)
LARGE = 20_000  # cells
CARRY_NS = 0.032  # of the library whose delays the windows of sizing fit
LONGEST_PS = 100.0  # from a driver to a reader, by the wire alone (Elmore)
MOST_FF = 40.0  # load of a piece: wire and pins
STEP_UM = 100.0  # distance between two possible places of a repeater on a wire


def improve(
    placed: Placed, asked: Constraints, modules: Mapping[str, str], *, by_routes: bool = False
) -> dict[str, str]:
    """Resize and buffer towards the clock, using the placement's wires, or those of a global routing; return
    the modules of new buffers.
    """
    # the passes before have cut the nets that are slow without detours
    owners = {} if by_routes else insert_repeaters(placed, asked, modules)
    ideal = replace(asked, propagated=False)
    for _ in range(ROUNDS):
        routed = (
            route.by_name(route.route_globally(placed, shorten=True), placed.netlist) if by_routes else None
        )
        found = wires.table(wires.wires_of(placed, routed=routed), placed.netlist)
        circuit = wired(placed.netlist, 0.0, found)
        circuit.owners = owners
        effort = EFFORT if len(placed.netlist.cells) < LARGE else LARGE_EFFORT
        slower = max(1.0, placed.library.roles.carry_ns / CARRY_NS)
        effort = replace(effort, slack_ns=placed.library.kit.constraints.routing_ns, slower=slower)
        circuit, moved = sizing.optimise(circuit, placed.library, ideal, {**modules, **owners}, effort)
        if not any(moved.moves.values()):
            break
        placed.placement.sizing.append(moved)
        _move(placed, circuit.netlist)
        owners = dict(circuit.owners)
    return owners


def _move(placed: Placed, after: Netlist) -> None:
    """Bring the placement to another netlist, which becomes its own."""
    before, placed.netlist = placed.netlist, after
    for name, cell in before.cells.items():
        if after.cells[name].kind != cell.kind:
            placed.rows.resize(name, after.cells[name].kind)
    waiting = after.cells.keys() - before.cells.keys()
    while waiting:
        # a buffer behind another one waits for it
        for name in [name for name in after.cells if name in waiting]:
            cell = after.cells[name]
            ends = placed.cell(name)
            driver = after.driver[cell.pins[ends.inputs[0]]]
            if driver is None or driver[0] in waiting:
                continue
            sinks = after.sinks[cell.pins[ends.outputs[0]]]
            x0, y0 = placed.position(driver)
            points = [placed.position(sink) for sink in sinks if sink[0] not in waiting] or [(x0, y0)]
            x1, y1 = (sum(values) / len(points) for values in zip(*points, strict=True))
            placed.rows.insert(name, cell.kind, (x0 + x1) / 2, (y0 + y1) / 2)
            waiting.remove(name)


# ---- repeaters


@dataclass
class Piece:
    """A node of a net's tree, with the wire from its parent and the load below it; where the tree is cut, the
    load of a repeater: readers, and the pieces behind it.
    """

    at: Point
    readers: list[Terminal] = field(default_factory=list)
    behind: list["Piece"] = field(default_factory=list)
    up: int = 0
    wire_ff: float = 0.0
    below_ff: float = 0.0
    to_a_port: bool = False


def insert_repeaters(placed: Placed, asked: Constraints, modules: Mapping[str, str]) -> dict[str, str]:
    """Put repeaters into the netlist and its placement; return their modules."""
    slow = [
        wire
        for wire in wires.wires_of(placed)
        if wire.cap_ff > MOST_FF and max(wire.delays_ps()) > LONGEST_PS  # most have too little to be slow
    ]
    if not slow:
        return {}
    clock_nets = TimingGraph(placed.netlist, placed.library, asked).clock_nets
    # the one that drives a piece with another one behind it in the least time
    buffer = min(
        (placed.library.cells[kind] for kind in placed.library.roles.buffers),
        key=lambda cell: through(cell, SLEW_NS, MOST_FF + cell.input_pin.cap_ff)[0],
    )
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


def _pieces(wire: wires.Wire, buffer: Cell) -> list[Piece]:
    """Cut pieces off a net, as trees; the rest stays with its driver."""
    nodes = _from_driver(wire)
    for node in reversed(nodes[1:]):
        up = nodes[node.up]
        load = node.below_ff + node.wire_ff
        if load > MOST_FF and not node.to_a_port:
            up.behind.append(node)
            load = buffer.input_pin.cap_ff + node.wire_ff
        else:
            up.readers += node.readers
            up.behind += node.behind
            up.to_a_port |= node.to_a_port
        up.below_ff += load
    return nodes[0].behind


def _from_driver(wire: wires.Wire) -> list[Piece]:
    """The tree with long edges in steps, each node behind the one that leads to it."""
    points = wire.tree.points
    nodes = [Piece(points[0])]
    number = {0: 0}  # the node of each point
    for point, before, edge in wire.branches:
        (x0, y0), (x1, y1) = points[before], points[point]
        steps = math.ceil(wires.distance(points[before], points[point]) / STEP_UM) or 1
        up = number[before]
        for step in range(1, steps + 1):
            at = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            nodes.append(Piece(at, up=up, wire_ff=wire.capacitances[edge] / steps))
            up = len(nodes) - 1
        number[point] = up
        if point < len(wire.terminals):
            nodes[up].below_ff = wire.loads_ff[point]
            nodes[up].to_a_port = wire.terminals[point][0] == PORT
            nodes[up].readers = [] if nodes[up].to_a_port else [wire.terminals[point]]
    return nodes
