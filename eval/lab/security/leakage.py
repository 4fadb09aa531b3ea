"""What a machine gives away of a secret: a fixed one against random ones, on simulated power (welch.py), natively at RTL.

Operations of both classes come in random order, each with fresh random numbers where the machine blinds, and every answer is compared with
Python's pow. The secret is the exponent or, with `fixed="message"`, the message. Operations that do not take equally long tell by
that alone, and are said to leak before anything else.

Not judged is where a secret comes in as it is, whatever a machine does afterwards: the cycles in which operands are taken; of a program
that blinds, the words that put the blinding on; what is computed by the public exponent; of messages, what follows when the blinding is
gone, as the result tells the message; and clearing. Their t is told all the same, part by part (fl/program/program_parts.py).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ....fl.errors import BadInput
from ....fl.program.program_parts import Part, parts
from ....rtl.sim.campaigns.leak import IGNORED, MEASURES, Moments, Watched
from ...designs.workloads import some_operands
from ...errors import NoMeasurement
from ...progress import after
from .secrets import drawn_key
from .welch import CLASSES, FIXED, HALVES, RANDOM, THRESHOLD, Point, kind_of, moments_of, point_of

if TYPE_CHECKING:
    from ....fl.rsa_keys import RSAKey
    from ...designs.machine import Machine

SECRETS = ("exponent", "message")
TOGGLES = "toggles"  # of all nets of the netlist
MODELS = (*MEASURES, TOGGLES)
MESSAGES = ("random", "fixed")
LEAST_TRACES = 40  # some of each class in each half
MOST_POINTS = 2_000_000  # cycles of a register; of longer operations registers are not told apart
BATCH = 2000  # operations that are made ready at a time

# what is not judged, by what is secret
EXCUSED = {
    "exponent": {Part.LOAD, Part.BLIND_MESSAGE, Part.BLIND_EXPONENT, Part.CHECK, Part.WIPE},
    "message": {Part.LOAD, Part.BLIND_MESSAGE, Part.RESULT, Part.CHECK, Part.WIPE},
}


class Campaign(Protocol):
    """Operations that were counted: on registers (rtl/sim/campaigns), or on a netlist (netlist_power.py)."""

    groups: list[str]
    lengths: list[list[int]]

    def run(
        self,
        requests: Sequence[Any],
        kinds: Sequence[int],
        longest: int,
        progress: Callable[[int], None] | None = None,
    ) -> list[Any]:
        """The answers of operations that take so many cycles at most."""
        ...

    @property
    def cycles(self) -> int: ...

    @property
    def taken(self) -> int: ...

    def curve(self, group: str | None = None) -> list[list[Moments]]: ...

    def close(self) -> None: ...


class Operation(NamedTuple):
    """A request, what is right, and its class."""

    request: tuple[int, ...]
    golden: int
    which: int


@dataclass(frozen=True)
class Compared:
    """What is fixed and what is drawn."""

    machine: Machine
    secret: str = "exponent"
    message: str = "random"
    seed: int = 1

    def __post_init__(self) -> None:
        if self.secret == "message" and self.message != "random":
            raise BadInput(
                "--message fixed with --fixed message: then nothing is drawn that could differ; drop one of them"
            )

    def operations(self) -> Iterator[Operation]:
        """Without an end; the class of each is drawn."""
        draw = random.Random(f"{self.machine.nbits} {self.seed}")
        made = self._keyed(draw) if self.machine.keyed else self._plain(draw)
        while True:
            yield made(draw.choice(CLASSES))

    def _varies(self, which: int) -> tuple[bool, bool]:
        """Whether exponent and message are drawn in this class."""
        if self.secret == "exponent":
            return which == RANDOM, self.message == "random"
        return False, which == RANDOM

    def _plain(self, draw: random.Random) -> Callable[[int], Operation]:
        """Exponents of the machine's full length: how long an exponent is, many machines show by design."""
        machine = self.machine
        fixed_base, fixed_exp, mod = some_operands(machine)
        top = 1 << (machine.nbits - 1)

        def made(which: int) -> Operation:
            exp_varies, base_varies = self._varies(which)
            exp = draw.getrandbits(machine.nbits) | top if exp_varies else fixed_exp
            base = draw.randrange(mod) if base_varies else fixed_base
            return Operation(machine.carried(base, exp, mod), pow(base, exp, mod), which)

        return made

    def _keyed(self, draw: random.Random) -> Callable[[int], Operation]:
        machine = self.machine
        fixed_key: RSAKey = drawn_key(machine.key, draw)
        fixed_message = draw.randrange(2, fixed_key.n)

        def made(which: int) -> Operation:
            key_varies, message_varies = self._varies(which)
            key = drawn_key(machine.key, draw) if key_varies else fixed_key
            message = draw.randrange(key.n) if message_varies else fixed_message
            assert key.d is not None
            request = machine.programmed.operands(key, message, draw.randrange)
            return Operation(request, pow(message, key.d, key.n), which)

        return made


class Told(NamedTuple):
    """A register, or a part of an operation: where it says most."""

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
    """The verdict on a machine, and what it stands on."""

    compared: Compared
    measure: str
    traces: int
    lengths: list[list[int]]  # cycles of operations, by kind
    curve: list[Point]
    registers: dict[str, list[Point]]
    part_of: list[Part]  # by cycle
    word_of: list[str]  # by cycle; of a machine without a program, or one that takes its time, empty
    seconds: float  # of the processor

    @property
    def excused(self) -> set[Part]:
        return EXCUSED[self.compared.secret]

    def judged(self, cycle: int) -> bool:
        """Whether the secret must not show in it."""
        return self.part_of[cycle] not in self.excused

    # ---- time

    @cached_property
    def cycles_of(self) -> list[list[int]]:
        """The different lengths of operations, by class."""
        return [
            sorted(set().union(*(self.lengths[kind_of(which, half)] for half in HALVES))) for which in CLASSES
        ]

    @cached_property
    def time(self) -> Point:
        """The test of the operations' cycles."""
        return point_of([moments_of(each) for each in self.lengths])

    @property
    def time_leaks(self) -> bool:
        """Means differ; or only one of the classes varies at all."""
        one_varies = min(map(len, self.cycles_of)) == 1 < max(map(len, self.cycles_of))
        return self.time.leaks or one_varies

    # ---- power

    @property
    def power_leaks(self) -> bool:
        return any(point.leaks and self.judged(cycle) for cycle, point in enumerate(self.curve))

    @property
    def leaks(self) -> bool:
        """The verdict."""
        return self.time_leaks or self.power_leaks

    @cached_property
    def worst(self) -> int:
        """The cycle that is judged and says most."""
        cycles = [cycle for cycle in range(len(self.curve)) if self.judged(cycle)]
        return max(cycles or range(len(self.curve)), key=lambda cycle: _strength(self.curve[cycle]))

    def half(self, half: int) -> tuple[float, int]:
        """The largest t of a half in what is judged, and its cycle."""
        found = [
            (abs(point[1 + half]), cycle) for cycle, point in enumerate(self.curve) if self.judged(cycle)
        ]
        return max(found, default=(0.0, 0))

    def blame(self) -> list[tuple[str, Point]]:
        """The registers by what they say in the worst cycle; those that say nothing are left out."""
        points = ((name, curve[self.worst]) for name, curve in self.registers.items())
        found = [(name, point) for name, point in points if point.leaks]
        return sorted(found, key=lambda each: -abs(each[1].both))

    def alone(self) -> list[Told]:
        """Registers that leak where it is judged, each looked at alone: a probe on it would see that."""
        judged = [cycle for cycle in range(len(self.curve)) if self.judged(cycle)]
        told = [_told(name, curve, judged) for name, curve in self.registers.items()]
        return sorted((each for each in told if each.over), key=lambda each: -abs(each.point.both))

    def parts(self) -> list[Told]:
        """Part by part, in the order of the program; the same part of two exponentiations is one."""
        found = []
        for part in Part:
            cycles = [cycle for cycle, each in enumerate(self.part_of) if each is part]
            if cycles:
                judged = part not in self.excused
                found.append(_told(part.value, self.curve, cycles)._replace(judged=judged))
        return found

    @property
    def rate(self) -> float:
        """Operations a second of the processor."""
        return self.traces / self.seconds if self.seconds else 0.0

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        worst = self.curve[self.worst]
        halves = []
        for half in HALVES:
            t, cycle = self.half(half)
            halves.append({"max_t": round(t, 2), "worst_cycle": cycle})
        return {
            "fixed": self.compared.secret,
            "message": self.compared.message if self.compared.secret == "exponent" else "fixed and random",
            "model": self.measure,
            "seed": self.compared.seed,
            "traces": self.traces,
            "leaks": self.leaks,
            "max_t": round(abs(worst.both), 2),
            "worst_cycle": self.worst,
            "worst_word": self.word_of[self.worst],
            "threshold": THRESHOLD,
            "halves": halves,
            "cycles": len(self.curve),
            "cycles_over": sum(point.leaks for cycle, point in enumerate(self.curve) if self.judged(cycle)),
            "time": {
                "leaks": self.time_leaks,
                "t": round(self.time.both, 2),
                "fixed": _span(self.cycles_of[FIXED]),
                "random": _span(self.cycles_of[RANDOM]),
            },
            "parts": [each.as_json() for each in self.parts()],
            "blame": [{"register": name, "t": round(point.both, 2)} for name, point in self.blame()],
            "registers_alone": [each.as_json() for each in self.alone()],
            "seconds": round(self.seconds, 2),
            "traces_per_second": round(self.rate),
        }


def _span(lengths: Sequence[int]) -> list[int]:
    """The shortest and the longest."""
    return [lengths[0], lengths[-1]] if lengths else []


def _strength(point: Point) -> float:
    """What leaks is before what does not."""
    return abs(point.both) + (1e9 if point.leaks else 0.0)


def _told(name: str, curve: Sequence[Point], cycles: Sequence[int]) -> Told:
    worst = max(cycles, key=lambda cycle: _strength(curve[cycle]), default=0)
    return Told(name, worst, curve[worst], sum(curve[cycle].leaks for cycle in cycles), len(cycles))


def assess(
    compared: Compared,
    traces: int,
    measure: str = MEASURES[0],
    progress: Callable[[int, int], None] | None = None,
) -> Assessment:
    """The test with so many operations; with `toggles` as the measure on the netlist, else on the registers at RTL."""
    if traces < LEAST_TRACES:
        raise BadInput(
            f"{traces} traces are too few to compare two classes in two halves; give {LEAST_TRACES} or more"
        )
    machine = compared.machine
    operations = compared.operations()
    first = next(operations)
    if measure == TOGGLES:
        from .netlist_power import NetlistCampaign  # not at the top: it brings the flow

        campaign: Campaign = NetlistCampaign(machine)
    else:
        model = Watched(machine.rtl())
        points = len(model.names) * _cycles(machine, first)
        campaign = model.campaign(measure, coarse=points > MOST_POINTS)
    try:
        _run(machine, campaign, [first], [IGNORED])
        start = time.process_time()
        for done in range(0, traces, BATCH):
            batch = [next(operations) for _ in range(min(BATCH, traces - done))]
            kinds = [kind_of(each.which, 2 * (done + at) // traces) for at, each in enumerate(batch)]
            told = None if progress is None else after(progress, done, traces)
            _run(machine, campaign, batch, kinds, told)
        seconds = time.process_time() - start
        part_of, word_of = _placed(machine, first.request, campaign)
        if measure == TOGGLES:  # what an edge has stored moves the logic behind it until the next one
            part_of[campaign.taken + 1] = Part.LOAD
        return Assessment(
            compared,
            measure,
            traces,
            campaign.lengths,
            [point_of(kinds) for kinds in campaign.curve()],
            {name: [point_of(kinds) for kinds in campaign.curve(name)] for name in campaign.groups},
            part_of,
            word_of,
            seconds,
        )
    finally:
        campaign.close()


def _cycles(machine: Machine, operation: Operation) -> int:
    """Of an operation by its formula, or where the operands decide word by word."""
    base, exp, mod, *_ = operation.request
    return machine.programmed.cycles(*operation.request) if machine.keyed else machine.cycles(base, exp, mod)


def _run(
    machine: Machine,
    campaign: Campaign,
    operations: Sequence[Operation],
    kinds: Sequence[int],
    progress: Callable[[int], None] | None = None,
) -> None:
    """Count them, if their answers are right."""
    longest = max(_cycles(machine, each) for each in operations)
    answers = campaign.run([each.request for each in operations], kinds, longest, progress)
    for operation, answer in zip(operations, answers, strict=True):
        if answer != (0, operation.golden):
            raise NoMeasurement(
                f"the machine answered {answer} and not {operation.golden} to {operation.request}: nothing is measured on a wrong one"
            )


def _placed(machine: Machine, request: tuple[int, ...], campaign: Campaign) -> tuple[list[Part], list[str]]:
    """What each cycle is at: the part of the program and its word, where all operations take the same time."""
    cycles = campaign.cycles
    same = len(set().union(*campaign.lengths)) == 1
    programmed = machine.build.programmed
    if programmed is None or not same:
        return [Part.LOAD if cycle <= campaign.taken else Part.COMPUTE for cycle in range(cycles)], [
            ""
        ] * cycles
    program, timing = programmed.program, programmed.timing
    of_word, listing = parts(program), program.listing()
    trace = programmed.trace(request)
    found: list[Part] = []
    words: list[str] = []
    for executed, end in zip(trace, timing.ends(trace, request[1]), strict=True):
        # a request is looked at before it is taken, a cycle each word; all others end so many cycles after that
        last = len(found) if not end and executed.word.takes else timing.loading_cycles + end
        more = max(0, last + 1 - len(found))
        found += [of_word[executed.pc]] * more
        words += [" ".join(listing[executed.pc].split())] * more
    assert len(found) == cycles, (len(found), cycles)
    return found, words
