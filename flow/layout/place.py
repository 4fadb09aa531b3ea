"""Floorplan, placement, clock tree and hold: from a mapped netlist to where every cell lies.

`place` draws a square core of rows at the requested density, with the ports spread around the die, and places
the cells (placer.py). It then resizes and buffers by the wires of the placement (post_place_sizing.py), adds the clock
tree (clock_tree.py), sizes once more, and adds delays for hold (hold.py); cells make way on their rows
(row_legalizer.py). The result is checked: cells on rows and sites, no overlaps, all in the core, every pin
connected, the clock at every register, and the netlist proved to compute what it did. A placement that
fails a check is refused, not written.

Products: placement.json, netlist_placed.json and .v, and hierarchy_placed.json (with what was added as the
modules "clock_tree" and "hold").
"""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...fl.errors import BadInput
from ...rtl.sim.toolchain import ToolError
from ..files import replace_text, replacing
from ..kit import kit
from ..kit.constraints import CLOCK_NS, Constraints
from ..kit.lef import DBU, Layer, Lef, dbu
from ..kit.liberty import Library
from ..netlist import hierarchy as hierarchy_file
from ..netlist.hierarchy import Hierarchy
from ..netlist.netlist import PORT, Netlist, read, write_back
from ..prove.placed import prove_same
from . import clock_tree, hold, placer, post_place_sizing
from .placement import HOLD, TREE, Place, Placement, PortPin, Row, refuse_large, wired_nets
from .placer import Floorplan, Port
from .row_legalizer import Rows

LEAST_ROWS = 16  # of the smallest core: cells of a design of ten would find no way around one another
MARGIN_ROWS = 2  # between core and die, where the ports' wires turn
MARGIN_SITES = 15
SHOWN = 5  # violations that a message lists


def place(
    netlist_json: Path,
    hierarchy: Path | None,
    out_dir: Path,
    *,
    density: float = 0.7,
    clock_ns: float = CLOCK_NS,
    clock_port: str | None = "clk",
    adk: Path | None = None,
) -> Placement:
    """Place the netlist and write the products to `out_dir`; `clock_port` None: a netlist without registers."""
    if not 0.1 <= density <= 0.95:
        raise BadInput(f"cells cannot be placed at the density {density}: give 0.1 to 0.95, usually 0.7")
    netlist_json, out_dir = Path(netlist_json), Path(out_dir)
    files = kit.find(adk)
    lef = files.geometry
    library = files.library
    netlist = read(netlist_json, library)
    refuse_large(netlist, "place")
    for name in netlist.cells:
        if name.startswith((f"{TREE}.", f"{HOLD}.")):
            raise BadInput(
                f"{netlist.name} has an instance {name.partition('.')[0]}, the name of what placement adds: "
                "rename it"
            )
    clock = _clock_net(netlist, library, clock_port)
    placement = _placement(netlist, lef, _floorplan(netlist, lef, library, density, clock))
    known = hierarchy_file.load(hierarchy) if hierarchy is not None else Hierarchy()
    asked = library.constraints(clock_ns, None if clock is None else clock_port, propagated=clock is not None)
    finished = _finished(netlist, Rows(placement, lef), library, clock, asked, known.cells)
    after = finished.netlist
    wrong = [*violations(placement, after, lef, library, clock_port), *prove_same(netlist, after, library)]
    if wrong:
        raise ToolError(f"the placement of {netlist.name} fails {_shown(wrong)}")
    document = json.loads(netlist_json.read_text())
    write_back(document["modules"][netlist.name], netlist, after, library)
    with replacing(out_dir / "netlist_placed.json") as part:
        part.write_text(json.dumps(document, separators=(",", ":")))
    replace_text(out_dir / "netlist_placed.v", verilog(after))
    if hierarchy is not None:
        _hierarchy(known, finished.owners, placement).write(out_dir, hierarchy_file.PLACED)
    placement.write(out_dir)
    return placement


@dataclass
class Finished:
    """The placed netlist, and the modules of the buffers in it that belong to the design's own modules."""

    netlist: Netlist
    owners: dict[str, str]


def _finished(
    netlist: Netlist,
    rows: Rows,
    library: Library,
    clock: int | None,
    asked: Constraints,
    modules: dict[str, str],
) -> Finished:
    """Setup, clock tree and hold, all in the rows of the placement."""
    placement, lef = rows.placement, rows.lef

    def timed(name: str, start: float) -> None:
        placement.seconds[name] = round(time.monotonic() - start, 2)

    start = time.monotonic()
    improved = post_place_sizing.improve(netlist, rows, library, asked, modules)
    netlist = improved.netlist
    placement.sizing = improved.rounds
    timed("sizing", start)
    if clock is not None:
        start = time.monotonic()
        tree = clock_tree.Builder(netlist, rows, library, clock)
        netlist = tree.build()
        placement.clock_tree = tree.summary()
        timed("clock_tree", start)
        # copies of a clock gate lie far from what enables them, a net of the design that is longer now
        start = time.monotonic()
        again = post_place_sizing.improve(netlist, rows, library, asked, {**modules, **improved.owners})
        netlist = again.netlist
        improved.owners |= again.owners
        placement.sizing += again.rounds
        timed("sizing_after_tree", start)
        start = time.monotonic()
        netlist, placement.hold = hold.repair(netlist, rows, library, asked)
        timed("hold", start)
    x0, y0, x1, y1 = placement.core_um
    used = sum(lef.macro(instance.kind).width for instance in placement.instances.values()) * lef.row_height
    placement.density = round(used / ((x1 - x0) * (y1 - y0)), 4)
    return Finished(netlist, improved.owners)


def _shown(wrong: list[str]) -> str:
    more = f" and {len(wrong) - SHOWN:,} more" if len(wrong) > SHOWN else ""
    return f"{len(wrong):,} checks: " + "; ".join(wrong[:SHOWN]) + more


def _clock_net(netlist: Netlist, library: Library, clock_port: str | None) -> int | None:
    """The net of the clock port, or None where no pin needs it."""
    if clock_port is None:
        return None
    clocked = any(cell.pins and _is_clocked(library, cell.kind) for cell in netlist.cells.values())
    ports = {name: nets for name, (way, nets) in netlist.ports.items() if way == "input"}
    if clock_port not in ports:
        if clocked:
            raise BadInput(f"{netlist.name} has no input {clock_port} for its clock: name it (--clock-port)")
        return None
    return ports[clock_port][0]


def _is_clocked(library: Library, kind: str) -> bool:
    return any(pin.clock for pin in library.cells[kind].pins.values())


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
        domains = clock_tree.domains(netlist, library, clock)
        width += clock_tree.planned_width(domains, lef, library.roles, lambda name: netlist.cells[name].kind)
    area = width * lef.row_height
    bits = [(name, net) for way in ("input", "output") for name, net in netlist.port_bits(way)]
    # ports at every second track at least
    side = max(math.sqrt(area / density), len(bits) / 4 * 2 * lef.coarsest_pitch, LEAST_ROWS * lef.row_height)
    rows = math.ceil(side / lef.row_height)
    columns = math.ceil(max(area / density / (rows * lef.row_height), side) / lef.site_width)
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
    layers, wiring = {layer.name: layer for layer in lef.routing}, lef.kit.layers
    ports: dict[str, Port] = {}
    for order, (name, net) in enumerate(bits):
        at = (order + 0.5) * step
        if at < height:
            side, along, length = "W", at, height
        elif at < height + width:
            side, along, length = "N", at - height, width
        elif at < 2 * height + width:
            side, along, length = "E", 2 * height + width - at, height
        else:
            side, along, length = "S", 2 * (height + width) - at, width
        layer = layers[wiring.horizontal if side in "WE" else wiring.vertical]
        track = _track(layer, along, length)
        x = {"W": 0, "E": width}.get(side, track)
        y = {"S": 0, "N": height}.get(side, track)
        # its middle on the outermost crossing of tracks, where a wire of the layer above can come to it
        crossing = layers[wiring.vertical if side in "WE" else wiring.horizontal]
        if side in "WE":
            x = _track(crossing, x, width)
        else:
            y = _track(crossing, y, height)
        ports[name] = Port(index.get(net), net, layer.name, x, y, side)
    return ports


def _track(layer: Layer, at: float, length: int) -> int:
    """The track of the layer nearest to `at`, on a die of this length across it."""
    pitch, offset = dbu(layer.pitch), dbu(layer.offset)
    last = (length - 2 * offset) // pitch
    return offset + min(max(round((at - offset) / pitch), 0), last) * pitch


def _placement(netlist: Netlist, lef: Lef, floor: Floorplan) -> Placement:
    """Place the cells of the floorplan."""
    placed = placer.run(floor, lef)
    x0, y0, x1, y1 = floor.core
    row = dbu(lef.row_height)
    rows = [
        Row(x0 / DBU, y / DBU, (x1 - x0) // floor.site, "FS" if (y // row) % 2 else "N")
        for y in range(y0, y1, row)
    ]
    instances = {
        name: Place(cell.kind, x / DBU, y / DBU, orient)
        for (name, cell), (x, y, orient) in zip(netlist.cells.items(), placed.cells, strict=True)
    }
    directions = {name: way for way in ("input", "output") for name, _ in netlist.port_bits(way)}
    pins = {
        name: PortPin(
            netlist.nets[port.net], directions[name], port.layer, port.x / DBU, port.y / DBU, port.side
        )
        for name, port in floor.ports.items()
    }
    return Placement(
        design=netlist.name,
        die_um=(floor.die[0] / DBU, floor.die[1] / DBU),
        core_um=(x0 / DBU, y0 / DBU, x1 / DBU, y1 / DBU),
        rows=rows,
        instances=instances,
        pins=pins,
        density=floor.density,
        seconds={name: round(value, 2) for name, value in placed.seconds.items()},
    )


def _hierarchy(known: Hierarchy, owners: dict[str, str], placement: Placement) -> Hierarchy:
    """With what was added; clock tree and delays are modules of their own."""
    cells, modules = {**known.cells, **owners}, dict(known.modules)
    for module in (TREE, HOLD):
        added = {name: module for name in placement.instances if name.startswith(f"{module}.")}
        cells |= added
        if added:
            modules[module] = module
    return Hierarchy(cells=cells, modules=modules)


def violations(
    placement: Placement, netlist: Netlist, lef: Lef, library: Library, clock_port: str | None = "clk"
) -> list[str]:
    """What is wrong with a placement: nothing, if it may be routed."""
    return [
        *_misplaced(placement, netlist, lef),
        *_overlaps(placement, lef),
        *_unconnected(placement, netlist, lef),
        *_unclocked(netlist, library, clock_port),
    ]


def _misplaced(placement: Placement, netlist: Netlist, lef: Lef) -> Iterator[str]:
    """Cells that are not in the rows, on a site, as the row stands."""
    rows = {dbu(row.y_um): row for row in placement.rows}
    site = dbu(lef.site_width)
    for name in netlist.cells.keys() ^ placement.instances.keys():
        yield f"{name} is {'not placed' if name in netlist.cells else 'not in the netlist'}"
    for name, instance in placement.instances.items():
        if name in netlist.cells and netlist.cells[name].kind != instance.kind:
            yield f"{name} is placed as {instance.kind} and is a {netlist.cells[name].kind}"
        row = rows.get(dbu(instance.y_um))
        if row is None:
            yield f"{name} at y = {instance.y_um} um is in no row"
            continue
        start, width = dbu(instance.x_um) - dbu(row.x_um), dbu(lef.macro(instance.kind).width)
        if start % site:
            yield f"{name} at x = {instance.x_um} um is on no site"
        if start < 0 or start + width > row.sites * site:
            yield f"{name} at x = {instance.x_um} um leaves its row"
        if instance.orient not in {"N": ("N", "FN"), "FS": ("FS", "S")}[row.orient]:
            yield f"{name} stands {instance.orient} in a row that stands {row.orient}"


def _overlaps(placement: Placement, lef: Lef) -> Iterator[str]:
    """Cells that lie on one another."""
    rows: dict[int, list[tuple[int, int, str]]] = {}
    for name, instance in placement.instances.items():
        start = dbu(instance.x_um)
        rows.setdefault(dbu(instance.y_um), []).append(
            (start, start + dbu(lef.macro(instance.kind).width), name)
        )
    for row in rows.values():
        row.sort()
        reach, owner = -1, ""
        for start, end, name in row:
            if start < reach:
                yield f"{owner} and {name} overlap by {(reach - start) / DBU} um"
            if end > reach:
                reach, owner = end, name


def _unconnected(placement: Placement, netlist: Netlist, lef: Lef) -> Iterator[str]:
    """Ports without a pin at the edge of the die, inputs of cells and nets without a driver."""
    width, height = placement.die_um
    for way in ("input", "output"):
        for name, net in netlist.port_bits(way):
            pin = placement.pins.get(name)
            if pin is None or pin.net != netlist.nets[net]:
                yield f"the port {name} has no pin on its net {netlist.nets[net]}"
            elif min(pin.x_um, width - pin.x_um, pin.y_um, height - pin.y_um) > lef.coarsest_pitch:
                yield f"the pin of port {name} is not at the edge of the die"
    for net, name in enumerate(netlist.nets):
        if netlist.sinks[net] and netlist.driver[net] is None and net not in netlist.constants:
            yield f"the net {name} has no driver"


def _unclocked(netlist: Netlist, library: Library, clock_port: str | None) -> Iterator[str]:
    """Registers whose clock does not come from the clock port, through buffers and clock gates."""
    reached: set[int] = set()
    front = list(netlist.ports[clock_port][1]) if clock_port in netlist.ports else []
    while front:
        net = front.pop()
        if net in reached:
            continue
        reached.add(net)
        for owner, _ in netlist.sinks[net]:
            if owner == PORT:
                continue
            cell = netlist.cells[owner]
            passes = library.cells[cell.kind].ff is None and library.cells[cell.kind].latch is None
            front += [
                cell.pins[pin]
                for pin, item in library.cells[cell.kind].pins.items()
                if passes and item.direction == "output" and pin in cell.pins
            ]
    for name, cell in netlist.cells.items():
        for pin, item in library.cells[cell.kind].pins.items():
            if item.clock and cell.pins.get(pin) not in reached:
                yield f"the clock does not reach {name}/{pin}"


def verilog(netlist: Netlist) -> str:
    """The netlist as flat Verilog, every net by the name that it has in `netlist`."""

    def spelled(name: str) -> str:
        simple = name.replace("_", "a").isalnum() and not name[0].isdigit() and name.isascii()
        return name if simple else f"\\{name} "

    ports, aliases = [], []
    references = {net: netlist.nets[net] for net in netlist.constants}
    for name, (way, nets) in netlist.ports.items():
        indices = [bit[len(name) :] for bit in netlist.port_names[name]]  # "[7]", or "" for no bus
        size = f"[{indices[-1][1:-1]}:{indices[0][1:-1]}] " if indices[0] else ""
        ports.append(f"  {way} {size}{spelled(name)}")
        for index, net in zip(indices, nets, strict=True):
            own = spelled(name) + index
            if references.setdefault(net, own) != own:  # a constant, or the net of another port
                aliases.append(f"  assign {own} = {references[net]};")
    wires: list[str] = []
    buses: dict[str, list[int]] = defaultdict(list)
    for net, name in enumerate(netlist.nets):
        if net in references:
            continue
        if name in netlist.bus_bits:
            bus, _, index = name.removesuffix("]").rpartition("[")
            buses[bus].append(int(index))
            references[net] = f"{spelled(bus)}[{index}]"
        else:
            references[net] = spelled(name)
            wires.append(f"  wire {spelled(name)};")
    wires += [f"  wire [{max(bits)}:{min(bits)}] {spelled(bus)};" for bus, bits in buses.items()]
    cells = []
    for name, cell in netlist.cells.items():
        pins = ", ".join(f".{pin}({references[net]})" for pin, net in cell.pins.items())
        cells.append(f"  {cell.kind} {spelled(name)} ({pins});")
    head = f"module {spelled(netlist.name)} (\n" + ",\n".join(ports) + "\n);"
    return "\n".join([head, *wires, *cells, *aliases, "endmodule", ""])
