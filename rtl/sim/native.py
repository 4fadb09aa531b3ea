"""Stage `native`: the translated Verilog, compiled together with the driver in native.cpp."""

import ctypes
import re
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pymtl3 import Component

from .base import Options, Simulation
from .build import WAVES
from .harness import harness
from .nativemodel import (
    CHANGED,
    FINISHED,
    UNEXPECTED,
    WITHDRAWN,
    NativeModel,
    buffer_of,
    fields,
    from_words,
    to_words,
)
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
from .text import VerilogText
from .translation.translate import top_name
from .translation.translated import translated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ONE_EDGE = re.compile(r"\b(pos|neg)edge\b")
DRIVER = Path(__file__).with_name("native.cpp").read_text()


class _Plan(ctypes.Structure):
    """Mirrors `Plan` in native.cpp. Inputs are bytes, which the structure keeps alive."""

    _fields_ = (
        ("total", ctypes.c_int64),
        *fields(ctypes.c_char_p, "messages", "static_sets", "static_of", "source_delays", "sink_delays"),
        *fields(ctypes.c_uint64, "source_threshold", "sink_threshold", "max_cycles", "hang_cycles"),
        *fields(ctypes.c_uint64, "reset_cycles", "drain_cycles"),
        ("random", ctypes.c_uint32),
        *fields(ctypes.c_void_p, "responses", "accepted", "done"),
    )


class _State(ctypes.Structure):
    """Mirrors `State` in native.cpp."""

    _fields_ = (
        *fields(ctypes.c_int64, "sent", "received"),
        *fields(ctypes.c_uint64, "cycle", "limit"),
        *fields(ctypes.c_int32, "wait", "refused", "current"),
        ("random", ctypes.c_uint32),
        ("offered", ctypes.c_bool),
    )


class NativeSimulation(Simulation):
    """Simulation of the compiled design."""

    stage = "native"
    waves = tuple(WAVES)
    powers_up = True

    def __init__(self, component: Component, options: Options) -> None:
        self._check(options)
        verilog, self.ports = translated(component, Ports.of)
        driver = DRIVER
        # waveforms show both clock levels, and a given Verilog text may have registers of any kind
        if not options.vcd and not isinstance(component, VerilogText):
            verilog = verilog.replace("@(posedge clk)", "@(edge clk)")
            assert not ONE_EDGE.search(verilog), "a register that is not clocked by @(posedge clk)"
            driver = f"#define BOTH_EDGES\n{DRIVER}"
        self._model: NativeModel = NativeModel(
            verilog + harness(self.ports).verilog(top_name(component)), driver, options
        )

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
            hang_cycles=hang_cycles(self.stage),
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
        responses = buffer_of(total, self.ports.response.nbits)
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
