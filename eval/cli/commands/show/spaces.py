"""List the ready-made spaces of sweeps.

examples:
  modexlab show spaces
  modexlab show spaces --json
"""

from argparse import Namespace

from ....json_values import attributes
from ....lab.space import Space, names
from ...render import Json, Table, answer

OPTIONS = ("--json",)


def spaces() -> list[Json]:
    loaded = {name: Space.load(name) for name in names()}
    return [
        {"name": name, **attributes(space, "title", "description"), "points": space.size()}
        for name, space in loaded.items()
    ]


def listed(found: list[Json]) -> Table:
    return Table.of(found, {"space": "name", "points": "points", "what it is": "title"})


def execute(args: Namespace) -> int:
    found = spaces()
    return answer(args, found, listed(found))
