"""Print a wrapper with the ports of a manifest's module.

The module of a manifest has modexlab's streams as its ports; a core with other ports is instantiated in
this wrapper, about 30 lines of Verilog.

examples:
  modexlab new wrapper design.toml > wrapper.v
"""

from argparse import Namespace

from ....designs.foreign.wrapper import wrapper
from .. import check_manifest

OPTIONS = check_manifest.OPTIONS[:-1]


def execute(args: Namespace) -> int:
    print("\n".join(map(wrapper, check_manifest.cores(args))), end="")
    return 0
