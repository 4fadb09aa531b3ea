"""Maps adders and row selections that a design names to library cells before synthesis.

A bit heap of thousands of full adders is the best tree there is when it is written down, and a mapper that is
shown its gates takes it apart, for hours. So modules whose name begins with a word of NAMES are looked into
(a module of another name is not): where the function of two of its outputs, or of one, is that of the kit's
cell in this role, by all rows of the truth table and whatever the ports are called, these bits become that
cell, which no pass of yosys looks into, and abc sees what is between such cells alone. All else of such a
module stays as it is written, as do bits with a constant or two like signals among their inputs, or with an
output that nobody reads: logic makes less of them. This is done where a design has at least LEAST such cells:
smaller designs abc does in a minute, and sizing finds their adders afterwards (sizing/full_adders.py).

The cells have names that mapping keeps (INSTANCE.adder7), by which the proof finds them on both sides
(prove/equivalence.py).
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..kit.functions import parse
from ..kit.kit_file import Adder
from ..kit.liberty import Library
from ..netlist import logic
from ..netlist.document import Bit, Cell, Document, Module, cell_bits, port_bits
from ..netlist.ownership import SEPARATOR
from .sharing import fresh_nets
from .tiles import Forms

# how the name of a module begins: what its bits may be, and what these are called
NAMES = {
    "FullAdders": ("full_adder", "adder"),
    "HalfAdders": ("half_adder", "half"),
    "RowSelect": ("selector", "select"),
}
LEAST = 2_500
MOST_INPUTS = 6  # of a cell

Leaves = tuple[Bit, ...]

# words that are gates bit by bit
WORDS = {
    "$and": "$_AND_",
    "$or": "$_OR_",
    "$xor": "$_XOR_",
    "$xnor": "$_XNOR_",
    "$not": "$_NOT_",
    "$mux": "$_MUX_",
}

Gate = tuple[str, Leaves]  # its type, and its inputs in the order of its function's


class Bits(NamedTuple):
    """Outputs of a module that are those of one cell: the nets of its pins."""

    kind: str
    inputs: dict[str, Bit]
    outputs: dict[str, Bit]


@dataclass
class Form:
    """A module that is looked into: its gates, and which of its outputs are cells."""

    module: Module
    what: str  # its cells are called so
    bits: list[Bits]
    driver: dict[Bit, Gate]


def likely(design: Document) -> dict[str, str]:
    """The modules whose name says what they are, and what that is; none where they have few bits."""
    # modules of a design that is exported begin with the name of its top
    found = {
        name: start for name in design["modules"] for start in NAMES if re.match(rf"\\?(\w+_)?{start}", name)
    }
    return found if sum(width(design["modules"][name]) for name in found) >= LEAST else {}


def width(module: Module) -> int:
    """How many cells it may be."""
    return max(
        (len(port["bits"]) for port in module["ports"].values() if port["direction"] == "output"), default=0
    )


def find(design: Document, library: Library) -> dict[str, Form]:
    """The modules of a design that has its hierarchy whose bits are cells; none where these are few."""
    of = Forms(design)
    first: dict[str, tuple[str, str]] = {}  # the module that stands for all that are alike, and its word
    alike: dict[str, str] = {}
    for name, start in likely(design).items():
        alike[name] = of(name)
        first.setdefault(alike[name], (name, start))
    forms: dict[str, Form] = {}
    for key, (name, start) in first.items():
        role, what = NAMES[start]
        module = design["modules"][name]
        driver = _gates_of(module)
        if driver is not None:
            forms[key] = Form(module, what, list(_cells(module, driver, role, library)), driver)
    found = {name: forms[key] for name, key in alike.items() if key in forms and forms[key].bits}
    return found if sum(len(form.bits) for form in found.values()) >= LEAST else {}


# ---- which bits are cells


def _gates_of(module: Module) -> dict[Bit, Gate] | None:
    """The gates of a module's nets; None if it is more than words of gates."""
    found: dict[Bit, Gate] = {}
    for cell in module["cells"].values():
        kind, pins, parameters = cell["type"], cell["connections"], cell.get("parameters", {})
        if kind not in WORDS:
            return None
        gate = WORDS[kind]
        operands: list[list[Bit]] = []
        for pin in parse(logic.GATES[gate]).inputs:
            bits = pins[pin]
            signed = pin != "S" and int(str(parameters.get(f"{pin}_SIGNED", 0)), 2)
            more = bits[-1] if signed or pin == "S" else "0"
            operands.append([*bits, *[more] * (len(pins["Y"]) - len(bits))])
        for place, net in enumerate(pins["Y"]):
            found[net] = gate, tuple(bits[place] for bits in operands)
    return found


def _cells(module: Module, driver: Mapping[Bit, Gate], role: str, library: Library) -> Iterator[Bits]:
    """The bits of a module that are the cell of the kit in this role."""
    adder: Adder | str | None = getattr(library.roles, role)
    if not adder:
        return
    kind = adder.cell if isinstance(adder, Adder) else adder
    wanted = library.cells[kind].outputs
    tables = _tables(library, kind)
    leaves = _Leaves(module, driver)
    by_leaves: defaultdict[Leaves, dict[int, Bit]] = defaultdict(dict)
    for net in port_bits(module, "output"):
        if at := leaves.table(net):
            by_leaves[at[0]][at[1]] = net
    for nets, values in by_leaves.items():
        for found, pins in tables.items():
            if len(pins) == len(nets) and all(table in values for table in found):
                outputs = {pin: values[table] for pin, table in zip(wanted, found, strict=True)}
                yield Bits(kind, dict(zip(pins, nets, strict=True)), outputs)
                break


@functools.cache
def _tables_of(functions: tuple[str, ...], inputs: tuple[str, ...]) -> dict[tuple[int, ...], tuple[str, ...]]:
    found: dict[tuple[int, ...], tuple[str, ...]] = {}
    for order in itertools.permutations(inputs):
        found.setdefault(tuple(parse(text).table(order) for text in functions), order)
    return found


def _tables(library: Library, kind: str) -> dict[tuple[int, ...], tuple[str, ...]]:
    """The truth tables of a cell's outputs, over its inputs in each order that makes a difference."""
    cell = library.cells[kind]
    return _tables_of(tuple(cell.pins[pin].function for pin in cell.outputs), tuple(cell.inputs))


class _Leaves:
    """Functions of the nets of a module in its input ports."""

    def __init__(self, module: Module, driver: Mapping[Bit, Gate]) -> None:
        self.driver = driver
        self.inputs = set(port_bits(module, "input"))
        self.known: dict[Bit, Leaves | None] = {}

    def table(self, net: Bit) -> tuple[Leaves, int] | None:
        """The inputs that a net depends on and its truth table over them; None if these are too many, or it
        is no gates'.
        """
        leaves = self.of(net)
        if not leaves:
            return None
        size = 1 << len(leaves)
        words = {leaf: sum(1 << row for row in range(size) if row >> k & 1) for k, leaf in enumerate(leaves)}
        return leaves, self._value(net, words) & (1 << size) - 1

    def of(self, net: Bit) -> Leaves | None:
        if net not in self.known:
            self.known[net] = self._of(net)
        return self.known[net]

    def _of(self, net: Bit) -> Leaves | None:
        if net in self.inputs:
            return (net,)
        if net in logic.CONSTANTS:
            return ()
        if net not in self.driver:
            return None
        found: set[Bit] = set()
        for below in map(self.of, self.driver[net][1]):
            if below is None:
                return None
            found.update(below)
        return tuple(sorted(found, key=str)) if len(found) <= MOST_INPUTS else None

    def _value(self, net: Bit, words: dict[Bit, int]) -> int:
        if net in logic.CONSTANTS:
            return -logic.CONSTANTS[net]
        if net not in words:
            gate, inputs = self.driver[net]
            made = parse(logic.GATES[gate])
            words[net] = made.words([self._value(below, words) for below in inputs])
        return words[net]


# ---- in their places


class Placing:
    """The cells of a design that is flat but for the modules that are looked into."""

    def __init__(self, forms: Mapping[str, Form]) -> None:
        self.forms = forms
        self.placed: dict[tuple[str, str], tuple[Form, Bits]] = {}  # by the names of module and cell

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the cells."""
        return frozenset(name for _, name in self.placed)

    def expand(self, design: Document) -> None:
        """Put cells, and gates for what is none, in the place of the modules."""
        for own, module in design["modules"].items():
            fresh = fresh_nets(module)
            for path, cell in [*module["cells"].items()]:
                form = self.forms.get(cell["type"])
                if form is None:
                    continue
                del module["cells"][path]
                nets: dict[Bit, Bit] = {}
                rest: set[Bit] = set()
                for port, data in sorted(form.module["ports"].items(), key=lambda item: item[1]["direction"]):
                    there = cell["connections"].get(port)
                    if there is None:  # nothing is connected to it
                        there = ["x" if data["direction"] == "input" else next(fresh) for _ in data["bits"]]
                    for net, outside in zip(data["bits"], there, strict=True):
                        if data["direction"] == "input":
                            nets[net] = outside
                        elif net in nets or net in logic.CONSTANTS:  # an input, or another output too
                            pins = {"A": nets.get(net, net), "Y": outside}
                            module["cells"][f"{path}{SEPARATOR}$wire{next(fresh)}"] = _instance(
                                "$_BUF_", pins, "Y"
                            )
                        else:
                            nets[net] = outside
                            rest.add(net)
                for number, bits in enumerate(form.bits):
                    name = f"{path}{SEPARATOR}{form.what}{number}"
                    pins = bits.inputs | bits.outputs
                    module["cells"][name] = _instance(
                        bits.kind, {pin: nets[net] for pin, net in pins.items()}, bits.outputs
                    )
                    self.placed[own, name] = form, bits
                    rest.difference_update(bits.outputs.values())
                self._gates(module, path, form, rest, nets, fresh)

    def simplify(self, design: Document) -> int:
        """Gates for cells with a constant or two like signals among their inputs or with an output that
        nobody reads; how many.
        """
        count = 0
        for own, module in design["modules"].items():
            fresh = fresh_nets(module)
            read = {*port_bits(module, "output")}
            for cell in module["cells"].values():
                read.update(cell_bits(cell, "input"))
            for name in [item for item in module["cells"] if (own, item) in self.placed]:
                form, bits = self.placed[own, name]
                pins = {pin: nets[0] for pin, nets in module["cells"][name]["connections"].items() if nets}
                inputs = [pins[pin] for pin in bits.inputs]
                whole = len({*inputs}) == len(inputs) and all(isinstance(net, int) for net in inputs)
                if whole and all(pins.get(pin) in read for pin in bits.outputs):
                    continue
                count += 1
                del module["cells"][name]
                nets = {net: pins[pin] for pin, net in (bits.inputs | bits.outputs).items() if pin in pins}
                wanted = {net for pin, net in bits.outputs.items() if pins.get(pin) in read}
                self._gates(module, name, form, wanted, nets, fresh)
        return count

    def _gates(
        self,
        module: Module,
        path: str,
        form: Form,
        wanted: Iterable[Bit],
        nets: dict[Bit, Bit],
        fresh: Iterator[int],
    ) -> None:
        """The gates of a module's nets, whose inputs are given."""
        todo = list(wanted)
        made: set[Bit] = set()
        for net in todo:  # grows
            if net not in form.driver or net in made:
                continue
            made.add(net)
            gate, inputs = form.driver[net]
            for bit in inputs:
                if isinstance(bit, int) and bit not in nets:
                    nets[bit] = next(fresh)
                    todo.append(bit)
            pins = parse(logic.GATES[gate]).inputs
            given = {pin: nets.get(bit, bit) for pin, bit in zip(pins, inputs, strict=True)}
            cell = _instance(gate, {**given, "Y": nets[net]}, "Y")
            module["cells"][f"{path}{SEPARATOR}${len(made)}"] = {**cell, "hide_name": 1}


def _instance(kind: str, pins: Mapping[str, Bit], outputs: Container[str]) -> Cell:
    return {
        "hide_name": 0,
        "type": kind,
        "parameters": {},
        "attributes": {},
        "port_directions": {pin: "output" if pin in outputs else "input" for pin in pins},
        "connections": {pin: [net] for pin, net in pins.items()},
    }
