"""LEF: what layers and cells look like on silicon.

`read_lef` takes from LEF 5.6 (Cadence, LEF/DEF Language Reference) what the flow needs: routing layers with
their resistance and capacitance, sites, vias, outlines and pins of the cells. Lengths are um.

Own reader: KLayout's (klayout.db, LEFDEFReaderConfiguration) makes shapes of a LEF and keeps none of what the
flow asks for most: resistance and capacitance, pitch, offset and direction of layers, direction and use of
pins.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...fl.errors import BadInput
from .kit_file import KitFile, of_kit

DBU = 2000  # database units a um of the layouts that the flow makes, of any kit: a grid of 5 nm is 10 of them

Point = tuple[float, float]
Box = tuple[float, float, float, float]
Polygon = tuple[Point, ...]


def dbu(um: float) -> int:
    """A length in database units."""
    return round(um * DBU)


def middle(points: Iterable[Point]) -> Point:
    """The middle of what points span."""
    xs, ys = zip(*points, strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


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
        return middle(corner for _, corners in self.shapes for corner in corners)


@dataclass(frozen=True)
class Macro:
    """A cell: outline, pins and obstructions."""

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
    described: KitFile | None = None  # what the kit says beyond it, see kit.Kit.geometry

    @property
    def kit(self) -> KitFile:
        """The description of the kit; BadInput of a LEF that was read without it."""
        return of_kit(self.described, "the LEF")

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


@dataclass
class _Block:
    """A block of a LEF file: the words that open it, its statements, and the blocks inside."""

    words: list[str]
    statements: list[list[str]] = field(default_factory=list)
    blocks: list[_Block] = field(default_factory=list)

    def of(self, kind: str) -> Iterator[_Block]:
        """The blocks of this kind inside."""
        return (block for block in self.blocks if block.words[0] == kind)

    def value(self, name: str, default: str) -> str:
        """The word after the name of a statement."""
        return next((words[1] for words in self.statements if words[0] == name), default)

    def size(self) -> Point:
        """Width and height."""
        words = next((words for words in self.statements if words[0] == "SIZE"), ["", "0", "BY", "0"])
        return float(words[1]), float(words[3])

    def shapes(self) -> Iterator[tuple[str, Polygon]]:
        """(layer, corners); those of a rectangle from the lower left one on."""
        layer = ""
        for name, *words in self.statements:
            if name == "LAYER":
                layer = words[0]
            elif name in ("RECT", "POLYGON"):
                values = [float(word) for word in words]
                corners = tuple(zip(values[::2], values[1::2], strict=True))
                if name == "RECT":
                    (x0, y0), (x1, y1) = corners
                    corners = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
                yield layer, corners


def _read(path: Path, file: _Block) -> None:
    """Add the statements and blocks of a LEF file."""
    stack = [file]
    pending: list[str] = []
    for line in path.read_text().splitlines():
        words = line.partition("#")[0].split()
        if words and not pending and words[-1] != ";" and words[0] in OPENING:  # a block has no semicolon
            block = _Block(words)
            stack[-1].blocks.append(block)
            stack.append(block)
        elif words and not pending and words[0] == "END":
            if len(stack) > 1:  # else END LIBRARY
                _close(path, stack.pop(), words)
        else:
            pending += words
            if pending and pending[-1] == ";":
                stack[-1].statements.append(pending[:-1])
                pending = []
    if len(stack) > 1:
        _close(path, stack.pop(), [])


def _close(path: Path, block: _Block, words: list[str]) -> None:
    """Refuse these words unless they end the block."""
    kind, name = block.words[0], block.words[:2][-1]
    if words != (["END"] if kind in ("PORT", "OBS") else ["END", name]):
        said = " ".join(words) or "the end of the file"
        raise BadInput(f"{path}: {said} comes before the end of {' '.join(block.words)}; give the whole LEF")


def _layer(block: _Block) -> Layer:
    direction = block.value("DIRECTION", "")
    numbers = {}
    for words in block.statements:
        match words[0]:
            case "OFFSET":  # x, and if it differs y
                numbers["offset"] = float(words[-1 if direction == "HORIZONTAL" else 1])
            case "SPACINGTABLE":
                numbers["spacing"] = float(words[words.index("WIDTH") + 2])
            case number if number in LAYER_FIELDS:
                numbers[LAYER_FIELDS[number]] = float(words[-1])
    return Layer(block.words[-1], block.value("TYPE", ""), direction, **numbers)


def _pin(block: _Block) -> MacroPin:
    shapes = tuple(shape for port in block.of("PORT") for shape in port.shapes())
    direction, use = block.value("DIRECTION", "INOUT"), block.value("USE", "signal").lower()
    return MacroPin(block.words[-1], direction, use, shapes)


def _macro(block: _Block) -> Macro:
    pins = {pin.name: pin for pin in map(_pin, block.of("PIN"))}
    obstructions = tuple(shape for part in block.of("OBS") for shape in part.shapes())
    return Macro(block.words[-1], *block.size(), pins, obstructions)


@functools.cache
def read_lef(*paths: Path) -> Lef:
    """The technology and cells of these files together."""
    file = _Block([])
    for path in paths:
        _read(path, file)
    sites = [(site.words[-1], *site.size()) for site in file.of("SITE")]
    layers = {layer.name: layer for layer in map(_layer, file.of("LAYER"))}
    macros = {macro.name: macro for macro in map(_macro, file.of("MACRO"))}
    if not (macros and layers and sites):
        names = ", ".join(str(path) for path in paths)
        raise BadInput(f"{names}: no cells, layers or sites in it; give the LEF of technology and cells")
    vias = {
        via.words[1]: {layer: (*corners[0], *corners[2]) for layer, corners in via.shapes()}
        for via in file.of("VIA")
    }
    return Lef(layers, vias, macros, *sites[-1])
