"""Layout against netlist: compares the pins that the GDS metal connects (extracted by KLayout) with the nets.

A label is put on every pin of every cell, where the LEF has it, and on every port; KLayout says which labels
lie on a piece of metal. Each net must be one piece with all of its pins on it (else it is open), and no piece
may have pins of two nets (else they are shorted), nor of a net and a rail. Rails are a piece each where
nothing joins them; with straps, all rails and straps of a power net are one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from ..kit.lef import DBU, Polygon
from ..layout.placed import Placed
from ..layout.routing import Wire
from ..layout.supply import power_grid
from . import report
from .report import Compared

CHECK = "connections"
Probe = tuple[str, str, str, float, float]  # net, what is asked for, layer, and where in um


def compare(gds: Path, placed: Placed) -> list[Compared]:
    """Nets that are open, that are shorted, and pins on which there is no metal."""
    import klayout.db as db  # not at the top: not everyone has it

    lef, grid = placed.lef, power_grid(placed)
    power = grid.wires
    content = db.Layout()
    content.read(str(gds))
    top = content.top_cell()
    extracted = db.LayoutToNetlist(top.name, content.dbu)
    kinds = {item.name: item.kind for item in lef.layers.values()}
    layers = [
        name for name, kind in kinds.items() if kind in ("ROUTING", "CUT") and name in lef.kit.layers.gds
    ]
    probes = list(_probes(placed, power))
    labels = {name: db.Texts() for name in layers}
    for at, (_, _, layer, x, y) in enumerate(probes):
        labels[layer].insert(db.Text(str(at), db.DTrans(x, y).to_itype(content.dbu)))
    regions = {
        name: db.Region(top.begin_shapes_rec(content.layer(*lef.kit.layers.number(name)))) for name in layers
    }
    for name, region in regions.items():
        extracted.register(region, name)
        extracted.register(labels[name], f"labels on {name}")
        extracted.connect(region)
        extracted.connect(region, labels[name])
    for below, above in pairwise(layers):
        extracted.connect(regions[below], regions[above])
    extracted.extract_netlist()
    pieces, names = defaultdict(set), defaultdict(set)
    bare = {at: what for at, (_, what, *_) in enumerate(probes)}
    for piece in extracted.netlist().circuit_by_name(top.name).each_net():
        for at in map(int, filter(None, piece.name.split(","))):
            net = probes[at][0]
            pieces[net].add(piece.cluster_id)
            names[piece.cluster_id].add(net)
            bare.pop(at, None)
    opens = [
        f"{net} is in {len(found)} pieces"
        for net, found in pieces.items()
        if len(found) > 1 and (net not in power or grid.straps)
    ]
    shorts = [" and ".join(sorted(found)) for found in names.values() if len(found) > 1]
    return [
        report.faults(CHECK, f"open nets, {len(probes):,} pins", sorted(opens)),
        report.faults(CHECK, "shorted nets", sorted(shorts)),
        report.faults(CHECK, "pins without metal", list(bare.values())),
    ]


def _probes(placed: Placed, power: Mapping[str, list[Wire]]) -> Iterator[Probe]:
    """One on each pin of the netlist, on each port, and on each rail."""
    netlist, placement = placed.netlist, placed.placement
    for name, cell in netlist.cells.items():
        place, macro = placement.instances[name], placed.lef.macro(cell.kind)
        for pin, net in cell.pins.items():
            layer, corners = macro.pins[pin].shapes[0]
            x, y = macro.placed(place.orient, *inside(corners))
            yield netlist.nets[net], f"{name}/{pin}", layer, place.x_um + x, place.y_um + y
    nets = {bit: netlist.nets[net] for way in ("input", "output") for bit, net in netlist.port_bits(way)}
    for name, port in placement.pins.items():
        yield nets.get(name, name), name, port.layer, port.x_um, port.y_um
    for name, wires in power.items():
        for wire in wires:
            x, y = (wire.x0 + wire.x1) / 2 / DBU, (wire.y0 + wire.y1) / 2 / DBU
            yield name, f"rail {name}", wire.layer, x, y


def inside(corners: Polygon) -> tuple[float, float]:
    """A point well within a polygon."""
    import klayout.db as db

    whole = db.DPolygon([db.DPoint(x, y) for x, y in corners]).to_itype(1 / DBU)
    middle = max(whole.decompose_trapezoids(), key=lambda piece: piece.area()).bbox().center()
    return middle.x / DBU, middle.y / DBU
