"""The driver in Python: runs a plan on any PyMTL3 component, cycle by cycle."""

import time
from collections.abc import Callable

from pymtl3 import Component

from . import interrupt
from .ports import Ports
from .protocol import (
    DRAIN_CYCLES,
    RESET_CYCLES,
    Plan,
    Progress,
    Promise,
    Trace,
    UnexpectedResponse,
    xorshift32,
)
from .pymodel import halves_of_a_cycle, maker

PROGRESS_SECONDS = 0.2


class PythonDriver:
    """Drives a component to which a simulation pass group has been applied."""

    def __init__(
        self,
        top: Component,
        ports: Ports,
        stage: str,
        trace: Trace | None = None,
        line_trace: Callable[[], str] | None = None,
    ) -> None:
        self._top = top
        self._stage = stage
        self._trace = trace
        self._line_trace = line_trace or self._handshakes
        self._settle, self._edge = halves_of_a_cycle(top)
        self._message = maker(type(top.istream.msg))
        self._statics = [(name, maker(type(getattr(top, name)))) for name, _ in ports.statics]

    @interrupt.kept()
    def drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        """Reset, then the plan: packed responses, and the cycles of the handshakes."""
        top, settle, edge, trace = self._top, self._settle, self._edge, self._trace
        istream, ostream = top.istream, top.ostream
        responses: list[int] = []
        accepted: list[int] = []
        done: list[int] = []
        total = len(plan)
        random = plan.stall.start if plan.stall else 0
        source_threshold, sink_threshold = plan.stall.thresholds if plan.stall else (0, 0)

        def offer(packed: int | None) -> None:
            istream.val @= packed is not None
            istream.msg @= self._message(packed or 0)

        top.reset @= 1
        offer(None)
        ostream.rdy @= 0
        self._set_statics(plan.static_sets[plan.static_of[0]])
        for _ in range(RESET_CYCLES):
            settle()
            edge()
        top.reset @= 0

        cycle = 0
        limit = plan.limit(self._stage, 0)
        offered = False
        wait = plan.source_delays[0]
        current = plan.static_of[0]
        refused = 0
        promise = Promise("response", self._stage)
        reported = time.monotonic()
        while len(done) < total:
            if cycle >= limit:
                raise plan.timeout(self._stage, len(accepted), len(done), cycle)

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
                    raise UnexpectedResponse.at(len(done), cycle, self._stage)
                else:
                    responses.append(int(ostream.msg.to_bits()))
                    done.append(cycle)
                    refused = 0
                    limit = plan.limit(self._stage, cycle)
            edge()
            if fired:
                offer(None)
                offered = False
                limit = plan.limit(self._stage, cycle)
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
                raise UnexpectedResponse.at(total, late, self._stage)
            edge()
        return responses, accepted, done

    def _set_statics(self, values: tuple[int, ...]) -> None:
        for (name, make), value in zip(self._statics, values, strict=True):
            port = getattr(self._top, name)
            port @= make(value)

    def _handshakes(self) -> str:
        """Both streams: the message where it fires, # where it is refused, . where nobody is ready."""
        return f"{self._top.istream} > {self._top.ostream}"
