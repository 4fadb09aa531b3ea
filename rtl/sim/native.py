"""Stage `native`: the translated Verilog, compiled together with the driver in native.cpp."""

import ctypes
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pymtl3 import Component

from .base import Options, Simulation
from .build import WAVES
from .harness import harness
from .nativemodel import CHANGED, FINISHED, UNEXPECTED, WITHDRAWN, NativeModel
from .ports import Ports
from .protocol import (
    DRAIN_CYCLES,
    RESET_CYCLES,
    BrokenPromise,
    Plan,
    Progress,
    SimulationTimeout,
    Statics,
    UnexpectedResponse,
    hang_cycles,
)
from .translation.translate import top_name
from .translation.translated import translated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DRIVER = Path(__file__).with_name("native.cpp").read_text()


class _Plan(ctypes.Structure):
    """Mirrors `Plan` in native.cpp. What goes in is bytes, which the structure keeps alive."""

    _fields_ = (
        ("total", ctypes.c_int64),
        ("messages", ctypes.c_char_p),
        ("static_sets", ctypes.c_char_p),
        ("static_of", ctypes.c_char_p),
        ("source_delays", ctypes.c_char_p),
        ("sink_delays", ctypes.c_char_p),
        ("source_threshold", ctypes.c_uint64),
        ("sink_threshold", ctypes.c_uint64),
        ("max_cycles", ctypes.c_uint64),
        ("hang_cycles", ctypes.c_uint64),
        ("reset_cycles", ctypes.c_uint64),
        ("drain_cycles", ctypes.c_uint64),
        ("random", ctypes.c_uint32),
        ("responses", ctypes.c_void_p),
        ("accepted", ctypes.c_void_p),
        ("done", ctypes.c_void_p),
    )


class _State(ctypes.Structure):
    """Mirrors `State` in native.cpp."""

    _fields_ = (
        ("sent", ctypes.c_int64),
        ("received", ctypes.c_int64),
        ("cycle", ctypes.c_uint64),
        ("limit", ctypes.c_uint64),
        ("wait", ctypes.c_int32),
        ("refused", ctypes.c_int32),
        ("current", ctypes.c_int32),
        ("random", ctypes.c_uint32),
        ("offered", ctypes.c_bool),
    )


class NativeSimulation(Simulation):
    """Simulates the compiled design."""

    stage = "native"
    waves = tuple(WAVES)
    powers_up = True

    def __init__(self, component: Component, options: Options) -> None:
        self._check(options)
        verilog, self.ports = translated(component, Ports.of)
        around = harness(top_name(component), self.ports)
        self._model = NativeModel(verilog + around, DRIVER, options)

    def _drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        source_threshold, sink_threshold = plan.stall.thresholds if plan.stall else (0, 0)
        native_plan = _Plan(
            total=len(plan),
            messages=_pack(plan.messages, self.ports.request.nbits),
            static_sets=_pack(map(self.ports.join_statics, plan.static_sets), self.ports.static_nbits),
            static_of=array("i", plan.static_of).tobytes(),
            source_delays=array("i", plan.source_delays).tobytes(),
            sink_delays=array("i", plan.sink_delays).tobytes(),
            source_threshold=source_threshold,
            sink_threshold=sink_threshold,
            max_cycles=plan.max_cycles or 0,
            hang_cycles=hang_cycles(self.stage),
            random=plan.stall.start if plan.stall else 0,
        )
        data, accepted, done = self._carried_out(native_plan, plan.timeout, progress)
        step = 4 * _words(self.ports.response.nbits)
        packed = [int.from_bytes(data[at : at + step], "little") for at in range(0, len(data), step)]
        return packed, accepted.tolist(), done.tolist()

    def ask(
        self, requests: "NDArray[np.uint32]", statics: Statics, hang: int
    ) -> tuple["NDArray[np.uint32]", "NDArray[np.int64]"]:
        """Millions of requests, as words of 32 bits, one after the other without a delay: answers and latencies.

        SimulationTimeout where nothing has happened for `hang` cycles; else as `run`.
        """
        import numpy as np  # not at the top: simulations of a few requests do without

        total = len(requests)
        plan = _Plan(
            total=total,
            messages=requests.tobytes(),
            static_sets=_pack(
                [self.ports.join_statics(self.ports.pack_statics(statics))], self.ports.static_nbits
            ),
            static_of=bytes(4 * total),
            source_delays=bytes(4 * total),
            sink_delays=bytes(4 * total),
            hang_cycles=hang,
        )

        def timeout(stage: str, accepted: int, done: int, cycle: int) -> SimulationTimeout:
            return SimulationTimeout(
                f"{done} of {total} answered, {accepted} taken, in cycle {cycle} at stage {stage}"
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
        responses = ctypes.create_string_buffer(4 * _words(self.ports.response.nbits) * total)
        accepted = array("q", bytes(8 * total))
        done = array("q", bytes(8 * total))
        plan.reset_cycles, plan.drain_cycles = RESET_CYCLES, DRAIN_CYCLES
        plan.responses = ctypes.addressof(responses)
        plan.accepted, plan.done = accepted.buffer_info()[0], done.buffer_info()[0]
        self._model.lib.sim_start(self._model.handle, ctypes.byref(plan))
        outcome = self._model.advance(progress and (lambda: progress(self._state().received, total)))
        if outcome != FINISHED:
            state = self._state()
            if outcome == UNEXPECTED:
                raise UnexpectedResponse.at(state.received, state.cycle, self.stage)
            if outcome in (WITHDRAWN, CHANGED):
                raise BrokenPromise.at(
                    f"response {state.received}", state.cycle, self.stage, dropped=outcome == WITHDRAWN
                )
            raise timeout(self.stage, state.sent, state.received, state.cycle)
        return responses.raw, accepted, done

    def _state(self) -> _State:
        state = _State()
        self._model.lib.sim_state(self._model.handle, ctypes.byref(state))
        return state

    def close(self) -> None:
        self._model.close()


def _words(nbits: int) -> int:
    return (nbits + 31) // 32


def _pack(values: Iterable[int], nbits: int) -> bytes:
    size = 4 * _words(nbits)
    return b"".join(value.to_bytes(size, "little") for value in values)
