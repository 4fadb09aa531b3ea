"""Layout against netlist: compares the pins that the GDS metal connects (extracted by KLayout) with the nets.

A label is put on every pin of every cell, where the LEF has it, and on every port; KLayout says which labels
lie on a piece of metal. Each net must be one piece with all of its pins on it (else it is open), and no piece
may have pins of two nets (else they are shorted), nor of a net and a rail. Rails are a piece each, as nothing
joins them: the kit says nothing of straps.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from ..kit.def_ import Component, Def, read_def
from ..kit.kit import Kit
from ..kit.lef import DBU, Lef, Polygon
from ..netlist.netlist import Netlist
from .report import Compared
from .shapes import tool

CHECK = "connections"
SHOWN = 3
Probe = tuple[str, str, str, float, float]  # net, what is asked for, layer, and where in um


def wired(layout_def: Path) -> bool:
    """Whether the layout has wires at all."""
    return any(net.wires for net in read_def(layout_def).nets.values())


def compare(gds: Path, layout_def: Path, netlist: Netlist, kit: Kit) -> list[Compared]:
    """Nets that are open, that are shorted, and pins on which there is no metal."""
    opens, shorts, bare, pins = faults(gds, read_def(layout_def), netlist, kit)
    return [
        _compared(f"open nets, {pins:,} pins", opens),
        _compared("shorted nets", shorts),
        _compared("pins without metal", bare),
    ]


def faults(gds: Path, layout: Def, netlist: Netlist, kit: Kit) -> tuple[list[str], list[str], list[str], int]:
    """Return open nets, shorts and pins without metal in words, and how many pins were probed."""
    import klayout.db as db  # not at the top: not everyone has it

    lef = kit.geometry
    content = db.Layout()
    content.read(str(gds))
    top = content.top_cell()
    extracted = db.LayoutToNetlist(top.name, content.dbu)
    layers = [layer.name for layer in lef.layers.values() if layer.kind in ("ROUTING", "CUT")]
    layers = [name for name in layers if name in lef.kit.layers.gds]
    probes = list(_probes(layout, netlist, lef))
    regions, labels = {}, {name: db.Texts() for name in layers}
    for at, (_, _, layer, x, y) in enumerate(probes):
        labels[layer].insert(db.Text(str(at), db.DTrans(x, y).to_itype(content.dbu)))
    for name in layers:
        regions[name] = db.Region(top.begin_shapes_rec(content.layer(lef.kit.layers.gds[name], 0)))
        extracted.register(regions[name], name)
        extracted.register(labels[name], f"labels on {name}")
        extracted.connect(regions[name])
        extracted.connect(regions[name], labels[name])
    for below, above in itertools.pairwise(layers):
        extracted.connect(regions[below], regions[above])
    extracted.extract_netlist()
    pieces: dict[str, set[int]] = defaultdict(set)
    names: dict[int, set[str]] = defaultdict(set)
    bare = {at: what for at, (_, what, *_) in enumerate(probes)}
    for piece in extracted.netlist().circuit_by_name(top.name).each_net():
        for at in map(int, filter(None, piece.name.split(","))):
            net = probes[at][0]
            pieces[net].add(piece.cluster_id)
            names[piece.cluster_id].add(net)
            bare.pop(at, None)
    rails = set(layout.special)
    opens = [
        f"{net} is in {len(found)} pieces"
        for net, found in pieces.items()
        if len(found) > 1 and net not in rails
    ]
    shorts = [" and ".join(sorted(found)) for found in names.values() if len(found) > 1]
    return sorted(opens), sorted(shorts), list(bare.values()), len(probes)


def _probes(layout: Def, netlist: Netlist, lef: Lef) -> Iterator[Probe]:
    """One on each pin of the netlist, on each port, and on each rail."""
    placed = {item.name: item for item in layout.components}
    for name, cell in netlist.cells.items():
        component = placed[name]
        for pin, net in cell.pins.items():
            layer, corners = lef.macro(cell.kind).pins[pin].shapes[0]
            x, y = _moved(component, lef, *_inside(corners))
            yield netlist.nets[net], f"{name}/{pin}", layer, x, y
    for port in layout.pins:
        yield _net_of(port.name, netlist), port.name, port.layer, port.x / DBU, port.y / DBU
    for name, rail in layout.special.items():
        for wire in rail.wires:
            x, y = (wire.x0 + wire.x1) / 2 / DBU, (wire.y0 + wire.y1) / 2 / DBU
            yield name, f"rail {name}", wire.layer, x, y


def _net_of(port: str, netlist: Netlist) -> str:
    """The net at a port, by the netlist."""
    for direction in ("input", "output"):
        for bit, net in netlist.port_bits(direction):
            if bit == port:
                return netlist.nets[net]
    return port


def _inside(corners: Polygon) -> tuple[float, float]:
    """A point well within a polygon."""
    import klayout.db as db

    polygon = db.DPolygon([db.DPoint(x, y) for x, y in corners])
    whole = polygon.to_itype(1 / DBU)
    piece = (
        max(whole.decompose_trapezoids(), key=lambda decompose_trapezoid: decompose_trapezoid.area())
        .bbox()
        .center()
    )
    return piece.x / DBU, piece.y / DBU


def _moved(component: Component, lef: Lef, x: float, y: float) -> tuple[float, float]:
    """A point of a cell, where the cell is."""
    x, y = lef.macro(component.macro).placed(component.orient, x, y)
    return component.x / DBU + x, component.y / DBU + y


def _compared(what: str, wrong: list[str]) -> Compared:
    return Compared(
        check=CHECK,
        what=what,
        ours=0,
        theirs=len(wrong),
        unit="faults",
        tool=tool(),
        agrees=not wrong,
        note="; ".join(wrong[:SHOWN]),
    )
