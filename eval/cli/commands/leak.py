"""`modexlab attack leakage`: a t-test on simulated power, fixed against random secrets."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput
from ....fl.param import PAPER_NBITS
from ...designs.widths import check_width
from ...progress import Progress
from .. import own
from ..arguments import (
    add_design,
    add_json,
    add_private,
    add_settings,
    add_width,
    answer,
    check_directory,
    json_value,
    number,
    one_entry,
    positive,
    settings_of,
)

if TYPE_CHECKING:
    from ...assurance.attacks.leakage import Assessment
    from ...designs.runnable import Runnable

TRACES = 5000
# those of lab.leakage, which brings PyMTL3; on registers first
MODELS = ("distance", "weight", "toggles")
SHOWN = 6  # registers, or modules
WORDS = {
    "distance": "Hamming distance of all registers",
    "weight": "Hamming weight of all registers",
    "toggles": "all nets that move, with glitches",
}
SUMMARY = "test whether a design gives its secret away"
TEXT = """\
Operations with a fixed secret and with random secrets run in random order. The secret of an accelerator
that is no RSA machine is its secret fields (`secret` in its class); its other fields are held. In each cycle
the command counts the register bits that change (distance) or are 1 (weight). The machine leaks if the means
of the two classes differ (Welch's t above 4.5 in both halves of the operations, with the same sign). Cycles
that load the unmasked secret, and those of a public exponent, are reported but not judged. Timing leaks
if operations that differ only in the secret take different numbers of cycles or, on a machine that blinds,
if the cycle distributions of the two classes differ. The exit code is 1 if a leak is found. By default only
the registers of the RTL are observed, without wires and glitches; --netlist includes both."""
EXAMPLES = """\
  modexlab attack leakage mont-001 --nbits 16 --traces 400
  modexlab attack leakage mont-ct --nbits 16 --traces 1000 --message fixed -o curve.svg
  modexlab attack leakage mont --nbits 16 --traces 1000 --blind --set verify=false --json
  modexlab attack leakage mont --nbits 16 --traces 400 --crt --fixed message --model weight
  modexlab attack leakage mont --nbits 8 --traces 400 --netlist
  modexlab attack leakage --accelerator inverse --nbits 8 --traces 400"""


def add(parser: argparse.ArgumentParser) -> None:
    add_machine(parser)
    parser.add_argument(
        "--traces", type=positive, default=TRACES, metavar="N", help=f"operations (default: {TRACES})"
    )
    parser.add_argument(
        "--fixed",
        choices=("exponent", "message"),
        help="the secret of an RSA machine, fixed in one class and drawn in the other (default: exponent)",
    )
    parser.add_argument(
        "--message",
        choices=("random", "fixed"),
        help="messages with a secret exponent: drawn, or one for all (default: random)",
    )
    parser.add_argument(
        "--model",
        choices=MODELS,
        help="what counts: bits of registers that change (distance), or are 1 (weight), at RTL; with "
        "--netlist all nets "
        "that move, with their glitches (toggles) (default: distance, or toggles)",
    )
    parser.add_argument(
        "--netlist",
        action="store_true",
        help="on the netlist of the flow in place of registers at RTL: much slower",
    )
    parser.add_argument(
        "--seed", type=number, default=1, metavar="N", help="of all that is drawn (default: 1)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="draw the curve: .png, .svg or .html")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ...assurance.attacks.leakage import TOGGLES, Compared, ComparedFields, Comparison, assess
    from ...designs.machine import Machine  # not at the top: it brings PyMTL3
    from ...report.leak_chart import FORMATS, drawn

    format = ""
    if args.output is not None:
        check_directory("--output", args.output)
        format = Path(args.output).suffix.removeprefix(".")
        if format not in FORMATS:
            raise BadInput(f"--output {args.output}: give a file that ends in .{', .'.join(FORMATS)}")
    if args.model is not None and (args.model == TOGGLES) != args.netlist:
        raise BadInput(
            f"--model {args.model} {'with' if args.netlist else 'without'} --netlist: registers are at RTL "
            "(distance, weight), "
            "and all nets in the netlist (toggles)"
        )
    measure = args.model or (TOGGLES if args.netlist else MODELS[0])
    machine = machine_of(args)
    if isinstance(machine, Machine):
        fixed, message = args.fixed or "exponent", args.message or "random"
        compared: Comparison = Compared(machine, fixed, message, args.seed)
    else:
        compared = ComparedFields(machine, seed=args.seed)
    name = f"{machine.name}, {machine.nbits} bits"
    with Progress(f"{name}: compiling", unit="operation", quiet=args.json) as progress:

        def report_progress(done: int, total: int) -> None:
            progress.describe(name)
            progress(done, total)

        assessment = assess(compared, args.traces, measure, report_progress)
    if format:
        title = f"{name}: {compared.title}, {args.traces:,} operations"
        Path(args.output).write_bytes(drawn(assessment, title, format))
    report = {
        **identity(machine),
        "level": "netlist" if args.netlist else "rtl",
        **assessment.as_json(),
        "picture": args.output,
    }
    answer(args, lambda: report, lambda: list(_lines(report, assessment)))
    return 1 if assessment.leaks else 0


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Add the options that `machine_of` reads."""
    add_design(parser)
    add_width(parser, f"default: {PAPER_NBITS}, or the length of the key")
    add_settings(parser)
    parser.add_argument(
        "--key", metavar="FILE", help="PEM, DER or JSON file with a private key, whose primes are taken"
    )
    add_private(parser)


def machine_of(args: argparse.Namespace) -> Runnable:
    """The machine of a design, its settings and its key; or an accelerator of another kind."""
    from ....fl.rsa_keys import RSAKey  # not at the top: it brings `cryptography`
    from ...designs.own import OwnDesign
    from ...designs.protection import private_settings

    design = one_entry(args)
    if isinstance(design, OwnDesign):
        return own.made(args, design)
    settings = settings_of(design, args.settings)
    key = RSAKey.load(args.key) if args.key is not None else None
    if key is not None and not key.is_private:
        raise BadInput(f"the key in {args.key} is public: give a private one")
    nbits = (
        check_width(args.nbits) if args.nbits is not None else design.width_for(key.n) if key else PAPER_NBITS
    )
    if args.crt or args.verify or args.blind != "no":
        if not design.programmed:
            raise BadInput(
                f"{design.name} has a control of its own and no program, so neither CRT, blinding nor a "
                "check; take one such as mont"
            )
        settings = private_settings(design, nbits, settings, crt=args.crt, blind=args.blind)
    machine = design.at(nbits, **settings)
    if not machine.keyed:
        if key is not None:
            raise BadInput(
                f"--key with a {design.name} that takes no key: its operands are drawn; add --crt, --blind "
                "or --verify, or drop it"
            )
        return machine
    machine = machine if key is None else machine.with_key(key.with_primes() if key.p is None else key)
    if machine.key.n.bit_length() > nbits:
        raise BadInput(
            f"the key has {machine.key.n.bit_length()} bits: this machine has {nbits}; give --nbits "
            f"{machine.key.n.bit_length()} or more"
        )
    return machine


def identity(machine: Runnable) -> dict[str, Any]:
    """The machine of a report, for JSON."""
    parameters = {name: json_value(value) for name, value in machine.parameters.items()}
    return {"design": machine.name, "nbits": machine.nbits, "params": parameters}


def _lines(report: dict[str, Any], assessment: Assessment) -> Iterator[str]:
    compared = assessment.compared
    yield (
        f"{report['design']}, {report['nbits']} bits: {compared.title}{compared.note}; "
        f"{report['traces']:,} operations, {WORDS[report['model']]}"
    )
    yield f"{'verdict':<14}  {_verdict(assessment)}"
    time = report["time"]
    leaks = f": LEAKS ({_how_time_leaks(report, compared.words)})" if time["leaks"] else ""
    yield (
        f"{'time':<14}  {_cycles(time['fixed'])} cycles with the fixed one, {_cycles(time['random'])} "
        f"with random ones{leaks}"
    )
    yield f"{'promised':<14}  constant time {compared.promise}"
    halves = ", ".join(f"{half['max_t']} (cycle {half['worst_cycle']})" for half in report["halves"])
    yield (
        f"{'largest t':<14}  {report['max_t']} in cycle {report['worst_cycle']} of {report['cycles']}; in "
        f"the halves {halves}"
    )
    judged = sum(map(assessment.judged, range(report["cycles"])))
    yield (
        f"{'':<14}  {report['cycles_over']} of {judged} cycles that are judged are over {report['threshold']}"
    )
    if report["worst_word"]:
        yield f"{'':<14}  in that cycle: {report['worst_word']}"
    where = "modules" if report["level"] == "netlist" else "registers"
    for at, item in enumerate(report["blame"][:SHOWN]):
        yield f"{where if not at else '':<14}  {item['register']}: t {item['t']}"
    if len(report["blame"]) > SHOWN:
        yield f"{'':<14}  and {len(report['blame']) - SHOWN} more"
    alone = report["registers_alone"]
    if alone:
        names = ", ".join(f"{item['name']} ({item['max_t']})" for item in alone[:SHOWN])
        more = f" and {len(alone) - SHOWN} more" if len(alone) > SHOWN else ""
        yield f"{'each alone':<14}  {names}{more}"
    yield ""
    yield f"{'part':<50}  {'judged':<6}  {'cycles':>7}  {'over':>6}  largest t"
    for part in report["parts"]:
        judges = "yes" if part["judged"] else "no"
        most = f"{part['max_t']} (cycle {part['worst_cycle']})"
        yield f"{part['name']:<50}  {judges:<6}  {part['cycles']:>7,}  {part['cycles_over']:>6,}  {most}"
    yield ""
    yield f"{report['traces_per_second']:,} operations a second of the processor, each answer checked"


def _verdict(assessment: Assessment) -> str:
    if assessment.time_leaks:
        also = ", and its power" if assessment.power_leaks else ""
        return f"LEAKS: its time tells of {assessment.compared.words}{also}"
    if assessment.power_leaks:
        return f"LEAKS: its power tells of {assessment.compared.words}, though its time does not"
    return f"no leak found with {assessment.traces:,} operations"


def _how_time_leaks(report: dict[str, Any], secret: str) -> str:
    time = report["time"]
    if found := time["by_the_secret_alone"]:
        return f"{found[0]:,} or {found[-1]:,} cycles by {secret} alone"
    return f"distributions {min(time['apart'])} times as far apart as chance allows"


def _cycles(span: list[int]) -> str:
    return f"{span[0]:,}" if span[0] == span[-1] else f"{span[0]:,} to {span[-1]:,}"
