"""Test whether a design gives its secret away.

Operations with a fixed secret and with random secrets run in random order. The secret of an accelerator
that is not an RSA machine is its secret fields (`secret` in its class); its other fields are constant. In
each cycle the command counts the register bits that change (distance) or are 1 (weight). The machine leaks if
the means of the two classes differ (Welch's t above 4.5 in both halves of the operations, with the same
sign). Cycles that load the unmasked secret, and those of a public exponent, are reported but not judged.
Timing leaks if operations that differ only in the secret take different numbers of cycles or, on a machine
that blinds, if the cycle distributions of the two classes differ. The exit code is 1 if a leak is found. By
default only the registers of the RTL are observed, without wires and glitches; --netlist includes both.

examples:
  modexlab attack leakage mont-001 --nbits 16 --traces 400
  modexlab attack leakage mont-ct --nbits 16 --traces 1000 --message fixed -o curve.svg
  modexlab attack leakage mont --nbits 16 --traces 1000 --blind --set verify=false --json
  modexlab attack leakage mont --nbits 16 --traces 400 --crt --fixed message --model weight
  modexlab attack leakage mont --nbits 8 --traces 400 --netlist
  modexlab attack leakage --accelerator inverse --nbits 8 --traces 400
"""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from .....fl.errors import BadInput
from .....fl.param import PAPER_NBITS
from ....assurance.attacks.leakage import TOGGLES, Assessment, assess, compared, compared_fields
from ....designs.machine import Machine
from ....designs.own import OwnDesign
from ....designs.runnable import Runnable
from ....folders import check_file
from ....progress import Progress
from ....report.leak_chart import FORMATS, drawn
from ... import own
from ...arguments import described, one_entry, private_key, program_settings
from ...options import PRIVATE, choice, option, positive, shared
from ...render import Columns, Json, Table, answer, capped, labelled

TRACES = 5000
SHOWN = 6  # registers, or modules
MODELS = {  # those of registers first
    "distance": "Hamming distance of all registers",
    "weight": "Hamming weight of all registers",
    "toggles": "all nets that move, with glitches",
}


PARTS: Columns = {
    "part": "name",
    "judged": lambda part: "yes" if part["judged"] else "no",
    "cycles": "cycles:,",
    "over": "cycles_over:,",
    "largest t": lambda part: f"{part['max_t']} (cycle {part['worst_cycle']})",
}
MACHINE = (  # the options that `machine_of` reads
    "design",
    "--accelerator",
    f"--nbits (default: {PAPER_NBITS}, or the length of the key)",
    "--set",
    "--key (a private one, whose primes are used)",
    *PRIVATE,
)
OPTIONS = (
    *MACHINE,
    option("--traces", "N", f"operations (default: {TRACES})", type=positive, default=TRACES),
    choice(
        "--fixed",
        ("exponent", "message"),
        "the secret of an RSA machine, fixed in one class and random in the other (default: exponent)",
    ),
    choice(
        "--message",
        ("random", "fixed"),
        "messages with a secret exponent: random, or one for all (default: random)",
    ),
    choice(
        "--model",
        MODELS,
        "what counts: register bits of the RTL that change (distance) or are 1 (weight); with --netlist all "
        "nets that toggle, with their glitches (toggles) (default: distance, or toggles)",
    ),
    "--netlist (much slower)",
    "--kit (with --netlist)",
    shared("--seed", "default: 1", default=1),
    "--output (the curve: a file that ends in .png, .svg or .html)",
    "--json",
)


def netlist_kit(args: Namespace) -> Path | None:
    """The cell library of the netlist; None for the default."""
    if args.kit is None:
        return None
    if not args.netlist:
        raise BadInput("--kit without --netlist: only a netlist has cells; add --netlist or drop --kit")
    from .....flow.kit import kit  # not at the top: it needs the extra [flow]

    path = kit.named(args.kit)
    kit.find(path)  # BadInput if not installed
    return path


def execute(args: Namespace) -> int:
    suffix = ""
    if args.output is not None:
        check_file("--output", args.output)
        suffix = Path(args.output).suffix.removeprefix(".")
        if suffix not in FORMATS:
            raise BadInput(f"--output {args.output}: give a file that ends in .{', .'.join(FORMATS)}")
    measure = args.model or (TOGGLES if args.netlist else "distance")
    if (measure == TOGGLES) != args.netlist:
        raise BadInput(
            f"--model {measure} {'with' if args.netlist else 'without'} --netlist: registers are at RTL "
            "(distance, weight), and all nets in the netlist (toggles)"
        )
    adk, machine = netlist_kit(args), machine_of(args)
    if isinstance(machine, Machine):
        comparison = compared(machine, args.fixed or "exponent", args.message or "random", args.seed)
    else:
        comparison = compared_fields(machine, args.seed)
    name = f"{machine.name}, {machine.nbits} bits"
    with Progress(f"{name}: compiling", unit="operation", quiet=args.json) as progress:

        def report_progress(done: int, total: int) -> None:
            progress.describe(name)
            progress(done, total)

        assessment = assess(comparison, args.traces, measure, report_progress, adk)
    if suffix:
        title = f"{name}: {comparison.title}, {args.traces:,} operations"
        Path(args.output).write_bytes(drawn(assessment, title, suffix))
    report = {
        **described(machine),
        "level": "netlist" if args.netlist else "rtl",
        **assessment.as_json(),
        "picture": args.output,
    }
    title = (
        f"{report['design']}, {report['nbits']} bits: {comparison.title}{comparison.note}; "
        f"{report['traces']:,} operations, {MODELS[measure]}"
    )
    return answer(
        args,
        report,
        labelled(_lines(report, assessment), title),
        Table.of(report["parts"], PARTS),
        f"{report['traces_per_second']:,} operations per second of CPU time, each answer checked",
        ok=not assessment.leaks,
    )


def machine_of(args: Namespace) -> Runnable:
    """The machine of a design with its settings and key, or an accelerator that is not an RSA machine."""
    design = one_entry(args)
    if isinstance(design, OwnDesign):
        return own.made(args, design)
    key = private_key(args.key) if args.key is not None else None
    nbits = args.nbits
    if nbits is None:
        nbits = design.width_for(key.n) if key else PAPER_NBITS
    machine = design.at(nbits, **program_settings(args, design, nbits))
    if not machine.keyed:
        if key is not None:
            raise BadInput(
                f"--key with a {design.name} without a key: its operands are random; add --crt, --blind "
                "or --verify, or drop it"
            )
        return machine
    machine = machine if key is None else machine.with_key(key.with_primes() if key.p is None else key)
    if (wanted := machine.key.n.bit_length()) > nbits:
        raise BadInput(f"the key has {wanted} bits: this machine has {nbits}; give --nbits {wanted} or more")
    return machine


def _lines(report: Json, assessment: Assessment) -> Iterator[tuple[str, str]]:
    secret, time = assessment.compared.words, report["time"]
    yield "verdict", _verdict(assessment)
    leaks = ""
    if time["leaks"]:
        leaks = f": LEAKS (distributions {min(time['apart'])} times as far apart as chance allows)"
        if found := time["by_the_secret_alone"]:
            leaks = f": LEAKS ({found[0]:,} or {found[-1]:,} cycles by {secret} alone)"
    spans = f"{_cycles(time['fixed'])} cycles for the fixed one, {_cycles(time['random'])} for random ones"
    yield "time", f"{spans}{leaks}"
    yield "promised", f"constant time {assessment.compared.promise}"
    halves = ", ".join(f"{half['max_t']} (cycle {half['worst_cycle']})" for half in report["halves"])
    where = f"in cycle {report['worst_cycle']} of {report['cycles']}; in the halves {halves}"
    yield "largest t", f"{report['max_t']} {where}"
    judged = len(assessment.judged_cycles)
    yield "", f"{report['cycles_over']} of {judged} judged cycles exceed {report['threshold']}"
    if report["worst_word"]:
        yield "", f"in that cycle: {report['worst_word']}"
    label = "modules" if report["level"] == "netlist" else "registers"
    for line in capped([f"{item['register']}: t {item['t']}" for item in report["blame"]], SHOWN):
        yield label, line
        label = ""
    if alone := report["registers_alone"]:
        yield "each alone", ", ".join(capped([f"{item['name']} ({item['max_t']})" for item in alone], SHOWN))


def _verdict(assessment: Assessment) -> str:
    secret, power = assessment.compared.words, assessment.power_leaks
    if assessment.time_leaks:
        return f"LEAKS: time depends on {secret}{', and so does power' if power else ''}"
    if power:
        return f"LEAKS: power depends on {secret}; time does not"
    return f"no leak found with {assessment.traces:,} operations"


def _cycles(span: list[int]) -> str:
    return f"{span[0]:,}" if span[0] == span[-1] else f"{span[0]:,} to {span[-1]:,}"
