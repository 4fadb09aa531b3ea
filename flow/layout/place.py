"""Floorplan, placement, clock tree and hold: from a mapped netlist to where every cell lies.

`place` draws a square core of rows at the requested density, with the ports spread around the die, and
places the cells (placer.py). If that placement misses the clock by its wires, the cells are placed again with
heavier late nets. It then resizes and buffers by the wires of the placement (post_place_sizing.py), adds the
clock tree (clock_tree.py), sizes once more, in large designs also by global routes, and adds delays for hold
(hold.py); cells make way on their rows (placed.py). The result is checked: cells on rows and sites, no
overlaps, all in the core, every pin connected, the clock at every register, and the netlist proved to compute
what it did. A placement that fails a check is refused, not written.

Products: placement.json, netlist_placed.json and .v, and hierarchy_placed.json (with what was added as the
modules "clock_tree" and "hold").
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...fl.errors import BadInput, some
from ...rtl.sim.toolchain import ToolError
from ..files import replace_text, replacing
from ..kit import kit
from ..kit.constraints import CLOCK_NS, Constraints
from ..kit.lef import DBU, Layer, Lef, dbu
from ..kit.liberty import Library
from ..netlist import hierarchy as hierarchy_file
from ..netlist.hierarchy import Hierarchy
from ..netlist.netlist import PORT, Netlist, read, write_back
from ..netlist.verilog import verilog
from ..progress import stopwatch
from ..prove.placed import prove_same
from ..synth.sizing.circuit import wired
from ..synth.sizing.families import Families
from ..synth.sizing.model import Model, least
from ..timing.graph import TimingGraph
from . import clock_tree, hold, placer, post_place_sizing, wires
from .detailed import MOST_CELLS
from .diodes import add_diodes
from .placed import Placed
from .placement import HOLD, TREE, Place, Placement, PortPin, Row, refuse_large, wired_nets
from .placer import Floorplan, Port
from .supply import add_taps

LEAST_ROWS = 16  # of the smallest core: cells of a design of ten would find no way around one another
MARGIN_ROWS = 2  # between core and die, where the ports' wires turn
MARGIN_SITES = 15
SHOWN = 5  # violations that a message lists
# percent that the latest net weighs more; for heap, 600 on the square of lateness left more slack and less
# wire than 400 on lateness itself, and 800 on that tripled the wires
MOST_WEIGHT = 600


def place(
    netlist_json: Path,
    hierarchy: Path | None,
    out_dir: Path,
    *,
    density: float = 0.7,
    clock_ns: float = CLOCK_NS,
    clock_port: str | None = "clk",
    adk: Path | None = None,
    corner: str | None = None,
    routes_above: int = MOST_CELLS,
) -> Placement:
    """Place the netlist and write the products to `out_dir`; clock_port: None without registers; corner: None
    sizes at the slow one and repairs hold at the fast one; routes_above: size designs of more cells by their
    global routes as well.
    """
    if not 0.05 <= density <= 0.95:
        raise BadInput(f"cells cannot be placed at the density {density}: give 0.05 to 0.95, usually 0.7")
    files = kit.find(adk, corner or kit.SLOW)
    lef, library = files.geometry, files.library
    fast = kit.find(adk, corner or kit.FAST).library
    netlist = read(netlist_json, library)
    refuse_large(netlist, "place")
    for name in netlist.cells:
        if name.startswith((f"{TREE}.", f"{HOLD}.")):
            raise BadInput(
                f"{netlist.name} has an instance {name.partition('.')[0]}, the name of what placement adds: "
                "rename it"
            )
    clock = _clock_net(netlist, library, clock_port)
    floor = _floorplan(netlist, lef, library, density, clock)
    known = hierarchy_file.load(hierarchy) if hierarchy is not None else Hierarchy({}, {})
    asked = library.constraints(clock_ns, None if clock is None else clock_port, propagated=clock is not None)
    placed = _by_timing(Placed(netlist, _placement(netlist, lef, floor), library, lef), floor, asked)
    placement = placed.placement
    owners = _finish(placed, clock, asked, known.cells, fast, routes_above)
    wrong = [*violations(placed, clock_port), *prove_same(netlist, placed.netlist, library)]
    if wrong:
        faults = some(wrong, SHOWN, "; ")
        raise ToolError(f"the placement of {netlist.name} fails {len(wrong):,} checks: {faults}")
    document = json.loads(netlist_json.read_text())
    write_back(document["modules"][netlist.name], netlist, placed.netlist, library)
    with replacing(out_dir / "netlist_placed.json") as part:
        part.write_text(json.dumps(document, separators=(",", ":")))
    replace_text(out_dir / "netlist_placed.v", verilog(placed.netlist))
    if hierarchy is not None:
        _hierarchy(known, owners, placement).write(out_dir, hierarchy_file.PLACED)
    placement.write(out_dir)
    return placement


def _finish(
    placed: Placed,
    clock: int | None,
    asked: Constraints,
    modules: dict[str, str],
    fast: Library,
    routes_above: int,
) -> dict[str, str]:
    """Setup, clock tree, hold and taps, all in the rows of the placement; returns the modules of new
    buffers.
    """
    placement = placed.placement
    owners = dict[str, str]()

    def size(by_routes: bool = False) -> None:
        known = {**modules, **owners}
        owners.update(post_place_sizing.improve(placed, asked, known, by_routes=by_routes))

    def steps() -> Iterator[tuple[str, Callable[[], object]]]:
        yield "sizing", size
        if clock is not None:
            yield "clock_tree", lambda: clock_tree.build(placed, clock)
            # copies of a clock gate lie far from what enables them, a net of the design that is longer now
            yield "sizing_after_tree", size
        if len(placed.netlist.cells) > routes_above:  # with what was added, as detailed routing counts
            yield "sizing_by_routes", lambda: size(by_routes=True)
        if clock is not None:
            yield "hold", lambda: hold.repair(placed, asked, fast)
        if placed.library.roles.diode:
            yield "diodes", lambda: owners.update(add_diodes(placed))
        if placed.lef.kit.supply.tap:
            yield "taps", lambda: add_taps(placed)

    for name, step in steps():
        elapsed = stopwatch()
        step()
        placement.seconds[name] = elapsed()
    x0, y0, x1, y1 = placement.core_um
    placement.density = round(placed.area_um2 / ((x1 - x0) * (y1 - y0)), 4)
    return owners


def _clock_net(netlist: Netlist, library: Library, clock_port: str | None) -> int | None:
    """The net of the clock port, or None where no pin needs it."""
    if clock_port is None:
        return None
    way, nets = netlist.ports.get(clock_port, ("", []))
    if way == "input":
        return nets[0]
    used = (library.cells[cell.kind] for cell in netlist.cells.values() if cell.pins)
    if any(pin.clock for cell in used for pin in cell.pins.values()):
        raise BadInput(f"{netlist.name} has no input {clock_port} for its clock: name it (--clock-port)")
    return None


def _floorplan(netlist: Netlist, lef: Lef, library: Library, density: float, clock: int | None) -> Floorplan:
    """Draw die, core and ports; the clock is no wire yet."""
    nets = wired_nets(netlist)
    number = {name: index for index, name in enumerate(netlist.cells)}
    terminals = []
    for net in nets:
        ends = [] if net == clock else [*netlist.sinks[net], netlist.driver[net]]
        terminals.append([(number[owner], pin) for owner, pin in filter(None, ends) if owner != PORT])
    width = sum(lef.macro(cell.kind).width for cell in netlist.cells.values())
    if clock is not None:
        width += clock_tree.planned_width(netlist, library, lef, clock)
    area = width * lef.row_height
    bits = [(name, net) for way in ("input", "output") for name, net in netlist.port_bits(way)]
    # ports at every second track at least
    side = max(math.sqrt(area / density), len(bits) / 4 * 2 * lef.coarsest_pitch, LEAST_ROWS * lef.row_height)
    tall = math.sqrt(library.kit.constraints.aspect)
    rows = math.ceil(side * tall / lef.row_height)
    columns = math.ceil(max(area / density / (rows * lef.row_height), side / tall) / lef.site_width)
    site, row = dbu(lef.site_width), dbu(lef.row_height)
    left, bottom = MARGIN_SITES * site, MARGIN_ROWS * row
    right, top = left + columns * site, bottom + rows * row
    die = (left + right, bottom + top)
    return Floorplan(
        density=density,
        die=die,
        core=(left, bottom, right, top),
        site=site,
        cells=[cell.kind for cell in netlist.cells.values()],
        nets=terminals,
        ports=_ports(bits, {net: index for index, net in enumerate(nets)}, lef, die),
    )


def _ports(
    bits: list[tuple[str, int]], index: dict[int, int], lef: Lef, die: tuple[int, int]
) -> dict[str, Port]:
    """The ports' bits around the die, evenly, in the order of the netlist: up on the left, clockwise."""
    width, height = die
    step = 2 * (width + height) / max(len(bits), 1)
    across, along = (lef.layers[name] for name in (lef.kit.layers.horizontal, lef.kit.layers.vertical))
    ports = {}
    for order, (name, net) in enumerate(bits):
        at = (order + 0.5) * step
        # x and y on tracks: at the edge the outermost, where a wire of the layer above can come to it
        if at < height:
            side, x, y = "W", 0.0, at
        elif at < height + width:
            side, x, y = "N", at - height, height
        elif at < 2 * height + width:
            side, x, y = "E", width, 2 * height + width - at
        else:
            side, x, y = "S", 2 * (height + width) - at, 0.0
        layer = across if side in "WE" else along
        place = [_track(along, x, width), _track(across, y, height)]
        # so far inside that metal of the least area ends where a via's would
        axis, other = (0, along) if side in "WE" else (1, across)
        far = max(0, lef.least_length(layer) - dbu(1.5 * layer.width) - dbu(other.offset))
        tracks = -(-far // dbu(other.pitch)) * dbu(other.pitch)
        place[axis] += tracks if side in "WS" else -tracks
        ports[name] = Port(index.get(net), net, layer.name, place[0], place[1], side)
    return ports


def _track(layer: Layer, at: float, length: int) -> int:
    """The track of the layer nearest to `at`, on a die of this length across it."""
    pitch, offset = dbu(layer.pitch), dbu(layer.offset)
    last = (length - 2 * offset) // pitch
    return offset + min(max(round((at - offset) / pitch), 0), last) * pitch


def _placement(netlist: Netlist, lef: Lef, floor: Floorplan) -> Placement:
    """Place the cells of the floorplan."""
    cells, seconds = placer.run(floor, lef)
    x0, y0, x1, y1 = floor.core
    row = dbu(lef.row_height)
    rows = [
        Row(x0 / DBU, y / DBU, (x1 - x0) // floor.site, "FS" if (y // row) % 2 else "N")
        for y in range(y0, y1, row)
    ]
    instances = {
        name: Place(cell.kind, x / DBU, y / DBU, orient)
        for (name, cell), (x, y, orient) in zip(netlist.cells.items(), cells, strict=True)
    }
    pins = {
        name: PortPin(netlist.nets[port.net], way, port.layer, port.x / DBU, port.y / DBU, port.side)
        for way in ("input", "output")
        for name, _ in netlist.port_bits(way)
        for port in [floor.ports[name]]
    }
    return Placement(
        design=netlist.name,
        die_um=(floor.die[0] / DBU, floor.die[1] / DBU),
        core_um=(x0 / DBU, y0 / DBU, x1 / DBU, y1 / DBU),
        rows=rows,
        instances=instances,
        pins=pins,
        density=floor.density,
        seconds={name: round(value, 2) for name, value in seconds.items()},
    )


def _by_timing(placed: Placed, floor: Floorplan, asked: Constraints) -> Placed:
    """Return the placement, or one with shorter late nets if that misses the clock by less."""
    library, netlist = placed.library, placed.netlist
    ideal = replace(asked, propagated=False)
    families = Families(library)

    def timed(trial: Placed) -> Model:
        circuit = wired(netlist, 0.0, wires.table(wires.wires_of(trial), netlist))
        return Model(circuit, library, ideal, families, library.kit.constraints.routing_ns)

    model = timed(placed)
    if model.worst >= 0:  # sizing finds the margin
        return placed
    slack = least(model.slack)
    slack[model.in_clock] = np.inf  # clock_tree.py has its own way with those
    lateness = (model.target - slack[wired_nets(netlist)]) / (model.target - model.worst)
    weights = np.rint(100 + MOST_WEIGHT * np.clip(lateness, 0.0, 1.0) ** 2).astype(int).tolist()
    shorter = _placement(netlist, placed.lef, replace(floor, weights=weights))
    again = replace(placed, placement=shorter)
    first = placed.placement.seconds
    if timed(again).cost >= model.cost:
        again = placed
    again.placement.seconds = {name: value + first[name] for name, value in shorter.seconds.items()}
    return again


def _hierarchy(known: Hierarchy, owners: dict[str, str], placement: Placement) -> Hierarchy:
    """The hierarchy with the added cells; clock tree and delays are modules of their own."""
    cells = {**known.cells, **owners}
    modules = dict(known.modules)
    for module in (TREE, HOLD):
        added = {name: module for name in placement.instances if name.startswith(f"{module}.")}
        cells |= added
        if added:
            modules[module] = module
    return Hierarchy(cells=cells, modules=modules)


def violations(placed: Placed, clock_port: str | None = "clk") -> list[str]:
    """Return the faults of a placement; one without faults may be routed."""
    port = clock_port if clock_port in placed.netlist.ports else None
    timing = TimingGraph(placed.netlist, placed.library, placed.library.constraints(CLOCK_NS, port))
    unclocked = (f"the clock does not reach {name}" for name in timing.unclocked)
    return [*_misplaced(placed), *_overlaps(placed), *_unconnected(placed), *unclocked]


def _misplaced(placed: Placed) -> Iterator[str]:
    """Cells that are not in the rows, on a site, as the row stands."""
    cells, instances = placed.netlist.cells, placed.placement.instances
    rows = {dbu(row.y_um): row for row in placed.placement.rows}
    site = dbu(placed.lef.site_width)
    for name in cells.keys() ^ instances.keys():
        yield f"{name} is {'not placed' if name in cells else 'not in the netlist'}"
    for name, instance in instances.items():
        if name in cells and cells[name].kind != instance.kind:
            yield f"{name} is placed as {instance.kind} and is a {cells[name].kind}"
        row = rows.get(dbu(instance.y_um))
        if row is None:
            yield f"{name} at y = {instance.y_um} um is in no row"
            continue
        left, _, right, _ = (dbu(value) - dbu(row.x_um) for value in placed.box(name))
        if left % site:
            yield f"{name} at x = {instance.x_um} um is on no site"
        if left < 0 or right > row.sites * site:
            yield f"{name} at x = {instance.x_um} um leaves its row"
        if instance.orient not in {"N": ("N", "FN"), "FS": ("FS", "S")}[row.orient]:
            yield f"{name} stands {instance.orient} in a row that stands {row.orient}"


def _overlaps(placed: Placed) -> Iterator[str]:
    """Cells that lie on one another."""
    for row in placed.spans().values():
        reach = -1
        owner = ""
        for start, end, name in sorted(row):
            if start < reach:
                yield f"{owner} and {name} overlap by {(reach - start) / DBU} um"
            reach, owner = max((reach, owner), (end, name))


def _unconnected(placed: Placed) -> Iterator[str]:
    """Ports without a pin at the edge of the die, inputs of cells and nets without a driver."""
    netlist, (width, height) = placed.netlist, placed.placement.die_um
    edge = dbu(2 * placed.lef.coarsest_pitch)  # the last track and one more, where a die ends between tracks
    for way in ("input", "output"):
        for name, net in netlist.port_bits(way):
            pin = placed.placement.pins.get(name)
            if pin is None or pin.net != netlist.nets[net]:
                yield f"the port {name} has no pin on its net {netlist.nets[net]}"
            elif dbu(min(pin.x_um, width - pin.x_um, pin.y_um, height - pin.y_um)) > edge:
                yield f"the pin of port {name} is not at the edge of the die"
    for net, name in enumerate(netlist.nets):
        if netlist.sinks[net] and netlist.driver[net] is None and net not in netlist.constants:
            yield f"the net {name} has no driver"
