"""`modexlab new keys`: the keys of a manifest."""

from argparse import Namespace

from ....designs.foreign import manifest

SUMMARY = "print all that may stand in a manifest"
EXAMPLES = """\
  modexlab new keys"""
OPTIONS = ()


def execute(args: Namespace) -> int:
    print(manifest.__doc__, end="")
    return 0
