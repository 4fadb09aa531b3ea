"""List designs, papers and spaces, or show one design.

examples:
  modexlab show
  modexlab show mont
  modexlab show mont --json
"""

from argparse import Namespace

from ....designs import catalogue
from ....papers.published import NUMBERS
from ....papers.published import papers as published
from ...render import answer
from . import designs, papers, spaces

OPTIONS = designs.OPTIONS


def execute(args: Namespace) -> int:
    if args.design:
        return designs.execute(args)
    found = spaces.spaces()
    return answer(
        args,
        {
            "designs": [design.name for design in catalogue.designs()],
            "papers": NUMBERS,
            "spaces": [space["name"] for space in found],
        },
        *designs.listed(catalogue.designs()),
        *papers.listed(published()),
        spaces.listed(found),
    )
