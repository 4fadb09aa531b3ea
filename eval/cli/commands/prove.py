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

Verdicts go to the store; `modexlab report` shows them. `prove all` and `prove proc` reuse the verdicts of
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
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....fl.errors import BadInput
from ....flow.prove.report import REFUTED
from ...assurance.proof.check import KINDS
from ...assurance.proof.mutants import Search, first_refuted
from ...assurance.proof.processor.processor_checks import processor_checks
from ...json_values import attributes
from ...lab.store import reference_verdicts as reference
from ...lab.verdicts import PROC, Subject
from ...progress import Progress
from ..arguments import one_entry, program_settings, refuse
from ..exit_codes import FAILED
from ..laboratory import kit_of, store_of
from ..options import PRIVATE, SETTINGS, flag, option, positive, repeated, shared
from ..render import Columns, Table, answer, interrupted, warn

if TYPE_CHECKING:
    from ...assurance.proof.registry import Asked, Proof, Proven

ALL = "all"
NBITS = 8
SECONDS = 60
LONGEST = 64  # letters of a name in the table


OPTIONS = (
    f"design (or `{ALL}` for all of them, or `{PROC}` for the processor)",
    "--accelerator",
    f"--nbits (default: {NBITS}; steps without registers are proved at 64 as well)",
    *SETTINGS,
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
    "--store",
    "--json",
)


CHECK: Columns = {
    "check": lambda report: _cut(report["check"]),
    "verdict": "verdict",
    "s": "seconds:.1f",
    "how": "how",
}


def execute(args: Namespace) -> int:
    from ...assurance.proof.registry import decided  # not at the top: it needs the extra [flow]

    _refuse(args)
    if args.mutants:
        return _prove_mutants(args)
    whole = args.design in (PROC, ALL)
    done: list[Proven] = []
    with store_of(args) as store, Progress("reading checks", unit="check", quiet=args.json) as progress:
        asked = _asked(args)
        try:
            for proven in decided(asked, args.timeout, progress, store, anew=not whole):
                done.append(proven)
        except KeyboardInterrupt:
            if not whole:  # the same command proves all checks again
                raise
            count = sum(len(checks) for _, checks in asked)
            return interrupted(f"{len(done)} of {count} checks are in the store")
    names = [(subject.name, check.name) for subject, checks in asked for check in checks]
    done.sort(key=lambda proven: names.index((proven.subject.name, proven.check.name)))
    return _answer_whole(args, done) if whole else _answer_one(args, done)


def _refuse(args: Namespace) -> None:
    """BadInput for impossible options."""
    if args.design in (PROC, ALL):
        refuse(
            args,
            ("kit", "settings", *PRIVATE),
            f" with {args.design}: only defaults are proved, with the default kit; name a design",
        )
    elif args.record:
        raise BadInput(
            f"--record with {args.design or 'one design'}: only complete runs become the reference; "
            f"give {ALL} or {PROC}"
        )
    if args.design == PROC:
        refuse(args, ["nbits"], f" with {PROC}: the processor has 32 bits; drop it")


def _asked(args: Namespace) -> "Asked":
    """The subjects and their checks."""
    from ...assurance.proof.registry import checks, checks_of_all, chosen

    if args.design == PROC:
        return [(Subject.processor(), chosen(list(processor_checks()), args.check, PROC))]
    nbits = NBITS if args.nbits is None else args.nbits
    if args.design == ALL:
        return checks_of_all(nbits, args.check)
    design, kit = one_entry(args), kit_of(args, installed=True)
    accelerator = design.at(nbits, **program_settings(args, design, nbits))
    return [(Subject.of(accelerator), checks(accelerator, args.check, kit=kit))]


def _prove_mutants(args: Namespace) -> int:
    """Plant faults in units; verdicts on mutants do not go to the store."""
    from ...assurance.proof.registry import first_of_each_class

    if args.design == ALL:
        planted = first_of_each_class(NBITS if args.nbits is None else args.nbits, args.check)
    else:
        planted = [
            (subject.label, check) for subject, found in _asked(args) for check in found if check.mutable
        ]
        if not planted:
            raise BadInput(
                "--mutants: faults are planted in units only; give --check units, or the name of one"
            )
    searches: list[tuple[str, Search]] = []
    with Progress("mutants", unit="unit", quiet=args.json) as progress:
        for design, check in planted:
            progress(len(searches), len(planted))
            searches.append((design, first_refuted(check, args.timeout, progress.describe)))
    refuted = sum(search.refuted for _, search in searches)
    return answer(
        args,
        [{"design": design, **search.as_json()} for design, search in searches],
        _mutants(searches),
        f"{refuted} of {len(searches)} checks disprove a mutant",
        ok=refuted == len(searches),
    )


def _answer_one(args: Namespace, done: Sequence["Proven"]) -> int:
    """Print the proofs of one accelerator, with counterexamples."""
    proofs = [proven.proof for proven in done if proven.proof is not None]
    reports = [proof.as_json() for proof in proofs]
    return answer(
        args,
        reports,
        Table.of(reports, CHECK, str(done[0].subject) if done else ""),
        *(_counterexample(proof.check.name, proof) for proof in proofs),
        ok=not any(proof.refuted for proof in proofs),
    )


def _answer_whole(args: Namespace, done: Sequence["Proven"]) -> int:
    """Print all verdicts, and compare them with the reference or, with --record, make them the reference."""
    verdicts = [proven.verdict for proven in done]
    counted = Counter(verdict.verdict for verdict in verdicts)
    total = ", ".join(f"{count} {verdict}" for verdict, count in counted.most_common())
    reports = [
        {"design": verdict.subject, "check": verdict.name, **attributes(verdict, "nbits", "verdict", "how")}
        | {"seconds": round(verdict.seconds, 2)}
        for verdict in verdicts
    ]
    refuted = (
        _counterexample(f"{proven.subject.name} {proven.check.name}", proven.proof)
        for proven in done
        if proven.proof is not None
    )
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
