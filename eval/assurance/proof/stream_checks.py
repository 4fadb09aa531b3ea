"""Checks of units with streams: handshakes and responses.

Answers are proved in two parts. Two copies in any two states that take the same request have the same in all
registers that decide what comes; and while it computes, what its streams say makes no difference to these. So
what a unit answers depends on the request and its static ports alone, and it is enough to ask it every
request once, which is done natively. A unit that has several requests under way is a row of units that have
one each: that is shown of each, and that nothing else is between.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
from ....rtl.sim.translation.translate import top_name, translate
from . import benches
from .check import UNITS, Check, Report
from .exhaustive import ALONE, Answers, Statics, Sweep, Words, fields
from .ports import inside

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
    """A unit in native simulation by a text that is given, which may have been changed."""

    def __init__(self, unit: Component, verilog: str) -> None:
        self.ports = Ports.of(unit)
        self._model = NativeModel(verilog + harness(self.ports).verilog(top_name(unit)), DRIVER, Options())

    def answers(self, sweep: Sweep, apart: int = 0) -> tuple[tuple[Words, ...], NDArray[np.int64]]:
        """The fields of answers to requests that come `apart` cycles apart, and latencies."""
        asked = _packed(sweep.fields, fields(self.ports))
        answers, latencies = self.ask(asked, sweep.statics, HANG, apart)
        return _unpacked(answers, self.ports.response), latencies

    def slowest(self, sweep: Sweep) -> int:
        """Cycles that an answer takes at most."""
        return int(self.answers(sweep)[1].max())


@dataclass(frozen=True)
class StreamUnit:
    """A unit, elaborated, with its text and what it is to answer."""

    unit: Component
    verilog: str
    said: Answers

    @functools.cached_property
    def ports(self) -> Ports:
        return Ports.of(self.unit)

    @property
    def design(self) -> benches.Stream:
        return benches.Stream(self.verilog, top_name(self.unit), self.ports)

    @functools.cached_property
    def asked(self) -> Ports:
        """Without static ports that are not read; one that operands have to do with stays, read or not."""
        _, inputs = behind(self.design, OUTPUTS, through=True)
        counts = inputs | self.said.names
        return replace(
            self.ports, statics=tuple(static for static in self.ports.statics if static[0] in counts)
        )

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
        with Rewritten(self.unit, self.verilog) as simulation:
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


def parts_of(hardware: Component, verilog: str, names: Sequence[str]) -> list[tuple[str, benches.Stream]]:
    """Units of these names in it, each as it is in this text."""
    found = []
    for name in names:
        (module,) = set(re.findall(INSTANCE.format(name), verilog, re.MULTILINE))
        found.append((name, benches.Stream(verilog, module, Ports.of(getattr(hardware, name)))))
    return found


def _end(sweep: Sweep, count: int) -> Sweep:
    """The last requests of it."""
    return Sweep(sweep.statics, tuple(field[-count:] for field in sweep.fields))


def _packed(words: Sequence[Words], of: Sequence[tuple[str, Message]]) -> NDArray[np.uint32]:
    """Requests of these fields, as words of 32 bits."""
    packed = np.zeros(len(words[0]), np.uint64)
    for word, (_, kind) in zip(words, of, strict=True):
        packed = packed << np.uint64(kind.nbits) | word.astype(np.uint64)
    nbits = sum(kind.nbits for _, kind in of)
    return packed.astype("<u8").view("<u4").reshape(-1, 2)[:, : -(-nbits // 32)].copy()


def _unpacked(answers: NDArray[np.uint32], kind: Message) -> tuple[Words, ...]:
    padded = np.zeros((len(answers), 2), "<u4")
    padded[:, : answers.shape[1]] = answers
    packed = padded.view("<u8").ravel()
    found = []
    for _, nbits in reversed(kind.fields or ((ALONE, kind.nbits),)):
        found.append((packed & np.uint64((1 << nbits) - 1)).astype(np.int64))
        packed = packed >> np.uint64(nbits)
    return tuple(reversed(found))


def stream_checks(name: str, unit: Component, said: Answers) -> Iterator[Check]:
    """Return the checks of a unit, or of the unit that represents it."""

    @functools.cache
    def own() -> StreamUnit:
        made = said.stand_in or type(unit)(*unit._dsl.args, **unit._dsl.kwargs)
        if not made._dsl.constructed:
            made.elaborate()
        return StreamUnit(made, translate(made), said)

    def source() -> tuple[str, str]:
        return own().verilog, own().design.top

    def handshakes(seconds: float, _: Report, changed: str = "") -> Outcome:
        return _handshakes(own(), changed or own().verilog, seconds)

    def answers(seconds: float, report: Report, changed: str = "") -> Outcome:
        return _answers(own(), changed or own().verilog, seconds, report)

    if not said.inner:  # those of a wrapper are its own
        yield Check(f"{name} handshakes", UNITS, PROMISED, handshakes, source)
    yield Check(f"{name} answers", UNITS, said.says, answers, source, said.inner)


def _handshakes(own: StreamUnit, verilog: str, seconds: float) -> Outcome:
    left = countdown(seconds)
    if own.too_many:
        return Outcome(UNDECIDED, f"the slowest are not known: {own.too_many}, or --check protocol")
    cycles, room = own.measured()
    design = replace(own.design, verilog=verilog)
    return not_at_rest(design, own.unit, seconds / 4) or protocol(
        design, own.said.conditions, cycles, room, left()
    )


def passes_on(part: object) -> bool:
    """Whether it is a unit with a stream of requests and one of answers."""
    return isinstance(part, Component) and hasattr(part, "istream") and hasattr(part, "ostream")


def not_at_rest(design: benches.Stream, hardware: Component, seconds: float) -> Outcome | None:
    """The counterexample if a unit of elaborated hardware is not at rest after a reset."""
    paths = [repr(unit).removeprefix("s").removeprefix(".") for unit in inside(hardware) if passes_on(unit)]
    streams = [re.sub(r"\[(\d+)\]", r"__\1", f"{path}." if path else "") for path in paths]
    found = decide(benches.after_reset(design, streams), seconds, 2)
    return replace(found, how="a unit is not at rest after a reset") if found.verdict == REFUTED else None


def protocol(
    design: benches.Stream, given: Sequence[str], cycles: int, room: int, seconds: float, asked: int = 0
) -> Outcome:
    """That a stream keeps its handshakes: answers are held, one for each request, within so many cycles.

    asked: the number of all possible requests, if each has run natively, and took at most `cycles`.
    """
    left = countdown(seconds)
    sources, inputs = answered_at_once(design)
    if inputs:
        return Outcome(UNDECIDED, f"the answer depends on {inputs} at once")
    kept = _held(design, sources, room, seconds)
    if kept.verdict != PROVED:
        return replace(kept, how=f"an answer that is not taken: {kept.how}")
    if room == 1 and asked and _determined(design, seconds / 4):
        how = f"all {asked:,} requests asked natively, within {cycles} cycles, one under way"
        return Outcome(PROVED, f"{how}; nothing else counts")
    if room == 1 and (alone := one_by_one(design, given, cycles, seconds)) is not None:
        return alone.outcome
    # what was measured is perhaps not the longest; and some look at a request in the cycles before they take
    # it
    for longest, stays in ((cycles, False), (MORE * cycles, False), (MORE * cycles, True)):
        bench = benches.handshakes(design, given, longest, room, stays)
        how = f"within {longest} cycles, {room} under way" + (OF_SUCH_AS_STAY if stays else "")
        found = decide(bench, left(), how=how)
        if found.verdict != REFUTED:
            break
    return found


def _held(design: benches.Stream, sources: Mapping[str, int], room: int, seconds: float) -> Outcome:
    """That an answer stays until it is taken, by the registers that it is read from."""
    kept = decide(benches.held(design, sources), seconds / 4, 2)
    if kept.verdict != PROVED:  # perhaps in states alone that move the registers behind the handshakes
        pace = behind_handshakes(design)
        if pace and decide(benches.held(design, pace, room), seconds / 4).verdict == PROVED:
            kept = decide(benches.held(design, sources, known=pace), seconds / 4, 2)
    if kept.verdict != PROVED:
        kept = decide(benches.held(design, sources, room), seconds / 2)
    if kept.verdict == REFUTED:  # a register that the answer does not show may move
        kept = decide(benches.held(design, {}, room), seconds / 2)
    return kept


def _determined(design: benches.Stream, seconds: float) -> bool:
    """Whether the handshakes between a request and its answer depend on this request alone.

    Registers of two copies that took the same request are the same, in whatever states the copies were, and
    stay so until the answer, whatever the streams say.
    """
    registers, _ = behind(design, OUTPUTS, through=True)
    control = {name: nbits for name, nbits in behind_handshakes(design).items() if nbits <= MOST_NARROW}
    values = [(name, value) for name, nbits in control.items() for value in range(1 << nbits)]
    share = seconds / 4 / max(1, len(values))
    unreached = [
        (name, value)
        for name, value in values
        if decide(benches.never(design, name, value), share).verdict == PROVED
    ]
    asked = (
        (benches.alone(design, (), registers), 2),
        (benches.steady(design, registers, True, unreached), 2),
        (benches.between(design), None),
    )
    return all(decide(bench, seconds / 4, cycles).verdict == PROVED for bench, cycles in asked)


def in_a_row(
    design: benches.Stream, parts: Sequence[tuple[str, benches.Stream]], cycles: int, seconds: float
) -> Outcome | None:
    """Prove units in series, each with one request in flight; None if that cannot be proved.

    Static ports of a unit in a row change while it is at work: they may have nothing to do with what its
    streams say.
    """
    left = countdown(seconds)
    names = [name for name, _ in parts]
    if not parts or decide(benches.passed_on(design, names), seconds / 4, 1).verdict != PROVED:
        return None
    stays = False
    for _, part in parts:
        named = behind(part, PACE, through=True)[1] | behind(part, ANSWER, through=False)[1]
        if named.intersection(name for name, _ in part.ports.statics):
            return None
        found = protocol(part, (), cycles, 1, left())
        if found.verdict != PROVED:
            return None
        stays = stays or OF_SUCH_AS_STAY in found.how
    how = f"a row of {', '.join(names)}, each by itself, within {MORE * cycles} cycles"
    return Outcome(PROVED, how + (OF_SUCH_AS_STAY if stays else ""))


@dataclass(frozen=True)
class OneByOne:
    """Control state of a stream with one request in flight, from accepting one request to accepting the next,
    without the data.

    The handshakes hang on few registers. Those that a reset sets, and that have these values whenever a
    request can be taken, are where it begins, and all others have any value; and as an answer waits until it
    is taken, and behind it a request can be taken at once, it may be taken as soon as it is offered.
    """

    begins: Mapping[str, int]  # registers with their values
    cycles: int  # to an answer
    outcome: Outcome
    looks: bool = False  # at a request before it is taken

    def same_time(self, design: benches.Stream, secret: benches.Secret, seconds: float) -> Outcome:
        """Decide whether two copies answer in the same cycle requests that differ in the secret.

        They are then ready in the same cycle again.
        """
        initial = {f"{copy}.{name}": value for copy in ("one", "two") for name, value in self.begins.items()}
        bench = benches.same_latency(design, secret, self.looks)
        found = decide(bench, seconds, self.cycles + 2, initial=initial)
        how = f"SAT, {self.cycles + 2} cycles of two machines side by side from where they can take a request"
        how += OF_SUCH_AS_STAY if self.looks else ""
        # from what a register is left with that no reset sets, perhaps
        return replace(found, verdict=PROVED if found.verdict == PROVED else UNDECIDED, how=how)


def one_by_one(design: benches.Stream, given: Sequence[str], cycles: int, seconds: float) -> OneByOne | None:
    """None where that is not proved, neither of all requests nor of such as stay until they are taken."""
    left = countdown(seconds)
    sources = behind_handshakes(design)
    # one that depends on the inputs at once comes perhaps because it is not taken
    if not sources or answered_at_once(design)[1]:
        return None
    values = {name: value for name, value in _reset(design).items() if name in sources}
    return _one_by_one(design, given, cycles, left() * 2 / 3, sources, values, looks=False) or _one_by_one(
        design, given, cycles, left(), sources, values, looks=True
    )


def _one_by_one(
    design: benches.Stream,
    given: Sequence[str],
    cycles: int,
    seconds: float,
    sources: Mapping[str, int],
    values: Mapping[str, tuple[int, int]],
    looks: bool,
) -> OneByOne | None:
    """sources: the registers behind the handshakes. values: of these, what a reset sets. looks: of requests
    that are looked at first, and stay.
    """
    left = countdown(seconds)
    # control holds it whatever data are, if one looks like the other by its width
    data = [f"unit.{name}" for name, nbits in sources.items() if nbits > MOST_NARROW]
    rests = benches.between(design, looks)
    if all(decide(rests, left() / 5, free=free).verdict != PROVED for free in ([data, []] if data else [[]])):
        return None
    begins = {name: values[name][0] for name in _settled(design, values, left() / 2, looks)}
    initial = {f"unit.{name}": value for name, value in begins.items()}
    for longest in (cycles, 2 * cycles, MORE * cycles):
        bench = (benches.one_looked_at if looks else benches.one_request)(design, given, longest)
        found = decide(bench, left(), longest + 2, initial=initial)
        if found.verdict == UNDECIDED:
            break
        if found.verdict == PROVED:
            how = (
                f"SAT, {longest + 2} cycles from where a request can be taken, by invariants (PDR) of "
                f"{len(sources)} registers behind the handshakes; within {longest} cycles, one under way"
            )
            how += OF_SUCH_AS_STAY if looks else ""
            return OneByOne(begins, longest, Outcome(PROVED, how), looks)
    return None


def _answers(own: StreamUnit, verilog: str, seconds: float, report: Report) -> Outcome:
    if own.too_many or not own.count:
        return Outcome(UNDECIDED, own.too_many or "no operands meet what is assumed")
    wrong, latest = _asked(own, verilog, report)
    if wrong is not None:
        return Outcome(REFUTED, "asked natively", [wrong])
    bound = "in each" if own.said.constant else "at most"
    how = f"all {own.count:,} operands asked natively, {latest} cycles {bound}; nothing else counts"
    nothing_else = _alone(own, verilog, latest, seconds)
    if nothing_else.verdict != PROVED:
        return Outcome(UNDECIDED, f"{how}: not shown ({nothing_else.how})")
    return Outcome(PROVED, f"{how} ({nothing_else.how})")


def _alone(own: StreamUnit, verilog: str, cycles: int, seconds: float) -> Outcome:
    """That an answer comes of its request and the static ports alone."""
    design = replace(own.design, verilog=verilog)
    parts = parts_of(own.unit, verilog, own.said.parts)
    if not parts:
        return alone(design, own.said.conditions, cycles, seconds)
    found = decide(benches.row(design, parts), seconds, 1, how=f"{len(parts)} units in a row")
    for name, part in parts:
        if found.verdict == PROVED:
            outcome = alone(part, (), cycles, seconds)
            found = found if outcome.verdict == PROVED else replace(outcome, how=f"{name}: {outcome.how}")
    return found


def alone(design: benches.Stream, given: Sequence[str], cycles: int, seconds: float) -> Outcome:
    """The same of a unit that has one request under way at a time: in two cycles from any states, or in those
    of an answer.
    """
    if inputs := answered_at_once(design)[1]:
        return Outcome(UNDECIDED, f"the answer depends on {inputs} at once")
    sources, _ = behind(design, OUTPUTS, through=True)
    found = decide(benches.alone(design, given, sources), seconds / 4, 2)
    if found.verdict == PROVED:
        found = decide(benches.steady(design, sources), seconds / 4, 2)
    if found.verdict != PROVED:  # what is left over from before is there, and is not read
        found = _same_answer(design, given, cycles, seconds / 2)
    return found


def _same_answer(design: benches.Stream, given: Sequence[str], cycles: int, seconds: float) -> Outcome:
    """From all states in which a request can be taken: registers that a reset sets have some value, the
    others any.
    """
    left = countdown(seconds)
    cases = itertools.product(_states(design, seconds / 2), (0, 1))
    for (one, waits), (two, waits_other) in itertools.combinations_with_replacement(cases, 2):
        bench = benches.same_answer(design, given, cycles, (waits, waits_other))
        copies = (("one", one), ("two", two))
        initial = {f"{copy}.{name}": value for copy, values in copies for name, value in values.items()}
        found = decide(bench, left(), cycles + 1, initial=initial)
        if found.verdict != PROVED:
            break
    return found


def _states(design: benches.Stream, seconds: float) -> Iterator[dict[str, int]]:
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


def behind_handshakes(design: benches.Stream) -> dict[str, int]:
    """Return the registers that handshakes depend on, with their bits; empty if one of them has no usable
    name.
    """
    try:
        return behind(design, PACE, through=True)[0]
    except BadInput:
        return {}


def _reset(design: benches.Stream) -> dict[str, tuple[int, int]]:
    """Registers that a reset sets: to what, and their bits."""
    return registers.resets(design.verilog, design.top)


def _settled(
    design: benches.Stream, values: Mapping[str, tuple[int, int]], seconds: float, looks: bool = False
) -> list[str]:
    """Return the registers that hold their reset value whenever a request can be accepted and is not read
    yet.
    """
    if not values or decide(benches.idle(design, values, looks=looks), seconds / 2).verdict == PROVED:
        return list(values)
    share = seconds / 2 / len(values)
    return [
        name
        for name, value in values.items()
        if decide(benches.idle(design, {name: value}, looks=looks), share).verdict == PROVED
    ]


def behind(
    design: benches.Stream, ports: Sequence[str], through: bool
) -> tuple[dict[str, int], frozenset[str]]:
    """Registers from which outputs are computed, and inputs."""
    return registers.read(design.verilog, design.top).behind(ports, through)


def answered_at_once(design: benches.Stream) -> tuple[dict[str, int], str]:
    """Registers that an answer is read from, and inputs beside static ports that change it in their cycle."""
    sources, inputs = behind(design, ANSWER, through=False)
    named = ", ".join(sorted(inputs - {name for name, _ in design.ports.statics}))
    if named and decide(benches.at_once(design, sources), AT_ONCE_S, 1).verdict == PROVED:
        named = ""  # there is a way from them, but not while an answer is offered
    return sources, named


def _asked(own: StreamUnit, verilog: str, report: Report) -> tuple[dict[str, int] | None, int]:
    """The first operands with a wrong answer or latency, and the cycles that an answer took at most."""
    done, latest, promised = 0, 0, own.said.cycles
    with Rewritten(own.unit, verilog) as simulation:
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
            done += len(sweep)
            report(done, own.count)
    return None, latest


def _wrong(own: StreamUnit, sweep: Sweep, answers: tuple[Words, ...], at: int) -> dict[str, int]:
    told: Statics = dict(sweep.statics)
    for kind, words, single in (
        (own.ports.request, sweep.fields, ALONE),
        (own.ports.response, answers, "answer"),
    ):
        names = [name for name, _ in kind.fields] or [single]
        told |= {name: int(word[at]) for name, word in zip(names, words, strict=True)}
    return told
