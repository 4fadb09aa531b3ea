"""Backend `native`: the translated Verilog, compiled together with the driver in native.cpp."""

import ctypes
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...fl.errors import BadInput
from .base import Options, Simulation
from .harness import Harness, harness
from .memory import in_cpp
from .memory.in_cpp import MemoryInCpp
from .nativemodel import (
    CHANGED,
    FINISHED,
    TIMEOUT,
    UNEXPECTED,
    WITHDRAWN,
    NativeStage,
    buffer_of,
    declare_functions,
    fields,
    from_words,
    to_words,
)
from .protocol import (
    BrokenPromise,
    Driven,
    Plan,
    Progress,
    SimulationTimeout,
    Statics,
    UnexpectedResponse,
    hang_cycles,
)

DRIVER = Path(__file__).with_name("native.cpp").read_text()

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
        ("memory", in_cpp.Plan),
    )


class _Progress(ctypes.Structure):
    """Mirrors `Progress` in native.cpp."""

    _fields_ = (*fields(ctypes.c_int64, "sent", "received"), ("cycle", ctypes.c_uint64))


class NativeSimulation(NativeStage, Simulation):
    """Simulation of the compiled design."""

    def _harness(self) -> Harness:
        return harness(self.ports)

    def _driver(self) -> str:
        return in_cpp.text_of(self.ports.memory) + DRIVER

    def _open(self, lib: ctypes.CDLL, options: Options) -> None:
        super()._open(lib, options)
        declare_functions(lib, sim_memory=(None, ctypes.c_void_p))

    def _drive(self, plan: Plan, progress: Progress | None) -> Driven:
        source_threshold, sink_threshold, threshold = plan.stall.thresholds if plan.stall else (0, 0, 0)
        memory = MemoryInCpp(plan.memory, threshold)
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
            memory=memory.argument,
        )

        def failed(outcome: int, state: _Progress) -> RuntimeError:
            found = in_cpp.State()
            self._lib.sim_memory(self._handle, ctypes.byref(found))
            if outcome != TIMEOUT:
                return memory.error(found, outcome, state.cycle, self.backend, state.received)
            return plan.timeout(self.backend, state.sent, state.received, state.cycle, memory.untaken(found))

        data, accepted, done = self._carried_out(native_plan, failed, progress)
        responses = from_words(data, self.ports.response.nbits)
        return Driven(responses, accepted.tolist(), done.tolist(), memory.memories)

    def ask(
        self, requests: "NDArray[np.uint32]", statics: Statics, hang: int, apart: int = 0
    ) -> tuple["NDArray[np.uint32]", "NDArray[np.int64]"]:
        """Send millions of requests, as 32-bit words, `apart` cycles apart; return responses and latencies.

        Raises SimulationTimeout after `hang` cycles without a handshake, and the same errors as `run`.
        """
        import numpy as np  # imported here, as simulations of a few requests do not need it

        if self.ports.memory:
            raise BadInput("requests without a memory for a design with memory ports; call run")
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

        def failed(_: int, state: _Progress) -> RuntimeError:
            return SimulationTimeout(
                f"{state.received} of {total} answered, {state.sent} taken, in cycle {state.cycle} with "
                f"backend {self.backend}"
            )

        data, accepted, done = self._carried_out(plan, failed, None)
        answers = np.frombuffer(data, np.uint32).reshape(total, -1)
        return answers, np.frombuffer(done, np.int64) - np.frombuffer(accepted, np.int64)

    def _carried_out(
        self,
        plan: _Plan,
        failed: Callable[[int, _Progress], RuntimeError],
        progress: Progress | None,
    ) -> tuple[bytes, "array[int]", "array[int]"]:
        """The responses, and the cycles of both handshakes. `failed` makes the error for an outcome that is
        not of the response stream.
        """
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
            raise self._broken(outcome, state) or failed(outcome, state)
        return responses.raw, accepted, done

    def _broken(self, outcome: int, state: _Progress) -> RuntimeError | None:
        """The error for a promise that the design broke on its response stream; None for another outcome."""
        if outcome == UNEXPECTED:
            return UnexpectedResponse.at(state.received, state.cycle, self.backend)
        if outcome not in (WITHDRAWN, CHANGED):
            return None
        name = f"response {state.received}"
        return BrokenPromise.at(name, state.cycle, self.backend, dropped=outcome == WITHDRAWN)
