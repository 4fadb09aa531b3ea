"""Finds groups of gates that form a full adder, and replaces them by full-adder cells where timing allows.

abc maps to single-output cells only, so it builds a full adder from separate gates: two XORs, and a
multiplexer or two complex gates. With the NanGate cells that takes 5.05 um^2; the full-adder cell takes 4.26.
Mapping the adders to that cell before abc does not work: abc then sees no path through them, and their
carries become slow. They are therefore recognised after mapping, when all paths are known.

`find` enumerates the cuts of each net with up to three leaves, and their truth tables (Cong and Ding,
"FlowMap", IEEE Trans. CAD 13(1), 1994). It looks through inverters and buffers. It pairs a net that is the
XOR of three leaves with a net that is their majority, each in any polarity. Gates that feed nothing else are
removed. Both functions of a full adder are self-dual: inverting all inputs inverts both outputs. Where
polarities differ, an inverter is inserted, or an XOR that reads the net becomes an XNOR.

`Exchange` edits the netlist; adders.py selects the adders that meet timing.
"""

import functools
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...kit.functions import parse
from ...kit.liberty import Cell, Library
from ...netlist.buffers import EditedNetlist
from ...netlist.netlist import PORT, Instance, Netlist
from ...netlist.order import in_order

WIDEST = 3  # leaves
MOST_PARTS, MOST_CUTS = 16, 8
FULL = 255  # a truth table of three inputs; bit i is the value where input k is bit k of i
COLUMN = 0xAA
EXCLUSIVE_OR = 0x96
LEAST_SAVED = 0.19  # in areas of the inverter

Table = tuple[tuple[int, ...], int]  # (leaves in order, truth table)


# (the inputs that are inverted, whether the result is) by the truth table of a majority
MAJORITIES = {
    sum(1 << row for row in range(8) if ((row ^ polarity).bit_count() >= 2) ^ inverted): (polarity, inverted)
    for polarity in (0, 1, 2, 4)
    for inverted in (False, True)
}


class Adder(NamedTuple):
    """A full adder built from gates: its nets, and the gates that only it uses.

    sum = a ^ b ^ c ^ odd
    carry = majority(a ^ polarity[0], b ^ polarity[1], c ^ polarity[2]) ^ carry_odd
    """

    leaves: tuple[int, ...]
    sum: int
    odd: bool
    carry: int
    polarity: int  # bit k: leaf k
    carry_odd: bool
    cells: frozenset[str]
    gone: float  # um^2 of them


def _is_gate(cell: Cell) -> bool:
    """Whether a cell has one output, a function of its inputs."""
    if cell.sequential or len(cell.outputs) != 1 or not cell.inputs:
        return False
    output = cell.pins[cell.outputs[0]]
    return bool(output.function) and not output.three_state


def _in_order(netlist: Netlist, library: Library) -> list[str]:
    """All cells but registers, each after those that it reads."""
    reads = {
        name: [net for pin, net in instance.pins.items() if pin in cell.inputs]
        for name, instance in netlist.cells.items()
        if not (cell := library.cells[instance.kind]).sequential
    }
    drivers = {net: driver[0] for net, driver in enumerate(netlist.driver) if driver and driver[0] in reads}
    return in_order(reads, drivers)


def find(netlist: Netlist, library: Library) -> list[Adder]:
    """Full adders that share no cell, those that save most first."""
    if library.roles.full_adder is None:
        return []
    gates = {
        kind: (cell.inputs, cell.outputs[0], parse(cell.pins[cell.outputs[0]].function))
        for kind, cell in library.cells.items()
        if _is_gate(cell)
    }
    root: dict[int, tuple[int, bool]] = {}  # behind inverters and buffers
    cuts: dict[int, list[Table]] = {}
    by_leaves = defaultdict(list)

    def tables_of(net: int) -> list[Table]:
        base, inverted = root.get(net, (net, False))
        flip = FULL if inverted else 0
        return [(leaves, table ^ flip) for leaves, table in (((base,), COLUMN), *cuts.get(base, ()))]

    for name in _in_order(netlist, library):
        instance = netlist.cells[name]
        if (gate := gates.get(instance.kind)) is None or gate[1] not in instance.pins:
            continue
        inputs, output, function = gate
        out = instance.pins[output]
        nets = [instance.pins[pin] for pin in inputs]
        places = [inputs.index(pin) for pin in function.inputs]
        if len(nets) == 1:
            base, inverted = root.get(nets[0], (nets[0], False))
            root[out] = (base, inverted ^ (function.literal != (inputs[0], True)))
            continue
        parts: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())]
        for net in nets:
            merged = {}
            for leaves, values in parts:
                for other, table in tables_of(net):
                    union = tuple(sorted({*leaves, *other}))
                    if len(union) <= WIDEST and union not in merged:
                        all_values = [(leaves, value) for value in values] + [(other, table)]
                        merged[union] = tuple(
                            _placed(tuple(map(union.index, over)), value) for over, value in all_values
                        )
            parts = sorted(merged.items(), key=lambda part: len(part[0]))[:MOST_PARTS]
        found = [
            (leaves, function.words([values[place] for place in places]) & FULL) for leaves, values in parts
        ]
        cuts[out] = found[:MOST_CUTS]
        for leaves, table in found:
            if len(leaves) == WIDEST and table in (*MAJORITIES, EXCLUSIVE_OR, EXCLUSIVE_OR ^ FULL):
                by_leaves[leaves].append((out, table))
    return _disjoint(_adders(netlist, library, by_leaves))


@functools.cache
def _placed(places: tuple[int, ...], table: int) -> int:
    """Rewrite a truth table for a larger set of inputs; `places` are the new positions of its inputs."""
    rows = (sum((row >> place & 1) << k for k, place in enumerate(places)) for row in range(8))
    return sum((table >> at & 1) << row for row, at in enumerate(rows))


def _adders(
    netlist: Netlist, library: Library, by_leaves: Mapping[tuple[int, ...], list[tuple[int, int]]]
) -> Iterable[Adder]:
    """Pairs of a sum and a carry that would save area."""
    assert library.roles.full_adder is not None
    own = library.cells[library.roles.full_adder.cell].area
    least = LEAST_SAVED * library.cells[library.roles.inverter].area
    for leaves, nets in by_leaves.items():
        sums = [(net, table != EXCLUSIVE_OR) for net, table in nets if table not in MAJORITIES]
        carries = [(net, *MAJORITIES[table]) for net, table in nets if table in MAJORITIES]
        for (total, odd), (carry, polarity, carry_odd) in itertools.product(sums, carries):
            cells = _served(netlist, library, (total, carry), set(leaves))
            # rounded once: a set has no order that is the same in every run
            gone = math.fsum(library.cells[netlist.cells[name].kind].area for name in cells)
            if gone - own >= least:
                yield Adder(leaves, total, odd, carry, polarity, carry_odd, cells, gone)


def _served(netlist: Netlist, library: Library, outputs: tuple[int, int], leaves: set[int]) -> frozenset[str]:
    """The cells between leaves and outputs that nothing else reads."""
    gone = set()
    read: Counter[int] = Counter()
    todo = list(outputs)
    while todo:
        name, _ = netlist.driver[todo.pop()] or (PORT, "")
        if name in gone or name == PORT:
            continue
        gone.add(name)
        instance = netlist.cells[name]
        for pin in library.cells[instance.kind].inputs:
            below = instance.pins[pin]
            read[below] += 1
            last = read[below] == len(netlist.sinks[below])
            if last and below not in {*leaves, *outputs} and netlist.driver[below] is not None:
                todo.append(below)
    return frozenset(gone)


def _disjoint(adders: Iterable[Adder]) -> list[Adder]:
    taken: set[str] = set()
    chosen = []
    for adder in sorted(adders, key=lambda item: (-item.gone, item.sum, item.carry)):
        if not adder.cells & taken:
            taken |= adder.cells
            chosen.append(adder)
    return chosen


class Exchange(EditedNetlist):
    """A netlist in which adders become cells; `modules` has the module of each cell that was there."""

    def __init__(self, netlist: Netlist, library: Library, modules: Mapping[str, str]) -> None:
        super().__init__(netlist, library, {})
        self.modules = modules
        assert library.roles.full_adder is not None
        self.adder, self.twin = library.roles.full_adder, library.roles.complement
        self.complemented = library.complemented(self.adder)
        self.inverter = library.cells[library.roles.inverter]
        self.true: dict[int, int] = {}  # net: the one that has its complement, which a new cell drives
        self.readers = defaultdict[int, set[tuple[str, str]]](set, enumerate(map(set, netlist.sinks)))
        self.waiting: set[str] = set()  # cells of adders to come
        self.adder_of: dict[int, str] = {}  # net: the module of the new cell that drives it

    def make(self, adders: list[Adder], arrival: Sequence[float]) -> int:
        """Replace the adders, given in topological order, that still save area; return their number.

        `arrival` is indexed by net.
        """
        made = 0
        self.waiting = {name for adder in adders for name in adder.cells}
        for adder in adders:
            self.waiting -= adder.cells
            costs = {flip: self._inverters(adder, flip) * self.inverter.area for flip in (0, 7)}
            flip = min(costs, key=costs.__getitem__)
            least = self.library.cells[self.adder.cell].area + LEAST_SAVED * self.inverter.area
            if adder.gone - costs[flip] >= least:
                self._make(adder, flip, arrival)
                made += 1
        for net, opposite in self.true.items():
            self._complement(net, opposite)
        self._sweep()
        return made

    def _make(self, adder: Adder, flip: int, arrival: Sequence[float]) -> None:
        driver, _ = self.netlist.driver[adder.sum] or (PORT, "")
        owner = self.modules[driver]
        for name in adder.cells:
            for pin, net in self.cells.pop(name).pins.items():
                self.readers[net].discard((name, pin))
        inverted, complemented = self._phases(adder, flip)
        # the last to arrive takes the carry's pin, which is the fastest
        order = sorted(range(WIDEST), key=lambda k: arrival[adder.leaves[k]])
        pins = {
            pin: self._leaf(adder.leaves[k], inverted[k], owner)
            for pin, k in zip(self.adder.inputs, order, strict=True)
        }
        outputs = (self.adder.sum, adder.sum), (self.adder.carry, adder.carry)
        for (pin, net), opposite in zip(outputs, complemented, strict=True):
            if opposite:
                self.true[net] = self.add_net(self.fresh(owner, "n"))
            pins[pin] = self.true.get(net, net)
            self.adder_of[pins[pin]] = owner
        self._add("adder", self.adder.cell, pins, owner)

    def _phases(self, adder: Adder, flip: int) -> tuple[list[bool], tuple[bool, bool]]:
        """Return which leaves the cell needs inverted, and whether its sum and carry outputs are the
        complements of the adder's nets. `flip`: 7 to invert all inputs in addition, 0 not to.
        """
        inputs, (total, carry) = adder.polarity ^ flip, self.complemented
        odd = bool(inputs.bit_count() & 1) ^ adder.odd ^ total
        return [bool(inputs >> k & 1) for k in range(WIDEST)], (odd, bool(flip) ^ adder.carry_odd ^ carry)

    def _inverters(self, adder: Adder, flip: int) -> int:
        """Return the number of inverters that an adder needs with this `flip` (see `_phases`)."""
        inverted, complemented = self._phases(adder, flip)
        count = sum(here ^ (leaf in self.true) for here, leaf in zip(inverted, adder.leaves, strict=True))
        for net, opposite in zip((adder.sum, adder.carry), complemented, strict=True):
            readers = [name for name, _ in self.readers[net] if name not in adder.cells]
            # an adder to come takes either
            takers = (
                name != PORT and (name in self.waiting or self.twin(self.cells[name].kind))
                for name in readers
            )
            count += opposite and not all(takers)
        return count

    def _leaf(self, net: int, inverted: bool, owner: str) -> int:
        """The net that has a leaf, or its complement."""
        if net in self.true:
            if inverted:
                return self.true[net]
            net, inverted = self.true[net], True
        if not inverted:
            return net
        for name, _ in sorted(self.readers[net]):
            if name != PORT and name not in self.waiting and self.cells[name].kind == self.inverter.name:
                return self.cells[name].pins[self.inverter.outputs[0]]
        out = self.add_net(self.fresh(owner, "n"))
        self._invert(net, out, owner)
        return out

    def _complement(self, net: int, opposite: int) -> None:
        """Let the readers of a net read its complement instead, by exchanging XOR and XNOR cells; drive the
        net by an inverter if other readers remain.
        """
        for name, pin in sorted(self.readers[net]):
            if name != PORT and (twin := self.twin((reader := self.cells[name]).kind)):
                self.readers[net].discard((name, pin))
                self.readers[opposite].add((name, pin))
                (old,), (new,) = (self.library.cells[kind].outputs for kind in (reader.kind, twin))
                pins = {**reader.pins, pin: opposite}
                pins[new] = pins.pop(old)
                self.cells[name] = Instance(name, twin, pins)
        if self.readers[net]:
            self._invert(opposite, net, self.adder_of[opposite])

    def _sweep(self) -> None:
        """Take out gates that nothing reads any more."""
        todo = list(self.cells)
        while todo:
            name = todo.pop()
            instance = self.cells.get(name)
            if instance is None or not _is_gate(cell := self.library.cells[instance.kind]):
                continue
            if not self.readers[instance.pins.get(cell.outputs[0], -1)]:
                del self.cells[name]
                for pin in cell.inputs:
                    net = instance.pins[pin]
                    self.readers[net].discard((name, pin))
                    if net < len(self.netlist.driver) and (driver := self.netlist.driver[net]):
                        todo.append(driver[0])

    def _invert(self, net: int, out: int, owner: str) -> None:
        inverter = self.inverter
        self._add("invert", inverter.name, {inverter.inputs[0]: net, inverter.outputs[0]: out}, owner)

    def _add(self, stem: str, kind: str, pins: dict[str, int], owner: str) -> None:
        name = self.fresh(owner, stem)
        self.add_cell(name, kind, pins, owner)
        for pin in self.library.cells[kind].inputs:
            self.readers[pins[pin]].add((name, pin))
