"""The layout as files: layout.def and layout.gds of a placed, and where there are wires, routed netlist.

Beside the placed cells there are fillers in all gaps, so that wells and rails go through every row; the power
rails, which the cells bring along themselves, as special nets; ports as pieces of metal at the edge of the
die; and whatever wires a router made. There is no ring and there are no straps on the upper layers: the kit's
LEF says nothing of them.

The GDS has the kit's own cells in it, each once, and the layers the numbers that the kit gives them.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...fl.errors import BadInput
from ...rtl.sim.toolchain import ToolError
from ..files import replacing
from ..kit.def_ import Component, Def, Net, Pin, Row, Wire, read_def, write_def
from ..kit.kit import Kit
from ..kit.lef import DBU, Lef, dbu
from ..netlist.netlist import PORT, Netlist
from .placement import Placement
from .routing import Routing

SHOWN = 5  # faults that a message lists
LABEL_TYPE = 1  # datatype of a port's name on its metal's layer


def fillers(placement: Placement, lef: Lef, kinds: Iterable[str]) -> list[Component]:
    """Filler cells of these kinds for every gap of every row, the widest first."""
    rows: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for instance in placement.instances.values():
        start = dbu(instance.x_um)
        rows[dbu(instance.y_um)].append((start, start + dbu(lef.macro(instance.kind).width)))
    site = dbu(lef.site_width)
    sizes = {dbu(lef.macro(kind).width): kind for kind in kinds}
    found: list[Component] = []
    for row in placement.rows:
        y, free, end = dbu(row.y_um), dbu(row.x_um), dbu(row.x_um) + row.sites * site
        for start, stop in [*sorted(rows[y]), (end, end)]:
            for width in sorted(sizes, reverse=True):
                while start - free >= width:
                    found.append(Component(f"filler.{len(found)}", sizes[width], free, y, row.orient))
                    free += width
            free = stop
    return found


def rails(placement: Placement, lef: Lef) -> dict[str, Net]:
    """The power nets: a rail along each edge of a row, ground below a row that stands upright."""
    supply = lef.kit.supply
    nets = {name: Net([("*", name)]) for name in (supply.power, supply.ground)}
    height, width = dbu(lef.row_height), dbu(supply.rail_um)
    x0, x1 = dbu(placement.core_um[0]), dbu(placement.core_um[2])
    edges: dict[int, str] = {}
    for row in placement.rows:
        y = dbu(row.y_um)
        below, above = supply.ground, supply.power
        if row.orient != "N":
            below, above = above, below
        edges |= {y: below, y + height: above}
    for y, name in sorted(edges.items()):
        nets[name].wires.append(Wire(supply.rail_layer, x0, y, x1, y, "", width))
    return nets


def layout_of(
    placement: Placement,
    netlist: Netlist,
    lef: Lef,
    filling: Iterable[str],
    wires: Mapping[str, list[Wire]],
) -> Def:
    """The whole layout, its gaps filled with cells of the kinds `filling`."""
    site = dbu(lef.site_width)
    die = dbu(placement.die_um[0]), dbu(placement.die_um[1])
    layout = Def(placement.design, (0, 0, *die))
    for index, row in enumerate(placement.rows):
        layout.rows.append(
            Row(f"row_{index}", lef.site, dbu(row.x_um), dbu(row.y_um), row.orient, row.sites, site)
        )
    for layer in lef.routing:
        pitch, offset = dbu(layer.pitch), dbu(layer.offset)
        axis, length = ("Y", die[1]) if layer.direction == "HORIZONTAL" else ("X", die[0])
        layout.tracks.append((axis, layer.name, offset, (length - offset) // pitch + 1, pitch))
    layout.components = [
        Component(name, instance.kind, dbu(instance.x_um), dbu(instance.y_um), instance.orient)
        for name, instance in placement.instances.items()
    ] + fillers(placement, lef, filling)
    widths = {layer.name: dbu(layer.width) for layer in lef.routing}
    for name, pin in placement.pins.items():
        x, y, half = dbu(pin.x_um), dbu(pin.y_um), widths[pin.layer] // 2
        box = (-half, -half, half, half)
        out = {"W": (-x, -half, half, half), "E": (-half, -half, die[0] - x, half)}
        out |= {"S": (-half, -y, half, half), "N": (-half, -half, half, die[1] - y)}
        box = out[pin.side]  # to the edge of the die
        layout.pins.append(Pin(name, pin.net, pin.direction.upper(), pin.layer, x, y, box))
    for net, name in enumerate(netlist.nets):
        driver = netlist.driver[net]
        ends = [driver, *netlist.sinks[net]] if driver else list(netlist.sinks[net])
        if ends and net not in netlist.constants:
            pins = [("PIN" if owner == PORT else owner, pin) for owner, pin in ends]
            layout.nets[name] = Net(pins, wires.get(name, []))
    layout.special = rails(placement, lef)
    return layout


def write_layout(placement: Placement, netlist: Netlist, routing: Routing, files: Kit, out_dir: Path) -> Def:
    """Write layout.def and layout.gds, with the wires of the routing if it is detailed."""
    layout = layout_of(placement, netlist, files.geometry, files.library.roles.fillers, routing.wires())
    write_def(out_dir / "layout.def", layout)
    again = write_gds(out_dir / "layout.def", out_dir / "layout.gds", files)
    wrong = check(out_dir / "layout.gds", layout, files.geometry)
    if again != layout:
        wrong.append("the DEF reads back as something else")
    if wrong:
        raise ToolError(f"the layout of {layout.design} is not what was placed: {'; '.join(wrong[:SHOWN])}")
    return layout


def check(gds_path: Path, layout: Def, lef: Lef) -> list[str]:
    """What a GDS, read again by KLayout, has in another way than the layout: nothing, if all cells are where
    they were placed.

    One top cell with the outline of the die, every cell once in its place and orientation, none on another,
    the rows full.
    """
    import klayout.db as db

    wrong: list[str] = []
    content = db.Layout()
    content.read(str(gds_path))
    tops = content.top_cells()
    if [top.name for top in tops] != [layout.design]:
        return [*wrong, f"the GDS has the top cells {', '.join(top.name for top in tops)}"]
    top = tops[0]
    outline = top.dbbox_per_layer(content.layer(lef.kit.outline_gds, 0))
    corners = [dbu(value) for value in (outline.left, outline.bottom, outline.right, outline.top)]
    if corners != list(layout.die):
        wrong.append(f"the outline of the GDS is {outline}")
    turns = {turn: name for name, turn in TURNS.items()}
    found: Counter[tuple[str, str, int, int]] = Counter()
    for instance in top.each_inst():
        move = instance.dtrans
        kind, orient = instance.cell.name, turns.get(move.rot, "?")
        if kind not in lef.macros:
            wrong.append(f"the GDS has the cell {kind}, which the LEF has not")
            continue
        dx, dy = _corner(lef, kind, orient)
        found[kind, orient, dbu(move.disp.x) - dx, dbu(move.disp.y) - dy] += 1
    wanted = Counter(
        (component.macro, component.orient, component.x, component.y) for component in layout.components
    )
    for kind, orient, x, y in [*(wanted - found), *(found - wanted)]:
        wrong.append(f"a {kind} {orient} at {x / DBU}, {y / DBU} um is in one of layout and GDS only")
    rows: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for kind, _, x, y in found.elements():
        rows[y].append((x, x + dbu(lef.macro(kind).width)))
    for row in layout.rows:
        spans = sorted(rows.pop(row.y, []))
        ends = [(row.x, row.x), *spans, (row.x + row.sites * row.step,) * 2]
        if any(before[1] != after[0] for before, after in itertools.pairwise(ends)):
            wrong.append(f"{row.name} has cells on one another or gaps")
    if rows:
        wrong.append(f"cells at y = {min(rows) / DBU} um are in no row")
    return wrong


# the mirror of KLayout's transformations is at the x axis, before the turn: R0, M0, R180, M90
TURNS = {"N": 0, "FS": 4, "S": 2, "FN": 6}


def _corner(lef: Lef, kind: str, orient: str) -> tuple[int, int]:
    """From the lower left corner of a cell's outline to its origin, in database units."""
    x, y = lef.macro(kind).placed(orient, 0, 0)
    return dbu(x), dbu(y)


def write_gds(def_path: Path, gds_path: Path, files: Kit) -> Def:
    """The layout of a DEF file with the geometry of the kit's cells; returns what the file says."""
    try:
        import klayout.db as db
    except ImportError:
        raise BadInput(
            "KLayout is missing, so there is no GDS and no picture of the layout: run `pip install --no-deps "
            "klayout==0.30.12` in this environment; placement and DEF need none of it"
        ) from None
    lef = files.geometry
    layout = read_def(def_path)
    gds = db.Layout()
    gds.read(str(files.gds))  # whatever its unit is: all that follows is in um
    cells = {cell.name: cell.cell_index() for cell in gds.each_cell()}
    top = gds.create_cell(layout.design)
    numbers = {layer.name: lef.kit.layers.gds[layer.name] for layer in (*lef.routing, *lef.cuts)}
    index = {name: gds.layer(number, 0) for name, number in numbers.items()}
    labels = {name: gds.layer(number, LABEL_TYPE) for name, number in numbers.items()}

    def um(*values: int) -> list[float]:
        return [value / DBU for value in values]

    for component in layout.components:
        if component.macro not in cells:
            raise BadInput(
                f"the kit's GDS has no cell {component.macro}: take the GDS that belongs to its LEF"
            )
        dx, dy = _corner(lef, component.macro, component.orient)
        turn = TURNS[component.orient]
        move = db.DTrans(turn % 4, turn > 3, *um(component.x + dx, component.y + dy))
        top.insert(db.DCellInstArray(cells[component.macro], move))
    top.shapes(gds.layer(lef.kit.outline_gds, 0)).insert(db.DBox(*um(*layout.die)))
    for pin in layout.pins:
        x0, y0, x1, y1 = pin.box
        box = db.DBox(*um(pin.x + x0, pin.y + y0, pin.x + x1, pin.y + y1))
        top.shapes(index[pin.layer]).insert(box)
        top.shapes(labels[pin.layer]).insert(db.DText(pin.name, *um(pin.x, pin.y)))
    widths = {layer.name: dbu(layer.width) for layer in lef.routing}
    for net in [*layout.special.values(), *layout.nets.values()]:
        for wire in net.wires:
            if wire.via:
                x, y = um(wire.x0, wire.y0)
                for layer, corners in lef.vias[wire.via].items():
                    top.shapes(index[layer]).insert(db.DBox(*corners).moved(x, y))
                continue
            width = wire.width or widths[wire.layer]
            beyond = 0 if wire.width else width // 2  # a regular wire goes on beyond its points
            ends = [db.DPoint(*um(wire.x0, wire.y0)), db.DPoint(*um(wire.x1, wire.y1))]
            path = db.DPath(ends, *um(width, beyond, beyond))
            top.shapes(index[wire.layer]).insert(path.polygon())
    used = {top.cell_index(), *top.called_cells()}
    for cell in [item for item in gds.each_cell() if item.cell_index() not in used]:
        gds.delete_cell(cell.cell_index())
    options = db.SaveLayoutOptions()
    options.format = "GDS2"
    options.gds2_write_timestamps = False  # the same layout is the same file
    with replacing(gds_path) as part:
        gds.write(str(part), options)
    return layout
