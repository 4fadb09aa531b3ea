"""Logic of a flat netlist in Yosys' JSON: Boolean functions in topological order between registers and ports.

Cells are yosys' single-bit gates, before mapping, or library cells with the functions of their Liberty file.
`simulate` evaluates all nets at once for words of random bits at the sources. The word of a net is a
signature of its function; ownership.py uses it to find corresponding nets of two netlists of the same design.
equivalence.py proves cones of this logic.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...fl.errors import BadInput
from ..kit.functions import Function, parse
from ..kit.liberty import Cell, Library, Register
from .document import Bit, Module
from .order import in_order

CONSTANTS: Mapping[Bit, int] = {"0": 0, "1": 1, "x": 0, "z": 0}

# yosys' gates (techlibs/common/simcells.v): the output is Y
GATES = {
    "$_BUF_": "A",
    "$_NOT_": "!A",
    "$_AND_": "A & B",
    "$_NAND_": "!(A & B)",
    "$_OR_": "A | B",
    "$_NOR_": "!(A | B)",
    "$_XOR_": "A ^ B",
    "$_XNOR_": "!(A ^ B)",
    "$_ANDNOT_": "A & !B",
    "$_ORNOT_": "A | !B",
    "$_MUX_": "(S & B) | (!S & A)",
    "$_NMUX_": "!((S & B) | (!S & A))",
    "$_AOI3_": "!((A & B) | C)",
    "$_OAI3_": "!((A | B) & C)",
    "$_AOI4_": "!((A & B) | (C & D))",
    "$_OAI4_": "!((A | B) & (C | D))",
}
# ... and its flip-flops without enable: clock edge, level and value of an asynchronous reset
FLIP_FLOP = re.compile(r"\$_DFF_([PN])(?:([PN])([01]))?_")
LATCH = re.compile(r"\$_DLATCH_([PN])_")
NO_LOGIC = ("$scopeinfo",)
NEXT = "next state"  # name of the net of a next state that is not a pin


class Node(NamedTuple):
    """A net and the function that drives it."""

    cell: str
    out: Bit
    inputs: tuple[Bit, ...]  # in the order of function.inputs
    function: Function


class State(NamedTuple):
    """A flip-flop or latch; `clear` and `preset` are (net, active level). The `clock` of a latch is its
    enable.
    """

    cell: str
    data: Bit
    clock: Bit
    rising: bool
    outputs: tuple[tuple[Bit, bool], ...]  # (net, whether it is the complement)
    clear: tuple[Bit, bool] | None = None
    preset: tuple[Bit, bool] | None = None
    latch: bool = False


class Gate(NamedTuple):
    """A clock gate."""

    cell: str
    clock: Bit
    enable: Bit
    out: Bit


@dataclass
class Logic:
    """The logic of a flat module."""

    module: Module
    nodes: list[Node]  # in topological order
    states: list[State]
    gates: list[Gate]

    def ports(self, direction: str) -> Iterator[tuple[str, Bit]]:
        """(name[bit], net) of the bits of all ports of a direction."""
        for name, port in self.module["ports"].items():
            if port["direction"] == direction:
                for place, bit in enumerate(port["bits"]):
                    yield f"{name}[{place}]", bit

    def sources(self) -> Iterator[tuple[str, Bit, bool]]:
        """(name, net, whether it is the complement) of the nets that the nodes start from: input ports,
        states, gated clocks.
        """
        for name, bit in self.ports("input"):
            yield name, bit, False
        for state in self.states:
            for bit, complement in state.outputs:
                yield state.cell, bit, complement
        for gate in self.gates:
            yield gate.cell, gate.out, False

    def simulate(self, width: int = 256) -> dict[Bit, int]:
        """A random word for each net; sources of the same name have the same word in every netlist."""
        mask = (1 << width) - 1
        words = {bit: -value & mask for bit, value in CONSTANTS.items()}
        for name, bit, complement in self.sources():
            words[bit] = random.Random(name).getrandbits(width) ^ (mask if complement else 0)
        return evaluated(self.nodes, words, mask)


def evaluated(nodes: Iterable[Node], words: dict[Bit, int], mask: int) -> dict[Bit, int]:
    """Extend `words`, the words of sources, by those of the nodes, which are in topological order."""
    for node in nodes:
        words[node.out] = node.function.words([words.get(bit, 0) for bit in node.inputs]) & mask
    return words


def read(module: Module, library: Library) -> Logic:
    """The logic of a module; BadInput for a loop or for a cell that is neither a yosys gate nor in the
    library.
    """
    nodes = []
    states = []
    gates = []
    for name, cell in module["cells"].items():
        kind = cell["type"]
        pins = {pin: bits[0] for pin, bits in cell["connections"].items() if bits}
        if kind in NO_LOGIC:
            continue
        if kind in GATES:
            nodes.append(_node(name, pins, pins["Y"], parse(GATES[kind])))
        elif match := FLIP_FLOP.fullmatch(kind):
            reset = (pins["R"], match[2] == "P") if match[2] else None
            clear, preset = (reset, None) if match[3] == "0" else (None, reset)
            states.append(
                State(name, pins["D"], pins["C"], match[1] == "P", ((pins["Q"], False),), clear, preset)
            )
        elif match := LATCH.fullmatch(kind):
            outputs = ((pins["Q"], False),)
            states.append(State(name, pins["D"], pins["E"], match[1] == "P", outputs, latch=True))
        elif kind not in library.cells:
            raise BadInput(
                f"{name} is a {kind}, which is neither a gate of yosys nor a cell of {library.name}"
            )
        elif gate := library.cells[kind].clock_gate:
            gates.append(Gate(name, pins[gate.clock], pins[gate.enable], pins[gate.output]))
        elif register := library.cells[kind].register:
            state, more = _register(name, pins, library.cells[kind], register)
            states.append(state)
            nodes += more
        else:
            for pin in library.cells[kind].outputs:
                if pin in pins:
                    function = library.cells[kind].pins[pin].logic
                    nodes.append(_node(name, pins, pins[pin], function))
    fixed = {node.out: node.function.value() for node in nodes if not node.inputs} | dict(CONSTANTS)

    def acting(reset: tuple[Bit, bool] | None) -> tuple[Bit, bool] | None:
        """A reset, or None if it is tied to its inactive level."""
        return None if reset and fixed.get(reset[0], reset[1]) != reset[1] else reset

    states = [state._replace(clear=acting(state.clear), preset=acting(state.preset)) for state in states]
    return Logic(module, _sorted(nodes), states, gates)


def _node(name: str, pins: Mapping[str, Bit], out: Bit, function: Function) -> Node:
    return Node(name, out, tuple(_net(name, pins, pin) for pin in function.inputs), function)


def _net(name: str, pins: Mapping[str, Bit], pin: str) -> Bit:
    if pin not in pins:
        raise BadInput(
            f"{name} depends on {pin}, which is no connected pin: connect it, or take another cell"
        )
    return pins[pin]


def _register(name: str, pins: Mapping[str, Bit], cell: Cell, register: Register) -> tuple[State, list[Node]]:
    """A library register; a next state or an output that is not a single net becomes a node."""
    nets = dict(pins)
    outputs = []
    gates = []
    for pin in cell.outputs:
        if pin in pins:
            function = cell.pins[pin].logic
            if function.literal and function.literal[0] in (register.state, register.inverse):
                complement = (function.literal[0] == register.inverse) == function.literal[1]
                outputs.append((pins[pin], complement))
                nets.setdefault(register.inverse if complement else register.state, pins[pin])
            else:
                gates.append((pins[pin], function))
    data: Bit = f"{name} {NEXT}"
    following = parse(register.data)
    if following.literal and following.literal[1] and following.literal[0] in pins:
        data = pins[following.literal[0]]
    else:
        gates.append((data, following))
    for held, complement in ((register.state, False), (register.inverse, True)):
        if held not in nets and any(held in function.inputs for _, function in gates):
            nets[held] = f"{name} {held}"
            outputs.append((nets[held], complement))

    def level(text: str) -> tuple[Bit, bool]:
        literal = parse(text).literal
        if literal is None:
            raise BadInput(f"{name} ({cell.name}): {text!r} is of more than one pin, which is not supported")
        return _net(name, pins, literal[0]), literal[1]

    clear, preset = (level(text) if text else None for text in (register.clear, register.preset))
    state = State(name, data, *level(register.clock), tuple(outputs), clear, preset, bool(cell.latch))
    return state, [_node(name, nets, out, function) for out, function in gates]


def _sorted(nodes: list[Node]) -> list[Node]:
    """Nodes in topological order; BadInput for a loop."""
    by_out = {node.out: index for index, node in enumerate(nodes)}
    order = in_order({index: node.inputs for index, node in enumerate(nodes)}, by_out)
    if len(order) < len(nodes):
        stuck = nodes[min(set(range(len(nodes))) - set(order))].cell
        raise BadInput(f"a combinational loop passes through {stuck}: break it with a register")
    return [nodes[index] for index in order]


def cone(nodes: Sequence[Node], places: Mapping[Bit, int], roots: Iterable[Bit]) -> list[Node]:
    """The nodes in the cone of the roots, in their order; `places` has the index of each net's driver."""
    todo = [places[bit] for bit in roots if bit in places]
    found = set(todo)
    for place in todo:  # grows
        for bit in nodes[place].inputs:
            below = places.get(bit)
            if below is not None and below not in found:
                found.add(below)
                todo.append(below)
    return [nodes[place] for place in sorted(found)]
