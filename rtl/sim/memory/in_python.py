"""The memory of tests in Python, for the backends `python` and `verilog`; memory.cpp is its twin."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from pymtl3 import Component

from ....fl.memory import MemoryPort
from ..protocol import Random
from ..pymodel import Receiver, Sender
from .access import CAPACITY, MemoryMessages, MemoryPlan


class _Port:
    """One port in a run."""

    def __init__(self, ifc: Any, messages: MemoryMessages, port: MemoryPort, backend: str) -> None:
        self.messages, self.port = messages, port
        self.requests = Receiver(ifc.req, f"memory port {port.name}, request", backend)
        self.answers = Sender(ifc.resp)
        self.waiting: deque[tuple[int, int]] = deque()  # the first cycle of the offer, and the answer

    def drive(self, cycle: int, hold_request: bool, hold_answer: bool) -> None:
        """Set the inputs of a cycle."""
        self.requests.ready(len(self.waiting) < CAPACITY and not hold_request)
        if not self.answers.offers and self.waiting and self.waiting[0][0] <= cycle and not hold_answer:
            self.answers.offer(self.waiting[0][1])


class MemoryInPython:
    """The contents and the ports in a run."""

    def __init__(
        self, top: Component, messages: Sequence[MemoryMessages], plan: MemoryPlan, backend: str
    ) -> None:
        self._plan, self._backend = plan, backend
        self.data = bytearray(plan.size)
        by_name = {found.name: found for found in messages}
        self._ports = [
            _Port(getattr(top, port.name), by_name[port.name], port, backend) for port in plan.ports
        ]
        self._moved: list[_Port] = []  # whose answers were accepted in the last cycle

    def load(self, index: int) -> None:
        """Set the contents before a request."""
        for address, contents in self._plan.blocks(index):
            self.data[address : address + len(contents)] = contents

    def drive(self, cycle: int, random: Random | None, threshold: int) -> None:
        """Set the inputs of a cycle."""
        for port in self._moved:
            port.answers.offer(None)
        for port in self._ports:
            holds = (random.draw() < threshold, random.draw() < threshold) if random else (False, False)
            port.drive(cycle, *holds)

    def sample(self, cycle: int, delay: int, *, in_flight: bool) -> None:
        """Do the accesses of a cycle; MemoryFault for one that is refused."""
        self._moved = []
        for port in self._ports:
            if port.answers.fires:
                port.waiting.popleft()
                self._moved.append(port)
            request = port.requests.accept(cycle)
            if request is not None:
                answer = self._access(port, request, cycle, in_flight)
                port.waiting.append((cycle + 1 + delay, answer))

    def _access(self, port: _Port, request: int, cycle: int, in_flight: bool) -> int:
        access, opaque, data = port.messages.fields(request)
        if access.fault(port.port, len(self.data), in_flight=in_flight):
            raise access.error(port.port, len(self.data), cycle, self._backend, in_flight=in_flight)
        place = slice(access.address, access.address + access.nbytes)
        if not access.writes:
            return port.messages.response(access, opaque, int.from_bytes(self.data[place], "little"))
        self.data[place] = (data & (1 << 8 * access.nbytes) - 1).to_bytes(access.nbytes, "little")
        return port.messages.response(access, opaque, 0)

    @property
    def untaken(self) -> dict[str, int]:
        """The answers that wait, by the name of their port."""
        return {port.port.name: len(port.waiting) for port in self._ports}
