"""`modexlab show`: the catalogue as a table, one design in detail, or JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .....fl.param import PAPER_NBITS
from ....table import table
from ...arguments import add_json, answer, find_design, json_number, json_value

if TYPE_CHECKING:
    from .....fl.param import Param
    from ....designs.machine import Design

SUMMARY = "list the accelerators of the catalogue"
EXAMPLES = """\
  modexlab show              all designs
  modexlab show mont         one design with its parameters
  modexlab show designs --json       for scripts"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("design", metavar="DESIGN", nargs="?", help="show this one in detail")
    add_json(parser)


def _param_as_json(param: Param) -> dict[str, Any]:
    """A parameter; legal values are a list, or {"least": ...} where there are too many to list."""
    legal = param.legal
    return {
        "name": param.name,
        "default": json_value(param.default),
        "default_nbits": PAPER_NBITS,
        "legal": list(legal) if isinstance(legal, tuple) else {"least": json_number(legal.least)},
        "legal_text": param.describe_legal(),
        "help": param.help,
    }


def _published(design: Design) -> dict[str, float | int]:
    """Cycles by workload of the paper's own RTL, where the design is a machine of it."""
    from ....papers.published import by_name

    return by_name("001", "RTL").get(design.name, {}) if design.paper == "001" else {}


def _as_json(design: Design) -> dict[str, Any]:
    return {
        "name": design.name,
        "family": design.family,
        "paper": design.paper,
        "domain": design.domain,
        "schedule": design.schedule,
        **design.promises.as_json(),
        "constant_schedules": [
            value
            for param, value, promises in design.alternatives()
            if param is design.control.schedule and promises.constant_time
        ],
        "constant_settings": _by_word(design),
        "summary": design.summary,
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
        *(
            f"                 {word} with {', '.join(settings)}"
            for word, settings in _by_word(design).items()
        ),
    ]
    for operation, cycles in _published(design).items():
        lines.append(f"  published      {operation}: {cycles} cycles")
    lines.append(
        "  parameters with their defaults at 32 bits (--set NAME=VALUE):"
        if design.params
        else "  no parameters"
    )
    for param in design.params:
        lines.append(f"    {param.name} = {param.default}")
        lines.append(f"        {param.help}")
        lines.append(f"        {param.describe_legal()}")
    return "\n".join(lines)


def execute(args: argparse.Namespace) -> int:
    from ....designs import catalogue

    designs = [find_design(args.design)] if args.design else list(catalogue.designs())
    answer(
        args,
        lambda: [_as_json(design) for design in designs],
        lambda: _detail(designs[0]) if args.design else lines(designs),
    )
    return 0


def _by_word(design: Design) -> dict[str, list[str]]:
    """The schedules, and the settings that change the default machine's promise, by the word for it."""
    from ....designs.promises import WORDS  # not at the top: it brings PyMTL3

    found: dict[str, list[str]] = {}
    for param, value, promises in design.alternatives():
        if param is design.control.schedule or promises.word != design.promises.word:
            found.setdefault(promises.word, []).append(f"{param.name}={value}")
    return {word: found[word] for word in WORDS if word in found}


def lines(designs: Sequence[Design]) -> Iterator[str]:
    """All of them."""
    rows = [
        [
            design.name,
            design.family,
            design.paper or "-",
            design.domain,
            design.schedule,
            design.promises.word,
            str(len(design.params)),
        ]
        for design in designs
    ]
    yield table(["design", "family", "paper", "domain", "schedule", "constant time", "parameters"], rows)
    yield ""
    yield from (f"{design.name}: {design.summary}" for design in designs)
    yield "\n`modexlab show DESIGN` shows what a design is and which values its parameters take."
