"""A design as a compiled library: Verilog in a harness, and a C++ driver on top of model.cpp.

A whole run happens inside the library. Python regains control every fifth of a second, so that Ctrl-C and
progress work. A design is compiled once: the cache identifies it by the text of its Verilog.
"""

import ctypes
import re
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pymtl3 import Component

from ...fl.errors import BadInput
from ...fl.xcel import words_of
from .base import Model, Options, check_written
from .build import WAVES, library
from .harness import HARNESS, Harness
from .protocol import DRAIN_CYCLES, RESET_CYCLES
from .text import VerilogText
from .translation.translate import top_name
from .translation.translated import translated
from .verilog_digests import without_comments

_S = TypeVar("_S", bound=ctypes.Structure)
WAVE_FILE, MODEL, LIBRARY = (
    Path(__file__).with_name(name) for name in ("wave_file.cpp", "model.cpp", "library.cpp")
)
BOTH_EDGES = "#define BOTH_EDGES\n"  # for model.cpp
EDGE = "@(posedge clk)"
OTHER_EDGE = re.compile(r"\bnegedge\b|(?<!@\()\bposedge\b|\bposedge\b(?! clk\))")
SLICE_SECONDS = 0.2

RUNNING, FINISHED, TIMEOUT, UNEXPECTED, WITHDRAWN, CHANGED = range(6)


def constants(**values: int) -> str:
    """Constants for a driver in C++."""
    return "".join(f"constexpr uint32_t {name} = {value:#x};\n" for name, value in values.items())


def testbench(*drivers: str) -> str:
    """The complete C++ text of a testbench, of which each driver is a part."""
    parts = [MODEL.read_text(), constants(RESET_CYCLES=RESET_CYCLES, DRAIN_CYCLES=DRAIN_CYCLES), *drivers]
    return "".join([WAVE_FILE.read_text(), *parts, LIBRARY.read_text()])


@dataclass(frozen=True)
class ModuleText:
    """A design given as Verilog, such as a gate-level netlist: module `top` has the ports of the translation,
    or those to which `names` maps them.
    """

    verilog: str
    top: str
    ports: Any = None  # as the simulation reads them from a component
    names: Mapping[str, str] = field(default_factory=dict)


class NativeStage(Model):
    """A design compiled together with a C++ driver."""

    backend = "native"
    waves = tuple(WAVES)
    powers_up = True
    _handle: int | None = None

    def __init__(self, design: Component | ModuleText, options: Options) -> None:
        self._check(options)
        # waveforms show both clock levels, and a given Verilog text may have registers of any kind
        both_edges = not options.vcd and not isinstance(design, ModuleText | VerilogText)
        if isinstance(design, Component):
            verilog, ports = translated(design, self.read_ports)
            design = ModuleText(verilog, top_name(design), ports)
        self.ports = design.ports
        verilog = design.verilog + self._harness().verilog(design.top, design.names)
        text = testbench(self._driver())
        if both_edges and not OTHER_EDGE.search(without_comments(design.verilog)):
            verilog, text = verilog.replace(EDGE, "@(edge clk)"), BOTH_EDGES + text
        self._open(load(library(verilog, HARNESS, text, options.opt, options.vcd)), options)

    def _open(self, lib: ctypes.CDLL, options: Options) -> None:
        """Create an instance of the compiled model."""
        self._lib, self._vcd = lib, options.vcd
        declare_functions(lib, sim_start=(None, ctypes.c_void_p), sim_state=(None, ctypes.c_void_p))
        # seed 0 means that registers start with 0
        seed = 0 if options.power_up_seed is None else options.power_up_seed % (2**31 - 1) + 1
        self._handle = lib.sim_new(options.vcd and str(options.vcd).encode(), seed)
        if not self._handle:
            raise BadInput(f"waveform file {options.vcd}: cannot be written; give another file")

    @abstractmethod
    def _driver(self) -> str:
        """The C++ text on top of model.cpp."""

    @abstractmethod
    def _harness(self) -> Harness:
        """The harness of a design with these ports."""

    def _advance(self, report: Callable[[], None] | None) -> int:
        """Run to the end in slices of about SLICE_SECONDS each, calling `report` after slices of about that
        length.
        """
        cycles = 1024
        while True:
            start = time.monotonic()
            outcome = self._lib.sim_advance(self._handle, cycles)
            check_written(self._vcd, self._lib.sim_waves_error(self._handle))
            if outcome != RUNNING:
                return outcome
            elapsed = time.monotonic() - start
            cycles = max(1, int(cycles * min(8.0, SLICE_SECONDS / max(elapsed, 1e-6))))
            if report and elapsed > SLICE_SECONDS / 2:
                report()

    def _state(self, kind: type[_S]) -> _S:
        """The state of the run, in the structure of the driver."""
        state = kind()
        self._lib.sim_state(self._handle, ctypes.byref(state))
        return state

    def close(self) -> None:
        """Free the model and close its waveform file; further calls do nothing."""
        if self._handle:
            self._lib.sim_delete(self._handle)
            self._handle = None

    def __del__(self) -> None:
        self.close()


def fields(kind: type[Any], *names: str) -> list[tuple[str, type[Any]]]:
    """Consecutive fields of one type, for a ctypes.Structure."""
    return [(name, kind) for name in names]


def to_words(values: Iterable[int], nbits: int) -> bytes:
    """Messages as sequences of 32-bit words, least significant first."""
    size = 4 * words_of(nbits)
    return b"".join([value.to_bytes(size, "little") for value in values])


def from_words(data: bytes, nbits: int) -> list[int]:
    """The inverse of `to_words`."""
    size = 4 * words_of(nbits)
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


def buffer_of(count: int, nbits: int) -> ctypes.Array[ctypes.c_char]:
    """A buffer for `count` messages in words."""
    return ctypes.create_string_buffer(4 * words_of(nbits) * count)


def declare_functions(lib: ctypes.CDLL, **signatures: tuple[Any, ...]) -> None:
    """Declare the types of a library's functions: the result, and the arguments after the model."""
    for name, (result, *arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, [ctypes.c_void_p, *arguments]


def load(path: Path) -> ctypes.CDLL:
    """Load the library privately (RTLD_LOCAL is the default), because its symbols are the same in all
    designs.
    """
    lib = ctypes.CDLL(str(path))
    lib.sim_new.restype, lib.sim_new.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int]
    number = ctypes.c_int32
    declare_functions(
        lib, sim_delete=(None,), sim_waves_error=(number,), sim_advance=(number, ctypes.c_uint64)
    )
    return lib
