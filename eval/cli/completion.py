"""`modexlab --completion`: scripts for bash, zsh and fish, with the names of designs and systems."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import shtab

from ...rtl.sim import STAGES
from ..designs import catalogue
from ..designs.system_catalogue import system_names
from ..designs.verilog.processor import PROCESSOR
from ..papers.published import NUMBERS
from .commands.compare import WORDS
from .routes import SUMMARIES

# how arguments are completed, by their metavar in the help
PATHS = {
    **dict.fromkeys(("DESIGN|FILE", "FILE", "PATH", "PROGRAM", "ROW|FILE", "SPACE"), shtab.FILE),
    "DIR": shtab.DIR,
}
DESIGN = "DESIGN"

VALUES = {  # of arguments, by their metavar or destination
    "systems": system_names(),
    "papers": WORDS,
    "paper": NUMBERS,
    "stage": list(STAGES),
}


def script(prog: str, forms: Mapping[str, argparse.ArgumentParser], shell: str) -> str:
    """The completion script of a shell."""
    from ...flow.fpga.fpga import DEVICES  # not at the top: it needs the extra [flow]

    VALUES["device"] = list(DEVICES)
    parser = argparse.ArgumentParser(prog=prog)
    commands = parser.add_subparsers(dest="command")
    for name, summary in SUMMARIES.items():
        own = [(form.split()[1:], forms[form]) for form in forms if form.split()[0] == name]
        command: Any = commands.add_parser(name, help=summary)
        _add_forms(command, own)
        for action in command._actions:
            if action.metavar in PATHS:
                action.complete = PATHS[action.metavar]
    return shtab.complete(parser, shell=shell)


def _add_forms(
    command: argparse.ArgumentParser, forms: Sequence[tuple[Sequence[str], argparse.ArgumentParser]]
) -> None:
    """Give a command the options of all its forms, and the words and options that tell them apart."""
    words = [selector[0] for selector, _ in forms if selector and not selector[0].startswith("-")]
    if words and forms[0][0]:
        command.add_argument("form", choices=words)
        words = []
    designs = [design.name for design in catalogue.designs()]
    operands: list[argparse.Action] = []
    for selector, form in forms:
        own = [action for action in form._actions if not action.option_strings]
        if operands:  # of the first form; words of other forms are alternatives
            operands += [action for action in own if selector[0] in words and action.dest in VALUES]
        else:
            operands = own
        if len(selector) == 1 and selector[0].startswith("-"):
            summary = (form.description or "").split(".")[0]
            command.add_argument(selector[0], action="store_true", help=summary)
        if len(selector) == 2:
            level = command._option_string_actions[selector[0]]
            level.choices = [*(level.choices or ()), selector[1]]
        for action in form._actions:
            if action.metavar == DESIGN:
                also = [PROCESSOR] if form.prog.endswith(" verilog") and action.dest == "design" else []
                action.choices = [*designs, *also]
            elif action.dest in VALUES:
                action.choices = VALUES[action.dest]
            if action.option_strings and not {*action.option_strings} & {*command._option_string_actions}:
                command._add_action(action)
    for action in operands:
        if words and action is operands[0] and action.metavar not in PATHS:
            action.choices = [*words, *(action.choices or ())]
        command._add_action(action)
