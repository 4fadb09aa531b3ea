"""Print all keys of a manifest.

examples:
  modexlab new keys
"""

from argparse import Namespace

from ....designs.foreign import manifest

OPTIONS = ()


def execute(args: Namespace) -> int:
    print(manifest.__doc__, end="")
    return 0
