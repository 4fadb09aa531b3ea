"""Mapped netlists as plain data: instances of library cells, nets by number, drivers and readers.

`read` reads the output of yosys' write_json: one flat module, bit by bit. The name of a net is its name in
Verilog; a bit of a bus is "name[3]", in the numbering of the bus. If a net has several names, a port's name
is preferred, then a name from the source, then the shortest. Bits tied to a constant are nets without a
driver, one for each value (`constants`).

A driver or reader is a pair (instance, pin); for a port the instance is "" and the pin is the name of the
port's bit.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...fl.errors import BadInput, unknown
from ..kit.liberty import Library
from . import document
from .document import Bit, Bits, Cell, Module, fresh_nets, made_cell

Terminal = tuple[str, str]
PORT = ""  # the instance of a terminal that is a bit of a port
SOURCE_LATCH = re.compile(r"_latch(_\d+)?$")  # name of a latch of the source (synth/netlist_files.py)

CONSTANT_NAMES = {"0": "1'b0", "1": "1'b1", "x": "1'bx", "z": "1'bz"}


@dataclass(frozen=True)
class Instance:
    """A cell of the netlist; `pins` lacks unconnected pins."""

    name: str
    kind: str
    pins: dict[str, int]


@dataclass
class Netlist:
    """A flat netlist; nets are numbers: indices of `nets`, `driver` and `sinks`."""

    name: str
    cells: dict[str, Instance]
    nets: list[str]
    ports: dict[str, tuple[str, list[int]]]  # (direction, nets from bit 0 up)
    driver: list[Terminal | None]
    sinks: list[list[Terminal]]
    aliases: dict[str, int]  # every name of every net
    port_names: dict[str, list[str]] = field(default_factory=dict)  # of the bits of each port
    bus_bits: set[str] = field(default_factory=set)  # names of nets and ports that are bits of a bus
    constants: dict[int, str] = field(default_factory=dict)  # net: "0", "1", "x" or "z"

    def port_bits(self, direction: str) -> Iterator[tuple[str, int]]:
        """(name of the bit, net) of all ports of a direction."""
        for port, (way, nets) in self.ports.items():
            if way == direction:
                yield from zip(self.port_names[port], nets, strict=True)

    def net(self, name: str) -> int:
        """The number of a net, by name."""
        try:
            return self.aliases[name]
        except KeyError:
            raise unknown("net", name, []) from None


def read(path: Path, library: Library, top: str | None = None) -> Netlist:
    """Read a netlist from a JSON file of yosys; all its cells and pins must be in the library.

    The module is `top`, or else the one with the attribute `top`, or else the only one that has cells.
    """
    modules = document.load(path)["modules"]
    name = _top(modules, top, path)
    try:
        return _read(name, modules[name], library, path)
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


def _read(name: str, module: Module, library: Library, path: Path) -> Netlist:
    index: dict[Bit, int] = {}  # the number of each net
    made = Netlist(name, {}, [], {}, [], [], {})

    def net(bit: Bit) -> int:
        return index.setdefault(bit, len(index))

    def instance(name: str, data: Cell) -> Instance:
        kind = data["type"]
        pins = {}
        if kind not in library.cells:
            raise BadInput(
                f"{path}: {name} is a {kind}, which is no cell of {library.name}: map the netlist to it"
            )
        for pin, bits in data["connections"].items():
            known = library.cells[kind].pins.get(pin)
            if known is None:
                raise BadInput(f"{path}: {name} has no pin {pin}, as a {kind}")
            if len(bits) > 1:
                raise BadInput(
                    f"{path}: {name}/{pin} has {len(bits)} bits: it is not mapped to library cells"
                )
            if bits and not (known.direction == "output" and bits[0] == "x"):
                pins[pin] = net(bits[0])
        return Instance(name, kind, pins)

    for port, data in module["ports"].items():
        way = data["direction"]
        if way not in ("input", "output"):
            raise BadInput(f"{path}: the port {port} is {way}, which is not supported")
        made.ports[port] = way, list(map(net, data["bits"]))
        made.port_names[port] = bit_names(port, data, made.bus_bits)
    cells = {name: instance(name, cell) for name, cell in module.get("cells", {}).items()}
    best: dict[int, tuple[bool, bool, int, str]] = {}
    for name, named in module.get("netnames", {}).items():
        for text, bit in zip(bit_names(name, named, made.bus_bits), named["bits"], strict=True):
            if bit in index:  # other nets are unconnected
                place = made.aliases[text] = index[bit]
                rank = (name not in made.ports, bool(named.get("hide_name")), len(text), text)
                best[place] = min(best.get(place, rank), rank)
    for bit, place in index.items():
        if isinstance(bit, str):
            made.constants[place] = bit
            made.nets.append(CONSTANT_NAMES[bit])
        else:
            made.nets.append(best[place][-1] if place in best else f"_{bit}_")
        made.aliases.setdefault(made.nets[place], place)
    return connected(made, cells, made.nets, library, path)


def bit_names(name: str, data: Bits, bus_bits: set[str]) -> list[str]:
    """The names of the bits of a port or net in Verilog's numbering; bits of a bus are added to
    `bus_bits`.
    """
    width = len(data["bits"])
    offset = data.get("offset", 0)
    if width == 1:  # then yosys writes no range, even with an offset (splitnets leaves one)
        return [name]
    places = range(width)[::-1] if data.get("upto") else range(width)
    names = [f"{name}[{offset + place}]" for place in places]
    bus_bits.update(names)
    return names


def connected(
    netlist: Netlist,
    cells: dict[str, Instance],
    nets: list[str],
    library: Library,
    path: Path | str = "the netlist",
) -> Netlist:
    """A netlist of other cells on the same ports and nets; `nets` may be longer than before. BadInput for a
    net with two drivers.
    """
    driver: list[Terminal | None] = [None] * len(nets)
    sinks: list[list[Terminal]] = [[] for _ in nets]

    def connect(net: int, terminal: Terminal, drives: bool) -> None:
        if not drives:
            sinks[net].append(terminal)
        elif (other := driver[net]) is None:
            driver[net] = terminal
        else:
            raise BadInput(
                f"{path}: {_shown(other)} and {_shown(terminal)} drive the same net: a netlist of "
                "library cells without buses is needed"
            )

    for way in ("input", "output"):
        for bit, net in netlist.port_bits(way):
            connect(net, (PORT, bit), way == "input")
    for name, cell in cells.items():
        pins = library.cells[cell.kind].pins
        for pin, net in cell.pins.items():
            connect(net, (name, pin), pins[pin].direction == "output")
    aliases = netlist.aliases | {nets[net]: net for net in range(len(netlist.nets), len(nets))}
    return replace(netlist, cells=cells, nets=nets, driver=driver, sinks=sinks, aliases=aliases)


def write_back(module: Module, before: Netlist, after: Netlist, library: Library) -> None:
    """Update a module of yosys' JSON, from which `before` was read, to `after`, a result of `connected`."""
    cells, names = module["cells"], module["netnames"]
    bits = {
        net: cells[name]["connections"][pin][0]
        for name, cell in before.cells.items()
        for pin, net in cell.pins.items()
    }
    for port, (_, nets) in before.ports.items():
        bits |= dict(zip(nets, module["ports"][port]["bits"], strict=True))
    fresh = fresh_nets(module)
    for net in range(len(before.nets), len(after.nets)):
        bits[net] = next(fresh)
        names[after.nets[net]] = {"hide_name": 0, "bits": [bits[net]], "attributes": {}}
    module["cells"] = {}
    for name, cell in after.cells.items():
        pins = {pin: [bits[net]] for pin, net in cell.pins.items()}
        old = cells.get(name)
        if old is None or pins.keys() - old["connections"].keys():
            old = made_cell(cell.kind, pins, library.cells[cell.kind].outputs)
        module["cells"][name] = {**old, "type": cell.kind, "connections": old["connections"] | pins}
    if before.cells.keys() - after.cells.keys():
        # drop the names of removed nets; a bus, such as a memory with unread words, only if all its bits are
        # removed
        there = {bits[net] for cell in after.cells.values() for net in cell.pins.values()}
        there |= {bits[net] for _, nets in after.ports.values() for net in nets}
        module["netnames"] = {
            name: net
            for name, net in names.items()
            if any(bit in there or isinstance(bit, str) for bit in net["bits"])
        }


def _shown(terminal: Terminal) -> str:
    return "/".join(terminal) if terminal[0] else f"the port {terminal[1]}"
