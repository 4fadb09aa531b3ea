"""The layout as files: layout.def and layout.gds of a placed, and where there are wires, routed netlist.

Beside the placed cells there are fillers in all gaps, so that wells and rails go through every row; the power
rails, which the cells bring along themselves, as special nets; ports as pieces of metal at the edge of the
die; and whatever wires a router made. There is no ring and there are no straps on the upper layers: the kit's
LEF says nothing of them.

The GDS has the kit's own cells in it, each once, and the layers the numbers that the kit gives them.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from ...fl.errors import BadInput
from ...rtl.sim.toolchain import ToolError
from ..files import replacing
from ..kit.def_ import Component, Def, Net, Pin, Row, Wire, read_def, write_def
from ..kit.kit import Kit
from ..kit.lef import DBU, Lef, dbu
from ..netlist.netlist import PORT
from .placed import Placed
from .placement import Placement
from .routing import Routing

SHOWN = 5  # faults that a message lists
LABEL_TYPE = 1  # datatype of a port's name on its metal's layer


def fillers(placed: Placed) -> list[Component]:
    """Filler cells for every gap of every row, the widest first."""
    lef, rows = placed.lef, placed.spans()
    sizes = {dbu(lef.macro(kind).width): kind for kind in placed.library.roles.fillers}
    found: list[Component] = []
    for row in placed.placement.rows:
        y, free = dbu(row.y_um), dbu(row.x_um)
        end = free + row.sites * dbu(lef.site_width)
        for start, stop, _ in [*sorted(rows[y]), (end, end, "")]:
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
        names = (supply.ground, supply.power) if row.orient == "N" else (supply.power, supply.ground)
        edges |= zip((y, y + height), names, strict=True)
    for y, name in sorted(edges.items()):
        nets[name].wires.append(Wire(supply.rail_layer, x0, y, x1, y, "", width))
    return nets


def layout_of(placed: Placed, wires: Mapping[str, list[Wire]]) -> Def:
    """The whole layout with these wires, its gaps filled."""
    placement, netlist, lef = placed.placement, placed.netlist, placed.lef
    site = dbu(lef.site_width)
    width, height = die = dbu(placement.die_um[0]), dbu(placement.die_um[1])
    layout = Def(placement.design, (0, 0, *die))
    layout.rows = [
        Row(f"row_{index}", lef.site, dbu(row.x_um), dbu(row.y_um), row.orient, row.sites, site)
        for index, row in enumerate(placement.rows)
    ]
    for layer in lef.routing:
        pitch, offset = dbu(layer.pitch), dbu(layer.offset)
        axis, length = ("Y", height) if layer.direction == "HORIZONTAL" else ("X", width)
        layout.tracks.append((axis, layer.name, offset, (length - offset) // pitch + 1, pitch))
    layout.components = [
        Component(name, instance.kind, dbu(instance.x_um), dbu(instance.y_um), instance.orient)
        for name, instance in placement.instances.items()
    ] + fillers(placed)
    for name, pin in placement.pins.items():
        x, y, half = dbu(pin.x_um), dbu(pin.y_um), dbu(lef.layers[pin.layer].width) // 2
        box = {  # to the edge of the die
            "W": (-x, -half, half, half),
            "E": (-half, -half, width - x, half),
            "S": (-half, -y, half, half),
            "N": (-half, -half, half, height - y),
        }[pin.side]
        layout.pins.append(Pin(name, pin.net, pin.direction.upper(), pin.layer, x, y, box))
    for net, name in enumerate(netlist.nets):
        ends = list(filter(None, [netlist.driver[net], *netlist.sinks[net]]))
        if ends and net not in netlist.constants:
            pins = [("PIN" if owner == PORT else owner, pin) for owner, pin in ends]
            layout.nets[name] = Net(pins, wires.get(name, []))
    layout.special = rails(placement, lef)
    return layout


def write_layout(placed: Placed, routing: Routing, files: Kit, out_dir: Path) -> Def:
    """Write layout.def and layout.gds, with the wires of the routing if it is detailed."""
    layout = layout_of(placed, routing.wires())
    write_def(out_dir / "layout.def", layout)
    again = write_gds(out_dir / "layout.def", out_dir / "layout.gds", files)
    wrong = check(out_dir / "layout.gds", layout, files.geometry)
    if again != layout:
        wrong.append("the DEF reads back as something else")
    if wrong:
        raise ToolError(f"the layout of {layout.design} is not what was placed: {'; '.join(wrong[:SHOWN])}")
    return layout


def check(gds_path: Path, layout: Def, lef: Lef) -> list[str]:
    """How a GDS, read again by KLayout, differs from the layout: not at all, if all cells are where they were
    placed.

    One top cell with the outline of the die, every cell once in its place and orientation, none on another,
    the rows full.
    """
    import klayout.db as db

    content = db.Layout()
    content.read(str(gds_path))
    tops = content.top_cells()
    if [top.name for top in tops] != [layout.design]:
        return [f"the GDS has the top cells {', '.join(top.name for top in tops)}"]
    wrong = []
    outline = tops[0].dbbox_per_layer(content.layer(lef.kit.outline_gds, 0))
    if [dbu(x) for x in (outline.left, outline.bottom, outline.right, outline.top)] != list(layout.die):
        wrong.append(f"the outline of the GDS is {outline}")
    turns = {turn: name for name, turn in TURNS.items()}
    found: Counter[tuple[str, str, int, int]] = Counter()
    rows = defaultdict(list)
    for instance in tops[0].each_inst():
        kind, move = instance.cell.name, instance.dtrans
        orient = turns.get(move.rot, "?")
        if kind not in lef.macros:
            wrong.append(f"the GDS has the cell {kind}, which the LEF has not")
            continue
        dx, dy = _corner(lef, kind, orient)
        x, y = dbu(move.disp.x) - dx, dbu(move.disp.y) - dy
        found[kind, orient, x, y] += 1
        rows[y].append((x, x + dbu(lef.macro(kind).width)))
    wanted = Counter((item.macro, item.orient, item.x, item.y) for item in layout.components)
    for kind, orient, x, y in [*(wanted - found), *(found - wanted)]:
        wrong.append(f"a {kind} {orient} at {x / DBU}, {y / DBU} um is in one of layout and GDS only")
    for row in layout.rows:
        end = row.x + row.sites * row.step
        spans = [(row.x, row.x), *sorted(rows.pop(row.y, [])), (end, end)]
        if any(before[1] != after[0] for before, after in pairwise(spans)):
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
    import klayout.db as db

    lef = files.geometry
    layout = read_def(def_path)
    gds = db.Layout()
    gds.read(str(files.gds))  # whatever its unit is: all that follows is in um
    cells = {cell.name: cell.cell_index() for cell in gds.each_cell()}
    top = gds.create_cell(layout.design)
    names = [layer.name for layer in (*lef.routing, *lef.cuts)]
    index, labels = (
        {name: gds.layer(lef.kit.layers.gds[name], datatype) for name in names}
        for datatype in (0, LABEL_TYPE)
    )

    um = 1 / DBU
    for item in layout.components:
        if item.macro not in cells:
            raise BadInput(f"the kit's GDS has no cell {item.macro}: take the GDS that belongs to its LEF")
        dx, dy = _corner(lef, item.macro, item.orient)
        turn = TURNS[item.orient]
        move = db.Trans(turn % 4, turn > 3, item.x + dx, item.y + dy)
        top.insert(db.DCellInstArray(cells[item.macro], move.to_dtype(um)))
    top.shapes(gds.layer(lef.kit.outline_gds, 0)).insert(db.Box(*layout.die).to_dtype(um))
    for pin in layout.pins:
        box = db.Box(*pin.box).moved(pin.x, pin.y)
        top.shapes(index[pin.layer]).insert(box.to_dtype(um))
        top.shapes(labels[pin.layer]).insert(db.Text(pin.name, pin.x, pin.y).to_dtype(um))
    for net in [*layout.special.values(), *layout.nets.values()]:
        for wire in net.wires:
            if wire.via:
                for layer, corners in lef.vias[wire.via].items():
                    cut = db.DBox(*corners).moved(wire.x0 * um, wire.y0 * um)
                    top.shapes(index[layer]).insert(cut)
                continue
            width = wire.width or dbu(lef.layers[wire.layer].width)
            beyond = 0 if wire.width else width // 2  # a regular wire goes on beyond its points
            ends = [db.Point(wire.x0, wire.y0), db.Point(wire.x1, wire.y1)]
            path = db.Path(ends, width, beyond, beyond).to_dtype(um)
            top.shapes(index[wire.layer]).insert(path.polygon())
    for unused in set(cells.values()) - set(top.called_cells()):
        gds.delete_cell(unused)
    options = db.SaveLayoutOptions()
    options.format = "GDS2"
    options.gds2_write_timestamps = False  # the same layout is the same file
    with replacing(gds_path) as part:
        gds.write(str(part), options)
    return layout
