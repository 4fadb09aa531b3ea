"""Finds the gates that compute sum and carry of three bits, and replaces them by full-adder cells where time
allows.

abc knows no cell with two outputs, so it builds every full adder of single gates: two XOR and a multiplexer
or two complex gates, 5.05 um^2 with the NanGate cells where their full adder takes 4.26. Mapping the adders
to it beforehand is no way out: abc then sees no path through them, and their carries are slow. So they are
looked for afterwards, when all paths are known.

`find` enumerates for every net its cuts of up to three leaves with their truth tables (Cong and Ding,
"FlowMap", IEEE Trans. CAD 13(1), 1994; inverters and buffers are passed through), and pairs a net that is the
exclusive or of three leaves with one that is their majority, each of them in any polarity: the cells that
serve nothing else go. Both functions of a full adder are self-dual, so that inputs may all be inverted if
both outputs are; where phases do not agree an inverter comes in, or a reader that is an XOR becomes an XNOR.
`Exchange` makes them; which ones there is time for is sizing.py's to say.

Measured on 32 bits with 3 ns: a Booth multiplier from 5,447 to 4,982 um^2 by 440 adders, MontMulRem by 560.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...kit.functions import parse
from ...kit.liberty import Cell, Library
from ...netlist.netlist import PORT, Instance, Netlist
from ...netlist.order import in_order
from ...netlist.ownership import SEPARATOR

WIDEST = 3  # leaves
MOST_PARTS, MOST_CUTS = 16, 8
FULL = 255  # a truth table of three inputs; bit i is the value where input k is bit k of i
COLUMN = 0xAA
EXCLUSIVE_OR = 0x96
LEAST_SAVED = 0.1  # um^2

Table = tuple[tuple[int, ...], int]  # (leaves in order, truth table)


def _majority(polarity: int) -> int:
    """The truth table of the majority of three inputs, of which those in `polarity` are inverted."""
    return sum(1 << row for row in range(8) if (row ^ polarity).bit_count() >= 2)


MAJORITIES = {
    table ^ (FULL if inverted else 0): (polarity, inverted)
    for polarity in (0, 1, 2, 4)
    for inverted in (False, True)
    for table in [_majority(polarity)]
}


class Adder(NamedTuple):
    """A full adder of single gates, its nets, and the cells that serve it alone.

    sum = a ^ b ^ c ^ odd; carry = majority of the leaves, of which those in `polarity` are inverted, ^
    carry_odd.
    """

    leaves: tuple[int, ...]
    sum: int
    odd: bool
    carry: int
    polarity: int  # bit k: leaf k
    carry_odd: bool
    cells: frozenset[str]
    gone: float  # um^2 of them


@functools.cache
def _table(text: str, inputs: tuple[str, ...], values: tuple[int, ...]) -> int:
    """The truth table of a function of inputs that have these tables."""
    out = 0
    for row in range(8):
        at = {pin: value >> row & 1 for pin, value in zip(inputs, values, strict=True)}
        out |= parse(text).value(**at) << row
    return out


def _is_gate(cell: Cell) -> bool:
    """Whether a cell has one output, a function of its inputs."""
    return (
        not cell.sequential
        and len(cell.outputs) == 1
        and bool(cell.inputs)
        and bool(cell.pins[cell.outputs[0]].function)
        and not cell.pins[cell.outputs[0]].three_state
    )


def _in_order(netlist: Netlist, library: Library) -> list[str]:
    """All cells but registers, each after those that it reads."""
    chosen = {
        name: cell
        for name, instance in netlist.cells.items()
        if not (cell := library.cells[instance.kind]).sequential
    }
    drivers = {
        name: [netlist.driver[net] for pin, net in netlist.cells[name].pins.items() if pin in cell.inputs]
        for name, cell in chosen.items()
    }
    return in_order(
        {name: [cell[0] for cell in found if cell and cell[0] in chosen] for name, found in drivers.items()}
    )


def find(netlist: Netlist, library: Library) -> list[Adder]:
    """Full adders that share no cell, those that save most first."""
    if library.roles.full_adder is None:
        return []
    gates = {
        kind: (tuple(cell.inputs), cell.outputs[0], cell.pins[cell.outputs[0]].function)
        for kind, cell in library.cells.items()
        if _is_gate(cell)
    }
    root: dict[int, tuple[int, bool]] = {}  # behind inverters and buffers
    cuts: dict[int, list[Table]] = {}
    by_leaves: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)

    def tables_of(net: int) -> list[Table]:
        base, inverted = root.get(net, (net, False))
        flip = FULL if inverted else 0
        return [
            ((base,), COLUMN ^ flip),
            *((leaves, table ^ flip) for leaves, table in cuts.get(base, ())),
        ]

    for name in _in_order(netlist, library):
        instance = netlist.cells[name]
        if instance.kind not in gates:
            continue
        inputs, output, text = gates[instance.kind]
        if output not in instance.pins:
            continue
        out = instance.pins[output]
        nets = [instance.pins[pin] for pin in inputs]
        if len(nets) == 1:
            base, inverted = root.get(nets[0], (nets[0], False))
            root[out] = (base, inverted ^ (_table(text, inputs, (COLUMN,)) != COLUMN))
            continue
        parts: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())]
        for net in nets:
            merged: dict[tuple[int, ...], tuple[int, ...]] = {}
            for leaves, values in parts:
                for other, table in tables_of(net):
                    union = tuple(sorted({*leaves, *other}))
                    if len(union) <= WIDEST and union not in merged:
                        merged[union] = (
                            *(_spread(leaves, value, union) for value in values),
                            _spread(other, table, union),
                        )
            parts = sorted(merged.items(), key=lambda part: len(part[0]))[:MOST_PARTS]
        found = [(leaves, _table(text, inputs, values)) for leaves, values in parts]
        cuts[out] = found[:MOST_CUTS]
        for leaves, table in found:
            if len(leaves) == WIDEST and (
                table in MAJORITIES or table in (EXCLUSIVE_OR, EXCLUSIVE_OR ^ FULL)
            ):
                by_leaves[leaves].append((out, table))
    return _disjoint(_adders(netlist, library, by_leaves))


_SPREAD: dict[tuple[tuple[int, ...], int], int] = {}


def _spread(leaves: tuple[int, ...], table: int, union: tuple[int, ...]) -> int:
    """A table over some leaves as one over more of them."""
    if leaves == union:
        return table
    places = tuple(union.index(leaf) for leaf in leaves)
    key = (places, table)
    if key not in _SPREAD:
        _SPREAD[key] = sum(
            (table >> sum((row >> place & 1) << k for k, place in enumerate(places)) & 1) << row
            for row in range(8)
        )
    return _SPREAD[key]


def _adders(
    netlist: Netlist, library: Library, by_leaves: Mapping[tuple[int, ...], list[tuple[int, int]]]
) -> Iterable[Adder]:
    """Pairs of a sum and a carry that would save area."""
    area = {kind: cell.area for kind, cell in library.cells.items()}
    assert library.roles.full_adder is not None
    own = area[library.roles.full_adder.cell]
    for leaves, nets in by_leaves.items():
        sums = [(net, table != EXCLUSIVE_OR) for net, table in nets if table not in MAJORITIES]
        carries = [(net, *MAJORITIES[table]) for net, table in nets if table in MAJORITIES]
        for (total, odd), (carry, polarity, carry_odd) in itertools.product(sums, carries):
            cells = _served(netlist, library, (total, carry), set(leaves))
            gone = sum(area[netlist.cells[name].kind] for name in cells)
            if gone - own >= LEAST_SAVED:
                yield Adder(leaves, total, odd, carry, polarity, carry_odd, cells, gone)


def _served(netlist: Netlist, library: Library, outputs: tuple[int, int], leaves: set[int]) -> frozenset[str]:
    """The cells between leaves and outputs that nothing else reads."""
    gone: set[str] = set()
    read: Counter[int] = Counter()
    todo = list(outputs)
    while todo:
        net = todo.pop()
        driver = netlist.driver[net]
        assert driver is not None
        name = driver[0]
        if name in gone or name == PORT:
            continue
        gone.add(name)
        instance = netlist.cells[name]
        for pin in library.cells[instance.kind].inputs:
            below = instance.pins[pin]
            read[below] += 1
            if (
                read[below] == len(netlist.sinks[below])
                and below not in leaves
                and below not in outputs
                and netlist.driver[below] is not None
            ):
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


class Exchange:
    """A netlist in which adders become cells; `cells` and `nets` are what becomes of it."""

    def __init__(self, netlist: Netlist, library: Library, owner: Callable[[str], str]) -> None:
        self.netlist, self.library, self.owner = netlist, library, owner
        assert library.roles.full_adder is not None
        self.adder, self.twin = library.roles.full_adder, library.roles.complement
        self.inverter = library.cells[library.roles.inverter]
        self.cells = {
            name: Instance(name, cell.kind, dict(cell.pins)) for name, cell in netlist.cells.items()
        }
        self.nets = list(netlist.nets)
        self.owners: dict[str, str] = {}  # of the new cells
        self.taken = {*netlist.cells, *netlist.aliases}
        self.true: dict[int, int] = {}  # net: the one that has its complement, which a new cell drives
        self.readers: dict[int, set[tuple[str, str]]] = {
            net: set(sinks) for net, sinks in enumerate(netlist.sinks)
        }
        self.waiting: set[str] = set()  # cells of adders to come
        self.adder_of: dict[int, str] = {}  # net: the module of the new cell that drives it
        self.counts: Counter[str] = Counter()
        self.exchanged = 0

    def make(self, adders: list[Adder], arrival: Sequence[float]) -> None:
        """Exchange those of the adders, in topological order, that still save area; `arrival` is by net."""
        self.waiting = {name for adder in adders for name in adder.cells}
        for adder in adders:
            self.waiting -= adder.cells
            self._make(adder, arrival)
        for net, opposite in self.true.items():
            self._complement(net, opposite)
        self._sweep()

    def _make(self, adder: Adder, arrival: Sequence[float]) -> None:
        flip, cost = min(((flip, self._inverters(adder, flip)) for flip in (0, 7)), key=lambda pair: pair[1])
        if adder.gone - self.library.cells[self.adder.cell].area - cost * self.inverter.area < LEAST_SAVED:
            return
        driver = self.netlist.driver[adder.sum]
        assert driver is not None
        owner = self.owner(driver[0])
        for name in adder.cells:
            for pin, net in self.cells.pop(name).pins.items():
                self.readers[net].discard((name, pin))
        inputs = adder.polarity ^ flip
        # the last to arrive takes the carry's pin, which is the fastest
        order = sorted(range(WIDEST), key=lambda k: arrival[adder.leaves[k]])
        pins = {
            pin: self._leaf(adder.leaves[k], bool(inputs >> k & 1), owner)
            for pin, k in zip(self.adder.inputs, order, strict=True)
        }
        odd = (inputs.bit_count() & 1, adder.odd), (int(bool(flip)), adder.carry_odd)
        for pin, net, (of_inputs, own) in zip(
            (self.adder.sum, self.adder.carry), (adder.sum, adder.carry), odd, strict=True
        ):
            if of_inputs ^ own:
                self.true[net] = self._net(owner)
            pins[pin] = self.true.get(net, net)
        self._add(self.adder.cell, pins, owner)
        self.adder_of |= {pins[self.adder.sum]: owner, pins[self.adder.carry]: owner}
        self.exchanged += 1

    def _inverters(self, adder: Adder, flip: int) -> int:
        """How many an adder takes whose inputs are, or are not, all inverted."""
        inputs = adder.polarity ^ flip
        count = sum(bool(inputs >> k & 1) ^ (leaf in self.true) for k, leaf in enumerate(adder.leaves))
        wrong = (inputs.bit_count() & 1) ^ adder.odd, bool(flip) ^ adder.carry_odd
        for net, is_wrong in zip((adder.sum, adder.carry), wrong, strict=True):
            readers = [name for name, _ in self.readers[net] if name not in adder.cells]
            # an adder to come takes either
            fits = all(
                name != PORT and (name in self.waiting or self.twin(self.cells[name].kind))
                for name in readers
            )
            count += is_wrong and not fits
        return count

    def _leaf(self, net: int, inverted: bool, owner: str) -> int:
        """The net that has a leaf, or its complement."""
        if net in self.true:
            if inverted:
                return self.true[net]
            net, inverted = self.true[net], True
        if not inverted:
            return net
        for name, _ in sorted(self.readers.get(net, ())):
            if name != PORT and name not in self.waiting and self.cells[name].kind == self.inverter.name:
                return self.cells[name].pins[self.inverter.outputs[0]]
        out = self._net(owner)
        self._invert(net, out, owner)
        return out

    def _complement(self, net: int, opposite: int) -> None:
        """Bring the readers of a net to the one with its complement, or make the net of that."""
        for name, pin in sorted(self.readers[net]):
            if name == PORT:
                continue
            reader = self.cells[name]
            twin = self.twin(reader.kind)
            if twin:
                self._connect(name, pin, opposite)
                (old,), (new,) = (self.library.cells[kind].outputs for kind in (reader.kind, twin))
                pins = dict(self.cells[name].pins)
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
            if instance is None or not _is_gate(self.library.cells[instance.kind]):
                continue
            cell = self.library.cells[instance.kind]
            if not self.readers.get(instance.pins.get(cell.outputs[0], -1)):
                del self.cells[name]
                for pin in cell.inputs:
                    net = instance.pins[pin]
                    self.readers[net].discard((name, pin))
                    driver = self.netlist.driver[net] if net < len(self.netlist.driver) else None
                    if driver and driver[0] != PORT:
                        todo.append(driver[0])

    def _connect(self, name: str, pin: str, net: int) -> None:
        pins = self.cells[name].pins
        self.readers[pins[pin]].discard((name, pin))
        self.readers.setdefault(net, set()).add((name, pin))
        pins[pin] = net

    def _invert(self, net: int, out: int, owner: str) -> None:
        inverter = self.inverter
        self._add(inverter.name, {inverter.inputs[0]: net, inverter.outputs[0]: out}, owner)

    def _add(self, kind: str, pins: dict[str, int], owner: str) -> None:
        name = self._fresh(owner, "adder" if kind == self.adder.cell else "invert")
        self.owners[name] = owner
        self.cells[name] = Instance(name, kind, pins)
        for pin in self.library.cells[kind].inputs:
            self.readers.setdefault(pins[pin], set()).add((name, pin))

    def _net(self, owner: str) -> int:
        self.nets.append(self._fresh(owner, "n"))
        return len(self.nets) - 1

    def _fresh(self, owner: str, what: str) -> str:
        prefix = f"{owner}{SEPARATOR}{what}" if owner else what
        while True:
            self.counts[prefix] += 1
            name = f"{prefix}{self.counts[prefix]}"
            if name not in self.taken:
                self.taken.add(name)
                return name
