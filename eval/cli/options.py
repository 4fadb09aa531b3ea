"""Options of the command line as data: an option that several commands take is declared once, in SHARED.

A command lists its own in OPTIONS: the name of a shared option, with a note in parentheses if it has one,
`shared(NAME, NOTE, ...)` for one with other settings, an Option that no other command has, or a Group of
these.
"""

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ...fl.errors import BadInput
from ...fl.param import PAPER_NBITS
from ...flow.graph import graph
from ...proc.core.parameters import DIV_BITS
from ..designs.interfaces import COUPLINGS, DEFAULT, INTERFACES, UNIT, UNIT_SUMMARY
from ..folders import check_file

OF_FLOW = {"--clock": "clock_period"}  # parameters of the flow whose options have another name
MOST_DIGITS = 1234  # of a decimal number: the digits of 2^4096 - 1


def number(text: str) -> int:
    """Parse a number: decimal, or 0x and hexadecimal digits."""
    text = text.strip()
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
        return int(text, 16)
    if re.fullmatch(r"-[0-9]+", text):
        raise argparse.ArgumentTypeError(f"{short(text)} is negative; give a number from 0 up")
    if not re.fullmatch(r"[0-9]+", text):
        raise argparse.ArgumentTypeError(
            f"{short(text)!r} is not a whole number; write it in decimal, or as 0x..."
        )
    if len(text) > MOST_DIGITS:
        raise argparse.ArgumentTypeError(
            f"{short(text)} has {len(text)} digits, and no machine takes more than {MOST_DIGITS}; "
            "give a shorter number, or write it as 0x..."
        )
    return int(text)


def short(text: str) -> str:
    """`text`, or only its ends if it is too long for one line of an error message."""
    return text if len(text) <= 40 else f"{text[:16]}...{text[-16:]}"


def width(text: str) -> int:
    """Parse a number of bits; `check_width` rejects those out of range, negative ones included."""
    return int(text) if re.fullmatch(r"\s*-[0-9]{1,9}\s*", text) else number(text)


def positive(text: str) -> int:
    """Parse a number from 1 up."""
    if (value := width(text)) < 1:
        raise argparse.ArgumentTypeError(f"{value} is too few; give a number from 1 up")
    return value


def real(check: Callable[[float], float], example: str) -> Callable[[str], float]:
    """A parser of decimal numbers that `check` accepts."""

    def parse(text: str) -> float:
        try:
            return check(float(text))
        except BadInput as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number; write it as in {example}") from None

    return parse


class Converted(argparse.Action):
    """Stores the result of `convert` for an argument; its BadInput is the error message of the command."""

    def __init__(self, *, convert: Callable[[str], Any], **settings: Any) -> None:
        super().__init__(**settings)
        self._convert = convert

    def __call__(self, parser: Any, namespace: argparse.Namespace, text: Any, option: Any = None) -> None:
        vars(namespace)[self.dest] = None if text is None else self._convert(text)


class Collected(argparse.Action):
    """Collects an option that may be repeated; `collect` returns the values so far with one more."""

    def __init__(self, *, collect: Callable[[Any, str], Any], **settings: Any) -> None:
        super().__init__(**settings)
        self._collect = collect

    def __call__(self, parser: Any, namespace: argparse.Namespace, text: Any, option: Any = None) -> None:
        vars(namespace)[self.dest] = self._collect(vars(namespace)[self.dest], text)


ACTIONS = {"convert": Converted, "collect": Collected}  # by the setting that they need


class Container(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **settings: Any) -> Any: ...


class Option:
    """An option or an operand, as argparse declares it, or with `convert` or `collect`."""

    def __init__(self, *names: str, help: str, **settings: Any) -> None:
        self.names, self.settings = names, {"help": help, **settings}
        for setting, action in ACTIONS.items():
            if setting in settings:
                self.settings["action"] = action

    @property
    def is_operand(self) -> bool:
        return not self.names[0].startswith("-")

    @property
    def repeatable(self) -> bool:
        return self.settings.get("action") in ("append", Collected)

    def add_to(self, parser: Container) -> Any:
        return parser.add_argument(*self.names, **self.settings)


def flag(name: str, help: str) -> Option:
    return Option(name, help=help, action="store_true")


def option(name: str, metavar: str | tuple[str, ...], help: str, **settings: Any) -> Option:
    return Option(name, metavar=metavar, help=help, **settings)


def parameter(name: str, metavar: str, usual: str = "", **settings: Any) -> Option:
    """An option for the parameter of the flow with the same name, or the clock period; its help and legal
    values are those of the steps.

    usual: the default in the help, if it is not that of the steps.
    """
    described = graph.parameters()[OF_FLOW.get(name, name.strip("-"))]

    def parse(text: str) -> Any:
        try:
            return described.checked(text)
        except BadInput as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    notes = "; ".join(filter(None, (described.values, f"default: {usual or described.default}")))
    help = f"{described.help.replace('`', '')} ({notes})"
    return Option(name, metavar=metavar, help=help, type=parse, **settings)


def repeated(name: str, metavar: str, help: str, **settings: Any) -> Option:
    """An option that may be repeated."""
    return Option(name, metavar=metavar, help=help, **{"action": "append", "default": [], **settings})


def assigned(name: str, metavar: str, example: str, help: str, **settings: Any) -> Option:
    """A repeatable option whose values have names, as in --set NAME=VALUE; the value is a dictionary."""

    def collect(known: Mapping[str, str], text: str) -> Mapping[str, str]:
        key, _, value = (part.strip() for part in text.partition("="))
        if not key or not value:
            raise BadInput(f"{name} {short(text)}: write {metavar}, as in {name} {example}")
        if key in known:
            raise BadInput(f"{name} {key} is given twice; give it once")
        return {**known, key: value}

    return option(name, metavar, help, collect=collect, default={}, **settings)


def writable(option: str, *formats: str) -> Callable[[str], str]:
    """A conversion of the path of a file to write; BadInput at once if it cannot be created, or if its name
    does not end in one of these formats.
    """

    def checked(path: str) -> str:
        check_file(option, path)
        if formats and Path(path).suffix.lstrip(".") not in formats:
            raise BadInput(f"{option} {path}: give a name that ends in .{', .'.join(formats)}")
        return path

    return checked


def choice(name: str, choices: Iterable[Any], help: str, default: Any = None, **settings: Any) -> Option:
    return Option(name, choices=tuple(choices), default=default, help=help, **settings)


@dataclass(frozen=True)
class Group:
    """Options under a common title; without a title they exclude one another."""

    title: str
    options: "Options"


Options = Sequence["str | Option | Interfaces | Group"]


def add_options(parser: argparse.ArgumentParser, options: Options) -> None:
    """Declare the options of a command."""
    for item in options:
        container: Container = parser
        if isinstance(item, Group):
            title = item.title
            container = parser.add_argument_group(title) if title else parser.add_mutually_exclusive_group()
        for declared in flat(item):
            declared.add_to(container)


def flat(*options: "str | Option | Interfaces | Group") -> Iterator[Option]:
    """The options themselves, without their groups."""
    for item in options:
        if isinstance(item, Group):
            yield from flat(*item.options)
        elif isinstance(item, Interfaces):
            yield item.option()
        elif isinstance(item, Option):
            yield item
        else:
            name, _, note = item.partition(" (")
            yield shared(name, note[:-1])


def shared(name: str, note: str = "", **settings: Any) -> Option:
    """A shared option with a note after its help, and with other settings."""
    known = SHARED[name]
    help = known.settings["help"]
    return Option(
        *known.names, **{**known.settings, "help": f"{help} ({note})" if note else help, **settings}
    )


@dataclass(frozen=True)
class Interfaces:
    """`--interface`: the interfaces registered when the parser is built, and optionally the unit alone."""

    unit: bool = False
    default: str = DEFAULT.name

    def option(self) -> Option:
        told = {name: interface.summary for name, interface in INTERFACES.items()}
        told |= {UNIT: UNIT_SUMMARY} if self.unit else {}
        note = "; ".join(f"{name}: {summary}" for name, summary in told.items())
        return shared(
            "--interface", f"{note}; default: {self.default}", choices=(*told,), default=self.default
        )


_DECLARED = (
    Option(
        "design", metavar="DESIGN", nargs="?", help="a design of the catalogue; see `modexlab show designs`"
    ),
    repeated(
        "--accelerator",
        "PATH",
        "an accelerator of your own: its folder, a manifest of Verilog (design.toml), or a folder of "
        "manifests; may be repeated (see `modexlab new --help`)",
        dest="manifests",
    ),
    assigned(
        "--set",
        "PARAM=VALUE",
        "nstages=4",
        "set a parameter of the design; may be repeated (see `modexlab show DESIGN`)",
        dest="settings",
    ),
    option("--nbits", "N", "width in bits", type=width),
    Option("--interface", help="how operands reach the machine"),
    option("--xcel", "DESIGN", "the accelerator behind the processor"),
    flag("--json", "print JSON for scripts"),
    # operations
    option("--base", "B", "the base, below the modulus; decimal or 0x...", type=number),
    option("--exp", "E", "the exponent", type=number),
    option("--mod", "N", "the modulus", type=number),
    assigned(
        "--field",
        "NAME=VALUE",
        "a=12",
        "a field of the request, or its values in several requests (NAME=1,2,3); may be repeated",
        dest="fields",
    ),
    option(
        "--workload",
        "NAME",
        "a workload instead of operands: encrypt, decrypt, crt, sign+9verify with any number of "
        "verifications, exponents, or product (by formula only)",
    ),
    option("--key", "FILE", "an RSA key as PEM, DER or JSON"),
    flag("--crt", "compute modulo both primes and combine the results"),
    choice(
        "--blind",
        ("no", "message", "exponent", "both"),
        "mask the message and the exponent with random numbers (without a value: both)",
        "no",
        nargs="?",
        const="both",
    ),
    flag(
        "--verify",
        "check the result with the public exponent; part of --crt and --blind unless --set verify=false",
    ),
    option("--seed", "N", "seed of the random numbers", type=number),
    # simulation
    Option("--level", help="level of the model", default="rtl"),
    option("--operation", "NAME", "only this operation"),
    option("--backend", "NAME", "how RTL is simulated: python, verilog or native"),
    flag("--trace", "print a line for every cycle"),
    option("--vcd", "FILE", "write waveforms", convert=writable("--vcd")),
    option("--mul-latency", "L", "cycles of the multiplier (default: 1)", type=number),
    choice(
        "--div-bits",
        DIV_BITS,
        f"quotient bits per cycle: {', '.join(map(str, DIV_BITS))} (default: 2)",
        metavar="N",
        type=number,
    ),
    # the flow
    parameter("--clock", "NS", f"{graph.parameters()['clock_period'].default:g}, or that of --kit"),
    option(
        "--kit",
        "NAME",
        "cell library: nangate45 (the default), sky130hd, ihp-sg13g2, asap7 (see `modexlab env`), or a "
        "kit.toml",
    ),
    assigned(
        "--flow",
        "PARAM=VALUE",
        "glitches=False",
        "another parameter of the flow, such as glitches=False; may be repeated (docs/reference/flow.md)",
        dest="other",
    ),
    flag("--layout", "place and route, and include the layout"),
    flag("--netlist", "use the netlist of the flow instead of the RTL"),
    option(
        "--verilog",
        "FILE",
        "the files, packages first; may be repeated",
        nargs="+",
        action="extend",
    ),
    option("--top", "NAME", "the top module"),
    option("--include", "DIR", "another directory of included files; may be repeated", action="append"),
    option("--define", "NAME=VALUE", "a macro of the Verilog; may be repeated", action="append"),
    # measurements and files
    option("--jobs", "N", "number of processes (default: one for each core)", type=positive),
    flag("--retry", "try again points that failed before"),
    flag("--full", "include slow measurements"),
    option("--table", "N", "only this table of the paper; may be repeated", action="append"),
    option(
        "--store",
        "FILE",
        "the store (default: $MODEXLAB_STORE, else modexlab/store.jsonl among the user's data)",
        convert=writable("--store"),
    ),
    Option("--format", help="format of the written file"),
    Option("--output", "-o", metavar="PATH", help="where to write the result"),
    flag("--force", "write into a directory that is not empty"),
)
SHARED = {declared.names[0]: declared for declared in _DECLARED}
PRIVATE = ("--crt", "--blind", "--verify")  # options of a private operation by a program
SETTINGS = ("--set", *PRIVATE)  # of a machine of the catalogue
RSA_OPERANDS = ("--base", "--exp", "--mod")
UNITS = ("--mul-latency", "--div-bits")  # of the pipeline
VERILOG = ("--verilog", "--top", "--include", "--define")
WIDTH = f"--nbits (default: {PAPER_NBITS})"
HARDWARE = (WIDTH, *SETTINGS, Interfaces(unit=True))  # a machine, or its multiplier alone
COUPLING = shared(
    "--interface",
    "xcel: at the accelerator port of the processor; axi4lite: on its bus, with an interrupt; default: xcel",
    choices=COUPLINGS,
    default=COUPLINGS[0],
)
