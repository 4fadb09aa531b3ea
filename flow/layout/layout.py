"""Writes a layout as files: layout.def and layout.gds of a netlist that is placed, and routed if wires exist.

In addition to the placed cells, a layout has taps, end caps, and fillers in all gaps, so that wells and rails
are continuous along every row; the power grid (supply.py) as special nets; ports as pieces of metal at the
edge of the die; and the wires of the router, if there are any.

KLayout converts the DEF to GDS. The GDS contains each of the kit's cells once, and uses the kit's layer
numbers.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from ...fl.errors import BadInput
from ...rtl.sim.toolchain import ToolError
from ..files import replace_text, replacing
from ..kit.kit import Kit
from ..kit.lef import DBU, dbu
from ..netlist.netlist import PORT
from . import fill, supply
from .grid import Grid
from .placed import Placed
from .placement import Place
from .routing import NetWires, Routing, Wire

SHOWN = 5  # faults that a message lists
VIA = "VIA_"  # how the cells of vias begin
NM = 1e-3  # um: the database unit of a GDS whose kit has a grid of whole nanometres
WIDE = "wide"  # the rule of nets whose wires are wider than the LEF's


def cells_of(placed: Placed) -> dict[str, Place]:
    """All cells, with taps, end caps, and fillers for every gap of every row, the widest first."""
    lef = placed.lef
    rows = placed.spans()
    sizes = {dbu(lef.macro(kind).width): kind for kind in placed.library.roles.fillers}
    cells = placed.placement.instances | placed.placement.taps | supply.end_caps(placed)
    number = itertools.count()
    for row in placed.placement.rows:
        free = dbu(row.x_um)
        end = free + row.sites * dbu(lef.site_width)
        for start, stop, _ in [*sorted(rows[dbu(row.y_um)]), (end, end, "")]:
            for width in sorted(sizes, reverse=True):
                while start - free >= width:
                    filler = Place(sizes[width], free / DBU, row.y_um, row.orient)
                    cells[f"filler.{next(number)}"] = filler
                    free += width
            free = stop
    return cells


def write_def(path: Path, placed: Placed, wires: NetWires) -> None:
    """The layout with these wires as DEF 5.6 (Cadence, LEF/DEF Language Reference)."""
    replace_text(path, "\n".join(_lines(placed, wires)) + "\n")


def _lines(placed: Placed, wires: NetWires) -> Iterator[str]:
    """The lines of the DEF, section by section."""
    power = supply.power_grid(placed)
    tracks = placed.lef.kit.routing.layers
    wide = "".join(f" + LAYER {track.name} WIDTH {dbu(track.width_um)}" for track in tracks if track.width_um)
    yield from _floor(placed)
    yield from _via_arrays(power)
    if wide:
        yield f"NONDEFAULTRULES 1 ;\n- {WIDE}{wide} ;\nEND NONDEFAULTRULES"
    yield from _components(placed)
    yield from _pins(placed, power)
    yield from _special_nets(placed, power)
    yield from _nets(placed, wires, f" + NONDEFAULTRULE {WIDE}" if wide else "")
    yield "END DESIGN"


def _floor(placed: Placed) -> Iterator[str]:
    """Header, die, rows and tracks."""
    placement, lef = placed.placement, placed.lef
    width, height = map(dbu, placement.die_um)
    yield "VERSION 5.6 ;"
    yield 'DIVIDERCHAR "/" ;'
    yield 'BUSBITCHARS "<>" ;'
    yield f"DESIGN {_escaped(placement.design)} ;"
    yield f"UNITS DISTANCE MICRONS {DBU} ;"
    yield f"DIEAREA ( 0 0 ) ( {width} {height} ) ;"
    site = dbu(lef.site_width)
    for index, row in enumerate(placement.rows):
        left, right = supply.row_ends(row, lef)
        at = f"{left} {dbu(row.y_um)} {row.orient}"
        yield f"ROW row_{index} {lef.site} {at} DO {(right - left) // site} BY 1 STEP {site} 0 ;"
    for layer in lef.routing:
        axis, length = ("Y", height) if layer.direction == "HORIZONTAL" else ("X", width)
        for first, pitch in lef.tracks(layer):
            count = (length - first) // pitch + 1
            yield f"TRACKS {axis} {first} DO {count} STEP {pitch} LAYER {layer.name} ;"


def _via_arrays(power: supply.PowerGrid) -> Iterator[str]:
    """The vias of the power grid."""
    arrays = power.arrays()
    if not arrays:
        return
    yield f"VIAS {len(arrays)} ;"
    for via in arrays.values():
        shapes = "".join(
            f" + RECT {layer} ( {x0} {y0} ) ( {x1} {y1} )"
            for layer, rects in via.shapes.items()
            for x0, y0, x1, y1 in rects
        )
        yield f"- {via.name}{shapes} ;"
    yield "END VIAS"


def _components(placed: Placed) -> Iterator[str]:
    """All cells with their places."""
    cells = cells_of(placed)
    yield f"COMPONENTS {len(cells)} ;"
    for name, cell in cells.items():
        at = f"( {dbu(cell.x_um)} {dbu(cell.y_um)} ) {cell.orient}"
        yield f"- {_escaped(name)} {cell.kind} + PLACED {at} ;"
    yield "END COMPONENTS"


def _pins(placed: Placed, power: supply.PowerGrid) -> Iterator[str]:
    """The ports, as metal that reaches to the edge of the die."""
    placement, lef = placed.placement, placed.lef
    width, height = map(dbu, placement.die_um)
    supplies = list(_supply_pins(power, lef.kit.supply.ground))
    yield f"PINS {len(placement.pins) + len(supplies)} ;"
    for name, pin in placement.pins.items():
        x, y = dbu(pin.x_um), dbu(pin.y_um)
        layer = lef.layers[pin.layer]
        half = dbu(layer.width) // 2
        length = lef.least_length(layer)
        edge = {"W": x, "E": width - x, "S": y, "N": height - y}[pin.side]
        inner = max(half, length - edge)
        box = {
            "W": f"( {-edge} {-half} ) ( {inner} {half} )",
            "E": f"( {-inner} {-half} ) ( {edge} {half} )",
            "S": f"( {-half} {-edge} ) ( {half} {inner} )",
            "N": f"( {-half} {-inner} ) ( {half} {edge} )",
        }[pin.side]
        yield (
            f"- {_escaped(name)} + NET {_escaped(pin.net)} + DIRECTION {pin.direction.upper()} + USE SIGNAL"
            f" + LAYER {pin.layer} {box} + PLACED ( {x} {y} ) N ;"
        )
    yield from supplies
    yield "END PINS"


def _special_nets(placed: Placed, power: supply.PowerGrid) -> Iterator[str]:
    """The power grid."""
    yield f"SPECIALNETS {len(power.wires)} ;"
    rail = placed.lef.kit.supply.rail_layer
    for name, found in power.wires.items():
        pins = f" ( PIN {name} )" if power.straps else ""
        vias = "".join(
            f"\n    NEW {next(iter(via.shapes))} 0 + SHAPE STRIPE ( {x} {y} ) {via.name}"
            for via, x, y in power.vias.get(name, ())
        )
        yield f"- {name} ( * {name} ){pins}{_wiring(found, rail)}{vias} ;"
    yield "END SPECIALNETS"


def _nets(placed: Placed, wires: NetWires, rule: str) -> Iterator[str]:
    """The signal nets with their terminals and wires; all have the same rule, if any."""
    netlist = placed.netlist
    ends = zip(netlist.nets, netlist.driver, netlist.sinks, strict=True)
    nets = {
        name: [end for end in (driver, *sinks) if end]
        for net, (name, driver, sinks) in enumerate(ends)
        if net not in netlist.constants and (driver or sinks)
    }
    yield f"NETS {len(nets)} ;"
    for name, terminals in nets.items():
        pins = "".join(
            f" ( {'PIN' if owner == PORT else _escaped(owner)} {_escaped(pin)} )" for owner, pin in terminals
        )
        yield f"- {_escaped(name)}{pins}{rule}{_wiring(wires.get(name, []))} ;"
    yield "END NETS"


def _escaped(name: str) -> str:
    """A name in DEF, whose bus characters are `<>` here, so that the brackets of a netlist's are plain."""
    return re.sub(r"([<>/\\])", r"\\\1", name)


def _supply_pins(power: supply.PowerGrid, ground: str) -> Iterator[str]:
    """A port of each power net: the last of its uppermost straps."""
    for name, straps in power.straps.items():
        use = "GROUND" if name == ground else "POWER"
        x0, y0, x1, y1 = straps[-1].outline
        yield (
            f"- {name} + NET {name} + SPECIAL + DIRECTION INOUT + USE {use} + LAYER {straps[-1].layer}"
            f" ( 0 0 ) ( {x1 - x0} {y1 - y0} ) + PLACED ( {x0} {y0} ) N ;"
        )


def _wiring(wires: list[Wire], rail: str = "") -> str:
    lines = []
    for wire in wires:
        shape = "FOLLOWPIN" if wire.layer == rail else "STRIPE"
        head = f"{wire.layer} {wire.width} + SHAPE {shape}" if wire.width else wire.layer
        to = wire.via or f"( {wire.x1} {wire.y1} )"
        lines.append(f"{head} ( {wire.x0} {wire.y0} ) {to}")
    return "\n  + ROUTED " + "\n    NEW ".join(lines) if lines else ""


def write_layout(placed: Placed, routing: Routing, files: Kit, out_dir: Path) -> None:
    """Write layout.def and layout.gds, with the wires of the routing if it is detailed."""
    write_def(out_dir / "layout.def", placed, routing.wires())
    filled = routing.detailed.done and files.geometry.kit.routing.fill
    grid = Grid(placed.placement, files.geometry) if filled else None
    write_gds(out_dir / "layout.def", out_dir / "layout.gds", files, grid)
    if wrong := check(out_dir / "layout.gds", placed):
        design = placed.placement.design
        raise ToolError(f"the layout of {design} is not what was placed: {'; '.join(wrong[:SHOWN])}")


def check(gds_path: Path, placed: Placed) -> list[str]:
    """How a GDS, read again by KLayout, differs from the layout: not at all, if all cells are where they were
    placed.

    One top cell with the outline of the die, every cell once in its place and orientation, none on another,
    the rows full.
    """
    import klayout.db as db

    placement, lef = placed.placement, placed.lef
    content = db.Layout()
    content.read(str(gds_path))
    tops = content.top_cells()
    if [top.name for top in tops] != [placement.design]:
        return [f"the GDS has the top cells {', '.join(top.name for top in tops)}"]
    wrong = []
    outline = tops[0].dbbox_per_layer(content.layer(*lef.kit.outline_gds))
    corners = outline.left, outline.bottom, outline.right, outline.top
    if [*map(dbu, corners)] != [0, 0, *map(dbu, placement.die_um)]:
        wrong.append(f"the outline of the GDS is {outline}")
    found: Counter[tuple[str, str, int, int]] = Counter()
    rows = defaultdict(list)
    for instance in tops[0].each_inst():
        kind, move = instance.cell.name, instance.dtrans
        if kind.startswith(VIA) or kind == fill.CELL:
            continue
        orient = TURNS.get(move.rot, "?")
        dx, dy = lef.macro(kind).placed(orient, 0, 0)  # from the corner of its outline to its origin
        x, y = dbu(move.disp.x - dx), dbu(move.disp.y - dy)
        found[kind, orient, x, y] += 1
        rows[y].append((x, x + dbu(lef.macro(kind).width)))
    cells = cells_of(placed).values()
    wanted = Counter((cell.kind, cell.orient, dbu(cell.x_um), dbu(cell.y_um)) for cell in cells)
    for kind, orient, x, y in [*(wanted - found), *(found - wanted)]:
        wrong.append(f"a {kind} {orient} at {x / DBU}, {y / DBU} um is in one of layout and GDS only")
    for index, row in enumerate(placement.rows):
        start, end = supply.row_ends(row, lef)
        spans = [(start, start), *sorted(rows.pop(dbu(row.y_um), [])), (end, end)]
        if any(before[1] != after[0] for before, after in pairwise(spans)):
            wrong.append(f"row_{index} has cells on one another or gaps")
    if rows:
        wrong.append(f"cells at y = {min(rows) / DBU} um are in no row")
    return wrong


# the mirror of KLayout's transformations is at the x axis, before the turn: R0, M0, R180, M90
TURNS = {0: "N", 4: "FS", 2: "S", 6: "FN"}


def write_gds(def_path: Path, gds_path: Path, files: Kit, filled: Grid | None = None) -> None:
    """The layout of a DEF file, as KLayout reads it, with the geometry of the kit's cells, and fill on the
    tracks of `filled`.
    """
    import klayout.db as db

    lef = files.geometry
    wiring = files.geometry.kit.layers
    layers = db.LayerMap()
    indices = itertools.count()

    def draw(name: str, number: int, datatype: int) -> None:
        layers.mmap(f"{name} : {number}/{datatype}", next(indices))

    draw("OUTLINE", *lef.kit.outline_gds)
    for layer in (*lef.routing, *lef.cuts):
        number, datatype = wiring.number(layer.name)
        draw(layer.name, number, datatype)
        draw(f"{layer.name}.LABEL", number, wiring.label_type)
        if wiring.pin_type is not None:
            draw(f"{layer.name}.PIN", number, datatype)
            draw(f"{layer.name}.PIN", number, wiring.pin_type)
    reading = db.LEFDEFReaderConfiguration()
    reading.dbu = 1 / DBU
    reading.lef_files = [str(files.tech_lef), str(files.lef)]
    reading.read_lef_with_def = False
    reading.macro_layout_files = [str(files.gds)]
    reading.macro_resolution_mode = 2  # no cell is LEF's
    reading.layer_map = layers
    reading.create_other_layers = False
    reading.pins_suffix = "" if wiring.pin_type is None else ".PIN"
    reading.pins_datatype = 0
    reading.via_cellname_prefix = VIA
    options = db.LoadLayoutOptions()
    options.lefdef_config = reading
    gds = db.Layout()
    gds.read(str(def_path), options)
    for cell in gds.each_cell():
        if cell.is_empty():
            raise BadInput(f"the kit's GDS has no cell {cell.name}: take the GDS that belongs to its LEF")
    if filled is not None:
        fill.draw(gds, filled)
    saving = db.SaveLayoutOptions()
    saving.format = "GDS2"
    saving.gds2_write_timestamps = False  # the same layout is the same file
    if lef.grid and not dbu(lef.grid) % 2:
        saving.dbu = NM
    with replacing(gds_path) as part:
        gds.write(str(part), saving)
