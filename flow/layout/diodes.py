"""Diodes on nets whose wire may charge gates beyond their limits while the highest layer is etched.

Before the highest layer is made, the gates of a net may be on pieces without a diffusion: the router puts
jumpers before those that a lower layer would charge (detailed_router.cpp). The highest layer connects the
whole net. On a net from an input port there is still no diffusion; on one that a cell drives, the driver's
diffusion raises the limit, but a small gate at the end of a long wire may exceed it. Such a net gets a diode
next to the reader that is nearest to its driver.
"""

from ..netlist.buffers import EditedNetlist
from ..netlist.netlist import PORT
from .placed import Placed
from .wires import distance, steiner_tree, terminal_positions

DETOURS = 1.5  # of the routed length, over that of the tree


def add_diodes(placed: Placed) -> dict[str, str]:
    """Put diodes into netlist and placement; return their modules."""
    lef = placed.lef
    library = placed.library
    modules = dict[str, str]()
    diode = library.cells[library.roles.diode]
    edited = EditedNetlist(placed.netlist, library, modules)
    signal = [(name, lef.layers[name].width) for name in lef.kit.layers.signal]
    for net, terminals, points in terminal_positions(placed):
        pins = [lef.macro(placed.cell(owner).name).pins[pin] for owner, pin in terminals if owner != PORT]
        diffusion = sum(pin.diffusion_um2 for pin in pins)
        gates = sum(pin.gate_um2 for pin in pins)
        longest_um = gates * min(lef.antenna_um(*layer, diffusion) for layer in signal)
        if gates and DETOURS * steiner_tree(points).length > longest_um:
            name = edited.fresh("", "diode_")
            at = min(points[1:], key=lambda point: distance(points[0], point))
            edited.add_cell(name, diode.name, {diode.inputs[0]: net}, "")
            placed.rows.insert(name, diode.name, *at)
    placed.netlist = edited.connected()
    return modules
