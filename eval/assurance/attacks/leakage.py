"""Leakage assessment: a fixed secret against random ones, by simulated power (welch.py), natively at RTL.

Operations of both classes come in random order and without a reset in between, with fresh random numbers if
the machine blinds. Public fields are drawn anew for each operation unless they are held (operands.py), and
every answer is compared with Python's pow or with `fl`. The secret is the exponent, the message or, for an
accelerator outside the catalogue, the secret fields.

A random public operand can hide a secret from this test, as in a sum, and a held one can miss it. The power
of an accelerator outside the catalogue is therefore tested twice, with drawn and with held public fields, and
the stronger evidence counts. For an RSA machine the user chooses, by the option --message.

Times are compared exactly (timing.py), and a timing leak is reported before any other. If a machine blinds,
its random numbers may change the cycles, and the distributions of both classes must agree.

Cycles in which a secret necessarily appears unmasked are not judged: those that load operands; in a program
that blinds, the microinstructions that apply the mask; computations with the public exponent; for messages,
what follows the unmasking, since the result reveals the message; and clearing. Their t values are reported
all the same, for each part of the program (rsa_leakage.py).
"""

import random
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ....fl.accelerator import Message
from ....fl.errors import BadInput
from ....rtl.sim.campaigns.leak import IGNORED, MEASURES, Campaign, Watched
from ...designs.runnable import Runnable
from ...errors import NoMeasurement
from ...json_values import json_number
from ...progress import after
from .operands import FieldOperands, Operands
from .timing import TimeLeak, Timing, TimingTest
from .welch import CLASSES, FIXED, HALVES, RANDOM, THRESHOLD, Point, apart, kind_of, point_of

if TYPE_CHECKING:
    from .netlist_power import NetlistCampaign

TOGGLES = "toggles"  # of all nets of the netlist
MODELS = (*MEASURES, TOGGLES)
LEAST_TRACES = 40  # enough for some of each class in each half
MOST_POINTS = 2_000_000  # registers times cycles; above this, registers are not distinguished
NOTHING: Mapping[str, int] = MappingProxyType({})
BATCH = 2000  # operations that are prepared at a time
LOAD, COMPUTE = "loading the operands", "the computation"  # parts of an operation


class Operation(NamedTuple):
    """A request, its expected response, and its class."""

    request: Message
    golden: Message | None  # None: the response of `fl`
    which: int


@dataclass(frozen=True)
class Comparison:
    """An accelerator, and the requests of two classes that differ in a secret."""

    machine: Runnable
    seed: int
    secret: str  # its name in the report
    message: str  # the message in the report: random or fixed
    words: str  # the secret in a sentence
    title: str  # the two classes, in words
    promise: str  # whether the machine promises constant time, in a sentence
    operands: Operands
    cycles: Callable[[Message], int]  # of a request, at most
    parts: Sequence[str] = (LOAD, COMPUTE)  # of an operation, in the order in which they are listed
    excused: Collection[str] = (LOAD,)  # the parts that are not judged
    computation: str = COMPUTE  # the part after loading, if the machine executes no program
    loading_cycles: int = 0  # before a request is accepted
    # the part and the microinstruction of each cycle of a request, if the machine executes a program
    executed: Callable[[Message], tuple[list[str], list[str]]] | None = None
    blinded: bool = False  # random numbers that the machine draws may change its cycles
    held_for_power: Mapping[str, Any] = field(default_factory=dict)  # public fields, in the power test alone
    also_held: bool = False  # a second power test holds all public fields

    def power_tests(self) -> "list[Comparison]":
        """This comparison and, if public fields are drawn that may hide the secret, one that holds them."""
        if not self.also_held or not self.operands.drawn:
            return [self]
        values = self.operands.usual(random.Random(f"held {self.text}"), self.operands.held)
        return [self, replace(self, held_for_power={name: values[name] for name in self.operands.drawn})]

    @property
    def text(self) -> str:
        """The seed of all random values."""
        return f"{self.machine.nbits} {self.seed}"

    def operations(self) -> Iterator[Operation]:
        """An endless stream of operations of random classes."""
        draw, operands = random.Random(self.text), self.operands
        held = {**operands.held, **self.held_for_power}
        fixed = operands.secret_of(operands.usual(draw, held))
        while True:
            which = draw.choice(CLASSES)
            # the public fields of both classes must have the same distribution
            values = operands.usual(draw, held | fixed)
            if which == RANDOM:
                values = operands.usual(draw, operands.public_of(values))
            yield Operation(operands.request(values), operands.golden(values), which)


def compared_fields(machine: Runnable, seed: int = 1, public: Mapping[str, int] = NOTHING) -> Comparison:
    """Compare the secret fields of any accelerator; public: fields that have one value in all operations."""
    machine.require_no_memory("which this attack does not drive yet; attack an accelerator without them")
    if not machine.secret:
        first, *_ = dict(machine.shape.request)
        remedy = f'name them in its class, as in secret = ("{first}",)'
        if not machine.design.is_python:
            remedy = "a manifest cannot name any; give an accelerator in Python"
        raise BadInput(f"{machine.name} has no secret fields, of which something could leak; {remedy}")
    operands = FieldOperands(machine)
    operands.hold(public)
    listed = ", ".join(machine.secret)
    words = f"{'field' if len(machine.secret) == 1 else 'fields'} {listed}"
    same = f"yes: the same number of cycles for all {listed}"
    return Comparison(
        machine,
        seed,
        secret=listed,
        message="random",
        words=words,
        title=f"{words} fixed against random",
        promise=same if machine.constant_time else f"no: nothing is promised for {listed}",
        operands=operands,
        cycles=lambda request: machine.most_cycles([request]),
        also_held=True,
    )


class Told(NamedTuple):
    """A register or a part of an operation, and its strongest cycle."""

    name: str
    cycle: int
    point: Point
    over: int  # cycles in which it leaks
    cycles: int
    judged: bool = True

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "judged": self.judged,
            "leaks": self.over > 0,
            "cycles": self.cycles,
            "cycles_over": self.over,
            "max_t": round(abs(self.point.both), 2),
            "worst_cycle": self.cycle,
        }


@dataclass(frozen=True)
class Assessment:
    """The verdict on a machine, and the measurements behind it."""

    compared: Comparison
    measure: str
    traces: int
    tests: int  # of the power, each with so many operations; the strongest evidence is here
    lengths: list[list[int]]  # cycles of operations, by kind
    timing: Timing | None  # the comparison of times; None if the machine blinds
    curve: list[Point]
    registers: dict[str, list[Point]]
    part_of: list[str]  # by cycle
    word_of: list[str]  # by cycle; empty without a program, or if operations differ in length
    seconds: float  # CPU time

    def judged(self, cycle: int) -> bool:
        """Whether the secret must not show in this cycle."""
        return self.part_of[cycle] not in self.compared.excused

    @cached_property
    def judged_cycles(self) -> list[int]:
        return [cycle for cycle in range(len(self.curve)) if self.judged(cycle)]

    # ---- time

    @cached_property
    def cycles_of(self) -> list[list[int]]:
        """The different lengths of operations, by class."""
        return [
            sorted(set().union(*(self.lengths[kind_of(which, half)] for half in HALVES))) for which in CLASSES
        ]

    @cached_property
    def time(self) -> list[float]:
        """The distance between the cycles of both classes in each half; above 1 it is significant."""
        return [apart(*(self.lengths[kind_of(which, half)] for which in CLASSES)) for half in HALVES]

    @property
    def time_leak(self) -> TimeLeak | None:
        """Two streams of operations that differ in the secret alone, and in time."""
        return self.timing.leak if self.timing is not None else None

    @property
    def time_leaks(self) -> bool:
        """The secret changes the cycles of an operation or, if the machine blinds, their distribution."""
        return self.time_leak is not None if self.timing is not None else min(self.time) > 1

    # ---- power

    @property
    def power_leaks(self) -> bool:
        return any(self.curve[cycle].leaks for cycle in self.judged_cycles)

    @property
    def leaks(self) -> bool:
        """Whether the machine leaks, by timing or by power."""
        return self.time_leaks or self.power_leaks

    @cached_property
    def worst(self) -> int:
        """The judged cycle with the strongest evidence."""
        cycles = self.judged_cycles or range(len(self.curve))
        return max(cycles, key=lambda cycle: _strength(self.curve[cycle]))

    def half(self, half: int) -> tuple[float, int]:
        """The largest t in the judged cycles of a half, and its cycle."""
        found = ((abs(self.curve[cycle][1 + half]), cycle) for cycle in self.judged_cycles)
        return max(found, default=(0.0, 0))

    def blame(self) -> list[tuple[str, Point]]:
        """The registers that leak in the worst cycle, strongest first."""
        points = ((name, curve[self.worst]) for name, curve in self.registers.items())
        found = [(name, point) for name, point in points if point.leaks]
        return sorted(found, key=lambda part: -abs(part[1].both))

    def alone(self) -> list[Told]:
        """Registers that leak in judged cycles if each is probed alone."""
        told = (_told(name, curve, self.judged_cycles) for name, curve in self.registers.items())
        return sorted((item for item in told if item.over), key=lambda item: -abs(item.point.both))

    def parts(self) -> list[Told]:
        """The parts in the order of the program; the same part of two exponentiations counts as one."""
        found = []
        for part in self.compared.parts:
            if cycles := [cycle for cycle, item in enumerate(self.part_of) if item == part]:
                told = _told(part, self.curve, cycles)
                found.append(told._replace(judged=part not in self.compared.excused))
        return found

    @property
    def rate(self) -> float:
        """Operations per second of CPU time."""
        return self.traces / self.seconds if self.seconds else 0.0

    def as_json(self) -> dict[str, Any]:
        """The assessment as JSON, for scripts."""
        worst = self.curve[self.worst]
        return {
            "fixed": self.compared.secret,
            "message": "fixed and random" if self.compared.secret == "message" else self.compared.message,
            "model": self.measure,
            "seed": self.compared.seed,
            "traces": self.traces,
            "leaks": self.leaks,
            "max_t": round(abs(worst.both), 2),
            "worst_cycle": self.worst,
            "worst_word": self.word_of[self.worst],
            "threshold": THRESHOLD,
            "halves": [{"max_t": round(t, 2), "worst_cycle": cycle} for t, cycle in map(self.half, HALVES)],
            "cycles": len(self.curve),
            "cycles_over": sum(self.curve[cycle].leaks for cycle in self.judged_cycles),
            "time": {
                "leaks": self.time_leaks,
                "apart": [round(distance, 2) for distance in self.time],
                "by_the_secret_alone": sorted(self.time_leak.cycles) if self.time_leak else [],
                "fixed": _span(self.cycles_of[FIXED]),
                "random": _span(self.cycles_of[RANDOM]),
                **(self.timing.as_json(self.compared.machine.shape.request) if self.timing else {}),
            },
            "public": {
                "drawn": self.compared.operands.drawn,
                "held": self.compared.operands.held_as_json(),
                "held_for_power": {
                    name: json_number(value) for name, value in self.compared.held_for_power.items()
                },
            },
            "power_tests": self.tests,
            "parts": [part.as_json() for part in self.parts()],
            "blame": [{"register": name, "t": round(point.both, 2)} for name, point in self.blame()],
            "registers_alone": [finding.as_json() for finding in self.alone()],
            "seconds": round(self.seconds, 2),
            "traces_per_second": round(self.rate),
        }


def _span(lengths: Sequence[int]) -> list[int]:
    """The first and the last of these sorted lengths; empty if there are none."""
    return [lengths[0], lengths[-1]] if lengths else []


def _strength(point: Point) -> tuple[bool, float]:
    """Sort key: leaks before points that do not leak."""
    return point.leaks, abs(point.both)


def _told(name: str, curve: Sequence[Point], cycles: Sequence[int]) -> Told:
    worst = max(cycles, key=lambda cycle: _strength(curve[cycle]), default=0)
    return Told(name, worst, curve[worst], sum(curve[cycle].leaks for cycle in cycles), len(cycles))


def assess(
    compared: Comparison,
    traces: int,
    measure: str = MEASURES[0],
    progress: Callable[[int, int], None] = lambda *_: None,
    adk: Path | None = None,
) -> Assessment:
    """Run the test with this many operations: on the netlist of a kit if the measure is `toggles`, otherwise
    on the registers at RTL.
    """
    if traces < LEAST_TRACES:
        raise BadInput(
            f"{traces} traces are too few to compare two classes in two halves; give {LEAST_TRACES} or more"
        )
    machine = compared.machine
    machine.require_verilog()
    first = next(compared.operations())
    # times are compared at RTL, whose cycles are those of the netlist
    watched = Watched(machine.rtl()) if measure != TOGGLES or not compared.blinded else None
    timing = None
    if watched is not None and not compared.blinded:
        longest = max(machine.longest, 2 * compared.cycles(first.request))
        timing = TimingTest(watched, compared.operands, longest, compared.text).run(traces)
    tests = compared.power_tests()
    found = []
    for number, test in enumerate(tests):
        campaign = _campaign(test, measure, first.request, watched, adk)
        said = after(progress, number * traces, len(tests) * traces)
        found.append(_assessed(test, traces, measure, campaign, timing, said))
    strongest = max(found, key=lambda item: (item.power_leaks, abs(item.curve[item.worst].both)))
    return replace(strongest, tests=len(tests))


def _assessed(
    compared: Comparison,
    traces: int,
    measure: str,
    campaign: "Campaign | NetlistCampaign",
    timing: Timing | None,
    progress: Callable[[int], None],
) -> Assessment:
    """The evidence of one power test."""
    machine, operations = compared.machine, compared.operations()
    first = next(operations)
    with campaign:
        respond = machine.responder()  # one for all operations, since state persists between them

        def run(
            operations: Sequence[Operation], kinds: Sequence[int], told: Callable[[int], None] | None = None
        ) -> None:
            """Add the operations to the campaign if their answers are right."""
            longest = max(compared.cycles(operation.request) for operation in operations)
            requests = [operation.request for operation in operations]
            answers, _ = campaign.run(requests, kinds, longest, told)
            for (request, golden, _), answer in zip(operations, answers, strict=True):
                if answer != (right := respond(request) if golden is None else golden):
                    raise NoMeasurement(
                        f"{machine.name} answered {answer} and not {right} to {request}: "
                        "nothing is measured on a wrong one"
                    )

        run([first], [IGNORED])
        start = time.process_time()
        for done in range(0, traces, BATCH):
            batch = [next(operations) for _ in range(min(BATCH, traces - done))]
            kinds = [kind_of(item.which, 2 * (done + at) // traces) for at, item in enumerate(batch)]
            run(batch, kinds, partial(_forward, progress, done))
        seconds = time.process_time() - start
        part_of, word_of = _placed(compared, first.request, campaign)
        if measure == TOGGLES:  # until the next edge, logic switches on the values stored at the last one
            part_of[campaign.taken + 1] = LOAD
        return Assessment(
            compared,
            measure,
            traces,
            1,
            campaign.lengths,
            timing,
            [point_of(kinds) for kinds in campaign.curve()],
            {name: [point_of(kinds) for kinds in campaign.curve(name)] for name in campaign.groups},
            part_of,
            word_of,
            seconds,
        )


def _forward(progress: Callable[[int], None], done: int, more: int) -> None:
    """Report progress of a batch that begins after `done` operations."""
    progress(done + more)


def _campaign(
    compared: Comparison, measure: str, request: Message, watched: Watched | None, adk: Path | None
) -> "Campaign | NetlistCampaign":
    """A campaign on the netlist, or on the registers at RTL."""
    if measure == TOGGLES:
        from .netlist_power import NetlistCampaign  # not at the top: it imports the flow

        return NetlistCampaign(compared.machine.rtl(), compared.loading_cycles, adk)
    assert watched is not None
    points = len(watched.names) * compared.cycles(request)
    return watched.campaign(measure, coarse=points > MOST_POINTS)


def _placed(
    compared: Comparison, request: tuple[int, ...], campaign: "Campaign | NetlistCampaign"
) -> tuple[list[str], list[str]]:
    """The part of the operation and the microinstruction of each cycle, if all take the same time."""
    cycles = campaign.cycles
    same = len(set().union(*campaign.lengths)) == 1
    if compared.executed is None or not same:
        loads = min(cycles, campaign.taken + 1)
        return [LOAD] * loads + [compared.computation] * (cycles - loads), [""] * cycles
    found, words = compared.executed(request)
    assert len(found) == cycles, (len(found), cycles)
    return found, words
