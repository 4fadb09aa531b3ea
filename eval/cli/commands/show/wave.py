"""Draw the handshakes of an operation as a timing diagram in SVG.

The hardware is simulated, and long stretches without a change at its ports are cut out. `modexlab run --vcd`
records every signal for a waveform viewer.

examples:
  modexlab show mont --wave --nbits 8 --base 5 --exp 5 --mod 13 -o wave.svg
  modexlab show fold --wave --nbits 32 -o wave.svg
  modexlab show mont --wave --nbits 8 --interface axi4lite -o bus.svg
"""

from argparse import Namespace

from ....exchange.package.timing import diagrams
from ...arguments import RSA_DESIGN
from ...options import RSA_OPERANDS, Interfaces
from . import draw

OPTIONS = (RSA_DESIGN, *RSA_OPERANDS, "--nbits", "--set", Interfaces(), draw.OUTPUT)


def execute(args: Namespace) -> int:
    machine, operands = draw.operation(args)
    *_, diagram = diagrams(machine.interface(args.interface), machine, machine.carried(*operands))
    return draw.put(args, diagram.svg, diagram.caption)
