"""Stage `native`: the translated Verilog, compiled by Verilator together with a driver in C++ (native.cpp).

A whole run happens inside the library; Python gets control back every fifth of a second, so that Ctrl-C and
progress work. A design is compiled once: the cache finds it again by the text of its Verilog.
"""

import ctypes
import time
from array import array
from collections.abc import Iterable
from pathlib import Path

from pymtl3 import Component

from ...fl.errors import BadInput
from .base import Options, Simulation
from .build import WAVES, library
from .harness import HARNESS, harness
from .protocol import (
    DRAIN_CYCLES,
    RESET_CYCLES,
    BrokenPromise,
    Plan,
    Progress,
    UnexpectedResponse,
    hang_cycles,
)
from .translate import top_name, translate

DRIVER = Path(__file__).with_name("native.cpp")
SLICE_SECONDS = 0.2

RUNNING, FINISHED, TIMEOUT, UNEXPECTED, WITHDRAWN, CHANGED = range(6)


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
        super().__init__(component, options)
        verilog = translate(component) + harness(top_name(component), self.ports)
        self._lib = _load(library(verilog, HARNESS, DRIVER.read_text(), options.opt, options.vcd))
        # seed 0 stands for registers that start with 0
        seed = 0 if options.power_up_seed is None else options.power_up_seed % (2**31 - 1) + 1
        self._sim = self._lib.sim_new(options.vcd and str(options.vcd).encode(), seed)
        if not self._sim:
            raise BadInput(f"waveform file {options.vcd}: cannot be written; give another file")

    def _drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        total = len(plan)
        step = 4 * _words(self.ports.response.nbits)
        responses = ctypes.create_string_buffer(step * total)
        accepted = array("q", bytes(8 * total))
        done = array("q", bytes(8 * total))
        source_threshold, sink_threshold = plan.stall.thresholds if plan.stall else (0, 0)
        native_plan = _Plan(
            total=total,
            messages=_pack(plan.messages, self.ports.request.nbits),
            static_sets=_pack(map(self.ports.join_statics, plan.static_sets), self.ports.static_nbits),
            static_of=array("i", plan.static_of).tobytes(),
            source_delays=array("i", plan.source_delays).tobytes(),
            sink_delays=array("i", plan.sink_delays).tobytes(),
            source_threshold=source_threshold,
            sink_threshold=sink_threshold,
            max_cycles=plan.max_cycles or 0,
            hang_cycles=hang_cycles(self.stage),
            reset_cycles=RESET_CYCLES,
            drain_cycles=DRAIN_CYCLES,
            random=plan.stall.start if plan.stall else 0,
            responses=ctypes.addressof(responses),
            accepted=accepted.buffer_info()[0],
            done=done.buffer_info()[0],
        )
        self._lib.sim_start(self._sim, native_plan)
        outcome = self._advance(total, progress)
        if outcome != FINISHED:
            state = self._state()
            if outcome == UNEXPECTED:
                raise UnexpectedResponse.at(state.received, state.cycle, self.stage)
            if outcome in (WITHDRAWN, CHANGED):
                raise BrokenPromise.at(state.received, state.cycle, self.stage, dropped=outcome == WITHDRAWN)
            raise plan.timeout(self.stage, state.sent, state.received, state.cycle)
        data = responses.raw
        packed = [int.from_bytes(data[at : at + step], "little") for at in range(0, step * total, step)]
        return packed, accepted.tolist(), done.tolist()

    def _advance(self, total: int, progress: Progress | None) -> int:
        """Run to the end, in slices that take about SLICE_SECONDS each."""
        cycles = 1024
        while True:
            start = time.monotonic()
            outcome = self._lib.sim_advance(self._sim, cycles)
            if outcome != RUNNING:
                return outcome
            elapsed = time.monotonic() - start
            cycles = max(1, int(cycles * min(8.0, SLICE_SECONDS / max(elapsed, 1e-6))))
            if progress and elapsed > SLICE_SECONDS / 2:
                progress(self._state().received, total)

    def _state(self) -> _State:
        state = _State()
        self._lib.sim_state(self._sim, state)
        return state

    def close(self) -> None:
        if self._sim:
            self._lib.sim_delete(self._sim)
            self._sim = None

    def __del__(self) -> None:
        if getattr(self, "_sim", None):
            self.close()


def _load(path: Path) -> ctypes.CDLL:
    """Open the library privately (RTLD_LOCAL is the default): its symbols are the same in all designs."""
    lib = ctypes.CDLL(str(path))
    lib.sim_new.restype = ctypes.c_void_p
    lib.sim_new.argtypes = [ctypes.c_char_p, ctypes.c_int]
    lib.sim_delete.argtypes = [ctypes.c_void_p]
    lib.sim_start.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Plan)]
    lib.sim_advance.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    lib.sim_state.argtypes = [ctypes.c_void_p, ctypes.POINTER(_State)]
    return lib


def _words(nbits: int) -> int:
    return (nbits + 31) // 32


def _pack(values: Iterable[int], nbits: int) -> bytes:
    size = 4 * _words(nbits)
    return b"".join(value.to_bytes(size, "little") for value in values)
