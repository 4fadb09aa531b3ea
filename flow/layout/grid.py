"""The grid of the detailed router: tracks of all layers, and the minimum distances on them, from the LEF."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, product

from ..kit.lef import DBU, Box, Lef, dbu
from .placement import Placement
from .routing import Rect

MARGIN = 0.9  # of an antenna: the router counts neither metal for the least area nor how wide pads are
Node = tuple[int, int, int]  # layer (0 is the lowest), column, row


class Grid:
    """Columns and rows of tracks, those of all layers together, and which of them each layer has."""

    def __init__(self, placement: Placement, lef: Lef) -> None:
        self.routing, self.lef = lef.kit.routing, lef
        self.layers = [track.name for track in self.routing.layers]
        self.widths = {
            track.name: track.width_um or lef.layers[track.name].width for track in self.routing.layers
        }
        vertical, horizontal = (lef.layers[name] for name in self.layers[:2])
        self.x0, self.dx = dbu(vertical.offset), dbu(vertical.pitch)
        y0, dy = dbu(horizontal.offset), dbu(horizontal.pitch)
        width, height = (dbu(length) for length in placement.die_um)
        ways = ((self.x0, self.dx, width), (y0, dy, height))
        self.tracks = own = [
            self._tracks(*ways[index % 2], track.every) for index, track in enumerate(self.routing.layers)
        ]
        # rows on which pins are met: tracks of the grid, or of a layer below it
        pins = lef.layers[self.routing.pin_rows] if self.routing.pin_rows else horizontal
        self.dy = dbu(pins.pitch)
        self.series = lef.tracks(pins)
        rows = set[int]()
        for first, pitch in self.series if self.routing.pin_rows else ():
            rows |= self._tracks(first, pitch, height, 1)
        self.xs, self.ys = (sorted(more.union(*own[way::2])) for way, more in ((0, set[int]()), (1, rows)))
        # where those above and below have tracks
        self.stops = [
            set().union(*(own[other] for other in (index - 1, index + 1) if 0 <= other < len(own)))
            for index in range(len(own))
        ]
        self.stops[0] |= rows
        self.blocked: set[Node] = set()

    def block(self, obstacles: Iterable[tuple[str, Rect]]) -> None:
        """Take the nodes off the grid on which a wire or via would be too near to metal that is there."""
        for name, (left, bottom, right, top) in obstacles:
            if name not in self.layers:
                continue
            index = self.layers.index(name)
            sides = (right - left) / DBU, (top - bottom) / DBU
            space = dbu(self.lef.layers[name].spacing_to(min(sides), sides[1 - index % 2]))
            far = [dbu(self.reach(index, axis)) + space for axis in (0, 1)]
            far[1 - index % 2] += max(0, dbu(self.lef.layers[name].end_spacing) - space)
            columns = range(bisect_right(self.xs, left - far[0]), bisect_left(self.xs, right + far[0]))
            rows = range(bisect_right(self.ys, bottom - far[1]), bisect_left(self.ys, top + far[1]))
            self.blocked |= {(index, column, row) for column in columns for row in rows}

    @staticmethod
    def _tracks(first: int, pitch: int, length: int, every: float) -> set[int]:
        """Their places up to as far from the other end of the die as the first is from this one."""
        count = int((length - 2 * first) / (pitch * every)) + 1
        return {first + round(pitch * every * number) for number in range(count)}

    def pin_rows(self, height: int) -> list[int]:
        """The rows of nodes in a cell of this height that is placed on a row of cells."""
        return sorted(y for first, pitch in self.series for y in range(first, height, pitch))

    def at(self, column: int, row: int) -> tuple[int, int]:
        """Database units of a crossing."""
        return self.xs[column], self.ys[row]

    def nearest(self, x: float, y: float) -> tuple[int, int]:
        """The crossing at (or nearest to) a place."""
        return _nearest(self.xs, x), _nearest(self.ys, y)

    def clear(self, index: int) -> int:
        """How far along a track of a layer two nets must be: for their ends of wires, pads and cuts (dbu)."""
        layer = self.lef.layers[self.layers[index]]
        return max([self.pad(index) + dbu(layer.ends_apart), *map(self._cut, self._vias(index))])

    def reach(self, index: int, axis: int) -> float:
        """How far metal on a node of a layer goes from it, in um."""
        name = self.layers[index]
        pads = [via[name] for via in self._vias(index) if name in via]
        return max([self.widths[name] / 2, *(pad[axis + 2] for pad in pads)])

    def pad(self, index: int) -> int:
        """The length of metal along a track where only a via is (dbu)."""
        return dbu(2 * self.reach(index, 1 - index % 2))

    def alone(self, index: int) -> int:
        """How far two nets must be along a track where vias in a stack need more metal for the least area
        (dbu); 0 where they do not. Half of that metal may lie on the other side, if there is room.
        """
        name = self.layers[index]
        if not all(self.small(name, via[name]) for via in self._vias(index) if name in via):
            return 0
        return (self.least_length(name) + self.pad(index)) // 2 + dbu(self.lef.layers[name].ends_apart)

    def bears(self, index: int) -> int:
        """The wire of a layer that a gate of 1 um^2 without diffusion bears (dbu); 0 without a limit."""
        name = self.layers[index]
        length = self.lef.antenna_um(name, self.widths[name])
        return dbu(MARGIN * length) if length < math.inf else 0

    def cumulative(self, index: int) -> bool:
        """Whether the antenna limit of a layer includes the wires of lower layers."""
        return any("CUM" in ratio for ratio in self.lef.layers[self.layers[index]].antenna)

    def asides(self) -> list[tuple[int, int]]:
        """The allowed offsets of a pin's via from its node, shortest first: two neighbours may both use them,
        and the via's metal still touches the metal on the node.
        """
        via = self.lef.vias[self.routing.stacks[0][0]]
        name = self.layers[0]
        step = dbu(self.lef.grid) or 1
        layer = self.lef.layers[name]
        pad = dbu(2 * self.reach(0, 0))
        across = max(0, self.dx - max(pad + dbu(layer.spacing), self._cut(via))) // 2 // step * step
        along = max(0, dbu(via[name][3] - via[name][1] - layer.width) // 2 // step * step)
        steps = product(range(-across, across + 1, step), range(-along, along + 1, step))
        return sorted(steps, key=lambda way: abs(way[0]) + abs(way[1]))

    def small(self, name: str, pad: Box) -> bool:
        """Whether a via's metal has less than the least area of its layer."""
        return (pad[2] - pad[0]) * (pad[3] - pad[1]) < self.lef.layers[name].area

    def least_length(self, name: str) -> int:
        """The length of a wire that has the least area of its layer, in database units."""
        return self.lef.least_length(replace(self.lef.layers[name], width=self.widths[name]))

    def _vias(self, index: int) -> list[dict[str, Box]]:
        """The vias that may be used on a layer."""
        tracks = self.routing.layers
        below = chain(*self.routing.stacks) if index == 0 else (tracks[index - 1].via,)
        return [self.lef.vias[name] for name in (*below, tracks[index].via) if name]

    def apart(self, index: int) -> int:
        """How far two vias of one net from a layer to the next must be, if they are in a line (dbu)."""
        return self._cut(self.lef.vias[self.routing.layers[index].via])

    def _cut(self, via: dict[str, Box]) -> int:
        name = next(name for name in via if self.lef.layers[name].kind == "CUT")
        return dbu(via[name][2] - via[name][0] + self.lef.layers[name].spacing)


def _nearest(places: list[int], wanted: float) -> int:
    after = bisect_left(places, wanted)
    around = [index for index in (after - 1, after) if 0 <= index < len(places)]
    return min(around, key=lambda index: abs(places[index] - wanted))
