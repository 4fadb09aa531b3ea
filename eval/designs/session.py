"""Session: a machine at one level and backend, ready to compute, for `run`, `check` and `report`.

fl: the design's function on Python integers, no cycles. cl: the cycle-level model in PyMTL3's own simulator.
rtl: the hardware with any backend of `modexlab.rtl.sim`. An Interface (interfaces.py) carries the operands.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ...fl.accelerator import Shape
from ...fl.closing import Closing
from ...fl.errors import BadInput
from ...fl.memory import Left, image_of, like, memory_of
from ...fl.rsa_keys import RSAKey
from ...fl.status import Status
from .interfaces import DEFAULT, STREAM, Carried, Interface, Message, Operands

LEVELS = ("fl", "cl", "rtl")
Progress = Callable[[int, int], None]


def backend_at(level: str, backend: str | None) -> str | None:
    """The backend at which a level runs: the requested one, else the level's default."""
    match level, backend:
        case "rtl", _:
            return backend or "native"
        case "cl", None | "python":
            return "python"
        case "fl", None:
            return None
        case "cl", _:
            wrong = f"the cycle level runs with backend python, not {backend}"
        case "fl", _:
            wrong = f"the functional level has no backend {backend}"
        case _:
            raise BadInput(f"unknown level {level!r}; the levels are {', '.join(LEVELS)}")
    raise BadInput(f"{wrong}; drop --backend or use --level rtl")


class NoResult(ArithmeticError):
    """A machine answered with a status instead of a result."""


class Answer(NamedTuple):
    """A machine's answer to one request; cycles is None without a clock."""

    status: Status
    result: int
    cycles: int | None


class Operated(NamedTuple):
    """The responses to the requests of one operation, and its cycles; None without a clock."""

    responses: list[Message]
    cycles: int | None
    accesses: int = 0  # register accesses, each at least one cycle, included in the cycles
    latency: int | None = None  # the most cycles of a request, of several
    interval: float | None = None  # cycles from response to response, on average


class Session(Closing):
    """A machine at one level and backend."""

    def __init__(
        self,
        machine: Any,
        *,
        level: str = "rtl",
        backend: str | None = None,
        interface: str = DEFAULT.name,
        **tracing: Any,
    ) -> None:
        """tracing: a `vcd` file, and `trace`, called with (cycle, text) in every cycle."""
        self.machine, self.level, self.backend = machine, level, backend_at(level, backend)
        self.interface = machine.interface(interface)
        if self.backend is not None:
            self._model = machine.simulation(self.interface, level, self.backend, **tracing)
        elif any(tracing.values()):
            raise BadInput("the functional level has no clock to trace; use --level cl or --level rtl")

    def run(self, operands: Sequence[Operands], progress: Progress | None = None) -> list[Answer]:
        """Run all exponentiations in one simulation, in order; each lasts from its first request to its last
        response.
        """
        machine = self.machine
        carried = [machine.carried(*operand) for operand in operands]
        return self._answers(carried, partial(machine.most_cycles, operands), progress)

    def run_with_keys(
        self, operations: Sequence[tuple[int, RSAKey]], progress: Progress | None = None
    ) -> list[Answer]:
        """Run private operations, each a message and its key. A request contains the whole key, so one
        machine serves many keys.
        """
        machine = self.machine
        each_with = {key: machine.with_key(key, machine.draw) for _, key in operations}
        parts = [(each_with[key], (message, key.d or 0, key.n)) for message, key in operations]
        carried = [keyed.carried(*operands) for keyed, operands in parts]
        most = partial(sum, (keyed.cycles(*operands) for keyed, operands in parts))
        return self._answers(carried, most, progress)

    def _answers(self, carried: Sequence[Carried], *how: Any) -> list[Answer]:
        return [
            Answer(Status(status), result, done and done - accepted)
            for (status, result), accepted, done, _ in self._exchanged(carried, *how)
        ]

    def operate(self, operations: Sequence[Sequence[Message]]) -> list[Operated]:
        """Run operations, each from reset and timed from its first request to its last response."""
        machine, found = self.machine, []
        for requests in operations:
            carried = [machine.carried_from(request) for request in requests]
            exchanged = self._exchanged(carried, partial(machine.most_cycles, requests))
            responses, accepted, done, accesses = zip(*exchanged, strict=True)
            count = sum(accesses) if self.interface.counts_accesses else 0
            cycles = done[-1] and done[-1] - accepted[0]
            pace: tuple[int | None, float | None] = (None, None)
            # a request on a memory of its own waits until all others are answered
            if cycles and len(done) > 1 and not any(map(image_of, requests[1:])):
                latencies = [end - start for start, end in zip(accepted, done, strict=True)]
                pace = max(latencies), (done[-1] - done[0]) / (len(done) - 1)
            found.append(Operated(list(responses), cycles, count, *pace))
        return found

    def _exchanged(
        self, carried: Sequence[Message], longest: Callable[[], int], progress: Progress | None = None
    ) -> Iterator[tuple[Message, int, int | None, int]]:
        """Responses from reset on, the cycles of both handshakes (None without a clock), and the accesses.

        longest: an upper bound on the cycles of all requests.
        """
        interface, shape = self.interface, self.machine.shape
        sequences = [_accesses(interface, shape, request) for request in carried]
        if self._model is None and shape.memory:
            yield from ((answer, 0, None, 1) for answer in self.machine.answers(carried))
            return
        if self._model is None:
            respond = self.machine.responder()
            for number, sequence in enumerate(sequences):
                if progress is not None:
                    progress(number, len(sequences))
                responses = interface.respond(shape, lambda *request: respond(request), sequence)
                yield interface.outcome(shape, responses), 0, None, len(sequence)
            return
        # a long run is not a hang: the machine's formula and the bus accesses bound it
        flat = [request for sequence in sequences for request in sequence]
        most = 2 * (longest() + interface.request_cycles * len(flat)) + 1000
        memory = replace(self.machine.memory, settled=interface == STREAM)
        run = self._model.run(flat, progress=progress, max_cycles=most, memory=memory)
        end = 0
        for sequence in sequences:
            start, end = end, end + len(sequence)
            outcome = interface.outcome(shape, run.responses[start:end])
            if shape.memory:
                outcome = Left(outcome, memory_of(run.responses[end - 1]))
            yield outcome, run.accepted[start], run.done[end - 1], end - start


def _accesses(interface: Interface, shape: Shape, request: Message) -> list[Message]:
    """The requests of an operation at the interface, the first on the memory before it."""
    first, *others = interface.requests(shape, request)
    return [like(request, first), *others]
