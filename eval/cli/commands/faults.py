"""`modexlab attack faults`: inject single-bit faults, and run the Bellcore attack on wrong CRT results."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput, shown
from ...json_values import json_number
from ...progress import Progress
from ..arguments import (
    add_json,
    add_ledger,
    answer,
    interrupted,
    ledger_of,
    number,
    positive,
)
from .leak import add_machine, identity, machine_of

if TYPE_CHECKING:
    from ...assurance.attacks.fault_campaign import FaultCampaign

SHOWN = 12  # registers
NUMBERS = ("n", "e", "message", "signature", "faulty_signature", "factor", "other_factor")
SUMMARY = "flip bits of a design, and count wrong results"
TEXT = """\
Each fault flips one flip-flop in one cycle, and the operation continues: an exponentiation, or a request
that an accelerator of another kind accepts, whose response is compared with its function. If they are few,
all faults are injected, otherwise a random sample of --samples. The outcome is the right result (no effect),
an error status instead of a result (caught), no answer within three times the usual cycles (hang), or a wrong
result. --crt and --blind include the result check, unless --set verify=false removes it. With CRT and no
check, one wrong signature reveals a prime of the key (Bellcore), which is printed. The ledger keeps the
outcomes: after Ctrl-C the same command continues. The exit code is 1 if a wrong result was released."""
EXAMPLES = """\
  modexlab attack faults mont-001 --nbits 16 --samples 500
  modexlab attack faults mont --nbits 16 --crt --samples 500
  modexlab attack faults mont --nbits 32 --crt --set verify=false --bellcore
  modexlab attack faults mont --nbits 8 --netlist --samples 300
  modexlab attack faults --accelerator gcd --nbits 8
  modexlab attack faults mont --nbits 16 --crt --blind --samples 200 --json > faults.json"""


def add(parser: argparse.ArgumentParser) -> None:
    add_machine(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--exhaustive", action="store_true", help="every bit in every cycle, however many they are"
    )
    which.add_argument("--samples", type=positive, metavar="N", help="so many that are drawn")
    parser.add_argument(
        "--operations",
        type=positive,
        default=4,
        metavar="N",
        help="different operations that the faults meet (default: 4)",
    )
    parser.add_argument(
        "--bellcore",
        action="store_true",
        help="end with the first wrong result that gives a prime of the key",
    )
    parser.add_argument(
        "--seed", type=number, default=1, metavar="N", help="of all that is drawn (default: 1)"
    )
    parser.add_argument(
        "--netlist",
        action="store_true",
        help="in the netlist of the flow: nets that are stuck at 0 or at 1, or flip in a cycle",
    )
    add_ledger(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ...assurance.attacks.bellcore import key_by_crt
    from ...assurance.attacks.fault_campaign import FaultCampaign
    from ...designs.machine import Machine  # not at the top: it brings PyMTL3

    machine = machine_of(args)
    name = f"{machine.name}, {machine.nbits} bits"
    if args.bellcore and key_by_crt(machine) is None:
        raise BadInput(
            "--bellcore without CRT: a wrong result tells a prime only where it is put together of two; add "
            "--crt"
        )
    with Progress(f"{name}: compiling", unit="fault", quiet=args.json) as progress:
        kind = FaultCampaign
        if args.netlist:
            from ...assurance.attacks.net_campaign import NetCampaign as kind  # this one the flow, too
        campaign = kind(machine, args.operations, args.seed)
        faults = campaign.faults(args.samples, args.exhaustive)
        progress.describe(name)
        enough = (lambda campaign: bool(campaign.factored)) if args.bellcore else None
        try:
            campaign.run(faults, progress, enough, ledger_of(args))
        except KeyboardInterrupt:
            return interrupted(f"{len(campaign.outcomes):,} of {len(faults):,} faults are in the ledger")
    report = {
        **identity(machine),
        **(
            {"checked": machine.keyed and machine.programmed.recipe.verify}
            if isinstance(machine, Machine)
            else {}
        ),
        **campaign.as_json(),
    }
    if told := report["bellcore"]:
        report["bellcore"] = {
            name: json_number(value) if name in NUMBERS else value for name, value in told.items()
        }
    answer(args, lambda: report, lambda: list(_lines(report, campaign)))
    return 1 if report["wrong_result"] else 0


def _lines(report: dict[str, Any], campaign: FaultCampaign) -> Iterator[str]:
    sites = f"{report['nets']:,} nets" if "nets" in report else f"{report['flip_flops']:,} flip-flops"
    check = ""
    if "checked" in report:
        check = ", the result is checked" if report["checked"] else ", no check of the result"
    how = "every one of them" if report["exhaustive"] else f"{report['injected']:,} of them, drawn"
    yield (
        f"{report['design']}, {report['nbits']} bits{check}: {sites} in {report['cycles']:,} cycles "
        f"are {report['possible']:,} faults; {how}"
    )
    for name, key in (
        ("no effect", "no_effect"),
        ("caught", "caught"),
        ("hang", "hang"),
        ("wrong result", "wrong_result"),
    ):
        yield f"{name:<14}  {report[key]:>9,}  {report[key] / max(1, report['injected']):7.2%}"
    if not report["exhaustive"]:
        yield (
            f"{'':<14}  of all that there are, wrong results at most {report['wrong_result_at_most']:.2%} "
            "(95 %)"
        )
    for name, rows in (("kind", report.get("kinds", [])), *_places(report)):
        wrong = [row for row in rows if row["wrong_result"]]
        if wrong:
            yield from _table(f"wrong results by {name}", name, wrong)
    if report["bellcore"] is not None:
        yield ""
        yield from _bellcore(report, campaign)
    yield ""
    kept = f"; {report['reused']:,} of them were kept from before" if report["reused"] else ""
    yield f"{report['faults_per_second']:,} faults a second of the processor{kept}"


def _places(report: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    return [(name, report[f"{name}s"]) for name in ("register", "module") if f"{name}s" in report]


def _table(title: str, name: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    yield ""
    wide = max(len(title), *(len(row[name]) for row in rows[:SHOWN]))
    yield f"{title:<{wide}}  {'faults':>8}  {'wrong':>8}"
    for row in rows[:SHOWN]:
        yield f"{row[name] or '(top)':<{wide}}  {row['injected']:>8,}  {row['wrong_result']:>8,}"
    if len(rows) > SHOWN:
        yield f"and {len(rows) - SHOWN} more; --json has them all"


def _bellcore(report: dict[str, Any], campaign: FaultCampaign) -> Iterator[str]:
    told = report["bellcore"]
    count, wrong = told["wrong_results_that_factor"], report["wrong_result"]
    if not count:
        yield f"Bellcore: none of {wrong:,} wrong results gives a prime of the key"
        return
    yield f"Bellcore: {count:,} of {wrong:,} wrong results give a prime of the key, each alone. The first:"
    first, key = campaign.factored[0], campaign.key
    assert key is not None
    yield f"  {'fault':<17}  {first.fault}"
    yield f"  {'message m':<17}  {shown(first.message)}"
    yield f"  {'wrong result s':<17}  {shown(first.wrong)}"
    yield f"  {'gcd(s^e - m, n)':<17}  {shown(first.factor)}, a factor of n = {shown(key.n)}"
