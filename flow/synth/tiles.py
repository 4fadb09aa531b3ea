"""Tiles: modules with many instances, which are synthesised, sized and proved once.

A tile has at least LEAST_INSTANCES equal instances, which together save LEAST_SAVED cells of work, and every
path from an input to an output passes a register, so that its outputs depend on its state alone. Paths across
its boundary therefore end at registers as those inside do, and mapping the tile by itself loses nothing. A
processing element of a systolic array is a tile; AddRed of paper 001, of which four are in series in a stage,
is not.

`cut` removes the tiles from a flat design: the remainder, called the rest, has a port PATH.PORT of opposite
direction for each port of each tile, and each tile is a design of its own. `join` combines the mapped parts
to a flat netlist in which the cells and nets of a tile are prefixed with its path. `rest_of` and
`differences` take such a netlist apart again.
"""

import functools
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from ..netlist.document import (
    SEPARATOR,
    Bit,
    Cell,
    Document,
    Module,
    cell_bits,
    enclosing,
    fresh_nets,
    instances,
    port_bits,
    readers,
)
from ..netlist.logic import CONSTANTS
from ..product import Product
from . import estimate

LEAST_INSTANCES = 4
LEAST_SAVED = 10_000  # cells of the estimate
OPPOSITE = {"input": "output", "output": "input"}
# cells whose output changes only at a clock edge
CLOCKED = ("$dff", "$dffe", "$sdff", "$sdffe", "$sdffce")


class Tile(msgspec.Struct, frozen=True):
    """Equal modules and the paths of their instances; read_slang has one module per instance."""

    modules: tuple[str, ...]
    paths: tuple[str, ...]
    ports: dict[str, str]  # direction by name

    @property
    def module(self) -> str:
        """The module of the first instance, which represents all."""
        return self.modules[0]

    @property
    def name(self) -> str:
        """The name of the module in the source."""
        return self.module.partition("$")[0]


class Tiles(Product):
    """The tiles of a netlist with their mapped modules: tiles.json."""

    FILE = "tiles.json"
    STEP = "sizing"

    tiles: tuple[Tile, ...] = ()
    netlists: Mapping[str, Module] = {}


# ---- search


def likely(design: Document, top: str) -> bool:
    """Whether a design as read may have tiles: enough large modules with one name."""
    alike = _alike(design, top, lambda module: module.partition("$")[0])
    return any(_saved(design, group) for group in alike)


def find(design: Document, top: str) -> tuple[Tile, ...]:
    """The tiles of a hierarchical design without processes; of nested tiles, the outer one."""
    found: list[Tile] = []
    for group in _alike(design, top, forms(design)):
        paths, modules = zip(*group, strict=True)
        module = design["modules"][modules[0]]
        inner = any(inside(path, found) for path in paths)
        if _saved(design, group) and not inner and _registered(module):
            ports = {name: port["direction"] for name, port in module["ports"].items()}
            found.append(Tile(modules, paths, ports))
    return tuple(found)


Group = list[tuple[str, str]]  # path and module of some instances


def _alike(design: Document, top: str, form: Callable[[str], str]) -> Iterable[Group]:
    """The instances of each form, outer before inner."""
    found = defaultdict(list)
    for path, module in instances(design, top):
        if path:
            found[form(module)].append((path, module))
    return found.values()


def _saved(design: Document, group: Group) -> bool:
    """Whether a tile saves enough, by the estimate of its module with everything inside."""
    if len(group) < LEAST_INSTANCES:
        return False
    inside = [name for _, name in instances(design, group[0][1])]
    cells = sum(estimate.cells({"modules": {name: design["modules"][name]}}) for name in inside)
    return (len(group) - 1) * cells >= LEAST_SAVED


def inside(path: str, tiles: Sequence[Tile]) -> bool:
    """Whether an instance is a tile or inside one."""
    every = (name for tile in tiles for name in tile.paths)
    return any(path == name or path.startswith(name + SEPARATOR) for name in every)


def forms(design: Document) -> Callable[[str], str]:
    """A function from a module's name to its canonical form, which does not depend on net numbers and
    instance names.
    """
    modules = design["modules"]

    @functools.cache
    def form(name: str) -> str:
        module = modules[name]
        numbers: dict[Bit, int] = {}

        def of(bits: Sequence[Bit]) -> list[Bit]:
            return [numbers.setdefault(bit, len(numbers)) if isinstance(bit, int) else bit for bit in bits]

        ports = [(port, data["direction"], of(data["bits"])) for port, data in module["ports"].items()]
        cells = []
        for instance in sorted(module["cells"], key=_by_number):
            cell = module["cells"][instance]
            kind = form(cell["type"]) if cell["type"] in modules else cell["type"]
            pins = [(pin, of(bits)) for pin, bits in sorted(cell["connections"].items())]
            cells.append((kind, sorted(cell.get("parameters", {}).items()), pins))
        named = sorted(module["netnames"].items())
        nets = [(net, of(data["bits"])) for net, data in named if not data.get("hide_name")]
        return hashlib.sha256(json.dumps([ports, cells, nets]).encode()).hexdigest()

    return form


def _by_number(name: str) -> list[tuple[int, str]]:
    """A sort key for yosys' automatic names, which are numbered across all modules."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def _registered(module: Module) -> bool:
    """Whether every path from an input to an output passes a register."""
    reads = readers(module)
    todo = list(port_bits(module, "input"))
    reached = set(todo)
    for bit in todo:  # grows
        for name in reads.pop(bit, ()):
            if not name:
                return False
            cell = module["cells"][name]
            if cell["type"] not in CLOCKED:
                outputs = set(cell_bits(cell, "output"))
                todo += outputs - reached
                reached |= outputs
    return True


# ---- cut and join


def cut(flat: Document, top: str, tiles: Sequence[Tile]) -> Document:
    """Split a design that is flat except for its tiles into the rest and one module of each tile."""
    module = flat["modules"][top]
    cells, ports, names = dict(module["cells"]), dict(module["ports"]), dict(module["netnames"])
    for full, path, port, direction in _ports(tiles):
        bits = module["cells"][path]["connections"][port]
        cells.pop(path, None)
        ports[full] = {"direction": OPPOSITE[direction], "bits": bits}
        names[full] = {"hide_name": 0, "bits": bits, "attributes": {}}
    rest: Module = {**module, "cells": cells, "ports": ports, "netnames": names}
    return {"modules": {top: rest} | {tile.module: flat["modules"][tile.module] for tile in tiles}}


def _ports(tiles: Sequence[Tile]) -> Iterator[tuple[str, str, str, str]]:
    """(name in the rest, path of the instance, port, direction) of all ports of all instances."""
    for tile in tiles:
        for path in tile.paths:
            for port, direction in tile.ports.items():
                yield f"{path}{SEPARATOR}{port}", path, port, direction


def own_ports(module: Module, tiles: Sequence[Tile]) -> set[str]:
    """The ports of the rest that are ports of the whole design."""
    return module["ports"].keys() - {full for full, *_ in _ports(tiles)}


def join(rest: Module, tiles: Sequence[Tile], netlists: Mapping[str, Module]) -> Module:
    """The whole design, flat."""
    own = own_ports(rest, tiles)
    cells, names = dict(rest["cells"]), dict(rest["netnames"])
    fresh = fresh_nets(rest)
    for tile in tiles:
        netlist = netlists[tile.module]
        for path in tile.paths:
            nets = defaultdict(fresh.__next__, {bit: bit for bit in CONSTANTS})
            for port in tile.ports:
                outside = rest["ports"][f"{path}{SEPARATOR}{port}"]["bits"]
                nets.update(zip(netlist["ports"][port]["bits"], outside, strict=True))
            for name, cell in netlist["cells"].items():
                pins = {pin: [nets[bit] for bit in bits] for pin, bits in cell["connections"].items()}
                cells[f"{path}{SEPARATOR}{name}"] = {**cell, "connections": pins}
            for name, net in netlist["netnames"].items():
                if name not in tile.ports:
                    names[f"{path}{SEPARATOR}{name}"] = {**net, "bits": [nets[bit] for bit in net["bits"]]}
    ports = {name: port for name, port in rest["ports"].items() if name in own}
    return {**rest, "cells": cells, "netnames": names, "ports": ports}


def placed(tile: Tile, owners: Mapping[str, str]) -> dict[str, str]:
    """The module of each cell of all instances, from the owners in one instance."""
    return {
        f"{path}{SEPARATOR}{cell}": f"{path}{SEPARATOR}{owner}" if owner else path
        for path in tile.paths
        for cell, owner in owners.items()
    }


def rest_of(whole: Module, tiles: Sequence[Tile]) -> Module:
    """A joined netlist without its tiles, but with their ports."""
    paths = {path for tile in tiles for path in tile.paths}
    names = {name: net for name, net in whole["netnames"].items() if not next(enclosing(name, paths))}
    cells = {name: cell for name, cell in whole["cells"].items() if not next(enclosing(name, paths))}
    ports = dict(whole["ports"])
    for full, _, _, direction in _ports(tiles):
        names[full] = whole["netnames"][full]
        ports[full] = {"direction": OPPOSITE[direction], "bits": names[full]["bits"]}
    return {**whole, "ports": ports, "netnames": names, "cells": cells}


def differences(whole: Module, tile: Tile, netlist: Module) -> list[str]:
    """The paths of the instances in a joined netlist that differ from the tile's netlist in cells or
    connections.
    """
    cells: dict[str, dict[str, Cell]] = {path: {} for path in tile.paths}
    for name, cell in whole["cells"].items():
        if path := next(enclosing(name, cells)):
            cells[path][name[len(path) + 1 :]] = cell
    return [path for path in tile.paths if not _same(whole, path, cells[path], netlist)]


def _same(whole: Module, path: str, cells: Mapping[str, Cell], netlist: Module) -> bool:
    """Whether the cells at a path are those of a netlist, with the same connections."""
    kinds, there = (
        {name: (cell["type"], cell["connections"].keys()) for name, cell in side.items()}
        for side in (netlist["cells"], cells)
    )
    if kinds != there:
        return False
    names = whole["netnames"]
    pairs = [
        (data["bits"], names[full]["bits"] if (full := f"{path}{SEPARATOR}{port}") in names else [])
        for port, data in netlist["ports"].items()
    ]
    for name, cell in netlist["cells"].items():
        pairs += [(bits, cells[name]["connections"][pin]) for pin, bits in cell["connections"].items()]
    nets: dict[Bit, Bit] = {bit: bit for bit in CONSTANTS}
    return all(
        len(bits) == len(others)
        and all(nets.setdefault(bit, other) == other for bit, other in zip(bits, others, strict=True))
        for bits, others in pairs
    )
