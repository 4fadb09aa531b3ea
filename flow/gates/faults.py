"""Faults in a netlist: a net stuck at 0 or 1, or inverted for one cycle.

    model = FaultyNetlist(tables, ports)
    model.run(request, max_cycles, NetFault(net, Stuck.AT_1))

A stuck net is disconnected from its cell in the engine's tables; the engine itself knows no faults. A flip is
applied to a net between two clock edges and removed after the next edge; on the output of a flip-flop it
inverts the state, which is not restored. Nets of the clock are left out. Cycle 0 is the first in which the
request is offered, after reset or after the last of the earlier responses; the sink is always ready.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from ...rtl.sim.campaigns.faults import Effect, Judge, judged
from ...rtl.sim.nativemodel import RUNNING
from ...rtl.sim.ports import Ports, Value
from ...rtl.sim.protocol import BrokenPromise, SimulationTimeout, UnexpectedResponse
from .engine import GateTables, _Tables
from .gates import GateSimulation


class Stuck(Enum):
    """Fault of a net."""

    AT_0 = "stuck at 0"
    AT_1 = "stuck at 1"
    FLIP = "flip"


class NetFault(NamedTuple):
    """A net by its number; `cycle` is that of a flip."""

    net: int
    kind: Stuck
    cycle: int = 0


class NetOutcome(NamedTuple):
    """One operation with a fault; `response` is None if there was none."""

    fault: NetFault
    effect: Effect
    response: Value | None


class StuckTables(GateTables):
    """The tables of a netlist with one net that has a constant value and no driver."""

    def __init__(self, whole: GateTables, net: int, value: int) -> None:
        self.__dict__.update(whole.__dict__)
        self.c = _Tables.from_buffer_copy(whole.c)
        for name in ("cells", "states", "ones"):
            array = getattr(whole, f"_{name}").copy()
            setattr(self, f"_{name}", array)
            setattr(self.c, name, array.ctypes.data)
        for nets in (self._cells["out"], self._states["q"], self._states["qn"]):
            nets[nets == net] = -1
        self._ones[net] = value


class _FlippedSimulation(GateSimulation):
    """A netlist with streams and one flip during the run."""

    def __init__(self, tables: GateTables, ports: Ports, fault: NetFault) -> None:
        super().__init__(tables, ports)
        self._fault = fault

    def _advance(self, report: Callable[[], None] | None) -> int:
        """Run up to the cycle of the fault, through it with the flip, and on."""
        net, _, cycle = self._fault
        if cycle and (outcome := self._lib.sim_advance(self._handle, cycle)) != RUNNING:
            return outcome
        self._set({item: 1 - self._get(item) for item in self._beside(net)})
        if (outcome := self._lib.sim_advance(self._handle, 1)) != RUNNING:
            return outcome
        if (value := self._driven(net)) is not None:
            self._set({net: value})
        return super()._advance(report)

    def _get(self, net: int) -> int:
        return self.engine._lib.gates_get(self.engine._handle, net)

    def _set(self, values: dict[int, int]) -> None:
        for net, value in values.items():
            self.engine._lib.gates_set(self.engine._handle, net, value)
        self.engine.settle()

    def _beside(self, net: int) -> list[int]:
        """The net, and if it is an output of a flip-flop, also the complementary output."""
        for pair in self._tables._states[["q", "qn"]].tolist():
            if net in pair:
                return [other for other in pair if other >= 0]
        return [net]

    def _driven(self, net: int) -> int | None:
        """The value that a gate drives onto a net; None if the driver is a flip-flop."""
        tables = self._tables
        for cell, output in zip(*(tables._cells["out"] == net).nonzero(), strict=True):
            row = tables._cells[cell]
            at = sum(self._get(int(item)) << pin for pin, item in enumerate(row["in"]) if item >= 0)
            return int(tables._kinds[row["kind"]]["table"][output]) >> at & 1
        return None


class FaultyNetlist:
    """A machine's netlist in which nets can be stuck or flipped."""

    def __init__(self, tables: GateTables, ports: Ports) -> None:
        self.tables, self.ports = tables, ports

    @cached_property
    def nets(self) -> list[int]:
        """The nets that a cell drives and the clock does not reach."""
        with GateSimulation(self.tables, self.ports) as simulation:
            clocked = simulation.engine.counts().clocked
        states = self.tables._states
        driven = {*self.tables._cells["out"].flat, *states["q"], *states["qn"]}
        return sorted(int(net) for net in driven if net >= 0 and not clocked[net])

    def name(self, net: int) -> str:
        """The name of a net in the netlist."""
        return self.tables.netlist.nets[net]

    def module(self, net: int) -> str:
        """The module of the net's driver, by the cell's name."""
        driver = self.tables.netlist.driver[net]
        return driver[0].rpartition(".")[0] if driver is not None else ""

    def run(
        self,
        request: Value,
        max_cycles: int,
        fault: NetFault | None = None,
        before: Sequence[Value] = (),
    ) -> tuple[Value | None, int]:
        """(response to one request, its cycle), or (None, 0) if there is none; UnexpectedResponse if one
        comes without a request.

        before: requests that are answered first. A stuck net is stuck from the beginning.
        """
        begin = 0
        if before:
            with GateSimulation(self.tables, self.ports) as faultless:
                begin = faultless.run(before).cycles
            if fault is not None:
                fault = fault._replace(cycle=begin + fault.cycle)
        if fault is not None and fault.kind is Stuck.FLIP:
            simulation: GateSimulation = _FlippedSimulation(self.tables, self.ports, fault)
        else:
            stuck = fault and StuckTables(self.tables, fault.net, int(fault.kind is Stuck.AT_1))
            simulation = GateSimulation(stuck or self.tables, self.ports)
        with simulation:
            try:
                made = simulation.run([*before, request], max_cycles=begin + max_cycles)
            except SimulationTimeout:
                return None, 0
        return made.responses[-1], made.done[-1] - begin

    def campaign(
        self,
        requests: Sequence[Value],
        faults: Iterable[NetFault],
        expected: Sequence[Value],
        max_cycles: int,
        judge: Judge = judged,
        progress: Callable[[int], None] | None = None,
        before: Sequence[Sequence[Value]] = (),
    ) -> list[NetOutcome]:
        """Run one operation with each fault: fault i with request i (modulo their number), whose correct
        response is the entry of `expected` at the same index, after the requests of `before` at that index.

        An unexpected or retracted response is a wrong result.
        """
        outcomes = []
        for done, fault in enumerate(faults):
            at = done % len(requests)
            try:
                response, _ = self.run(requests[at], max_cycles, fault, before[at] if before else ())
                effect = judge(response, expected[at])
            except (UnexpectedResponse, BrokenPromise):
                response, effect = None, Effect.WRONG
            outcomes.append(NetOutcome(fault, effect, response))
            if progress is not None:
                progress(done + 1)
        return outcomes
