"""`modexlab --completion`: scripts for bash, zsh and fish, with the names of designs and systems."""

import argparse
from collections.abc import Sequence
from typing import Any

import shtab

from ...rtl.sim import BACKENDS
from ..designs import catalogue
from ..designs.system_catalogue import system_names
from ..designs.verilog.processor import PROCESSOR
from ..papers.published import NUMBERS
from .commands.compare import WORDS
from .options import Option, flag, flat
from .routes import SUMMARIES, form_of, forms

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
    "backend": list(BACKENDS),
}


def script(prog: str, shell: str) -> str:
    """The completion script of a shell."""
    from ...flow.fpga.fpga import DEVICES  # not at the top: it needs the extra [flow]

    VALUES["device"] = list(DEVICES)
    parser = argparse.ArgumentParser(prog=prog)
    commands = parser.add_subparsers(dest="command")
    for name, summary in SUMMARIES.items():
        command = commands.add_parser(name, help=summary)
        for item in _options(name):
            action: Any = item.add_to(command)
            if item.settings.get("metavar") in PATHS:
                action.complete = PATHS[item.settings["metavar"]]
    return shtab.complete(parser, shell=shell)


def _options(command: str) -> list[Option]:
    """The options of all forms of a command, with the words and options that tell them apart, then the
    operands of its first form.
    """
    selectors = {form: form.split()[1:] for form in forms(command)}
    words = [selector[0] for selector in selectors.values() if selector and not selector[0].startswith("-")]
    options: dict[str, Option] = {}
    operands: list[Option] = []
    if words and command not in selectors:
        operands, words = [Option("form", choices=words, help="")], []
    first: list[Option] = []
    for form, selector in selectors.items():
        made = [_with_values(item, form) for item in flat(*form_of(form).module.OPTIONS)]
        own = [item for item in made if item.is_operand]
        if first:  # words of other forms are alternatives
            first += [item for item in own if selector[0] in words and item.names[0] in VALUES]
        else:
            first = own
        for item in made:
            if not item.is_operand and options.keys().isdisjoint(item.names):
                options |= dict.fromkeys(item.names, item)
        if len(selector) == 1 and selector[0].startswith("-"):
            options.setdefault(selector[0], flag(selector[0], form_of(form).summary))
        if len(selector) == 2:
            name, value = selector
            options[name] = _changed(options[name], (*options[name].settings.get("choices", ()), value))
    if words and first and first[0].settings.get("metavar") not in PATHS:
        first[0] = _changed(first[0], (*words, *first[0].settings.get("choices", ())))
    return [*dict.fromkeys(options.values()), *operands, *first]


def _with_values(item: Option, form: str) -> Option:
    """The option with the values that complete it, where they are known."""
    if item.settings.get("metavar") == DESIGN:
        also = [PROCESSOR] if form.startswith("verilog") and item.names == ("design",) else []
        return _changed(item, [*(design.name for design in catalogue.designs()), *also])
    name = item.settings.get("dest", item.names[0].lstrip("-").replace("-", "_"))
    return _changed(item, VALUES[name]) if name in VALUES else item


def _changed(item: Option, choices: Sequence[Any]) -> Option:
    return Option(*item.names, **{**item.settings, "choices": choices})
