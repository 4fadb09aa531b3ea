"""List the designs of the catalogue with their settings.

`modexlab show DESIGN` explains the settings of one.

examples:
  modexlab show designs
  modexlab show designs --json
"""

import textwrap
from argparse import Namespace

from .....fl.param import PAPER_NBITS, Count, Param
from .....fl.program.schedules import BINARY
from ....designs import catalogue
from ....designs.build import SCHEDULE
from ....designs.machine import Design
from ....designs.promises import WORDS
from ....json_values import attributes, json_number, json_value
from ....papers.published import by_name
from ...render import Json, Table, answer

OPTIONS = ("--json",)
WIDTH = 87  # of the settings in a table of 110 columns
HINT = "1+: 1 or more; a name alone: false or true. `modexlab show NAME` explains the settings of a design."
HEAD = ("name", "paper", "settings")


def _param_as_json(param: Param) -> Json:
    """A parameter as JSON; legal values are a list, or {"least": ...} if there are too many to list."""
    legal = param.legal
    return {
        **attributes(param, "name", "help"),
        "default": json_value(param.default),
        "default_nbits": PAPER_NBITS,
        "legal": list(legal) if isinstance(legal, tuple) else {"least": json_number(legal.least)},
        "legal_text": param.describe_legal(),
    }


def published(design: Design) -> dict[str, float]:
    """Cycles by workload of the paper's own RTL, if the design is one of its machines."""
    return by_name("001", "RTL").get(design.name, {}) if design.paper == "001" else {}


def as_json(design: Design) -> Json:
    return {
        **attributes(design, "name", "family", "paper", "domain", "schedule", "summary"),
        **design.promises.as_json(),
        "constant_schedules": [
            value
            for param, value, promises in design.alternatives()
            if param is design.control.schedule and promises.constant_time
        ],
        "constant_settings": by_word(design),
        "params": [_param_as_json(param) for param in design.params],
        "published": published(design),
    }


def execute(args: Namespace) -> int:
    rows = []
    for design in catalogue.designs():
        first, *more = textwrap.wrap(settings(design), WIDTH, break_on_hyphens=False)
        rows += [(design.name, design.paper, first), *(("", "", line) for line in more)]
    notes = [f"{word}: {meaning}" for word, meaning in explained().items()]
    table = Table(HEAD, rows, note="\n".join([*notes, HINT]))
    return answer(args, [as_json(design) for design in catalogue.designs()], table)


def settings(design: Design) -> str:
    """The parameters of a design with their values, or the settings that its name stands for."""
    if design.entry is not None:
        usual = {param.name: param.default for param in design.entry.params}
        own = [
            f"{param.name}={param.default}" for param in design.params if param.default != usual[param.name]
        ]
        return " ".join([f"= {design.entry.name}", *own])
    program = _program() if design.programmed else {}
    own = [_range(param) for param in design.params if param.name not in program]
    return " ".join(filter(None, [*own, *["program"] * design.programmed]))


def explained() -> dict[str, str]:
    """The words of the table that stand for settings of several designs."""
    return {
        SCHEDULE: "|".join(BINARY),
        "program": " ".join(_program().values()).replace(" window=", "\n         window="),
    }


def _program() -> dict[str, str]:
    """The settings of all designs that execute programs, with their values."""
    designs = [design for design in catalogue.DESIGNS if design.programmed]
    common = set.intersection(*({param.name for param in design.params} for design in designs))
    return {param.name: _range(param) for param in designs[0].params if param.name in common}


def _range(param: Param) -> str:
    """A parameter with its values; empty if there is only one."""
    legal = param.legal
    if isinstance(legal, Count):
        return f"{param.name}={legal.least}+"
    if len(legal) == 1:
        return ""
    if isinstance(legal[0], bool) or set(legal) == set(BINARY):
        return param.name
    if len(legal) > 2 and all(isinstance(value, int) for value in legal):
        return f"{param.name}={min(legal)}..{max(legal)}"
    return f"{param.name}={'|'.join(map(str, legal))}"


def by_word(design: Design) -> dict[str, list[str]]:
    """The schedules, and the settings that change the default machine's promise, by the word for
    the promise.
    """
    found: dict[str, list[str]] = {}
    for param, value, promises in design.alternatives():
        if param is design.control.schedule or promises.word != design.promises.word:
            found.setdefault(promises.word, []).append(f"{param.name}={value}")
    return {word: found[word] for word in WORDS if word in found}
