"""`modexlab completion`: completion scripts for bash, zsh and fish, with the names of designs and systems."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

from ...designs.verilog.processor import PROCESSOR
from ..arguments import Commands, add_command
from . import verilog
from .compare import WORDS

# how arguments are completed, by the word that the help shows for them
FILES = frozenset({"FILE", "PATH", "PROGRAM", "ROW|FILE", "SPACE"})
DIRECTORIES = frozenset({"DIR", "DIRECTORY"})
DESIGN = "DESIGN"

TEXT = "The script goes to stdout; load it in the start file of your shell."
EXAMPLES = """\
  modexlab completion bash > ~/.local/share/bash-completion/completions/modexlab
  modexlab completion zsh > ~/.zsh/completions/_modexlab      (a directory in fpath)
  modexlab completion fish > ~/.config/fish/completions/modexlab.fish"""


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "completion",
        "print the completion script of a shell",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def execute(args: argparse.Namespace) -> int:
    from ....flow.fpga.fpga import DEVICES
    from ....rtl.sim import STAGES
    from ...designs import catalogue
    from ...designs.system_catalogue import system_names
    from ...papers.published import NUMBERS

    parser = args.parser
    names = [design.name for design in catalogue.designs()]
    choices = {
        "systems": system_names(),
        "papers": WORDS,
        "paper": NUMBERS,
        "device": list(DEVICES),
        "stage": list(STAGES),
    }
    for command in _commands(parser).choices.values():
        with_processor = command.get_default("execute") is verilog.execute
        for action in command._actions:
            if action.metavar == DESIGN:
                action.choices = [*names, PROCESSOR] if with_processor and action.dest == "design" else names
            elif action.dest in choices:
                action.choices = choices[action.dest]
    print(_fish(parser) if args.shell == "fish" else _shtab(parser, args.shell))
    return 0


def _commands(parser: argparse.ArgumentParser) -> argparse._SubParsersAction:
    """The action of a parser that has its subcommands."""
    return next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))


def _shtab(parser: argparse.ArgumentParser, shell: str) -> str:
    import shtab

    for command in _commands(parser).choices.values():
        for action in command._actions:
            if action.metavar in (*FILES, *DIRECTORIES):
                path = shtab.FILE if action.metavar in FILES else shtab.DIR
                action.complete = path
    return shtab.complete(parser, shell=shell)


def _fish(parser: argparse.ArgumentParser) -> str:
    """shtab has no fish: one `complete` line per command, option and list of values."""
    lines = [f"# completion of {parser.prog} for fish", f"complete -c {parser.prog} -f"]
    commands = _commands(parser)
    summaries = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    for name, command in commands.choices.items():
        summary = shlex.quote(summaries[name])
        lines.append(f"complete -c {parser.prog} -n __fish_use_subcommand -a {name} -d {summary}")
        condition = shlex.quote(f"__fish_seen_subcommand_from {name}")
        lines += [f"complete -c {parser.prog} -n {condition} {rest}" for rest in _fish_options(command)]
    return "\n".join(lines)


def _fish_options(command: argparse.ArgumentParser) -> Iterator[str]:
    for action in command._actions:
        parts = [f"-l {option[2:]}" for option in action.option_strings if option.startswith("--")]
        parts += [f"-s {option[1:]}" for option in action.option_strings if not option.startswith("--")]
        if action.metavar in (*FILES, *DIRECTORIES):
            parts.append("-r -F" if action.option_strings else "-F")
        elif action.choices:
            values = shlex.quote(" ".join(map(str, action.choices)))
            parts.append(f"-x -a {values}" if action.option_strings else f"-a {values}")
        elif action.option_strings and action.nargs != 0:
            parts.append("-x")
        if action.option_strings and action.help:
            said = action.help.replace("%(default)s", str(action.default)).replace("%%", "%")
            parts.append(f"-d {shlex.quote(said)}")
        if parts:
            yield " ".join(parts)
