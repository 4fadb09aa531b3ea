"""Mapped netlists as plain data: instances of library cells, nets by number, drivers and readers.

`read` takes what yosys' write_json writes: one flat module, bit by bit. A net's name is the one that Verilog
knows it by, a bit of a bus as "name[3]" by the bus's own numbering; where a net has several names a port's
goes first, then one from the source, then the shortest. Bits tied to a constant are nets too, one for each
value (`constants`), with no driver.

Whoever reads or drives is a pair (instance, pin); at a port the instance is "" and the pin is the port's bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...fl.errors import BadInput, unknown
from ..kit.liberty import Library
from . import document
from .document import Bits, Cell, Module

Terminal = tuple[str, str]
PORT = ""  # the instance of a terminal that is a bit of a port

CONSTANT_NAMES = {"0": "1'b0", "1": "1'b1", "x": "1'bx", "z": "1'bz"}


@dataclass(frozen=True)
class Instance:
    """A cell of the netlist; pins that are not connected are not in `pins`."""

    name: str
    kind: str
    pins: dict[str, int]


@dataclass
class Netlist:
    """A flat netlist; nets are numbers, indices of `nets`, `driver` and `sinks`."""

    name: str
    cells: dict[str, Instance]
    nets: list[str]
    ports: dict[str, tuple[str, list[int]]]  # (direction, nets from the last bit on)
    driver: list[Terminal | None]
    sinks: list[list[Terminal]]
    aliases: dict[str, int]  # every name of every net
    port_names: dict[str, list[str]] = field(default_factory=dict)  # of the bits of each port
    bus_bits: set[str] = field(default_factory=set)  # names, of nets and ports, that are bits of a bus
    constants: dict[int, str] = field(default_factory=dict)  # net: "0", "1", "x" or "z"

    def port_bits(self, direction: str) -> Iterator[tuple[str, int]]:
        """(name of the bit, net) of all ports of a direction."""
        for port, (way, nets) in self.ports.items():
            if way == direction:
                yield from zip(self.port_names[port], nets, strict=True)

    def net(self, name: str) -> int:
        """The number of the net of this name."""
        try:
            return self.aliases[name]
        except KeyError:
            raise unknown("net", name, []) from None


def read(path: str | Path, library: Library | None = None, top: str | None = None) -> Netlist:
    """The netlist in a JSON file of yosys; with a library all its cells and pins must be of the library.

    The module is `top`, else the one that is marked so, else the only one that has cells.
    """
    path = Path(path)
    modules = document.load(path)["modules"]
    name = _top(modules, top, path)
    return of_module(name, modules[name], library, path)


def of_module(
    name: str, module: Module, library: Library | None, path: Path | str = "the netlist"
) -> Netlist:
    """Read a module of yosys' JSON; `path` is the file that it comes from."""
    try:
        return _Builder(name, module, path, library).netlist()
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} is no netlist in yosys' JSON ({error!r}): write it with write_json") from None


def _top(modules: dict[str, Module], top: str | None, path: Path) -> str:
    if top is not None:
        if top not in modules:
            raise unknown("module", top, modules)
        return top
    marked = [
        name for name, module in modules.items() if int(str(module.get("attributes", {}).get("top", "0")), 2)
    ]
    filled = marked or [name for name, module in modules.items() if module.get("cells")]
    if len(filled) != 1:
        raise BadInput(f"{path}: which module is the netlist? There are {', '.join(modules) or 'none'}")
    return filled[0]


class _Builder:
    def __init__(self, name: str, module: Module, path: Path | str, library: Library | None) -> None:
        self.name, self.module, self.path, self.library = name, module, path, library
        self.index: dict[int | str, int] = {}
        self.names: list[str] = []
        self.driver: list[Terminal | None] = []
        self.sinks: list[list[Terminal]] = []
        self.bus_bits: set[str] = set()

    def net(self, bit: int | str) -> int:
        index = self.index.get(bit)
        if index is None:
            index = self.index[bit] = len(self.names)
            self.names.append("")
            self.driver.append(None)
            self.sinks.append([])
        return index

    def drive(self, net: int, terminal: Terminal) -> None:
        other = self.driver[net]
        if other is not None:
            raise BadInput(
                f"{self.path}: {_shown(other)} and {_shown(terminal)} drive the same net: a netlist of "
                "library cells "
                "without buses is needed"
            )
        self.driver[net] = terminal

    def netlist(self) -> Netlist:
        ports: dict[str, tuple[str, list[int]]] = {}
        port_names: dict[str, list[str]] = {}
        for port, data in self.module["ports"].items():
            nets = [self.net(bit) for bit in data["bits"]]
            names = port_names[port] = list(self.bit_names(port, data))
            ports[port] = (data["direction"], nets)
            for name, net in zip(names, nets, strict=True):
                terminal = (PORT, name)
                if data["direction"] == "input":
                    self.drive(net, terminal)
                elif data["direction"] == "output":
                    self.sinks[net].append(terminal)
                else:
                    raise BadInput(
                        f"{self.path}: the port {port} is {data['direction']}, which is not supported"
                    )
        cells = {name: self.instance(name, data) for name, data in self.module.get("cells", {}).items()}
        aliases = self.name_nets(ports)
        constants = {net: bit for bit, net in self.index.items() if isinstance(bit, str)}
        return Netlist(
            name=self.name,
            cells=cells,
            nets=self.names,
            ports=ports,
            driver=self.driver,
            sinks=self.sinks,
            aliases=aliases,
            port_names=port_names,
            bus_bits=self.bus_bits,
            constants=constants,
        )

    def instance(self, name: str, data: Cell) -> Instance:
        kind = data["type"]
        directions = data.get("port_directions")
        if self.library is not None:
            if kind not in self.library.cells:
                raise BadInput(
                    f"{self.path}: {name} is a {kind}, which is no cell of {self.library.name}: map the "
                    "netlist to it"
                )
            directions = {pin: item.direction for pin, item in self.library.cells[kind].pins.items()}
        if directions is None:
            raise BadInput(
                f"{self.path}: which pins of {kind} are outputs? Read it with the library of its cells"
            )
        pins = {}
        for pin, bits in data["connections"].items():
            if pin not in directions:
                raise BadInput(f"{self.path}: {name} has no pin {pin}, as a {kind}")
            if not bits:
                continue
            if len(bits) > 1:
                raise BadInput(
                    f"{self.path}: {name}/{pin} has {len(bits)} bits: it is not mapped to library cells"
                )
            if bits[0] == "x" and directions[pin] == "output":
                continue
            net = pins[pin] = self.net(bits[0])
            if directions[pin] == "output":
                self.drive(net, (name, pin))
            else:
                self.sinks[net].append((name, pin))
        return Instance(name, kind, pins)

    def bit_names(self, name: str, data: Bits) -> Iterator[str]:
        """The names of the bits of a port or a net, as Verilog numbers them."""
        width, offset = len(data["bits"]), data.get("offset", 0)
        if width == 1:  # yosys' Verilog has no range then, whatever the offset (splitnets leaves one behind)
            yield name
            return
        for place in range(width):
            text = f"{name}[{offset + (width - 1 - place if data.get('upto') else place)}]"
            self.bus_bits.add(text)
            yield text

    def name_nets(self, ports: dict[str, tuple[str, list[int]]]) -> dict[str, int]:
        aliases: dict[str, int] = {}
        best: list[tuple[bool, bool, int, str]] = [(True, True, 0, "")] * len(self.names)
        for name, data in self.module.get("netnames", {}).items():
            hidden = bool(data.get("hide_name", 0))
            for text, bit in zip(self.bit_names(name, data), data["bits"], strict=True):
                net = self.index.get(bit)
                if net is None:  # drives and feeds nothing
                    continue
                aliases[text] = net
                rank = (name not in ports, hidden, len(text), text)
                if not self.names[net] or rank < best[net]:
                    self.names[net], best[net] = text, rank
        for bit, net in self.index.items():
            if isinstance(bit, str):
                self.names[net] = CONSTANT_NAMES[bit]
            elif not self.names[net]:
                self.names[net] = f"_{bit}_"
            aliases.setdefault(self.names[net], net)
        return aliases


def connected(netlist: Netlist, cells: dict[str, Instance], nets: list[str], library: Library) -> Netlist:
    """A netlist of other cells on the same ports and nets, to which more may have been added."""
    driver: list[Terminal | None] = [None] * len(nets)
    sinks: list[list[Terminal]] = [[] for _ in nets]
    for bit, net in netlist.port_bits("input"):
        driver[net] = (PORT, bit)
    for bit, net in netlist.port_bits("output"):
        sinks[net].append((PORT, bit))
    for name, cell in cells.items():
        directions = library.cells[cell.kind].pins
        for pin, net in cell.pins.items():
            if directions[pin].direction == "output":
                driver[net] = (name, pin)
            else:
                sinks[net].append((name, pin))
    aliases = netlist.aliases | {nets[net]: net for net in range(len(netlist.nets), len(nets))}
    return replace(netlist, cells=cells, nets=nets, driver=driver, sinks=sinks, aliases=aliases)


def write_back(module: Module, before: Netlist, after: Netlist, library: Library) -> None:
    """Bring a module of yosys' JSON, which `before` was read from, to `after`, which has been made of it by
    `connected`.
    """
    cells = module["cells"]
    bits: dict[int, int | str] = {}
    for name, cell in before.cells.items():
        for pin, net in cell.pins.items():
            bits[net] = cells[name]["connections"][pin][0]
    for port, (_, nets) in before.ports.items():
        bits |= dict(zip(nets, module["ports"][port]["bits"], strict=True))
    used = [bit for net in module["netnames"].values() for bit in net["bits"]]
    fresh = itertools.count(1 + max(bit for bit in (*bits.values(), *used) if isinstance(bit, int)))
    for net in range(len(before.nets), len(after.nets)):
        bits[net] = next(fresh)
        module["netnames"][after.nets[net]] = {"hide_name": 0, "bits": [bits[net]], "attributes": {}}
    for name in before.cells.keys() - after.cells.keys():
        del cells[name]
    for name, cell in after.cells.items():
        if name not in cells or cell.pins.keys() - cells[name]["connections"].keys():
            pins = library.cells[cell.kind].pins
            cells[name] = {
                "hide_name": 0,
                "type": cell.kind,
                "parameters": {},
                "attributes": {},
                "port_directions": {pin: pins[pin].direction for pin in cell.pins},
                "connections": {},
            }
        cells[name]["type"] = cell.kind
        cells[name]["connections"] |= {pin: [bits[net]] for pin, net in cell.pins.items()}
    if len(after.cells.keys() & before.cells.keys()) < len(before.cells):
        # names of nets that went with their cells; of a bus, such as a memory of which some words are never
        # read, only with the last
        there = {bits[net] for cell in after.cells.values() for net in cell.pins.values()}
        there |= {bits[net] for _, nets in after.ports.values() for net in nets}
        names = module["netnames"]
        module["netnames"] = {
            name: net
            for name, net in names.items()
            if any(bit in there or isinstance(bit, str) for bit in net["bits"])
        }


def _shown(terminal: Terminal) -> str:
    return "/".join(terminal) if terminal[0] else f"the port {terminal[1]}"
