"""A design as a compiled library: Verilog in a harness, and a C++ driver on top of model.cpp.

A whole run happens inside the library. Python regains control every fifth of a second, so that Ctrl-C and
progress work. A design is compiled once: the cache identifies it by the text of its Verilog.
"""

import ctypes
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput
from ...fl.xcel import words_of
from .base import Options, check_written
from .build import library
from .harness import HARNESS

WAVE_FILE = Path(__file__).with_name("wave_file.cpp")
MODEL = Path(__file__).with_name("model.cpp")
SLICE_SECONDS = 0.2

RUNNING, FINISHED, TIMEOUT, UNEXPECTED, WITHDRAWN, CHANGED = range(6)


class NativeModel:
    """One instance of a compiled design; `driver` is the C++ text of the testbench."""

    def __init__(self, verilog: str, driver: str, options: Options) -> None:
        self._handle = None
        self._vcd = options.vcd
        text = WAVE_FILE.read_text() + MODEL.read_text() + driver
        self.lib = load(library(verilog, HARNESS, text, options.opt, options.vcd))
        # seed 0 means that registers start with 0
        seed = 0 if options.power_up_seed is None else options.power_up_seed % (2**31 - 1) + 1
        self._handle = self.lib.sim_new(options.vcd and str(options.vcd).encode(), seed)
        if not self._handle:
            raise BadInput(f"waveform file {options.vcd}: cannot be written; give another file")

    @property
    def handle(self) -> ctypes.c_void_p:
        """The first argument of the library's functions."""
        return ctypes.c_void_p(self._handle)

    def advance(self, report: Callable[[], None] | None) -> int:
        """Run to the end in slices of about SLICE_SECONDS each, calling `report` after slices of about that
        length.
        """
        cycles = 1024
        while True:
            start = time.monotonic()
            outcome = self.lib.sim_advance(self._handle, cycles)
            check_written(self._vcd, self.lib.sim_waves_error(self._handle))
            if outcome != RUNNING:
                return outcome
            elapsed = time.monotonic() - start
            cycles = max(1, int(cycles * min(8.0, SLICE_SECONDS / max(elapsed, 1e-6))))
            if report and elapsed > SLICE_SECONDS / 2:
                report()

    def close(self) -> None:
        """Free the model and close its waveform file; further calls do nothing."""
        if self._handle:
            self.lib.sim_delete(self._handle)
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
    lib.sim_new.restype = ctypes.c_void_p
    lib.sim_new.argtypes = [ctypes.c_char_p, ctypes.c_int]
    lib.sim_delete.argtypes = [ctypes.c_void_p]
    lib.sim_waves_error.argtypes = [ctypes.c_void_p]
    lib.sim_advance.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    return lib
