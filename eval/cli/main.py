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
import sys
from collections.abc import Sequence
from typing import IO, NoReturn

from ...fl.errors import BadInput
from .commands import (
    asic,
    bench,
    check,
    compare,
    completion,
    cycles,
    designs,
    draw,
    explore,
    fpga,
    ledger,
    papers,
    proc,
    pseudo,
    report,
    reproduce,
    run,
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


class _Parser(argparse.ArgumentParser):
    """An argparse parser whose errors come out like all others, on one line."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; see `{self.prog} --help`")

    def print_help(self, file: IO[str] | None = None) -> None:
        """As argparse does it, but an output that cannot be written is an error."""
        print(self.format_help(), end="", file=file)


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="modexlab",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for command in (
        *(designs, run, cycles, verilog, check, bench, report),
        *(proc, systems),
        *(asic, fpga),
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
