"""Estimates the number of cells of a design from its words and operators, before synthesis.

PER_BIT has library cells per bit of each operator, fitted to synthesis results of the catalogue's machines;
estimates are within a factor of 2 (table in tests/flow/test_synthesis.py). A multiplication counts the
product of both widths.
"""

from ..netlist.document import Bit, Document, Module, cell_bits
from ..netlist.order import in_order

PER_BIT = {
    **dict.fromkeys(("$dff", "$dffe", "$adff", "$adffe", "$sdff", "$sdffe", "$sdffce", "$aldff"), 1.3),
    **dict.fromkeys(("$add", "$sub", "$neg", "$lt", "$le", "$gt", "$ge"), 4.0),
    **dict.fromkeys(("$mux", "$xor", "$xnor", "$eq", "$ne", "$bmux", "$demux"), 1.2),
    **dict.fromkeys(
        ("$and", "$or", "$pmux", "$reduce_and", "$reduce_or", "$reduce_bool", "$reduce_xor"), 1.0
    ),
    **dict.fromkeys(("$not", "$logic_not", "$logic_and", "$logic_or"), 0.5),
    **dict.fromkeys(("$shl", "$shr", "$sshl", "$sshr", "$shift", "$shiftx"), 8.0),
    "$fa": 3.0,
}
PER_PRODUCT = {"$mul": 3.0, "$div": 7.0, "$mod": 7.0, "$divfloor": 7.0, "$modfloor": 7.0}


def cells(design: Document) -> int:
    """The estimated cells of all modules in yosys' JSON, which has a module for each instance."""
    total = 0.0
    for module in design["modules"].values():
        for cell in module["cells"].values():
            kind, pins = cell["type"], cell["connections"]
            if kind in PER_PRODUCT:
                total += PER_PRODUCT[kind] * _width(pins["A"]) * _width(pins["B"])
            elif kind == "$pmux":
                total += PER_BIT[kind] * len(pins["B"])
            elif kind in PER_BIT:
                total += PER_BIT[kind] * max(map(_width, pins.values()))
            elif "$" not in kind:  # a library cell; names of read_slang's modules contain $
                total += 1
    return round(total)


def _width(bits: list[Bit]) -> int:
    """The width of a word, without its constant bits."""
    return sum(isinstance(bit, int) for bit in bits)


# ---- carries that ripple

REGISTERS = tuple(kind for kind, weight in PER_BIT.items() if weight == PER_BIT["$dff"])
WITH_LAST_CARRY = ("$sub", "$neg", "$lt", "$le", "$gt", "$ge", "$mul")


def carries(module: Module) -> int:
    """The number of bits through which carries ripple in the subtractions, comparisons and products on the
    longest path of a flat module.

    Each of these waits for the last carry of the previous one, because its operand depends on that; additions
    are left out, as their ripples overlap.
    """
    operators = {name: cell for name, cell in module["cells"].items() if cell["type"] not in REGISTERS}
    driver = {bit: name for name, cell in operators.items() for bit in cell_bits(cell, "output")}
    arrival: dict[Bit, int] = {}
    for name in in_order({name: cell_bits(cell, "input") for name, cell in operators.items()}, driver):
        kind, pins = operators[name]["type"], operators[name]["connections"]
        latest = max((arrival.get(bit, 0) for pin in pins if pin not in "XY" for bit in pins[pin]), default=0)
        if kind in WITH_LAST_CARRY:
            latest += max(map(_width, pins.values()))
        for pin in "XY":
            arrival |= dict.fromkeys(pins.get(pin, ()), latest)
    return max(arrival.values(), default=0)
