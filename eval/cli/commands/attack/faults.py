"""Flip bits of a design, and count wrong results.

Each fault flips one flip-flop in one cycle, and the operation continues: an exponentiation, or a request of
another accelerator, whose response is compared with its function. The faults are spread over --operations
with random requests, some from reset and some from the state that earlier operations leave; a private key
stays the same. All faults are injected if they are few,
otherwise a random sample of --samples. The outcome is the right result (no effect), an error status instead
of a result (caught), no answer within three times the usual cycles (hang), or a wrong result. --crt and
--blind include the result check, unless --set verify=false removes it. With CRT and no check, one wrong
signature reveals a prime of the key (Bellcore), which is printed. The store keeps the outcomes: after
Ctrl-C the same command continues. The exit code is 1 if a wrong result was released.

examples:
  modexlab attack faults mont-001 --nbits 16 --samples 500
  modexlab attack faults mont-keyed --nbits 16 --crt --samples 500
  modexlab attack faults mont-keyed --nbits 32 --crt --set verify=false --bellcore
  modexlab attack faults mont --nbits 8 --netlist --samples 300
  modexlab attack faults mont --nbits 8 --netlist --kit sky130hd --samples 300
  modexlab attack faults --accelerator gcd --nbits 8
  modexlab attack faults mont-keyed --nbits 16 --crt --blind --samples 200 --json > faults.json
"""

from argparse import Namespace
from collections.abc import Iterator

from .....fl.errors import BadInput, shown
from ....assurance.attacks.bellcore import key_by_crt
from ....assurance.attacks.fault_campaign import OPERATIONS, FaultCampaign
from ....designs.machine import Machine
from ....json_values import json_number
from ....progress import Progress
from ...arguments import described
from ...laboratory import store_of
from ...options import Group, flag, option, positive, shared
from ...render import Block, Json, Table, answer, interrupted, labelled
from .leak import MACHINE, machine_of, netlist_kit

SHOWN = 12  # registers
NUMBERS = ("n", "e", "message", "signature", "faulty_signature", "factor", "other_factor")


OPTIONS = (
    *MACHINE,
    Group(
        "",
        (
            flag("--exhaustive", "every bit in every cycle, however many they are"),
            option("--samples", "N", "a random sample of N", type=positive),
        ),
    ),
    option(
        "--operations",
        "N",
        f"number of different operations (default: {OPERATIONS})",
        type=positive,
        default=OPERATIONS,
    ),
    flag("--bellcore", "end with the first wrong result that reveals a prime of the key"),
    shared("--seed", "default: 1", default=1),
    "--netlist (with nets stuck at 0 or 1, or flipped in a cycle)",
    "--kit (with --netlist)",
    "--store",
    "--json",
)


def execute(args: Namespace) -> int:
    machine = machine_of(args)
    name = f"{machine.name}, {machine.nbits} bits"
    if args.bellcore and key_by_crt(machine) is None:
        raise BadInput(
            "--bellcore without CRT: only a result that is combined modulo both primes reveals one; add --crt"
        )
    adk = netlist_kit(args)
    with Progress(f"{name}: compiling", unit="fault", quiet=args.json) as progress:
        given = machine, args.operations, args.seed
        if args.netlist:
            from ....assurance.attacks.net_campaign import NetCampaign  # not at the top: it imports the flow

            campaign: FaultCampaign = NetCampaign(*given, adk=adk)
        else:
            campaign = FaultCampaign(*given)
        faults = campaign.faults(args.samples, args.exhaustive)
        progress.describe(name)
        enough = (lambda campaign: bool(campaign.factored)) if args.bellcore else None
        try:
            campaign.run(faults, progress, enough, store_of(args))
        except KeyboardInterrupt:
            return interrupted(f"{len(campaign.outcomes):,} of {len(faults):,} faults are in the store")
    report = described(machine) | campaign.as_json()
    if isinstance(machine, Machine):
        report["checked"] = machine.keyed and machine.programmed.recipe.verify
    for key in NUMBERS if report["bellcore"] else ():
        if key in report["bellcore"]:
            report["bellcore"][key] = json_number(report["bellcore"][key])
    return answer(args, report, *_blocks(report, campaign), ok=not report["wrong_result"])


def _blocks(report: Json, campaign: FaultCampaign) -> Iterator[Block]:
    sites = f"{report['nets']:,} nets" if "nets" in report else f"{report['flip_flops']:,} flip-flops"
    check = {None: "", True: ", the result is checked", False: ", no check of the result"}
    how = "every one of them" if report["exhaustive"] else f"{report['injected']:,} of them, at random"
    title = (
        f"{report['design']}, {report['nbits']} bits{check[report.get('checked')]}: {sites} in "
        f"{report['cycles']:,} cycles are {report['possible']:,} faults; {how}"
    )
    count, after = report["operations"], report["operations_after_others"]
    lines = [("operations", f"{count:>9,}  with random requests, {after} of them after earlier operations")]
    lines += [
        (key.replace("_", " "), f"{report[key]:>9,}  {report[key] / max(1, report['injected']):7.2%}")
        for key in ("no_effect", "caught", "hang", "wrong_result")
    ]
    if not report["exhaustive"]:
        most = f"{report['wrong_result_at_most']:.2%}"
        lines.append(("", f"wrong results among all possible faults: at most {most} (95 %)"))
    yield labelled(lines, title)
    for name in ("kind", "register", "module"):
        wrong = [row for row in report.get(f"{name}s", []) if row["wrong_result"]]
        more = f"and {len(wrong) - SHOWN} more; --json has them all" if len(wrong) > SHOWN else ""
        columns = {f"wrong results by {name}": name, "faults": "injected:,", "wrong": "wrong_result:,"}
        yield Table.of([{**row, name: row[name] or "(top)"} for row in wrong[:SHOWN]], columns, note=more)
    if report["bellcore"] is not None:
        yield "\n".join(_bellcore(report, campaign))
    kept = f"; {report['reused']:,} of them are from earlier runs" if report["reused"] else ""
    yield f"{report['faults_per_second']:,} faults per second of CPU time{kept}"


def _bellcore(report: Json, campaign: FaultCampaign) -> Iterator[str]:
    count, wrong = report["bellcore"]["wrong_results_that_factor"], report["wrong_result"]
    if not count:
        yield f"Bellcore: none of {wrong:,} wrong results reveals a prime of the key"
        return
    yield f"Bellcore: {count:,} of {wrong:,} wrong results each reveal a prime of the key. The first:"
    first, key = campaign.factored[0], campaign.key
    assert key is not None
    yield f"  fault              {first.fault}"
    yield f"  message m          {shown(first.message)}"
    yield f"  wrong result s     {shown(first.wrong)}"
    yield f"  gcd(s^e - m, n)    {shown(first.factor)}, a factor of n = {shown(key.n)}"
