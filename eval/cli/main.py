"""Entry point of the command line: `modexlab COMMAND ...`, with the exit codes and error handling of all
commands.

A user error (BadInput) or an error of the operating system (a full disk, no permission) prints one line on
stderr and exits with code 2; a wrong result exits with 1, Ctrl-C with 130. PyMTL3 is imported only when a
command needs it, so that `modexlab --help` is quick.
"""

import argparse
import contextlib
import errno
import io
import os
import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn, TextIO

from ...fl.errors import BadInput
from .ctrl_c import importing
from .exit_codes import BAD_INPUT, BROKEN_PIPE, FAILED, INTERRUPTED
from .routes import GROUPS, ROUTES, SUMMARIES, find, form_of, forms, words

DESCRIPTION = "A laboratory for modular-exponentiation hardware (RSA): one design at three levels."
EXAMPLES = """\
five things to try:
  modexlab show mont
      a design: its parameters, and its promise about time
  modexlab run mont --nbits 8 --base 5 --exp 5 --mod 13 --trace
      one small operation, cycle by cycle
  modexlab compare cores --nbits 1024
      the cost of a product on every known core
  modexlab asic mont --nbits 8 --layout
      a small machine from RTL to layout and energy
  modexlab new accelerator square --operand a:16 --result product:32
      an accelerator of your own, of any kind

`modexlab COMMAND --help` explains a command; `make docs` builds the handbook."""

MOST_EXAMPLES = 3  # in a help text; the command's page has all of them

PACKAGE = "modexlab"
SHELLS = ("bash", "zsh", "fish")


class _Parser(argparse.ArgumentParser):
    """An argparse parser that reports errors like all others, on one line.

    `known` has the names of its options, `repeatable` those that may be repeated.
    """

    known: Sequence[str] = ()
    repeatable: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{message}; see `{self.prog} --help`")

    def parse_known_args(  # type: ignore[override]  # an overload for each kind of namespace
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Reject unknown arguments here: the parser of a command knows its own help, its parent does not."""
        found, extra = super().parse_known_args(args, namespace)
        if extra:
            self.error(f"unrecognized arguments: {' '.join(extra)}{self._hint(extra[0], [*(args or ())])}")
        return found, extra

    def _hint(self, unrecognized: str, args: list[str]) -> str:
        """A remedy for an unrecognised argument, in parentheses, if there is one."""
        place = args.index(unrecognized) if unrecognized in args else 0
        option, value = args[place - 2 : place] if place >= 2 else ("", "")
        if option in self.repeatable and not unrecognized.startswith("-"):
            return f" (repeat the option: {option} {value} {option} {unrecognized})"
        known = {name.strip("-"): name for name in self.known}
        nearest = get_close_matches(unrecognized.partition("=")[0].strip("-"), known, n=1)
        return f" (did you mean {known[nearest[0]]}?)" if nearest else ""

    def print_help(self, file: Any = None) -> None:
        """Print the help as argparse does, except that an output that cannot be written is an error."""
        print(self.format_help(), end="", file=file)


def _top() -> _Parser:
    """The parser of `modexlab` without a command, whose help lists the commands in groups."""
    groups = "\n\n".join(
        f"{title}:\n" + "\n".join(f"    {name:<10}{SUMMARIES[name]}" for name in names)
        for title, names in GROUPS.items()
    )
    parser = _Parser(
        prog=PACKAGE,
        usage=f"{PACKAGE} [-h] [--version] [--completion SHELL] COMMAND ...",
        description=DESCRIPTION,
        epilog=f"{groups}\n\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="show the version, and exit")
    parser.add_argument(
        "--completion",
        choices=SHELLS,
        metavar="SHELL",
        help=f"print the script for {', '.join(SHELLS)}, and exit",
    )
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    parser.known = ("--help", "--version", "--completion")
    parser.set_defaults(execute=_bare)
    return parser


def _bare(args: argparse.Namespace) -> int:
    """`modexlab` without a command."""
    if args.version:
        from importlib.metadata import version

        print(f"{PACKAGE} {version(PACKAGE)}")
    elif args.completion:
        from .completion import script  # not at the top: it imports the commands

        print(script(PACKAGE, args.completion))
    else:
        _top().print_help()
    return 0


def parser_of(form: str) -> _Parser:
    """The parser of one form of a command."""
    from .options import add_options, flat  # slow to import; Ctrl-C ends `importing` at once

    summary, text, examples, module = form_of(form)
    route = ROUTES[form]
    text = f"Use it to {route.use}. Page: docs/{route.page}.md\n\n{text}"
    parser = _parser(form, summary, text, examples.splitlines())
    parser.set_defaults(execute=module.execute)
    add_options(parser, module.OPTIONS)
    declared = [*flat(*module.OPTIONS)]
    parser.known = ["--help", *(name for item in declared for name in item.names if not item.is_operand)]
    parser.repeatable = [name for item in declared for name in item.names if item.repeatable]
    return parser


def _parser(name: str, summary: str, text: str, examples: list[str], usage: str | None = None) -> _Parser:
    return _Parser(
        prog=f"{PACKAGE} {name}",
        usage=usage,
        description=f"{summary[0].upper()}{summary[1:]}.\n\n{text}".strip() + _others(name),
        epilog="\n".join(["examples:", *examples[:MOST_EXAMPLES]]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _others(name: str) -> str:
    """The other forms of a command, below the text of its first one."""
    lines = [f"\n  {form:<22}{form_of(form).summary}" for form in forms(name) if form != name]
    head = f"\n\n{'other ' if name in ROUTES else ''}forms, each with its --help:"
    return "".join([head, *lines]) if lines else ""


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command line, from the parser of the command that it names."""
    if not argv or argv[0].startswith("-"):
        return _top().parse_args(argv)
    name, rest = find(argv)
    if not {"-h", "--help"}.isdisjoint(rest):  # argparse would convert the arguments before it
        rest = ["--help"]
    if name in ROUTES:
        return parser_of(name).parse_args(rest)
    if not rest:
        raise BadInput(
            f"{name} of which form? Give one of {', '.join(words(name))}; see `modexlab {name} --help`"
        )
    usage = f"{PACKAGE} {name} [-h] {{{','.join(words(name))}}} ..."
    examples = [form_of(form).examples.splitlines()[0] for form in forms(name)]
    return _parser(name, SUMMARIES[name], "", examples, usage).parse_args(rest)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # file names may not be printable
    try:
        try:
            given = sys.argv[1:] if argv is None else [*argv]
            with importing():
                args = parsed(given)
            args.command = shlex.join([PACKAGE, *given])
        except SystemExit as done:  # --help
            code = int(done.code or 0)
        else:
            code = _executed(args)
        if sys.stdout is not None:  # closed by the caller
            sys.stdout.flush()
        return code
    except BadInput as error:
        return _refused(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard(sys.stdout)
        return BROKEN_PIPE
    except ModuleNotFoundError as error:
        from ...rtl.sim.install import distribution_of, extra_of, remedy

        distribution = distribution_of((error.name or "").partition(".")[0])
        if extra_of(distribution) is None:
            raise  # a missing module that no extra provides is a bug: show the traceback
        return _refused(f"{distribution} is not installed: {remedy(distribution)}")
    except OSError as error:
        reason = error.strerror or str(error)
        what = f"{error.filename}: {reason}" if error.filename else f"the output cannot be written: {reason}"
        cure = "free some space" if error.errno == errno.ENOSPC else "give a path that you can write to"
        return _refused(f"{what}; {cure}")
    except (ArithmeticError, RuntimeError) as error:
        # a machine that hangs, or cannot be built; an error from elsewhere is a bug: show the traceback
        if not type(error).__module__.startswith("modexlab."):
            raise
        _say(str(error))
        return FAILED


def _executed(args: argparse.Namespace) -> int:
    """Execute a command; an exception of a user's own Python code becomes BadInput with file and line."""
    try:
        code: int = args.execute(args)
    except (Exception, SystemExit) as error:
        from ..mistakes import mistake  # imports PyMTL3

        if type(error).__module__.startswith("modexlab."):
            raise
        if (found := mistake(error)) is None:
            raise
        raise found from error
    return code


def _say(message: str) -> None:
    """Print an error on stderr. If stderr is not writable either, only the exit code remains."""
    try:
        print(f"modexlab: error: {message}", file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _refused(message: str) -> int:
    """Flush the output so far, print an error on one line, and return its exit code."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _discard(sys.stdout)
    _say(" ".join(message.splitlines()))
    return BAD_INPUT


def _discard(stream: TextIO) -> None:
    """Redirect a stream to nowhere, as the interpreter would fail again when it flushes at exit."""
    with contextlib.suppress(io.UnsupportedOperation):  # a stream without a descriptor, in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
