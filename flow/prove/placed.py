"""Proof that a placed netlist computes the same as the mapped one.

Placement may change drive strengths, exchange commutative inputs, add buffers and diodes, and copy clock
gates. Each net of the mapped netlist corresponds to the net of the placed netlist that the same output or
port drives. The proof requires that each input reads, behind buffers, the net that corresponds to its old
one. As registers, ports and functions are unchanged, the netlists are then equivalent, by induction over
the logic levels.
"""

import functools
import itertools
from collections.abc import Iterator, Mapping

from ..kit.liberty import Cell, Library
from ..netlist.netlist import PORT, Instance, Netlist
from ..synth.sizing.families import commutative, same_function

Gated = tuple[int, int] | None  # the nets of clock and enable


def prove_same(before: Netlist, after: Netlist, library: Library) -> list[str]:
    """The functional differences between the placed and the mapped netlist; empty if they are equivalent."""
    ways = [{name: way for name, (way, _) in netlist.ports.items()} for netlist in (before, after)]
    if ways[0] != ways[1] or before.port_names != after.port_names:
        return ["the ports are not what they were"]
    return list(_differences(before, after, library))


class _Side:
    """A netlist in which added buffers are bypassed and copies of a clock gate count as one."""

    def __init__(self, netlist: Netlist, known: Mapping[str, Instance], library: Library) -> None:
        """known: the cells of the mapped netlist."""
        self.netlist, self.cells, self.known = netlist, netlist.cells, known
        self.library = library
        self.gates: dict[Gated, int] = {}  # the net that represents all copies of a clock gate
        for name, cell in known.items():
            roles = library.cells[cell.kind].clock_gate
            if roles and name in self.cells and roles.output in self.cells[name].pins:
                self.gates.setdefault(self.gated(name), self.cells[name].pins[roles.output])

    def kind(self, name: str) -> Cell:
        return self.library.cells[self.cells[name].kind]

    def gated(self, name: str) -> Gated:
        """The clock and enable nets of a clock gate; None for another cell."""
        roles, pins = self.kind(name).clock_gate, self.cells[name].pins
        return (self._unbuffered(pins[roles.clock]), self._unbuffered(pins[roles.enable])) if roles else None

    def root(self, net: int) -> int:
        """The representative of a net: the net before added buffers; for copies of a clock gate, the same
        one.
        """
        net = self._unbuffered(net)
        terminal = self.netlist.driver[net]
        if terminal is None or terminal[0] == PORT:
            return net
        return self.gates.get(self.gated(terminal[0]), net)

    def _unbuffered(self, net: int) -> int:
        """The net before added buffers."""
        while (terminal := self.netlist.driver[net]) is not None and terminal[0] not in self.known:
            if terminal[0] == PORT or not _is_buffer(cell := self.kind(terminal[0])):
                break
            net = self.cells[terminal[0]].pins[cell.inputs[0]]
        return net


def _differences(before: Netlist, after: Netlist, library: Library) -> Iterator[str]:
    """The differences between two netlists with the same ports."""
    was, now = (_Side(netlist, before.cells, library) for netlist in (before, after))
    for name in after.cells.keys() - before.cells.keys():
        cell = now.kind(name)
        if cell.clock_gate and now.gated(name) not in now.gates:
            yield f"{name} is no copy of a clock gate"
        elif not cell.clock_gate and cell.outputs and not _is_buffer(cell):
            yield f"{name} was added and is no buffer or diode"
    alike = functools.cache(lambda *kinds: _alike(library, *kinds))
    twins = {}  # the cells of both netlists, by name
    for name, old in before.cells.items():
        new = after.cells.get(name)
        if new and new.pins.keys() == old.pins.keys() and alike(old.kind, new.kind):
            twins[name] = old, new
        else:
            yield f"{name} is not what it was"
    # for each net of `after`, the corresponding net of `before`
    inputs = dict(after.port_bits("input"))
    origin = {inputs[bit]: was.root(net) for bit, net in before.port_bits("input")}
    values = {value: net for net, value in after.constants.items()}
    origin |= {values[value]: net for net, value in before.constants.items() if value in values}
    for name, (old, new) in twins.items():
        for pin in filter(old.pins.__contains__, was.kind(name).outputs):
            origin[now.root(new.pins[pin])] = was.root(old.pins[pin])
    symmetries = functools.cache(lambda kind: commutative(library.cells[kind]))
    for name, (old, new) in twins.items():
        reads = [pin for pin in was.kind(name).inputs if pin in old.pins]
        wanted = {pin: was.root(old.pins[pin]) for pin in reads}
        found = {pin: origin.get(now.root(new.pins[pin])) for pin in reads}
        other = [pin for pin in reads if wanted[pin] != found[pin]]
        if other and not _exchanged(wanted, found, other, symmetries(old.kind)):
            yield f"{name}/{other[0]} is on another net"
    nets = dict(after.port_bits("output"))
    for bit, net in before.port_bits("output"):
        if origin.get(now.root(nets[bit])) != was.root(net):
            yield f"the port {bit} is on another net"


def _is_buffer(cell: Cell) -> bool:
    return (
        len(cell.inputs) == 1 == len(cell.outputs)
        and not cell.sequential
        and (cell.output_pin.function.strip("() ") == cell.inputs[0])
    )


def _alike(library: Library, kind: str, other: str) -> bool:
    """Whether two cells are drive strengths of the same function."""
    family = library.roles.family
    if kind == other:
        return True
    return family(kind) == family(other) is not None and same_function(
        library.cells[kind], library.cells[other]
    )


def _exchanged(
    wanted: dict[str, int], found: dict[str, int | None], pins: list[str], pairs: list[tuple[str, str]]
) -> bool:
    """Whether exchanging commutative inputs makes these inputs read the right nets."""
    return any(
        all(
            found[pin] == wanted[place] and (pin == place or (pin, place) in pairs or (place, pin) in pairs)
            for pin, place in zip(pins, places, strict=True)
        )
        for places in itertools.permutations(pins)
    )
