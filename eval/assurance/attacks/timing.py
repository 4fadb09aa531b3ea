"""Comparison of times: two streams of operations that differ in their secrets alone.

Both streams begin at power-up and have the same public fields, so all handshakes must occur in the same
cycles. The hardware is deterministic: one difference is a leak, and the two streams are its counterexample.
Each operation starts from the state that the earlier ones leave. The first stream that differs is shortened
to the operations and the secrets that matter.
"""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....fl.accelerator import Fields, Message
from ....rtl.sim import SimulationTimeout, UnexpectedResponse
from ....rtl.sim.campaigns.leak import Handshakes, Watched
from ...errors import NoMeasurement
from ...json_values import json_number
from .operands import Operands, Values, constants

LENGTHS = (1, 2, 3, 4, 8, 16, 32, 64)  # operations of a stream
FEWEST = 64  # pairs of operations, however long they take
USUAL, MORE = 10_000, 10  # pairs of short operations: this number, or more for each trace of the power test
CYCLES = 2_500_000  # in total, above which FEWEST pairs are enough
REFUSED = (SimulationTimeout, UnexpectedResponse)


class Pair(NamedTuple):
    """An operation in both streams: the same public fields, and two secrets."""

    one: Values
    two: Values


@dataclass(frozen=True)
class TimeLeak:
    """Two streams that differ in time, in their last operation."""

    requests: tuple[list[Message], list[Message]]
    cycles: tuple[int, int]  # of the last operation

    @property
    def earlier(self) -> int:
        """The number of operations before the one whose time differs."""
        return len(self.requests[0]) - 1

    def as_json(self, fields: Fields) -> dict[str, Any]:
        """Both streams, with the names of the fields."""
        names = [name for name, _ in fields]
        return {
            "streams": [
                [dict(zip(names, map(json_number, request), strict=True)) for request in stream]
                for stream in self.requests
            ],
            "cycles": list(self.cycles),
        }


@dataclass
class Timing:
    """The outcome: the number of operations that were compared, and the leak if one was found."""

    pairs: int = 0
    streams: int = 0
    longest: int = 0  # operations before another one, at most
    values: set[Message] = field(default_factory=set)  # public fields that occurred
    unusual: bool = True  # whether special values were tried; False after one that was not answered
    leak: TimeLeak | None = None
    seconds: float = 0.0  # CPU time

    def as_json(self, fields: Fields) -> dict[str, Any]:
        """The evidence, and the counterexample."""
        return {
            "pairs": self.pairs,
            "streams": self.streams,
            "earlier_operations": self.longest,
            "public_values": len(self.values),
            "special_values": self.unusual,
            "counterexample": self.leak and self.leak.as_json(fields),
        }


class TimingTest:
    """The comparison of an accelerator's times."""

    def __init__(self, model: Watched, operands: Operands, longest: int, seed: str) -> None:
        """longest: cycles after which an operation counts as hung."""
        self._model, self._operands, self._longest = model, operands, longest
        self._draw = random.Random(f"time {seed}")
        operands.numbers = constants(model.verilog)

    def run(self, traces: int) -> Timing:
        """Compare operations until a pair differs or enough of them were equal."""
        begun, found, cycles, most = time.process_time(), Timing(), 0, max(USUAL, MORE * traces)
        while found.pairs < FEWEST or (found.pairs < most and cycles < CYCLES):
            stream = list(self._stream(self._draw.choice(LENGTHS), found.unusual))
            try:
                both = self._both(stream)
            except REFUSED as error:
                if not found.unusual:
                    raise self._no_measurement(error) from None
                found.unusual = False
                continue
            self._count(found, stream)
            cycles += both[0].answered[-1]
            if both[0] != both[1]:
                found.leak = self._shortened(stream)
                break
        found.seconds = time.process_time() - begun
        return found

    def _no_measurement(self, error: Exception) -> NoMeasurement:
        name = self._operands.machine.name
        return NoMeasurement(f"{name}: {error}: nothing is measured on a wrong one")

    def _count(self, found: Timing, stream: Sequence[Pair]) -> None:
        operands = self._operands
        found.pairs += len(stream)
        found.streams += 1
        found.longest = max(found.longest, len(stream) - 1)
        found.values |= {tuple(operands.public_of(pair.one).values()) for pair in stream}

    # ---- the streams

    def _stream(self, length: int, unusual: bool) -> Iterator[Pair]:
        """Operations with random public fields, each with two random secrets."""
        last = Pair({}, {})
        for _ in range(length):
            pair = self._pair(last, unusual)
            if not all(map(self._operands.possible, pair)):
                pair = self._pair(last, False)
            yield pair
            last = pair

    def _pair(self, last: Pair, unusual: bool) -> Pair:
        operands, draw = self._operands, self._draw
        request = operands.free if unusual else operands.usual
        whole = request(draw, operands.held)
        if unusual:
            whole = operands.legal(whole | operands.varied(draw, operands.drawn, whole, last.one))
        public = operands.public_of(whole)

        def with_secret(before: Values) -> Values:
            found = request(draw, public)
            if unusual:
                found = operands.legal(found | operands.varied(draw, operands.secret, found, before))
            return found

        return Pair(*map(with_secret, last))

    # ---- the simulation

    def _both(self, stream: Sequence[Pair]) -> tuple[Handshakes, Handshakes]:
        one, two = ([self._operands.request(values) for values in side] for side in zip(*stream, strict=True))
        return self._handshakes(one), self._handshakes(two)

    def _handshakes(self, requests: Sequence[Message]) -> Handshakes:
        return self._model.handshakes(requests, self._longest * len(requests) + 1000)

    # ---- the counterexample

    def _differs(self, stream: Sequence[Pair]) -> bool:
        try:
            one, two = self._both(stream)
        except REFUSED:
            return False
        return one != two

    def _shortened(self, stream: Sequence[Pair]) -> TimeLeak:
        """The end of a stream that still differs, with the fewest operations and secrets that differ."""
        operands, (one, two) = self._operands, self._both(stream)
        both = zip(zip(*one, strict=True), zip(*two, strict=True), strict=True)
        last = next(at for at, (first, second) in enumerate(both) if first != second)
        kept = list(stream[: last + 1])
        for size in range(1, len(kept)):
            if self._differs(kept[-size:]):
                kept = kept[-size:]
                break
        for at in reversed(range(len(kept) - 1)):
            if self._differs(fewer := kept[:at] + kept[at + 1 :]):
                kept = fewer
        for at, pair in enumerate(kept):
            for name in operands.secret:
                same = pair._replace(two=pair.two | {name: pair.one[name]})
                if operands.possible(same.two) and self._differs([*kept[:at], same, *kept[at + 1 :]]):
                    kept[at] = pair = same
        one, two = self._both(kept)
        first, second = ([operands.request(values) for values in side] for side in zip(*kept, strict=True))
        return TimeLeak((first, second), _cycles(one, two))


def _cycles(one: Handshakes, two: Handshakes) -> tuple[int, int]:
    """The different cycles of the last operation: from its request or, if they are equal, from reset."""
    first, second = (answered[-1] - accepted[-1] for accepted, answered in (one, two))
    return (first, second) if first != second else (one.answered[-1], two.answered[-1])
