"""Floorplan, placement and clock tree: from a mapped netlist to where every cell lies.

`place` draws a square core of rows at the asked density with the ports spread around the die, lets Coriolis place the cells and build
an H-tree of buffers for the clock (coriolis_engine), and then checks what came back itself: cells on rows and sites, none on another,
all in the core, every pin connected, the clock at every register, and the netlist unchanged but for the buffers. A placement
that fails a check is refused, not written.

Products: placement.json, netlist_placed.json and .v, and hierarchy_placed.json (with the buffers as the module "clock_tree").
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..fl.errors import BadInput
from ..rtl.sim.toolchain import ToolError
from . import coriolis_job, kit, liberty
from .def_file import DBU, Layer, Lef, read_lef
from .files import replace_json, replace_text, replacing
from .liberty import Library
from .netlist import PORT, Netlist, read

CLOCK = "ck"  # Coriolis' name of the clock net (coriolis_setup)
TREE = "clock_tree"  # module of the buffers that placement adds, and prefix of their names
BUFFER = "BUF_X4"  # drives a leaf of LEAF_SINKS registers and its wires with a slew below 0.1 ns
LEAF_SINKS = 24  # clock pins a leaf buffer on average; a clock with no more of them needs no tree
LEAF_ROWS = 8  # side of the smallest leaf area in rows; Coriolis wants 7
MARGIN_ROWS = 2  # between core and die, where the ports' wires turn
MARGIN_SITES = 15
PIN_LAYERS = {"W": "metal3", "E": "metal3", "S": "metal2", "N": "metal2"}
MAX_CELLS = 250_000  # 5 times the largest machine measured (50,000 cells in 2 minutes and 1.4 GiB)
EDGE_UM = 0.28  # the outermost track is nearer to the edge than this
SHOWN = 5  # violations that a message lists


@dataclass(frozen=True)
class Row:
    """A row of sites: its lower left corner and what it holds."""

    x_um: float
    y_um: float
    sites: int
    orient: str  # "N", or "FS" upside down, so that rows share their rails


@dataclass(frozen=True)
class Place:
    """Where a cell lies: the lower left corner of its outline."""

    kind: str
    x_um: float
    y_um: float
    orient: str


@dataclass(frozen=True)
class PortPin:
    """A port's bit at the edge of the die."""

    net: str
    direction: str
    layer: str
    x_um: float
    y_um: float
    side: str


@dataclass
class Placement:
    """What placement.json says."""

    design: str
    die_um: tuple[float, float]
    core_um: tuple[float, float, float, float]
    rows: list[Row]
    instances: dict[str, Place]
    pins: dict[str, PortPin]
    density: float  # area of the cells / area of the core
    clock_tree: dict[str, Any]
    seconds: dict[str, float]
    tool: str

    def as_json(self) -> dict[str, Any]:
        """The contents of placement.json."""
        return {
            "design": self.design,
            "die_um": self.die_um,
            "core_um": self.core_um,
            "density": self.density,
            "tool": self.tool,
            "seconds": self.seconds,
            "clock_tree": self.clock_tree,
            "rows": [[row.x_um, row.y_um, row.sites, row.orient] for row in self.rows],
            "pins": {
                name: [pin.net, pin.direction, pin.layer, pin.x_um, pin.y_um, pin.side]
                for name, pin in self.pins.items()
            },
            "instances": {
                name: [each.kind, each.x_um, each.y_um, each.orient] for name, each in self.instances.items()
            },
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Placement:
        """The placement that `as_json` wrote."""
        return cls(
            data["design"],
            tuple(data["die_um"]),
            tuple(data["core_um"]),
            [Row(*row) for row in data["rows"]],
            {name: Place(*each) for name, each in data["instances"].items()},
            {name: PortPin(*each) for name, each in data["pins"].items()},
            data["density"],
            data["clock_tree"],
            data["seconds"],
            data["tool"],
        )


def load(path: Path) -> Placement:
    """The placement in placement.json."""
    try:
        return Placement.from_json(json.loads(Path(path).read_text()))
    except OSError as error:
        raise BadInput(f"the placement {path} cannot be read: {error.strerror}; run the step place") from None
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is no placement ({error!r}): run the step place again") from None


def place(
    netlist_json: Path,
    hierarchy: Path | None,
    out_dir: Path,
    *,
    density: float = 0.7,
    clock_port: str | None = "clk",
    adk: Path | None = None,
) -> Placement:
    """Place the netlist and write the products to `out_dir`; `clock_port` None: a netlist without registers."""
    if not 0.1 <= density <= 0.95:
        raise BadInput(
            f"the density {density} is none at which cells can be placed: give 0.1 to 0.95, usually 0.7"
        )
    coriolis_job.require()
    netlist_json, out_dir = Path(netlist_json), Path(out_dir)
    files = kit.find(adk)
    lef = read_lef(files.tech_lef, files.lef)
    library = liberty.load(files.lib)
    netlist = read(netlist_json, library)
    if len(netlist.cells) > MAX_CELLS:
        minutes = len(netlist.cells) / 50_000 * 2
        raise BadInput(
            f"{netlist.name} has {len(netlist.cells):,} cells and would take Coriolis about {minutes:.0f} minutes: "
            f"at most {MAX_CELLS:,} are placed; take a smaller design, or stop before the step place"
        )
    clock = _clock_net(netlist, library, clock_port)
    job = _floorplan(netlist, lef, density, clock)
    job |= {"tech_lef": str(files.tech_lef), "lef": str(files.lef)}
    result = coriolis_job.run(job, out_dir / "place.log")
    document = json.loads(netlist_json.read_text())
    placement = _placement(netlist, lef, job, result, clock)
    _insert_tree(document["modules"][netlist.name], netlist, placement, result)
    with replacing(out_dir / "netlist_placed.json") as part:
        part.write_text(json.dumps(document, indent=1))
        after = read(part, library, netlist.name)
        wrong = [*violations(placement, after, lef, library, clock_port), *changes(netlist, after)]
        if wrong:
            raise ToolError(
                f"the placement of {netlist.name} fails {_shown(wrong)} (log: {out_dir / 'place.log'})"
            )
    replace_text(out_dir / "netlist_placed.v", verilog(after))
    if hierarchy is not None:
        replace_json(out_dir / "hierarchy_placed.json", _hierarchy(Path(hierarchy), placement))
    replace_json(out_dir / "placement.json", placement.as_json())
    return placement


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


def wired_nets(netlist: Netlist) -> list[int]:
    """The nets that are wires: of at least two terminals, and no constant (ports may be tied to one)."""
    wires = []
    for net, name in enumerate(netlist.nets):
        ends = len(netlist.sinks[net]) + (netlist.driver[net] is not None)
        if net in netlist.constants:
            cells = [terminal for terminal in netlist.sinks[net] if terminal[0] != PORT]
            if cells:
                raise BadInput(
                    f"{cells[0][0]}/{cells[0][1]} is tied to {name}: constants need cells (hilomap in synthesis) to be placed"
                )
        elif ends > 1:
            wires.append(net)
    return wires


def _floorplan(netlist: Netlist, lef: Lef, density: float, clock: int | None) -> dict[str, Any]:
    """The job of placing: die, core, ports, and what is to be placed."""
    nets = wired_nets(netlist)
    names = list(netlist.cells)
    number = {name: index for index, name in enumerate(names)}
    terminals = []
    for net in nets:
        ends = [*netlist.sinks[net], netlist.driver[net]]
        terminals.append([[number[owner], pin] for owner, pin in filter(None, ends) if owner != PORT])
    sinks = 0 if clock is None else sum(owner != PORT for owner, _ in netlist.sinks[clock])
    levels = math.ceil(math.log(sinks / LEAF_SINKS, 4)) if sinks > LEAF_SINKS else 0
    buffers = sum(4**level for level in range(levels + 1)) if levels else 0
    area = sum(lef.macro(cell.kind).width for cell in netlist.cells.values())
    area = (area + buffers * lef.macro(BUFFER).width) * lef.row_height
    bits = [(name, net) for way in ("input", "output") for name, net in netlist.port_bits(way)]
    # ports at every second track at least, LEAF_ROWS rows a side for the smallest
    side = max(math.sqrt(area / density), len(bits) / 4 * 2 * 0.28, LEAF_ROWS * 2 * lef.row_height)
    rows = math.ceil(side / lef.row_height)
    columns = math.ceil(max(area / density / (rows * lef.row_height), side) / lef.site_width)
    site, row = _dbu(lef.site_width), _dbu(lef.row_height)
    core = [MARGIN_SITES * site, MARGIN_ROWS * row]
    core += [core[0] + columns * site, core[1] + rows * row]
    die = [core[0] + core[2], core[1] + core[3]]
    # Coriolis halves both sides of an area while they are two leaves long; cuts lie at rows, hence two rows less
    shortest = min(core[2] - core[0], core[3] - core[1])
    while levels and shortest / 2**levels < (LEAF_ROWS + 1) * row:
        levels -= 1
    leaf = int(shortest / 2**levels) - 2 * row
    pins = _ports(bits, {net: index for index, net in enumerate(nets)}, lef, die)
    return {
        "task": "place",
        "density": density,
        "buffer": BUFFER,
        "die": die,
        "core": core,
        "site": site,
        "leaf": leaf,
        "pin_width": lef.routing[1].width,
        "cells": [[cell.kind] for cell in netlist.cells.values()],
        "nets": terminals,
        "net_numbers": nets,
        "ports": pins,
        "pins": _first_of_each_net(pins),
        "clock": nets.index(clock) if clock is not None and levels else None,
    }


def _dbu(um: float) -> int:
    return round(um * DBU)


def _ports(
    bits: list[tuple[str, int]], index: dict[int, int], lef: Lef, die: list[int]
) -> dict[str, list[Any]]:
    """The ports' bits around the die, evenly, in the order of the netlist: up on the left, clockwise."""
    width, height = die
    step = 2 * (width + height) / max(len(bits), 1)
    layers = {layer.name: layer for layer in lef.routing}
    ports: dict[str, list[Any]] = {}
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
        layer = layers[PIN_LAYERS[side]]
        track = _track(layer, along, length)
        x = {"W": 0, "E": width}.get(side, track)
        y = {"S": 0, "N": height}.get(side, track)
        # its middle on the outermost crossing of tracks, where a wire of the layer above can come to it
        crossing = layers[PIN_LAYERS["N" if side in "WE" else "W"]]
        if side in "WE":
            x = _track(crossing, x, width)
        else:
            y = _track(crossing, y, height)
        ports[name] = [index.get(net), net, layer.name, x, y, side]
    return ports


def _track(layer: Layer, at: float, length: int) -> int:
    """The track of the layer nearest to `at`, on a die of this length across it."""
    pitch, offset = _dbu(layer.pitch), _dbu(layer.offset)
    last = (length - 2 * offset) // pitch
    return offset + min(max(round((at - offset) / pitch), 0), last) * pitch


def _first_of_each_net(ports: dict[str, list[Any]]) -> list[list[Any]]:
    """The pins that Coriolis is told of: one a net (two ports of a net are the same to it), none for a port without one."""
    seen: dict[int, list[Any]] = {}
    for index, _, layer, x, y, side in ports.values():
        if index is not None:
            seen.setdefault(index, [index, "input", layer, x, y, side])
    return list(seen.values())


def _placement(
    netlist: Netlist, lef: Lef, job: dict[str, Any], result: dict[str, Any], clock: int | None
) -> Placement:
    x0, y0, x1, y1 = job["core"]
    row = _dbu(lef.row_height)
    rows = [
        Row(x0 / DBU, y / DBU, (x1 - x0) // job["site"], "FS" if (y // row) % 2 else "N")
        for y in range(y0, y1, row)
    ]
    instances = {}
    for (name, cell), (x, y, orient) in zip(netlist.cells.items(), result["cells"], strict=True):
        instances[name] = Place(cell.kind, x / DBU, y / DBU, orient)
    directions = {name: way for way in ("input", "output") for name, _ in netlist.port_bits(way)}
    pins = {
        name: PortPin(netlist.nets[net], directions[name], layer, x / DBU, y / DBU, side)
        for name, (_, net, layer, x, y, side) in job["ports"].items()
    }
    core = (x1 - x0) * (y1 - y0) / DBU**2
    die = (job["die"][0] / DBU, job["die"][1] / DBU)
    tree: dict[str, Any] = {"buffer": BUFFER, "buffers": 0, "levels": 0, "sinks": 0, "root": None}
    if clock is not None:
        tree["root"] = netlist.nets[clock]
        tree["sinks"] = len(netlist.sinks[clock])
    placement = Placement(
        netlist.name,
        die,
        (x0 / DBU, y0 / DBU, x1 / DBU, y1 / DBU),
        rows,
        instances,
        pins,
        0.0,
        tree,
        {name: round(value, 2) for name, value in result["seconds"].items()},
        f"coriolis-eda {coriolis_job.version()}",
    )
    buffers = _tree(result)
    for buffer in buffers:
        x, y, orient = buffer.place
        placement.instances[buffer.name] = Place(buffer.kind, x / DBU, y / DBU, orient)
    tree["buffers"] = len(buffers)
    tree["levels"] = max((buffer.level for buffer in buffers), default=-1) + 1
    used = sum(lef.macro(each.kind).width for each in placement.instances.values()) * lef.row_height
    placement.density = round(used / core, 4)
    return placement


@dataclass(frozen=True)
class TreeBuffer:
    """A buffer of the clock tree and what it feeds."""

    name: str
    level: int  # 0 at the root
    kind: str
    place: tuple[int, int, str]
    source: str  # the buffer that drives it, "" at the root
    sinks: tuple[tuple[int, str], ...]  # (cell, pin) of the registers it drives

    @property
    def output(self) -> str:
        """The name of the net that it drives."""
        return f"{self.name}.out"


def _tree(result: dict[str, Any]) -> list[TreeBuffer]:
    """Coriolis' buffers, root first; without those that no register needs, in areas that have none."""
    children: dict[str, list[dict[str, Any]]] = {}
    for buffer in result["buffers"]:
        children.setdefault(buffer["pins"]["A"], []).append(buffer)

    def needed(buffer: dict[str, Any]) -> bool:
        output = buffer["pins"]["Z"]
        return bool(result["sinks"].get(output)) or any(needed(child) for child in children.get(output, []))

    found: list[TreeBuffer] = []
    level, front = 0, [("", buffer) for buffer in result["buffers"] if buffer["pins"]["A"] == CLOCK]
    while front:
        following = []
        front.sort(key=lambda each: (each[1]["place"][1], each[1]["place"][0]))
        for index, (source, buffer) in enumerate(front):
            output = buffer["pins"]["Z"]
            sinks = tuple((cell, pin) for cell, pin in sorted(result["sinks"].get(output, [])))
            node = TreeBuffer(
                f"{TREE}.{level}_{index}", level, buffer["kind"], tuple(buffer["place"]), source, sinks
            )
            found.append(node)
            following += [(node.name, child) for child in children.get(output, []) if needed(child)]
        level, front = level + 1, following
    return found


def _insert_tree(
    module: dict[str, Any], netlist: Netlist, placement: Placement, result: dict[str, Any]
) -> None:
    """The buffers and their nets, put into the module as yosys' JSON has it."""
    buffers = _tree(result)
    if not buffers:
        return
    names = list(netlist.cells)
    bits = [bit for data in module["netnames"].values() for bit in data["bits"] if isinstance(bit, int)]
    bits += [
        bit
        for cell in module["cells"].values()
        for pin in cell["connections"].values()
        for bit in pin
        if isinstance(bit, int)
    ]
    following = max(bits) + 1
    port = next(
        port
        for port, (_, nets) in netlist.ports.items()
        if netlist.nets[nets[0]] == placement.clock_tree["root"]
    )
    drives = {"": module["ports"][port]["bits"][0]}
    for buffer in buffers:
        drives[buffer.name] = following
        module["netnames"][buffer.output] = {"hide_name": 0, "bits": [following], "attributes": {}}
        module["cells"][buffer.name] = {
            "hide_name": 0,
            "type": buffer.kind,
            "parameters": {},
            "attributes": {},
            "port_directions": {"A": "input", "Z": "output"},
            "connections": {"A": [drives[buffer.source]], "Z": [following]},
        }
        for cell, pin in buffer.sinks:
            module["cells"][names[cell]]["connections"][pin] = [following]
        following += 1


def _hierarchy(path: Path, placement: Placement) -> dict[str, Any]:
    """hierarchy.json with the buffers in a module of their own."""
    data = json.loads(path.read_text())
    cells = data.get("cells", data)
    cells |= {name: TREE for name in placement.instances if name.startswith(f"{TREE}.")}
    if "modules" in data and any(name.startswith(f"{TREE}.") for name in placement.instances):
        data["modules"][TREE] = TREE
    return data


def violations(
    placement: Placement, netlist: Netlist, lef: Lef, library: Library, clock_port: str | None = "clk"
) -> list[str]:
    """What is wrong with a placement: nothing, if it may be routed."""
    return [
        *_misplaced(placement, netlist, lef),
        *_overlaps(placement, lef),
        *_unconnected(placement, netlist),
        *_unclocked(netlist, library, clock_port),
    ]


def _misplaced(placement: Placement, netlist: Netlist, lef: Lef) -> Iterator[str]:
    """Cells that are not in the rows, on a site, as the row stands."""
    rows = {_dbu(row.y_um): row for row in placement.rows}
    site = _dbu(lef.site_width)
    for name in netlist.cells.keys() ^ placement.instances.keys():
        yield f"{name} is {'not placed' if name in netlist.cells else 'not in the netlist'}"
    for name, each in placement.instances.items():
        if name in netlist.cells and netlist.cells[name].kind != each.kind:
            yield f"{name} is placed as {each.kind} and is a {netlist.cells[name].kind}"
        row = rows.get(_dbu(each.y_um))
        if row is None:
            yield f"{name} at y = {each.y_um} um is in no row"
            continue
        start, width = _dbu(each.x_um) - _dbu(row.x_um), _dbu(lef.macro(each.kind).width)
        if start % site:
            yield f"{name} at x = {each.x_um} um is on no site"
        if start < 0 or start + width > row.sites * site:
            yield f"{name} at x = {each.x_um} um leaves its row"
        if each.orient not in {"N": ("N", "FN"), "FS": ("FS", "S")}[row.orient]:
            yield f"{name} stands {each.orient} in a row that stands {row.orient}"


def _overlaps(placement: Placement, lef: Lef) -> Iterator[str]:
    """Cells that lie on one another."""
    rows: dict[int, list[tuple[int, int, str]]] = {}
    for name, each in placement.instances.items():
        start = _dbu(each.x_um)
        rows.setdefault(_dbu(each.y_um), []).append((start, start + _dbu(lef.macro(each.kind).width), name))
    for row in rows.values():
        row.sort()
        reach, owner = -1, ""
        for start, end, name in row:
            if start < reach:
                yield f"{owner} and {name} overlap by {(reach - start) / DBU} um"
            if end > reach:
                reach, owner = end, name


def _unconnected(placement: Placement, netlist: Netlist) -> Iterator[str]:
    """Ports without a pin at the edge of the die, inputs of cells and nets without a driver."""
    width, height = placement.die_um
    for way in ("input", "output"):
        for name, net in netlist.port_bits(way):
            pin = placement.pins.get(name)
            if pin is None or pin.net != netlist.nets[net]:
                yield f"the port {name} has no pin on its net {netlist.nets[net]}"
            elif min(pin.x_um, width - pin.x_um, pin.y_um, height - pin.y_um) > EDGE_UM:
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
                for pin, each in library.cells[cell.kind].pins.items()
                if passes and each.direction == "output" and pin in cell.pins
            ]
    for name, cell in netlist.cells.items():
        for pin, each in library.cells[cell.kind].pins.items():
            if each.clock and cell.pins.get(pin) not in reached:
                yield f"the clock does not reach {name}/{pin}"


def changes(before: Netlist, after: Netlist) -> list[str]:
    """How the placed netlist differs from the mapped one: nothing, if only buffers of the clock tree were put in."""
    wrong = []
    origin: dict[int, int] = {}  # net of `after`: net that feeds it through buffers of the tree

    def root(net: int) -> int:
        while (terminal := after.driver[net]) is not None and terminal[0].startswith(f"{TREE}."):
            net = after.cells[terminal[0]].pins["A"]
        return net

    for name, cell in before.cells.items():
        twin = after.cells.get(name)
        if twin is None or twin.kind != cell.kind or twin.pins.keys() != cell.pins.keys():
            wrong.append(f"{name} is not what it was")
            continue
        for pin, net in cell.pins.items():
            if origin.setdefault(root(twin.pins[pin]), net) != net:
                wrong.append(f"{name}/{pin} is on another net")
    wrong += [
        f"{name} was added"
        for name in after.cells.keys() - before.cells.keys()
        if not name.startswith(f"{TREE}.")
    ]
    if [(way, len(nets)) for way, nets in before.ports.values()] != [
        (way, len(nets)) for way, nets in after.ports.values()
    ]:
        wrong.append("the ports are not what they were")
        return wrong
    for port, (_, nets) in before.ports.items():
        for bit, net in enumerate(nets):
            if origin.setdefault(root(after.ports[port][1][bit]), net) != net:
                wrong.append(f"bit {bit} of the port {port} is on another net")
    if len(set(origin.values())) != len(origin):
        wrong.append("a net was split")
    return wrong


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
