"""Cycle-by-cycle activity of a netlist: transitions and glitches per operation and module.

The engine sums the transitions of each cycle (gates_follow in gates.cpp) while a driver runs operations one
after the other, with a pause in between, so that no operation begins before the previous response. Nets of
the clock count too; behind a closed clock gate they are idle.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...fl.closing import Closing
from ...rtl.sim.ports import Ports, Value
from ...rtl.sim.protocol import RESET_CYCLES
from ..kit.constraints import Constraints
from ..kit.liberty import Library
from ..netlist.netlist import Netlist
from ..timing import nldm
from .engine import GateTables
from .gates import GateSimulation

PAUSE = 4  # cycles between a response and the next request


class Traced(NamedTuple):
    """The responses of operations, the transitions of each by cycle and module, and the number of all
    transitions, including those of the pauses.
    """

    responses: list[Value]
    rows: list[np.ndarray]
    total: int


class TracedNetlist(Closing):
    """A machine's netlist with its transitions summed by cycle; delays are those of nldm.py."""

    def __init__(self, netlist: Netlist, library: Library, ports: Ports, constraints: Constraints) -> None:
        self.ports = ports
        self._clock_ns = constraints.clock_ns
        timing = nldm.analyze(netlist, library, constraints)
        self._tables = GateTables(netlist, library, timing=timing, clock_port=constraints.clock_port or "clk")
        modules = [driver[0].rpartition(".")[0] if driver is not None else "" for driver in netlist.driver]
        self.modules = sorted(set(modules))
        number = {name: place for place, name in enumerate(self.modules)}
        self._groups = np.array([number[module] for module in modules], np.int32)
        self._weights = np.ones(len(modules), np.uint32)
        self._model = GateSimulation(self._tables, ports)

    def run(self, requests: Sequence[Value], longest: int, before: int = 0) -> Traced:
        """Run operations of at most `longest` cycles from request to response; their rows begin `before`
        cycles before the request.
        """
        delay = longest + PAUSE  # from the handshake of a request until the next one is offered
        room = RESET_CYCLES + (len(requests) + 1) * (before + delay + 2)
        sums = np.zeros((room, len(self.modules)), np.uint64)
        engine = self._model.engine
        engine.window(engine.edges, clock_ns=self._clock_ns)
        engine._lib.gates_follow(
            engine._handle,
            self._weights.ctypes.data,
            self._groups.ctypes.data,
            len(self.modules),
            sums.ctypes.data,
            room,
        )
        try:
            made = self._model.run(requests, source_delays=delay, max_cycles=room)
            engine.counts()  # the last cycle ends
        finally:
            engine._lib.gates_follow(engine._handle, None, None, 0, None, 0)
        # transitions caused by the edge at the end of a cycle belong to that cycle
        rows = [
            sums[RESET_CYCLES + accepted - before : RESET_CYCLES + done + 1].astype(np.int64)
            for accepted, done in zip(made.accepted, made.done, strict=True)
        ]
        return Traced(made.responses, rows, int(sums.sum()))
