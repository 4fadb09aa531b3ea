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
from .base import Simulation
from .build import WAVES, library
from .ports import Message, Ports
from .protocol import HANG_CYCLES, RESET_CYCLES, Plan, Progress, Trace, UnexpectedResponse
from .translate import translate
from .waves import check_suffix

DRIVER = Path(__file__).with_name("native.cpp")
SLICE_SECONDS = 0.2


class _Plan(ctypes.Structure):
    _fields_ = (
        ("total", ctypes.c_int64),
        ("messages", ctypes.c_void_p),
        ("static_sets", ctypes.c_void_p),
        ("static_of", ctypes.c_void_p),
        ("source_delays", ctypes.c_void_p),
        ("sink_delays", ctypes.c_void_p),
        ("source_threshold", ctypes.c_uint64),
        ("sink_threshold", ctypes.c_uint64),
        ("max_cycles", ctypes.c_uint64),
        ("hang_cycles", ctypes.c_uint64),
        ("reset_cycles", ctypes.c_uint64),
        ("random", ctypes.c_uint32),
        ("responses", ctypes.c_void_p),
        ("accepted", ctypes.c_void_p),
        ("done", ctypes.c_void_p),
    )


class _State(ctypes.Structure):
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


RUNNING, FINISHED, TIMEOUT, UNEXPECTED = range(4)


class NativeSimulation(Simulation):
    """Simulates the compiled design."""

    stage = "native"

    def __init__(self, component: Component, *, vcd: Path | None, trace: Trace | None, opt: str) -> None:
        check_suffix(vcd, self.stage, *WAVES)
        if trace:
            raise BadInput("stage native has no line trace: take stage python or verilog, or a waveform (vcd=)")
        component.elaborate()
        self.ports = Ports.of(component)
        files = {"design.h": _header(self.ports), DRIVER.name: DRIVER.read_text()}
        waves = vcd.suffix if vcd else None
        self._lib = _load(
            library("native", translate(component), files, prefix="Design", model="model", opt=opt, waves=waves)
        )
        self._sim = self._lib.sim_new(str(vcd).encode() if vcd else None, 0, 0)

    def _drive(self, plan: Plan, progress: Progress | None) -> tuple[list[int], list[int], list[int]]:
        total = len(plan)
        words = _words(self.ports.response)
        responses = array("I", bytes(4 * words * total))
        accepted = array("q", bytes(8 * total))
        done = array("q", bytes(8 * total))
        inputs = (  # named, so that the arrays live as long as the run
            _pack(plan.messages, self.ports.request),
            b"".join(
                _pack([value], kind)
                for values in plan.static_sets
                for (_, kind), value in zip(self.ports.statics, values, strict=True)
            ),
            array("i", plan.static_of),
            array("i", plan.source_delays),
            array("i", plan.sink_delays),
        )
        source_threshold, sink_threshold = plan.stall.thresholds if plan.stall else (0, 0)
        self._lib.sim_start(
            self._sim,
            _Plan(
                total,
                *(_address(each) for each in inputs),
                source_threshold,
                sink_threshold,
                plan.max_cycles or 0,
                HANG_CYCLES,
                RESET_CYCLES,
                plan.stall.start if plan.stall else 0,
                *(_address(each) for each in (responses, accepted, done)),
            ),
        )
        outcome = self._advance(total, progress)
        if outcome != FINISHED:
            state = self._state()
            if outcome == UNEXPECTED:
                raise UnexpectedResponse(f"response {state.received} in cycle {state.cycle} at stage {self.stage}")
            raise plan.timeout(self.stage, state.sent, state.received, state.cycle)
        step = 4 * words
        data = responses.tobytes()
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


def _header(ports: Ports) -> str:
    """What native.cpp must know about the design."""
    # Verilator writes a double underscore of a name as _ followed by the code of the second one
    names = (name.replace("__", "___05F") for name, _ in ports.statics)
    return f'#include "Design.h"\n#define STATIC_PORTS(port) {" ".join(f"port({name})" for name in names)}\n'


def _load(path: Path) -> ctypes.CDLL:
    """Open the library privately (RTLD_LOCAL is the default): its symbols are the same in all designs."""
    lib = ctypes.CDLL(str(path))
    lib.sim_new.restype = ctypes.c_void_p
    lib.sim_new.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
    lib.sim_delete.argtypes = [ctypes.c_void_p]
    lib.sim_start.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Plan)]
    lib.sim_advance.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    lib.sim_state.argtypes = [ctypes.c_void_p, ctypes.POINTER(_State)]
    return lib


def _words(kind: Message) -> int:
    return (kind.nbits + 31) // 32


def _pack(values: Iterable[int], kind: Message) -> bytes:
    size = 4 * _words(kind)
    return b"".join(value.to_bytes(size, "little") for value in values)


def _address(data: bytes | array) -> int:
    if isinstance(data, bytes):
        return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
    return data.buffer_info()[0]
