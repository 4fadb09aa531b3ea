"""Python driver for the backends `python` and `verilog`: runs a plan on any PyMTL3 component."""

from . import interrupt
from .base import Simulation
from .memory.access import MemoryFault
from .memory.in_python import MemoryInPython
from .protocol import DRAIN_CYCLES, Driven, Plan, Progress, Random, UnexpectedResponse
from .pymodel import InPython, PythonStage, Receiver, Sender, maker
from .verilog import VerilogStage


class PythonDriver(InPython, Simulation):
    """Driver of a component with streams."""

    @interrupt.kept()
    def _drive(self, plan: Plan, progress: Progress | None) -> Driven:
        run = _PlanRun(self, plan)
        self._reset()
        cycles = self._cycles(
            run.drive, run.sample, progress and (lambda: progress(len(run.done), len(plan)))
        )
        run.withdraw()
        self._top.ostream.rdy @= 1
        for late in range(cycles, cycles + DRAIN_CYCLES):
            run.drain(late)
            self._settle()
            if self._top.ostream.val:
                raise UnexpectedResponse.at(len(plan), late, self.backend)
            run.memory.sample(late, 0, in_flight=not plan.memory.settled)
            self._edge()
        return Driven(run.responses, run.accepted, run.done, run.memories)

    def set_statics(self, values: tuple[int, ...]) -> None:
        """Set the static ports."""
        for (name, _), value in zip(self.ports.statics, values, strict=True):
            port = getattr(self._top, name)
            port @= maker(type(port))(value)

    def _events(self) -> str:
        """Both streams: the message if it fires, # if it is refused, . if neither side is ready."""
        return f"{self._top.istream} > {self._top.ostream}"


class _PlanRun:
    """Source and sink of a run, cycle by cycle."""

    def __init__(self, driver: PythonDriver, plan: Plan) -> None:
        self._driver, self._plan, self._backend = driver, plan, driver.backend
        self._source = Sender(driver._top.istream)
        self._sink = Receiver(driver._top.ostream, "response", driver.backend)
        self._random = Random(plan.stall.start) if plan.stall else None
        self._thresholds = plan.stall.thresholds if plan.stall else (0, 0, 0)
        self.responses: list[int] = []
        self.accepted: list[int] = []
        self.done: list[int] = []
        self.memory = MemoryInPython(driver._top, driver.ports.memory, plan.memory, driver.backend)
        self.memories: list[bytes | None] = []
        self._fired = False  # whether a request was accepted in the last cycle
        self._wait, self._refused = plan.source_delays[0], 0
        self._static = plan.static_of[0]
        driver.set_statics(plan.static_sets[self._static])
        self._limit = plan.limit(self._backend, 0)

    def drive(self, cycle: int) -> None:
        """Set the inputs of a cycle."""
        plan = self._plan
        if cycle >= self._limit:
            raise plan.timeout(self._backend, len(self.accepted), len(self.done), cycle, self.memory.untaken)
        source_stall = sink_stall = False
        if self._random:
            source_stall, sink_stall = (self._random.draw() < self._thresholds[place] for place in range(2))
        if self._fired:
            self.withdraw()
        if not self._source.offers and len(self.accepted) < len(plan):
            self._offer(plan, len(self.accepted), source_stall)
        self._sink.ready(self._refused >= plan.sink_delays[len(self.done)] and not sink_stall)
        self.memory.drive(cycle, self._random, self._thresholds[2])

    def drain(self, cycle: int) -> None:
        """Set the inputs of a cycle after the last response."""
        self.memory.drive(cycle, None, 0)

    def withdraw(self) -> None:
        """Withdraw the request that was accepted in the last cycle."""
        self._source.offer(None)
        if len(self.accepted) < len(self._plan):
            self._wait = self._plan.source_delays[len(self.accepted)]

    def _offer(self, plan: Plan, index: int, stall: bool) -> None:
        """Offer the next request if its time has come."""
        wanted = plan.static_of[index]
        if self._wait:
            self._wait -= 1
        elif (
            index == len(self.done) or not (wanted != self._static or plan.memory.loads(index))
        ) and not stall:
            self.memory.load(index)
            if wanted != self._static:
                self._driver.set_statics(plan.static_sets[wanted])
                self._static = wanted
            self._source.offer(plan.messages[index])

    def sample(self, cycle: int) -> bool:
        """Record the handshakes of a cycle; return whether all requests are answered."""
        plan = self._plan
        self._fired = self._source.fires
        if plan.memory.ports:
            answered = len(self.done)
            in_flight = self._fired or len(self.accepted) > answered or not plan.memory.settled
            try:
                self.memory.sample(cycle, plan.memory.delays[answered], in_flight=in_flight)
            except MemoryFault as fault:
                fault.answered = answered
                raise
        if self._fired:
            self.accepted.append(cycle)
        response = self._sink.accept(cycle)
        if response is not None:
            if len(self.done) == len(self.accepted):
                raise UnexpectedResponse.at(len(self.done), cycle, self._backend)
            self.responses.append(response)
            kept = plan.memory.ports and plan.memory.kept[len(self.done)]
            self.memories.append(bytes(self.memory.data) if kept else None)
            self.done.append(cycle)
            self._refused = 0
        elif self._sink.offered:
            self._refused += 1
        if self._fired or response is not None:
            self._limit = plan.limit(self._backend, cycle)
        return len(self.done) == len(plan)


class PythonSimulation(PythonStage, PythonDriver):
    """Simulation of the component itself."""


class VerilogSimulation(VerilogStage, PythonDriver):
    """Simulation of the component's Verilog, imported back."""
