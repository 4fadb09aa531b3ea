"""DEF: a placed and, where there are wires, routed layout as a file; lengths are database units.

`Def` is the layout; `write_def` writes its file (DEF 5.6; Cadence, LEF/DEF Language Reference).
DEF gives brackets, slashes and backslashes a meaning in names. Ours is written with `<>` as bus characters,
so that the brackets of a netlist's names are plain characters, and what remains is escaped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

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
