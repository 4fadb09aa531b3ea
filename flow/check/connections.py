"""Layout against netlist: compares the pins that the GDS metal connects (extracted by KLayout) with the nets.

A label is put on every pin of every cell, where the LEF has it, and on every port; KLayout says which labels
lie on a piece of metal. Each net must be one piece with all of its pins on it (else it is open), and no piece
may have pins of two nets (else they are shorted), nor of a net and a rail. Rails are a piece each where
nothing joins them; with straps, all rails and straps of a power net are one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..kit.lef import DBU, Lef, MacroPin, Polygon
from ..layout.placed import Placed
from ..layout.routing import NetWires
from ..layout.supply import power_grid
from . import report
from .report import Compared

CHECK = "connections"
Label = tuple[str, float, float]  # layer, and where in um
Probe = tuple[str, str, Label]  # net, name of the pin or port, and its place


def compare(gds: Path, placed: Placed) -> list[Compared]:
    """Find open nets, shorted nets, and pins without metal."""
    import klayout.db as db  # not at the top: not everyone has it

    lef, grid = placed.lef, power_grid(placed)
    power = grid.wires
    content = db.Layout()
    content.read(str(gds))
    probes = list(_probes(placed, power))
    bare = {at: what for at, (_, what, _) in enumerate(probes)}
    parts, shorts = Counter[str](), []  # the pieces of each net
    for own, _ in pieces(content, lef, drawn(lef), [at for *_, at in probes]):
        nets = {probes[at][0] for at in own}
        parts.update(nets)
        shorts += [" and ".join(sorted(nets))] if len(nets) > 1 else []
        for at in own:
            bare.pop(at, None)
    opens = [
        f"{net} is in {count} pieces"
        for net, count in parts.items()
        if count > 1 and (net not in power or grid.straps)
    ]
    return [
        report.faults(CHECK, f"open nets, {len(probes):,} pins", sorted(opens)),
        report.faults(CHECK, "shorted nets", sorted(shorts)),
        report.faults(CHECK, "pins without metal", list(bare.values())),
    ]


def drawn(lef: Lef) -> list[str]:
    """The layers of metal and cuts, lowest first; the kit has a number in the GDS for each."""
    return [name for name, layer in lef.layers.items() if layer.kind in ("ROUTING", "CUT")]


def pieces(
    content: Any, lef: Lef, names: Sequence[str], labels: Iterable[Label]
) -> Iterator[tuple[list[int], Any]]:
    """The pieces of metal that these layers make: the numbers of the labels on each, and what it has on the
    last layer.
    """
    import klayout.db as db

    top = content.top_cell()
    extracted = db.LayoutToNetlist(top.name, content.dbu)
    texts, regions = {name: db.Texts() for name in names}, {}
    for number, (layer, x, y) in enumerate(labels):
        if layer in texts:
            texts[layer].insert(db.Text(str(number), db.DTrans(x, y).to_itype(content.dbu)))
    for name in names:
        regions[name] = region = db.Region(top.begin_shapes_rec(content.layer(*lef.kit.layers.number(name))))
        extracted.register(region, name)
        extracted.register(texts[name], f"labels on {name}")
        extracted.connect(region)
        extracted.connect(region, texts[name])
    for below, above in pairwise(regions.values()):
        extracted.connect(below, above)
    extracted.extract_netlist()
    for piece in extracted.netlist().circuit_by_name(top.name).each_net():
        own = [int(number) for number in piece.name.split(",") if number]
        yield own, extracted.shapes_of_net(piece, region, True)


def _probes(placed: Placed, power: NetWires) -> Iterator[Probe]:
    """One on each pin of the netlist, on each port, and on each rail."""
    netlist, placement = placed.netlist, placed.placement
    for name, pin, label in cell_pins(placed):
        yield netlist.nets[netlist.cells[name].pins[pin.name]], f"{name}/{pin.name}", label
    nets = {bit: netlist.nets[net] for way in ("input", "output") for bit, net in netlist.port_bits(way)}
    for name, port in placement.pins.items():
        yield nets.get(name, name), name, (port.layer, port.x_um, port.y_um)
    for name, wires in power.items():
        for wire in wires:
            x, y = (wire.x0 + wire.x1) / 2 / DBU, (wire.y0 + wire.y1) / 2 / DBU
            yield name, f"rail {name}", (wire.layer, x, y)


def cell_pins(placed: Placed) -> Iterator[tuple[str, MacroPin, Label]]:
    """All connected pins of cells, with their instances and a place well within each."""
    for name, cell in placed.netlist.cells.items():
        place, macro = placed.placement.instances[name], placed.lef.macro(cell.kind)
        for pin in map(macro.pins.__getitem__, cell.pins):
            layer, corners = pin.shapes[0]
            x, y = macro.placed(place.orient, *inside(corners))
            yield name, pin, (layer, place.x_um + x, place.y_um + y)


def inside(corners: Polygon) -> tuple[float, float]:
    """A point well within a polygon."""
    import klayout.db as db

    whole = db.DPolygon([db.DPoint(x, y) for x, y in corners]).to_itype(1 / DBU)
    middle = max(whole.decompose_trapezoids(), key=lambda piece: piece.area()).bbox().center()
    return middle.x / DBU, middle.y / DBU
