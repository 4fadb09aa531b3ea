"""A placed netlist in memory: the netlist, where its cells lie, and the kit that both are made of."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..kit.lef import Box, Lef, Point
from ..kit.liberty import Cell, Library
from ..netlist.netlist import PORT, Netlist, Terminal
from .placement import Placement
from .row_legalizer import Rows


@dataclass
class Placed:
    """The subject of every step from placement on; clock tree, sizing and hold change it in place."""

    netlist: Netlist
    placement: Placement
    library: Library
    lef: Lef

    @functools.cached_property
    def rows(self) -> Rows:
        """The rows of the placement, where cells can be added."""
        return Rows(self.placement, self.lef)

    @property
    def area_um2(self) -> float:
        """The area of all cells."""
        places = self.placement.instances.values()
        return sum(self.lef.macro(place.kind).width for place in places) * self.lef.row_height

    def cell(self, name: str) -> Cell:
        """The library's description of an instance."""
        return self.library.cells[self.netlist.cells[name].kind]

    def box(self, name: str) -> Box:
        """The outline of an instance in um."""
        place = self.placement.instances[name]
        right = place.x_um + self.lef.macro(place.kind).width
        return place.x_um, place.y_um, right, place.y_um + self.lef.row_height

    def position(self, terminal: Terminal) -> Point:
        """The place of a pin of a cell, or of a port, in um."""
        owner, pin = terminal
        if owner == PORT:
            port = self.placement.pins[pin]
            return port.x_um, port.y_um
        place = self.placement.instances[owner]
        macro = self.lef.macro(place.kind)
        x, y = macro.placed(place.orient, *macro.pins[pin].centre)
        return place.x_um + x, place.y_um + y

    def pin_cap(self, terminal: Terminal) -> float:
        """The capacitance of a pin in fF; a port has none of its own."""
        owner, pin = terminal
        return 0.0 if owner == PORT else self.cell(owner).pins[pin].cap_ff
