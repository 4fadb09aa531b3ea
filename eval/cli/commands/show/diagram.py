"""Draw the block diagram of a design as SVG.

Blocks are components, and labels name ports with their bits. The diagram is drawn from the elaborated
hardware.

examples:
  modexlab show mont --diagram -o mont.svg
  modexlab show mont --diagram --nbits 8 --interface unit -o product.svg
  modexlab show heap --diagram --set crt=true -o heap.svg
"""

from argparse import Namespace

from .....rtl.sim.base import elaborate
from ....designs.interfaces import UNIT
from ....exchange.package.block_diagram import block_diagram
from ...arguments import accelerator_of
from ...options import HARDWARE
from . import draw

OPTIONS = ("design", "--accelerator", *HARDWARE, draw.OUTPUT)


def execute(args: Namespace) -> int:
    machine = accelerator_of(args)
    unit = args.interface == UNIT
    component = machine.multiplier() if unit else machine.exported(machine.interface(args.interface))
    title = f"{machine.name}, {machine.nbits} bits{', one multiplier' if unit else ''}"
    elaborate(component)
    return draw.put(args, block_diagram(component, title), title)
