"""Maps registers that the source marks, `(* latch *) output logic [7:0] word`, to latches of the library.

A latch behaves like its register only if the cycle in which it follows its input is not observable. A marked
register therefore loads a value under a single enable, which is the output of a flip-flop and has no
glitches. The source of the value holds it from the cycle before the enable until the cycle after it, like a
stream whose request is accepted later, and nothing depends on the word in the cycle of the enable. A value
that comes neither from an input port nor from a flip-flop may have glitches; its register stays a flip-flop.
In simulation, on FPGAs and in proofs of properties, all of them are flip-flops.
"""

from ...fl.errors import BadInput
from ..kit.functions import parse
from ..kit.liberty import Cell as LibraryCell
from ..kit.liberty import Library
from ..netlist.document import Bit, Cell, Document, made_cell, port_bits

MARK = "latch"
REGISTER, CHOICE = "$dff", "$mux"


def map_latches(design: Document, top: str, library: Library) -> None:
    """Replace the marked registers of a flat design by latches."""
    module = design["modules"][top]
    marked = {
        bit: name
        for name, net in module["netnames"].items()
        if MARK in net.get("attributes", {})
        for bit in net["bits"]
    }
    cells = module["cells"]
    registers = {name for name, cell in cells.items() if cell["type"] == REGISTER}
    held = [name for name in registers if {*cells[name]["connections"]["Q"]} & marked.keys()]
    flip_flops = {bit for name in registers - {*held} for bit in cells[name]["connections"]["Q"]}
    steady = flip_flops | {*port_bits(module, "input")}
    latch = latch_of(library)
    if held and latch is None:
        raise BadInput(f"{library.name} has no latch that is open while its enable is 1; take another kit")
    drivers = {bit: name for name, cell in cells.items() for bit in cell["connections"].get("Y", ())}
    for name in held:
        assert latch
        register = cells[name]["connections"]
        net = marked[register["Q"][0]]
        choice = cells.get(drivers.get(register["D"][0], ""), None)
        if choice is None or choice["type"] != CHOICE or choice["connections"]["A"] != register["Q"]:
            raise BadInput(f"{net} is marked as a latch: give it one value, under one `if`")
        enable, values = choice["connections"]["S"][0], choice["connections"]["B"]
        if enable not in flip_flops:
            raise BadInput(f"{net} is marked as a latch: its enable has to be the output of a flip-flop")
        if not steady.issuperset(values):
            continue
        del cells[name]
        for place, (value, out) in enumerate(zip(values, register["Q"], strict=True)):
            cells[f"{name}${place}"] = _made(latch, enable, value, out)


def latch_of(library: Library, level: bool = True) -> LibraryCell | None:
    """The smallest latch of a library that is open while its enable has this level and has no clear or
    preset.
    """
    found = [cell for cell in library.cells.values() if _plain(cell, level)]
    return min(found, key=lambda cell: (cell.area, len(cell.outputs), cell.name), default=None)


def _plain(cell: LibraryCell, level: bool) -> bool:
    if not cell.latch or cell.clock_gate or cell.dont_use or cell.resets:
        return False
    clock, data = (parse(text).literal for text in (cell.latch.clock, cell.latch.data))
    right = clock is not None and clock[1] == level and data is not None and data[1]
    return right and len(cell.inputs) == 2 and any(_shows(cell, pin) for pin in cell.outputs)


def shown(cell: LibraryCell) -> str:
    """The first output of a latch that is its non-inverted state."""
    return next(pin for pin in cell.outputs if _shows(cell, pin))


def _shows(cell: LibraryCell, pin: str) -> bool:
    """Whether an output is the non-inverted state."""
    latch = cell.latch
    return latch is not None and cell.pins[pin].logic.literal == (latch.state, True)


def _made(latch: LibraryCell, enable: Bit, value: Bit, out: Bit) -> Cell:
    assert latch.latch
    pin = shown(latch)
    pins = {latch.latch.clock: [enable], latch.latch.data: [value], pin: [out]}
    return made_cell(latch.name, pins, [pin])
