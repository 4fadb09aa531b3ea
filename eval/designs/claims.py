"""Claims of an accelerator that proofs decide, and the requests that run before a proof.

`claims_of` is the one place of the proofs that tells RSA machines from other accelerators.
"""

import contextlib
import dataclasses
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...cl.timing import Dependence
from ...fl.accelerator import Message
from ...fl.errors import BadInput
from ...fl.status import Status
from ...proc.software.seeded_keys import seeded_key
from .machine import Machine
from .multipliers.multiplier import Unit
from .runnable import Runnable

# a status (None: any but OK), and an expression that is valid in Python and in SystemVerilog
Condition = tuple[Status | None, str]
PAIRS, EXPONENTS = 8, 32  # pairs of base and modulus, and exponents of one length, that are tried
ALL_NBITS = 16  # if requests have at most this many bits, all are tried
DRAWN, VARIED = 32, 32  # otherwise: random requests, and values of the claimed fields in each
TOGETHER = 1024  # requests per run; a machine runs all of them in one
OPERATIONS = 6  # after which memories are compared


@dataclass(frozen=True)
class Secret:
    """The fields in which the requests of two machines differ.

    lengths: `field` has the same bit length in both. also: further fields, each with a condition that both
    requests meet or neither does; "1" allows any two values. given: a condition on all requests.
    """

    field: str
    lengths: bool = False
    also: Mapping[str, str] = dataclasses.field(default_factory=dict)
    given: str = ""


class TimeClaim(NamedTuple):
    """Fields of a request that must not change its cycles, and requests that are tried before the proof.

    claims: those of the accelerator, which has this schedule if it is not its own. promised: fields other
    than the secret ones. held: what two requests must have in common beside the secret.
    """

    claims: "Claims"
    says: str
    secret: Secret
    tried: Callable[[], Sequence[Message]]
    held: Callable[[Message], object]
    schedule: str = ""
    promised: Sequence[str] = ()


class Corner(NamedTuple):
    """A request with its right answer; status None: any error."""

    fields: Mapping[str, int]
    status: Status | None
    result: int


@dataclass(frozen=True)
class Guards:
    """Protections of an accelerator: it refuses operands, wipes its memory, and has nothing left after
    zeroise.

    refused: the first condition that holds decides. exactly: no other operands are refused. requests:
    operations after which its memory is compared; None: it has no memory. refusals_wipe: a refused request
    leaves the memory wiped too.
    """

    refused: Sequence[Condition]
    exactly: bool
    corners: Callable[[], Iterable[Corner]]
    requests: Callable[[], Iterable[Message]] | None
    refusals_wipe: bool


class Claims:
    """The claims of an accelerator with fields of any meaning."""

    multiplier: tuple[Unit, int] | None = None  # its product unit, with a width
    guards: Guards | None = None

    def __init__(self, accelerator: Runnable) -> None:
        self.accelerator = accelerator

    def named(self, request: Message) -> dict[str, int]:
        """The fields of a request by their names."""
        return dict(zip(dict(self.accelerator.shape.request), request, strict=True))

    def time(self) -> Iterator[TimeClaim]:
        """One claim for the secret fields (all if none is secret), and one if further fields are promised."""
        accelerator = self.accelerator
        secret, steady = accelerator.secret or tuple(dict(accelerator.shape.request)), accelerator.steady
        yield self._same_time(secret)
        if not set(steady) <= set(secret) or (steady and not accelerator.constant_time):
            yield self._same_time(steady)._replace(promised=steady)

    def _same_time(self, fields: Sequence[str]) -> TimeClaim:
        """All values of these fields, including those of refused requests."""
        names = dict(self.accelerator.shape.request)
        return TimeClaim(
            self,
            f"as many cycles for all {', '.join(fields)}",
            Secret(fields[0], also=dict.fromkeys(fields[1:], "1")),
            lambda: self.tried(fields),
            lambda request: [value for name, value in zip(names, request, strict=True) if name not in fields],
        )

    @property
    def every(self) -> int:
        """The number of all possible requests if all are tried, else 0."""
        shape = self.accelerator.shape
        nbits = sum(nbits for _, nbits in shape.request)
        return 0 if nbits > ALL_NBITS or shape.statics else 1 << nbits

    def tried(self, fields: Sequence[str] = ()) -> list[Message]:
        """Requests that run natively before a proof, with several values of these fields in each."""
        accelerator, generator = self.accelerator, random.Random(1)
        shape = accelerator.shape.request
        if self.every:
            return list(itertools.product(*(range(1 << nbits) for _, nbits in shape)))
        found = [row.request for row in accelerator.rows()]
        corners = [tuple(0 for _ in shape), tuple((1 << nbits) - 1 for _, nbits in shape)]
        for _ in range(DRAWN):
            request = accelerator.drawn(generator)
            others = [*corners, *(accelerator.drawn(generator) for _ in range(VARIED))]
            found += [
                tuple(
                    varied if name in fields else value
                    for (name, _), value, varied in zip(shape, request, other, strict=True)
                )
                for other in [request, *others]
            ]
        return found

    def together(self, requests: Sequence[Message]) -> int:
        """How many of these requests run after one reset."""
        return TOGETHER

    def most_cycles(self, requests: Sequence[Message]) -> int | None:
        """The limit after which it counts as hung; None: the usual one."""
        return 2 * self.accelerator.most_cycles(requests) + 1000


class MachineClaims(Claims):
    """The claims of an RSA machine."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.machine = machine
        self.multiplier = machine.build.unit, machine.plan.nbits
        programmed = machine.build.programmed
        memory = programmed is not None and programmed.program.depth
        self.guards = Guards(
            self.conditions(), not machine.keyed, self.corners, self.wiping if memory else None, machine.keyed
        )

    every = 0

    def together(self, requests: Sequence[Message]) -> int:
        return len(requests)

    def most_cycles(self, requests: Sequence[Message]) -> int | None:
        return None

    # ---- time

    def time(self) -> Iterator[TimeClaim]:
        """A claim for each schedule that promises constant time, and for its own; none with a key."""
        if not self.machine.keyed:
            yield self._own_time()
            for schedule, sibling in self._of_other_schedules():
                yield MachineClaims(sibling)._own_time()._replace(schedule=schedule)

    def _own_time(self) -> TimeClaim:
        """All exponents, or all of one length; all bases too, if that is promised."""
        machine = self.machine
        lengths, any_base = (
            not machine.promises.every_exponent,
            machine.promises.time.base is Dependence.NONE,
        )
        which = "all exponents of a length" if lengths else "all exponents"
        which = f"all bases and {which}" if any_base else which
        base = {"base": "{base} < mod" if machine.promises.reduced_only else "1"} if any_base else {}
        given = "public == 0" if machine.takes_public else ""

        def held(request: Message) -> object:
            base, exp, mod, *more = request
            return -1 if any_base else base, mod, exp.bit_length() if lengths else 0, more

        secret = Secret("exp", lengths, base, given)
        return TimeClaim(self, f"as many cycles for {which}", secret, self.tried, held)

    def _of_other_schedules(self) -> Iterator[tuple[str, Machine]]:
        """The machine with each other schedule of its design that promises constant time; none unless it has
        the default schedule.
        """
        machine = self.machine
        param = machine.design.control.schedule
        if machine.parameters.get(param.name) != param.default:
            return
        for schedule in param.legal if isinstance(param.legal, tuple) else ():
            with contextlib.suppress(BadInput):  # the schedule is incompatible with the other settings
                sibling = machine.design.at(machine.nbits, **{**machine.parameters, param.name: schedule})
                same = sibling.design is machine.design
                if same and schedule != param.default and sibling.promises.constant_time:
                    yield schedule, sibling

    def tried(self, fields: Sequence[str] = ()) -> list[Message]:
        return [self.machine.carried(*operands) for operands in self._operands()]

    def _operands(self) -> list[tuple[int, int, int]]:
        """Operands of several moduli, with exponents of all lengths and, for constant time, several bases."""
        machine, generator = self.machine, random.Random(1)
        if machine.keyed:
            key = machine.key
            assert key.d is not None  # it is private
            return [(generator.randrange(1, key.n), key.d, key.n) for _ in range(PAIRS)]
        top = (1 << machine.modulus_nbits) - 1
        any_base = machine.promises.time.base is Dependence.NONE
        found = []
        for at in range(PAIRS):
            n = machine.modulus or (
                top if not at else generator.getrandbits(machine.modulus_nbits) | top // 2 + 1 | 1
            )
            bases = [generator.randrange(1, n)]
            bases += [0, 1, n - 1] if any_base else []
            exponents = {
                1 << length - 1 | generator.getrandbits(length) & (1 << length - 1) - 1
                for length in range(1, machine.nbits + 1)
                for _ in range(EXPONENTS)
            }
            found += [
                (base, exp, n) for base, exp in zip(itertools.cycle(bases), sorted(exponents), strict=False)
            ]
        return found

    # ---- guards

    def conditions(self) -> list[Condition]:
        """The statuses that the machine answers for bad operands; the first condition that holds decides."""
        machine = self.machine
        design, promises, found = machine.design, machine.promises, list[Condition]()
        if machine.modulus_nbits < machine.nbits:
            found.append((Status.TOO_WIDE, f"mod >= {1 << machine.modulus_nbits}"))
        if machine.build.modulus:
            found.append((Status.WRONG_MODULUS, f"mod != {machine.build.modulus}"))
        found.append((Status.ZERO_MODULUS, "mod == 0"))
        if promises.odd_only and design.odd_only:
            found.append((Status.EVEN_MODULUS, "(mod & 1) == 0"))
        if promises.reduced_only and design.reduced_only:
            found.append((Status.BASE_TOO_LARGE, "base >= mod"))
        private = "1"
        if machine.takes_public:
            private = "(public == 0)"
            numbers = " | ".join(name for name, _ in machine.programmed.private)
            found += [(Status.BAD_KEY, f"(public == 1) & (({numbers}) != 0)")] if numbers else []
        if promises.key == "crt":  # an even modulus is not the product of odd primes
            found.append((Status.BAD_KEY, f"{private} & ((p & q & mod & 1) == 0)"))
        if promises.checked:  # the check compares base with result^e mod n, so a base >= n always fails
            found.append((None, f"{private} & (base >= mod)"))
        return found

    def corners(self) -> Iterator[Corner]:
        """Operands at the limits of the conditions. With a key, a request that need not be refused has the
        modulus of the key.
        """
        machine = self.machine
        n = machine.modulus or (1 << machine.modulus_nbits) - 1
        exp = machine.key.d if machine.keyed else 1
        assert exp is not None  # the key is private
        good = self.named(machine.carried(1, exp, n))
        top = (1 << machine.nbits) - 1
        asked = [
            {"base": base, "mod": mod}
            for mod in dict.fromkeys((n, 0, 2, n - 1, n - 2, top))
            for base in dict.fromkeys((mod, min(mod + 1, top), max(mod - 1, 0), top))
        ]
        asked += [{name: good[name] & ~1} for name in ("p", "q") if name in good]
        refused = self.conditions()
        for changes in asked:
            fields = good | changes
            base, mod = fields["base"], fields["mod"]
            status = next((status for status, holds in refused if eval(holds, dict(fields))), Status.OK)
            if status != Status.OK:
                yield Corner(fields, status, 0)
            elif not machine.keyed or mod == n:
                yield Corner(self.named(machine.carried(base, exp, mod)), status, pow(base, exp, mod))

    def wiping(self) -> Iterator[Message]:
        """Operations of several keys, messages and random numbers, or of several operands, some of which are
        refused.
        """
        machine, draw = self.machine, random.Random(1)
        for which in range(1, OPERATIONS + 1):
            if not machine.keyed:
                top = 1 << machine.modulus_nbits - 1
                n = machine.modulus or draw.getrandbits(machine.modulus_nbits) | top | 1
                yield machine.carried(draw.randrange(n), draw.getrandbits(machine.nbits), n)
                continue
            key = seeded_key(machine.nbits, which)
            assert key.d is not None  # it is private
            good = machine.with_key(key, draw.randrange).carried(draw.randrange(2, key.n), key.d, key.n)
            yield good
            yield (*good[:2], 0, *good[3:])
            wrong = draw.randrange(3, len(good))
            yield (*good[:wrong], good[wrong] ^ 2, *good[wrong + 1 :])


def claims_of(accelerator: Runnable) -> Claims:
    """The claims of an accelerator by its kind."""
    return MachineClaims(accelerator) if isinstance(accelerator, Machine) else Claims(accelerator)
