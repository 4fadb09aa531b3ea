"""`modexlab show spaces`: the ready-made spaces of sweeps."""

from __future__ import annotations

import argparse

from ....json_values import attributes
from ....table import table
from ...arguments import add_json, answer

SUMMARY = "list the ready-made spaces of sweeps"
EXAMPLES = """\
  modexlab show spaces
  modexlab show spaces --json"""
add = add_json


def listed() -> str:
    from ....lab.space import Space, names

    spaces = {name: Space.load(name) for name in names()}
    lines = [[name, str(space.size()), space.title] for name, space in spaces.items()]
    return table(["space", "points", "what it is"], lines)


def execute(args: argparse.Namespace) -> int:
    from ....lab.space import Space, names

    answer(
        args,
        lambda: [
            {"name": name, **attributes(space, "title", "description"), "points": space.size()}
            for name in names()
            for space in [Space.load(name)]
        ],
        listed,
    )
    return 0
