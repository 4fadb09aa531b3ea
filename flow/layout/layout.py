"""The layout as files: layout.def and layout.gds of a placed, and where there are wires, routed netlist.

Beside the placed cells there are fillers in all gaps, so that wells and rails go through every row; the power
rails, which the cells bring along themselves, as special nets; ports as pieces of metal at the edge of the
die; and whatever wires a router made. There is no ring and there are no straps on the upper layers: the kit's
LEF says nothing of them.

The GDS is the DEF as KLayout reads it. It has the kit's own cells in it, each once, and the layers the
numbers that the kit gives them.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from ...fl.errors import BadInput
from ...rtl.sim.toolchain import ToolError
from ..files import replacing
from ..kit.def_ import Component, Def, Net, Pin, Row, Wire, write_def
from ..kit.kit import Kit
from ..kit.lef import DBU, Lef, dbu
from ..netlist.netlist import PORT
from .placed import Placed
from .placement import Placement
from .routing import Routing

SHOWN = 5  # faults that a message lists
LABEL_TYPE = 1  # datatype of a port's name on its metal's layer
VIA = "VIA_"  # how the cells of vias begin


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
    write_gds(out_dir / "layout.def", out_dir / "layout.gds", files)
    if wrong := check(out_dir / "layout.gds", layout, files.geometry):
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
    found: Counter[tuple[str, str, int, int]] = Counter()
    rows = defaultdict(list)
    for instance in tops[0].each_inst():
        kind, move = instance.cell.name, instance.dtrans
        if kind.startswith(VIA):
            continue
        orient = TURNS.get(move.rot, "?")
        dx, dy = lef.macro(kind).placed(orient, 0, 0)  # from the corner of its outline to its origin
        x, y = dbu(move.disp.x - dx), dbu(move.disp.y - dy)
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
TURNS = {0: "N", 4: "FS", 2: "S", 6: "FN"}


def write_gds(def_path: Path, gds_path: Path, files: Kit) -> None:
    """The layout of a DEF file, as KLayout reads it, with the geometry of the kit's cells."""
    import klayout.db as db

    lef, numbers = files.geometry, files.geometry.kit.layers.gds
    layers = db.LayerMap()
    layers.map(f"OUTLINE : {lef.kit.outline_gds}/0", 0)
    for at, layer in enumerate((*lef.routing, *lef.cuts)):
        layers.map(f"{layer.name} : {numbers[layer.name]}/0", 2 * at + 1)
        layers.map(f"{layer.name}.LABEL : {numbers[layer.name]}/{LABEL_TYPE}", 2 * at + 2)
    reading = db.LEFDEFReaderConfiguration()
    reading.dbu = 1 / DBU
    reading.lef_files, reading.read_lef_with_def = [str(files.tech_lef), str(files.lef)], False
    reading.macro_layout_files, reading.macro_resolution_mode = [str(files.gds)], 2  # no cell is LEF's
    reading.layer_map, reading.create_other_layers = layers, False
    reading.pins_suffix, reading.pins_datatype = "", 0
    reading.via_cellname_prefix = VIA
    options = db.LoadLayoutOptions()
    options.lefdef_config = reading
    gds = db.Layout()
    gds.read(str(def_path), options)
    for cell in gds.each_cell():
        if cell.is_empty():
            raise BadInput(f"the kit's GDS has no cell {cell.name}: take the GDS that belongs to its LEF")
    saving = db.SaveLayoutOptions()
    saving.format = "GDS2"
    saving.gds2_write_timestamps = False  # the same layout is the same file
    with replacing(gds_path) as part:
        gds.write(str(part), saving)
