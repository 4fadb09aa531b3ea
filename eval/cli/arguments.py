"""Options that commands share: operands, designs and settings, and JSON output."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...fl.errors import BadInput
from ...fl.param import PAPER_NBITS
from ...proc.core.parameters import DIV_BITS
from ..designs.interfaces import DEFAULT, INTERFACES, SYSTEM, UNIT, UNIT_SUMMARY
from ..designs.soc_system import COUPLINGS, Xcel
from ..json_values import json_number as json_number  # for the commands
from ..json_values import json_value as json_value

if TYPE_CHECKING:
    from ...fl.param import Param
    from ..designs.machine import Design
    from ..designs.own import OwnDesign
    from ..lab.ledger.ledger import Ledger
    from ..lab.point import Point

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
MOST_DIGITS = 1234  # of a decimal number: the digits of 2^4096 - 1

Commands = Any  # argparse keeps the type of its subparsers to itself


def add_command(
    commands: Commands, name: str, summary: str, *, text: str = "", examples: str = "", execute: Callable
) -> argparse.ArgumentParser:
    """A subcommand whose help has a description and examples."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {text}".strip(),
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(execute=execute)
    return parser


def number(text: str) -> int:
    """A number as a user writes it: decimal, or 0x and hexadecimal digits."""
    text = text.strip()
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
        return int(text, 16)
    if re.fullmatch(r"[0-9]+", text):
        if len(text) > MOST_DIGITS:
            raise argparse.ArgumentTypeError(
                f"{short(text)} has {len(text)} digits, and no machine takes more than {MOST_DIGITS}; "
                "give a shorter number, or write it as 0x..."
            )
        return int(text)
    if re.fullmatch(r"-[0-9]+", text):
        raise argparse.ArgumentTypeError(f"{short(text)} is negative; give a number from 0 up")
    raise argparse.ArgumentTypeError(f"{short(text)!r} is not a number; write it in decimal, or as 0x...")


def short(text: str) -> str:
    """`text`, or both of its ends: an error message is one line."""
    return text if len(text) <= 40 else f"{text[:16]}...{text[-16:]}"


def width(text: str) -> int:
    """A number of bits, of which `check_width` refuses those that no machine has, negative ones as well."""
    return int(text) if re.fullmatch(r"\s*-[0-9]{1,9}\s*", text) else number(text)


def positive(text: str) -> int:
    """A number from 1 up."""
    value = number(text)
    if value == 0:
        raise argparse.ArgumentTypeError("0 is too few; give a number from 1 up")
    return value


def real(check: Callable[[float], float], example: str) -> Callable[[str], float]:
    """Return a parser of decimal numbers that `check` accepts."""

    def parse(text: str) -> float:
        try:
            return check(float(text))
        except BadInput as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no number; write it as in {example}") from None

    return parse


def add_design(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "design", metavar="DESIGN", nargs="?", help="a design of the catalogue (see `modexlab show`)"
    )
    add_manifests(parser)


def add_manifests(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--accelerator",
        "--design",
        metavar="PATH",
        action="append",
        default=[],
        dest="manifests",
        help="an accelerator of your own: the folder of its accelerator.py (see `modexlab new accelerator --help`), "
        "or a manifest of Verilog, design.toml, or a folder of manifests (see `modexlab new manifest --help`); "
        "may be repeated",
    )


def designs_of(args: argparse.Namespace) -> list[Design]:
    """The designs of a command for RSA machines: one of the catalogue, or those of manifests."""
    from ..designs import catalogue  # not at the top: it brings PyMTL3, and --help must be quick
    from ..designs.own import OwnDesign

    found = []
    for design in entries_of(args):
        if isinstance(design, OwnDesign):
            raise catalogue.no_rsa_machine(design)
        found.append(design)
    return found


def entries_of(args: argparse.Namespace) -> list[Design | OwnDesign]:
    """The same of a command for accelerators of all kinds."""
    from ..designs import catalogue

    found = [] if args.design is None else [catalogue.entry(args.design)]
    found += catalogue.by_paths(args.manifests)
    if not found:
        raise BadInput(
            "no design; give one of the catalogue (`modexlab show`), or --accelerator PATH for your own"
        )
    return found


def one_entry(args: argparse.Namespace) -> Design | OwnDesign:
    """The design of a command that takes one."""
    first, *others = entries_of(args)
    if others:
        raise BadInput(
            f"{first.name} and {others[0].name}: this command takes one design at a time; name one"
        )
    return first


def flow_point(args: argparse.Namespace, stage: str, flow: Mapping[str, Any], system: bool = False) -> Point:
    """The point of a command for the flow: a design of any kind, or a system by its name, or by `system`."""
    from ..designs.system_catalogue import HARDWARE, SOFTWARE, find_system
    from ..lab.point import Point

    if args.design is None and not args.manifests:
        raise BadInput(
            "neither a design nor Verilog; give a DESIGN, --design FILE, or --verilog FILE --top NAME"
        )
    design: Design | OwnDesign | None
    if args.design is not None and args.design.startswith((SOFTWARE, HARDWARE)):
        subject, design, behind = args.design, find_system(args.design).design, True
    else:
        entered = one_entry(args)
        if system and "@" in entered.reference:
            raise BadInput(f"{entered.name} is no machine of the catalogue: drop --system")
        subject, design, behind = entered.reference, entered, system
    if behind and args.interface != DEFAULT.name:
        raise BadInput("--interface with --system: a processor always has registers in front; drop it")
    if design is None and args.settings:
        raise BadInput(f"--set {args.settings[0]}: software on the processor has no parameters; drop it")
    settings = () if design is None else tuple(settings_of(design, args.settings).items())
    usual = PAPER_NBITS if design is None else design.usual_nbits
    nbits = usual if args.nbits is None else args.nbits
    interface = SYSTEM if behind else args.interface
    return Point(subject, nbits, settings, interface, stage=stage, flow=tuple(flow.items()))


def add_width(parser: argparse._ActionsContainer, default: str) -> None:
    parser.add_argument("--nbits", type=width, metavar="N", help=f"width of the machine in bits ({default})")


def add_private(parser: argparse._ActionsContainer) -> None:
    """How a private operation is done, where the design executes programs."""
    parser.add_argument(
        "--crt",
        action="store_true",
        help="by two exponentiations modulo the primes, put together in hardware",
    )
    parser.add_argument(
        "--blind",
        nargs="?",
        const="both",
        default="no",
        choices=("no", "message", "exponent", "both"),
        help="hide the message and the exponent behind random numbers (without a value: both)",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="release the result only if the public exponent turns it back into the message; implied by "
        "--crt and --blind unless --set verify=false",
    )


def add_settings(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PARAM=VALUE",
        dest="settings",
        help="set a parameter of the design (see `modexlab show DESIGN`); may be repeated",
    )


def add_operands(parser: argparse.ArgumentParser, required: bool) -> None:
    note = "decimal or 0x..." if required else "decimal or 0x...; fixed pseudo-random if not given"
    parser.add_argument("--base", type=number, metavar="B", help=f"the base, below the modulus ({note})")
    parser.add_argument("--exp", type=number, metavar="E", help="the exponent")
    parser.add_argument("--mod", type=number, metavar="N", help="the modulus")


def add_workload(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workload",
        metavar="NAME",
        help="a workload of sweeps instead of operands: encrypt, decrypt, crt, sign+9verify (any number of "
        "verifications)",
    )


def refuse_with_workload(args: argparse.Namespace, options: Sequence[str]) -> None:
    """BadInput for operands of another kind beside `--workload`."""
    for option in options:
        value = getattr(args, option)
        if value is not None and value is not False:  # 0 is a number
            raise BadInput(f"--{option} beside --workload, which has its own operands; drop one of them")


def add_interface(parser: argparse.ArgumentParser, *, units: bool = False) -> None:
    """`--interface`; with `units` also for a multiplier alone."""
    told = [
        f"{interface.name}: {interface.summary}{' (default)' if interface is DEFAULT else ''}"
        for interface in INTERFACES.values()
    ]
    parser.add_argument(
        "--interface",
        choices=[*INTERFACES, UNIT] if units else INTERFACES,
        default=DEFAULT.name,
        help="; ".join([*told, f"{UNIT}: {UNIT_SUMMARY}"] if units else told),
    )


def add_verilog(parser: argparse.ArgumentParser) -> Any:
    """Verilog in the place of a design; returns the group, for what else goes with it."""
    other = parser.add_argument_group("Verilog from elsewhere instead of a design")
    other.add_argument(
        "--verilog",
        metavar="FILE",
        nargs="+",
        action="extend",
        help="the files, packages before their users; may be repeated",
    )
    other.add_argument("--top", metavar="NAME", help="the top module")
    other.add_argument(
        "--include",
        metavar="DIRECTORY",
        action="append",
        help="where `include looks, beside the files' own directories; may be repeated",
    )
    other.add_argument(
        "--define", metavar="NAME=VALUE", action="append", help="a macro for the Verilog; may be repeated"
    )
    return other


def refuse_with_verilog(args: argparse.Namespace, options: Sequence[str]) -> None:
    """BadInput for options of a design beside `--verilog`."""
    for option in options:
        if getattr(args, option):
            given = {"design": "DESIGN", "manifests": "--design", "settings": "--set"}.get(
                option, f"--{option}"
            )
            raise BadInput(f"{given} with --verilog: this is for designs of the catalogue; drop one of them")


def add_units(parser: Any) -> None:
    """The parameters of the pipeline's units; `parser` may be a group."""
    parser.add_argument(
        "--mul-latency", type=number, metavar="L", help="cycles of the multiplier (default: 1)"
    )
    parser.add_argument(
        "--div-bits",
        type=number,
        metavar="N",
        choices=DIV_BITS,
        help=f"bits of a quotient in a cycle, one of {', '.join(map(str, DIV_BITS))} (default: 2)",
    )


def add_json(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")


def add_ledger(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--ledger",
        metavar="FILE",
        help="the ledger (default: $MODEXLAB_LEDGER, else modexlab/ledger.sqlite among the user's data)",
    )


def add_jobs(parser: argparse._ActionsContainer, which: str = "processes") -> None:
    parser.add_argument("--jobs", type=positive, metavar="N", help=f"{which} (default: one for each core)")


def jobs_of(args: argparse.Namespace) -> int:
    return args.jobs or len(os.sched_getaffinity(0))


def ledger_of(args: argparse.Namespace, *, read_only: bool = False) -> Ledger:
    """The ledger of `--ledger`; a named one that is only read must be there."""
    from ..lab.ledger.ledger import Ledger

    if args.ledger is not None:
        check_directory("--ledger", args.ledger)
    ledger = Ledger(args.ledger)
    if read_only and args.ledger is not None and not ledger.exists:
        raise BadInput(f"--ledger {args.ledger}: there is no such file; `modexlab sweep` writes one")
    return ledger


def find_design(name: str) -> Design:
    """The design of the catalogue with this name."""
    from ..designs import catalogue  # not at the top: it brings PyMTL3, and --help must be quick

    return catalogue.find(name)


def add_coupling(group: Any) -> None:
    """`--interface` of a machine that stands behind a processor."""
    group.add_argument(
        "--interface",
        choices=COUPLINGS,
        default=COUPLINGS[0],
        help="xcel: at the accelerator port; axi4lite: on the bus, with its interrupt (default: xcel)",
    )


def xcel_of(name: str | None, nbits: int | None, settings: list[str], interface: str = COUPLINGS[0]) -> Xcel:
    """Return the accelerator behind a processor: a design with its `--nbits` and `--set`, or the null
    accelerator.
    """
    if name is None:
        if interface != COUPLINGS[0]:
            raise BadInput(f"--interface {interface} without an accelerator; name one with --xcel DESIGN")
        if settings:
            raise BadInput("--set without an accelerator; name one with --xcel DESIGN")
        return Xcel()
    from ..designs import catalogue

    design = catalogue.entry(name)
    xcel = Xcel(
        design, design.usual_nbits if nbits is None else nbits, settings_of(design, settings), interface
    )
    design.at(xcel.nbits, **xcel.settings).interface(
        interface
    )  # refuses what cannot be there, before anything is built
    return xcel


def add_flow(parser: argparse._ActionsContainer, which: str) -> None:
    """`--flow PARAM=VALUE`."""
    parser.add_argument(
        "--flow",
        metavar="PARAM=VALUE",
        action="append",
        default=[],
        dest="other",
        help=f"{which} parameter of the graph, such as glitches=False (an unknown one is answered with "
        "their list)",
    )


def flow_of(given: list[str], options: Collection[str], command: str) -> dict[str, str]:
    """The values of `--flow`; those of `options` have an option of their own in this command."""
    from ...flow.graph import graph

    own = {*options, *graph.declaration("rtl").parameters}
    values = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise BadInput(f"--flow {text}: write PARAM=VALUE, as in --flow glitches=False")
        if name in own:
            raise BadInput(f"--flow {name}: it has an option of its own; see `modexlab {command} --help`")
        values[name] = value
    return values


def settings_of(design: Design | OwnDesign, given: list[str]) -> dict[str, Any]:
    """The values of `--set`; names that the design does not have are left for its own check."""
    known = {param.name: param for param in design.params}
    settings: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BadInput(f"--set {short(text)}: write PARAM=VALUE, as in --set nstages=4")
        name, value = name.strip(), value.strip()
        if name in settings:
            raise BadInput(f"--set {name} is given twice; give it once")
        if name in known:
            settings[name] = _setting(known[name], value)
        else:
            settings[short(name)] = short(value)
    return settings


def _setting(param: Param, text: str) -> Any:
    """The value of one parameter, numbers written as everywhere else."""
    if isinstance(param.legal, tuple):
        return param.parse(text) if len(text) <= 40 else param.checked(short(text))
    try:
        value = number(text)
    except argparse.ArgumentTypeError as error:
        raise BadInput(f"{param.name} = {short(text)} is not possible: {error}") from None
    return param.checked(value)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def answer(
    args: argparse.Namespace, data: Callable[[], Any], text: Callable[[], str | Iterable[str]]
) -> None:
    """The result of a command: as JSON with --json, or as text, in one piece or by lines."""
    if args.json:
        import msgspec

        print_json(msgspec.to_builtins(data()))
        return
    told = text()
    print(told if isinstance(told, str) else "\n".join(told))


def answer_all(args: argparse.Namespace, answered: Sequence[tuple[Any, Iterable[str]]]) -> None:
    """The results for several designs, each for scripts and in lines; one alone is no list."""
    reports = [report for report, _ in answered]
    answer(
        args,
        lambda: reports if len(reports) > 1 else reports[0],
        lambda: [line for _, lines in answered for line in lines],
    )


def described(accelerator: Any) -> dict[str, Any]:
    """An accelerator for scripts: its name, width and parameters."""
    params = {name: json_value(value) for name, value in accelerator.parameters.items()}
    return {"design": accelerator.design.name, "nbits": accelerator.nbits, "params": params}


def check_directory(option: str, path: str) -> None:
    """BadInput if there is no place for a file that will be written at the end of long work."""
    if Path(path).name in ("", "..") or path.endswith("/"):
        raise BadInput(f"{option} {path!r}: this is not the name of a file; give one, as in {option} result")
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise BadInput(f"{option} {path}: there is no such directory; make it first: mkdir -p {parent}")


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """End the block and its processes on SIGTERM, which `timeout` sends, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():  # elsewhere there are no signals
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def writing(path: str) -> Iterator[Callable[[str], object]]:
    """Write a text file whole or not at all: it gets its name when the block ends well.

    Only errors of the file itself are reported as such; those of the block are left to its caller.
    """
    from ...flow.files import replacing

    target = Path(path).resolve()  # a link stays one
    special = target.exists() and not target.is_file()  # a device or a pipe, which must not be replaced
    with ExitStack() as stack:
        with _file_errors(path):
            target.parent.stat()  # a missing directory is not made
            part = target if special else stack.enter_context(replacing(target))
            file = part.open("w", encoding="utf-8")

        def write(text: str) -> object:
            with _file_errors(path):
                return file.write(text)

        try:
            yield write
        except BaseException:
            with suppress(OSError):  # what it still holds may not fit on the disk
                file.close()
            raise
        with _file_errors(path):
            file.close()
            stack.close()


@contextmanager
def _file_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be written: {error.strerror}; give a file in a directory of yours"
        ) from None


def warn(message: str) -> None:
    print(f"modexlab: warning: {message}", file=sys.stderr)


def interrupted(kept: str) -> int:
    """Print the results kept by an interrupted run and how to resume it; return the exit code."""
    warn(f"interrupted: {kept}; the same command goes on from there")
    return INTERRUPTED
