"""The command line: `modexlab COMMAND ...`, and what every command has in common when something goes wrong.

A user's mistake (BadInput) is one line on stderr and exit code 2, a wrong result is exit code 1, Ctrl-C is
130. PyMTL3 is imported only by the commands that need it, when they run: `modexlab --help` is quick.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from ..fl.errors import BadInput
from .commands import bench, check, completion, cycles, designs, draw, pseudo, report, run, verilog

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

`modexlab COMMAND --help` explains a command."""


class _Parser(argparse.ArgumentParser):
    """An argparse parser whose errors come out like all others, on one line."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; see `{self.prog} --help`")


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="modexlab",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for command in (designs, run, cycles, verilog, check, bench, report, pseudo, draw, completion):
        command.add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        try:
            args = build_parser().parse_args(argv)
        except SystemExit as done:  # --help
            code = int(done.code or 0)
        else:
            code = args.execute(args)
        sys.stdout.flush()
        return code
    except BadInput as error:
        print(f"modexlab: error: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # the reader has gone: keep the interpreter from failing again when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except (ArithmeticError, RuntimeError) as error:
        # a machine that hangs, or cannot be built; an error that is not of ours is a bug: show it whole
        if not type(error).__module__.startswith("modexlab."):
            raise
        print(f"modexlab: error: {error}", file=sys.stderr)
        return EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
