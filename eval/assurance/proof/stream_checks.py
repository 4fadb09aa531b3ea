"""Checks of units with streams: handshakes and responses.

Answers are proved in two parts. Two copies in any two states that take the same request have the same in all
registers that decide what comes; and while it computes, what its streams say makes no difference to these. So
what a unit answers depends on the request and its static ports alone, and it is enough to ask it every
request once, which is done natively. A unit that has several requests under way is a row of units that have
one each: that is shown of each, and that nothing else is between.
"""

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pymtl3 import Component

from ....fl.errors import BadInput
from ....flow.prove import registers
from ....flow.prove.assertions import Outcome, countdown, decide
from ....flow.prove.report import PROVED, REFUTED, UNDECIDED
from ....rtl.sim.base import Options
from ....rtl.sim.harness import harness
from ....rtl.sim.native import DRIVER, NativeSimulation
from ....rtl.sim.nativemodel import NativeModel
from ....rtl.sim.ports import Message, Ports
from ....rtl.sim.protocol import BrokenPromise, SimulationTimeout, UnexpectedResponse
from ....rtl.sim.translation.instance_loops import instance_path
from . import benches
from .benches import Registers, Secret, Stream
from .check import UNITS, Check, source_of
from .exhaustive import Answers, Sweep, Words, fields
from .ports import fresh, inside

MOST_OPERANDS = 1 << 24  # that are asked
MOST_LISTED = 1 << 27  # among which they are looked for
ROOM_SAMPLE = 12  # requests that are offered while no answer is taken
STALLED = 400  # cycles of that
HANG = 1_000_000  # cycles without an answer
MOST_STATES = 8  # of a control in which a request can be taken
OF_SUCH_AS_STAY = ", of requests that stay until they are taken"
MOST_NARROW = 4  # bits of a register that is taken for control, and whose values may be looked at one by one
SOME, MOST = 64, 4096  # requests that are timed of a modulus, and of the last one
MORE = 4  # times the cycles that were measured, before a unit is said to be too late
ANSWER = ("ostream__val", "ostream__msg")
OUTPUTS = (*ANSWER, "istream__rdy")
PACE = ("istream__rdy", "ostream__val")
AT_ONCE_S = 10.0  # of a processor
PROMISED = "each request one answer, held until taken, in a bounded time"
REFUSED = (SimulationTimeout, UnexpectedResponse, BrokenPromise)
INSTANCE = r"^\s*(\w+) {}\s*\("  # of a part, in the text


class Rewritten(NativeSimulation):
    """A unit in native simulation by its text, which may have been changed."""

    def __init__(self, design: Stream) -> None:
        self.ports = design.ports
        text = design.verilog + harness(design.ports).verilog(design.top)
        self._model = NativeModel(text, DRIVER, Options())

    def answers(self, sweep: Sweep, apart: int = 0) -> tuple[tuple[Words, ...], NDArray[np.int64]]:
        """The fields of answers to requests that come `apart` cycles apart, and latencies."""
        answers, latencies = self.ask(_packed(sweep.fields, self.ports.request), sweep.statics, HANG, apart)
        return _unpacked(answers, self.ports.response), latencies

    def slowest(self, sweep: Sweep) -> int:
        """Cycles that an answer takes at most."""
        return int(self.answers(sweep)[1].max())


@dataclass(frozen=True)
class StreamUnit:
    """A unit with its text, and what it is to answer."""

    design: Stream
    said: Answers

    @functools.cached_property
    def asked(self) -> Ports:
        """Without static ports that are not read; one that operands have to do with stays, read or not."""
        _, inputs = behind(self.design, OUTPUTS, through=True)
        counts = inputs | self.said.names
        ports = self.design.ports
        return replace(ports, statics=tuple(static for static in ports.statics if static[0] in counts))

    @property
    def too_many(self) -> str:
        """Why it is not asked, if it is not."""
        if (listed := self.said.listed(self.asked)) > MOST_LISTED:
            return (
                f"operands among 2^{math.ceil(math.log2(listed))} are too many to ask each; take fewer bits"
            )
        if self.count > MOST_OPERANDS:
            return f"{self.count:,} operands are too many to ask each; take fewer bits"
        return ""

    @functools.cached_property
    def count(self) -> int:
        """Return the number of operands."""
        return sum(len(sweep) for sweep in self.said.sweeps(self.asked))

    def measured(self) -> tuple[int, int]:
        """Cycles that some answers took at most, and how many requests were taken while none was: what a
        proof then confirms.
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
    """Units of these names in it, each as it is in its text."""
    found = {}
    for name in names:
        (module,) = set(re.findall(INSTANCE.format(name), design.verilog, re.MULTILINE))
        ports = Ports.of(getattr(design.hardware, name))
        found[name] = replace(design, top=module, ports=ports, given=())
    return found


def _end(sweep: Sweep, count: int) -> Sweep:
    """The last requests of it."""
    return Sweep(sweep.statics, tuple(field[-count:] for field in sweep.fields))


def _packed(words: Sequence[Words], kind: Message) -> NDArray[np.uint32]:
    """Requests of these fields, as words of 32 bits."""
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
    """Return the checks of a unit, or of the unit that represents it."""

    @functools.cache
    def own() -> StreamUnit:
        return StreamUnit(Stream.of(said.stand_in or fresh(unit), said.conditions), said)

    def check(what: str, says: str, decided: Callable[..., Outcome], module: str = "") -> Check:
        def run(seconds: float, text: str, _: str) -> Outcome:
            return decided(own(), replace(own().design, verilog=text), seconds)

        return Check(f"{name} {what}", UNITS, says, run, source_of(lambda: own().design.hardware), module)

    if not said.inner:  # those of a wrapper are its own
        yield check("handshakes", PROMISED, _handshakes)
    yield check("answers", said.says, _answers, said.inner)


def _handshakes(own: StreamUnit, design: Stream, seconds: float) -> Outcome:
    left = countdown(seconds)
    if own.too_many:
        return Outcome(UNDECIDED, f"the slowest are not known: {own.too_many}, or --check protocol")
    cycles, room = own.measured()
    return not_at_rest(design, seconds / 4) or protocol(design, cycles, room, left())


def passes_on(part: object) -> bool:
    """Whether it is a unit with a stream of requests and one of answers."""
    return isinstance(part, Component) and hasattr(part, "istream") and hasattr(part, "ostream")


def not_at_rest(design: Stream, seconds: float) -> Outcome | None:
    """The counterexample if a unit of the hardware is not at rest after a reset."""
    units = filter(passes_on, inside(design.hardware))
    paths = [repr(unit).removeprefix("s").removeprefix(".") for unit in units]
    streams = [instance_path(f"{path}." if path else "", design.verilog) for path in paths]
    found = decide(benches.after_reset(design, streams), seconds, 2)
    return replace(found, how="a unit is not at rest after a reset") if found.refuted else None


def protocol(design: Stream, cycles: int, room: int, seconds: float, asked: int = 0) -> Outcome:
    """That a stream keeps its handshakes: answers are held, one for each request, within so many cycles.

    asked: the number of all possible requests, if each has run natively, and took at most `cycles`.
    """
    left = countdown(seconds)
    sources, inputs = answered_at_once(design)
    if inputs:
        return Outcome(UNDECIDED, f"the answer depends on {inputs} at once")
    kept = _held(design, sources, room, seconds)
    if not kept.proved:
        return replace(kept, how=f"an answer that is not taken: {kept.how}")
    if room == 1 and asked and _determined(design, seconds / 4):
        how = f"all {asked:,} requests asked natively, within {cycles} cycles, one under way"
        return Outcome(PROVED, f"{how}; nothing else counts")
    if room == 1 and (alone := one_by_one(design, cycles, seconds)) is not None:
        return alone.outcome
    # what was measured is perhaps not the longest; and some look at a request in the cycles before they take
    # it
    for longest, stays in ((cycles, False), (MORE * cycles, False), (MORE * cycles, True)):
        bench = benches.handshakes(design, longest, room, stays)
        how = f"within {longest} cycles, {room} under way" + (OF_SUCH_AS_STAY if stays else "")
        found = decide(bench, left(), how=how)
        if not found.refuted:
            break
    return found


def _held(design: Stream, sources: Registers, room: int, seconds: float) -> Outcome:
    """That an answer stays until it is taken, by the registers that it is read from."""
    kept = decide(benches.held(design, sources), seconds / 4, 2)
    if not kept.proved:  # perhaps in states alone that move the registers behind the handshakes
        pace = behind_handshakes(design)
        if pace and decide(benches.held(design, pace, room), seconds / 4).proved:
            kept = decide(benches.held(design, sources, known=pace), seconds / 4, 2)
    if not kept.proved:
        kept = decide(benches.held(design, sources, room), seconds / 2)
    if kept.refuted:  # a register that the answer does not show may move
        kept = decide(benches.held(design, {}, room), seconds / 2)
    return kept


def _determined(design: Stream, seconds: float) -> bool:
    """Whether the handshakes between a request and its answer depend on this request alone.

    Registers of two copies that took the same request are the same, in whatever states the copies were, and
    stay so until the answer, whatever the streams say.
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


def in_a_row(design: Stream, parts: Mapping[str, Stream], cycles: int, seconds: float) -> Outcome | None:
    """Prove units in series, each with one request in flight; None if that cannot be proved.

    Static ports of a unit in a row change while it is at work: they may have nothing to do with what its
    streams say.
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
        stays = stays or OF_SUCH_AS_STAY in found.how
    how = f"a row of {', '.join(parts)}, each by itself, within {MORE * cycles} cycles"
    return Outcome(PROVED, how + (OF_SUCH_AS_STAY if stays else ""))


class OneByOne(NamedTuple):
    """Control state of a stream with one request in flight, from accepting one request to accepting the next,
    without the data.

    The handshakes hang on few registers. Those that a reset sets, and that have these values whenever a
    request can be taken, are where it begins, and all others have any value; and as an answer waits until it
    is taken, and behind it a request can be taken at once, it may be taken as soon as it is offered.
    """

    begins: Registers  # registers with their values
    cycles: int  # to an answer
    outcome: Outcome
    looks: bool = False  # at a request before it is taken

    def same_time(self, design: Stream, secret: Secret, seconds: float) -> Outcome:
        """Decide whether two copies answer in the same cycle requests that differ in the secret.

        They are then ready in the same cycle again.
        """
        initial = _of_copies(one=self.begins, two=self.begins)
        bench = benches.same_latency(design, secret, self.looks)
        found = decide(bench, seconds, self.cycles + 2, initial=initial)
        how = f"SAT, {self.cycles + 2} cycles of two machines side by side from where they can take a request"
        how += OF_SUCH_AS_STAY if self.looks else ""
        # from what a register is left with that no reset sets, perhaps
        return replace(found, verdict=PROVED if found.proved else UNDECIDED, how=how)


def one_by_one(design: Stream, cycles: int, seconds: float) -> OneByOne | None:
    """None where that is not proved, neither of all requests nor of such as stay until they are taken."""
    until_end, sources = countdown(seconds), behind_handshakes(design)
    # one that depends on the inputs at once comes perhaps because it is not taken
    if not sources or answered_at_once(design)[1]:
        return None
    values = {name: value for name, value in _reset(design).items() if name in sources}
    # control holds it whatever data are, if one looks like the other by its width
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
                    f"SAT, {longest + 2} cycles from where a request can be taken, by invariants (PDR) of "
                    f"{len(sources)} registers behind the handshakes; within {longest} cycles, one under way"
                )
                how += OF_SUCH_AS_STAY if looks else ""
                return OneByOne(begins, longest, Outcome(PROVED, how), looks)
            if not found.refuted:
                break
    return None


def _answers(own: StreamUnit, design: Stream, seconds: float) -> Outcome:
    if own.too_many or not own.count:
        return Outcome(UNDECIDED, own.too_many or "no operands meet what is assumed")
    wrong, latest = _asked(own, design)
    if wrong is not None:
        return Outcome(REFUTED, "asked natively", [wrong])
    bound = "in each" if own.said.constant else "at most"
    how = f"all {own.count:,} operands asked natively, {latest} cycles {bound}; nothing else counts"
    nothing_else = _alone(own.said, design, latest, seconds)
    if not nothing_else.proved:
        return Outcome(UNDECIDED, f"{how}: not shown ({nothing_else.how})")
    return Outcome(PROVED, f"{how} ({nothing_else.how})")


def _alone(said: Answers, design: Stream, cycles: int, seconds: float) -> Outcome:
    """That an answer comes of its request and the static ports alone."""
    if not said.parts:
        return alone(design, cycles, seconds)
    parts = parts_of(design, said.parts)
    found = decide(benches.row(design, parts), seconds, 1, how=f"{len(parts)} units in a row")
    for name, part in parts.items():
        if found.proved:
            outcome = alone(part, cycles, seconds)
            found = found if outcome.proved else replace(outcome, how=f"{name}: {outcome.how}")
    return found


def alone(design: Stream, cycles: int, seconds: float) -> Outcome:
    """The same of a unit that has one request under way at a time: in two cycles from any states, or in those
    of an answer.
    """
    if inputs := answered_at_once(design)[1]:
        return Outcome(UNDECIDED, f"the answer depends on {inputs} at once")
    sources, _ = behind(design, OUTPUTS, through=True)
    found = decide(benches.alone(design, sources), seconds / 4, 2)
    if found.proved:
        found = decide(benches.steady(design, sources), seconds / 4, 2)
    if not found.proved:  # what is left over from before is there, and is not read
        found = _same_answer(design, cycles, seconds / 2)
    return found


def _same_answer(design: Stream, cycles: int, seconds: float) -> Outcome:
    """From all states in which a request can be taken: registers that a reset sets have some value, the
    others any.
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
    """The values of registers in copies of a design."""
    return {f"{copy}.{name}": value for copy, values in copies.items() for name, value in values.items()}


def _states(design: Stream, seconds: float) -> Iterator[dict[str, int]]:
    """Values of the registers that a reset sets, among which all are with which a request can be taken; one
    that is not there has any.
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
    """Return the registers that handshakes depend on, with their bits; empty if one of them has no usable
    name.
    """
    try:
        return behind(design, PACE, through=True)[0]
    except BadInput:
        return {}


def _reset(design: Stream) -> dict[str, tuple[int, int]]:
    """Registers that a reset sets: to what, and their bits."""
    return registers.resets(design.verilog, design.top)


def _settled(
    design: Stream, values: Mapping[str, tuple[int, int]], seconds: float, looks: bool = False
) -> list[str]:
    """Return the registers that hold their reset value whenever a request can be accepted and is not read
    yet.
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
    """Registers from which outputs are computed, and inputs."""
    return registers.read(design.verilog, design.top).behind(ports, through)


def answered_at_once(design: Stream) -> tuple[dict[str, int], str]:
    """Registers that an answer is read from, and inputs beside static ports that change it in their cycle."""
    sources, inputs = behind(design, ANSWER, through=False)
    named = ", ".join(sorted(inputs - {name for name, _ in design.ports.statics}))
    if named and decide(benches.at_once(design, sources), AT_ONCE_S, 1).proved:
        named = ""  # there is a way from them, but not while an answer is offered
    return sources, named


def _asked(own: StreamUnit, design: Stream) -> tuple[dict[str, int] | None, int]:
    """The first operands with a wrong answer or latency, and the cycles that an answer took at most."""
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
