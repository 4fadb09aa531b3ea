"""Mapped netlists as plain data: instances of library cells, nets by number, drivers and readers.

`read` takes what yosys' write_json writes: one flat module, bit by bit. A net's name is the one that Verilog
knows it by, a bit of a bus as "name[3]" by the bus's own numbering; where a net has several names a port's
goes first, then one from the source, then the shortest. Bits tied to a constant are nets too, one for each
value (`constants`), with no driver.

Whoever reads or drives is a pair (instance, pin); at a port the instance is "" and the pin is the port's bit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...fl.errors import BadInput, unknown
from ..kit.liberty import Library
from . import document
from .document import Bit, Bits, Cell, Module, fresh_nets, made_cell

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
    """A netlist that grows by the ports, cells and names of a module."""

    def __init__(self, name: str, module: Module, path: Path | str, library: Library | None) -> None:
        self.module, self.path, self.library = module, path, library
        self.index: dict[Bit, int] = {}
        self.made = Netlist(name, {}, [], {}, [], [], {})

    def net(self, bit: Bit) -> int:
        if bit not in self.index:
            self.index[bit] = len(self.made.nets)
            self.made.nets.append("")
            self.made.driver.append(None)
            self.made.sinks.append([])
        return self.index[bit]

    def connect(self, net: int, terminal: Terminal, *, drives: bool) -> None:
        if not drives:
            self.made.sinks[net].append(terminal)
            return
        if (other := self.made.driver[net]) is not None:
            raise BadInput(
                f"{self.path}: {_shown(other)} and {_shown(terminal)} drive the same net: a netlist of "
                "library cells without buses is needed"
            )
        self.made.driver[net] = terminal

    def netlist(self) -> Netlist:
        made = self.made
        for port, data in self.module["ports"].items():
            way = data["direction"]
            if way not in ("input", "output"):
                raise BadInput(f"{self.path}: the port {port} is {way}, which is not supported")
            made.ports[port] = (way, [self.net(bit) for bit in data["bits"]])
            made.port_names[port] = list(self.bit_names(port, data))
            for name, net in zip(made.port_names[port], made.ports[port][1], strict=True):
                self.connect(net, (PORT, name), drives=way == "input")
        for name, cell in self.module.get("cells", {}).items():
            made.cells[name] = self.instance(name, cell)
        self.name_nets()
        made.constants = {net: bit for bit, net in self.index.items() if isinstance(bit, str)}
        return made

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
            if len(bits) > 1:
                raise BadInput(
                    f"{self.path}: {name}/{pin} has {len(bits)} bits: it is not mapped to library cells"
                )
            drives = directions[pin] == "output"
            if bits and not (drives and bits[0] == "x"):
                pins[pin] = self.net(bits[0])
                self.connect(pins[pin], (name, pin), drives=drives)
        return Instance(name, kind, pins)

    def bit_names(self, name: str, data: Bits) -> Iterator[str]:
        """The names of the bits of a port or a net, as Verilog numbers them."""
        width, offset = len(data["bits"]), data.get("offset", 0)
        if width == 1:  # yosys' Verilog has no range then, whatever the offset (splitnets leaves one behind)
            yield name
            return
        for place in range(width):
            text = f"{name}[{offset + (width - 1 - place if data.get('upto') else place)}]"
            self.made.bus_bits.add(text)
            yield text

    def name_nets(self) -> None:
        names, aliases = self.made.nets, self.made.aliases
        best: dict[int, tuple[bool, bool, int, str]] = {}
        for name, data in self.module.get("netnames", {}).items():
            hidden = bool(data.get("hide_name", 0))
            for text, bit in zip(self.bit_names(name, data), data["bits"], strict=True):
                if (net := self.index.get(bit)) is not None:  # else it drives and feeds nothing
                    aliases[text] = net
                    rank = (name not in self.made.ports, hidden, len(text), text)
                    best[net] = min(best.get(net, rank), rank)
        for bit, net in self.index.items():
            if isinstance(bit, str):
                names[net] = CONSTANT_NAMES[bit]
            else:
                names[net] = best[net][-1] if net in best else f"_{bit}_"
            aliases.setdefault(names[net], net)


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
    cells, names = module["cells"], module["netnames"]
    bits: dict[int, Bit] = {
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
        # names of nets that went with their cells; of a bus, such as a memory of which some words are never
        # read, only with the last
        there = {bits[net] for cell in after.cells.values() for net in cell.pins.values()}
        there |= {bits[net] for _, nets in after.ports.values() for net in nets}
        module["netnames"] = {
            name: net
            for name, net in names.items()
            if any(bit in there or isinstance(bit, str) for bit in net["bits"])
        }


def _shown(terminal: Terminal) -> str:
    return "/".join(terminal) if terminal[0] else f"the port {terminal[1]}"
