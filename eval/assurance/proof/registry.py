"""Registry of all checks of a design: those of its units and those of the whole machine."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pymtl3 import Component

from ....fl.errors import BadInput
from ....fl.param import Count
from ....flow.netlist import yosys
from ....flow.prove.assertions import Decision, spent
from ....flow.prove.report import UNDECIDED
from ....rtl.units.heap.bit_heap import BitHeap
from ....rtl.units.pseudo_mul import PseudoSquare
from ...designs import catalogue
from ...designs.claims import claims_of
from ...designs.runnable import Runnable
from ...json_values import attributes
from ...lab import task
from ...lab.executors import Here
from ...lab.runner import Runner
from ...lab.store.store import Store, noted
from ...lab.verdicts import Subject, Verdict
from ...progress import Progress
from .check import KINDS, Check
from .exhaustive import ANSWERS
from .guards import guard_checks
from .machine_checks import machine_checks
from .ports import inside
from .stream_checks import PROMISED
from .unit_checks import unit_checks
from .unit_contracts import CONTRACTS


class Proof(NamedTuple):
    """A check and its outcome; for a mutant, also where the change is."""

    check: Check
    outcome: Decision

    @property
    def refuted(self) -> bool:
        return self.outcome.refuted

    def of(self, subject: Subject) -> Verdict:
        """The record for the store."""
        return Verdict(
            subject=subject.name,
            **attributes(subject, "key", "family", "nbits", "settings"),
            **attributes(self.check, "name", "kind"),
            **attributes(self.outcome, "verdict", "how", "seconds"),
        )

    def as_json(self) -> dict[str, Any]:
        """One entry of `modexlab prove --json`."""
        told = {"check": self.check.name, **self.outcome.as_json()}
        return told | {"says": self.check.says} if self.check.says else told


def checks(
    accelerator: Runnable, wanted: Sequence[str] = (), *, all_of_them: bool = True, kit: str = ""
) -> list[Check]:
    """All checks of an accelerator, or those of these kinds or names: the first word of a name is enough, as
    in AddRedKoc.

    all_of_them: BadInput if the accelerator lacks one. kit: of the netlists, if it is not the default.
    """
    accelerator.require_verilog()
    hardware = accelerator.rtl()
    hardware.elaborate()
    claims = claims_of(accelerator)
    found = [*unit_checks(hardware, claims.multiplier), *machine_checks(claims, kit)]
    found += guard_checks(claims, claims.guards) if claims.guards is not None else ()
    return chosen(found, wanted, accelerator.name if all_of_them else "")


def checks_of_all(nbits: int, wanted: Sequence[str] = ()) -> "Asked":
    """The checks of all designs of the catalogue with default parameters; BadInput if no design has one."""
    machines = [design.at(nbits) for design in catalogue.designs()]
    found = [(Subject.of(machine), checks(machine, wanted, all_of_them=False)) for machine in machines]
    if not any(item for _, item in found):
        raise BadInput(f"--check {' '.join(wanted)}: no design has such a check")
    return found


def chosen(found: Sequence[Check], wanted: Sequence[str], subject: str = "") -> list[Check]:
    """Select checks by name, or all; with a subject, BadInput if it lacks one."""
    for name in wanted:
        if subject and not any(_is(check, name) for check in found):
            kinds = [kind for kind in KINDS if any(check.kind == kind for check in found)]
            names = dict.fromkeys([*kinds, *(check.name.split()[0] for check in found)])
            raise BadInput(f"--check {name}: {subject} has no such check; give one of {', '.join(names)}")
    return [check for check in found if not wanted or any(_is(check, name) for name in wanted)]


def classes() -> set[str]:
    """The names of the units that have a contract."""
    return {kind.__name__ for kind in (*CONTRACTS, *ANSWERS, BitHeap)}


def first_of_each_class(nbits: int, wanted: Sequence[str] = ()) -> list[tuple[str, Check]]:
    """For each class a check of its answers or its contract, and the design that has it, with the setting
    that adds it to the design. BadInput if no design has such a unit.
    """
    missing = {name for name in classes() if not wanted or any(name == item.split()[0] for item in wanted)}
    found: list[tuple[str, Check]] = []
    for made, told in _hardware(nbits):
        if not missing:
            break
        hardware = made()
        hardware.elaborate()
        if missing.isdisjoint(type(item).__name__ for item in inside(hardware)):
            continue
        for check in unit_checks(hardware):
            name = check.name.split()[0]
            if name in missing and check.says not in ("", PROMISED):
                found.append((told, check))
                missing.remove(name)
    if not found:
        raise BadInput(f"--check {' '.join(wanted)}: no design has such a unit")
    return found


def _hardware(nbits: int) -> Iterator[tuple[Callable[[], Component], str]]:
    """Each design with its defaults, then with another value of one parameter if such a machine exists, and
    the unit of a paper that no design has.
    """
    for design in catalogue.designs():
        yield design.at(nbits).rtl, design.name
    for design in catalogue.designs():
        for param in reversed(design.params):
            legal = range(param.legal.least, nbits + 1) if isinstance(param.legal, Count) else param.legal
            for value in legal:
                if value != param.default_at(nbits):
                    with contextlib.suppress(BadInput):
                        machine = design.at(nbits, **{param.name: value})
                        yield machine.rtl, f"{design.name} {param.name}={value}"
    yield lambda: PseudoSquare(4, 15), "(no design)"


def _is(check: Check, name: str) -> bool:
    return name in (check.kind, check.name, check.name.split()[0])


def prove(check: Check, seconds: float, known: dict[str, Decision]) -> Proof:
    """Run a check within a CPU time; if the tools reject it, it is undecided, with the reason.

    known: outcomes by identity, of units that other machines have too; new ones are added.
    """
    yosys.version()  # BadInput with the remedy, if it is missing
    if (outcome := known.get(check.identity)) is None:
        began = spent()
        try:
            outcome = check.run(seconds)
        except BadInput as error:
            outcome = Decision(UNDECIDED, str(error), seconds=spent() - began)
    if check.identity:
        known[check.identity] = outcome
    return Proof(check, outcome)


# ---- as tasks, whose verdicts the store remembers


@dataclass(frozen=True)
class Proving(task.Task):
    """The task of deciding a check within a CPU time; `known`: outcomes of units of other designs."""

    subject: Subject
    check: Check
    seconds: float
    known: dict[str, Decision]

    @property
    def key(self) -> str:  # type: ignore[override]
        return f"{self.subject.key} {self.subject.name} {self.check.name}"

    @property
    def cost(self) -> task.Cost:  # type: ignore[override]
        return task.Cost((None, self.check.kind, self.subject.name, self.subject.nbits, self.check.name))

    @property
    def text(self) -> str:  # type: ignore[override]
        return f"{self.subject}: {self.check.name}"

    def run(self, report: task.Report) -> "Proven":
        proof = prove(self.check, self.seconds, self.known)
        return Proven(self.subject, self.check, proof.of(self.subject), proof)


class Proven(NamedTuple):
    """A check of a subject and its verdict, with the proof if it was made in this run."""

    subject: Subject
    check: Check
    verdict: Verdict
    proof: Proof | None = None


@dataclass(frozen=True)
class Verdicts:
    """Recorded verdicts of the same sources; `anew` ignores all of them."""

    store: Store
    anew: bool

    def recall(self, tasks: Mapping[str, Proving]) -> Iterator[task.TaskOutcome]:
        for item in () if self.anew else self.store.verdicts():
            if proving := tasks.get(f"{item.key} {item.subject} {item.name}"):
                proven = Proven(proving.subject, proving.check, item)
                yield task.TaskOutcome(proving, proven, seconds=item.seconds, reused=True)

    def keep(self, outcomes: Sequence[task.TaskOutcome]) -> Sequence[task.TaskOutcome]:
        good = [outcome for outcome in outcomes if not outcome.error]
        self.store.add([noted(outcome.result.verdict) for outcome in good])
        return outcomes


Asked = Sequence[tuple[Subject, Sequence[Check]]]


def decided(
    asked: Asked, seconds: float, progress: Progress, store: Store, *, anew: bool = False
) -> Iterator[Proven]:
    """Check subjects, and record each verdict as it arrives.

    Verdicts of the same sources in the store come first and are reused, unless `anew`.
    """
    known: dict[str, Decision] = {}
    tasks = [Proving(subject, check, seconds, known) for subject, found in asked for check in found]
    runner = Runner(Here(), progress, Verdicts(store, anew))
    for verdict in store.verdicts():
        if verdict.key:  # those of the reference have no times
            runner.estimate.learn(task.Cost((None, verdict.kind, *verdict.about)), verdict.seconds)
    return (outcome.result for outcome in runner.results(tasks))
