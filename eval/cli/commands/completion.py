"""`modexlab completion`: completion scripts for bash, zsh and fish, with the names of designs and systems."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

from ...designs.processor_verilog import PROCESSOR
from ..arguments import Commands, add_command
from . import verilog
from .compare import WORDS

FILES = frozenset(
    {"files", "key", "vcd", "output", "program", "commits", "ledger"}
)  # arguments that are paths
DESIGNS = frozenset({"design", "designs", "xcel"})

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
    from ...designs.systems import system_names
    from ...papers.published import NUMBERS

    parser = args.parser
    names = [design.name for design in catalogue.designs()]
    for command in _commands(parser).values():
        with_processor = command.get_default("execute") is verilog.execute
        for action in command._actions:
            if action.dest in DESIGNS:
                action.choices = [*names, PROCESSOR] if with_processor and action.dest == "design" else names
            elif action.dest == "systems":
                action.choices = system_names()
            elif action.dest == "papers":
                action.choices = WORDS
            elif action.dest == "paper":
                action.choices = NUMBERS
            elif action.dest == "device":
                action.choices = list(DEVICES)
            elif action.dest == "stage":
                action.choices = list(STAGES)
    print(_fish(parser) if args.shell == "fish" else _shtab(parser, args.shell))
    return 0


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The subcommands of a parser by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action.choices
    return {}


def _shtab(parser: argparse.ArgumentParser, shell: str) -> str:
    import shtab

    for command in _commands(parser).values():
        for action in command._actions:
            if action.dest in FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab asks for this attribute
    return shtab.complete(parser, shell=shell)


def _fish(parser: argparse.ArgumentParser) -> str:
    """shtab has no fish: one `complete` line per command, option and list of values."""
    lines = [f"# completion of {parser.prog} for fish", f"complete -c {parser.prog} -f"]
    summaries = {
        each.dest: each.help or ""
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for each in action._choices_actions
    }
    for name, command in _commands(parser).items():
        summary = shlex.quote(summaries[name])
        lines.append(f"complete -c {parser.prog} -n __fish_use_subcommand -a {name} -d {summary}")
        condition = shlex.quote(f"__fish_seen_subcommand_from {name}")
        lines += [f"complete -c {parser.prog} -n {condition} {rest}" for rest in _fish_options(command)]
    return "\n".join(lines)


def _fish_options(command: argparse.ArgumentParser) -> Iterator[str]:
    for action in command._actions:
        parts = [f"-l {option[2:]}" for option in action.option_strings if option.startswith("--")]
        parts += [f"-s {option[1:]}" for option in action.option_strings if not option.startswith("--")]
        if action.dest in FILES:
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
