"""Draw the block diagram of a design as SVG.

A block is a component, with its instance name, class and Python file. Labels name ports with their bits. The
diagram is drawn from the elaborated hardware. With --depth 2, the default, a block shows the blocks inside
it; only the outer blocks have wires.

examples:
  modexlab show mont --diagram -o mont.svg
  modexlab show mont --diagram --depth 1 -o mont.svg
  modexlab show mont --diagram --nbits 8 --interface unit -o product.svg
  modexlab show heap --diagram --set crt=true -o heap.svg
"""

from argparse import Namespace

from .....rtl.sim.base import elaborate
from ....designs.interfaces import UNIT
from ....exchange.package.block_diagram import DEPTH, block_diagram
from ...arguments import accelerator_of
from ...options import HARDWARE, option, positive
from . import draw

OPTIONS = (
    "design",
    "--accelerator",
    *HARDWARE,
    option("--depth", "N", f"levels of blocks (default: {DEPTH})", type=positive, default=DEPTH),
    draw.OUTPUT,
)


def execute(args: Namespace) -> int:
    machine = accelerator_of(args)
    unit = args.interface == UNIT
    component = machine.multiplier() if unit else machine.exported(machine.interface(args.interface))
    title = f"{machine.name}, {machine.nbits} bits{', one multiplier' if unit else ''}"
    elaborate(component)
    return draw.put(args, block_diagram(component, title, args.depth, files=True), title)
