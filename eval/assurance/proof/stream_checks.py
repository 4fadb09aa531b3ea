"""Checks of units with streams: their handshakes and their answers.

An answer is proved in two parts. First, two copies in arbitrary states that accept the same request agree in
all registers that decide what follows, and the inputs of a busy unit do not affect these registers. An answer
then depends on nothing but the request and the static ports. Second, native simulation runs every request
once. A unit with several requests in flight is a chain of units with one each; this is proved of each unit
and of the connections between them.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pymtl3 import Component

from ....fl.errors import BadInput
from ....flow.prove import registers
from ....flow.prove.assertions import Decision, countdown, decide
from ....flow.prove.report import PROVED, REFUTED, UNDECIDED
from ....rtl.sim.base import Options
from ....rtl.sim.native import NativeSimulation
from ....rtl.sim.nativemodel import ModuleText
from ....rtl.sim.ports import Message, Ports
from ....rtl.sim.protocol import BrokenPromise, SimulationTimeout, UnexpectedResponse
from ....rtl.verilog import paths
from ...designs.claims import Secret
from . import benches
from .benches import Registers, Stream
from .check import UNITS, Check, source_of
from .exhaustive import Answers, Sweep, Words, fields
from .ports import fresh, inside

MOST_OPERANDS = 1 << 24  # most operands that are run
MOST_LISTED = 1 << 27  # candidates that are tested for the conditions
ROOM_SAMPLE = 12  # requests that are offered while no answer is accepted
STALLED = 400  # cycles for which no answer is accepted
HANG = 1_000_000  # cycles without an answer
MOST_STATES = 8  # of the control registers, in which a request can be accepted
ONLY_IF_HELD = ", for requests that are held until accepted"
NOTHING_ELSE = "nothing else affects the handshakes"
MOST_NARROW = 4  # bits of a register that counts as control, whose values may be enumerated
SOME, MOST = 64, 4096  # requests that are timed for each modulus, and for the last one
MORE = 4  # an answer after this many times the measured cycles is late
ANSWER = ("ostream__val", "ostream__msg")
OUTPUTS = (*ANSWER, "istream__rdy")
PACE = ("istream__rdy", "ostream__val")
AT_ONCE_S = 10.0  # CPU time
PROMISED = "each request gets one answer, held until accepted, within a bounded time"
REFUSED = (SimulationTimeout, UnexpectedResponse, BrokenPromise)


class Rewritten(NativeSimulation):
    """Native simulation of a unit from its text, which may be that of a mutant."""

    def __init__(self, design: Stream) -> None:
        super().__init__(ModuleText(design.verilog, design.top, design.ports), Options())

    def answers(self, sweep: Sweep, apart: int = 0) -> tuple[tuple[Words, ...], NDArray[np.int64]]:
        """Fields of the answers to requests `apart` cycles apart, and their latencies."""
        answers, latencies = self.ask(_packed(sweep.fields, self.ports.request), sweep.statics, HANG, apart)
        return _unpacked(answers, self.ports.response), latencies

    def slowest(self, sweep: Sweep) -> int:
        """The longest latency."""
        return int(self.answers(sweep)[1].max())


@dataclass(frozen=True)
class StreamUnit:
    """A unit, its text and the answers that are expected of it."""

    design: Stream
    said: Answers

    @functools.cached_property
    def asked(self) -> Ports:
        """The ports without static ports that are not read, unless the conditions on operands name them."""
        _, inputs = behind(self.design, OUTPUTS, through=True)
        counts = inputs | self.said.names
        ports = self.design.ports
        return replace(ports, statics=tuple(static for static in ports.statics if static[0] in counts))

    @property
    def too_many(self) -> str:
        """Why not all operands can be run; empty if they can."""
        if (listed := self.said.listed(self.asked)) > MOST_LISTED:
            return f"2^{math.ceil(math.log2(listed))} candidate operands are too many; choose a smaller width"
        if self.count > MOST_OPERANDS:
            return f"{self.count:,} operands are too many to run; choose a smaller width"
        return ""

    @functools.cached_property
    def count(self) -> int:
        """The number of operands."""
        return sum(len(sweep) for sweep in self.said.sweeps(self.asked))

    def measured(self) -> tuple[int, int]:
        """The longest latency of a sample, and the number of requests accepted while no answer is accepted;
        the proof confirms both.
        """
        with Rewritten(self.design) as simulation:
            latest = 0
            for sweep in self.said.sweeps(self.asked):  # some of each modulus, and most of the last
                last = sweep
                latest = max(latest, simulation.slowest(_end(sweep, SOME)))
            last = _end(last, MOST)
            latest = max(latest, simulation.slowest(last))
            requests = list(zip(*(field[-ROOM_SAMPLE:].tolist() for field in last.fields), strict=True))
            offered = list(itertools.islice(itertools.cycle(requests), ROOM_SAMPLE))
            stalled = simulation.run(
                [request if len(request) > 1 else request[0] for request in offered],
                statics=last.statics,
                sink_delays=[STALLED, *[0] * (ROOM_SAMPLE - 1)],
            )
        return latest, sum(value < stalled.done[0] for value in stalled.accepted)


def parts_of(design: Stream, names: Sequence[str]) -> dict[str, Stream]:
    """The units of these names in a design, each with its module in the design's text."""
    modules = {name: module for name, _, module in paths.instances_of(design.tree, design.tree.top)}
    found = {}
    for name in names:
        assert not modules[name].parameters, "its text would be that of the default values"
        ports = Ports.of(getattr(design.hardware, name))
        found[name] = replace(design, top=modules[name].name, ports=ports, given=())
    return found


def _end(sweep: Sweep, count: int) -> Sweep:
    """The last requests of a sweep."""
    return Sweep(sweep.statics, tuple(field[-count:] for field in sweep.fields))


def _packed(words: Sequence[Words], kind: Message) -> NDArray[np.uint32]:
    """Requests with these fields, as 32-bit words."""
    packed = np.zeros(len(words[0]), np.uint64)
    for word, nbits in zip(words, fields(kind).values(), strict=True):
        packed = packed << np.uint64(nbits) | word.astype(np.uint64)
    return packed.astype("<u8").view("<u4").reshape(-1, 2)[:, : -(-kind.nbits // 32)].copy()


def _unpacked(answers: NDArray[np.uint32], kind: Message) -> tuple[Words, ...]:
    padded = np.zeros((len(answers), 2), "<u4")
    padded[:, : answers.shape[1]] = answers
    packed = padded.view("<u8").ravel()
    found = []
    for nbits in reversed(fields(kind).values()):
        found.append((packed & np.uint64((1 << nbits) - 1)).astype(np.int64))
        packed = packed >> np.uint64(nbits)
    return tuple(reversed(found))


def stream_checks(name: str, unit: Component, said: Answers) -> Iterator[Check]:
    """The checks of a unit, or of the unit that represents it."""

    @functools.cache
    def own() -> StreamUnit:
        return StreamUnit(Stream.of(said.stand_in or fresh(unit), said.conditions), said)

    def check(what: str, says: str, decided: Callable[..., Decision], module: str = "") -> Check:
        def run(seconds: float, text: str, _: str) -> Decision:
            return decided(own(), replace(own().design, verilog=text), seconds)

        return Check(f"{name} {what}", UNITS, says, run, source_of(lambda: own().design.hardware), module)

    if not said.inner:  # the handshakes of a wrapper are not those of the unit
        yield check("handshakes", PROMISED, _handshakes)
    yield check("answers", said.says, _answers, said.inner)


def _handshakes(own: StreamUnit, design: Stream, seconds: float) -> Decision:
    left = countdown(seconds)
    if own.too_many:
        return Decision(UNDECIDED, f"the longest latency is unknown: {own.too_many}, or --check protocol")
    cycles, room = own.measured()
    return not_at_rest(design, seconds / 4) or protocol(design, cycles, room, left())


def passes_on(part: object) -> bool:
    """Whether this is a unit with a request stream and an answer stream."""
    return isinstance(part, Component) and hasattr(part, "istream") and hasattr(part, "ostream")


def not_at_rest(design: Stream, seconds: float) -> Decision | None:
    """A counterexample if some unit of the hardware is not idle after a reset."""
    parts = filter(passes_on, inside(design.hardware))
    units = [repr(part).removeprefix("s").removeprefix(".") for part in parts]
    scopes = [paths.instance_path(design.tree, path) if path else "" for path in units]
    streams = [f"{scope}." if scope else "" for scope in scopes]
    found = decide(benches.after_reset(design, streams), seconds, 2)
    return replace(found, how="a unit is not at rest after a reset") if found.refuted else None


def protocol(design: Stream, cycles: int, room: int, seconds: float, asked: int = 0) -> Decision:
    """Decide the handshakes of a stream: each request gets one answer within this many cycles, and the answer
    is held until it is accepted.

    asked: the number of all possible requests if each has run natively within `cycles`.
    """
    left = countdown(seconds)
    sources, inputs = answered_at_once(design)
    if inputs:
        return Decision(UNDECIDED, f"the answer depends combinationally on {inputs}")
    kept = _held(design, sources, room, seconds)
    if not kept.proved:
        return replace(kept, how=f"holding an answer until it is accepted: {kept.how}")
    if room == 1 and asked and _determined(design, seconds / 4):
        how = f"all {asked:,} requests simulated natively, within {cycles} cycles, one in flight"
        return Decision(PROVED, f"{how}; {NOTHING_ELSE}")
    if room == 1 and (alone := one_by_one(design, cycles, seconds)) is not None:
        return alone.outcome
    # the measured latency may not be the longest, and some units examine a request before they accept it
    for longest, stays in ((cycles, False), (MORE * cycles, False), (MORE * cycles, True)):
        bench = benches.handshakes(design, longest, room, stays)
        how = f"within {longest} cycles, {room} in flight" + (ONLY_IF_HELD if stays else "")
        found = decide(bench, left(), how=how)
        if not found.refuted:
            break
    return found


def _held(design: Stream, sources: Registers, room: int, seconds: float) -> Decision:
    """Decide whether an answer stays until it is accepted, by the registers that it is read from."""
    kept = decide(benches.held(design, sources), seconds / 4, 2)
    if not kept.proved:  # perhaps only from states that the control never reaches
        pace = behind_handshakes(design)
        if pace and decide(benches.held(design, pace, room), seconds / 4).proved:
            kept = decide(benches.held(design, sources, known=pace), seconds / 4, 2)
    if not kept.proved:
        kept = decide(benches.held(design, sources, room), seconds / 2)
    if kept.refuted:  # a register that the answer does not depend on may change
        kept = decide(benches.held(design, {}, room), seconds / 2)
    return kept


def _determined(design: Stream, seconds: float) -> bool:
    """Whether the handshakes between a request and its answer depend on this request alone.

    Two copies in any states that accept the same request have equal registers, which stay equal until the
    answer, whatever the inputs are.
    """
    registers, _ = behind(design, OUTPUTS, through=True)
    control = {name: nbits for name, nbits in behind_handshakes(design).items() if nbits <= MOST_NARROW}
    values = [(name, value) for name, nbits in control.items() for value in range(1 << nbits)]
    share = seconds / 4 / max(1, len(values))
    unreached = [item for item in values if decide(benches.never(design, *item), share).proved]
    asked = (
        (benches.alone(design, registers), 2),
        (benches.steady(design, registers, True, unreached), 2),
        (benches.between(design), None),
    )
    return all(decide(bench, seconds / 4, cycles).proved for bench, cycles in asked)


def in_a_row(design: Stream, parts: Mapping[str, Stream], cycles: int, seconds: float) -> Decision | None:
    """Prove chained units, each with one request in flight; None if that cannot be proved.

    The static ports of a unit in a chain may change while it is busy, so they must not affect its handshakes.
    """
    left = countdown(seconds)
    if not parts or decide(benches.passed_on(design, list(parts)), seconds / 4, 1).verdict != PROVED:
        return None
    stays = False
    for part in parts.values():
        named = behind(part, PACE, through=True)[1] | behind(part, ANSWER, through=False)[1]
        if named.intersection(name for name, _ in part.ports.statics):
            return None
        found = protocol(part, cycles, 1, left())
        if not found.proved:
            return None
        stays = stays or ONLY_IF_HELD in found.how
    how = f"{', '.join(parts)} in series, each proved alone, within {MORE * cycles} cycles"
    return Decision(PROVED, how + (ONLY_IF_HELD if stays else ""))


class OneByOne(NamedTuple):
    """Control state of a stream with one request in flight, from accepting one request to accepting the next,
    without the data.

    The handshakes depend on few registers. The check starts from states in which those that hold their reset
    values whenever a request can be accepted have these values, and all others are arbitrary. An answer is
    held until it is accepted, and the next request can be accepted right after it; so it suffices to consider
    answers that are accepted at once.
    """

    begins: Registers  # registers with their values
    cycles: int  # to an answer
    outcome: Decision
    looks: bool = False  # whether the design examines a request before it accepts it

    def same_time(self, design: Stream, secret: Secret, seconds: float) -> Decision:
        """Decide whether two copies answer requests that differ in the secret in the same cycle.

        Both can then accept a request in the same cycle again.
        """
        initial = _of_copies(one=self.begins, two=self.begins)
        bench = benches.same_latency(design, secret, self.looks)
        found = decide(bench, seconds, self.cycles + 2, initial=initial)
        how = f"SAT, {self.cycles + 2} cycles of two copies from states in which they can accept a request"
        how += ONLY_IF_HELD if self.looks else ""
        # a counterexample may start from an unreachable value of a register without a reset
        return replace(found, verdict=PROVED if found.proved else UNDECIDED, how=how)


def one_by_one(design: Stream, cycles: int, seconds: float) -> OneByOne | None:
    """The proof for all requests, or for those that are held until they are accepted; None if both fail."""
    until_end, sources = countdown(seconds), behind_handshakes(design)
    # an answer that depends on inputs in the same cycle may be offered only because it is not accepted
    if not sources or answered_at_once(design)[1]:
        return None
    values = {name: value for name, value in _reset(design).items() if name in sources}
    # wide registers count as data; first try to prove it for arbitrary data
    data = [f"unit.{name}" for name, nbits in sources.items() if nbits > MOST_NARROW]
    for looks, share in ((False, 2 / 3), (True, 1.0)):
        left, rests = countdown(until_end() * share), benches.between(design, looks)
        if not any(decide(rests, left() / 5, free=free).proved for free in ([data, []] if data else [[]])):
            continue
        begins = {name: values[name][0] for name in _settled(design, values, left() / 2, looks)}
        initial = {f"unit.{name}": value for name, value in begins.items()}
        for longest in (cycles, 2 * cycles, MORE * cycles):
            bench = (benches.one_looked_at if looks else benches.one_request)(design, longest)
            found = decide(bench, left(), longest + 2, initial=initial)
            if found.proved:
                how = (
                    f"SAT, {longest + 2} cycles from states that accept a request, by invariants (PDR) of "
                    f"{len(sources)} registers behind the handshakes; within {longest} cycles, one in flight"
                )
                how += ONLY_IF_HELD if looks else ""
                return OneByOne(begins, longest, Decision(PROVED, how), looks)
            if not found.refuted:
                break
    return None


def _answers(own: StreamUnit, design: Stream, seconds: float) -> Decision:
    if own.too_many or not own.count:
        return Decision(UNDECIDED, own.too_many or "no operands meet what is assumed")
    wrong, latest = _asked(own, design)
    if wrong is not None:
        return Decision(REFUTED, "simulated natively", [wrong])
    bound = "in each" if own.said.constant else "at most"
    how = f"all {own.count:,} operands simulated natively, {latest} cycles {bound}; {NOTHING_ELSE}"
    nothing_else = _alone(own.said, design, latest, seconds)
    if not nothing_else.proved:
        return Decision(UNDECIDED, f"{how}: not shown ({nothing_else.how})")
    return Decision(PROVED, f"{how} ({nothing_else.how})")


def _alone(said: Answers, design: Stream, cycles: int, seconds: float) -> Decision:
    """Decide whether an answer depends on its request and the static ports alone."""
    if not said.parts:
        return alone(design, cycles, seconds)
    parts = parts_of(design, said.parts)
    found = decide(benches.row(design, parts), seconds, 1, how=f"{len(parts)} units in a row")
    for name, part in parts.items():
        if found.proved:
            outcome = alone(part, cycles, seconds)
            found = found if outcome.proved else replace(outcome, how=f"{name}: {outcome.how}")
    return found


def alone(design: Stream, cycles: int, seconds: float) -> Decision:
    """Decide whether an answer depends on its request and the static ports alone, for a unit with one request
    in flight: over two cycles from any states, or over all cycles up to the answer.
    """
    if inputs := answered_at_once(design)[1]:
        return Decision(UNDECIDED, f"the answer depends combinationally on {inputs}")
    sources, _ = behind(design, OUTPUTS, through=True)
    found = decide(benches.alone(design, sources), seconds / 4, 2)
    if found.proved:
        found = decide(benches.steady(design, sources), seconds / 4, 2)
    if not found.proved:  # old values may remain in registers that are not read
        found = _same_answer(design, cycles, seconds / 2)
    return found


def _same_answer(design: Stream, cycles: int, seconds: float) -> Decision:
    """Decide whether two copies give the same answer, from all states in which a request can be accepted:
    registers with a reset have each possible value, the others are arbitrary.
    """
    left = countdown(seconds)
    cases = itertools.product(_states(design, seconds / 2), (0, 1))
    for pair in itertools.combinations_with_replacement(cases, 2):
        (one, waits), (two, waits_other) = pair
        bench = benches.same_answer(design, cycles, (waits, waits_other))
        found = decide(bench, left(), cycles + 1, initial=_of_copies(one=one, two=two))
        if not found.proved:
            break
    return found


def _of_copies(**copies: Registers) -> dict[str, int]:
    """The values of registers in the copies of a design."""
    return {f"{copy}.{name}": value for copy, values in copies.items() for name, value in values.items()}


def _states(design: Stream, seconds: float) -> Iterator[dict[str, int]]:
    """Values of the registers with a reset that cover all states in which a request can be accepted; a
    missing register is arbitrary.
    """
    values = _reset(design)
    found = {name: [values[name][0]] for name in _settled(design, values, seconds / 2)}
    narrow = {
        name: nbits for name, (_, nbits) in values.items() if name not in found and nbits <= MOST_NARROW
    }
    share = seconds / 2 / max(1, sum(1 << nbits for nbits in narrow.values()))
    for name, nbits in narrow.items():
        found[name] = [
            value
            for value in range(1 << nbits)
            if decide(benches.idle(design, {name: (value, nbits)}, never=True), share).verdict != PROVED
        ]
    for name in sorted(narrow, key=lambda item: -len(found[item])):
        if math.prod(map(len, found.values())) > MOST_STATES:
            del found[name]
    for row in itertools.product(*found.values()):
        yield dict(zip(found, row, strict=True))


def behind_handshakes(design: Stream) -> dict[str, int]:
    """The registers that handshakes depend on, with their widths; empty if one has no usable name."""
    try:
        return behind(design, PACE, through=True)[0]
    except BadInput:
        return {}


def _reset(design: Stream) -> dict[str, tuple[int, int]]:
    """The registers with a reset: value and width."""
    return registers.resets(design.verilog, design.top)


def _settled(
    design: Stream, values: Mapping[str, tuple[int, int]], seconds: float, looks: bool = False
) -> list[str]:
    """The registers that hold their reset value whenever a request can be accepted and none has been
    examined.
    """
    if not values or decide(benches.idle(design, values, looks=looks), seconds / 2).proved:
        return list(values)
    share = seconds / 2 / len(values)
    return [
        name
        for name, value in values.items()
        if decide(benches.idle(design, {name: value}, looks=looks), share).proved
    ]


def behind(design: Stream, ports: Sequence[str], through: bool) -> tuple[dict[str, int], frozenset[str]]:
    """The registers and the inputs from which these outputs are computed."""
    return registers.read(design.verilog, design.top).behind(ports, through)


def answered_at_once(design: Stream) -> tuple[dict[str, int], str]:
    """The registers that an answer is read from, and the inputs other than static ports that change it in the
    same cycle.
    """
    sources, inputs = behind(design, ANSWER, through=False)
    named = ", ".join(sorted(inputs - {name for name, _ in design.ports.statics}))
    if named and decide(benches.at_once(design, sources), AT_ONCE_S, 1).proved:
        named = ""  # there is a path, but it is blocked while an answer is offered
    return sources, named


def _asked(own: StreamUnit, design: Stream) -> tuple[dict[str, int] | None, int]:
    """The first operands with a wrong answer or latency, and the longest latency."""
    latest, promised = 0, own.said.cycles
    with Rewritten(design) as simulation:
        for sweep in own.said.sweeps(own.asked):
            try:
                answers, latencies = simulation.answers(sweep, promised)
            except REFUSED:
                return dict(sweep.statics), latest
            right = own.said.right(*sweep.fields, *answers, sweep.statics.get("modulus", 0))
            if not right.all():
                return _wrong(own, sweep, answers, int(np.argmin(right))), latest
            if own.said.constant:
                promised = promised or int(latencies[0])
            if promised and (differ := np.flatnonzero(latencies != promised)).size:
                at = int(differ[0])
                return _wrong(own, sweep, answers, at) | {"cycles": int(latencies[at])}, latest
            latest = max(latest, int(latencies.max()))
    return None, latest


def _wrong(own: StreamUnit, sweep: Sweep, answers: tuple[Words, ...], at: int) -> dict[str, int]:
    told = dict(sweep.statics)
    ports = own.design.ports
    named = [*fields(ports.request), *fields(ports.response, "answer")]
    return told | {name: int(word[at]) for name, word in zip(named, (*sweep.fields, *answers), strict=True)}
