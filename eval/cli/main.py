"""The command line: `modexlab COMMAND ...`, and what every command has in common when something goes wrong.

A user's mistake (BadInput) and a system that refuses (a full disk, a file of others) are one line on stderr and
exit code 2, a wrong result is exit code 1, Ctrl-C is 130. PyMTL3 is imported only by the commands that need it,
when they run: `modexlab --help` is quick.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from ...fl.errors import BadInput
from .commands import (
    asic,
    bench,
    check,
    compare,
    completion,
    cycles,
    design,
    designs,
    draw,
    explore,
    faults,
    figures,
    fpga,
    leak,
    ledger,
    package,
    papers,
    proc,
    program,
    programs,
    prove,
    pseudo,
    report,
    reproduce,
    run,
    soc,
    systems,
    verilog,
)

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE

DESCRIPTION = "A laboratory for modular-exponentiation hardware (RSA): one design at three levels."
EXAMPLES = """\
examples:
  modexlab designs
  modexlab run mont --base 1119317562 --exp 65537 --mod 2603398711
  modexlab cycles mont --nbits 2048 --exp 65537
  modexlab verilog mont -o mont.sv
  modexlab check rsa_signature_2048_sha256_test.json
  modexlab report
  modexlab systems
  modexlab asic mont --nbits 8

`modexlab COMMAND --help` explains a command."""


PACKAGE = "modexlab"
# where a distribution is called otherwise than its module
DISTRIBUTIONS = {
    "yaml": "PyYAML",
    "PIL": "pillow",
    "vl_convert": "vl-convert-python",
    "coriolis": "coriolis-eda",
    "systemrdl": "systemrdl-compiler",
}


class _Parser(argparse.ArgumentParser):
    """An argparse parser whose errors come out like all others, on one line."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; see `{self.prog} --help`")

    def print_help(self, file: Any = None) -> None:
        """As argparse does it, but an output that cannot be written is an error."""
        print(self.format_help(), end="", file=file)


class _Version(argparse.Action):
    """Prints the version of the installed package, which it looks up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"{PACKAGE} {version(PACKAGE)}")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="modexlab",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version, and exit")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for command in (
        *(designs, design, run, cycles, program, programs, verilog, check, bench, report),
        *(proc, systems, soc, package),
        *(asic, figures, fpga),
        *(prove, leak, faults),
        *(explore, ledger, reproduce, compare, papers),
        *(pseudo, draw, completion),
    ):
        command.add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # names in files may hold what a terminal cannot show
    try:
        try:
            parser = build_parser()
            args = parser.parse_args(argv)
            args.parser = parser  # for completion, which describes all commands
        except SystemExit as done:  # --help
            code = int(done.code or 0)
        else:
            code = args.execute(args)
        if sys.stdout is not None:  # closed by the caller
            sys.stdout.flush()
        return code
    except BadInput as error:
        return _refused(str(error))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return EXIT_BROKEN_PIPE
    except ModuleNotFoundError as error:
        raise_unless_optional(error)
        return _refused(missing(error))
    except OSError as error:
        reason = error.strerror or str(error)
        what = f"{error.filename}: {reason}" if error.filename else f"the output cannot be written: {reason}"
        return _refused(f"{what}; make room, or take a place where you may write")
    except (ArithmeticError, RuntimeError) as error:
        # a machine that hangs, or cannot be built; an error that is not of ours is a bug: show it whole
        if not type(error).__module__.startswith("modexlab."):
            raise
        _say(str(error))
        return EXIT_FAILED


def raise_unless_optional(error: ModuleNotFoundError) -> None:
    """A module that no extra of ours has is a bug: show it whole."""
    if not _extra_of(error):
        raise error


def missing(error: ModuleNotFoundError) -> str:
    """What to do about a package that only an extra brings."""
    return f"{_distribution(error)} is not installed: run `pip install '{PACKAGE}[{_extra_of(error)}]'`"


def _distribution(error: ModuleNotFoundError) -> str:
    top = (error.name or "").split(".")[0]
    return DISTRIBUTIONS.get(top, top.replace("_", "-"))


def _extra_of(error: ModuleNotFoundError) -> str:
    """The extra that brings a module, or nothing."""
    from importlib.metadata import requires

    wanted = re.compile(
        rf"{re.escape(_distribution(error))}\b.*extra == ['\"](flow|report|soc)['\"]", re.IGNORECASE
    )
    found = (wanted.match(each) for each in requires(PACKAGE) or ())
    return next((match[1] for match in found if match), "")


def _say(message: str) -> None:
    """An error message; where stderr takes none either, the exit code has to do."""
    with contextlib.suppress(OSError):
        print(f"modexlab: error: {message}", file=sys.stderr, flush=True)


def _refused(message: str) -> int:
    """Say on one line what is wrong, after what has been printed so far."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _discard_output()
    _say(" ".join(message.splitlines()))
    return EXIT_BAD_INPUT


def _discard_output() -> None:
    """Nobody takes our output: keep the interpreter from failing again when it flushes at exit."""
    with contextlib.suppress(io.UnsupportedOperation):  # a stream without a descriptor, in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
