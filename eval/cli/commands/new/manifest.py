"""Print a template of a manifest for your own Verilog.

A manifest (design.toml) lists the files of a core, its top module, the numbers that software prepares for
it, and its limits. With a manifest, run, check, asic, sweep and report accept the core by --accelerator
FILE, like a design of the catalogue. `modexlab check --manifest` checks it. A core that is not for RSA
names its fields in [request] and [response], and a Python function as the oracle.

examples:
  modexlab new manifest > design.toml
"""

from argparse import Namespace

from ....designs.foreign.wrapper import TEMPLATE

OPTIONS = ()


def execute(args: Namespace) -> int:
    print(TEMPLATE, end="")
    return 0
