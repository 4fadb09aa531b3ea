"""The memory of tests in C++, for backend `native`: the data passed to and from memory.cpp."""

import ctypes
from array import array
from collections.abc import Sequence
from pathlib import Path

from ....fl.memory import READ, WRITE
from ..nativemodel import constants, fields
from ..protocol import BrokenPromise
from .access import CAPACITY, MOST_PORTS, Access, MemoryMessages, MemoryPlan

TEXT = Path(__file__).with_name("memory.cpp").read_text()
REFUSED, REQUEST_WITHDRAWN = 16, 17  # outcomes in memory.cpp


class Plan(ctypes.Structure):
    """Mirrors `MemoryPlan` in memory.cpp."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_uint64),
        *fields(ctypes.c_char_p, "first_block", "blocks", "contents", "delays", "kept"),
        ("memories", ctypes.c_void_p),
        ("threshold", ctypes.c_uint64),
        *fields(ctypes.c_uint32, "writable", "settled"),
    )


class State(ctypes.Structure):
    """Mirrors `MemoryState` in memory.cpp."""

    _fields_ = (
        *fields(ctypes.c_int32, "port", "kind"),
        *fields(ctypes.c_uint64, "address", "nbytes"),
        ("count", ctypes.c_int64),
        ("in_flight", ctypes.c_int32),
        ("untaken", ctypes.c_int32 * MOST_PORTS),
    )


def text_of(ports: Sequence[MemoryMessages]) -> str:
    """The C++ text for a design with these memory ports."""
    calls = " ".join(f"PORT({port.name}, {port.opaque}, {port.address}, {port.data})" for port in ports)
    known = constants(READ=READ, WRITE=WRITE, CAPACITY=CAPACITY, MOST_PORTS=MOST_PORTS)
    return f"#define MEMORY_PORTS(PORT) {calls}\n{known}{TEXT}"


class MemoryInCpp:
    """The memory of one run: the arguments of the driver, and what it found."""

    def __init__(self, plan: MemoryPlan, threshold: int) -> None:
        self._plan = plan
        blocks, contents, first = array("Q"), bytearray(), array("q")
        for index in range(len(plan.images)):
            first.append(len(blocks) // 3)
            for address, data in plan.blocks(index):
                blocks.extend((address, len(data), len(contents)))
                contents += data
        first.append(len(blocks) // 3)
        kept, count = array("q"), 0
        for keep in plan.kept:
            kept.append(count if keep else -1)
            count += keep
        self._data = ctypes.create_string_buffer(plan.size)
        self._memories = ctypes.create_string_buffer(max(count, 1) * plan.size)
        self.argument = Plan(
            data=ctypes.addressof(self._data),
            size=plan.size,
            first_block=first.tobytes(),
            blocks=blocks.tobytes(),
            contents=bytes(contents),
            delays=array("i", [*plan.delays, *plan.delays[-1:]]).tobytes(),
            kept=kept.tobytes(),
            memories=ctypes.addressof(self._memories),
            threshold=threshold,
            writable=sum(port.writes << place for place, port in enumerate(plan.ports)),
            settled=plan.settled,
        )

    @property
    def memories(self) -> list[bytes | None]:
        """For each request the memory that was kept."""
        size = self._plan.size
        found, place = list[bytes | None](), ctypes.addressof(self._memories)
        for keep in self._plan.kept:
            found.append(ctypes.string_at(place, size) if keep else None)
            place += keep * size
        return found

    def error(self, state: State, outcome: int, cycle: int, backend: str, answered: int) -> RuntimeError:
        """The error behind an outcome of the memory after so many answered requests."""
        port = self._plan.ports[state.port]
        if outcome != REFUSED:
            name = f"memory port {port.name}, request {state.count}"
            return BrokenPromise.at(name, cycle, backend, dropped=outcome == REQUEST_WITHDRAWN)
        access = Access(state.kind, state.address, state.nbytes)
        fault = access.error(port, self._plan.size, cycle, backend, in_flight=bool(state.in_flight))
        fault.answered = answered
        return fault

    def untaken(self, state: State) -> dict[str, int]:
        """The answers that wait, by the name of their port."""
        return {port.name: state.untaken[place] for place, port in enumerate(self._plan.ports)}
