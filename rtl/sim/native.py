"""Backend `native`: the translated Verilog, compiled together with the driver in native.cpp."""

import ctypes
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .base import Simulation
from .harness import Harness, harness
from .nativemodel import (
    CHANGED,
    FINISHED,
    UNEXPECTED,
    WITHDRAWN,
    NativeStage,
    buffer_of,
    fields,
    from_words,
    to_words,
)
from .protocol import (
    BrokenPromise,
    Plan,
    Progress,
    SimulationTimeout,
    Statics,
    UnexpectedResponse,
    hang_cycles,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class _Plan(ctypes.Structure):
    """Mirrors `Plan` in native.cpp. Inputs are bytes, which the structure keeps alive."""

    _fields_ = (
        ("total", ctypes.c_int64),
        *fields(ctypes.c_char_p, "messages", "static_sets", "static_of", "source_delays", "sink_delays"),
        *fields(ctypes.c_uint64, "source_threshold", "sink_threshold", "max_cycles", "hang_cycles"),
        ("random", ctypes.c_uint32),
        *fields(ctypes.c_void_p, "responses", "accepted", "done"),
    )


class _Progress(ctypes.Structure):
    """Mirrors `Progress` in native.cpp."""

    _fields_ = (*fields(ctypes.c_int64, "sent", "received"), ("cycle", ctypes.c_uint64))


class NativeSimulation(NativeStage, Simulation):
    """Simulation of the compiled design."""

    driver = Path(__file__).with_name("native.cpp").read_text()

    def _harness(self) -> Harness:
        return harness(self.ports)

    def _drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        source_threshold, sink_threshold = plan.stall.thresholds if plan.stall else (0, 0)
        native_plan = _Plan(
            total=len(plan),
            messages=to_words(plan.messages, self.ports.request.nbits),
            static_sets=to_words(map(self.ports.join_statics, plan.static_sets), self.ports.static_nbits),
            static_of=array("i", plan.static_of).tobytes(),
            source_delays=array("i", plan.source_delays).tobytes(),
            sink_delays=array("i", plan.sink_delays).tobytes(),
            source_threshold=source_threshold,
            sink_threshold=sink_threshold,
            max_cycles=plan.max_cycles or 0,
            hang_cycles=hang_cycles(self.backend),
            random=plan.stall.start if plan.stall else 0,
        )
        data, accepted, done = self._carried_out(native_plan, plan.timeout, progress)
        return from_words(data, self.ports.response.nbits), accepted.tolist(), done.tolist()

    def ask(
        self, requests: "NDArray[np.uint32]", statics: Statics, hang: int, apart: int = 0
    ) -> tuple["NDArray[np.uint32]", "NDArray[np.int64]"]:
        """Send millions of requests, as 32-bit words, `apart` cycles apart; return responses and latencies.

        Raises SimulationTimeout after `hang` cycles without a handshake, and the same errors as `run`.
        """
        import numpy as np  # imported here, as simulations of a few requests do not need it

        total = len(requests)
        plan = _Plan(
            total=total,
            messages=requests.tobytes(),
            static_sets=to_words(
                [self.ports.join_statics(self.ports.pack_statics(statics))], self.ports.static_nbits
            ),
            static_of=bytes(4 * total),
            source_delays=np.full(total, apart, np.int32).tobytes(),
            sink_delays=bytes(4 * total),
            hang_cycles=hang,
        )

        def timeout(backend: str, accepted: int, done: int, cycle: int) -> SimulationTimeout:
            return SimulationTimeout(
                f"{done} of {total} answered, {accepted} taken, in cycle {cycle} with backend {backend}"
            )

        data, accepted, done = self._carried_out(plan, timeout, None)
        answers = np.frombuffer(data, np.uint32).reshape(total, -1)
        return answers, np.frombuffer(done, np.int64) - np.frombuffer(accepted, np.int64)

    def _carried_out(
        self,
        plan: _Plan,
        timeout: Callable[[str, int, int, int], SimulationTimeout],
        progress: Progress | None,
    ) -> tuple[bytes, "array[int]", "array[int]"]:
        """The responses, and the cycles of both handshakes."""
        total = plan.total
        responses = buffer_of(total, self.ports.response.nbits)
        accepted = array("q", bytes(8 * total))
        done = array("q", bytes(8 * total))
        plan.responses = ctypes.addressof(responses)
        plan.accepted, plan.done = accepted.buffer_info()[0], done.buffer_info()[0]
        self._lib.sim_start(self._handle, ctypes.byref(plan))
        outcome = self._advance(progress and (lambda: progress(self._state(_Progress).received, total)))
        if outcome != FINISHED:
            state = self._state(_Progress)
            if outcome == UNEXPECTED:
                raise UnexpectedResponse.at(state.received, state.cycle, self.backend)
            if outcome in (WITHDRAWN, CHANGED):
                raise BrokenPromise.at(
                    f"response {state.received}", state.cycle, self.backend, dropped=outcome == WITHDRAWN
                )
            raise timeout(self.backend, state.sent, state.received, state.cycle)
        return responses.raw, accepted, done
