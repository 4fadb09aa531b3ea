"""The logic of a flat netlist in yosys' JSON: Boolean functions in topological order between the states and the ports.

Cells are yosys' single-bit gates, before mapping, or cells of a library, whose functions Liberty gives. `simulate` computes all
nets for words of random bits at the sources at once: a signature of what each net means, by which nets of two netlists
of the same design are found to be the same (ownership.py). equivalence.py writes cones of it for a proof.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...fl.errors import BadInput
from ..kit.liberty import Library
from .document import Bit, Document, Module

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
NO_LOGIC = ("$scopeinfo",)


@dataclass(frozen=True)
class Function:
    """A Boolean function: of words, bit by bit, and as the rows of its truth table that are 1."""

    inputs: tuple[str, ...]
    evaluate: Callable[..., int]  # not yet cut to the width of the words

    @functools.cached_property
    def cubes(self) -> tuple[str, ...]:
        rows = itertools.product((0, 1), repeat=len(self.inputs))
        return tuple("".join(map(str, row)) for row in rows if self.evaluate(*row) & 1)


@functools.cache
def function(text: str) -> Function:
    """The function that Liberty writes so: names, !, &, |, ^, parentheses."""
    if not re.fullmatch(r"[\w\s!&|^()]+", text):
        raise BadInput(f"{text!r} is no function of pins in names, !, &, |, ^ and parentheses")
    inputs = tuple(sorted(set(re.findall(r"[A-Za-z_]\w*", text))))
    evaluate = eval(f"lambda {', '.join(inputs)}: {text.replace('!', ' ~')}", {})
    return Function(inputs, evaluate)


@dataclass(frozen=True)
class Node:
    """A net and the function that drives it."""

    cell: str
    out: Bit
    inputs: tuple[Bit, ...]  # in the order of function.inputs
    function: Function


@dataclass(frozen=True)
class State:
    """A flip-flop; `clear` and `preset` are (net, level at which it acts)."""

    cell: str
    data: Bit
    clock: Bit
    rising: bool
    outputs: tuple[tuple[Bit, bool], ...]  # (net, whether it is the complement)
    clear: tuple[Bit, bool] | None = None
    preset: tuple[Bit, bool] | None = None


@dataclass(frozen=True)
class Gate:
    """A clock gate."""

    cell: str
    clock: Bit
    enable: Bit
    out: Bit


@dataclass
class Logic:
    """A flat module."""

    module: Module
    nodes: list[Node]  # in topological order
    states: list[State]
    gates: list[Gate]

    def ports(self, direction: str) -> Iterator[tuple[str, Bit]]:
        """(name[place], net) of the bits of all ports of a direction."""
        for name, port in self.module["ports"].items():
            if port["direction"] == direction:
                for place, bit in enumerate(port["bits"]):
                    yield f"{name}[{place}]", bit

    def sources(self) -> Iterator[tuple[str, Bit, bool]]:
        """(name, net, whether it is the complement) of what the nodes start from: input ports, states, gated clocks."""
        for name, bit in self.ports("input"):
            yield name, bit, False
        for state in self.states:
            for bit, complement in state.outputs:
                yield state.cell, bit, complement
        for gate in self.gates:
            yield gate.cell, gate.out, False

    def simulate(self, width: int = 256) -> dict[Bit, int]:
        """A word for each net; the same source has the same random word in every netlist."""
        mask = (1 << width) - 1
        words: dict[Bit, int] = {bit: -value & mask for bit, value in CONSTANTS.items()}
        for name, bit, complement in self.sources():
            words[bit] = random.Random(name).getrandbits(width) ^ (mask if complement else 0)
        for node in self.nodes:
            words[node.out] = node.function.evaluate(*[words.get(bit, 0) for bit in node.inputs]) & mask
        return words


def flat_module(design: Document, top: str) -> Module:
    """The module of a design that was flattened to it."""
    return design["modules"][top]


def read(module: Module, library: Library) -> Logic:
    """The logic of a module; BadInput for a cell that is neither a gate, nor of the library, or a loop."""
    nodes: list[Node] = []
    states: list[State] = []
    gates: list[Gate] = []
    for name, cell in module["cells"].items():
        kind = cell["type"]
        pins = {pin: bits[0] for pin, bits in cell["connections"].items() if bits}
        if kind in NO_LOGIC:
            continue
        if kind in GATES:
            nodes.append(_node(name, pins, "Y", GATES[kind]))
        elif match := FLIP_FLOP.fullmatch(kind):
            reset = (pins["R"], match[2] == "P") if match[2] else None
            clear, preset = (reset, None) if match[3] == "0" else (None, reset)
            states.append(
                State(name, pins["D"], pins["C"], match[1] == "P", ((pins["Q"], False),), clear, preset)
            )
        elif kind not in library.cells:
            raise BadInput(
                f"{name} is a {kind}, which is neither a gate of yosys nor a cell of {library.name}"
            )
        elif gate := library.cells[kind].clock_gate:
            gates.append(Gate(name, pins[gate.clock], pins[gate.enable], pins[gate.output]))
        elif library.cells[kind].ff:
            states.append(_flip_flop(name, pins, library, kind))
        else:
            for pin in library.cells[kind].outputs:
                if pin in pins:
                    nodes.append(_node(name, pins, pin, library.cells[kind].pins[pin].function))
    return Logic(module, _sorted(nodes), states, gates)


def _node(name: str, pins: dict[str, Bit], out: str, text: str) -> Node:
    if text in ("0", "1"):  # a tie cell
        return Node(name, pins[out], (), Function((), lambda: -int(text)))
    made = function(text)
    return Node(name, pins[out], tuple(pins[pin] for pin in made.inputs), made)


def _flip_flop(name: str, pins: dict[str, Bit], library: Library, kind: str) -> State:
    cell = library.cells[kind]
    assert cell.ff is not None
    outputs = tuple(
        (pins[pin], cell.pins[pin].function == cell.ff.inverse) for pin in cell.outputs if pin in pins
    )

    def level(text: str) -> tuple[Bit, bool] | None:
        return (pins[text.strip("!() ")], "!" not in text) if text else None

    return State(
        name,
        pins[cell.ff.next_state.strip("() ")],
        pins[cell.ff.clocked_on.strip("!() ")],
        "!" not in cell.ff.clocked_on,
        outputs,
        level(cell.ff.clear),
        level(cell.ff.preset),
    )


def _sorted(nodes: list[Node]) -> list[Node]:
    """Drivers first (Kahn); BadInput for a loop."""
    by_out = {node.out: index for index, node in enumerate(nodes)}
    waiting = [0] * len(nodes)
    readers: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes):
        for bit in node.inputs:
            if bit in by_out:
                readers[by_out[bit]].append(index)
                waiting[index] += 1
    ready = [index for index, count in enumerate(waiting) if not count]
    for index in ready:  # grows
        for reader in readers[index]:
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    if len(ready) < len(nodes):
        stuck = next(node.cell for node, count in zip(nodes, waiting, strict=True) if count)
        raise BadInput(f"a combinational loop passes through {stuck}: break it with a register")
    return [nodes[index] for index in ready]


def cone(nodes: Sequence[Node], places: Mapping[Bit, int], roots: Iterable[Bit]) -> list[Node]:
    """Those of the nodes that the roots depend on, in their order; `places` says by net where its driver stands among them."""
    todo = [places[bit] for bit in roots if bit in places]
    found = set(todo)
    for place in todo:  # grows
        for bit in nodes[place].inputs:
            below = places.get(bit)
            if below is not None and below not in found:
                found.add(below)
                todo.append(below)
    return [nodes[place] for place in sorted(found)]
