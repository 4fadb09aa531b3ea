"""Python driver for the stages `python` and `verilog`: runs a plan on any PyMTL3 component."""

import itertools
import time
from collections.abc import Callable

from pymtl3 import Component
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from . import interrupt
from .base import Simulation
from .ports import Ports
from .protocol import (
    DRAIN_CYCLES,
    Plan,
    Progress,
    Promise,
    UnexpectedResponse,
)
from .pymodel import PROGRESS_SECONDS, InPython, PythonStage, maker
from .verilog import VerilogStage


class Source:
    """Offers the requests of a plan, and sets the static ports while no operation is in progress."""

    def __init__(
        self, plan: Plan, istream: RecvIfcRTL, set_statics: Callable[[tuple[int, ...]], None]
    ) -> None:
        self._plan, self._istream, self._set_statics = plan, istream, set_statics
        self._message = maker(type(istream.msg))
        self.accepted: list[int] = []  # the cycle of each handshake
        self._wait = plan.source_delays[0]
        self._static = plan.static_of[0]
        self._put(None)
        self._set_statics(plan.static_sets[self._static])

    def _put(self, packed: int | None) -> None:
        self._offered = packed is not None
        self._istream.val @= self._offered
        self._istream.msg @= self._message(packed or 0)

    def drive(self, ndone: int, stalls: bool) -> None:
        """Offer the next request if its time has come; ndone: responses so far."""
        index = len(self.accepted)
        if self._offered or index == len(self._plan):
            return
        static = self._plan.static_of[index]
        if self._wait:
            self._wait -= 1
        elif (static == self._static or index == ndone) and not stalls:
            if static != self._static:
                self._set_statics(self._plan.static_sets[static])
                self._static = static
            self._put(self._plan.messages[index])

    def sample(self, cycle: int) -> bool:
        """Whether the request is accepted in this cycle."""
        fired = self._offered and bool(self._istream.rdy)
        if fired:
            self.accepted.append(cycle)
        return fired

    def withdraw(self) -> None:
        """End the offer of an accepted request, after the clock edge."""
        self._put(None)
        if len(self.accepted) < len(self._plan):
            self._wait = self._plan.source_delays[len(self.accepted)]


class Sink:
    """Accepts the responses to a plan, and checks the promises of the design."""

    def __init__(self, plan: Plan, ostream: SendIfcRTL, stage: str) -> None:
        self._plan, self.ostream, self._stage = plan, ostream, stage
        self.responses: list[int] = []  # packed
        self.done: list[int] = []  # the cycle of each handshake
        self._ready = False
        self._refused = 0  # cycles in which the response has been refused
        self._promise = Promise("response", stage)
        ostream.rdy @= 0

    def drive(self, stalls: bool) -> None:
        """Be ready for the next response if it has been refused long enough."""
        self._ready = self._refused >= self._plan.sink_delays[len(self.done)] and not stalls
        self.ostream.rdy @= self._ready

    def sample(self, cycle: int, naccepted: int) -> bool:
        """Whether a response arrives in this cycle; naccepted: requests so far."""
        self._promise.check(self.ostream, len(self.done), cycle)
        if not self.ostream.val:
            return False
        if not self._ready:
            self._refused += 1
            return False
        if len(self.done) == naccepted:
            raise UnexpectedResponse.at(len(self.done), cycle, self._stage)
        self.responses.append(int(self.ostream.msg.to_bits()))
        self.done.append(cycle)
        self._refused = 0
        return True


class PythonDriver(InPython, Simulation):
    """Driver of a component with streams."""

    def _read_ports(self, component: Component) -> None:
        self.ports = Ports.of(component)

    @interrupt.kept()
    def _drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        settle, edge, trace = self._settle, self._edge, self._trace
        source = Source(plan, self._top.istream, self._set_statics)
        sink = Sink(plan, self._top.ostream, self.stage)
        stalls = plan.stall.cycles() if plan.stall else itertools.repeat((False, False))
        self._reset()

        cycle = 0
        limit = plan.limit(self.stage, 0)
        reported = time.monotonic()
        while len(sink.done) < len(plan):
            if cycle >= limit:
                raise plan.timeout(self.stage, len(source.accepted), len(sink.done), cycle)
            source_stalls, sink_stalls = next(stalls)
            source.drive(len(sink.done), source_stalls)
            sink.drive(sink_stalls)
            settle()
            if trace:
                trace(cycle, self._line_trace())
            accepted = source.sample(cycle)
            responded = sink.sample(cycle, len(source.accepted))
            edge()
            if accepted:
                source.withdraw()
            if accepted or responded:
                limit = plan.limit(self.stage, cycle)
            cycle += 1
            if progress and time.monotonic() - reported > PROGRESS_SECONDS:
                progress(len(sink.done), len(plan))
                reported = time.monotonic()
        self._drain(sink, cycle)
        return sink.responses, source.accepted, sink.done

    def _drain(self, sink: Sink, cycle: int) -> None:
        """Run a few cycles more, from this one on, in which no response may come."""
        sink.ostream.rdy @= 1
        for late in range(cycle, cycle + DRAIN_CYCLES):
            self._settle()
            if sink.ostream.val:
                raise UnexpectedResponse.at(len(sink.done), late, self.stage)
            self._edge()

    def _set_statics(self, values: tuple[int, ...]) -> None:
        for (name, _), value in zip(self.ports.statics, values, strict=True):
            port = getattr(self._top, name)
            port @= maker(type(port))(value)

    def _events(self) -> str:
        """Both streams: the message if it fires, # if it is refused, . if neither side is ready."""
        return f"{self._top.istream} > {self._top.ostream}"


class PythonSimulation(PythonStage, PythonDriver):
    """Simulation of the component itself."""


class VerilogSimulation(VerilogStage, PythonDriver):
    """Simulation of the component's Verilog, imported back."""
