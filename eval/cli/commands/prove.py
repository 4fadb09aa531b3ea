"""Prove that a design does what its mathematics says.

Checks of a design:

units     each unit against its mathematics: combinational units by SAT, bit heaps by algebra, units with
          streams for all operands, after a proof that nothing else matters
protocol  for all delays: no answer without a request; none is lost, duplicated or changed before it is
          accepted; each comes within a bounded number of cycles
axi4lite  the rules of AXI4-Lite on the channels of the machine, for every master that obeys them
time      two copies of the machine with different exponents answer in the same cycles: exponents of the same
          length, or any if the machine promises it; different bases too if it promises that.
          For other accelerators: any values of the secret fields (of all if none is secret)
refusal   exactly the invalid operands are answered with an error status and result 0
wipe      the data memory holds the same words after every computation
zeroise   behind AXI4-Lite, zeroise leaves no operand or result, drops the pending answer, and overwrites the
          state of the machine
netlist   the netlist is equivalent to the RTL (the proof of the flow)
placed    the placed netlist is that netlist, cell by cell

Checks of the processor (proc): each instruction against the manual, and the checks of riscv-formal for a
bounded number of cycles from any state.

A check is proved, disproved by a counterexample, or undecided within its CPU-time limit. The exit
code is 1 if a check is disproved or, for `all` and `proc`, if a check that the reference lists as proved is
not proved or (without --check) no longer exists. The time of a design that does not promise constant time
may depend on the exponent; for `all` this does not change the exit code.

--mutants changes one operator of each unit and requires that the mutant is disproved; for `all` it does so
once for each class of units and prints a table of the mutants.

Verdicts go to the ledger; `modexlab report` shows them. `prove all` and `prove proc` reuse the verdicts of
the same sources, so an interrupted run continues.

examples:
  modexlab prove mont-ct --check time protocol
  modexlab prove mont --check AddRedKoc CondSub
  modexlab prove --accelerator gcd --check protocol
  modexlab prove mont-001 --nbits 64 --check AddRedKoc --json
  modexlab prove mont --check AddRedKoc --mutants
  modexlab prove mont --check netlist --kit sky130hd
  modexlab prove all --check Halve
  modexlab prove all --check Halve --mutants
  modexlab prove proc --check "insn add" ill
"""

from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ....flow.prove.report import REFUTED
from ...assurance.proof.check import KINDS, UNITS, Check
from ...assurance.proof.mutants import Search, first_refuted
from ...assurance.proof.processor.processor_checks import processor_checks
from ...designs.catalogue import designs
from ...json_values import attributes
from ...lab import verdicts as reference
from ...lab.campaign import Campaign
from ...lab.ledger.ledger import Ledger
from ...lab.schedulers import Here, TaskOutcome
from ...lab.task import Cost
from ...lab.verdicts import PROC, Subject
from ...progress import Progress
from ..arguments import refuse
from ..exit_codes import FAILED
from ..laboratory import kit_of, ledger_of
from ..options import PRIVATE, flag, option, positive, repeated, shared
from ..render import Columns, Table, answer, interrupted, warn
from .attack.leak import machine_of

if TYPE_CHECKING:
    from ...assurance.proof.registry import Proof

ALL = "all"
NBITS = 8
SECONDS = 60
LONGEST = 64  # letters of a name in the table
Asked = Sequence[tuple[Subject, Sequence[Check]]]


OPTIONS = (
    f"design (or `{ALL}` for all of them, or `{PROC}` for the processor)",
    "--accelerator",
    f"--nbits (default: {NBITS}; steps without registers are proved at 64 as well)",
    "--set",
    *PRIVATE,
    shared("--kit", "of the checks netlist and placed"),
    repeated(
        "--check",
        "NAME",
        f"only these: {', '.join(KINDS)}, or the name of a unit, such as AddRedKoc; may be repeated",
        nargs="+",
        action="extend",
    ),
    option(
        "--timeout",
        "S",
        f"longest time of a task in seconds (CPU time; default: {SECONDS}; of netlists that of the flow)",
        type=positive,
        default=SECONDS,
    ),
    flag("--mutants", "plant faults in the units; the exit code is 1 if one is not found"),
    flag("--record", f"make these results the reference (with {ALL} or {PROC})"),
    "--ledger",
    "--json",
)


CHECK: Columns = {
    "check": lambda report: _cut(report["check"]),
    "verdict": "verdict",
    "s": "seconds:.1f",
    "how": "how",
}


def execute(args: Namespace) -> int:
    if args.design in (PROC, ALL):
        refuse(
            args,
            ("kit", "settings", *PRIVATE),
            f" with {args.design}: only defaults are proved, with the default kit; name a design",
        )
    if args.design == PROC:
        return _prove_processor(args)
    if args.nbits is None:
        args.nbits = NBITS
    args.key = None
    if args.design == ALL:
        return _prove_all(args)
    from ...assurance.proof.registry import checks  # not at the top: it needs the extra [flow]

    if args.record:
        raise BadInput(
            f"--record with {args.design or 'one design'}: only complete runs become the reference; "
            f"give {ALL} or {PROC}"
        )
    accelerator = machine_of(args)
    found = checks(accelerator, args.check, kit=kit_of(args, installed=True))
    if args.mutants:
        planted = [(accelerator.name, check) for check in found if check.kind == UNITS and check.says]
        if not planted:
            raise BadInput(
                "--mutants: faults are planted in units only; give --check units, or the name of one"
            )
        return _prove_mutants(args, planted)
    subject = Subject.of(accelerator)
    with ledger_of(args) as ledger, Progress(str(subject), unit="check", quiet=args.json) as progress:
        outcomes = _proved([(subject, found)], args.timeout, progress, ledger, anew=True)
        proofs = [done.result for done in outcomes]
    reports = [proof.as_json() for proof in proofs]
    return answer(
        args,
        reports,
        Table.of(reports, CHECK, str(subject)),
        *(_counterexample(proof.check.name, proof) for proof in proofs),
        ok=not any(proof.refuted for proof in proofs),
    )


def _prove_processor(args: Namespace) -> int:
    """Prove the processor's instructions, except those with a verdict in the ledger."""
    from ...assurance.proof.registry import chosen

    refuse(args, ["nbits"], f" with {PROC}: the processor has 32 bits; drop it")
    found = chosen(list(processor_checks()), args.check, PROC)
    if args.mutants:
        return _prove_mutants(args, [(PROC, check) for check in found])
    return _prove_what_is_new(args, lambda: [(Subject.processor(), found)])


def _prove_mutants(args: Namespace, found: Sequence[tuple[str, Check]]) -> int:
    """Plant faults in units, by design and check; verdicts on mutants do not go to the ledger."""
    searches: list[tuple[str, Search]] = []
    with Progress("mutants", unit="unit", quiet=args.json) as progress:
        for design, check in found:
            progress(len(searches), len(found))

            def report(what: str, name: str = check.name) -> None:
                progress.describe(f"{name}: {what}")

            searches.append((design, first_refuted(check, args.timeout, report)))
    refuted = sum(search.refuted for _, search in searches)
    return answer(
        args,
        [{"design": design, **search.as_json()} for design, search in searches],
        _mutants(searches),
        f"{refuted} of {len(searches)} checks disprove a mutant",
        ok=refuted == len(searches),
    )


def _proved(
    asked: Asked,
    seconds: float,
    progress: Progress,
    ledger: Ledger,
    anew: bool = False,
) -> Iterator[TaskOutcome]:
    """Check subjects, and record each verdict as it arrives.

    Verdicts of the same sources in the ledger come first and are reused, unless `anew`.
    """
    from ...assurance.proof.registry import Proving, Verdicts

    known: dict[str, Any] = {}
    tasks = [Proving(subject, check, seconds, known) for subject, found in asked for check in found]
    campaign = Campaign(Here(), progress, Verdicts(ledger, anew))
    for verdict in ledger.verdicts():
        if verdict.key:  # those of the reference have no times
            campaign.estimate.learn(Cost((None, verdict.kind, *verdict.about)), verdict.seconds)
    return campaign.results(tasks)


def _prove_all(args: Namespace) -> int:
    """Prove all designs of the catalogue with default parameters."""
    from ...assurance.proof.registry import checks, first_of_each_class

    if args.mutants:
        firsts = first_of_each_class(args.nbits, args.check)
        if not firsts:
            raise BadInput(f"--check {' '.join(args.check)}: no design has such a unit")
        return _prove_mutants(args, list(firsts.values()))

    def asked() -> Asked:
        found = [
            (Subject.of(machine), checks(machine, args.check, all_of_them=False))
            for machine in (design.at(args.nbits) for design in designs())
        ]
        if not any(item for _, item in found):
            raise BadInput(f"--check {' '.join(args.check)}: no design has such a check")
        return found

    return _prove_what_is_new(args, asked)


def _prove_what_is_new(args: Namespace, read: Callable[[], Asked]) -> int:
    """Prove the checks without a verdict of the same sources in the ledger, and print all verdicts."""
    known = {}
    refuted = []
    with ledger_of(args) as ledger, Progress("reading designs", unit="check", quiet=args.json) as progress:
        found = read()
        asked = [(subject.name, check.name) for subject, checks in found for check in checks]
        try:
            for done in _proved(found, args.timeout, progress, ledger):
                name = done.task.subject.name, done.task.check.name
                known[name] = done.result if done.reused else done.result.of(done.task.subject)
                if not done.reused:
                    refuted.append(_counterexample(" ".join(name), done.result))
        except KeyboardInterrupt:
            return interrupted(f"{len(known)} of {len(asked)} checks are in the ledger")
    verdicts = [known[name] for name in asked]
    counted = Counter(verdict.verdict for verdict in verdicts)
    total = ", ".join(f"{count} {verdict}" for verdict, count in counted.most_common())
    reports = [
        {"design": verdict.subject, "check": verdict.name, **attributes(verdict, "nbits", "verdict", "how")}
        | {"seconds": round(verdict.seconds, 2)}
        for verdict in verdicts
    ]
    answer(args, reports, Table.of(reports, {"design": "design", **CHECK}), total, *refuted)
    gone = [] if args.check else reference.gone(verdicts, verdicts[0].nbits)
    lost = [] if args.record else reference.lost(verdicts)
    if args.record:
        reference.record(verdicts, gone)
    else:
        lost += [f"{subject} {check}: is recorded, but no longer exists" for subject, _, check in gone]
    for message in lost:
        warn(message)
    wrong = any(verdict.verdict == REFUTED and not verdict.by_nature for verdict in verdicts)
    return FAILED if lost or wrong else 0


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."


def _mutants(searches: Sequence[tuple[str, Search]]) -> Table:
    """A row for each unit: the disproved mutant, how it was disproved, and the outcomes of those
    before it.
    """
    rows = []
    for design, search in searches:
        counted = {
            "no hardware": search.refused,
            "the same unit": len(search.same),
            "not seen": len(search.unseen),
            "undecided": len(search.undecided),
        }
        outcome = search.outcome
        rows.append(
            (
                design,
                _cut(search.check.name),
                _cut(search.what) or "none is disproved",
                *((outcome.how, f"{outcome.seconds:.1f}") if outcome else (None, None)),
                ", ".join(f"{count} {what}" for what, count in counted.items() if count) or "-",
            )
        )
    return Table(("design", "check", "mutant", "found by", "s", "before it"), rows)


def _counterexample(name: str, proof: "Proof") -> str:
    """The inputs that disprove a check, cycle by cycle."""
    cycles = [
        ", ".join(f"{port} = {value:#x}" for port, value in cycle.items()) or "(any inputs)"
        for cycle in proof.outcome.counterexample or ()
    ]
    return "\n  ".join([f"{name} is disproved by", *cycles]) if cycles else ""
