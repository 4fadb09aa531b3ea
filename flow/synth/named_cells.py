"""Maps adders and row selections that a design names to library cells before synthesis.

A bit heap of thousands of full adders is the best tree there is when it is written down, and a mapper that is
shown its gates takes it apart, for hours. So modules whose name begins with a word of NAMES are looked into
(a module of another name is not): where the function of two of its outputs, or of one, is that of the kit's
cells in this role (role_cells.py), by all rows of the truth table and whatever the ports are called, these
bits become those cells, which no pass of yosys looks into, and abc sees what is between such cells alone. All
else of such a module stays as it is written, as do bits with a constant or two like signals among their
inputs, or with an output that nobody reads: logic makes less of them. This is done where a design has at
least LEAST such cells: smaller designs abc does in a minute, and sizing finds their adders afterwards
(sizing/full_adders.py).

The cells have names that mapping keeps (INSTANCE.adder7, or adder7_0 and on where there are several), by
which the proof finds them on both sides (prove/equivalence.py).
"""

import functools
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..kit.functions import parse
from ..kit.liberty import Library
from ..netlist import logic
from ..netlist.document import (
    SEPARATOR,
    Bit,
    Cell,
    Document,
    Module,
    fresh_nets,
    made_cell,
    port_bits,
    readers,
)
from . import role_cells
from .role_cells import Network
from .sharing import extended
from .tiles import forms

# A convention for designs from anywhere (flow/README.md). How the name of a module begins: the role that its
# bits may have in the kit, and the name of such a cell.
NAMES = {
    "FullAdders": ("full_adder", "adder"),
    "HalfAdders": ("half_adder", "half"),
    "RowSelect": ("selector", "select"),
}
LEAST = 3_000
MOST_INPUTS = 6  # of a cell

Leaves = tuple[Bit, ...]

# words that are gates bit by bit
WORDS = {f"${name}": f"$_{name.upper()}_" for name in ("and", "or", "xor", "xnor", "not", "mux")}

Gate = tuple[str, Leaves]  # its type, and its inputs in the order of its function's


class Bits(NamedTuple):
    """Outputs of a module that are those of a role's cells: the nets of its leaves and of its outputs, by
    their numbers in the network.
    """

    network: Network
    inputs: dict[int, Bit]
    outputs: dict[int, Bit]

    def names(self, base: str) -> list[str]:
        """The names of the cells."""
        several = len(self.network.cells) > 1
        return [f"{base}_{number}" if several else base for number in range(len(self.network.cells))]


@dataclass
class Form:
    """A module that is looked into: its gates, and which of its outputs are cells."""

    module: Module
    what: str  # its cells are called so
    bits: list[Bits]
    driver: dict[Bit, Gate]

    def count(self, instance: Cell) -> int:
        """How many cells an instance has: bits without a constant among their inputs."""
        nets = {
            inner: outer
            for port, outside in instance["connections"].items()
            for inner, outer in zip(self.module["ports"][port]["bits"], outside, strict=True)
        }
        return sum(all(isinstance(nets[net], int) for net in bits.inputs.values()) for bits in self.bits)


def likely(design: Document) -> dict[str, str]:
    """The modules whose name says what they are, and what that is; none if all of them have few bits."""
    # modules of a design that is exported begin with the name of its top; yosys names one with parameters
    # $paramod\\NAME\\..., or $paramod$HASH\\NAME
    found = {
        name: start
        for name in design["modules"]
        for start in NAMES
        if re.match(rf"(\$paramod(\$\w+)?)?\\?(\w+_)?{start}", name)
    }
    cells = sum(width(design["modules"][instance["type"]]) for instance in instances(design, found))
    return found if cells >= LEAST else {}


def instances(design: Document, modules: Container[str]) -> Iterator[Cell]:
    """The instances of these modules, or cells of these types."""
    for module in design["modules"].values():
        yield from (cell for cell in module["cells"].values() if cell["type"] in modules)


def width(module: Module) -> int:
    """How many cells it may be."""
    outputs = (port for port in module["ports"].values() if port["direction"] == "output")
    return max((len(port["bits"]) for port in outputs), default=0)


def find(design: Document, library: Library) -> dict[str, Form]:
    """The modules of a design that has its hierarchy whose bits are cells; none where these are few."""
    digest = forms(design)
    known = {}  # one for all modules that are alike
    found = {}
    for name, start in likely(design).items():
        if digest(name) not in known:
            known[digest(name)] = _form(design["modules"][name], *NAMES[start], library)
        if form := known[digest(name)]:
            found[name] = form
    cells = sum(found[instance["type"]].count(instance) for instance in instances(design, found))
    return found if cells >= LEAST else {}


# ---- which bits are cells


def _form(module: Module, role: str, what: str, library: Library) -> Form | None:
    """A module that is looked into; None if it is more than words of gates, or no bit of it is a cell."""
    driver = {}
    for cell in module["cells"].values():
        kind, pins, parameters = cell["type"], cell["connections"], cell.get("parameters", {})
        if kind not in WORDS:
            return None
        operands = []
        for pin in parse(logic.GATES[WORDS[kind]]).inputs:
            bits = pins[pin]
            signed = pin != "S" and int(str(parameters.get(f"{pin}_SIGNED", 0)), 2)
            operands.append(extended(bits, len(pins["Y"]), bits[-1] if signed or pin == "S" else "0"))
        for place, net in enumerate(pins["Y"]):
            driver[net] = WORDS[kind], tuple(bits[place] for bits in operands)
    found = list(_cells(module, driver, role, library))
    return Form(module, what, found, driver) if found else None


def _cells(module: Module, driver: Mapping[Bit, Gate], role: str, library: Library) -> Iterator[Bits]:
    """The bits of a module that are the cell of the kit in this role."""
    _, network, tables = role_cells.find(library, role)
    if network is None:
        return
    inputs = {*port_bits(module, "input")}

    @functools.cache
    def leaves(net: Bit) -> Leaves | None:
        """The inputs that a net depends on; None if these are too many, or it is no gates'."""
        if net in logic.CONSTANTS or net in inputs:
            return (net,) if net in inputs else ()
        below = [leaves(bit) for bit in driver[net][1]] if net in driver else [None]
        found = {leaf for own in below for leaf in own or ()}
        return tuple(sorted(found, key=str)) if None not in below and len(found) <= MOST_INPUTS else None

    by_leaves: defaultdict[Leaves, dict[int, Bit]] = defaultdict(dict)
    for net in port_bits(module, "output"):
        if nets := leaves(net):
            by_leaves[nets][_table(net, nets, driver)] = net
    for nets, values in by_leaves.items():
        for found, order in tables.items():
            if len(order) == len(nets) and values.keys() >= {*found}:
                outputs = {net: values[table] for net, table in zip(network.outputs, found, strict=True)}
                yield Bits(network, dict(zip(order, nets, strict=True)), outputs)
                break


def _table(net: Bit, leaves: Leaves, driver: Mapping[Bit, Gate]) -> int:
    """The truth table of a net over its leaves."""
    size = 1 << len(leaves)
    words = {leaf: sum(1 << row for row in range(size) if row >> k & 1) for k, leaf in enumerate(leaves)}

    def value(net: Bit) -> int:
        if net in logic.CONSTANTS:
            return -logic.CONSTANTS[net]
        if net not in words:
            gate, inputs = driver[net]
            words[net] = parse(logic.GATES[gate]).words(list(map(value, inputs)))
        return words[net]

    return value(net) & (1 << size) - 1


# ---- in their places

# by the names of module and cell: what it is of, and the name of the whole
Placed = dict[tuple[str, str], tuple[Form, Bits, str]]


def expand(design: Document, forms: Mapping[str, Form], library: Library) -> Placed:
    """Put cells, and gates for what is none, in the place of the modules that are looked into, in a design
    that is flat but for these; return the cells.
    """
    placed = {}
    for own, module in design["modules"].items():
        fresh = fresh_nets(module)
        for path, cell in [*module["cells"].items()]:
            if (form := forms.get(cell["type"])) is None:
                continue
            del module["cells"][path]
            nets: dict[Bit, Bit] = {}
            rest: set[Bit] = set()
            for port, data in sorted(form.module["ports"].items(), key=lambda item: item[1]["direction"]):
                inputs = data["direction"] == "input"
                there = cell["connections"].get(port)
                if there is None:  # nothing is connected to it
                    there = ["x" if inputs else next(fresh) for _ in data["bits"]]
                for net, outside in zip(data["bits"], there, strict=True):
                    if not inputs and (net in nets or net in logic.CONSTANTS):
                        # an input, or another output too
                        wire = made_cell("$_BUF_", {"A": [nets.get(net, net)], "Y": [outside]}, "Y")
                        module["cells"][f"{path}{SEPARATOR}$wire{next(fresh)}"] = wire
                    else:
                        nets[net] = outside
                        rest.update(() if inputs else [net])
            for number, bits in enumerate(form.bits):
                base = f"{path}{SEPARATOR}{form.what}{number}"
                inside = {pin: nets[net] for pin, net in (bits.inputs | bits.outputs).items()}
                for name, (kind, pins) in zip(bits.names(base), bits.network.cells, strict=True):
                    connected = {
                        pin: [inside[net] if net in inside else inside.setdefault(net, next(fresh))]
                        for pin, net in pins
                    }
                    module["cells"][name] = made_cell(kind, connected, library.cells[kind].outputs)
                    placed[own, name] = form, bits, base
                rest.difference_update(bits.outputs.values())
            _add_gates(module, path, form, rest, nets, fresh)
    return placed


def simplify(design: Document, placed: Placed) -> int:
    """Gates for cells with a constant or two like signals among their inputs or with an output that
    nobody reads; how many.
    """
    count = 0
    for own, module in design["modules"].items():
        fresh = fresh_nets(module)
        read = readers(module)
        groups = {
            placed[own, name][2]: placed[own, name] for name in module["cells"] if (own, name) in placed
        }
        for form, bits, base in groups.values():
            names = [name for name in bits.names(base) if name in module["cells"]]
            pins = _nets(module, bits, base)
            inputs = [pins.get(leaf) for leaf in bits.inputs]
            whole = len({*inputs}) == len(inputs) and all(isinstance(net, int) for net in inputs)
            wanted = {net for pin, net in bits.outputs.items() if pins.get(pin) in read}
            if whole and len(wanted) == len(bits.outputs) and len(names) == len(bits.network.cells):
                continue
            count += 1
            for name in names:
                del module["cells"][name]
            nets = {net: pins[pin] for pin, net in (bits.inputs | bits.outputs).items() if pin in pins}
            _add_gates(module, base, form, wanted, nets, fresh)
    return count


def _nets(module: Module, bits: Bits, base: str) -> dict[int, Bit]:
    """The nets of a network by their numbers, of those of its cells that are still there."""
    found: dict[int, Bit] = {}
    for name, (_, pins) in zip(bits.names(base), bits.network.cells, strict=True):
        if name in module["cells"]:
            connections = module["cells"][name]["connections"]
            found |= {net: connections[pin][0] for pin, net in pins if connections.get(pin)}
    return found


def _add_gates(
    module: Module,
    path: str,
    form: Form,
    wanted: Iterable[Bit],
    nets: dict[Bit, Bit],
    fresh: Iterator[int],
) -> None:
    """Add the gates of these nets of a form to a module; `nets` has those that are there already."""
    todo = [net for net in wanted if net in form.driver]
    made = set()
    for net in todo:  # grows
        if net in made:
            continue
        made.add(net)
        gate, inputs = form.driver[net]
        for bit in inputs:
            if isinstance(bit, int) and bit not in nets:
                nets[bit] = next(fresh)
                todo += [bit] if bit in form.driver else []
        operands = zip(parse(logic.GATES[gate]).inputs, inputs, strict=True)
        pins = {**{pin: [nets.get(bit, bit)] for pin, bit in operands}, "Y": [nets[net]]}
        module["cells"][f"{path}{SEPARATOR}${len(made)}"] = made_cell(gate, pins, "Y", hide_name=1)
