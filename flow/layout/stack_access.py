"""Pin access through a stack of two vias, for cells whose pins lie two layers below the routing grid.

The upper via is on a node of the grid. The lower one may be offset, so that its lower metal lies within the
pin; if its upper metal does not touch that of the upper via, a rectangle of metal joins them. A pin with a
shape on the layer between is accessed there by the upper via alone.

An access is clean if its metal on the layer between stays within the grid area of its node, less half a
spacing: then no other access on the grid is too close. A pin without a clean access takes another one, and
the pins next to it lose those of their accesses that are too close to it.

If the layer between allows only straight wires, the lower via is offset along its track, and the metal is a
wire of the least area. Wires in a line may then need more than half a spacing at the edge of a cell: accesses
at the left edge have every second track, those at the right edge the others, so that neighbours never meet.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, product, zip_longest
from typing import Any, NamedTuple

from ..kit.lef import Box, Macro, MacroPin, Polygon, dbu
from .grid import Grid
from .routing import Rect

Via = tuple[str, int, int]  # a via, and its offset from the node


class Access(NamedTuple):
    """A node, from the corner of the upright cell, with vias, lowest first, and metal to join them."""

    x: int
    y: int
    vias: tuple[Via, ...]
    fill: Rect | None = None  # from the node

    def turned(self, orient: str) -> "Access":
        """The vias and the metal in this orientation; the node remains that of the upright cell."""
        mx, my = -1 if orient in ("S", "FN") else 1, -1 if orient in ("S", "FS") else 1
        vias = tuple((via, mx * dx, my * dy) for via, dx, dy in self.vias)
        if self.fill is None:
            return self._replace(vias=vias)
        x0, y0, x1, y1 = self.fill
        (x0, x1), (y0, y1) = sorted((mx * x0, mx * x1)), sorted((my * y0, my * y1))
        return self._replace(vias=vias, fill=(x0, y0, x1, y1))


class Candidate(NamedTuple):
    """An access, the metal that it has between, and how far it leaves its own cell of the grid."""

    access: Access
    metal: tuple[Rect, ...]
    beyond: int


Accesses = dict[str, list[Candidate]]  # by pin


def stack_access(macro: Macro, grid: Grid) -> dict[str, list[Access]]:
    """The accesses of each signal pin; any choice of one for each pin keeps all distances."""
    cell = _Cell(macro, grid)
    pins = [pin for pin in macro.pins.values() if pin.use not in ("power", "ground")]
    found = {pin.name: sorted(cell.candidates(pin), key=lambda item: item.beyond) for pin in pins}
    clean = {name: [item for item in items if item.beyond <= 0] for name, items in found.items()}
    bare = sorted((name for name in clean if not clean[name]), key=lambda name: len(found[name]))
    taken = _chosen(cell, found, clean, bare) or clean
    by_pin = [[(name, item) for item in items] for name, items in found.items()]
    # straight wires take turns, because each of them costs other pins some
    spare = chain.from_iterable(zip_longest(*by_pin) if cell.straight else by_pin)
    for name, item in filter(None, spare):
        if item not in taken[name] and not any(cell.conflicts(item, name, taken).values()):
            taken[name].append(item)
    return {name: [item.access for item in items] for name, items in taken.items()}


def _chosen(cell: "_Cell", found: Accesses, taken: Accesses, bare: list[str]) -> Accesses | None:
    """The accesses with one for each pin that has none, which costs the others as few as possible; None if
    some pin would have none.
    """
    if not all(items for name, items in taken.items() if name not in bare):
        return None
    if not bare:
        return taken
    name, *rest = bare
    options = [(item, cell.conflicts(item, name, taken)) for item in found[name]]
    for item, lost in sorted(options, key=lambda option: sum(map(len, option[1].values()))):
        left = {
            other: [own for own in items if own not in lost.get(other, ())] for other, items in taken.items()
        }
        if done := _chosen(cell, found, left | {name: [item]}, rest):
            return done
    return None


class _Cell:
    """The shapes of a cell, and the rules for the metal of accesses."""

    def __init__(self, macro: Macro, grid: Grid) -> None:
        import klayout.db as db

        self.macro, self.grid, self.lef, self.db = macro, grid, grid.lef, db
        self.width, self.height = dbu(macro.width), dbu(macro.height)
        upper = self.lef.vias[grid.routing.stacks[0][1]]
        self.low, self.cut = grid.routing.pin_layer, grid.routing.pin_cut
        self.middle = next(
            name for name in upper if name not in grid.layers and self.lef.layers[name].kind == "ROUTING"
        )
        self.space = dbu(self.lef.layers[self.middle].spacing)
        self.least = dbu(self.lef.layers[self.middle].width)
        self.step = dbu(self.lef.grid) or 1
        middle = self.lef.layers[self.middle]
        self.straight, self.rows = middle.straight, grid.pin_rows(self.height)
        self.ends = dbu(middle.ends_apart)
        self.corners = max(self.space, dbu(middle.corner_spacing))
        self.length = self.lef.least_length(middle)
        # of two nets on one column, the next node
        self.next_row = -(-grid.clear(0) // grid.dy) * grid.dy

    def candidates(self, pin: MacroPin) -> Iterator[Candidate]:
        """All accesses of a pin that keep their distance to the rest of the cell."""
        own = self._region(pin.shapes, self.middle)
        others = [shape for other in self.macro.pins.values() if other is not pin for shape in other.shapes]
        foreign = {
            name: self._region([*self.macro.obstructions, *others], name) for name in (self.middle, self.cut)
        }
        for x, y in product(range(self.grid.x0, self.width, self.grid.dx), self.rows):
            for lower, upper in self.grid.routing.stacks:
                pad = _moved(self.lef.vias[upper][self.middle], x, y)
                if not own.is_empty():
                    if self._free([pad], foreign[self.middle]) and self._joins(pad, own):
                        yield self._candidate(Access(x, y, ((upper, 0, 0),)), (pad,))
                    continue
                for dx, dy in self._asides(pin, lower, x, y):
                    if self.straight:
                        yield from self._wires(x, y, lower, upper, dx, dy, foreign)
                        continue
                    shapes = self.lef.vias[lower]
                    other = _moved(shapes[self.middle], x + dx, y + dy)
                    cut = _moved(shapes[self.cut], x + dx, y + dy)
                    fill: Rect | None = None
                    metal: tuple[Rect, ...] = (pad, other)
                    if not self._joined(pad, other):
                        fill = _around(
                            _moved(self.lef.vias[upper][self.middle], 0, 0), _shifted(other, -x, -y)
                        )
                        metal = (_around(pad, other),)
                    if self._free(metal, foreign[self.middle]) and self._apart(cut, foreign[self.cut]):
                        yield self._candidate(Access(x, y, ((lower, dx, dy), (upper, 0, 0)), fill), metal)

    def _wires(
        self, x: int, y: int, lower: str, upper: str, dx: int, dy: int, foreign: Mapping[str, Any]
    ) -> Iterator[Candidate]:
        """The accesses with a wire of the least area between two vias on a track, to either side."""
        shapes = self.lef.vias[lower]
        upper_pad = _moved(self.lef.vias[upper][self.middle], x, y)
        cut = _moved(shapes[self.cut], x + dx, y)
        if dy or not self._apart(cut, foreign[self.cut]):
            return
        left, bottom, right, top = _around(upper_pad, _moved(shapes[self.middle], x + dx, y))
        lost = max(0, self.length - (right - left))
        for before in dict.fromkeys((lost // 2 // self.step * self.step, 0, lost)):
            wire = left - before, bottom, right + lost - before, top
            if self._free([wire], foreign[self.middle]):
                access = Access(x, y, ((lower, dx, dy), (upper, 0, 0)), _shifted(wire, -x, -y))
                yield self._candidate(access, (wire,))

    def _asides(self, pin: MacroPin, lower: str, x: int, y: int) -> Iterator[tuple[int, int]]:
        """The shortest steps from a node by which the via's lower metal lies within each part of the pin."""
        # parts as narrow as the via are lines where it may stand: one unit wider they remain
        left, bottom, right, top = _moved(self.lef.vias[lower][self.low], 0, 0)
        half = max(-left, right), max(-bottom, top)
        room = self._region(pin.shapes, self.low).sized(1 - half[0], 1 - half[1], 2)
        for part in room.decompose_trapezoids_to_region().each():
            box = part.bbox().enlarged(-1, -1)
            dx = min(max(x, box.left), box.right) - x
            dy = min(max(y, box.bottom), box.top) - y
            # corners of parts that are not of the pin are not on its grid
            near = abs(dx) < self.grid.dx and abs(dy) < 2 * self.grid.dy
            if near and not (dx % self.step or dy % self.step):
                yield dx, dy

    def _candidate(self, access: Access, metal: tuple[Rect, ...]) -> Candidate:
        x, y = access.x, access.y
        wide = (self.grid.dx - self.space) // 2
        high = (self.next_row - self.space) // 2
        beyond = max(
            max(x - x0 - wide, x1 - x - wide, y - y0 - high, y1 - y - high) for x0, y0, x1, y1 in metal
        )
        return Candidate(access, metal, beyond)

    def conflicts(self, item: Candidate, name: str, taken: Accesses) -> dict[str, set[Candidate]]:
        """The accesses of other pins that are too near to one."""
        clear = self.grid.clear(0)

        def near(theirs: Candidate) -> bool:
            if any(self._near(a, b) for a, b in product(item.metal, theirs.metal)):
                return True
            return item.access.x == theirs.access.x and abs(item.access.y - theirs.access.y) < clear

        return {other: set(filter(near, items)) for other, items in taken.items() if other != name}

    def _near(self, a: Rect, b: Rect) -> bool:
        """Whether two rectangles are too near."""
        dx, dy = max(a[0] - b[2], b[0] - a[2]), max(a[1] - b[3], b[1] - a[3])
        if self.straight and min(dx, dy) < 0:  # in a line, or side by side
            return max(dx, dy) < (self.ends if dy < 0 else self.space)
        return _distance(a, b) < (self.corners if self.straight else self.space)

    def _joined(self, a: Rect, b: Rect) -> bool:
        """Whether two rectangles join without a neck."""
        shared = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        return min(shared) > 0 and max(shared) >= self.least

    def _free(self, metal: Iterable[Rect], foreign: Any) -> bool:
        """Whether metal keeps its distance to other metal of the cell, and half of it to the neighbours."""
        if self.straight:
            around = [_of(part.bbox()) for part in foreign.decompose_trapezoids_to_region().each()]
            return all(self._inside(rect) and not any(self._near(rect, b) for b in around) for rect in metal)
        half = self.space // 2
        return all(
            half <= rect[0] and rect[2] <= self.width - half and self._apart(rect, foreign, self.space)
            for rect in metal
        )

    def _inside(self, rect: Rect) -> bool:
        """Whether a wire on a track keeps its part of the distance to the wires of neighbouring cells: at the
        left edge of even tracks and at the right edge of odd ones the smaller part.
        """
        parts = -(-self.corners // 2), self.ends - self.corners // 2
        odd = self.rows.index((rect[1] + rect[3]) // 2) % 2
        return parts[odd] <= rect[0] and rect[2] <= self.width - parts[1 - odd]

    def _apart(self, rect: Rect, foreign: Any, space: int | None = None) -> bool:
        near = dbu(self.lef.layers[self.cut].spacing) if space is None else space
        return (self.db.Region(self.db.Box(*rect).enlarged(near - 1, near - 1)) & foreign).is_empty()

    def _joins(self, pad: Rect, own: Any) -> bool:
        """Whether a via's metal joins a pin on its layer without a neck or a notch."""
        region = self.db.Region(self.db.Box(*pad))
        parts = (region & own).each()
        wide = any(min(part.bbox().width(), part.bbox().height()) >= self.least for part in parts)
        return wide and (region + own).merged().notch_check(self.space).is_empty()

    def _region(self, shapes: Iterable[tuple[str, Polygon]], name: str) -> Any:
        polygons = [
            self.db.Polygon([self.db.Point(dbu(x), dbu(y)) for x, y in corners])
            for layer, corners in shapes
            if layer == name
        ]
        return self.db.Region(polygons).merged()


def _moved(box: Box, x: int, y: int) -> Rect:
    x0, y0, x1, y1 = map(dbu, box)
    return _shifted((x0, y0, x1, y1), x, y)


def _shifted(rect: Rect, x: int, y: int) -> Rect:
    return rect[0] + x, rect[1] + y, rect[2] + x, rect[3] + y


def _around(a: Rect, b: Rect) -> Rect:
    """The rectangle around two."""
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def _of(box: Any) -> Rect:
    return box.left, box.bottom, box.right, box.top


def _distance(a: Rect, b: Rect) -> float:
    """The distance of two rectangles."""
    dx = max(a[0] - b[2], b[0] - a[2], 0)
    dy = max(a[1] - b[3], b[1] - a[3], 0)
    return float(dx * dx + dy * dy) ** 0.5
