"""Proof that a placed netlist computes what the mapped one does.

Placement may choose other drive strengths, exchange commutative inputs, add buffers, and copy clock gates.
Every net of the mapped netlist stands for the one of the placed netlist that the same output or port drives;
then every input must read what it read, behind the buffers. Registers, ports and functions being the same,
that is a proof by induction over the levels.
"""

import functools
import itertools
from collections.abc import Iterator, Mapping

from ..kit.liberty import Cell, Library
from ..netlist.netlist import PORT, Instance, Netlist
from ..synth.sizing.families import commutative, same_function

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


class _Side:
    """A netlist without the buffers that were added to it, in which clock gates that are alike are one."""

    def __init__(self, netlist: Netlist, known: Mapping[str, Instance], library: Library) -> None:
        """known: the cells of the mapped netlist."""
        self.netlist, self.cells, self.known = netlist, netlist.cells, known
        self.library = library
        self.gates: dict[Gated, int] = {}  # the net that stands for all copies of a clock gate
        for name, cell in known.items():
            roles = library.cells[cell.kind].clock_gate
            if roles and name in self.cells and roles.output in self.cells[name].pins:
                self.gates.setdefault(self.gated(name), self.cells[name].pins[roles.output])

    def kind(self, name: str) -> Cell:
        return self.library.cells[self.cells[name].kind]

    def gated(self, name: str) -> Gated:
        """Return the nets that a clock gate connects."""
        roles, pins = self.kind(name).clock_gate, self.cells[name].pins
        return (
            None
            if roles is None
            else (self._unbuffered(pins[roles.clock]), self._unbuffered(pins[roles.enable]))
        )

    def root(self, net: int) -> int:
        """The net that stands for a net: before buffers, and one for all gates alike."""
        net = self._unbuffered(net)
        terminal = self.netlist.driver[net]
        if terminal is None or terminal[0] == PORT:
            return net
        return self.gates.get(self.gated(terminal[0]), net)

    def _unbuffered(self, net: int) -> int:
        """The net before the buffers that were added."""
        while (terminal := self.netlist.driver[net]) is not None and terminal[0] not in self.known:
            if terminal[0] == PORT or not _is_buffer(cell := self.kind(terminal[0])):
                break
            net = self.cells[terminal[0]].pins[cell.inputs[0]]
        return net


class _Comparison:
    """Both netlists, and which net of the one stands for which of the other."""

    def __init__(self, before: Netlist, after: Netlist, library: Library) -> None:
        self.before, self.after = (_Side(netlist, before.cells, library) for netlist in (before, after))
        self.library = library
        self.twins = self._twins()
        self.origin = self._origin()  # net of `after`: net of `before` that it stands for

    def added(self) -> Iterator[str]:
        """Cells that are new, and neither a buffer nor a copy of a clock gate."""
        for name in self.after.cells.keys() - self.before.cells.keys():
            cell = self.after.kind(name)
            if cell.clock_gate and self.after.gated(name) not in self.after.gates:
                yield f"{name} is no copy of a clock gate"
            elif not cell.clock_gate and not _is_buffer(cell):
                yield f"{name} was added and is no buffer"

    def lost(self) -> Iterator[str]:
        """Cells that are gone, or no longer of their function."""
        return (f"{name} is not what it was" for name in self.before.cells if name not in self.twins)

    def misread(self) -> Iterator[str]:
        """Inputs that read something else."""
        symmetries = functools.cache(lambda kind: commutative(self.library.cells[kind]))
        for name, twin in self.twins.items():
            cell = self.before.cells[name]
            reads = [pin for pin in self.before.kind(name).inputs if pin in cell.pins]
            wanted = {pin: self.before.root(cell.pins[pin]) for pin in reads}
            found = {pin: self.origin.get(self.after.root(twin.pins[pin])) for pin in reads}
            other = [pin for pin in reads if wanted[pin] != found[pin]]
            if other and not _exchanged(wanted, found, other, symmetries(cell.kind)):
                yield f"{name}/{other[0]} is on another net"

    def outputs(self) -> Iterator[str]:
        """Output ports that show something else."""
        nets = dict(self.after.netlist.port_bits("output"))
        for bit, net in self.before.netlist.port_bits("output"):
            if self.origin.get(self.after.root(nets[bit])) != self.before.root(net):
                yield f"the port {bit} is on another net"

    def _twins(self) -> dict[str, Instance]:
        """The cells of `before` that are still there, by their names in both."""
        alike = functools.cache(lambda *kinds: _alike(self.library, *kinds))
        twins = {}
        for name, cell in self.before.cells.items():
            twin = self.after.cells.get(name)
            if twin and twin.pins.keys() == cell.pins.keys() and alike(cell.kind, twin.kind):
                twins[name] = twin
        return twins

    def _origin(self) -> dict[int, int]:
        before, after = self.before.netlist, self.after.netlist
        inputs = dict(after.port_bits("input"))
        origin = {inputs[bit]: self.before.root(net) for bit, net in before.port_bits("input")}
        values = {value: net for net, value in after.constants.items()}
        origin |= {values[value]: net for net, value in before.constants.items() if value in values}
        for name, twin in self.twins.items():
            pins = before.cells[name].pins
            for pin in self.before.kind(name).outputs:
                if pin in pins:
                    origin[self.after.root(twin.pins[pin])] = self.before.root(pins[pin])
        return origin


def _is_buffer(cell: Cell) -> bool:
    return (
        len(cell.inputs) == 1 == len(cell.outputs)
        and not cell.sequential
        and (cell.pins[cell.outputs[0]].function.strip("() ") == cell.inputs[0])
    )


def _alike(library: Library, kind: str, other: str) -> bool:
    """Whether two cells are drive strengths of one function."""
    family = library.roles.family
    if kind == other:
        return True
    return family(kind) == family(other) is not None and same_function(
        library.cells[kind], library.cells[other]
    )


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
