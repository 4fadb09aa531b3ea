"""Diodes on the nets of input ports, so that their long wires do not damage gates while metal is etched.

A net that a cell drives discharges through its driver once its highest layer is made, and the router puts
jumpers before gates that a lower layer would charge (detailed_router.cpp). A port has no diffusion. Its net
gets a diode next to the reader that is nearest to the port if all of its wire on the worst layer would be too
much for its gates.
"""

from ..netlist.buffers import EditedNetlist
from ..netlist.netlist import PORT
from .placed import Placed
from .wires import distance, steiner_tree, terminal_positions

DETOURS = 1.5  # of the routed length, over that of the tree


def add_diodes(placed: Placed) -> dict[str, str]:
    """Put diodes into netlist and placement; returns their modules."""
    lef, library, modules = placed.lef, placed.library, dict[str, str]()
    diode, edited = library.cells[library.roles.diode], EditedNetlist(placed.netlist, library, modules)
    longest_um = min(lef.antenna_um(name, lef.layers[name].width) for name in lef.kit.layers.signal)
    for net, (driver, *readers), points in terminal_positions(placed):
        cells = [(owner, pin) for owner, pin in readers if owner != PORT]
        gates = sum(lef.macro(placed.cell(owner).name).pins[pin].gate_um2 for owner, pin in cells)
        if driver[0] == PORT and cells and DETOURS * steiner_tree(points).length > longest_um * gates:
            name = edited.fresh("", "diode_")
            at = min(points[1:], key=lambda point: distance(points[0], point))
            edited.add_cell(name, diode.name, {diode.inputs[0]: net}, "")
            placed.rows.insert(name, diode.name, *at)
    placed.netlist = edited.connected()
    return modules
