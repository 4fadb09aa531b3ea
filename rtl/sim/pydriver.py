"""Python driver for the stages `python` and `verilog`: runs a plan on any PyMTL3 component."""

import time

from pymtl3 import Component

from . import interrupt
from .base import Simulation
from .ports import Ports
from .protocol import (
    DRAIN_CYCLES,
    Plan,
    Progress,
    Promise,
    UnexpectedResponse,
    xorshift32,
)
from .pymodel import PROGRESS_SECONDS, InPython, PythonStage, maker
from .verilog import VerilogStage


class PythonDriver(InPython, Simulation):
    """Driver of a component with streams."""

    def _read_ports(self, component: Component) -> None:
        self.ports = Ports.of(component)

    @interrupt.kept()
    def _drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        top, settle, edge, trace = self._top, self._settle, self._edge, self._trace
        istream, ostream = top.istream, top.ostream
        message = maker(type(istream.msg))
        responses = []
        accepted: list[int] = []
        done: list[int] = []
        total = len(plan)
        random = plan.stall.start if plan.stall else 0
        source_threshold, sink_threshold = plan.stall.thresholds if plan.stall else (0, 0)

        def offer(packed: int | None) -> None:
            istream.val @= packed is not None
            istream.msg @= message(packed or 0)

        offer(None)
        ostream.rdy @= 0
        self._set_statics(plan.static_sets[plan.static_of[0]])
        self._reset()

        cycle = 0
        limit = plan.limit(self.stage, 0)
        offered = False
        wait = plan.source_delays[0]
        current = plan.static_of[0]
        refused = 0
        promise = Promise("response", self.stage)
        reported = time.monotonic()
        while len(done) < total:
            if cycle >= limit:
                raise plan.timeout(self.stage, len(accepted), len(done), cycle)

            source_stall = sink_stall = False
            if plan.stall:
                random = xorshift32(random)
                source_stall = random < source_threshold
                random = xorshift32(random)
                sink_stall = random < sink_threshold

            if not offered and len(accepted) < total:
                wanted = plan.static_of[len(accepted)]
                if wait:
                    wait -= 1
                elif (wanted == current or len(accepted) == len(done)) and not source_stall:
                    if wanted != current:
                        self._set_statics(plan.static_sets[wanted])
                        current = wanted
                    offer(plan.messages[len(accepted)])
                    offered = True
            ready = refused >= plan.sink_delays[len(done)] and not sink_stall
            ostream.rdy @= ready

            settle()
            if trace:
                trace(cycle, self._line_trace())
            fired = offered and bool(istream.rdy)
            if fired:
                accepted.append(cycle)
            promise.check(ostream, len(done), cycle)
            if ostream.val:
                if not ready:
                    refused += 1
                elif len(done) == len(accepted):
                    raise UnexpectedResponse.at(len(done), cycle, self.stage)
                else:
                    responses.append(int(ostream.msg.to_bits()))
                    done.append(cycle)
                    refused = 0
                    limit = plan.limit(self.stage, cycle)
            edge()
            if fired:
                offer(None)
                offered = False
                limit = plan.limit(self.stage, cycle)
                if len(accepted) < total:
                    wait = plan.source_delays[len(accepted)]
            cycle += 1
            if progress and time.monotonic() - reported > PROGRESS_SECONDS:
                progress(len(done), total)
                reported = time.monotonic()
        ostream.rdy @= 1
        for late in range(cycle, cycle + DRAIN_CYCLES):
            settle()
            if ostream.val:
                raise UnexpectedResponse.at(total, late, self.stage)
            edge()
        return responses, accepted, done

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
