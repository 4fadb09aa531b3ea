"""Inserts cells and buffers into a netlist; a buffer drives a new net, named after its module."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ..kit.liberty import Library
from .document import joined
from .netlist import PORT, Instance, Netlist, Terminal, connected


class EditedNetlist:
    """A netlist under construction, with changed cells and additional nets; `owners`, the module of each new
    cell, is extended.
    """

    def __init__(self, netlist: Netlist, library: Library, owners: dict[str, str]) -> None:
        self.netlist, self.library, self.owners = netlist, library, owners
        self.cells = dict(netlist.cells)
        self.nets = list(netlist.nets)
        self._taken = {*netlist.cells, *netlist.aliases}
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))

    def fresh(self, module: str, stem: str, suffix: str = "") -> str:
        """An unused numbered name in a module; with a suffix, the suffixed name is unused too."""
        prefix = joined(module, stem)
        for number in self._numbers[prefix]:
            names = {f"{prefix}{number}", f"{prefix}{number}{suffix}"}
            if names.isdisjoint(self._taken):
                break
        self._taken |= names
        return min(names, key=len)

    def add_net(self, name: str) -> int:
        """Add a net; return its number."""
        self.nets.append(name)
        return len(self.nets) - 1

    def add_cell(self, name: str, kind: str, pins: dict[str, int], module: str) -> None:
        """Add a cell to a module."""
        self.cells[name] = Instance(name, kind, pins)
        self.owners[name] = module

    def hang(self, readers: Iterable[Terminal], net: int) -> None:
        """Connect input pins of cells to a net."""
        for name, pin in readers:
            old = self.cells[name]
            self.cells[name] = Instance(name, old.kind, {**old.pins, pin: net})

    def connected(self) -> Netlist:
        """The edited netlist."""
        return connected(self.netlist, self.cells, self.nets, self.library)


class Buffers(EditedNetlist):
    """A netlist into which buffers are inserted; `modules` has the modules of the original cells."""

    def __init__(
        self,
        netlist: Netlist,
        library: Library,
        stem: str,
        owners: dict[str, str],
        modules: Mapping[str, str],
    ) -> None:
        super().__init__(netlist, library, owners)
        self.stem, self.modules = stem, modules

    def module(self, net: int, readers: Iterable[Terminal]) -> str:
        """The module of a net's driver; for a net of a port, that of the first reader that is a cell."""
        terminals = (self.netlist.driver[net] or (PORT, ""), *readers)
        of = next((name for name, _ in terminals if name != PORT), PORT)
        return self.owners.get(of, self.modules.get(of, ""))

    def insert(self, kind: str, net: int, module: str) -> tuple[Terminal, int]:
        """Add a buffer of this kind to a net; return its input and the net that it drives."""
        name = self.fresh(module, f"{self.stem}_", "_z")
        behind = self.add_net(f"{name}_z")
        cell = self.library.cells[kind]
        self.add_cell(name, kind, {cell.inputs[0]: net, cell.outputs[0]: behind}, module)
        return (name, cell.inputs[0]), behind
