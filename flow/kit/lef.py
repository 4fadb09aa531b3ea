"""LEF: physical layers and cells.

`read_lef` reads LEF 5.8 (Cadence, LEF/DEF Language Reference) and keeps what the flow needs: routing layers
with their resistance and capacitance, sites, vias, outlines, pins and obstructions of the cells. It skips the
rules that only a checker needs, including those in properties (LEF58_...) and cut classes. Lengths are in um.
A file that cannot be read is rejected with the line and what was expected there.

KLayout's reader (klayout.db, LEFDEFReaderConfiguration) is not sufficient: it turns a LEF into shapes and
drops resistance and capacitance, pitch, offset and direction of layers, and direction and use of pins.
"""

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from ...fl.errors import BadInput
from ...fl.input_file import read_text
from .kit_file import Geometry, of_kit

DBU = 2000  # database units per um of the layouts of all kits; a grid of 5 nm is 10 units

Point = tuple[float, float]
Box = tuple[float, float, float, float]
Polygon = tuple[Point, ...]


def dbu(um: float) -> int:
    """A length in database units."""
    return round(um * DBU)


def middle(points: Iterable[Point]) -> Point:
    """The centre of the bounding box of points."""
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
    wide: tuple[
        tuple[float, float, float], ...
    ] = ()  # (width, run, spacing): from a width and a parallel run on
    end_spacing: float = 0.0  # between ends of wires in a line, if that is more (LEF58_SPACING)
    corner_spacing: float = 0.0  # between corners, likewise (LEF58_CORNERSPACING)
    straight: bool = False  # wires are rectangles on tracks (LEF58_RECTONLY)
    pitch: float = 0.0
    offset: float = 0.0  # of the first track
    edge_pitch: float = 0.0  # from a rail to the first track of a row, if it is another (LEF58_PITCH)
    thickness: float = 0.0
    res_ohm: float = 0.0  # per square; of a cut layer: per cut
    cap_area: float = 0.0  # pF/um^2, towards the substrate
    cap_edge: float = 0.0  # pF/um, of one edge
    area: float = 0.0  # um^2, minimum of a polygon
    cap_ff: float = 0.0  # fF/um of a wire, if the kit states it
    # antenna ratios by statement: pairs of a diffusion area and the limit from this area on
    antenna: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def ends_apart(self) -> float:
        """The spacing of two ends of wires on a track."""
        return max(self.spacing, self.end_spacing)

    def spacing_to(self, width: float, run: float) -> float:
        """The spacing to metal of this width that runs beside for at most this length."""
        found = (spacing for least, longer, spacing in self.wide if width >= least and run >= longer)
        return max([self.spacing, *found])


@dataclass(frozen=True)
class MacroPin:
    """A pin of a cell with its polygons."""

    name: str
    direction: str  # "INPUT", "OUTPUT", "INOUT"
    use: str  # "signal", "power", "ground", ...
    shapes: tuple[tuple[str, Polygon], ...]  # (layer, corners)
    gate_um2: float = 0.0  # for antennas
    diffusion_um2: float = 0.0

    @functools.cached_property
    def centre(self) -> Point:
        """The point at which estimates connect a wire to the pin: the centre of its bounding box."""
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
        """A point of the cell, relative to the lower left corner of the cell in this orientation."""
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
    grid: float = 0.0  # manufacturing grid in um; 0 if the LEF has none
    described: Geometry | None = None  # the kit's additions, see kit.Kit.geometry

    @property
    def kit(self) -> Geometry:
        """The kit's tables for layouts; BadInput if the LEF was read without its kit."""
        return of_kit(self.described, "the LEF")

    @property
    def routing(self) -> list[Layer]:
        """The routing layers."""
        return [layer for layer in self.layers.values() if layer.kind == "ROUTING"]

    @property
    def coarsest_pitch(self) -> float:
        """The widest pitch of the layers for signals, in um; the outermost track is nearer to the edge of a
        die.
        """
        return max(self.layers[name].pitch for name in self.kit.layers.signal)

    def tracks(self, layer: Layer) -> list[tuple[int, int]]:
        """The tracks of a layer in database units, as series of a first one and a pitch: one series, or, if
        the distance from the rails is another one, one for each track of a row of cells.
        """
        pitch, edge, height = map(dbu, (layer.pitch, layer.edge_pitch, self.row_height))
        if not edge:
            return [(dbu(layer.offset), pitch)]
        return [(first, height) for first in range(edge, height - edge + 1, pitch)]

    def least_length(self, layer: Layer) -> int:
        """The length of the shortest wire on a layer that has the minimum area, in database units, on the
        grid.
        """
        step = dbu(2 * self.grid) or 1
        return math.ceil(dbu(layer.area / layer.width) / step) * step if layer.area else 0

    def antenna_um(self, name: str, width: float, diffusion: float = 0.0) -> float:
        """The wire of a layer that charges a gate of 1 um^2 to the limit, with that diffusion on its net."""
        layer = self.layers[name]
        lengths = (
            float(np.interp(diffusion, limits[::2], limits[1::2]))
            / (2 * layer.thickness if "SIDE" in ratio else width)
            for ratio, limits in layer.antenna.items()
            if "DIFF" in ratio or not diffusion
        )
        return min(lengths, default=math.inf)

    @property
    def cuts(self) -> list[Layer]:
        """The cut layers."""
        return [layer for layer in self.layers.values() if layer.kind == "CUT"]

    def macro(self, name: str) -> Macro:
        """The cell with this name; BadInput if there is none."""
        if name not in self.macros:
            raise BadInput(f"the LEF has no cell {name}: map the netlist to the cells of this kit")
        return self.macros[name]


# the inner blocks of each kind of block, "" for the file; elsewhere the same words begin statements
OPENING = {
    "": {"LAYER", "MACRO", "SITE", "VIA", "VIARULE", "UNITS", "PROPERTYDEFINITIONS", "SPACING"}
    | {"NONDEFAULTRULE", "ARRAY", "BEGINEXT", "NOISETABLE", "CORRECTIONTABLE", "IRDROP"},
    "MACRO": {"PIN", "OBS", "DENSITY", "TIMING"},
    "PIN": {"PORT"},
    "NONDEFAULTRULE": {"LAYER", "VIA", "SPACING"},
}
NAMED = {"LAYER", "MACRO", "SITE", "VIA", "VIARULE", "NONDEFAULTRULE", "ARRAY", "PIN", "BEGINEXT"}
WITHOUT_NAME = {"PORT", "OBS", "DENSITY"}  # END closes these without a name
FLAGS = {"DEFAULT", "GENERATE", "TOPOFSTACKONLY"}  # after the name of a via or a rule
# a word of a quoted property and the number after it that the reader needs, by property and kind of layer
PROPERTIES = {
    ("LEF58_SPACING", "ROUTING"): ("ENDTOEND", "end_spacing"),
    ("LEF58_CORNERSPACING", "ROUTING"): (" SPACING", "corner_spacing"),
    ("LEF58_PITCH", "ROUTING"): ("FIRSTLASTPITCH", "edge_pitch"),
    ("LEF58_SPACINGTABLE", "CUT"): ("DEFAULT", "spacing"),
}
NUMBER = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?")
TOKEN = re.compile(r'#[^\n]*|"[^"]*"|[^\s"#]+|\n|(?P<open>")')
LAYER_FIELDS = {  # statements with one number: the index of its word, and the field
    "AREA": (1, "area"),
    "WIDTH": (1, "width"),
    "SPACING": (1, "spacing"),
    "THICKNESS": (1, "thickness"),
    "EDGECAPACITANCE": (1, "cap_edge"),
    "RESISTANCE": (-1, "res_ohm"),
    "CAPACITANCE": (-1, "cap_area"),
}


@dataclass
class _Statement:
    """The words of a statement, with its line number."""

    words: list[str]
    path: Path
    line: int

    def number(self, place: int) -> float:
        """A word as a number; BadInput if it is none."""
        try:
            return float(self.words[place])
        except (IndexError, ValueError):
            raise self.refused("a number" if place < 0 else f"a number as word {place + 1}") from None

    def refused(self, expected: str) -> BadInput:
        """The error for a statement that cannot be read."""
        text = " ".join(self.words)
        return BadInput(f"{self.path}, line {self.line}: expected {expected} in {text[:60]!r}")


@dataclass
class _Block:
    """A block of a LEF file: kind, name, statements, and inner blocks."""

    kind: str
    name: str
    line: int
    statements: list[_Statement] = field(default_factory=list)
    blocks: "list[_Block]" = field(default_factory=list)

    def of(self, kind: str) -> "Iterator[_Block]":
        """The inner blocks of this kind."""
        return (block for block in self.blocks if block.kind == kind)

    def statement(self, name: str) -> _Statement | None:
        """The first statement of this name."""
        return next((found for found in self.statements if found.words[0] == name), None)

    def value(self, name: str, default: str) -> str:
        """The word after the name of a statement."""
        found = self.statement(name)
        return default if found is None or len(found.words) < 2 else found.words[1]

    def size(self) -> Point:
        """Width and height."""
        found = self.statement("SIZE")
        return (0.0, 0.0) if found is None else (found.number(1), found.number(3))

    def shapes(self) -> Iterator[tuple[str, Polygon]]:
        """(layer, corners); the corners of a rectangle start at the lower left one."""
        layer = ""
        for statement in self.statements:
            kind, *words = statement.words
            if kind == "LAYER" and words:
                layer = words[0]
            elif kind in ("RECT", "POLYGON"):
                masked = 2 if words[:1] == ["MASK"] else 0
                values = [statement.number(place + 1) for place in range(masked, len(words))]
                if len(values) % 2 or len(values) < 4 or (kind == "RECT" and len(values) != 4):
                    raise statement.refused("pairs of numbers")
                corners = tuple(zip(values[::2], values[1::2], strict=True))
                if kind == "RECT":
                    (x0, y0), (x1, y1) = corners
                    corners = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
                yield layer, corners


def _tokens(path: Path, text: str) -> Iterator[tuple[str, int]]:
    """The words of a LEF file with their line numbers; a quoted text is one word."""
    line = 1
    for match in TOKEN.finditer(text):
        word = match[0]
        if match["open"]:
            raise BadInput(f"{path}, line {line}: expected the end of a text in quotes")
        if word == "\n":
            line += 1
        elif not word.startswith("#"):
            yield word, line
            line += word.count("\n")


def _read(path: Path, file: _Block) -> None:
    """Add the statements and blocks of a LEF file to `file`."""
    stack = [file]
    words: list[str] = []
    line = start = 0
    tokens = _tokens(path, read_text(path, "give a LEF file"))
    for token, line in tokens:
        block = stack[-1]
        word = token.upper()  # keywords are not case-sensitive
        if words:
            if word != ";":
                words.append(token)
                continue
            block.statements.append(_Statement(words, path, start))
            words = []
        elif word == "END" and len(stack) > 1:
            stack.pop()
            name = "" if block.kind in WITHOUT_NAME else next(tokens, ("the end of the file", 0))[0]
            if name != ("" if block.kind in WITHOUT_NAME else block.name):
                raise _unended(path, line, block, f"END {name}")
        elif word in ("END", "ENDEXT"):  # END LIBRARY
            if word == "END":
                next(tokens, None)
            else:
                stack.pop()
        elif word in OPENING.get(block.kind, ()):
            name = next(tokens, ("", 0))[0] if word in NAMED else word
            stack.append(_Block(word, name, line))
            block.blocks.append(stack[-1])
        elif word != ";" and not (word in FLAGS and not block.statements):
            words = [word]
            start = line
    if words:
        raise _Statement(words, path, start).refused("a semicolon at the end")
    if len(stack) > 1:
        raise _unended(path, line, stack[-1], "the end of the file")


def _unended(path: Path, line: int, block: _Block, found: str) -> BadInput:
    end = "END" if block.kind in WITHOUT_NAME else f"END {block.name}"
    opened = f"{block.kind} {block.name}" if block.kind in NAMED else block.kind
    return BadInput(
        f"{path}, line {line}: expected {end} for {opened} of line {block.line}, and not {found}; give the "
        "whole LEF"
    )


def _layer(block: _Block) -> Layer:
    direction = block.value("DIRECTION", "")
    kind = block.value("TYPE", "")
    straight = False
    numbers = {}
    antenna = {}
    wide = list[tuple[float, float, float]]()
    for statement in block.statements:
        match statement.words:
            case [name, *words] if name.startswith("ANTENNA") and name.endswith("RATIO"):
                limits = tuple(map(float, NUMBER.findall(" ".join(words))))
                antenna[name] = limits if len(limits) > 1 else (0.0, *limits)
            case ["OFFSET" | "PITCH" as name, *values]:  # of x, then of y if different
                numbers[name.lower()] = statement.number(-1 if direction == "HORIZONTAL" else 1)
                if not values:
                    raise statement.refused("a number")
            case ["SPACINGTABLE", "PARALLELRUNLENGTH", *words] if "WIDTH" in words:
                numbers["spacing"] = statement.number(words.index("WIDTH") + 4)
                starts = [at for at, word in enumerate(statement.words) if word == "WIDTH"]
                runs = [statement.number(at) for at in range(2, starts[0])]
                for start, end in pairwise([*starts, len(statement.words)]):
                    width, *spacings = map(statement.number, range(start + 1, end))
                    wide += [(width, *entry) for entry in zip(runs, spacings, strict=False)]
            case ["PROPERTY", "LEF58_RECTONLY", *_]:
                straight = True
            case ["PROPERTY", name, text, *_] if (name, kind) in PROPERTIES:
                word, attribute = PROPERTIES[name, kind]
                if found := re.search(rf"{word}\s+({NUMBER.pattern})", text):
                    numbers.setdefault(attribute, float(found[1]))
            case [name, *_] if name in LAYER_FIELDS:
                place, attribute = LAYER_FIELDS[name]
                # further spacings are for other widths and neighbours
                numbers.setdefault(attribute, statement.number(place))
    # the first track on a die that begins at 0
    if numbers.get("offset", 0) < 0 < numbers.get("pitch", 0):
        numbers["offset"] %= numbers["pitch"]
    # otherwise a wire on the first track would leave the die
    if numbers.get("offset", 1) < numbers.get("width", 0) / 2:
        numbers["offset"] += numbers.get("pitch", 0)
    return Layer(block.name, kind, direction, straight=straight, **numbers, antenna=antenna, wide=tuple(wide))


def _pin(block: _Block) -> MacroPin:
    shapes = tuple(shape for port in block.of("PORT") for shape in port.shapes())
    direction = block.value("DIRECTION", "INOUT")
    use = block.value("USE", "signal").lower()
    areas = (
        sum(found.number(1) for found in block.statements if found.words[0] == name)
        for name in ("ANTENNAGATEAREA", "ANTENNADIFFAREA")
    )
    return MacroPin(block.name, direction, use, shapes, *areas)


def _macro(block: _Block) -> Macro:
    pins = {pin.name: pin for pin in map(_pin, block.of("PIN"))}
    obstructions = tuple(shape for part in block.of("OBS") for shape in part.shapes())
    return Macro(block.name, *block.size(), pins, obstructions)


@functools.cache
def read_lef(*paths: Path) -> Lef:
    """The technology and cells of all these files."""
    file = _Block("", "", 0)
    for path in paths:
        _read(path, file)
    sites = {site.name: site.size() for site in file.of("SITE")}
    layers = {layer.name: layer for layer in map(_layer, file.of("LAYER"))}
    macros = {macro.name: macro for macro in map(_macro, file.of("MACRO"))}
    if not (macros and layers and sites):
        names = ", ".join(str(path) for path in paths)
        raise BadInput(f"{names}: no cells, layers or sites in it; give the LEF of technology and cells")
    vias = {
        via.name: {layer: (*corners[0], *corners[2]) for layer, corners in via.shapes()}
        for via in file.of("VIA")
    }
    # there may be several sites, such as one for double-height rows: take the one of most cells
    used = Counter(macro.value("SITE", "") for macro in file.of("MACRO"))
    site = max(sites, key=lambda name: used[name])
    grid = file.statement("MANUFACTURINGGRID")
    return Lef(layers, vias, macros, site, *sites[site], grid.number(1) if grid else 0.0)
