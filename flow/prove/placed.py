"""Proof that a placed netlist computes what the mapped one does.

Placement may choose other drive strengths, exchange commutative inputs, add buffers, and copy clock gates.
Every net of the mapped netlist stands for the one of the placed netlist that the same output or port drives;
then every input must read what it read, behind the buffers. Registers, ports and functions being the same,
that is a proof by induction over the levels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ..kit.liberty import Cell, Library
from ..netlist.netlist import PORT, Instance, Netlist
from ..synth.sizing.families import commutative, truth

Gated = tuple[int, int] | None  # the nets of clock and enable


def prove_same(before: Netlist, after: Netlist, library: Library) -> list[str]:
    """How the placed netlist differs from the mapped one in what it computes: nothing, if it was only built
    otherwise.
    """
    ways = [{name: way for name, (way, _) in netlist.ports.items()} for netlist in (before, after)]
    if ways[0] != ways[1] or before.port_names != after.port_names:
        return ["the ports are not what they were"]
    comparison = _Comparison(before, after, library)
    return [*comparison.added(), *comparison.lost(), *comparison.misread(), *comparison.outputs()]


class _Comparison:
    """Both netlists, and which net of the one stands for which of the other."""

    def __init__(self, before: Netlist, after: Netlist, library: Library) -> None:
        self.before, self.after, self.library = before, after, library
        self.gated = {id(netlist): self._gates(netlist) for netlist in (before, after)}
        self.twins = self._twins()
        self.origin = self._origin()  # net of `after`: net of `before` that it stands for

    def added(self) -> Iterator[str]:
        """Cells that are new, and neither a buffer nor a copy of a clock gate."""
        for name in self.after.cells.keys() - self.before.cells.keys():
            cell = self.library.cells[self.after.cells[name].kind]
            if cell.clock_gate and self._gate(self.after, name) not in self.gated[id(self.after)]:
                yield f"{name} is no copy of a clock gate"
            elif not cell.clock_gate and not _is_buffer(cell):
                yield f"{name} was added and is no buffer"

    def lost(self) -> Iterator[str]:
        """Cells that are gone, or no longer of their function."""
        for name in self.before.cells:
            if name not in self.twins:
                yield f"{name} is not what it was"

    def misread(self) -> Iterator[str]:
        """Inputs that read something else."""
        symmetries: dict[str, list[tuple[str, str]]] = {}
        for name, twin in self.twins.items():
            cell = self.before.cells[name]
            reads = [pin for pin in self.library.cells[cell.kind].inputs if pin in cell.pins]
            wanted = {pin: self._root(self.before, cell.pins[pin]) for pin in reads}
            found = {pin: self.origin.get(self._root(self.after, twin.pins[pin])) for pin in reads}
            other = [pin for pin in reads if wanted[pin] != found[pin]]
            if other and cell.kind not in symmetries:
                symmetries[cell.kind] = commutative(self.library.cells[cell.kind])
            if other and not _exchanged(wanted, found, other, symmetries[cell.kind]):
                yield f"{name}/{other[0]} is on another net"

    def outputs(self) -> Iterator[str]:
        """Output ports that show something else."""
        nets = dict(self.after.port_bits("output"))
        for bit, net in self.before.port_bits("output"):
            if self.origin.get(self._root(self.after, nets[bit])) != self._root(self.before, net):
                yield f"the port {bit} is on another net"

    # -- correspondence of names
    # -----------------------------------------------------------------------------------------

    def _twins(self) -> dict[str, Instance]:
        """The cells of `before` that are still there, by their names in both."""
        alike: dict[tuple[str, str], bool] = {}
        twins = {}
        for name, cell in self.before.cells.items():
            twin = self.after.cells.get(name)
            if twin is None or twin.pins.keys() != cell.pins.keys():
                continue
            kinds = cell.kind, twin.kind
            if kinds not in alike:
                alike[kinds] = _alike(self.library, *kinds)
            if alike[kinds]:
                twins[name] = twin
        return twins

    def _origin(self) -> dict[int, int]:
        before, after = self.before, self.after
        inputs = dict(after.port_bits("input"))
        origin = {inputs[bit]: self._root(before, net) for bit, net in before.port_bits("input")}
        values = {value: net for net, value in after.constants.items()}
        origin |= {values[value]: net for net, value in before.constants.items() if value in values}
        for name, twin in self.twins.items():
            cell = before.cells[name]
            for pin in self.library.cells[cell.kind].outputs:
                if pin in cell.pins:
                    origin[self._root(after, twin.pins[pin])] = self._root(before, cell.pins[pin])
        return origin

    def _buffered(self, net: int) -> int:
        """The net of `after` before the buffers that were added."""
        while (terminal := self.after.driver[net]) is not None and terminal[0] not in self.before.cells:
            cell = self.library.cells[self.after.cells[terminal[0]].kind] if terminal[0] != PORT else None
            if cell is None or not _is_buffer(cell):
                break
            net = self.after.cells[terminal[0]].pins[cell.inputs[0]]
        return net

    def _gate(self, netlist: Netlist, name: str) -> Gated:
        """Return the nets that a clock gate connects."""
        pins = netlist.cells[name].pins
        roles = self.library.cells[netlist.cells[name].kind].clock_gate
        if roles is None:
            return None
        nets = pins[roles.clock], pins[roles.enable]
        return nets if netlist is self.before else (self._buffered(nets[0]), self._buffered(nets[1]))

    def _gates(self, netlist: Netlist) -> dict[Gated, int]:
        """The net that stands for what all gates make that gate the same by the same; copies do not count."""
        found: dict[Gated, int] = {}
        for name, cell in self.before.cells.items():
            roles = self.library.cells[cell.kind].clock_gate
            if roles and name in netlist.cells and roles.output in netlist.cells[name].pins:
                found.setdefault(self._gate(netlist, name), netlist.cells[name].pins[roles.output])
        return found

    def _root(self, netlist: Netlist, net: int) -> int:
        """The net that stands for a net: before buffers, and one for all gates alike."""
        net = net if netlist is self.before else self._buffered(net)
        terminal = netlist.driver[net]
        if terminal is None or terminal[0] == PORT:
            return net
        return self.gated[id(netlist)].get(self._gate(netlist, terminal[0]), net)


def _is_buffer(cell: Cell) -> bool:
    return (
        len(cell.inputs) == 1 == len(cell.outputs)
        and not cell.sequential
        and (cell.pins[cell.outputs[0]].function.strip("() ") == cell.inputs[0])
    )


def _alike(library: Library, kind: str, other: str) -> bool:
    """Whether two cells are drive strengths of one function."""
    if kind == other:
        return True
    first, second = library.cells[kind], library.cells[other]
    family = library.roles.family(kind)
    if family is None or library.roles.family(other) != family or first.pins.keys() != second.pins.keys():
        return False
    if first.sequential or second.sequential:
        return (first.ff, first.latch, first.clock_gate) == (second.ff, second.latch, second.clock_gate)
    return all(truth(first, pin) == truth(second, pin) for pin in first.outputs)


def _exchanged(
    wanted: dict[str, int], found: dict[str, int | None], pins: list[str], pairs: list[tuple[str, str]]
) -> bool:
    """Whether these inputs read what they should if commutative ones change places."""
    return any(
        all(
            found[pin] == wanted[place] and (pin == place or (pin, place) in pairs or (place, pin) in pairs)
            for pin, place in zip(pins, places, strict=True)
        )
        for places in itertools.permutations(pins)
    )
