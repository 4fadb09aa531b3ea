"""Replaces inverters at register outputs by the register's inverted output, if the library has one.

abc uses one output of each register and inverts it. The smallest inverter of the NanGate library takes 0.53
um^2; the inverted output of a flip-flop takes no area. For the goal `area`, because the register then drives
more.
"""

from ..kit.liberty import Library
from ..netlist.document import Bit, Module, fresh_nets


def use_complements(module: Module, library: Library) -> None:
    """Remove inverters of register outputs from a mapped module."""
    cells, fresh = module["cells"], fresh_nets(module)
    complements: dict[Bit, Bit] = {}
    for cell in cells.values():
        kind = library.cells[cell["type"]]
        if kind.ff is None:
            continue
        by_state = {kind.pins[pin].logic.literal: pin for pin in kind.outputs}
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
            if kind.pins[end].logic.literal == (start, False) and source in complements:
                same[cell["connections"][end][0]] = complements[source]
                del cells[name]

    def root(bit: Bit) -> Bit:
        while bit in same:
            bit = same[bit]
        return bit

    # an inverter after an inverter stays: its input is not a register's output
    for cell in cells.values():
        for pin, bits in cell["connections"].items():
            cell["connections"][pin] = [root(bit) for bit in bits]
    for net in (*module["ports"].values(), *module["netnames"].values()):
        net["bits"] = [root(bit) for bit in net["bits"]]
