"""Units in which areas and delays are comparable across technologies: the area of a library's two-input NAND,
and FO4, the delay of its inverter with four equal inverters as load.
"""

from .functions import parse
from .liberty import Library, Table

NAND2 = 0b0111  # a truth table
FANOUT = 4
STAGES = 40  # of a chain of inverters that is long enough for the slew to settle


def nand2_um2(library: Library) -> float | None:
    """The area of the smallest two-input NAND; None for a library without one."""
    areas = [
        cell.area
        for cell in library.cells.values()
        if len(cell.inputs) == 2
        and len(cell.outputs) == 1
        and not (cell.sequential or cell.dont_use)
        and (text := cell.output_pin.function)
        and parse(text).table(cell.inputs) == NAND2
    ]
    return min(areas, default=None)


def fo4_ns(library: Library) -> float:
    """The mean delay of both edges in a chain of the kit's inverters with four on each net, without wires."""
    inverter = library.cells[library.roles.inverter]
    load = FANOUT * inverter.input_pin.cap_ff
    (arc, *_) = inverter.output_pin.timing
    rise_ns = fall_ns = 0.0  # slews
    delays = (0.0, 0.0)
    for _ in range(STAGES):  # a rising output has a falling input
        delays = _at(arc.cell_rise, fall_ns, load), _at(arc.cell_fall, rise_ns, load)
        rise_ns, fall_ns = _at(arc.rise_transition, fall_ns, load), _at(arc.fall_transition, rise_ns, load)
    return sum(delays) / 2


def _at(table: Table | None, slew: float, load: float) -> float:
    return table.at(slew, load) if table else 0.0
