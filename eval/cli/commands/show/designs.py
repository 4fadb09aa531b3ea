"""List the accelerators of the catalogue.

examples:
  modexlab show              all designs
  modexlab show mont         one design with its parameters
  modexlab show designs --json       for scripts
"""

from argparse import Namespace
from collections.abc import Sequence

from .....fl.param import PAPER_NBITS, Param
from ....designs import catalogue
from ....designs.machine import Design
from ....designs.promises import WORDS
from ....json_values import attributes, json_number, json_value
from ....papers.published import by_name
from ...render import Block, Columns, Json, Table, answer

OPTIONS = ("design (shows this one in detail)", "--json")


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


def _published(design: Design) -> dict[str, float]:
    """Cycles by workload of the paper's own RTL, if the design is one of its machines."""
    return by_name("001", "RTL").get(design.name, {}) if design.paper == "001" else {}


def _as_json(design: Design) -> Json:
    return {
        **attributes(design, "name", "family", "paper", "domain", "schedule", "summary"),
        **design.promises.as_json(),
        "constant_schedules": [
            value
            for param, value, promises in design.alternatives()
            if param is design.control.schedule and promises.constant_time
        ],
        "constant_settings": _by_word(design),
        "params": [_param_as_json(param) for param in design.params],
        "published": _published(design),
    }


def _detail(design: Design) -> str:
    lines = [
        f"{design.name}: {design.summary}",
        f"  family         {design.family}",
        f"  paper          {design.paper or 'ours'}",
        f"  domain         {design.domain}",
        f"  schedule       {design.schedule}",
        f"  constant time  {design.promises.sentence}",
    ]
    for word, settings in _by_word(design).items():
        lines.append(f"                 {word} with {', '.join(settings)}")
    for operation, cycles in _published(design).items():
        lines.append(f"  published      {operation}: {cycles} cycles")
    defaults = "parameters with their defaults at 32 bits (--set NAME=VALUE):"
    lines.append(f"  {defaults if design.params else 'no parameters'}")
    for param in design.params:
        lines += (
            f"    {param.name} = {param.default}",
            f"        {param.help}",
            f"        {param.describe_legal()}",
        )
    return "\n".join(lines)


def execute(args: Namespace) -> int:
    designs = [catalogue.find(args.design)] if args.design else catalogue.designs()
    shown = [_detail(designs[0])] if args.design else listed(designs)
    return answer(args, [_as_json(design) for design in designs], *shown)


def _by_word(design: Design) -> dict[str, list[str]]:
    """The schedules, and the settings that change the default machine's promise, by the word for
    the promise.
    """
    found: dict[str, list[str]] = {}
    for param, value, promises in design.alternatives():
        if param is design.control.schedule or promises.word != design.promises.word:
            found.setdefault(promises.word, []).append(f"{param.name}={value}")
    return {word: found[word] for word in WORDS if word in found}


def listed(designs: Sequence[Design]) -> list[Block]:
    """A table of designs."""
    columns: Columns = {
        "design": "name",
        "family": "family",
        "paper": lambda design: design.paper or None,
        "domain": "domain",
        "schedule": "schedule",
        "constant time": "promises.word",
        "parameters": lambda design: len(design.params),
    }
    return [
        Table.of(designs, columns),
        "`modexlab show DESIGN` describes a design, its parameters and their values.",
    ]
