"""The units of a design, each held against its mathematics: contracts without registers, streams by their handshakes and answers.

A stream's answers are proved in two parts. Two copies in any two states that take the same request have the same in all registers that
decide what comes; and while it computes, what its streams say makes no difference to these. So what a unit answers depends on the request
alone, and it is enough to ask it every request once, which is done natively.
"""

from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pymtl3 import Component

from ....flow.prove import assertions, registers
from ....flow.prove.mutants import mutants
from ....flow.prove.report import PROVED, REFUTED, UNDECIDED
from ....rtl.sim.base import Options, Simulation
from ....rtl.sim.harness import harness
from ....rtl.sim.native import DRIVER, NativeSimulation
from ....rtl.sim.nativemodel import NativeModel
from ....rtl.sim.ports import Ports
from ....rtl.sim.protocol import BrokenPromise, Run, SimulationTimeout, UnexpectedResponse
from ....rtl.sim.translation.translate import top_name, translate
from . import benches
from .answers import ANSWERS, Answers, Statics, Sweep, Words
from .check import Check, Outcome, Report, spent
from .contracts import CONTRACTS, DualHalfAdders, FullAdders, HalfAdders
from .heap_sum import heap_check
from .ports import arguments, inside

UNIT = "units"
UNITS = f"{__package__.partition('.')[0]}.rtl.units."  # what stands elsewhere is control around them
NO_CONTRACT = Outcome(UNDECIDED, "there is no contract for it; units inside it have their own", 0.0)
MOST_OPERANDS = 1 << 23  # that are asked
MOST_LISTED = 1 << 26
ROOM_SAMPLE = 12  # requests that are offered while no answer is taken
STALLED = 400  # cycles of that
MORE = 4  # times the cycles that were measured, before a unit is said to be too late
MUTANTS = 4  # of a unit
ANSWER = ("ostream__val", "ostream__msg")
OUTPUTS = (*ANSWER, "istream__rdy")
BITWISE = (FullAdders, HalfAdders, DualHalfAdders)  # all of their bits are alike: the widest stands for all


def unit_checks(machine: Component) -> Iterator[Check]:
    """Of all that an elaborated machine instantiates, each once; a unit without a contract of its own, nor inside one that has, is told."""
    told: set[int] = set()  # units, and all that is inside them is theirs
    for unit in _different(machine):
        name = _name(unit)
        found = list(_checks(name, unit))
        yield from found
        inner = any(id(each) in told for each in _around(unit))
        if not found and not inner and type(unit).__module__.startswith(UNITS):
            yield Check(name, UNIT, "", lambda *_: NO_CONTRACT)
        if found or type(unit).__module__.startswith(UNITS):
            told.add(id(unit))


def _checks(name: str, unit: Component) -> Iterator[Check]:
    """Of a unit by its class."""
    kind = type(unit)
    if kind in CONTRACTS:
        yield _contract_check(name, unit)
    elif (said := ANSWERS[kind](unit) if kind in ANSWERS else None) is not None:
        yield from _stream_checks(name, unit, said)
    elif (check := heap_check(name, unit)) is not None:
        yield check


def _around(unit: Component) -> Iterator[Component]:
    """What it is inside."""
    while (parent := unit.get_parent_object()) is not None:
        yield parent
        unit = parent


def fresh(unit: Component) -> Component:
    """The same unit on its own, elaborated."""
    made = type(unit)(*unit._dsl.args, **unit._dsl.kwargs)
    made.elaborate()
    return made


def _different(machine: Component) -> list[Component]:
    found: dict[object, Component] = {}
    for unit in inside(machine):
        kind = type(unit)
        if kind in BITWISE:
            before = found.setdefault(kind, unit)
            if arguments(before)["count"] < arguments(unit)["count"]:
                found[kind] = unit
        else:
            found.setdefault((kind, repr(arguments(unit))), unit)
    return list(found.values())


def _name(unit: Component) -> str:
    """The class, and the parameters that are numbers, words or switches that are on."""
    words = [
        (f"{name}={value}" if not isinstance(value, bool) else name).replace("_", "-")
        for name, value in arguments(unit).items()
        if isinstance(value, int | str) and value not in (False, "")
    ]
    return " ".join([type(unit).__name__, *words])


# ---- units without registers


def _contract_check(name: str, unit: Component) -> Check:
    @functools.cache
    def text() -> tuple[Component, str]:
        made = fresh(unit)
        return made, translate(made)

    def run(seconds: float, _: Report, verilog: str | None = None) -> Outcome:
        made, own = text()
        said = CONTRACTS[type(unit)](made)
        bench = benches.contract(verilog or own, top_name(made), made, said)
        cycles = 2 if said.registers else None
        found = decided(bench, seconds, cycles)
        if found.verdict == PROVED and said.given:  # conditions that exclude each other would prove anything
            false = benches.contract(verilog or own, top_name(made), made, replace(said, holds=("0",)))
            if decided(false, seconds, cycles).verdict != REFUTED:
                return replace(found, verdict=UNDECIDED, how="no inputs are known that meet what is assumed")
        inputs = [
            {name.removesuffix(benches.PIN): value for name, value in each.items()}
            for each in found.counterexample
        ]
        return replace(found, counterexample=inputs)

    def changed() -> list[Check]:
        made, own = text()
        found = itertools.islice(mutants(own, top_name(made)), MUTANTS)
        return [
            Check(f"{name}: {each.what}", UNIT, "", functools.partial(run, verilog=each.text))
            for each in found
        ]

    return Check(name, UNIT, CONTRACTS[type(unit)](unit).says, run, changed)


def decided(bench: str, seconds: float, cycles: int | None = None, how: str = "") -> Outcome:
    """What flow/prove finds of a bench."""
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        return Outcome.of(assertions.decide(bench, Path(directory), seconds=seconds, cycles=cycles), how)


# ---- units with streams


class Rewritten(NativeSimulation):
    """A unit in native simulation by a text that is given, which may have been changed."""

    def __init__(self, unit: Component, verilog: str) -> None:
        self.ports = Ports.of(unit)
        self._model = NativeModel(verilog + harness(top_name(unit), self.ports), DRIVER, Options())


@dataclass(frozen=True)
class StreamUnit:
    """A unit, elaborated, with its text and what it is to answer."""

    unit: Component
    verilog: str
    said: Answers

    @property
    def design(self) -> benches.Stream:
        return benches.Stream(self.verilog, top_name(self.unit), Ports.of(self.unit))

    def simulation(self) -> Simulation:
        return Rewritten(self.unit, self.verilog)

    def measured(self, simulation: Simulation) -> tuple[int, int]:
        """Cycles that some answers took at most, and how many requests were taken while none was: what a proof then confirms."""
        sweep = next(iter(self.said.sweeps()))
        sweep = _last(self.said) if len(sweep) < ROOM_SAMPLE else sweep
        requests = _requests(sweep)[-ROOM_SAMPLE:]
        stalled = simulation.run(
            requests, statics=sweep.statics, sink_delays=[STALLED, *[0] * (len(requests) - 1)]
        )
        return max(self._run(simulation, _last(self.said)).latencies), sum(
            each < stalled.done[0] for each in stalled.accepted
        )

    def _run(self, simulation: Simulation, sweep: Sweep) -> Run:
        return simulation.run(_requests(sweep), statics=sweep.statics)


def _last(said: Answers) -> Sweep:
    """The largest modulus, whose operands are the most."""
    for sweep in said.sweeps():
        last = sweep
    return Sweep(last.statics, tuple(each[-4096:] for each in last.fields))


def _requests(sweep: Sweep) -> list[int | tuple[int, ...]]:
    columns = [each.tolist() for each in sweep.fields]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def _stream_checks(name: str, unit: Component, said: Answers) -> Iterator[Check]:
    @functools.cache
    def own() -> StreamUnit:
        made = fresh(unit)
        return StreamUnit(made, translate(made), said)

    def changed(run: Callable[..., Outcome], kind: str) -> list[Check]:
        unit = own()
        found = itertools.islice(mutants(unit.verilog, top_name(unit.unit)), MUTANTS)
        return [
            Check(
                f"{name} {kind}: {each.what}",
                UNIT,
                "",
                functools.partial(run, changed=replace(unit, verilog=each.text)),
            )
            for each in found
        ]

    def handshakes(seconds: float, _: Report, changed: StreamUnit | None = None) -> Outcome:
        return _handshakes(own(), seconds, changed)

    def answers(seconds: float, report: Report, changed: StreamUnit | None = None) -> Outcome:
        return _answers(own(), seconds, report, changed)

    promised = "each request one answer, held until taken, in a bounded time"
    yield Check(f"{name} handshakes", UNIT, promised, handshakes, lambda: changed(handshakes, "handshakes"))
    yield Check(f"{name} answers", UNIT, said.says, answers, lambda: changed(answers, "answers"))


def _handshakes(own: StreamUnit, seconds: float, changed: StreamUnit | None) -> Outcome:
    began = spent()
    if own.said.count > MOST_LISTED:
        how = f"{own.said.count:,} operands, of which the slowest are not known; take fewer bits, or --check protocol"
        return Outcome(UNDECIDED, how, 0.0)
    with own.simulation() as simulation:
        cycles, room = own.measured(simulation)
    found = protocol((changed or own).design, own.said.given, cycles, room, seconds - (spent() - began))
    return replace(found, seconds=spent() - began)


def protocol(design: benches.Stream, given: Sequence[str], cycles: int, room: int, seconds: float) -> Outcome:
    """That a stream keeps its handshakes: answers are held, there is one for each request, within so many cycles."""
    began = spent()
    sources, inputs = behind(design, ANSWER, through=False)
    if inputs:
        return Outcome(UNDECIDED, f"the answer depends on {inputs} at once", spent() - began)
    kept = decided(benches.held(design, sources, from_reset=False), max(1.0, seconds / 4), 2)
    if kept.verdict != PROVED:  # in states that are never reached, perhaps
        kept = decided(benches.held(design, sources, from_reset=True), max(1.0, seconds / 2))
    if kept.verdict == REFUTED:  # a register that the answer does not show may move
        kept = decided(benches.held(design, {}, from_reset=True), max(1.0, seconds / 2))
    if kept.verdict != PROVED:
        return replace(kept, how=f"an answer that is not taken: {kept.how}")
    for longest in (cycles, MORE * cycles):  # what was measured is perhaps not the longest
        bench = benches.handshakes(design, given, longest, room)
        how = f"within {longest} cycles, {room} under way"
        found = decided(bench, max(1.0, seconds - (spent() - began)), how=how)
        if found.verdict != REFUTED:
            break
    return replace(found, seconds=spent() - began)


def _answers(own: StreamUnit, seconds: float, report: Report, changed: StreamUnit | None) -> Outcome:
    began = spent()
    said = own.said
    if said.count > MOST_OPERANDS:
        return Outcome(UNDECIDED, f"{said.count:,} operands are too many to ask each; take fewer bits", 0.0)
    with own.simulation() as simulation:
        _, room = own.measured(simulation)
    alone = None
    if room == 1:
        design = (changed or own).design
        if inputs := behind(design, ANSWER, through=False)[1]:
            return Outcome(UNDECIDED, f"the answer depends on {inputs} at once", spent() - began)
        sources, _ = behind(design, OUTPUTS, through=True)
        alone = decided(benches.alone(design, said.given, sources), seconds, 2)
        if alone.verdict == PROVED:
            alone = decided(benches.steady(design, sources), seconds, 2)
    wrong, latest = _asked(changed or own, report)
    if wrong is not None:
        return Outcome(REFUTED, "asked natively", spent() - began, [wrong])
    asked = f"all {said.count:,} operands asked natively, {latest} cycles at most"
    if alone is None:
        how = f"{asked}; {room} are under way at a time, and that they do not touch each other is not shown"
        return Outcome(UNDECIDED, how, spent() - began)
    if alone.verdict != PROVED:
        how = f"{asked}; that nothing else counts is not shown ({alone.how})"
        return Outcome(UNDECIDED, how, spent() - began)
    return Outcome(PROVED, f"{asked}; nothing else counts ({alone.how})", spent() - began)


def behind(design: benches.Stream, ports: Sequence[str], through: bool) -> tuple[dict[str, int], str]:
    """Registers from which outputs are computed, and inputs that are not static."""
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        found = registers.read(design.verilog, design.top, Path(directory))
    sources, inputs = found.behind(ports, through)
    return sources, ", ".join(sorted(inputs - {name for name, _ in design.ports.statics}))


def _asked(own: StreamUnit, report: Report) -> tuple[dict[str, int] | None, int]:
    """The first operands with a wrong answer, and the cycles that an answer took at most."""
    said, done, latest = own.said, 0, 0
    with own.simulation() as simulation:
        for sweep in said.sweeps():
            try:
                run = simulation.run(_requests(sweep), statics=sweep.statics)
            except (SimulationTimeout, UnexpectedResponse, BrokenPromise):
                return {**sweep.statics}, latest
            answers = _fields(run)
            right = said.right(sweep.fields, answers, sweep.statics)
            if not right.all():
                return _wrong(own, sweep, answers, int(np.argmin(right))), latest
            latest = max(latest, max(run.latencies))
            done += len(sweep)
            report(done, said.count)
    return None, latest


def _fields(run: Run) -> tuple[Words, ...]:
    answers = np.array(run.responses, np.int64)
    return tuple(answers.T) if answers.ndim == 2 else (answers,)


def _wrong(own: StreamUnit, sweep: Sweep, answers: tuple[Words, ...], at: int) -> dict[str, int]:
    ports = own.design.ports
    told: Statics = dict(sweep.statics)
    for kind, words, alone in ((ports.request, sweep.fields, "request"), (ports.response, answers, "answer")):
        names = [name for name, _ in kind.fields] or [alone]
        told |= {name: int(each[at]) for name, each in zip(names, words, strict=True)}
    return told
