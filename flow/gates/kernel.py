"""The kernel: the window of an operation in which transitions count.

An operation whose operands are still in the registers hardly toggles a net: a pipeline with clock gates
stands still. A warm-up, the same kind of operation on other operands, therefore runs before the window. The
operation follows it without a reset, as in a device in use. If that changes its responses or its cycles,
because the machine keeps state between requests, a reset comes in between.
"""

import random
from collections.abc import Iterator, Sequence

from ...fl.errors import BadInput
from ...rtl.sim.ports import Ports, Value
from ...rtl.sim.protocol import RESET_CYCLES, Run
from ..workload import BROKEN, Number, Row, Workload
from .engine import Counts, GateTables
from .gates import GateSimulation

PAUSE = 4  # cycles between the last response of the warm-up and the first request of the operation
RANDOM_WARM_UPS = 8  # that are tried if the workload has none
LEAST_CHANGED = 0.1  # of the registers in reach of the request's data, if they return to their values
MESSAGE = "istream__msg"
Course = tuple[list[Value], list[int], list[int]]  # responses, and the cycles of both handshakes


class Kernel:
    """Counts the operations of a workload on a netlist."""

    def __init__(self, simulation: GateSimulation, work: Workload, delays_ns: float | None) -> None:
        """With `delays_ns`, the clock period, transitions with delays count too."""
        self._simulation, self._work, self._delays_ns = simulation, work, delays_ns
        self._engine = simulation.engine
        self._data_registers = data_registers(self._engine.tables, work.names.get(MESSAGE, MESSAGE))

    def count(self, row: Row, *, checked: bool = False) -> Counts:
        """Count the transitions while the machine serves the requests of a row, from the handshake of the
        first request to that of the last response.

        checked: raise BadInput if the responses are not those of the row; otherwise the caller has checked
        them.
        """
        alone = self._run([row])
        if checked:
            wrong = row.wrong_memory(bytearray(self._work.memory_nbytes), alone.responses)
            if wrong or self._packed(alone) != list(row.expected):
                where = f" (in memory, {wrong})" if wrong else ""
                raise BadInput(f"{row.name}: the netlist answers wrongly{where}, so its energy means nothing")
        moved = 0
        for warm_up in [row.warm_up] if row.warm_up else random_warm_ups(row, self._simulation.ports):
            warm = self._warmed(warm_up, alone, stated=row.warm_up is not None)
            before = self._held()
            counts = self._counted(row, alone, warm_up, warm) if warm else None
            if counts is None:
                counts = self._counted(row, alone)
            if counts is None:
                raise BadInput(
                    f"{row.name}: the same requests take another course after a reset: reset all registers "
                    "of control"
                )
            if not self._stood_still(before, counts):
                return counts
            moved = int((counts.toggles > 0).sum())
        raise BadInput(
            f"{row.name}: {moved:,} of {len(self._engine.tables.netlist.nets):,} nets toggle, because the "
            "registers hold its operands before it begins: give it a warm_up with other operands "
            "(docs/reference/flow.md)"
        )

    def _counted(
        self, row: Row, alone: Run, warm_up: Row | None = None, warm: Run | None = None
    ) -> Counts | None:
        """Count a row after a reset, or after its warm-up; None if it takes another course than alone."""
        rows = [row]
        begin = alone.accepted[0]
        gap = 0
        if warm_up is not None and warm is not None:
            rows = [warm_up, row]
            gap = warm.done[-1] - warm.accepted[-1] + PAUSE
            begin += warm.accepted[-1] + 1 + gap
        first_request = sum(len(row.requests) for row in rows[:-1])
        for _ in range(2):  # the second time if the machine accepts the request later than after a reset
            first = self._engine.edges + RESET_CYCLES
            cycles = alone.done[-1] - alone.accepted[0]
            cycles = min(cycles, row.window_cycles or cycles)
            self._engine.window(first + begin, first + begin + cycles, clock_ns=self._delays_ns)
            try:
                again = self._run(rows, gap, _patience(alone, *([warm] if warm else [])))
            except BROKEN:
                return None
            if _course(again, first_request) != _course(alone, 0):
                return None
            if again.accepted[first_request] == begin:
                return self._engine.counts()
            begin = again.accepted[first_request]
        return None

    def _warmed(self, warm_up: Row, alone: Run, *, stated: bool) -> Run | None:
        """Run a warm-up after a reset. A random one may get no answer; BadInput if a stated one fails."""
        most = self._work.max_cycles if stated else _patience(alone)
        try:
            warm = self._run([warm_up], max_cycles=most)
        except BROKEN as error:
            if stated:
                raise BadInput(f"{warm_up.name}: {error}; give it requests that are answered") from None
            return None
        if warm_up.expected and self._packed(warm) != list(warm_up.expected):
            raise BadInput(
                f"{warm_up.name}: the netlist answers {_hex(self._packed(warm))}, and "
                f"{_hex(warm_up.expected)} is expected; correct the requests or the answers"
            )
        return warm

    def _run(self, rows: Sequence[Row], gap: int = 0, max_cycles: int | None = None) -> Run:
        """Reset, and run rows one after the other; the last one begins `gap` cycles later."""
        requests = [request for row in rows for request in row.asked(self._simulation.ports)]
        delays = [0] * len(requests)
        delays[-len(rows[-1].requests)] = gap
        return self._simulation.run(
            requests,
            statics=[row.statics for row in rows for _ in row.requests],
            source_delays=delays,
            max_cycles=max_cycles,
            memory=self._work.memory_of(rows),
        )

    def _packed(self, run: Run) -> list[int]:
        pack = self._simulation.ports.response.pack
        return [pack(response, "response") for response in run.responses]

    # ---- does the datapath move?

    def _held(self) -> list[int]:
        """The values of the registers in reach of the request's data."""
        state = self._engine.state()
        return [state[net] for net in self._data_registers]

    def _stood_still(self, before: list[int], counts: Counts) -> bool:
        """Whether the registers in reach of the request's data have their values of before the window, and
        few have changed within it. A machine that clears them after each operation has changed many.
        """
        if before != self._held():
            return False
        net = self._engine.tables.netlist.net
        changed = sum(bool(counts.toggles[net(name)]) for name in self._data_registers)
        return changed < LEAST_CHANGED * len(before)


def random_warm_ups(row: Row, ports: Ports) -> Iterator[Row]:
    """Random requests in the place of a row's own, with the same values at the static ports."""
    generator = random.Random(f"{row.name}, warm-up")
    for _ in range(RANDOM_WARM_UPS):
        requests = tuple(Number(generator.getrandbits(ports.request.nbits)) for _ in row.requests)
        yield Row(f"{row.name}, random warm-up", requests, statics=row.statics)


def data_registers(tables: GateTables, port: str) -> list[str]:
    """The nets of the registers that the bits of a port reach, through logic and other registers."""
    netlist = tables.netlist
    _, waiting = netlist.ports.get(port, ("", []))
    waiting = [*waiting]
    reached, registers = set(waiting), set()
    while waiting:
        for name, pin in netlist.sinks[waiting.pop()]:
            cell = tables.cells.get(name)
            if cell is None or cell.clock_gate or cell.pins[pin].clock:
                continue
            pins = netlist.cells[name].pins
            outputs = {pins[output] for output in cell.outputs if output in pins}
            if cell.sequential:
                registers |= outputs
            waiting += outputs - reached
            reached |= outputs
    return sorted(netlist.nets[net] for net in registers)


def _patience(*runs: Run) -> int:
    """The cycles after which a machine that took these runs' cycles counts as hung."""
    return 1000 + 10 * sum(run.cycles for run in runs)


def _course(run: Run, first: int) -> Course:
    """The responses of a run from a request on, and the cycles of both handshakes after that request."""
    begin = run.accepted[first]
    accepted, done = ([cycle - begin for cycle in cycles[first:]] for cycles in (run.accepted, run.done))
    responses = run.responses[first:]  # without their memory, on which a warm-up may have left its own
    return [tuple(one) if isinstance(one, tuple) else one for one in responses], accepted, done


def _hex(values: Sequence[int]) -> str:
    return ", ".join(map(hex, values))
