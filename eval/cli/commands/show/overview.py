"""`modexlab show`: the designs, papers and spaces, or one design in detail."""

from __future__ import annotations

import argparse

from ...arguments import answer
from . import designs, papers, spaces

SUMMARY = "list designs, papers and spaces, or show one design"
EXAMPLES = """\
  modexlab show
  modexlab show mont
  modexlab show mont --json"""
add = designs.add


def execute(args: argparse.Namespace) -> int:
    if args.design:
        return designs.execute(args)
    from ....designs import catalogue
    from ....lab.space import names
    from ....papers.published import NUMBERS
    from ....papers.published import papers as published

    answer(
        args,
        lambda: {
            "designs": [design.name for design in catalogue.designs()],
            "papers": [*NUMBERS],
            "spaces": [*names()],
        },
        lambda: [
            *designs.lines(list(catalogue.designs())),
            "",
            papers.listed(published()),
            "",
            spaces.listed(),
        ],
    )
    return 0
