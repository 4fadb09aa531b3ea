"""Inserts buffers into a netlist: each gets a net of its own, named after its module, and takes over some
readers.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ..kit.liberty import Library
from .document import joined
from .netlist import PORT, Instance, Netlist, Terminal, connected


class EditedNetlist:
    """A netlist that gets other cells and more nets; `owners`, a module for each new cell, goes on with what
    it is given.
    """

    def __init__(self, netlist: Netlist, library: Library, owners: dict[str, str]) -> None:
        self.netlist, self.library, self.owners = netlist, library, owners
        self.cells, self.nets = dict(netlist.cells), list(netlist.nets)
        self._taken = {*netlist.cells, *netlist.aliases}
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))

    def fresh(self, module: str, stem: str, suffix: str = "") -> str:
        """A numbered name in a module that nothing has; with a suffix it is free, too."""
        prefix = joined(module, stem)
        for number in self._numbers[prefix]:
            names = {f"{prefix}{number}", f"{prefix}{number}{suffix}"}
            if names.isdisjoint(self._taken):
                break
        self._taken |= names
        return min(names, key=len)

    def add_net(self, name: str) -> int:
        """Add a net."""
        self.nets.append(name)
        return len(self.nets) - 1

    def add_cell(self, name: str, kind: str, pins: dict[str, int], module: str) -> None:
        """Add a cell of a module."""
        self.cells[name] = Instance(name, kind, pins)
        self.owners[name] = module

    def hang(self, readers: Iterable[Terminal], net: int) -> None:
        """These readers, cells all of them, on a net."""
        for name, pin in readers:
            old = self.cells[name]
            self.cells[name] = Instance(name, old.kind, {**old.pins, pin: net})

    def connected(self) -> Netlist:
        """The netlist as it has become."""
        return connected(self.netlist, self.cells, self.nets, self.library)


class Buffers(EditedNetlist):
    """A netlist that gets buffers; `modules` has the modules of the cells that were there."""

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
        """Return the module of a net's driver; for a port's net, that of the first reader that is a cell."""
        terminals = (self.netlist.driver[net] or (PORT, ""), *readers)
        of = next((name for name, _ in terminals if name != PORT), PORT)
        return self.owners.get(of, self.modules.get(of, ""))

    def insert(self, kind: str, net: int, module: str) -> tuple[Terminal, int]:
        """A buffer of this kind on a net: its input, and the net behind it."""
        name = self.fresh(module, f"{self.stem}_", "_z")
        behind = self.add_net(f"{name}_z")
        cell = self.library.cells[kind]
        self.add_cell(name, kind, {cell.inputs[0]: net, cell.outputs[0]: behind}, module)
        return (name, cell.inputs[0]), behind
