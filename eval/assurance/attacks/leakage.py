"""Leakage assessment: a fixed secret against random ones, on simulated power (welch.py), natively at RTL.

Operations of both classes come in random order, each with fresh random numbers where the machine blinds,
and every answer is compared with Python's pow. The secret is the exponent or, with `fixed="message"`, the
message. The secret of an accelerator of another kind is its secret fields; its other fields are held, and its
answers are compared with `fl`.

A simulation has no noise: operations that differ in the secret alone must take the same number of cycles.
Where a machine blinds, its random numbers may change the cycles, and the distributions of both classes must
agree. Time that varies with the message alone is no leak of the exponent. A leak by time is reported before
any other.

Not judged is where a secret comes in as it is, whatever a machine does afterwards: the cycles in which
operands are taken; of a program that blinds, the words that put the blinding on; what is computed by the
public exponent; of messages, what follows when the blinding is gone, as the result tells the message; and
clearing. Their t is told all the same, part by part (fl/program/phases.py).
"""

from __future__ import annotations

import itertools
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ....fl.errors import BadInput
from ....fl.program.phases import Part, parts
from ....rtl.sim.campaigns.leak import IGNORED, MEASURES, Moments, Watched
from ...errors import NoMeasurement
from ...progress import after
from .secrets import drawn_key
from .welch import CLASSES, FIXED, HALVES, RANDOM, THRESHOLD, Point, apart, kind_of, point_of

if TYPE_CHECKING:
    from ....fl.accelerator import Message
    from ....fl.rsa_keys import RSAKey
    from ...designs.machine import Machine
    from ...designs.programmed import Programmed
    from ...designs.runnable import Runnable

TOGGLES = "toggles"  # of all nets of the netlist
MODELS = (*MEASURES, TOGGLES)
LEAST_TRACES = 40  # some of each class in each half
MOST_POINTS = 2_000_000  # cycles of a register; of longer operations registers are not told apart
BATCH = 2000  # operations that are made ready at a time
MESSAGES_SHARED, SECRETS_SHARED = (
    16,
    3,
)  # messages that several secrets share, and random secrets beside the fixed one

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
    ) -> tuple[list[Any], list[int]]:
        """The answers of operations that take so many cycles at most, and their cycles."""
        ...

    @property
    def cycles(self) -> int: ...

    @property
    def taken(self) -> int: ...

    def curve(self, group: str | None = None) -> list[list[Moments]]: ...

    def close(self) -> None: ...


class Operation(NamedTuple):
    """A request, what is right, and its class."""

    request: Message
    golden: Message | None  # None: the response of `fl`
    which: int


Making = Callable[[int, int | None], Operation]


class Comparison(ABC):
    """An accelerator, and the requests of both classes."""

    machine: Runnable
    seed: int

    @property
    @abstractmethod
    def secret(self) -> str:
        """The name of the secret."""

    @property
    def message(self) -> str:
        """The rest of a request, random or fixed."""
        return "fixed"

    @property
    def blinded(self) -> bool:
        """Whether random numbers that the accelerator draws may change its cycles."""
        return False

    @property
    def excused(self) -> Collection[Part]:
        """The parts that are not judged."""
        return (Part.LOAD,)

    @property
    def programmed(self) -> Programmed | None:
        """The program that it executes."""
        return None

    @property
    @abstractmethod
    def words(self) -> str:
        """The secret in a sentence."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The two classes, in words."""

    @property
    def note(self) -> str:
        """How the rest of a request is chosen."""
        return ""

    def named(self, part: Part) -> str:
        """A part of an operation, in words."""
        return part.value

    @property
    @abstractmethod
    def promise(self) -> str:
        """Whether it promises constant time, in a sentence."""

    def cycles(self, request: Message) -> int:
        """The cycles of a request at most."""
        return self.machine.most_cycles([request])

    def operations(self) -> Iterator[Operation]:
        """Without an end; the class of each is drawn."""
        draw, made = self._drawn()
        while True:
            yield made(draw.choice(CLASSES), None)

    def shared(self) -> Iterator[list[Operation]]:
        """Groups of operations that differ in the secret alone; none if all of them do."""
        return iter(())

    def _drawn(self) -> tuple[random.Random, Making]:
        """The source of all that is drawn, and operations by class and, if it is given, message."""
        draw = random.Random(f"{self.machine.nbits} {self.seed}")
        return draw, self._making(draw)

    @abstractmethod
    def _making(self, draw: random.Random) -> Making:
        """The maker of operations."""


@dataclass(frozen=True)
class ComparedFields(Comparison):
    """Secret fields of any accelerator; all other fields are held."""

    machine: Runnable
    seed: int = 1

    def __post_init__(self) -> None:
        names = [name for name, _ in self.machine.shape.request]
        if not self.machine.secret:
            raise BadInput(
                f"{self.machine.name} has no secret fields, of which something could leak; "
                f'name them in its class, as in secret = ("{names[0]}",)'
            )

    @property
    def secret(self) -> str:
        return ", ".join(self.machine.secret)

    @property
    def words(self) -> str:
        return f"{'field' if len(self.machine.secret) == 1 else 'fields'} {self.secret}"

    @property
    def title(self) -> str:
        return f"{self.words} fixed against random"

    @property
    def note(self) -> str:
        return ", other fields held" if len(self.machine.shape.request) > len(self.machine.secret) else ""

    def named(self, part: Part) -> str:
        return "the computation" if part is Part.COMPUTE else part.value

    @property
    def promise(self) -> str:
        if self.machine.constant_time:
            return f"yes: the same number of cycles for all {self.secret}"
        return f"no: nothing is promised for {self.secret}"

    def _making(self, draw: random.Random) -> Making:
        machine = self.machine
        fixed = machine.accepted(draw)
        names = [name for name, _ in machine.shape.request]
        held = {name: value for name, value in zip(names, fixed, strict=True) if name not in machine.secret}

        def made(which: int, _: int | None) -> Operation:
            return Operation(fixed if which == FIXED else machine.accepted(draw, held), None, which)

        return made


@dataclass(frozen=True)
class Compared(Comparison):
    """The private exponent or the message of an RSA machine."""

    machine: Machine
    secret: str = "exponent"
    message: str = "random"
    seed: int = 1

    def __post_init__(self) -> None:
        if self.secret == "message" and self.message != "random":
            raise BadInput(
                "--message fixed with --fixed message: then nothing is drawn that could differ; drop one of "
                "them"
            )

    @property
    def words(self) -> str:
        return f"the {self.secret}"

    @property
    def title(self) -> str:
        return f"a fixed {self.secret} against random ones"

    @property
    def note(self) -> str:
        drawn = "drawn" if self.message == "random" else "one for all"
        return f", messages {drawn}" if self.secret == "exponent" else ""

    @property
    def promise(self) -> str:
        return self.machine.promises.sentence

    @property
    def excused(self) -> Collection[Part]:
        return EXCUSED[self.secret]

    @property
    def programmed(self) -> Programmed | None:
        return self.machine.build.programmed

    def cycles(self, request: Message) -> int:
        """By its formula, or where the operands decide word by word."""
        machine, (base, exp, mod, *_) = self.machine, request
        return machine.programmed.cycles(*request) if machine.keyed else machine.cycles(base, exp, mod)

    @property
    def blinded(self) -> bool:
        """Whether random numbers that the machine draws may change its cycles."""
        if not self.machine.keyed:
            return False
        recipe = self.machine.programmed.recipe
        return recipe.blind_message or recipe.blind_exponent

    @property
    def messages_drawn(self) -> bool:
        """Whether both classes have random messages."""
        return self.secret == "exponent" and self.message == "random"

    def shared(self) -> Iterator[list[Operation]]:
        """Operations on one message at a time, with the fixed secret and with random ones."""
        if not self.messages_drawn:
            return
        _, made = self._drawn()
        for _ in range(MESSAGES_SHARED):
            first = made(FIXED, None)
            others = (made(RANDOM, first.request[0]) for _ in range(SECRETS_SHARED))
            yield [first, *others]

    def _making(self, draw: random.Random) -> Making:
        return self._keyed(draw) if self.machine.keyed else self._plain(draw)

    def _varies(self, which: int) -> tuple[bool, bool]:
        """Whether exponent and message are drawn in this class."""
        if self.secret == "exponent":
            return which == RANDOM, self.message == "random"
        return False, which == RANDOM

    def _plain(self, draw: random.Random) -> Making:
        """Exponents of the machine's full length: how long an exponent is, many machines show by design."""
        machine = self.machine
        fixed_base, fixed_exp, mod = machine.some_operands()
        top = 1 << (machine.nbits - 1)

        def made(which: int, message: int | None) -> Operation:
            exp_varies, base_varies = self._varies(which)
            exp = draw.getrandbits(machine.nbits) | top if exp_varies else fixed_exp
            base = message if message is not None else draw.randrange(mod) if base_varies else fixed_base
            return Operation(machine.carried(base, exp, mod), (0, pow(base, exp, mod)), which)

        return made

    def _keyed(self, draw: random.Random) -> Making:
        machine = self.machine
        fixed_key: RSAKey = drawn_key(machine.key, draw)
        fixed_message = draw.randrange(2, fixed_key.n)

        def made(which: int, message: int | None) -> Operation:
            key_varies, message_varies = self._varies(which)
            key = drawn_key(machine.key, draw) if key_varies else fixed_key
            if message is None:
                message = draw.randrange(key.n) if message_varies else fixed_message
            assert key.d is not None
            request = machine.programmed.operands(key, message, draw.randrange)
            return Operation(request, (0, pow(message, key.d, key.n)), which)

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

    compared: Comparison
    measure: str
    traces: int
    lengths: list[list[int]]  # cycles of operations, by kind
    shared: list[list[int]]  # cycles of operations that differ in the secret alone
    curve: list[Point]
    registers: dict[str, list[Point]]
    part_of: list[Part]  # by cycle
    word_of: list[str]  # by cycle; of a machine without a program, or one that takes its time, empty
    seconds: float  # of the processor

    def judged(self, cycle: int) -> bool:
        """Whether the secret must not show in it."""
        return self.part_of[cycle] not in self.compared.excused

    # ---- time

    @cached_property
    def cycles_of(self) -> list[list[int]]:
        """The different lengths of operations, by class."""
        return [
            sorted(set().union(*(self.lengths[kind_of(which, half)] for half in HALVES))) for which in CLASSES
        ]

    @cached_property
    def told_apart(self) -> list[int]:
        """The cycles of operations that differ in the secret alone; empty if they are all the same."""
        return next((sorted(set(cycles)) for cycles in self.shared if len(set(cycles)) > 1), [])

    @cached_property
    def time(self) -> list[float]:
        """How far the cycles of both classes are apart in each half; above 1 it is more than chance."""
        return [apart(*(self.lengths[kind_of(which, half)] for which in CLASSES)) for half in HALVES]

    @property
    def time_leaks(self) -> bool:
        """The secret changes the cycles of an operation, or their distribution in both halves."""
        return bool(self.told_apart) or min(self.time) > 1

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
        return sorted(found, key=lambda part: -abs(part[1].both))

    def alone(self) -> list[Told]:
        """Registers that leak where it is judged, each looked at alone: a probe on it would see that."""
        judged = [cycle for cycle in range(len(self.curve)) if self.judged(cycle)]
        told = [_told(name, curve, judged) for name, curve in self.registers.items()]
        return sorted(
            (finding for finding in told if finding.over), key=lambda finding: -abs(finding.point.both)
        )

    def parts(self) -> list[Told]:
        """Part by part, in the order of the program; the same part of two exponentiations is one."""
        found = []
        for part in Part:
            cycles = [cycle for cycle, item in enumerate(self.part_of) if item is part]
            if cycles:
                judged = part not in self.compared.excused
                name = self.compared.named(part)
                found.append(_told(name, self.curve, cycles)._replace(judged=judged))
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
            "message": "fixed and random" if self.compared.secret == "message" else self.compared.message,
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
                "apart": [round(distance, 2) for distance in self.time],
                "by_the_secret_alone": self.told_apart,
                "fixed": _span(self.cycles_of[FIXED]),
                "random": _span(self.cycles_of[RANDOM]),
            },
            "parts": [part.as_json() for part in self.parts()],
            "blame": [{"register": name, "t": round(point.both, 2)} for name, point in self.blame()],
            "registers_alone": [finding.as_json() for finding in self.alone()],
            "seconds": round(self.seconds, 2),
            "traces_per_second": round(self.rate),
        }


def _span(lengths: Sequence[int]) -> list[int]:
    """The shortest and the longest."""
    return [lengths[0], lengths[-1]] if lengths else []


def _strength(point: Point) -> float:
    """Sort key: leaks before points that do not leak."""
    return abs(point.both) + (1e9 if point.leaks else 0.0)


def _told(name: str, curve: Sequence[Point], cycles: Sequence[int]) -> Told:
    worst = max(cycles, key=lambda cycle: _strength(curve[cycle]), default=0)
    return Told(name, worst, curve[worst], sum(curve[cycle].leaks for cycle in cycles), len(cycles))


def assess(
    compared: Comparison,
    traces: int,
    measure: str = MEASURES[0],
    progress: Callable[[int, int], None] | None = None,
) -> Assessment:
    """The test with so many operations; with `toggles` as the measure on the netlist, else on the registers
    at RTL.
    """
    if traces < LEAST_TRACES:
        raise BadInput(
            f"{traces} traces are too few to compare two classes in two halves; give {LEAST_TRACES} or more"
        )
    machine = compared.machine
    operations = compared.operations()
    first = next(operations)
    if measure == TOGGLES:
        from .netlist_power import NetlistCampaign  # not at the top: it brings the flow

        taken = compared.programmed.timing.loading_cycles if compared.programmed is not None else 0
        campaign: Campaign = NetlistCampaign(machine.rtl(), taken)
    else:
        model = Watched(machine.rtl())
        points = len(model.names) * compared.cycles(first.request)
        campaign = model.campaign(measure, coarse=points > MOST_POINTS)
    try:
        respond = machine.responder()  # one for all, as state stays between operations

        def run(
            operations: Sequence[Operation], kinds: Sequence[int], told: Callable[[int], None] | None = None
        ) -> list[int]:
            """Count them, if their answers are right; return their cycles."""
            longest = max(compared.cycles(operation.request) for operation in operations)
            requests = [operation.request for operation in operations]
            answers, cycles = campaign.run(requests, kinds, longest, told)
            for (request, golden, _), answer in zip(operations, answers, strict=True):
                if answer != (right := respond(request) if golden is None else golden):
                    raise NoMeasurement(
                        f"{machine.name} answered {answer} and not {right} to {request}: "
                        "nothing is measured on a wrong one"
                    )
            return cycles

        run([first], [IGNORED])
        start = time.process_time()
        for done in range(0, traces, BATCH):
            batch = [next(operations) for _ in range(min(BATCH, traces - done))]
            kinds = [kind_of(item.which, 2 * (done + at) // traces) for at, item in enumerate(batch)]
            told = None if progress is None else after(progress, done, traces)
            run(batch, kinds, told)
        seconds = time.process_time() - start
        part_of, word_of = _placed(compared, first.request, campaign)
        shared: list[list[int]] = []
        if not compared.blinded:
            of_all = list(itertools.chain.from_iterable(campaign.lengths))
            shared = [run(group, [IGNORED] * len(group)) for group in compared.shared()] or [of_all]
        if measure == TOGGLES:  # what an edge has stored moves the logic behind it until the next one
            part_of[campaign.taken + 1] = Part.LOAD
        return Assessment(
            compared,
            measure,
            traces,
            campaign.lengths,
            shared,
            [point_of(kinds) for kinds in campaign.curve()],
            {name: [point_of(kinds) for kinds in campaign.curve(name)] for name in campaign.groups},
            part_of,
            word_of,
            seconds,
        )
    finally:
        campaign.close()


def _placed(
    compared: Comparison, request: tuple[int, ...], campaign: Campaign
) -> tuple[list[Part], list[str]]:
    """Name the part of the program and the microinstruction of each cycle, if all operations take the same
    time.
    """
    cycles = campaign.cycles
    same = len(set().union(*campaign.lengths)) == 1
    programmed = compared.programmed
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
        # a request is looked at before it is taken, a cycle each word; all others end so many cycles after
        # that
        last = len(found) if not end and executed.word.takes else timing.loading_cycles + end
        more = max(0, last + 1 - len(found))
        found += [of_word[executed.pc]] * more
        words += [" ".join(listing[executed.pc].split())] * more
    assert len(found) == cycles, (len(found), cycles)
    return found, words
