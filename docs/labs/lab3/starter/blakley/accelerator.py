"""Lab 3: a multiplier after Blakley, and the machine that computes powers with it."""

from functools import partial

from modexlab import Param
from modexlab.cl.one_at_a_time import stepped_cl
from modexlab.cl.timing import FixedTiming
from modexlab.eval.designs.control import DIRECT
from modexlab.eval.designs.machine import Design
from modexlab.eval.designs.multipliers.multiplier import Multiplier, Unit

from .rtl import Blakley

BITS = Param("bits_per_cycle", 1, (1, 2, 4), "bits of a that are consumed in a cycle")


def product(a, b, m):
    """Functional level: STEP 2: replace this line."""
    return 0


def steps(a, b, m, nbits, bits_per_cycle):
    """Cycle level: the product, with a yield for each cycle before it is offered. STEP 2: replace it."""
    yield
    return 0


def cycles(nbits, bits_per_cycle):
    """The formula: cycles of a product, from its request to its response. STEP 2: replace this line."""
    return 1


def unit(nbits, values):
    """The three levels of the multiplier at one width."""
    bits = values[BITS.name]
    timing = FixedTiming(cycles(nbits, bits))
    work = partial(steps, nbits=nbits, bits_per_cycle=bits)
    return Unit(lambda nbits: Blakley(nbits, bits), lambda nbits: stepped_cl(nbits, work), timing)


# residue: operands and results are below the modulus; DIRECT: no conversion, and any schedule
DESIGN = Design(
    "blakley", Multiplier("Blakley", (BITS,), unit), "residue", DIRECT, "double, add and subtract"
)
