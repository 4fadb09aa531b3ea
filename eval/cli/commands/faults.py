"""`modexlab faults`: what single-bit faults in a machine come to, and what a wrong CRT result gives away."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput, shown
from ...json_values import json_number
from ...progress import Progress
from ..arguments import (
    Commands,
    add_command,
    add_json,
    answer,
    check_directory,
    json_value,
    number,
    positive,
    warn,
    writing,
)
from .leak import add_machine, machine_of

if TYPE_CHECKING:
    from ...lab.security.fault_campaign import Campaign

SHOWN = 12  # registers
INTERRUPTED = 130
NUMBERS = ("n", "e", "message", "signature", "faulty_signature", "factor", "other_factor")
TEXT = """\
One bit of one flip-flop flips in one cycle, and the operation goes on: every flip-flop in every
cycle where these are few, else as many as --samples, drawn. What leaves is right (no effect), withheld with a
status (caught), does not come in three times the cycles (hang), or is a wrong result. Without --verify a
program has no check of its result. With --crt and no check, one wrong signature gives a prime of the key
(Bellcore): it is told. What faults came to is kept in the cache: after Ctrl-C the same command goes on."""
EXAMPLES = """\
  modexlab faults mont-001 --nbits 16 --samples 500
  modexlab faults mont --nbits 16 --crt --verify --samples 500
  modexlab faults mont --nbits 32 --crt --bellcore
  modexlab faults mont --nbits 8 --netlist --samples 300
  modexlab faults mont --nbits 16 --crt --blind --samples 200 --json -o faults.json"""


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "faults",
        "flip bits of a design, and count wrong results",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    add_machine(parser, check="let the result leave only if it gives the message again")
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
    parser.add_argument("-o", "--output", metavar="FILE", help="write the JSON into a file, too")
    parser.add_argument(
        "--netlist",
        action="store_true",
        help="in the netlist of the flow: nets that are stuck at 0 or at 1, or flip in a cycle",
    )
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ...lab.security.fault_campaign import Campaign  # not at the top: it brings PyMTL3

    if args.output is not None:
        check_directory("--output", args.output)
    machine = machine_of(args, verify=args.verify)
    name = f"{machine.design.name}, {machine.nbits} bits"
    by_crt = machine.keyed and machine.programmed.recipe.crt
    if args.bellcore and not by_crt:
        raise BadInput(
            "--bellcore without CRT: a wrong result tells a prime only where it is put together of two; add --crt"
        )
    with Progress(f"{name}: compiling", unit="fault", quiet=args.json) as progress:
        kind = Campaign
        if args.netlist:
            from ...lab.security.net_campaign import NetCampaign as kind  # this one the flow, too
        campaign = kind(machine, args.operations, args.seed)
        faults = campaign.faults(args.samples, args.exhaustive)
        progress.describe(name)
        enough = (lambda campaign: bool(campaign.factored)) if args.bellcore else None
        try:
            campaign.run(faults, _telling(progress, campaign), enough)
        except KeyboardInterrupt:
            kept = f"{len(campaign.outcomes):,} of {len(faults):,} faults are kept"
            warn(f"interrupted: {kept}; the same command goes on from there")
            return INTERRUPTED
    report = {
        "design": machine.design.name,
        "nbits": machine.nbits,
        "params": {name: json_value(value) for name, value in machine.parameters.items()},
        "checked": machine.keyed and machine.programmed.recipe.verify,
        **campaign.as_json(),
    }
    if told := report["bellcore"]:
        report["bellcore"] = {
            name: json_number(value) if name in NUMBERS else value for name, value in told.items()
        }
    if args.output is not None:
        import json

        with writing(args.output) as write:
            write(json.dumps(report, indent=2) + "\n")
    answer(args, lambda: report, lambda: list(_lines(report, campaign)))
    return 0


def _telling(progress: Progress, campaign: Campaign) -> Callable[[int, int], None]:
    """With the time that is left, by what those faults took that were not kept."""
    from ...lab.explore import duration

    begun = time.monotonic()

    def told(done: int, total: int) -> None:
        if new := done - campaign.reused:
            progress.note(f"{duration((time.monotonic() - begun) / new * (total - done))} left")
        progress(done, total)

    return told


def _lines(report: dict[str, Any], campaign: Campaign) -> Iterator[str]:
    sites = f"{report['nets']:,} nets" if "nets" in report else f"{report['flip_flops']:,} flip-flops"
    check = "the result is checked" if report["checked"] else "no check of the result"
    how = "every one of them" if report["exhaustive"] else f"{report['injected']:,} of them, drawn"
    yield (
        f"{report['design']}, {report['nbits']} bits, {check}: {sites} in {report['cycles']:,} cycles "
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
        yield f"{'':<14}  of all that there are, wrong results at most {report['wrong_result_at_most']:.2%} (95 %)"
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


def _bellcore(report: dict[str, Any], campaign: Campaign) -> Iterator[str]:
    told = report["bellcore"]
    count, wrong = told["wrong_results_that_factor"], report["wrong_result"]
    if not count:
        yield f"Bellcore: none of {wrong:,} wrong results gives a prime of the key"
        return
    yield f"Bellcore: {count:,} of {wrong:,} wrong results give a prime of the key, each alone. The first:"
    first = campaign.factored[0]
    yield f"  {'fault':<17}  {first.fault}"
    yield f"  {'message m':<17}  {shown(first.message)}"
    yield f"  {'wrong result s':<17}  {shown(first.wrong)}"
    yield f"  {'gcd(s^e - m, n)':<17}  {shown(first.factor)}, a factor of n = {shown(campaign.machine.key.n)}"
