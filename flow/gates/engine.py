"""Netlist simulator: a netlist as tables, and the engine in gates.cpp and glitches.cpp.

`GateTables` turns instances into truth tables of their Liberty functions, states, and the delays of their
arcs from a timing analysis (nldm.py). `Engine` is one simulated netlist: it has inputs by port name, a clock,
the values of nets, and windows in which the transitions of all nets are counted, with and without delays.

With a driver (gates.py), the engine is part of the driver's library. Without one, it simulates circuits with
arbitrary ports. gates.cpp defines the order of events at a clock edge and the transitions that count.
"""

import ctypes
import functools
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...fl.errors import BadInput, unknown
from ...rtl.sim.nativemodel import declare_functions, fields
from ..kit.functions import parse
from ..kit.liberty import Cell, Library
from ..netlist.netlist import Instance, Netlist
from ..timing.cells import FALL, RISE
from ..timing.nldm import Timing
from . import gate_harness

TICK_NS = 0.00025
INPUT_NS = 0.1  # inputs change after the delay of an external flip-flop with an average load
MAX_INPUTS, MAX_OUTPUTS, MAX_DATA = 6, 2, 4
NO_ARC = 255
FLIP_FLOP, LATCH, CLOCK_GATE = range(3)

KIND = np.dtype([("table", "u8", 2), ("arc", "u1", (2, 6, 64, 2))])
CELL = np.dtype([("kind", "i4"), ("in", "i4", 6), ("out", "i4", 2), ("arcs", "i4")])
LEVELS = ("clock", "active", "clear", "clear_level", "preset", "preset_level")
SHOWN = ("q", "qn")  # the state and its inverse
STATE = np.dtype(
    [
        ("type", "i4"),
        ("data", "i4", 4),
        ("table", "u4"),
        *((field, "i4") for field in LEVELS + SHOWN),
        ("ticks", "i4", (2, 2)),
    ]
)
ARRAYS = ("kinds", "cells", "states", "sources", "ones")  # read with and without delays


class _Tables(ctypes.Structure):
    """Mirrors `Tables` in gates.cpp."""

    _fields_ = (
        *fields(ctypes.c_int64, "net_count", "cell_count", "state_count", "source_count", "clock"),
        *fields(ctypes.c_void_p, "kinds", "cells", "states", "sources", "ones", "ticks", "ramps"),
    )


class _Counts(ctypes.Structure):
    """Mirrors `Counts` in gates.cpp."""

    _fields_ = (
        *fields(ctypes.c_uint64, "cycles"),
        *fields(ctypes.c_void_p, "toggles", "timed", "high", "clocked"),
        *fields(ctypes.c_uint64, "late", "latest", "mismatches", "evaluations", "events"),
        *fields(ctypes.c_void_p, "swings"),
    )


class Counts(NamedTuple):
    """Transitions in a window; arrays are indexed by net."""

    cycles: int
    toggles: np.ndarray  # functional: at most one per cycle, except on clock nets
    timed: np.ndarray | None  # with glitches; on clock nets, which have none, equal to `toggles`
    ones: np.ndarray  # fraction of the time at 1
    clocked: np.ndarray  # nets that the clock reaches
    late: int  # events after the end of the clock period, if it is given
    latest_ns: float  # time of the last event after a clock edge
    # voltage swing in toggles: a pulse that is cut short counts as a fraction; None: not counted
    swings: np.ndarray | None = None


Edge = tuple[str, int, str, int, str]  # input, its edge, output, its edge, and condition
Arcs = Mapping[Edge, int]


class GateTables:
    """A netlist as the arrays that the engine reads."""

    def __init__(
        self,
        netlist: Netlist,
        library: Library,
        *,
        timing: Timing | None = None,
        clock_port: str = "clk",
        swings: bool = False,
    ) -> None:
        """With a timing the engine can also count with delays; `swings` adds partial voltage swings."""
        self.netlist, self.library = netlist, library
        direction, clocks = netlist.ports.get(clock_port, ("", []))
        self.clock_net = clocks[0] if direction == "input" and len(clocks) == 1 else None
        # without fillers, taps, antennas and other cells that have no connected output
        self.cells = {
            name: cell
            for name, instance in netlist.cells.items()
            if instance.pins.keys() & (cell := library.cells[instance.kind]).outputs
        }
        self.logic = [name for name, cell in self.cells.items() if not cell.sequential]
        self.registers = [name for name, cell in self.cells.items() if cell.sequential]
        arcs, self._ticks, first = _arcs(timing) if timing else ({}, np.ones(1, np.int32), {})
        kinds = sorted({netlist.cells[name].kind for name in self.logic})
        self._kinds = np.zeros(len(kinds), KIND)
        for row, kind in zip(self._kinds, kinds, strict=True):
            _fill_kind(row, library.cells[kind], arcs.get(kind, {}))
        numbers = {kind: place for place, kind in enumerate(kinds)}
        rows = []
        for name in self.logic:
            pins = netlist.cells[name].pins
            cell = self.cells[name]
            inputs = _nets(pins, cell.inputs, MAX_INPUTS)
            outputs = _nets(pins, cell.outputs, MAX_OUTPUTS)
            rows.append((numbers[cell.name], inputs, outputs, first.get(name, 0)))
        self._cells = np.array(rows, CELL)
        states = []
        for name in self.registers:
            edges = arcs.get(self.cells[name].name, {}).items()
            delays = {edge: self._ticks[first[name] + number] for edge, number in edges}
            states.append(_state(netlist.cells[name], self.cells[name], delays))
        self._states = np.array(states, STATE)
        self._sources = np.array([net for _, net in netlist.port_bits("input")], np.int32)
        self._ones = np.zeros(len(netlist.nets), np.uint8)
        self._ones[[net for net, value in netlist.constants.items() if value == "1"]] = 1
        self.timed = timing is not None
        self._ramps = None
        if timing and swings:  # by net: ticks of a full swing to 0 and to 1, at its largest slews
            ways = timing.slews_ns[:, [FALL, RISE]] / (library.slew_share * TICK_NS)
            self._ramps = np.ascontiguousarray(np.maximum(np.rint(ways), 1), np.int32)
        self.c = _Tables(
            net_count=len(netlist.nets),
            cell_count=len(self.logic),
            state_count=len(self.registers),
            source_count=len(self._sources),
            clock=-1 if self.clock_net is None else self.clock_net,
            **{name: getattr(self, f"_{name}").ctypes.data for name in ARRAYS},
            ticks=self._ticks.ctypes.data if self.timed else None,
            ramps=None if self._ramps is None else self._ramps.ctypes.data,
        )


def _nets(pins: Mapping[str, int], names: tuple[str, ...], count: int) -> list[int]:
    """The nets of these pins, -1 for unconnected pins, padded with -1 to `count`."""
    return [pins.get(name, -1) for name in names] + [-1] * (count - len(names))


def _fill_kind(row: np.void, cell: Cell, arcs: Arcs) -> None:
    if len(cell.inputs) > MAX_INPUTS or len(cell.outputs) > MAX_OUTPUTS:
        raise BadInput(
            f"{cell.name} has {len(cell.inputs)} inputs and {len(cell.outputs)} outputs: cells of up to "
            f"{MAX_INPUTS} and {MAX_OUTPUTS} can be simulated"
        )
    row["arc"] = NO_ARC
    for place, output in enumerate(cell.outputs):
        pin = cell.pins[output]
        if pin.three_state:
            raise BadInput(f"{cell.name} has a three-state output, which is not supported: use a multiplexer")
        if not pin.function:
            raise BadInput(
                f"{cell.name}/{output} has no function in the library, so that it cannot be simulated"
            )
        table = pin.logic.table(cell.inputs)
        if not cell.inputs:  # a tie cell: its value at any index
            table = table and (1 << 64) - 1
        row["table"][place] = table
    for (related, source, output, edge, when), number in arcs.items():
        if related not in cell.inputs or output not in cell.outputs:
            continue
        place = cell.inputs.index(related)
        condition = parse(when).table(cell.inputs) if when else -1
        target = row["arc"][cell.outputs.index(output), place, :, int(edge == RISE)]
        for at in range(1 << len(cell.inputs)):
            # prefer an arc whose condition holds, then one without a condition, then one of another state
            if (at >> place & 1) == (source == RISE) and (
                target[at] == NO_ARC or (when and condition >> at & 1)
            ):
                target[at] = number


def _level(text: str, instance: Instance) -> tuple[int, int]:
    """(net, active level) of a condition on one pin; (-1, 0) if there is none."""
    if not text:
        return -1, 0
    function = parse(text)
    if len(function.inputs) != 1:
        raise BadInput(
            f"{instance.kind}: the condition {text!r} is of more than one pin, which is not supported"
        )
    return instance.pins.get(function.inputs[0], -1), function.table(function.inputs) >> 1 & 1


def _state(instance: Instance, cell: Cell, delays: Arcs) -> tuple[Any, ...]:
    """A register or clock gate as a row of STATE."""
    register, gate = cell.register, cell.clock_gate
    if register:
        kind = FLIP_FLOP if cell.ff else LATCH
        data = register.data
        clocked_on = register.clock
    else:
        assert gate is not None
        if not gate.style.startswith("latch_posedge"):
            raise BadInput(
                f"{cell.name} is a clock gate of style {gate.style}, which is not supported: use a "
                "latch_posedge"
            )
        kind = CLOCK_GATE
        clocked_on = gate.clock
        data = f"{gate.enable} | {gate.test}" if gate.test else gate.enable
    function = parse(data)
    if len(function.inputs) > MAX_DATA:
        raise BadInput(
            f"{cell.name} takes its state from {len(function.inputs)} pins: up to {MAX_DATA} can be simulated"
        )
    outputs = {_shown(cell, pin): pin for pin in cell.outputs}
    if None in outputs:
        raise BadInput(
            f"{cell.name}/{outputs[None]} is neither its state nor the inverse, which is not supported"
        )
    forced = (register.clear, register.preset) if register else ("", "")
    levels = [_level(text, instance) for text in (clocked_on, *forced)]
    if levels[0][0] < 0:
        raise BadInput(f"the clock of {instance.name} is not connected")
    ticks = [[1, 1], [1, 1]]  # from the active edge to an output
    for (related, _, output, edge, _), delay in delays.items():
        if cell.pins[related].clock:
            row = ticks[_shown(cell, output) == "qn"]
            place = edge == RISE
            row[place] = max(row[place], delay)
    shown = [instance.pins.get(outputs.get(state, ""), -1) for state in SHOWN]
    held = {}
    if register:
        q, qn = shown
        held = {register.state: q, register.inverse: qn}
    for name in function.inputs:
        if held.get(name) == -1:
            raise BadInput(f"{instance.name} holds {name}, which is not connected: this is not supported")
    nets = _nets({**instance.pins, **held}, function.inputs, MAX_DATA)
    return kind, nets, function.table(function.inputs), *itertools.chain(*levels), *shown, ticks


def _shown(cell: Cell, pin: str) -> str | None:
    """The state that an output drives: "q", its inverse "qn", or None for neither."""
    register, function = cell.register, cell.pins[pin].logic
    if cell.pins[pin].three_state:
        return None
    if register is None:
        return "q" if cell.gate_state in function.inputs else None
    return {(register.state, True): "q", (register.inverse, True): "qn"}.get(function.literal or ("", False))


def _arcs(timing: Timing) -> tuple[Mapping[str, Arcs], np.ndarray, dict[str, int]]:
    """The number of each arc, by kind; the delays in ticks of all arcs of all instances, grouped by instance;
    and the index of each instance's first arc.
    """
    kinds: dict[str, dict[Edge, int]] = {}
    numbers = np.zeros((len(timing.kinds), max(1, *(len(kind.rows) for kind in timing.kinds.values()))), int)
    for place, (name, kind) in enumerate(timing.kinds.items()):
        arcs = kinds[name] = {}
        numbers[place, : len(kind.rows)] = [arcs.setdefault(row[:5], len(arcs)) for row in kind.rows]
        if len(arcs) > NO_ARC:
            raise BadInput(f"{name} has more than {NO_ARC} arcs, which is not supported")
    sizes = np.array([len(arcs) for arcs in kinds.values()])[timing.kind]
    first = np.cumsum(sizes) - sizes
    ticks = np.ones(max(1, int(sizes.sum())), np.int32)
    places = first[timing.arc_cell] + numbers[timing.kind[timing.arc_cell], timing.arc_row]
    np.maximum.at(ticks, places, np.rint(timing.arc_delay[0] / TICK_NS).astype(np.int32))
    return kinds, ticks, dict(zip(timing.names, first.tolist(), strict=True))


@functools.cache
def prepared(path: Path) -> ctypes.CDLL:
    """The engine's library, with the types of its functions declared."""
    lib = ctypes.CDLL(str(path))
    pointer, net, count = ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint64
    declare_functions(
        lib,
        gates_new=(pointer, ctypes.c_uint32),
        gates_delete=(None,),
        gates_loop=(net,),
        gates_set=(None, net, net),
        gates_settle=(None,),
        gates_clock=(None, net),
        gates_get=(net, net),
        gates_edges=(count,),
        gates_window=(None, count, count, net, net, count),
        gates_counts=(None, pointer),
        gates_follow=(None, pointer, pointer, net, pointer, count),
    )
    return lib


class Engine:
    """One simulated netlist. A simulation creates it with a driver; created directly it has none, and only
    `cycle` moves its clock.
    """

    def __init__(
        self, tables: GateTables, *, lib: ctypes.CDLL | None = None, handle: int | None = None
    ) -> None:
        self.tables = tables
        self._owned = handle is None
        self._lib = lib or prepared(gate_harness.library())
        self._handle = handle or self._lib.gates_new(ctypes.byref(tables.c), 0)
        loop = self._lib.gates_loop(self._handle)
        if loop >= 0:
            name = tables.netlist.nets[loop]
            raise BadInput(
                f"combinational loop: the net {name} is in or behind one: break it with a register"
            )

    def set(self, values: Mapping[str, int]) -> None:
        """Set input ports; the logic follows at `settle` or at the next clock edge."""
        inputs = {name: nets for name, (way, nets) in self.tables.netlist.ports.items() if way == "input"}
        for port, value in values.items():
            if port not in inputs:
                raise unknown("input port", port, inputs)
            for bit, net in enumerate(inputs[port]):
                self._lib.gates_set(self._handle, net, value >> bit & 1)

    def settle(self) -> None:
        """Propagate the inputs through the logic."""
        self._lib.gates_settle(self._handle)

    def cycle(self) -> None:
        """Apply a rising and a falling edge of the clock."""
        for level in (1, 0):
            self._lib.gates_clock(self._handle, level)

    def get(self, port: str) -> int:
        """The value of a port."""
        _, nets = self.tables.netlist.ports[port]
        return sum(self._lib.gates_get(self._handle, net) << bit for bit, net in enumerate(nets))

    def state(self) -> dict[str, int]:
        """The output of every flip-flop, by the name of its net."""
        netlist = self.tables.netlist
        nets = [
            netlist.cells[name].pins[pin]
            for name in self.tables.registers
            for pin in self.tables.cells[name].outputs
            if pin in netlist.cells[name].pins
        ]
        return {netlist.nets[net]: self._lib.gates_get(self._handle, net) for net in nets}

    @property
    def edges(self) -> int:
        """Rising edges of the clock so far."""
        return self._lib.gates_edges(self._handle)

    def window(
        self,
        first: int = 0,
        last: int = 2**64 - 1,
        *,
        signal: str | None = None,
        clock_ns: float | None = None,
    ) -> None:
        """Count in the cycles that begin with rising edges `first` to `last` - 1, as numbered by `edges`.

        With a `signal`, only cycles in which that net is 1 before the edge count. With `clock_ns`, also count
        with delays: inputs change INPUT_NS after the edge, and `late` counts events after the period.
        """
        if clock_ns is not None and not self.tables.timed:
            raise BadInput("no delays are known: make the tables with a timing (nldm.analyze)")
        net = -1 if signal is None else self.tables.netlist.net(signal)
        ticks = -1 if clock_ns is None else round(INPUT_NS / TICK_NS)
        self._lib.gates_window(self._handle, first, last, net, ticks, round((clock_ns or 0.0) / TICK_NS))

    def counts(self) -> Counts:
        """End the window and return its counts."""
        c = _Counts()
        self._lib.gates_counts(self._handle, ctypes.byref(c))
        assert not c.mismatches, "the simulation with delays settled elsewhere"
        size = len(self.tables.netlist.nets)

        def array(address: int, kind: type) -> np.ndarray:
            pointer: Any = ctypes.cast(address, ctypes.POINTER(kind))
            return np.ctypeslib.as_array(pointer, (size,)).copy() if size else np.zeros(0)

        toggles = array(c.toggles, ctypes.c_uint32)
        clocked = array(c.clocked, ctypes.c_uint8).astype(bool)
        return Counts(
            cycles=c.cycles,
            toggles=toggles,
            timed=np.where(clocked, toggles, array(c.timed, ctypes.c_uint32)) if c.timed else None,
            swings=np.where(clocked, toggles, array(c.swings, ctypes.c_double)) if c.swings else None,
            ones=array(c.high, ctypes.c_uint64) / max(1, 2 * c.cycles),
            clocked=clocked,
            late=c.late,
            latest_ns=c.latest * TICK_NS,
        )

    def close(self) -> None:
        """Free the netlist; a second call does nothing."""
        if self._handle and self._owned:
            self._lib.gates_delete(self._handle)
        self._handle = None

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            self.close()
