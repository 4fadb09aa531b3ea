"""Protocol of a run with every backend: the requests, and when each side is ready.

The driver is written twice (`pydriver.py` and `native.cpp`), and tests compare the two, so that cycle stamps
are equal with all backends. Cycle 0 is the first after two cycles of reset. In each cycle the driver sets the
inputs, lets the combinational logic settle, samples the handshakes, and applies the clock edge. Source and
sink depend only on registered state: `val` never depends on `rdy` in the same cycle, or vice versa.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...fl.errors import BadInput
from ...fl.memory import image_of, snapshots, wrong_image
from .memory.access import MOST_KEPT_NBYTES, MemoryPlan, MemorySettings, check_memory
from .ports import Ports, Value

RESET_CYCLES = 2
DRAIN_CYCLES = 4  # after the last response, checked for further ones; not counted in any result
# Default number of cycles without a handshake after which a run times out: minutes of simulation. At backend
# native, which is for long runs, it exceeds the 33 million cycles of a 4096-bit exponentiation.
HANG_CYCLES = {"native": 2_000_000_000}
HANG_CYCLES_ELSEWHERE = 10_000_000

Progress = Callable[[int, int], None]
Trace = Callable[[int, str], None]
Statics = Mapping[str, int]


class SimulationTimeout(RuntimeError):
    """Error: the design did not answer within the given number of cycles."""

    answered = 0  # requests before it


class BrokenPromise(RuntimeError):
    """Error: the design withdrew or changed an offered message. Once 1, val must stay 1 until the message has
    moved.
    """

    @classmethod
    def at(cls, message: str, cycle: int, backend: str, *, dropped: bool) -> "BrokenPromise":
        """The error for this message ("response 3"), whose val fell (dropped) or whose content changed."""
        what = "val fell" if dropped else "the message changed"
        return cls(
            f"{message} with backend {backend}: {what} in cycle {cycle}, before rdy took it; "
            "val, once 1, and the message must stay until it has moved"
        )


class UnexpectedResponse(RuntimeError):
    """Error: the design sent a response without a request."""

    @classmethod
    def at(cls, index: int, cycle: int, backend: str) -> "UnexpectedResponse":
        """The error for this response."""
        return cls(f"response {index} in cycle {cycle} with backend {backend} answers no request")


@dataclass(frozen=True)
class Stall:
    """Random stalls, the same with every backend: in each cycle, with the given probabilities, the source
    holds back an offer that it has not yet made, the sink is not ready, and each memory port is not ready or
    holds back an answer."""

    seed: int
    source: float = 0.0
    sink: float = 0.0
    memory: float = 0.0

    def __post_init__(self) -> None:
        for name in ("source", "sink", "memory"):
            p = getattr(self, name)
            if not 0 <= p < 1:
                raise BadInput(f"the stall probability of the {name} must be in [0, 1), not {p}")

    @property
    def start(self) -> int:
        """The initial state of the generator: never 0, and far apart for adjacent seeds."""
        return (self.seed * 0x9E3779B1 + 0x7F4A7C15) & 0xFFFFFFFF or 1

    @property
    def thresholds(self) -> tuple[int, int, int]:
        """(source, sink, memory): a 32-bit random number below the threshold means a stall."""
        return int(self.source * 2**32), int(self.sink * 2**32), int(self.memory * 2**32)


def hang_cycles(backend: str) -> int:
    """Cycles without a handshake that count as a hang with this backend."""
    return HANG_CYCLES.get(backend, HANG_CYCLES_ELSEWHERE)


class Random:
    """Random numbers of 32 bits, the same with every backend (`Random` in model.cpp).

    Marsaglia's generator (J. Stat. Software 8(14), 2003, shifts 13, 17, 5); its state must not be 0.
    """

    def __init__(self, state: int) -> None:
        self._state = state

    def draw(self) -> int:
        """The next number."""
        x = self._state
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        self._state = x ^ (x << 5 & 0xFFFFFFFF)
        return self._state


@dataclass(frozen=True)
class Run:
    """The result of a run: responses in order, and the cycles in which request and response i fired. With
    memory each response is a `Left`.
    """

    responses: list[Value]
    accepted: list[int]
    done: list[int]

    @property
    def latencies(self) -> list[int]:
        """Cycles of each operation, from the handshake of the request to that of the response."""
        return [done - accepted for accepted, done in zip(self.accepted, self.done, strict=True)]

    @property
    def cycles(self) -> int:
        """Cycles from the end of reset until the last response was accepted."""
        return self.done[-1] + 1 if self.done else 0


class Driven(NamedTuple):
    """The outcome of a plan: packed responses, the cycles of both handshakes, and the memories that were
    kept.
    """

    responses: list[int]
    accepted: list[int]
    done: list[int]
    memories: list[bytes | None]


@dataclass(frozen=True)
class Plan:
    """A validated run, in the form that both drivers use.

    `static_sets` has the distinct settings of the static ports (one value per port of `Ports.statics`);
    `static_of[i]` is the index of the setting for request i.
    """

    messages: list[int]
    static_sets: list[tuple[int, ...]]
    static_of: list[int]
    source_delays: list[int]
    sink_delays: list[int]
    stall: Stall | None = None
    max_cycles: int | None = None
    memory: MemoryPlan = field(default_factory=MemoryPlan)

    def __len__(self) -> int:
        return len(self.messages)

    def limit(self, backend: str, cycle: int) -> int:
        """The cycle in which a run whose last handshake was in `cycle` times out."""
        return self.max_cycles if self.max_cycles is not None else cycle + hang_cycles(backend)

    def timeout(
        self, backend: str, accepted: int, done: int, cycle: int, untaken: Mapping[str, int]
    ) -> SimulationTimeout:
        """The error to raise when a run times out; untaken: the memory's answers that wait, by port."""
        what = f"transaction {done} of {len(self)}"
        state = "accepted, but not answered" if accepted > done else "not accepted"
        limit = (
            f"{self.max_cycles} cycles"
            if self.max_cycles is not None
            else f"no handshake for {hang_cycles(backend)} cycles"
        )
        waits = "".join(
            f"; memory port {name} has {count} answer{'s' * (count > 1)} that the design did not accept"
            for name, count in untaken.items()
            if count
        )
        error = SimulationTimeout(
            f"{what} {state} after {cycle} cycles with backend {backend} (limit: {limit}){waits}"
        )
        error.answered = done
        return error


def make_plan(
    ports: Ports,
    requests: Iterable[Value],
    *,
    statics: Statics | Sequence[Statics] | None = None,
    source_delays: int | Sequence[int] = 0,
    sink_delays: int | Sequence[int] = 0,
    stall: Stall | None = None,
    max_cycles: int | None = None,
    memory: MemorySettings | None = None,
) -> Plan:
    """The plan for the arguments of `Simulation.run`, validated against the ports."""
    requests = list(requests)
    messages = ports.request.pack_all(requests)
    n = len(messages)
    if max_cycles is not None and max_cycles < 1:
        raise BadInput(f"max_cycles must be at least 1, not {max_cycles}")

    if statics is None or isinstance(statics, Mapping):
        sets = [ports.pack_statics(statics or {})]
        static_of = [0] * n
    else:
        if len(statics) != n:
            raise BadInput(f"{len(statics)} settings of the static ports for {n} requests: give one for each")
        index: dict[tuple[int, ...], int] = {}
        static_of = [index.setdefault(ports.pack_statics(static), len(index)) for static in statics]
        sets = list(index) or [ports.pack_statics({})]

    return Plan(
        messages=messages,
        static_sets=sets,
        static_of=static_of,
        source_delays=_delays("source_delays", source_delays, n),
        sink_delays=_delays("sink_delays", sink_delays, n),
        stall=stall,
        max_cycles=max_cycles,
        memory=_memory(ports, requests, memory or MemorySettings()),
    )


def _memory(ports: Ports, requests: Sequence[Value], settings: MemorySettings) -> MemoryPlan:
    """The memory of a run; its ports in the order of the component."""
    check_memory(ports.memory, settings.ports, "the component")
    if not settings.ports:
        return MemoryPlan()
    by_name = {port.name: port for port in settings.ports}
    images = [image_of(request) for request in requests]
    for index, image in enumerate(images):
        if wrong := wrong_image(image, settings.nbytes):
            raise BadInput(f"the memory before request {index}: {wrong}")
    kept = snapshots(requests)
    if sum(kept) * settings.nbytes > MOST_KEPT_NBYTES:
        raise BadInput(
            f"{sum(kept)} copies of a memory of {settings.nbytes:,} bytes; give fewer requests with a memory "
            "of their own, or a smaller memory_nbytes"
        )
    return MemoryPlan(
        ports=tuple(by_name[port.name] for port in ports.memory),
        size=settings.nbytes,
        images=images,
        kept=kept,
        delays=_delays("the delays of the memory", settings.delays, len(requests)),
        settled=settings.settled,
    )


def _delays(name: str, delays: int | Sequence[int], n: int) -> list[int]:
    values = [delays] * n if isinstance(delays, int) else list(delays)
    if len(values) != n:
        raise BadInput(f"{name} has {len(values)} entries for {n} requests: give one for each, or one number")
    for delay in values:
        if not 0 <= delay < 2**31:
            raise BadInput(f"{name} must be 0 or more cycles (below 2**31), not {delay}")
    return values
