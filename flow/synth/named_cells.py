"""Maps adders and row selections that a design names to library cells before synthesis.

A bit heap of thousands of full adders is already the best tree as it is written, and a mapper that receives
it as gates restructures it, which takes hours. Therefore modules whose name begins with a key of NAMES are
analysed, and no others. If one or two outputs of such a module compute the functions of the kit's cells in
this role (role_cells.py), by the complete truth table and regardless of port names, those cells replace these
bits. Yosys' passes do not look into the cells, and abc only gets the logic between them. The rest of the
module stays as it is written, and so do bits with a constant or two equal signals among their inputs, or
with an unread output, because logic optimisation makes them smaller. This applies to designs with at least
LEAST such cells: abc maps smaller designs in a minute, and sizing finds their adders afterwards
(sizing/full_adders.py).

Mapping keeps the names of these cells (INSTANCE.adder7, or adder7_0 and on if there are several), by which
the equivalence proof finds them on both sides (prove/equivalence.py).
"""

import functools
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..kit.functions import columns, parse
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

# The naming convention (docs/reference/flow.md): for each prefix of a module name, the role of its bits in
# the kit, and the base name of the cells.
NAMES = {
    "FullAdders": ("full_adder", "adder"),
    "HalfAdders": ("half_adder", "half"),
    "RowSelect": ("selector", "select"),
}
LEAST = 3_000
MOST_INPUTS = 6  # of a cell

Leaves = tuple[Bit, ...]

# bitwise word operators, and their gates
WORDS = {f"${name}": f"$_{name.upper()}_" for name in ("and", "or", "xor", "xnor", "not", "mux")}

Gate = tuple[str, Leaves]  # its type, and its inputs in the order of its function's inputs


class Bits(NamedTuple):
    """Outputs of a module that become the cells of a role: the nets of the leaves and outputs, by their
    numbers in the network.
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
    """A module that is analysed: its gates, and the outputs that become cells."""

    module: Module
    what: str  # base name of its cells
    bits: list[Bits]
    driver: dict[Bit, Gate]

    def count(self, instance: Cell) -> int:
        """The number of an instance's bits that become cells: those without a constant input."""
        nets = {
            inner: outer
            for port, outside in instance["connections"].items()
            for inner, outer in zip(self.module["ports"][port]["bits"], outside, strict=True)
        }
        return sum(all(isinstance(nets[net], int) for net in bits.inputs.values()) for bits in self.bits)


def likely(design: Document) -> dict[str, str]:
    """The modules whose names begin with a key of NAMES, and the key; empty if they have few bits
    altogether.
    """
    # names in an exported design begin with the name of its top; yosys names a module with parameters
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
    """All cells of these modules or types."""
    for module in design["modules"].values():
        yield from (cell for cell in module["cells"].values() if cell["type"] in modules)


def width(module: Module) -> int:
    """The largest number of cells that a module may become."""
    outputs = (port for port in module["ports"].values() if port["direction"] == "output")
    return max((len(port["bits"]) for port in outputs), default=0)


def find(design: Document, library: Library) -> dict[str, Form]:
    """The modules of a hierarchical design that have bits which become cells; empty if these are few."""
    digest = forms(design)
    known = {}  # shared by modules of equal form
    found = {}
    for name, start in likely(design).items():
        if digest(name) not in known:
            known[digest(name)] = _form(design["modules"][name], *NAMES[start], library)
        if form := known[digest(name)]:
            found[name] = form
    cells = sum(found[instance["type"]].count(instance) for instance in instances(design, found))
    return found if cells >= LEAST else {}


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


# ---- search


def _form(module: Module, role: str, what: str, library: Library) -> Form | None:
    """Analyse a module; None if it has more than bitwise gates, or no bit that becomes a cell."""
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
    """The bits of a module that have the functions of the kit's cells for this role."""
    _, network, tables = role_cells.find(library, role)
    if network is None:
        return
    inputs = {*port_bits(module, "input")}

    @functools.cache
    def leaves(net: Bit) -> Leaves | None:
        """The module inputs that a net depends on; None if there are too many, or if no gate drives it."""
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
    words = dict(zip(leaves, columns(len(leaves)), strict=True))

    def value(net: Bit) -> int:
        if net in logic.CONSTANTS:
            return -logic.CONSTANTS[net]
        if net not in words:
            gate, inputs = driver[net]
            words[net] = parse(logic.GATES[gate]).words(list(map(value, inputs)))
        return words[net]

    return value(net) & (1 << (1 << len(leaves))) - 1


# ---- replacement

# by module and cell: its form and bits, and the base name of the bits' cells
Placed = dict[tuple[str, str], tuple[Form, Bits, str]]


def expand(design: Document, forms: Mapping[str, Form], library: Library) -> Placed:
    """Replace the instances of analysed modules, in a design that is otherwise flat, by cells and by gates
    for the other bits; return the cells.
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
                if there is None:  # unconnected
                    there = ["x" if inputs else next(fresh) for _ in data["bits"]]
                for net, outside in zip(data["bits"], there, strict=True):
                    if not inputs and (net in nets or net in logic.CONSTANTS):
                        # the output is also an input, another output or a constant
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
    """Replace cells that have a constant or repeated input or an unread output by gates; return their
    number.
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
    """The nets of a network, by number, as far as its remaining cells connect them."""
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
    """Add the gates that drive these nets of a form to a module; `nets` has the existing nets and is
    extended.
    """
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
