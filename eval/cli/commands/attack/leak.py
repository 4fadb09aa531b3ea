"""Test whether a design gives its secret away.

Operations with a fixed secret and with random secrets run in random order, without a reset in between. The
secret of an accelerator that is not an RSA machine is its secret fields (`secret` in its class). Public
fields are drawn anew for each operation unless --public holds them.

Power: in each cycle the command counts the register bits that change (distance) or are 1 (weight). The
machine leaks if the means of the two classes differ (Welch's t above 4.5 in both halves of the operations,
with the same sign). Cycles that load the unmasked secret, and those of a public exponent, are reported but
not judged. By default only the registers of the RTL are observed, without wires and glitches; --netlist
includes both.

Time: streams of operations that differ in the secrets alone must take the same cycles. They start at
power-up and include random and special values in every order. If two differ, the shortest pair is printed,
with the commands that repeat it. On a machine that blinds, the cycle distributions of the two classes must
agree instead. The exit code is 1 if a leak is found. "No leak found" is no proof; `modexlab prove --check
time` is one.

examples:
  modexlab attack leakage mont-001 --nbits 16 --traces 400
  modexlab attack leakage mont-ct --nbits 16 --traces 1000 --message fixed -o curve.svg
  modexlab attack leakage mont-keyed --nbits 16 --traces 1000 --blind --set verify=false --json
  modexlab attack leakage mont-keyed --nbits 16 --traces 400 --crt --fixed message --model weight
  modexlab attack leakage mont --nbits 8 --traces 400 --netlist
  modexlab attack leakage --accelerator inverse --nbits 8 --traces 400
  modexlab attack leakage --accelerator inverse --nbits 8 --traces 400 --public m=251
"""

import shlex
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from .....fl.errors import BadInput, shown
from .....fl.param import PAPER_NBITS
from ....assurance.attacks.leakage import TOGGLES, Assessment, assess, compared_fields
from ....assurance.attacks.rsa_leakage import compared
from ....assurance.attacks.timing import TimeLeak
from ....designs.machine import Machine
from ....designs.own import OwnDesign
from ....designs.runnable import Runnable
from ....progress import Progress
from ....report.standalone.leakage import FORMATS, drawn
from ... import own
from ...arguments import described, numbers, one_entry, private_key, program_settings
from ...options import SETTINGS, assigned, choice, option, positive, shared, writable
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
    *SETTINGS,
    "--key (a private one, whose primes are used)",
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
    assigned(
        "--public",
        "NAME=VALUE",
        "m=7",
        "hold a public field, such as m, or base or mod of an RSA machine; may be repeated",
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
    shared(
        "--output",
        f"the curve: a name that ends in .{', .'.join(FORMATS)}",
        convert=writable("--output", *FORMATS),
    ),
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
    measure = args.model or (TOGGLES if args.netlist else "distance")
    if (measure == TOGGLES) != args.netlist:
        raise BadInput(
            f"--model {measure} {'with' if args.netlist else 'without'} --netlist: registers are at RTL "
            "(distance, weight), and all nets in the netlist (toggles)"
        )
    adk, machine = netlist_kit(args), machine_of(args)
    if isinstance(machine, Machine):
        rest = args.fixed or "exponent", args.message or "random", args.seed
        comparison = compared(machine, *rest, _public(args))
    else:
        comparison = compared_fields(machine, args.seed, _public(args))
    name = f"{machine.name}, {machine.nbits} bits"
    with Progress(f"{name}: compiling", unit="operation", quiet=args.json) as progress:

        def report_progress(done: int, total: int) -> None:
            progress.describe(name)
            progress(done, total)

        assessment = assess(comparison, args.traces, measure, report_progress, adk)
    if args.output is not None:
        title = f"{name}: {comparison.title}, {args.traces:,} operations"
        Path(args.output).write_bytes(drawn(assessment, title, Path(args.output).suffix[1:]))
    report = {
        **described(machine),
        "level": "netlist" if args.netlist else "rtl",
        **assessment.as_json(),
        "picture": args.output,
    }
    title = (
        f"{report['design']}, {report['nbits']} bits: {comparison.title}; "
        f"{report['traces']:,} operations, {MODELS[measure]}"
    )
    return answer(
        args,
        report,
        labelled(_lines(report, assessment), title),
        *_counterexample(args, assessment),
        Table.of(report["parts"], PARTS),
        f"{report['traces_per_second']:,} operations per second of CPU time, each answer checked",
        ok=not assessment.leaks,
    )


def _public(args: Namespace) -> dict[str, int]:
    """The public fields to hold."""
    found = dict(numbers("--public", args.public))
    for name, values in found.items():
        if len(values) > 1:
            raise BadInput(f"--public {name} has {len(values)} values; give one, which all operations share")
    return {name: value for name, (value,) in found.items()}


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
    if found := time["by_the_secret_alone"]:
        leaks = f": LEAKS ({found[0]:,} or {found[1]:,} cycles by {secret} alone)"
    elif time["leaks"]:
        leaks = f": LEAKS (distributions {min(time['apart'])} times as far apart as chance allows)"
    spans = f"{_cycles(time['fixed'])} cycles for the fixed one, {_cycles(time['random'])} for random ones"
    yield "time", f"{spans}{leaks}"
    if "pairs" in time and not time["leaks"]:
        count = time["public_values"]
        values = f"{count:,} public {'value' if count == 1 else 'values'}"
        values += ", random and special" if count > 1 and time["special_values"] else ""
        pairs = f"{time['pairs']:,} pairs of operations that differ in the secret alone took equal times"
        yield "", f"{pairs}: {values}, up to {time['earlier_operations']} earlier operations"
    yield "public", _public_fields(report["public"])
    if report["power_tests"] > 1:
        yield "", "power is tested with drawn and with held public fields; the stronger evidence is below"
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


def _public_fields(public: Json) -> str:
    """The public fields that were drawn and those that were held."""
    found = [f"{', '.join(public['drawn'])} drawn for each operation"] if public["drawn"] else []
    held = [", ".join(f"{name} = {value}" for name, value in public["held"].items())]
    found += [f"held: {text}" for text in held if text]
    found += [f"{name} = {value} in the power test" for name, value in public["held_for_power"].items()]
    return "; ".join(found) or "none: all fields are secret"


def _verdict(assessment: Assessment) -> str:
    secret, power = assessment.compared.words, assessment.power_leaks
    if assessment.time_leaks:
        return f"LEAKS: time depends on {secret}{', and so does power' if power else ''}"
    if power:
        return f"LEAKS: power depends on {secret}; time does not, as far as tried"
    count = assessment.tests * assessment.traces + (assessment.timing.pairs if assessment.timing else 0)
    machine = assessment.compared.machine
    keyed = isinstance(machine, Machine) and machine.keyed
    proof = "" if keyed else "; `modexlab prove --check time` decides the time"
    return f"no leak found with {count:,} operations, which is no proof{proof}"


def _counterexample(args: Namespace, assessment: Assessment) -> Iterator[str]:
    """The two streams of operations that differ in time, and the commands that repeat them."""
    if (leak := assessment.time_leak) is None:
        return
    names = [name for name, _ in assessment.compared.machine.shape.request]
    lines = []
    for at, (one, two) in enumerate(zip(*leak.requests, strict=True), 1):
        fields = (
            f"{name} = {shown(first)}" + (f" or {shown(second)}" if first != second else "")
            for name, first, second in zip(names, one, two, strict=True)
        )
        lines.append((f"operation {at}", ", ".join(fields)))
    first, second = leak.cycles
    lines.append(("cycles", f"{first:,} or {second:,} of the last operation"))
    lines += [("run again", command) for command in _commands(args, assessment.compared.machine, leak)]
    yield labelled(lines, "counterexample, from reset:")


def _commands(args: Namespace, machine: Runnable, leak: TimeLeak) -> list[str]:
    """A command for each stream, or the attack itself if `modexlab run` does not accept the operations."""
    names = list(dict(machine.shape.request))
    if isinstance(machine, Machine):
        if machine.keyed or leak.earlier:
            return [args.command]
        names = ["base", "exp", "mod"]  # a request may have further fields, which follow from these
    elif any(machine.check(*request) for stream in leak.requests for request in stream):
        return [args.command]
    found = []
    for stream in leak.requests:
        values = [",".join(map(str, field)) for field in zip(*stream, strict=True)]
        fields = zip(names, values, strict=False)
        if isinstance(machine, Machine):
            words = [word for name, value in fields for word in (f"--{name}", value)]
        else:
            words = [word for name, value in fields for word in ("--field", f"{name}={value}")]
        found.append(shlex.join([*_run(args, machine), *words]))
    return found


def _run(args: Namespace, machine: Runnable) -> list[str]:
    """The command that runs a machine of these options."""
    which = [args.design] if args.design is not None else ["--accelerator", *args.manifests]
    settings = [word for name, value in args.settings.items() for word in ("--set", f"{name}={value}")]
    return ["modexlab", "run", *which, "--nbits", str(machine.nbits), *settings]


def _cycles(span: list[int]) -> str:
    return f"{span[0]:,}" if span[0] == span[-1] else f"{span[0]:,} to {span[-1]:,}"
