"""Inner loops of the timing graph in C++ (kernel.cpp), compiled once and cached by content.

Sizing analyses the whole netlist after every batch of moves; in numpy these loops were most of it.
"""

import ctypes
import functools
from pathlib import Path

import numpy as np

from ...rtl.sim.nativemodel import fields
from ..compiled import compiled

SOURCE = Path(__file__).with_name("kernel.cpp")
COMPILE = ["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-shared"]
POINTER = ctypes.c_void_p


class TablesOfC(ctypes.Structure):
    """Mirrors `Tables` in kernel.cpp."""

    _fields_ = (
        *fields(ctypes.c_int64, "count", "width"),
        *fields(POINTER, "first", "second", "values", "places", "begin", "members"),
    )


class ArcsOfC(ctypes.Structure):
    """Mirrors `Arcs` in kernel.cpp."""

    _fields_ = (
        *fields(ctypes.c_int64, "count"),
        *fields(POINTER, "start", "end", "delay_table", "slew_table", "wire", "ideal", "derate"),
        *fields(ctypes.c_double, "clock_slew"),
    )


def call(name: str, *arguments: np.ndarray | ctypes.Structure | float | int) -> None:
    """Call a function of the kernel; arrays are passed by address, and must be contiguous."""
    given: list[object] = []
    for argument in arguments:
        match argument:
            case np.ndarray():
                given.append(POINTER(address(argument)))
            case ctypes.Structure():
                given.append(ctypes.byref(argument))
            case float():
                given.append(ctypes.c_double(argument))
            case _:
                given.append(ctypes.c_int64(argument))
    getattr(_library(), name)(*given)


def address(array: np.ndarray) -> int:
    """The address of an array, for a structure."""
    assert array.flags.c_contiguous, "an array for the kernel is not in one piece"
    return array.ctypes.data


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(compiled("timing-*.so", {SOURCE.name: SOURCE.read_text()}, *COMPILE, SOURCE.name)))
