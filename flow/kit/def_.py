"""DEF: a placed and, where there are wires, routed layout as a file; lengths are database units.

`Def` is the layout; `write_def` and `read_def` are its file (DEF 5.6; Cadence, LEF/DEF Language Reference).
DEF gives brackets, slashes and backslashes a meaning in names. Ours is written with `<>` as bus characters,
so that the brackets of a netlist's names are plain characters, and what remains is escaped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
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
    orient: (
        str  # DEF's: "N" as drawn, "FS" upside down, "S" turned by 180 degrees, "FN" mirrored left to right
    )


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
    """What a net connects: (component, pin), or ("PIN", port); and its wires."""

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
    tracks: list[tuple[str, str, int, int, int]] = field(
        default_factory=list
    )  # axis, layer, start, number, step
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
    lines = [
        "VERSION 5.6 ;",
        'DIVIDERCHAR "/" ;',
        'BUSBITCHARS "<>" ;',
        f"DESIGN {_escaped(layout.design)} ;",
        f"UNITS DISTANCE MICRONS {DBU} ;",
        "DIEAREA ( {} {} ) ( {} {} ) ;".format(*layout.die),
    ]
    lines += [
        f"ROW {row.name} {row.site} {row.x} {row.y} {row.orient} DO {row.sites} BY 1 STEP {row.step} 0 ;"
        for row in layout.rows
    ]
    lines += [
        f"TRACKS {a} {start} DO {n} STEP {step} LAYER {layer} ;" for a, layer, start, n, step in layout.tracks
    ]
    lines.append(f"COMPONENTS {len(layout.components)} ;")
    lines += [
        f"- {_escaped(c.name)} {c.macro} + PLACED ( {c.x} {c.y} ) {c.orient} ;" for c in layout.components
    ]
    lines += ["END COMPONENTS", f"PINS {len(layout.pins)} ;"]
    for pin in layout.pins:
        box = "( {} {} ) ( {} {} )".format(*pin.box)
        lines.append(
            f"- {_escaped(pin.name)} + NET {_escaped(pin.net)} + DIRECTION {pin.direction} + USE {pin.use}"
            f" + LAYER {pin.layer} {box} + PLACED ( {pin.x} {pin.y} ) N ;"
        )
    lines.append("END PINS")
    for head, nets, use in (("SPECIALNETS", layout.special, True), ("NETS", layout.nets, False)):
        lines.append(f"{head} {len(nets)} ;")
        for name, net in nets.items():
            pins = "".join(f" ( {_escaped(owner)} {_escaped(pin)} )" for owner, pin in net.pins)
            lines.append(f"- {_escaped(name)}{pins}{_wiring(net, use)} ;")
        lines.append(f"END {head}")
    lines.append("END DESIGN")
    replace_text(path, "\n".join(lines) + "\n")


def _groups(words: list[str]) -> list[list[str]]:
    """The words inside each pair of parentheses."""
    groups: list[list[str]] = []
    inside = False
    for word in words:
        if word == "(":
            groups.append([])
            inside = True
        elif word == ")":
            inside = False
        elif inside:
            groups[-1].append(word)
    return groups


def _read_wires(words: list[str]) -> list[Wire]:
    wires: list[Wire] = []
    pieces: list[list[str]] = []
    for word in words:
        if word in ("ROUTED", "FIXED", "NEW"):
            pieces.append([])
        elif pieces:
            pieces[-1].append(word)
    for piece in pieces:
        layer = piece[0]
        width = int(piece[1]) if piece[1].isdigit() else 0
        points = _groups(piece)
        x0, y0 = int(points[0][0]), int(points[0][1])
        if piece[-1] != ")":
            wires.append(Wire(layer, x0, y0, x0, y0, piece[-1], width))
            continue
        for group in points[1:]:
            x1 = x0 if group[0] == "*" else int(group[0])
            y1 = y0 if group[1] == "*" else int(group[1])
            wires.append(Wire(layer, x0, y0, x1, y1, "", width))
            x0, y0 = x1, y1
    return wires


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
        elif words[0] == "DESIGN":
            layout.design = _plain(words[1])
        elif words[0] == "UNITS" and int(words[3]) != DBU:
            raise BadInput(f"{path} counts {words[3]} units a um: this flow reads {DBU}")
        elif words[0] == "DIEAREA":
            (x0, y0), (x1, y1) = _groups(words)
            layout.die = (int(x0), int(y0), int(x1), int(y1))
        elif words[0] == "ROW":
            x, y, sites, step = int(words[3]), int(words[4]), int(words[7]), int(words[11])
            layout.rows.append(Row(words[1], words[2], x, y, words[5], sites, step))
        elif words[0] == "TRACKS":
            layout.tracks.append((words[1], words[8], int(words[2]), int(words[4]), int(words[6])))
        elif section == "COMPONENTS":
            left, bottom = _groups(words)[0]
            place = int(left), int(bottom)
            layout.components.append(Component(_plain(words[1]), words[2], *place, words[-1]))
        elif section == "PINS":
            after = {word: words[at + 1] for at, word in enumerate(words[:-1])}
            low, high, at = _groups(words)
            box = (int(low[0]), int(low[1]), int(high[0]), int(high[1]))
            net, direction = _plain(after["NET"]), after["DIRECTION"]
            pin = Pin(
                _plain(words[1]), net, direction, after["LAYER"], int(at[0]), int(at[1]), box, after["USE"]
            )
            layout.pins.append(pin)
        elif section in ("NETS", "SPECIALNETS"):
            end = words.index("+") if "+" in words else len(words)
            pins = [(_plain(owner), _plain(pin)) for owner, pin in _groups(words[2:end])]
            nets = layout.nets if section == "NETS" else layout.special
            nets[_plain(words[1])] = Net(pins, _read_wires(words[end:]))
    return layout
