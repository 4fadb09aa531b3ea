"""`modexlab prove`: that a design does what its mathematics says, for all inputs, or inputs for which it does not."""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ...progress import Progress
from ...table import table
from ..arguments import (
    Commands,
    add_command,
    add_json,
    add_ledger,
    add_private,
    add_settings,
    add_width,
    answer,
    ledger_of,
    positive,
)
from .leak import machine_of

if TYPE_CHECKING:
    from ...designs.machine import Machine
    from ...lab.ledger import Ledger
    from ...lab.proof.check import Check
    from ...lab.proof.checks import Proof
    from ...lab.verdicts import Verdict

ALL = "all"
NBITS = 8
SECONDS = 60
LONGEST = 64  # letters of a name in the table
TEXT = """\
units     each unit that the design instantiates, against its mathematics: those without registers by SAT, bit
          heaps by algebra, those with streams on all of their operands, after a proof that nothing else counts
protocol  of the whole machine at all delays: no answer without a request, none lost, doubled or changed
          before it is taken, each in a bounded number of cycles
time      two machines with different exponents of a length answer in the same cycles, side by side
netlist   the flow's own proof that the netlist is the RTL
A check is proved, refuted with inputs that break it, or undecided in the seconds that it gets. The exit code is 1 if
one is refuted. With --mutants an operator of each unit is changed, and the changed unit must be refuted; with all, the units of each
class once, in a table of the faults that are found.
Verdicts go to the ledger, from which `modexlab report` has them; `modexlab prove all` takes what is there from the
same sources, so that it goes on where it was broken off. A time that depends on the exponent is no fault of a design
that says so, and with all no exit code 1."""
EXAMPLES = """\
  modexlab prove mont --check AddRedTextbook CondSub
  modexlab prove mont-001 --nbits 64 --check AddRedKoc --json
  modexlab prove mont-ct --check time protocol
  modexlab prove mont --check AddRedTextbook --mutants
  modexlab prove all --check Halve
  modexlab prove all --check Halve --mutants"""


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "prove",
        "prove that a design does what its mathematics says",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument(
        "design",
        metavar="DESIGN",
        help="a design of the catalogue (see `modexlab designs`), or all of them: all",
    )
    add_width(parser, f"default: {NBITS}; steps without registers are proved at 64 as well")
    add_settings(parser)
    add_private(parser)
    parser.add_argument(
        "--check",
        nargs="+",
        metavar="NAME",
        action="extend",
        default=[],
        help="these alone: units, protocol, time, netlist, or a unit by its name, such as AddRedKoc; may be repeated",
    )
    parser.add_argument(
        "--timeout",
        type=positive,
        default=SECONDS,
        metavar="S",
        help=f"seconds of a processor that a check gets (default: {SECONDS}); the netlist takes those of the flow",
    )
    parser.add_argument(
        "--mutants",
        action="store_true",
        help="faults planted in the units: each must be refuted, else the exit code is 1",
    )
    add_ledger(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    if args.nbits is None:
        args.nbits = NBITS
    args.key = None
    if args.design == ALL:
        return _prove_all(args)
    from ...lab.proof.checks import checks  # not at the top: it brings PyMTL3

    machine = machine_of(args)
    found = checks(machine, args.check)
    if args.mutants:
        return _prove_mutants(args, machine, found)
    with ledger_of(args) as ledger, Progress(_name(machine), unit="check", quiet=args.json) as progress:
        proofs = list(_proved(machine, found, args, progress, ledger))
    answer(args, lambda: [each.as_json() for each in proofs], lambda: list(_lines(_name(machine), proofs)))
    return 1 if any(each.refuted for each in proofs) else 0


def _prove_mutants(args: argparse.Namespace, machine: Machine, found: Sequence[Check]) -> int:
    """Faults planted in the units; nothing of the machine as it is, so nothing for the ledger."""
    planted = [mutant for each in found for mutant in each.mutants()]
    if not planted:
        raise BadInput("--mutants: faults are planted in units alone; give --check units, or the name of one")
    with Progress(_name(machine), unit="check", quiet=args.json) as progress:
        proofs = list(_proved(machine, planted, args, progress, None))
    answer(args, lambda: [each.as_json() for each in proofs], lambda: list(_lines(_name(machine), proofs)))
    return 0 if _caught(proofs) else 1


def _proved(
    machine: Machine,
    found: Sequence[Check],
    args: argparse.Namespace,
    progress: Progress,
    ledger: Ledger | None,
) -> Iterator[Proof]:
    """One check after the other, each noted as it ends."""
    from ...lab.proof.checks import prove
    from ...lab.verdicts import Verdict

    done = itertools.count()

    def report(check: Check) -> Callable[[int, int], None]:
        progress.describe(f"{_name(machine)}: {check.name}")
        progress(next(done), len(found))
        return lambda *_: None

    for proof in prove(found, args.timeout, report):
        if ledger is not None:
            ledger.note(Verdict.of(machine, proof))
        yield proof


def _prove_all(args: argparse.Namespace) -> int:
    """All designs of the catalogue as they are by default; what the ledger has is not proved again."""
    from ....flow.prove.report import REFUTED
    from ...designs.catalogue import designs
    from ...lab.proof.checks import checks
    from ...lab.verdicts import Verdict, key_of

    if args.settings or args.crt or args.verify or args.blind != "no":
        raise BadInput("all with settings of one design: --set, --crt, --blind and --verify want a design")
    if args.mutants:
        return _prove_all_mutants(args)
    told: list[Verdict] = []
    with ledger_of(args) as ledger, Progress("all", unit="check", quiet=args.json) as progress:
        for design in designs():
            machine = design.at(args.nbits)
            there = {each.name: each for each in ledger.verdicts() if each.key == key_of(machine)}
            found = checks(machine, args.check, all_of_them=False)
            for proof in _proved(
                machine, [each for each in found if each.name not in there], args, progress, ledger
            ):
                there[proof.check.name] = Verdict.of(machine, proof)
            told += [there[each.name] for each in found]
    if not told:
        raise BadInput(f"--check {' '.join(args.check)}: no design has such a check")
    answer(args, lambda: [_verdict_as_json(each) for each in told], lambda: list(_verdicts(told)))
    return 1 if any(each.verdict == REFUTED and not each.by_nature for each in told) else 0


def _prove_all_mutants(args: argparse.Namespace) -> int:
    """Of each class of units the first check that a design has, and of its mutants the first that is refuted."""
    from ....flow.prove.report import REFUTED
    from ...lab.proof.checks import first_of_each_class

    rows: list[dict[str, Any]] = []
    with Progress("mutants", unit="class", quiet=args.json) as progress:
        found = first_of_each_class(args.nbits, args.check)
        for done, (name, (design, check)) in enumerate(found.items()):
            progress.describe(check.name)
            progress(done, len(found))
            tried = 0
            row = {"class": name, "design": design, "check": check.name, "refuted": False}
            for mutant in check.mutants():
                tried += 1
                outcome = mutant.run(args.timeout, lambda *_: None)
                if outcome.verdict == REFUTED:
                    what = mutant.name.removeprefix(f"{check.name}: ")
                    row |= {
                        "refuted": True,
                        "mutant": what,
                        "how": outcome.how,
                        "seconds": round(outcome.seconds, 2),
                    }
                    break
            rows.append(row | {"tried": tried})
    if not rows:
        raise BadInput(f"--check {' '.join(args.check)}: no design has such a unit")
    answer(args, lambda: rows, lambda: list(_refutations(rows)))
    return 0 if all(each["refuted"] for each in rows) else 1


def _refutations(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A class on a line: the fault that was planted, and how it was found."""
    head = ("unit", "mutant", "found by", "s")
    yield table(
        head,
        [
            (each["class"], _cut(each["mutant"]), each["how"], f"{each['seconds']:.1f}")
            if each["refuted"]
            else (each["class"], f"none of {each['tried']} is refuted", "-", "-")
            for each in rows
        ],
    )
    yield ""
    yield f"{sum(each['refuted'] for each in rows)} of {len(rows)} classes: a mutant is refuted"


def _verdict_as_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "design": verdict.subject,
        "nbits": verdict.nbits,
        "check": verdict.name,
        "verdict": verdict.verdict,
        "seconds": round(verdict.seconds, 2),
        "how": verdict.how,
    }


def _verdicts(found: Sequence[Verdict]) -> Iterator[str]:
    """A line for each, and how many."""
    head = ("design", "check", "verdict", "s", "how")
    yield table(
        head,
        [(each.subject, _cut(each.name), each.verdict, f"{each.seconds:.1f}", each.how) for each in found],
    )
    counted = Counter(each.verdict for each in found)
    yield ""
    yield ", ".join(f"{count} {verdict}" for verdict, count in counted.most_common())


def _name(machine: Machine) -> str:
    return f"{machine.design.name}, {machine.nbits} bits"


def _caught(proofs: Sequence[Proof]) -> bool:
    """Whether a mutant of each unit is refuted; some change nothing that counts."""
    units = {_unit(each) for each in proofs}
    return units == {_unit(each) for each in proofs if each.refuted}


def _unit(proof: Proof) -> str:
    return proof.check.name.partition(": ")[0]


def _lines(name: str, proofs: Sequence[Proof]) -> Iterator[str]:
    yield name
    rows = [
        (_cut(each.check.name), each.outcome.verdict, f"{each.outcome.seconds:.1f}", each.outcome.how)
        for each in proofs
    ]
    yield table(("check", "verdict", "s", "how"), rows)
    for each in proofs:
        if each.outcome.counterexample:
            yield ""
            yield f"{each.check.name} is refuted by"
            yield from (f"  {_inputs(cycle)}" for cycle in each.outcome.counterexample)


def _inputs(cycle: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value:#x}" for name, value in cycle.items()) or "(any inputs)"


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
