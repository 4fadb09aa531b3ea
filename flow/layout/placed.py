"""A placed netlist in memory, with its kit and its rows, into which cells can be inserted: each goes to the
requested position, and its neighbours shift along the row.

The clock tree, sizing and buffering add or enlarge cells after placement. Rows of an analytical placement
have free sites everywhere, but seldom enough in one gap. A new cell therefore goes to the nearby row in which
it and the cells that it pushes aside move least in total.
"""

import functools
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import msgspec

from ...fl.errors import BadInput
from .. import product
from ..kit.kit import Kit
from ..kit.lef import Box, Lef, Point, dbu
from ..kit.liberty import Cell, Library
from ..netlist.netlist import PORT, Netlist, Terminal, read
from .placement import Place, Placement


class Rows:
    """The rows of a placement, in sites."""

    def __init__(self, placement: Placement, lef: Lef) -> None:
        self.placement, self.lef = placement, lef
        self.low = placement.rows[0].y_um
        self.names: list[list[str]] = [[] for _ in placement.rows]  # left to right
        self.starts: list[list[int]] = [[] for _ in placement.rows]
        self.free = [row.sites for row in placement.rows]
        self.row_of: dict[str, int] = {}
        self.width: dict[str, int] = {}
        self.sums: dict[int, list[int]] = {}  # prefix sums of widths by row, dropped when the row changes
        for name, place in sorted(placement.instances.items(), key=lambda item: item[1].x_um):
            row = round((place.y_um - self.low) / lef.row_height)
            self.names[row].append(name)
            self.starts[row].append(round((place.x_um - placement.rows[row].x_um) / lef.site_width))
            self._takes(name, place.kind, row)

    def _sites(self, kind: str) -> int:
        return round(self.lef.macro(kind).width / self.lef.site_width)

    def _takes(self, name: str, kind: str, row: int) -> None:
        self.row_of[name], self.width[name] = row, self._sites(kind)
        self.free[row] -= self.width[name]
        self.sums.pop(row, None)

    def remove(self, name: str) -> None:
        """Give a cell's sites back."""
        row = self.row_of.pop(name)
        place = self.names[row].index(name)
        del self.names[row][place], self.starts[row][place]
        self.free[row] += self.width.pop(name)
        self.sums.pop(row, None)
        del self.placement.instances[name]

    def resize(self, name: str, kind: str) -> None:
        """Make a cell one of another kind, about where it is."""
        instance = self.placement.instances[name]
        if self._sites(kind) == self.width[name]:
            self.placement.instances[name] = msgspec.structs.replace(instance, kind=kind)
            return
        middle = instance.x_um + self.lef.macro(instance.kind).width / 2
        self.remove(name)
        self.insert(name, kind, middle, instance.y_um + self.lef.row_height / 2)

    def insert(self, name: str, kind: str, x_um: float, y_um: float, only: int | None = None) -> None:
        """Place a new cell with its middle near to a point; only: the one row that it may be in."""
        lef, rows = self.lef, self.placement.rows
        width = self._sites(kind)
        wanted = (y_um - self.low) / lef.row_height - 0.5
        best: tuple[float, int, int, int, list[tuple[int, int, int]]] | None = None
        for row in _outward(wanted, len(rows)):
            away = abs(row - wanted) * lef.row_height
            if best is not None and away >= best[0]:
                break
            if self.free[row] < width or only not in (None, row):
                continue
            at = (x_um - rows[row].x_um) / lef.site_width - width / 2
            place, start = self._room(row, width, at)
            pushed = self._pushed(row, place, start, width)
            moved = abs(start - at) + sum(abs(new - old) for _, old, new in pushed)
            cost = away + moved * lef.site_width
            if best is None or cost < best[0]:
                best = cost, row, place, start, pushed
        if best is None:
            raise BadInput(
                f"no row has room for {name}, a {kind}: place with a lower density than "
                f"{self.placement.density:g}"
            )
        _, row, place, start, pushed = best
        instances = self.placement.instances
        for index, _, new in pushed:
            self.starts[row][index] = new
            other = self.names[row][index]
            instances[other] = msgspec.structs.replace(instances[other], x_um=self._x(row, new))
        self.names[row].insert(place, name)
        self.starts[row].insert(place, start)
        self._takes(name, kind, row)
        instances[name] = Place(kind, self._x(row, start), rows[row].y_um, rows[row].orient)

    def _room(self, row: int, width: int, at: float) -> tuple[int, int]:
        """The place in the row's order and the start of a cell wanted at a site."""
        names, starts = self.names[row], self.starts[row]
        place = bisect_left(starts, at + width / 2)
        # a cell whose middle is right of the new one's stays on its right
        if place and starts[place - 1] + self.width[names[place - 1]] / 2 > at + width / 2:
            place -= 1
        sums = self.sums.get(row)
        if sums is None:
            sums = self.sums[row] = list(accumulate((self.width[name] for name in names), initial=0))
        most = self.placement.rows[row].sites - (sums[-1] - sums[place]) - width
        return place, min(max(math.floor(at + 0.5), sums[place]), most)

    def _pushed(self, row: int, place: int, start: int, width: int) -> list[tuple[int, int, int]]:
        """(place, old start, new start) of those that make way."""
        names, starts = self.names[row], self.starts[row]
        moved = []
        free = start + width
        for index in range(place, len(names)):
            if starts[index] >= free:
                break
            moved.append((index, starts[index], free))
            free += self.width[names[index]]
        free = start
        for index in reversed(range(place)):
            if starts[index] + self.width[names[index]] <= free:
                break
            free -= self.width[names[index]]
            moved.append((index, starts[index], free))
        return moved

    def _x(self, row: int, start: int) -> float:
        return round(self.placement.rows[row].x_um + start * self.lef.site_width, 4)


def _outward(middle: float, count: int) -> Iterator[int]:
    """The numbers below `count`, the nearest to `middle` first."""
    low = min(max(math.floor(middle), -1), count - 1)
    high = low + 1
    while low >= 0 or high < count:
        if high == count or (low >= 0 and middle - low <= high - middle):
            yield low
            low -= 1
        else:
            yield high
            high += 1


@dataclass
class Placed:
    """The subject of every step from placement on; clock tree, sizing and hold change it in place."""

    netlist: Netlist
    placement: Placement
    library: Library
    lef: Lef

    @classmethod
    def read(cls, files: Mapping[str, Path], kit: Kit) -> "Placed":
        """Read the outputs of the step place, among files by name."""
        netlist = read(files["netlist_placed.json"], kit.library)
        placement = product.read(files[Placement.FILE], Placement)
        return cls(netlist, placement, kit.library, kit.geometry)

    @functools.cached_property
    def rows(self) -> Rows:
        """The rows of the placement, where cells can be added."""
        return Rows(self.placement, self.lef)

    @property
    def area_um2(self) -> float:
        """The area of all cells."""
        places = self.placement.instances.values()
        return sum(self.lef.macro(place.kind).width for place in places) * self.lef.row_height

    def spans(self) -> dict[int, list[tuple[int, int, str]]]:
        """By the lower edge of each row that has cells: their left and right ends, and names; in dbu."""
        found = defaultdict(list)
        for name, place in (self.placement.instances | self.placement.taps).items():
            left = dbu(place.x_um)
            right = dbu(place.x_um + self.lef.macro(place.kind).width)
            found[dbu(place.y_um)].append((left, right, name))
        return found

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
