"""List designs, papers and spaces, or show one design.

examples:
  modexlab show
  modexlab show mont
  modexlab show mont --json
"""

from argparse import Namespace

from ....designs import catalogue
from ....papers.published import NUMBERS
from ...render import answer
from . import designs, spaces

OPTIONS = designs.OPTIONS


def execute(args: Namespace) -> int:
    if args.design:
        return designs.execute(args)
    names = [space["name"] for space in spaces.spaces()]
    return answer(
        args,
        {
            "designs": [design.name for design in catalogue.designs()],
            "papers": NUMBERS,
            "spaces": names,
        },
        *designs.listed(catalogue.designs()),
        f"papers: {', '.join(NUMBERS)} (`modexlab show papers`); spaces of sweeps: "
        f"{', '.join(names)} (`modexlab show spaces`)",
    )
