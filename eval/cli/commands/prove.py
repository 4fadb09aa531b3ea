"""`modexlab prove`: prove that a design meets its specification for all inputs, or find a counterexample."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ....flow.prove.report import REFUTED
from ...assurance.proof.check import KINDS, UNITS
from ...json_values import attributes
from ...lab.verdicts import PROC
from ...progress import Progress
from ...table import table
from ..arguments import (
    add_json,
    add_ledger,
    add_manifests,
    add_private,
    add_settings,
    add_width,
    answer,
    interrupted,
    ledger_of,
    positive,
    warn,
)
from .leak import machine_of

if TYPE_CHECKING:
    from ...assurance.proof.check import Check
    from ...assurance.proof.mutants import Search
    from ...assurance.proof.registry import Proof
    from ...lab.ledger.ledger import Ledger
    from ...lab.schedulers import Outcome
    from ...lab.verdicts import Subject, Verdict

ALL = "all"
NBITS = 8
SECONDS = 60
LONGEST = 64  # letters of a name in the table
SUMMARY = "prove that a design does what its mathematics says"
TEXT = """\


units     each unit that the design instantiates, against its mathematics: those without registers by SAT, bit
          heaps by algebra, those with streams on all of their operands, after a proof that nothing else counts
protocol  of the whole accelerator at all delays: no answer without a request, none lost, doubled or changed
          before it is taken, each in a bounded number of cycles
axi4lite  the rules of that bus, of the channels that the machine has on it, whatever a master does that keeps the rules
time      two copies of the machine with different exponents answer in the same cycles: exponents of the same
          length, or any if the machine promises it; different bases too, if it promises that.
          An accelerator of another kind: any values of its secret fields (of all if none is secret),
          and of promised ones
refusal   invalid operands, and no others, are answered with an error status and result 0
wipe      the data memory holds the same words after every computation, whatever was computed
zeroise   behind AXI4-Lite, zeroise leaves no operand or result, delivers no pending answer, and has the
          machine's state overwritten
netlist   the flow's own proof that the netlist is the RTL
placed    the placed netlist is that netlist, cell by cell
Of the processor: each instruction against the manual, and what riscv-formal asks of a pipeline, in so many cycles from any state.
A check is proved, refuted by a counterexample, or undecided within its CPU-time limit. The exit code is 1
if a check is refuted or, with all and proc, if a check that the reference lists as proved is not proved
or, without --check, does not exist any more.
--mutants changes one operator of each unit and requires that the mutant is refuted; with all, it takes each
class of units once and prints a table of the mutants found.
Verdicts go to the ledger, from which `modexlab report` has them; `prove all` and `prove proc` take what is there from the
same sources, so that they go on where they were broken off. A time that depends on the exponent is no fault of a design
that says so, and with all no exit code 1."""
EXAMPLES = """\
  modexlab prove mont --check AddRedTextbook CondSub
  modexlab prove mont-001 --nbits 64 --check AddRedKoc --json
  modexlab prove mont-ct --check time protocol
  modexlab prove --accelerator gcd --check protocol
  modexlab prove mont --check AddRedTextbook --mutants
  modexlab prove all --check Halve
  modexlab prove all --check Halve --mutants
  modexlab prove proc --check "insn add" ill"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "design",
        metavar="DESIGN",
        nargs="?",
        help=f"a design of the catalogue (see `modexlab show`), all of them: {ALL}, or the processor: {PROC}",
    )
    add_manifests(parser)
    add_width(parser, f"default: {NBITS}; steps without registers are proved at 64 as well")
    add_settings(parser)
    add_private(parser)
    parser.add_argument(
        "--check",
        nargs="+",
        metavar="NAME",
        action="extend",
        default=[],
        help=f"these alone: {', '.join(KINDS)}, or a unit by its name, such as AddRedKoc; may be repeated",
    )
    parser.add_argument(
        "--timeout",
        type=positive,
        default=SECONDS,
        metavar="S",
        help=f"seconds of a processor that a check gets (default: {SECONDS}); netlists take those of the "
        "flow",
    )
    parser.add_argument(
        "--mutants",
        action="store_true",
        help="faults planted in the units: each must be refuted, else the exit code is 1",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help=f"with {ALL} or {PROC}: make these verdicts the reference (eval/results/proofs.jsonl)",
    )
    add_ledger(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    if args.design == PROC:
        return _prove_processor(args)
    if args.nbits is None:
        args.nbits = NBITS
    args.key = None
    if args.design == ALL:
        return _prove_all(args)
    from ...assurance.proof.registry import checks  # not at the top: it brings PyMTL3
    from ...lab.verdicts import Subject

    if args.record:
        raise BadInput(
            f"--record with {args.design or 'one design'}: only complete runs become the reference; "
            f"give {ALL} or {PROC}"
        )
    accelerator = machine_of(args)
    found = checks(accelerator, args.check)
    if args.mutants:
        planted = [(accelerator.name, check) for check in found if check.kind == UNITS and check.says]
        if not planted:
            raise BadInput(
                "--mutants: faults are planted in units alone; give --check units, or the name of one"
            )
        return _prove_mutants(args, planted)
    subject = Subject.of(accelerator)
    with ledger_of(args) as ledger, Progress(str(subject), unit="check", quiet=args.json) as progress:
        proofs = [
            done.result for done in _proved([(subject, found)], args.timeout, progress, ledger, anew=True)
        ]
    answer(args, lambda: [item.as_json() for item in proofs], lambda: list(_lines(str(subject), proofs)))
    return 1 if any(item.refuted for item in proofs) else 0


def _prove_processor(args: argparse.Namespace) -> int:
    """Prove the processor's instructions, without those that the ledger has."""
    from ...assurance.proof.processor.processor_checks import processor_checks
    from ...assurance.proof.registry import chosen
    from ...lab.verdicts import Subject

    if args.settings or args.nbits or args.crt or args.verify or args.blind != "no":
        raise BadInput(f"{PROC} with settings of a design: the processor is proved as it is by default")
    found = chosen(list(processor_checks()), args.check, PROC)
    if args.mutants:
        return _prove_mutants(args, [(PROC, check) for check in found])
    return _prove_what_is_new(args, lambda: [(Subject.processor(), found)])


def _prove_mutants(args: argparse.Namespace, found: Sequence[tuple[str, Check]]) -> int:
    """Faults planted in units, by design and check; nothing of a machine as it is, so nothing for the
    ledger.
    """
    from ...assurance.proof.mutants import first_refuted

    searches: list[tuple[str, Search]] = []
    with Progress("mutants", unit="unit", quiet=args.json) as progress:
        for design, check in found:
            progress(len(searches), len(found))

            def report(what: str, name: str = check.name) -> None:
                progress.describe(f"{name}: {what}")

            searches.append((design, first_refuted(check, args.timeout, report)))
    answer(
        args,
        lambda: [{"design": design, **item.as_json()} for design, item in searches],
        lambda: list(_refutations(searches)),
    )
    return 0 if all(item.refuted for _, item in searches) else 1


def _proved(
    asked: Sequence[tuple[Subject, Sequence[Check]]],
    seconds: float,
    progress: Progress,
    ledger: Ledger,
    anew: bool = False,
) -> Iterator[Outcome]:
    """Checks of subjects, each noted as it ends; those that the ledger has from the same sources come first
    unless they are proved anew.
    """
    from ...assurance.proof.campaign import Proving, Verdicts
    from ...lab.campaign import Campaign
    from ...lab.schedulers import Here

    known: dict[str, Any] = {}
    tasks = [Proving(subject, check, seconds, known) for subject, found in asked for check in found]
    return Campaign(Here(), progress, Verdicts(ledger, anew)).results(tasks)


def _prove_all(args: argparse.Namespace) -> int:
    """All designs of the catalogue as they are by default."""
    from ...assurance.proof.registry import checks, first_of_each_class
    from ...designs.catalogue import designs
    from ...lab.verdicts import Subject

    if args.settings or args.crt or args.verify or args.blind != "no":
        raise BadInput("all with settings of one design: --set, --crt, --blind and --verify want a design")
    if args.mutants:
        firsts = first_of_each_class(args.nbits, args.check)
        if not firsts:
            raise BadInput(f"--check {' '.join(args.check)}: no design has such a unit")
        return _prove_mutants(args, list(firsts.values()))

    def asked() -> Sequence[tuple[Subject, Sequence[Check]]]:
        machines = [design.at(args.nbits) for design in designs()]
        found = [
            (Subject.of(machine), checks(machine, args.check, all_of_them=False)) for machine in machines
        ]
        if not any(item for _, item in found):
            raise BadInput(f"--check {' '.join(args.check)}: no design has such a check")
        return found

    return _prove_what_is_new(args, asked)


def _prove_what_is_new(
    args: argparse.Namespace, read: Callable[[], Sequence[tuple[Subject, Sequence[Check]]]]
) -> int:
    """Checks of which the ledger has no verdict from the same sources, and all of them told."""
    from ...assurance.proof import reference

    told: dict[Any, Verdict] = {}
    refuted: list[str] = []
    with ledger_of(args) as ledger, Progress("reading designs", unit="check", quiet=args.json) as progress:
        found = read()
        asked = [(subject.name, check.name) for subject, checks in found for check in checks]
        try:
            for done in _proved(found, args.timeout, progress, ledger):
                name = done.task.subject.name, done.task.check.name
                told[name] = done.result if done.reused else done.result.of(done.task.subject)
                if not done.reused:
                    refuted += _counterexample(" ".join(name), done.result)
        except KeyboardInterrupt:
            return interrupted(f"{len(told)} of {len(asked)} checks are in the ledger")
    verdicts = [told[name] for name in asked]
    answer(
        args,
        lambda: [_verdict_as_json(item) for item in verdicts],
        lambda: [*_verdicts(verdicts), *refuted],
    )
    gone = [] if args.check else reference.gone(verdicts, verdicts[0].nbits)
    lost = [] if args.record else reference.lost(verdicts)
    if args.record:
        reference.record(verdicts, gone)
    else:
        lost += [
            f"{subject} {check}: is recorded, but no such check exists now" for subject, _, check in gone
        ]
    for message in lost:
        warn(message)
    return (
        1 if lost or any(verdict.verdict == REFUTED and not verdict.by_nature for verdict in verdicts) else 0
    )


def _refutations(searches: Sequence[tuple[str, Search]]) -> Iterator[str]:
    """Return a line for each unit: the fault found, how it was found, and the results of the faults before
    it.
    """
    head = ("design", "check", "mutant", "found by", "s", "before it")
    yield table(
        head,
        [
            (
                design,
                _cut(item.check.name),
                _cut(item.what) or "none is refuted",
                item.outcome.how if item.outcome else "-",
                f"{item.outcome.seconds:.1f}" if item.outcome else "-",
                _before(item),
            )
            for design, item in searches
        ],
    )
    yield ""
    yield f"{sum(search.refuted for _, search in searches)} of {len(searches)}: a mutant is refuted"


def _before(search: Search) -> str:
    """Faults that did not refute the check, counted by what they came to."""
    counted = {
        "no hardware": search.refused,
        "the same unit": len(search.same),
        "not seen": len(search.unseen),
        "undecided": len(search.undecided),
    }
    return ", ".join(f"{count} {what}" for what, count in counted.items() if count) or "-"


def _verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "design": verdict.subject,
        "check": verdict.name,
        **attributes(verdict, "nbits", "verdict", "how"),
        "seconds": round(verdict.seconds, 2),
    }


def _verdicts(found: Sequence[Verdict]) -> Iterator[str]:
    """A line for each, and how many."""
    head = ("design", "check", "verdict", "s", "how")
    yield table(
        head,
        [(item.subject, _cut(item.name), item.verdict, f"{item.seconds:.1f}", item.how) for item in found],
    )
    counted = Counter(item.verdict for item in found)
    yield ""
    yield ", ".join(f"{count} {verdict}" for verdict, count in counted.most_common())


def _lines(name: str, proofs: Sequence[Proof]) -> Iterator[str]:
    yield name
    rows = [
        (_cut(proof.check.name), proof.outcome.verdict, f"{proof.outcome.seconds:.1f}", proof.outcome.how)
        for proof in proofs
    ]
    yield table(("check", "verdict", "s", "how"), rows)
    for proof in proofs:
        yield from _counterexample(proof.check.name, proof)


def _counterexample(name: str, proof: Proof) -> Iterator[str]:
    """The inputs by which a check breaks, cycle by cycle."""
    if proof.outcome.counterexample:
        yield ""
        yield f"{name} is refuted by"
        yield from (f"  {_inputs(cycle)}" for cycle in proof.outcome.counterexample)


def _inputs(cycle: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value:#x}" for name, value in cycle.items()) or "(any inputs)"


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
