"""Netlist simulator: a netlist as tables, and the engine in gates.cpp and glitches.cpp.

`GateTables` turns instances into truth tables of their Liberty functions, states, and the delays of their
arcs as a timing analysis (nldm.py) found them. `Engine` is one simulated netlist: inputs by the names of
ports, a clock, the values of nets, and windows in which the movements of all nets are counted, without delays
and with them.

Under a driver (gates.py) the engine is inside the driver's library. Alone it serves circuits of any ports:
gates.cpp says what happens at a clock edge, and what counts as a movement.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...fl.errors import BadInput, unknown
from ..kit.functions import parse
from ..kit.liberty import Cell, Library
from ..netlist.netlist import Instance, Netlist
from ..timing.cells import FALL, RISE
from ..timing.nldm import Timing
from . import gate_harness

TICK_NS = 0.00025
MAX_INPUTS, MAX_OUTPUTS, MAX_DATA = 6, 2, 4
NO_ARC = 255
FLIP_FLOP, LATCH, CLOCK_GATE = range(3)

KIND = np.dtype([("table", "u8", 2), ("arc", "u1", (2, 6, 64, 2))])
CELL = np.dtype([("kind", "i4"), ("in", "i4", 6), ("out", "i4", 2), ("arcs", "i4")])
PINS = ("clock", "active", "clear", "clear_level", "preset", "preset_level", "q", "qn")
STATE = np.dtype(
    [
        ("type", "i4"),
        ("data", "i4", 4),
        ("table", "u4"),
        *((pin, "i4") for pin in PINS),
        ("ticks", "i4", (2, 2)),
    ]
)


class _Tables(ctypes.Structure):
    """Mirrors `Tables` in gates.cpp."""

    _fields_ = (
        *((f"{what}_count", ctypes.c_int64) for what in ("net", "cell", "state", "source")),
        ("clock", ctypes.c_int64),
        *(
            (name, ctypes.c_void_p)
            for name in ("kinds", "cells", "states", "sources", "ones", "ticks", "ramps")
        ),
    )


class _Counts(ctypes.Structure):
    """Mirrors `Counts` in gates.cpp."""

    _fields_ = (
        ("cycles", ctypes.c_uint64),
        *((name, ctypes.c_void_p) for name in ("toggles", "timed", "high", "clocked")),
        *((name, ctypes.c_uint64) for name in ("late", "latest", "mismatches", "evaluations", "events")),
        ("swings", ctypes.c_void_p),
    )


@dataclass(frozen=True)
class Counts:
    """Transitions in a window; arrays by net."""

    cycles: int
    toggles: np.ndarray  # functional: at most one a cycle, but of the clock's nets
    timed: np.ndarray | None  # with delays: glitches, too; of the clock's nets, which have none, as `toggles`
    ones: np.ndarray  # fraction of the time at 1
    clocked: np.ndarray  # nets that the clock reaches
    late: int  # events after the end of the clock's period, if one was given
    latest_ns: float  # when the last event was, from the clock's edge on
    # how far the voltages went, in toggles: a pulse that is cut short counts in part; without a `slew_share`
    # nobody has asked
    swings: np.ndarray | None = None


class GateTables:
    """A netlist as the arrays that the engine takes."""

    def __init__(
        self,
        netlist: Netlist,
        library: Library,
        *,
        timing: Timing | None = None,
        clock_port: str = "clk",
        slew_share: float | None = None,
    ) -> None:
        """With a timing, and how much of a ramp the library's slews are, the engine counts swings as well."""
        self.netlist, self.library = netlist, library
        self.clock_net = _clock(netlist, clock_port)
        names = [name for name, cell in netlist.cells.items() if _simulated(library, cell)]
        self.logic = [name for name in names if not library.cells[netlist.cells[name].kind].sequential]
        self.registers = [name for name in names if library.cells[netlist.cells[name].kind].sequential]
        kinds = sorted({netlist.cells[name].kind for name in self.logic})
        rows, ticks = _rows(timing) if timing else ({}, _Ticks(np.ones(1, np.int32), {}))
        self._kinds = np.zeros(max(1, len(kinds)), KIND)
        for place, kind in enumerate(kinds):
            _fill_kind(self._kinds[place], library.cells[kind], rows.get(kind, {}))
        self._cells = self._make_cells({kind: place for place, kind in enumerate(kinds)}, ticks.first)
        self._states = np.zeros(max(1, len(self.registers)), STATE)
        for place, name in enumerate(self.registers):
            instance = netlist.cells[name]
            self._states[place] = _state_row(instance, library.cells[instance.kind])
            if timing:
                self._states[place]["ticks"] = _state_ticks(
                    library.cells[instance.kind],
                    rows[instance.kind],
                    ticks.of(name, len(rows[instance.kind])),
                )
        self._sources = np.array([net for _, net in netlist.port_bits("input")] or [0], np.int32)
        self._ones = np.zeros(len(netlist.nets) + 1, np.uint8)
        for net, value in netlist.constants.items():
            self._ones[net] = value == "1"
        self._ticks = ticks.every
        self.timed = timing is not None
        self._ramps = _ramp_ticks(timing, slew_share) if timing and slew_share else None
        self.c = _Tables(
            net_count=len(netlist.nets),
            cell_count=len(self.logic),
            state_count=len(self.registers),
            source_count=sum(1 for _ in netlist.port_bits("input")),
            clock=-1 if self.clock_net is None else self.clock_net,
            kinds=self._kinds.ctypes.data,
            cells=self._cells.ctypes.data,
            states=self._states.ctypes.data,
            sources=self._sources.ctypes.data,
            ones=self._ones.ctypes.data,
            ticks=self._ticks.ctypes.data if self.timed else None,
            ramps=None if self._ramps is None else self._ramps.ctypes.data,
        )

    def _make_cells(self, kinds: Mapping[str, int], first: Mapping[str, int]) -> np.ndarray:
        cells = np.full(max(1, len(self.logic)), -1, CELL)
        pins = {kind: (self.library.cells[kind].inputs, self.library.cells[kind].outputs) for kind in kinds}
        rows = []
        for name in self.logic:
            instance = self.netlist.cells[name]
            inputs, outputs = pins[instance.kind]
            get = instance.pins.get
            ins = [get(pin, -1) for pin in inputs] + [-1] * (MAX_INPUTS - len(inputs))
            outs = [get(pin, -1) for pin in outputs] + [-1] * (MAX_OUTPUTS - len(outputs))
            rows.append((kinds[instance.kind], ins, outs, first.get(name, 0)))
        if rows:
            for field, column in zip(("kind", "in", "out", "arcs"), zip(*rows, strict=True), strict=True):
                cells[field] = column
        return cells


def _clock(netlist: Netlist, clock_port: str) -> int | None:
    direction, nets = netlist.ports.get(clock_port, ("", []))
    return nets[0] if direction == "input" and len(nets) == 1 else None


def _simulated(library: Library, instance: Instance) -> bool:
    """Not fillers, taps and antennas, nor what nothing can come of."""
    if instance.kind not in library.cells:
        raise BadInput(
            f"{instance.name} is a {instance.kind}, which is no cell of {library.name}: map the netlist to it"
        )
    return any(pin in instance.pins for pin in library.cells[instance.kind].outputs)


def _fill_kind(row: np.void, cell: Cell, rows: Mapping[tuple, int]) -> None:
    if len(cell.inputs) > MAX_INPUTS or len(cell.outputs) > MAX_OUTPUTS:
        raise BadInput(
            f"{cell.name} has {len(cell.inputs)} inputs and {len(cell.outputs)} outputs: cells of up to "
            f"{MAX_INPUTS} and "
            f"{MAX_OUTPUTS} can be simulated"
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
        table = parse(pin.function).table(cell.inputs)
        if not cell.inputs:  # a tie cell: its one value at any index
            table = table and (1 << 64) - 1
        row["table"][place] = table
    for (related, source, output, edge, when), number in rows.items():
        if related not in cell.inputs or output not in cell.outputs:
            continue
        place = cell.inputs.index(related)
        condition = parse(when).table(cell.inputs) if when else -1
        target = row["arc"][cell.outputs.index(output), place]
        level = int(edge == RISE)
        for at in range(1 << len(cell.inputs)):
            # a condition that holds is better than an arc without one, and that than an arc of another state
            if (at >> place & 1) == (source == RISE) and (
                target[at, level] == NO_ARC or (when and condition >> at & 1)
            ):
                target[at, level] = number


def _level(text: str, instance: Instance) -> tuple[int, int]:
    """(net, level at which it acts) of a condition of one pin; (-1, 0) where there is none."""
    if not text:
        return -1, 0
    function = parse(text)
    if len(function.inputs) != 1:
        raise BadInput(
            f"{instance.kind}: the condition {text!r} is of more than one pin, which is not supported"
        )
    return instance.pins.get(function.inputs[0], -1), function.table(function.inputs) >> 1 & 1


def _state_row(instance: Instance, cell: Cell) -> tuple:
    """The values of STATE, without delays."""
    register = cell.ff or cell.latch
    if cell.ff:
        kind, data, clocked_on = FLIP_FLOP, cell.ff.next_state, cell.ff.clocked_on
    elif cell.latch:
        kind, data, clocked_on = LATCH, cell.latch.data_in, cell.latch.enable
    else:
        gate = cell.clock_gate
        assert gate is not None
        if not gate.style.startswith("latch_posedge"):
            raise BadInput(
                f"{cell.name} is a clock gate of style {gate.style}, which is not supported: use a "
                "latch_posedge"
            )
        kind, clocked_on = CLOCK_GATE, gate.clock
        data = f"{gate.enable} | {gate.test}" if gate.test else gate.enable
    state, inverse, clear, preset = (
        (register.state, register.inverse, register.clear, register.preset)
        if register
        else (cell.gate_state, "", "", "")
    )
    function = parse(data)
    if len(function.inputs) > MAX_DATA:
        raise BadInput(
            f"{cell.name} takes its state from {len(function.inputs)} pins: up to {MAX_DATA} can be simulated"
        )
    nets = [instance.pins.get(pin, -1) for pin in function.inputs] + [-1] * (MAX_DATA - len(function.inputs))
    outputs = {}
    for pin in cell.outputs:
        shown = parse(cell.pins[pin].function)
        known = [name for name in (state, inverse) if name in shown.inputs]
        if (
            cell.pins[pin].three_state
            or not known
            or (not cell.clock_gate and shown.tree not in (state, inverse))
        ):
            raise BadInput(f"{cell.name}/{pin} is neither its state nor the inverse, which is not supported")
        outputs[known[0]] = instance.pins.get(pin, -1)
    clock, active = _level(clocked_on, instance)
    if clock < 0:
        raise BadInput(f"the clock of {instance.name} is not connected")
    row = (
        kind,
        nets,
        function.table(function.inputs),
        clock,
        active,
        *_level(clear, instance),
        *_level(preset, instance),
    )
    return (*row, outputs.get(state, -1), outputs.get(inverse, -1), [[1, 1], [1, 1]])


class _Ticks(NamedTuple):
    """The delays of all arcs in ticks, those of an instance one after the other; and where they begin."""

    every: np.ndarray
    first: dict[str, int]

    def of(self, name: str, count: int) -> list[int]:
        """Return the nets of an instance."""
        return self.every[self.first[name] : self.first[name] + count].tolist()


def _rows(timing: Timing) -> tuple[dict[str, dict[tuple, int]], _Ticks]:
    """By kind: the number of each arc; and the ticks of the arcs of all instances."""
    arcs = timing.arcs()
    kinds: dict[str, dict[tuple, int]] = {}
    numbers = np.zeros((len(arcs.rows), max(1, *map(len, arcs.rows.values()))), np.int64)
    for place, (kind, edges) in enumerate(arcs.rows.items()):
        rows = kinds[kind] = {}
        numbers[place, : len(edges)] = [rows.setdefault(edge, len(rows)) for edge in edges]
        if len(rows) > NO_ARC:
            raise BadInput(f"{kind} has more than {NO_ARC} arcs, which is not supported")
    sizes = np.array([len(rows) for rows in kinds.values()])[arcs.kind]
    first = np.cumsum(sizes) - sizes
    every = np.ones(max(1, int(sizes.sum())), np.int32)
    places = first[arcs.cell] + numbers[arcs.kind[arcs.cell], arcs.row]
    np.maximum.at(every, places, np.rint(arcs.delay_ns / TICK_NS).astype(np.int32))
    return kinds, _Ticks(every, dict(zip(arcs.names, first.tolist(), strict=True)))


def _ramp_ticks(timing: Timing, slew_share: float) -> np.ndarray:
    """By net: of its whole way to 0 and to 1, at its largest slews."""
    ways = timing.slews_ns[:, [FALL, RISE]] / (slew_share * TICK_NS)
    return np.ascontiguousarray(np.maximum(np.rint(ways), 1), np.int32)


def _state_ticks(cell: Cell, rows: Mapping[tuple, int], ticks: Sequence[int]) -> list[list[int]]:
    """From the active edge to the outputs."""
    found = [[1, 1], [1, 1]]
    state = cell.ff or cell.latch
    for pin in cell.outputs:
        inverse = state is not None and cell.pins[pin].function == state.inverse
        for (related, _, output, edge, _), number in rows.items():
            if output == pin and cell.pins[related].clock and number < len(ticks):
                level = int(edge == RISE)
                found[int(inverse)][level] = max(found[int(inverse)][level], ticks[number])
    return found


def declare(lib: ctypes.CDLL, name: str, result: type | None, *arguments: type) -> None:
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments


@functools.cache
def prepared(path: Path) -> ctypes.CDLL:
    """The library with the types of the engine's functions."""
    lib = ctypes.CDLL(str(path))
    pointer, net, count = ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint64
    declare(lib, "gates_new", pointer, pointer, ctypes.c_uint32)
    declare(lib, "gates_delete", None, pointer)
    declare(lib, "gates_loop", net, pointer)
    declare(lib, "gates_set", None, pointer, net, net)
    declare(lib, "gates_settle", None, pointer)
    declare(lib, "gates_clock", None, pointer, net)
    declare(lib, "gates_get", net, pointer, net)
    declare(lib, "gates_edges", count, pointer)
    declare(lib, "gates_window", None, pointer, count, count, net, net, count)
    declare(lib, "gates_counts", None, pointer, pointer)
    return lib


class Engine:
    """One simulated netlist. `simulate...` makes it with a driver; made directly it has none, and no edges of
    the clock but by `cycle`.
    """

    def __init__(
        self, tables: GateTables, *, seed: int = 0, lib: ctypes.CDLL | None = None, handle: int | None = None
    ) -> None:
        self.tables = tables
        self._owned = handle is None
        self._lib = lib or prepared(gate_harness.library())
        self._handle = handle or self._lib.gates_new(ctypes.byref(tables.c), seed)
        loop = self._lib.gates_loop(self._handle)
        if loop >= 0:
            name = tables.netlist.nets[loop]
            raise BadInput(
                f"combinational loop: the net {name} is in or behind one: break it with a register"
            )

    def set(self, values: Mapping[str, int]) -> None:
        """Give input ports their values; `settle` or the next edge of the clock makes the logic follow."""
        ports = self.tables.netlist.ports
        for port, value in values.items():
            if port not in ports or ports[port][0] != "input":
                raise unknown("input port", port, [name for name, row in ports.items() if row[0] == "input"])
            for bit, net in enumerate(ports[port][1]):
                self._lib.gates_set(self._handle, net, value >> bit & 1)

    def settle(self) -> None:
        """Let the logic follow its inputs."""
        self._lib.gates_settle(self._handle)

    def cycle(self) -> None:
        """A rising edge of the clock and a falling one."""
        for level in (1, 0):
            self._lib.gates_clock(self._handle, level)

    def get(self, port: str) -> int:
        """The value of a port."""
        if port not in self.tables.netlist.ports:
            raise unknown("port", port, self.tables.netlist.ports)
        nets = self.tables.netlist.ports[port][1]
        return sum(self._lib.gates_get(self._handle, net) << bit for bit, net in enumerate(nets))

    def state(self) -> dict[str, int]:
        """The output of every flip-flop, by the name of its net."""
        netlist, library = self.tables.netlist, self.tables.library
        nets = [
            netlist.cells[name].pins[pin]
            for name in self.tables.registers
            for pin in library.cells[netlist.cells[name].kind].outputs
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
        last: int | None = None,
        *,
        signal: str | None = None,
        timed: bool = False,
        input_ns: float = 0.0,
        clock_ns: float = 0.0,
    ) -> None:
        """Count the cycles that begin with rising edges `first` up to, and without, `last`, by `edges`.

        With a `signal`, only of these the ones before whose edge that net is 1. `timed`: with delays, too;
        inputs then change `input_ns` after the edge, and `late` counts what moves after `clock_ns`.
        """
        if timed and not self.tables.timed:
            raise BadInput("no delays are known: make the tables with a timing (nldm.analyze)")
        net = -1 if signal is None else self.tables.netlist.net(signal)
        ticks = round(input_ns / TICK_NS) if timed else -1
        end = 2**64 - 1 if last is None else last
        self._lib.gates_window(self._handle, first, end, net, ticks, round(clock_ns / TICK_NS))

    def counts(self) -> Counts:
        """End the window and return its counts."""
        c = _Counts()
        self._lib.gates_counts(self._handle, ctypes.byref(c))
        assert not c.mismatches, "the simulation with delays settled elsewhere"
        size = len(self.tables.netlist.nets)

        def array(address: int, kind: type) -> np.ndarray:
            pointer: Any = ctypes.cast(address, ctypes.POINTER(kind))
            return np.ctypeslib.as_array(pointer, (size,)).copy() if size else np.zeros(0)

        toggles, clocked = array(c.toggles, ctypes.c_uint32), array(c.clocked, ctypes.c_uint8).astype(bool)
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
        """Free it; a second call does nothing."""
        if self._handle and self._owned:
            self._lib.gates_delete(self._handle)
        self._handle = None

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            self.close()
