"""Verilog models of a library's cells, generated from Liberty; two-state and without delays.

A combinational output is its function. A flip-flop takes `next_state` at the edge in `clocked_on`; `clear`
and `preset` are asynchronous, and clear wins if both are active (Liberty's clear_preset_var, "L" for both
outputs here). A latch follows `data_in` while `enable` is true. A clock gate, which Liberty names only by its
style, is a latch that is open while the clock is low, and an AND gate. Cells without logic (fillers,
antennas, taps) are empty modules.

Verilator with these models must agree with the engine of stage `gates`.
"""

from modexlab.fl.errors import BadInput, unknown
from modexlab.flow.kit.functions import parse

# condition under which the latch is open, by the style of the clock gate
GATE_OPEN = {"latch_posedge": "~{clock}", "latch_posedge_precontrol": "~{clock}"}


def models(library, kinds=None):
    """The models of these kinds of cells, or of all."""
    if kinds is None:
        kinds = library.cells
    texts = []
    for kind in sorted(set(kinds)):
        if kind not in library.cells:
            raise unknown("cell", kind, library.cells)
        texts.append(model(library.cells[kind]))
    return "\n".join(texts)


def model(cell):
    """The module of one cell."""
    body = _state(cell)
    for name in cell.outputs:
        body.append(f"assign {identifier(name)} = {_output(cell, name)};")
    ports = [f"input {identifier(name)}" for name in cell.inputs]
    ports += [f"output {identifier(name)}" for name in cell.outputs]
    lines = [f"module {cell.name} ({', '.join(ports)});", *(f"  {line}" for line in body), "endmodule"]
    return "\n".join(lines) + "\n"


def _output(cell, name):
    pin = cell.pins[name]
    if not pin.function:
        raise BadInput(f"{cell.name}/{name} has no function in the library, so that it cannot be simulated")
    value = verilog(pin.function)
    return f"{verilog(pin.three_state)} ? 1'bz : {value}" if pin.three_state else value


def _state(cell):
    """The process that holds the state, if there is one."""
    if cell.ff:
        return _flip_flop(cell.ff)
    if cell.latch:
        return _latch(cell.latch)
    if cell.clock_gate:
        return _clock_gate(cell, cell.clock_gate)
    return []


def _edge(text):
    """The event at which a condition of one pin becomes true."""
    literal = parse(text).literal
    if literal is None:
        raise BadInput(
            f"the condition {text!r} of a flip-flop is of more than one pin, which is not supported"
        )
    return f"{'posedge' if literal[1] else 'negedge'} {identifier(literal[0])}"


def _flip_flop(ff):
    clear, preset = ff.clear, ff.preset
    lines = [f"reg {ff.state};", f"wire {ff.inverse} = ~{ff.state};"]
    if clear and preset:
        # preset also acts when clear ends while preset is active
        lines.append(f"wire preset = {verilog(f'({preset}) & !({clear})')};")
        preset = "preset"
    events = [_edge(text) for text in (ff.clock, clear, preset) if text]
    steps = [f"{ff.state} <= {verilog(ff.data)};"]
    for text, value in ((preset, 1), (clear, 0)):
        if text:
            steps = [f"if ({verilog(text)}) {ff.state} <= 1'b{value}; else", *steps]
    return [*lines, f"always @({' or '.join(events)}) {' '.join(steps)}"]


def _latch(latch):
    steps = [f"if ({verilog(latch.clock)}) {latch.state} = {verilog(latch.data)};"]
    for text, value in ((latch.preset, 1), (latch.clear, 0)):
        if text:
            steps = [f"if ({verilog(text)}) {latch.state} = 1'b{value}; else", *steps]
    return [
        f"reg {latch.state};",
        f"wire {latch.inverse} = ~{latch.state};",
        f"always_latch {' '.join(steps)}",
    ]


def _clock_gate(cell, gate):
    if gate.style not in GATE_OPEN:
        raise BadInput(
            f"{cell.name} is a clock gate of style {gate.style}, which is not supported: choose "
            f"{', '.join(GATE_OPEN)}"
        )
    state = cell.gate_state
    enable = f"({gate.enable} | {gate.test})" if gate.test else gate.enable
    return [
        f"reg {state};",
        f"always_latch if ({GATE_OPEN[gate.style].format(clock=gate.clock)}) {state} = {enable};",
    ]


def verilog(text):
    """A Liberty function in Verilog, as the sum of the rows of its truth table that are 1."""
    function = parse(text)
    names = [identifier(name) for name in function.inputs]
    rows = (
        "&".join("~" * (bit == "0") + name for bit, name in zip(cube, names, strict=True)) or "1'b1"
        for cube in function.cubes
    )
    return " | ".join(rows) or "1'b0"


def identifier(name):
    """A pin's name in Verilog, escaped if it begins with a digit."""
    return f"\\{name} " if name[0].isdigit() else name
