"""LEF: what layers and cells look like on silicon.

`read_lef` takes from LEF 5.6 (Cadence, LEF/DEF Language Reference) what the flow needs: routing layers with
their resistance and capacitance, sites, vias, outlines and pins of the cells. Lengths are um.

Own reader: KLayout's (klayout.db, LEFDEFReaderConfiguration) makes shapes of a LEF and keeps none of what the
flow asks for most: resistance and capacitance, pitch, offset and direction of layers, direction and use of
pins.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput
from .kit_file import Rules

DBU = 2000  # database units a um of the layouts that the flow makes, of any kit: a grid of 5 nm is 10 of them

Point = tuple[float, float]
Box = tuple[float, float, float, float]
Polygon = tuple[Point, ...]


def dbu(um: float) -> int:
    """A length in database units."""
    return round(um * DBU)


@dataclass(frozen=True)
class Layer:
    """A layer of the interconnect."""

    name: str
    kind: str  # "ROUTING", "CUT", "MASTERSLICE", "OVERLAP"
    direction: str = ""  # "HORIZONTAL" or "VERTICAL"
    width: float = 0.0
    spacing: float = 0.0  # between parallel wires of this width
    pitch: float = 0.0
    offset: float = 0.0  # of the first track
    thickness: float = 0.0
    res_ohm: float = 0.0  # of a square; of a cut layer: of a cut
    cap_area: float = 0.0  # pF/um^2, towards the substrate
    cap_edge: float = 0.0  # pF/um, of one edge


@dataclass(frozen=True)
class MacroPin:
    """A pin of a cell and the polygons that it is."""

    name: str
    direction: str  # "INPUT", "OUTPUT", "INOUT"
    use: str  # "signal", "power", "ground", ...
    shapes: tuple[tuple[str, Polygon], ...]  # (layer, corners)

    @functools.cached_property
    def centre(self) -> Point:
        """Where an estimate lets a wire meet the pin: the middle of what its polygons span."""
        xs = [x for _, corners in self.shapes for x, _ in corners]
        ys = [y for _, corners in self.shapes for _, y in corners]
        return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


@dataclass(frozen=True)
class Macro:
    """A cell: outline, pins, and what stands in the way of wires."""

    name: str
    width: float
    height: float
    pins: dict[str, MacroPin]
    obstructions: tuple[tuple[str, Polygon], ...]

    def placed(self, orient: str, x: float, y: float) -> Point:
        """A point of the upright cell, from the lower left corner of the cell as it stands."""
        return self.width - x if orient in ("S", "FN") else x, self.height - y if orient in ("S", "FS") else y


@dataclass(frozen=True)
class Lef:
    """A technology and its cells; layers lowest first."""

    layers: dict[str, Layer]
    vias: dict[str, dict[str, Box]]  # by layer, around the origin
    macros: dict[str, Macro]
    site: str
    site_width: float
    row_height: float
    rules: Rules | None = None  # what the kit says beyond it, see kit.Kit.geometry

    @property
    def kit(self) -> Rules:
        """The kit's rules; BadInput of a LEF that was read without its kit."""
        if self.rules is None:
            raise BadInput(
                "the LEF was read without its kit, which names layers by role: take kit.find().geometry"
            )
        return self.rules

    @property
    def routing(self) -> list[Layer]:
        """The layers of wires."""
        return [layer for layer in self.layers.values() if layer.kind == "ROUTING"]

    @property
    def coarsest_pitch(self) -> float:
        """The widest distance between tracks for signals, in um; the outermost track is nearer to the edge of
        a die.
        """
        return max(self.layers[name].pitch for name in self.kit.layers.signal)

    @property
    def cuts(self) -> list[Layer]:
        """The layers between them."""
        return [layer for layer in self.layers.values() if layer.kind == "CUT"]

    def macro(self, name: str) -> Macro:
        """The cell of this name; BadInput if the library has none."""
        if name not in self.macros:
            raise BadInput(f"the LEF has no cell {name}: map the netlist to the cells of this kit")
        return self.macros[name]


OPENING = {"LAYER", "MACRO", "PIN", "SITE", "VIA", "VIARULE", "PORT", "OBS", "UNITS"}
LAYER_FIELDS = {  # of one number; the number is the last word
    "WIDTH": "width",
    "SPACING": "spacing",
    "PITCH": "pitch",
    "THICKNESS": "thickness",
    "EDGECAPACITANCE": "cap_edge",
    "RESISTANCE": "res_ohm",
    "CAPACITANCE": "cap_area",
}


def _statements(path: Path) -> Iterator[tuple[list[str], bool]]:
    """The statements of a LEF file, and whether each opens a block (no semicolon)."""
    pending: list[str] = []
    for line in path.read_text().splitlines():
        words = line.partition("#")[0].split()
        if words and not pending and words[-1] != ";" and (words[0] in OPENING or words[0] == "END"):
            yield words, words[0] != "END"
        else:
            pending += words
            if pending and pending[-1] == ";":
                yield pending[:-1], False
                pending = []


class _Reader:
    """LEF files on their way to a Lef: statements come to the method of the block that they stand in."""

    def __init__(self) -> None:
        self.layers: dict[str, Layer] = {}
        self.vias: dict[str, dict[str, Box]] = {}
        self.macros: dict[str, Macro] = {}
        self.site = ("", 0.0, 0.0)
        self.stack: list[list[str]] = []  # the words that opened the blocks around
        self.on = ""  # the layer of shapes to come
        self._open_layer()
        self._open_macro()
        self._open_pin()

    def read(self, path: Path) -> None:
        """One file more."""
        for words, opens in _statements(path):
            if opens:
                self.stack.append(words)
                self._open(words)
            elif words[0] == "END":
                if self.stack:  # else END LIBRARY
                    self._close(self.stack.pop())
            elif self.stack and self.stack[-1][0] == "LAYER":
                self._of_layer(words)
            elif words[0] in ("RECT", "POLYGON"):
                self._shape(words)
            else:
                self._of_others(words)

    def _open(self, words: list[str]) -> None:
        match words[0]:
            case "LAYER":
                self._open_layer()
            case "MACRO":
                self._open_macro()
            case "PIN":
                self._open_pin()
            case "VIA":
                self.vias[words[1]] = {}

    def _open_layer(self) -> None:
        self.kind, self.figures = "", dict[str, Any]()

    def _open_macro(self) -> None:
        self.size: Point = (0.0, 0.0)
        self.pins: dict[str, MacroPin] = {}
        self.obstructions: list[tuple[str, Polygon]] = []

    def _open_pin(self) -> None:
        self.direction, self.use = "INOUT", "signal"
        self.shapes: list[tuple[str, Polygon]] = []

    def _close(self, opened: list[str]) -> None:
        name = opened[-1]
        match opened[0]:
            case "LAYER":
                self.layers[name] = Layer(name, self.kind, **self.figures)
            case "PIN":
                self.pins[name] = MacroPin(name, self.direction, self.use, tuple(self.shapes))
            case "MACRO":
                self.macros[name] = Macro(name, *self.size, self.pins, tuple(self.obstructions))
            case "SITE":
                self.site = (name, *self.size)

    def _of_layer(self, words: list[str]) -> None:
        match words[0]:
            case "TYPE":
                self.kind = words[1]
            case "DIRECTION":
                self.figures["direction"] = words[1]
            case "OFFSET":  # x, and if it differs y
                across = self.figures.get("direction") == "HORIZONTAL"
                self.figures["offset"] = float(words[-1 if across else 1])
            case "SPACINGTABLE":
                self.figures["spacing"] = float(words[words.index("WIDTH") + 2])
            case number if number in LAYER_FIELDS:
                self.figures[LAYER_FIELDS[number]] = float(words[-1])

    def _of_others(self, words: list[str]) -> None:
        match words[0]:
            case "SIZE":
                self.size = (float(words[1]), float(words[3]))
            case "DIRECTION":
                self.direction = words[1]
            case "USE":
                self.use = words[1].lower()
            case "LAYER":
                self.on = words[1]

    def _shape(self, words: list[str]) -> None:
        block, *names = self.stack[-1]
        values = [float(word) for word in words[1:]]
        if block == "VIA":
            self.vias[names[0]][self.on] = (values[0], values[1], values[2], values[3])
            return
        corners = tuple(zip(values[::2], values[1::2], strict=True))
        if words[0] == "RECT":
            (x0, y0), (x1, y1) = corners
            corners = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
        (self.obstructions if block == "OBS" else self.shapes).append((self.on, corners))


@functools.cache
def read_lef(*paths: Path) -> Lef:
    """The technology and cells of these files together."""
    reader = _Reader()
    for path in paths:
        reader.read(path)
    if not (reader.macros and reader.layers and reader.site[0]):
        names = ", ".join(str(path) for path in paths)
        raise BadInput(f"{names}: no cells, layers or sites in it; give the LEF of technology and cells")
    return Lef(reader.layers, reader.vias, reader.macros, *reader.site)
