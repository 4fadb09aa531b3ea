"""Runs the items of a vector file on a design; each passes, fails, or is skipped with a reason.

Files are judged one after another, and the items of a file are grouped by the width of machine that they
need.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any

from ....cl.pkcs1 import Pkcs1UnpadCL
from ....fl.errors import BadInput, shown
from ....fl.pkcs1 import NBYTES_MIN, Kind, Opened, unpad
from ....fl.rsa_keys import RSAKey
from ....fl.status import MEANING, Status
from ....fl.xcel import WORD_NBITS
from ....rtl.sim import simulate
from ....rtl.units.padding.pkcs1_unpad import Pkcs1Unpad
from ...designs.interfaces import Operands
from ...designs.machine import Design, Machine
from ...designs.session import backend_at
from ...designs.widths import MAX_NBITS
from ...lab.executors import Report
from ...lab.store.store import Store
from ...progress import after
from . import encoding
from .answers import Answers
from .encoding import Inapplicable
from .items import Item, ModExp, ModMul, NotApplicable, Verdict
from .private import Protection, private_key

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Judgement:
    """Result of one item: passed, failed, skipped, or beyond the limit; `reason` explains a failure or
    skip.
    """

    item: Item
    kind: str
    reason: str = ""
    nbits: int | None = None
    operands: Mapping[str, int] = field(default_factory=dict)
    result: int | None = None
    golden: int | None = None
    either: bool = False
    opened: bool = False  # also decoded by the unpadding unit


@dataclass(frozen=True, eq=False)
class _Job:
    """An item to be computed, with the operands for the machine."""

    item: ModExp | ModMul
    nbits: int
    operands: Mapping[str, int]

    @property
    def power(self) -> tuple[int, Operands]:
        """The width and the operands of an exponentiation."""
        base, exp, mod = self.operands.values()
        return self.nbits, (base, exp, mod)


@dataclass
class Judge:
    """A design, and the options for running vectors on it."""

    design: Design
    level: str = "rtl"
    backend: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    nbits: int | None = None
    reduce: bool = False
    limit: int | None = None
    jobs: int = 1
    protection: Protection | None = None  # runs private operations only, by programs that take the key
    store: Store | None = None  # keeps the results of an interrupted run

    def __post_init__(self) -> None:
        self.backend = backend_at(self.level, self.backend)
        self.answers = Answers(
            self.design, self.settings, self.level, self.backend, self.jobs, self.protection, self.store
        )

    def run(
        self, files: Sequence[Sequence[Item]], progress: Report = lambda done, total: None
    ) -> Iterator[list[Judgement]]:
        """The outcomes of each file, one per item; `progress` counts the vectors of all files."""
        planned = [self._planned(items) for items in files]
        jobs = [[plan for plan in plans if isinstance(plan, _Job)] for plans in planned]
        done, total = 0, sum(map(len, jobs))
        with self.answers:
            for plans, own in zip(planned, jobs, strict=True):
                judged = self._judged(own, after(progress, done, total))
                yield [judged[plan] if isinstance(plan, _Job) else plan for plan in plans]
                done += len(own)

    def _planned(self, items: Sequence[Item]) -> list[_Job | Judgement]:
        """The job of each item, or its outcome if it is not run."""
        plans: list[_Job | Judgement] = []
        usable = 0
        for item in items:
            try:
                plan = self._plan(item)
            except Inapplicable as reason:
                plans.append(Judgement(item, "skipped", str(reason)))
                continue
            beyond = self.limit is not None and usable >= self.limit
            plans.append(Judgement(item, "beyond") if beyond else plan)
            usable += 1
        return plans

    def _judged(self, jobs: Sequence[_Job], progress: Callable[[int], None]) -> dict[_Job, Judgement]:
        """The outcomes of the jobs of a file."""
        powers = [job for job in jobs if isinstance(job.item, ModExp)]
        if powers:
            self.answers.of([job.power for job in powers], lambda done, _: progress(done))
        opened = self._unpadded(powers)
        outcomes = {}
        for job in powers:
            status, result = self.answers.known[job.power]
            outcomes[job] = _judged(job, result, status, opened.get(job))
        for job, result in self._products([job for job in jobs if job not in outcomes]):
            outcomes[job] = _judged(job, result, Status.OK)
            progress(len(outcomes))
        return outcomes

    def _plan(self, item: Item) -> _Job:
        """The job of an item; raises Inapplicable if there is none."""
        if isinstance(item, NotApplicable):
            raise Inapplicable(item.reason)
        key = private_key(item, self.protection) if self.protection is not None else None
        power = isinstance(item, ModExp)
        names = {name: getattr(item, name) for name in (("base", "exp") if power else ("a", "b"))}
        if item.mod == 0:
            raise Inapplicable(MEANING[Status.ZERO_MODULUS])
        if item.mod < 0:
            if not self.reduce:
                raise Inapplicable("the modulus is negative")
            item = replace(item, mod=-item.mod)  # the residues are the same
        if self.reduce:
            names = {name: value if name == "exp" else value % item.mod for name, value in names.items()}
        if any(value < 0 for value in names.values()):
            raise Inapplicable("an operand is negative")
        nbits = self._width([*names.values(), item.mod], key)
        if not power and not self.design.plain_unit:
            raise Inapplicable(f"the multiplier of {self.design.name} alone does not take any modulus")
        job = _Job(item, nbits, {**names, "mod": item.mod})
        if key is not None:
            if names["base"] >= item.mod:  # even a machine that accepts it could not check the result
                raise Inapplicable(MEANING[Status.BASE_TOO_LARGE])
            self.answers.keys.setdefault((names["exp"], item.mod), key)
            return job
        machine = self._machine(nbits)
        if not power and self.backend is not None:
            try:
                machine.multiplier()
            except BadInput as error:
                raise Inapplicable(str(error)) from None
        for factor in [value for name, value in names.items() if name != "exp"]:
            operands = (factor, names.get("exp", 1), item.mod)
            if refusal := machine.refusal(*operands):
                too_large = not power and machine.check(*operands) is Status.BASE_TOO_LARGE
                raise Inapplicable("a factor is not below the modulus" if too_large else refusal)
        return job

    def _width(self, operands: Sequence[int], key: RSAKey | None) -> int:
        """The width of a machine for these numbers, the last of which is the modulus; raises Inapplicable if
        there is none.
        """
        length, modulus_nbits = max(map(int.bit_length, operands)), operands[-1].bit_length()
        if length > MAX_NBITS:
            raise Inapplicable(f"wider than {MAX_NBITS} bits")
        if self.nbits is not None and length > self.nbits:
            raise Inapplicable(f"wider than the {self.nbits} bits of --nbits")
        most = self.nbits or MAX_NBITS
        of_key = []  # numbers that the machine must be able to hold because of the key
        if key is not None and self.protection is not None:
            primes = (key.p or 0, key.q or 0) if self.protection.crt else (0,)  # each fits half the width
            of_key = [key.e, (1 << 2 * max(primes).bit_length()) - 1]
        if any(number.bit_length() > most for number in of_key):
            raise Inapplicable(
                f"a number of the key is too long for {most} bits, or a prime for half of them"
            )
        nbits = self.nbits or self.design.width_for(*operands, *of_key)
        if modulus_nbits > self._machine(nbits).modulus_nbits and self.nbits is None:
            nbits += WORD_NBITS  # this machine takes only moduli slightly shorter than its width
            if nbits > MAX_NBITS:
                raise Inapplicable(f"no {self.design.name} takes a modulus of {modulus_nbits} bits")
            self._machine(nbits)
        return nbits

    def _machine(self, nbits: int) -> Machine:
        """The machine of a width. If it does not exist: Inapplicable, or BadInput if the user chose the width
        or the settings.
        """
        try:
            return self.design.at(nbits, **self.answers.settings_at(nbits))
        except BadInput as error:
            if self.settings or self.nbits is not None:
                raise
            raise Inapplicable(f"{self.design.name} does not exist at {nbits} bits: {error}") from None

    def _unpadded(self, jobs: Sequence[_Job]) -> dict[_Job, Opened]:
        """The results of the unpadding unit for PKCS#1 v1.5 encodings, at the judge's level."""
        framed: dict[int, list[tuple[_Job, Kind, int]]] = {}
        for job in jobs:
            status, result = self.answers.known[job.power]
            verdict = getattr(job.item, "verdict", None)
            frame = verdict and verdict.frame
            if frame is None or status is not Status.OK or frame.nbytes < NBYTES_MIN:
                continue
            if not result >> 8 * frame.nbytes:
                framed.setdefault(frame.nbytes, []).append((job, frame.kind, result))
        opened: dict[_Job, Opened] = {}
        for nbytes, encodings in framed.items():
            if self.backend is None:
                found = [unpad(kind, em, nbytes) for _, kind, em in encodings]
            else:
                unit = Pkcs1UnpadCL if self.level == "cl" else Pkcs1Unpad
                with simulate(unit(8 * nbytes), self.backend) as simulation:
                    run = simulation.run([(int(kind is Kind.SIGN), em) for _, kind, em in encodings])
                responses: list[Any] = run.responses
                found = [Opened(bool(good), length, message) for good, length, message in responses]
            opened.update(zip((job for job, _, _ in encodings), found, strict=True))
        return opened

    def _products(self, jobs: Sequence[_Job]) -> Iterator[tuple[_Job, int]]:
        """The product of each job by the multiplier alone, grouped by width."""
        by_width = attrgetter("nbits")
        for nbits, group in itertools.groupby(sorted(jobs, key=by_width), by_width):
            machine = self._machine(nbits)
            with self._multiplier(machine) as multiply:
                for job in group:
                    a, b, mod = job.operands.values()
                    yield job, machine.product(a, b, mod, partial(multiply, mod))

    @contextmanager
    def _multiplier(self, machine: Machine) -> Iterator[Callable[[int, Pairs], list[int]]]:
        """Products modulo a number, at the level of the judge."""
        if self.backend is None:
            yield lambda mod, pairs: [machine.space(mod).product(a, b) for a, b in pairs]
            return

        unit = machine.multiplier_cl() if self.level == "cl" else machine.multiplier()
        with simulate(unit, self.backend) as simulation:

            def multiply(mod, pairs):
                products = simulation.run(list(pairs), statics={"modulus": mod}).responses
                return products

            yield multiply


def _judged(job: _Job, result: int, status: Status, opened: Opened | None = None) -> Judgement:
    """The outcome for one result, checked against the golden value, the result or verdict of the file, and
    unpadding in Python against that of the unit.
    """
    item, golden = job.item, job.item.golden()
    verdict = item.verdict if isinstance(item, ModExp) else None
    either = False
    reason = ""
    if status is not Status.OK:
        reason = f"the machine answered status {int(status)}: {MEANING[status]}"
    elif result != golden:
        reason = "the result is not the golden value"
    elif item.expected is not None and result != item.expected:
        reason = f"the result equals the golden value, but the file has {shown(item.expected)}"
    elif verdict is not None:
        either = verdict.expect is None
        if not either and verdict.holds(result) != verdict.expect:
            said = "invalid" if verdict.expect else "valid"
            reason = f"the result equals the golden value, but the encoding is {said} ({verdict.claim})"
        elif opened is not None:
            reason = _wrongly_opened(verdict, result, opened)
    kind, by_unit = "failed" if reason else "passed", opened is not None
    return Judgement(item, kind, reason, job.nbits, job.operands, result, golden, either, by_unit)


def _wrongly_opened(verdict: Verdict, result: int, opened: Opened) -> str:
    """The reason why the unit decoded an encoding wrongly, or an empty string."""
    assert verdict.frame is not None
    message = encoding.pkcs1_decode(result, verdict.frame.nbytes, verdict.frame.kind)
    expected = (False, 0, 0) if message is None else (True, len(message), int.from_bytes(message, "big"))
    if opened == expected:
        return ""
    return (
        f"the encoding is {'good' if expected[0] else 'wrong'}, of {expected[1]} bytes; "
        f"the unit for unpadding says {'good' if opened.good else 'wrong'}, {opened.length} bytes, "
        f"{shown(opened.message)}"
    )
