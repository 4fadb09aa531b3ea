"""DEF: a placed and, where there are wires, routed layout as a file; lengths are database units.

`Def` is the layout; `write_def` and `read_def` are its file (DEF 5.6; Cadence, LEF/DEF Language Reference).
DEF gives brackets, slashes and backslashes a meaning in names. Ours is written with `<>` as bus characters,
so that the brackets of a netlist's names are plain characters, and what remains is escaped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from ...fl.errors import BadInput
from ..files import replace_text
from .lef import DBU


@dataclass
class Component:
    """A placed cell; x, y is the lower left corner of its outline, whatever its orientation."""

    name: str
    macro: str
    x: int
    y: int
    # DEF's: "N" as drawn, "FS" upside down, "S" turned by 180 degrees, "FN" mirrored left to right
    orient: str


@dataclass
class Pin:
    """A port of the design at the edge of the die; `box` is around x, y."""

    name: str
    net: str
    direction: str  # "INPUT", "OUTPUT", "INOUT"
    layer: str
    x: int
    y: int
    box: tuple[int, int, int, int]
    use: str = "SIGNAL"


@dataclass
class Wire:
    """A straight piece of a net on a layer, or with `via` the via at its first end."""

    layer: str
    x0: int
    y0: int
    x1: int
    y1: int
    via: str = ""
    width: int = 0  # of a special net's wire; 0 is the layer's own


@dataclass
class Net:
    """The terminals of a net, (component, pin) or ("PIN", port), and its wires."""

    pins: list[tuple[str, str]]
    wires: list[Wire] = field(default_factory=list)


@dataclass
class Row:
    """A row of sites."""

    name: str
    site: str
    x: int
    y: int
    orient: str
    sites: int
    step: int


@dataclass
class Def:
    """A layout."""

    design: str
    die: tuple[int, int, int, int]
    rows: list[Row] = field(default_factory=list)
    # axis, layer, start, number, step
    tracks: list[tuple[str, str, int, int, int]] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    pins: list[Pin] = field(default_factory=list)
    nets: dict[str, Net] = field(default_factory=dict)
    special: dict[str, Net] = field(default_factory=dict)  # power and ground


def _escaped(name: str) -> str:
    return re.sub(r"([<>/\\])", r"\\\1", name)


def _plain(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _wiring(net: Net, special: bool) -> str:
    lines = []
    for wire in net.wires:
        head = f"{wire.layer} {wire.width} + SHAPE FOLLOWPIN" if special else wire.layer
        to = wire.via if wire.via else f"( {wire.x1} {wire.y1} )"
        lines.append(f"{head} ( {wire.x0} {wire.y0} ) {to}")
    return "\n  + ROUTED " + "\n    NEW ".join(lines) if lines else ""


def write_def(path: Path, layout: Def) -> None:
    """The layout as DEF 5.6."""
    replace_text(path, "\n".join(_lines(layout)) + "\n")


def _lines(layout: Def) -> Iterator[str]:
    yield "VERSION 5.6 ;"
    yield 'DIVIDERCHAR "/" ;'
    yield 'BUSBITCHARS "<>" ;'
    yield f"DESIGN {_escaped(layout.design)} ;"
    yield f"UNITS DISTANCE MICRONS {DBU} ;"
    yield "DIEAREA ( {} {} ) ( {} {} ) ;".format(*layout.die)
    for row in layout.rows:
        at = f"{row.x} {row.y} {row.orient}"
        yield f"ROW {row.name} {row.site} {at} DO {row.sites} BY 1 STEP {row.step} 0 ;"
    for axis, layer, start, number, step in layout.tracks:
        yield f"TRACKS {axis} {start} DO {number} STEP {step} LAYER {layer} ;"
    yield f"COMPONENTS {len(layout.components)} ;"
    for cell in layout.components:
        yield f"- {_escaped(cell.name)} {cell.macro} + PLACED ( {cell.x} {cell.y} ) {cell.orient} ;"
    yield "END COMPONENTS"
    yield f"PINS {len(layout.pins)} ;"
    for pin in layout.pins:
        box = "( {} {} ) ( {} {} )".format(*pin.box)
        yield (
            f"- {_escaped(pin.name)} + NET {_escaped(pin.net)} + DIRECTION {pin.direction} + USE {pin.use}"
            f" + LAYER {pin.layer} {box} + PLACED ( {pin.x} {pin.y} ) N ;"
        )
    yield "END PINS"
    for head, nets in (("SPECIALNETS", layout.special), ("NETS", layout.nets)):
        yield f"{head} {len(nets)} ;"
        for name, net in nets.items():
            pins = "".join(f" ( {_escaped(owner)} {_escaped(pin)} )" for owner, pin in net.pins)
            yield f"- {_escaped(name)}{pins}{_wiring(net, nets is layout.special)} ;"
        yield f"END {head}"
    yield "END DESIGN"


def _groups(text: str) -> list[list[str]]:
    """The words inside each pair of parentheses."""
    return [group.split() for group in re.findall(r"(?<!\S)\(\s(.*?)(?<=\s)\)(?!\S)", text, re.DOTALL)]


def _points(text: str) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for x, y in _groups(text)]


def _read_wires(text: str) -> Iterator[Wire]:
    for piece in re.split(r"(?:^|\s)(?:ROUTED|FIXED|NEW)\s", text)[1:]:
        words = piece.split()
        width = int(words[1]) if words[1].isdigit() else 0
        (x, y), *ends = _groups(piece)
        x0, y0 = int(x), int(y)
        if words[-1] != ")":
            yield Wire(words[0], x0, y0, x0, y0, words[-1], width)
            continue
        for x, y in ends:
            x1, y1 = x0 if x == "*" else int(x), y0 if y == "*" else int(y)
            yield Wire(words[0], x0, y0, x1, y1, "", width)
            x0, y0 = x1, y1


def read_def(path: Path) -> Def:
    """The layout in a DEF file: of the language, what `write_def` writes."""
    layout = Def("", (0, 0, 0, 0))
    section = ""
    text = path.read_text()
    if not text.rstrip().endswith("END DESIGN"):
        raise BadInput(f"{path} is cut off: it lacks its END DESIGN; write the layout again")
    for statement in re.split(r"\s;\s", text):
        words = statement.split()
        while words[:1] == ["END"]:
            section, words = "", words[2:]
        if not words:
            continue
        if words[0] in ("COMPONENTS", "PINS", "NETS", "SPECIALNETS"):
            section = words[0]
            continue
        match section or words[0]:
            case "COMPONENTS":
                at = _points(statement)[0]
                layout.components.append(Component(_plain(words[1]), words[2], *at, words[-1]))
            case "PINS":
                after = dict(pairwise(words))
                low, high, at = _points(statement)
                net, direction, layer = _plain(after["NET"]), after["DIRECTION"], after["LAYER"]
                box = (*low, *high)
                layout.pins.append(Pin(_plain(words[1]), net, direction, layer, *at, box, after["USE"]))
            case "NETS" | "SPECIALNETS":
                head, *routed = re.split(r"\s\+\s", statement, maxsplit=1)
                pins = [(_plain(owner), _plain(pin)) for owner, pin in _groups(head)]
                nets = layout.nets if section == "NETS" else layout.special
                nets[_plain(words[1])] = Net(pins, list(_read_wires("".join(routed))))
            case "DESIGN":
                layout.design = _plain(words[1])
            case "UNITS" if int(words[3]) != DBU:
                raise BadInput(f"{path} counts {words[3]} units a um: this flow reads {DBU}")
            case "DIEAREA":
                low, high = _points(statement)
                layout.die = (*low, *high)
            case "ROW":
                x, y, sites, step = (int(words[place]) for place in (3, 4, 7, 11))
                layout.rows.append(Row(words[1], words[2], x, y, words[5], sites, step))
            case "TRACKS":
                start, number, step = (int(words[place]) for place in (2, 4, 6))
                layout.tracks.append((words[1], words[8], start, number, step))
    return layout
