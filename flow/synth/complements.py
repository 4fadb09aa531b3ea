"""Reads the complement of a register at its own pin, where the library has one, in place of an inverter.

abc sees one output of each register, and inverts it. With the smallest drive an inverter of the NanGate
library takes 0.53 um^2, a pin of its flip-flop none. For styles that map for area: a register drives more.
"""

from ..kit.functions import parse
from ..kit.liberty import Library
from ..netlist.document import Bit, Module, fresh_nets


def use_complements(module: Module, library: Library) -> None:
    """Remove the inverters of register outputs from a mapped module."""
    cells, fresh = module["cells"], fresh_nets(module)
    complements: dict[Bit, Bit] = {}
    for cell in cells.values():
        kind = library.cells[cell["type"]]
        if kind.ff is None:
            continue
        by_state = {parse(kind.pins[pin].function).literal: pin for pin in kind.outputs}
        pins = [by_state.get((state, True)) for state in (kind.ff.state, kind.ff.inverse)]
        if None in pins:
            continue
        q, inverse = (cell["connections"].setdefault(pin, []) for pin in pins if pin)
        for pin, bits in zip(pins, (q, inverse), strict=True):
            if not bits and pin:
                bits.append(next(fresh))
                cell["port_directions"][pin] = "output"
        complements |= {q[0]: inverse[0], inverse[0]: q[0]}
    same: dict[Bit, Bit] = {}
    for name, cell in list(cells.items()):
        kind = library.cells[cell["type"]]
        if len(kind.inputs) == len(kind.outputs) == 1 and not kind.sequential:
            (start,), (end,) = kind.inputs, kind.outputs
            source = cell["connections"][start][0]
            if parse(kind.pins[end].function).literal == (start, False) and source in complements:
                same[cell["connections"][end][0]] = complements[source]
                del cells[name]

    def root(bit: Bit) -> Bit:
        while bit in same:
            bit = same[bit]
        return bit

    # an inverter of an inverter's output is left: that was none of a register
    for cell in cells.values():
        for pin, bits in cell["connections"].items():
            cell["connections"][pin] = [root(bit) for bit in bits]
    for net in (*module["ports"].values(), *module["netnames"].values()):
        net["bits"] = [root(bit) for bit in net["bits"]]
