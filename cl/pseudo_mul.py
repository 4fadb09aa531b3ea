"""PseudoMulCL: the cycle-level model of the compression-tree multiplier, and its timing.

It gives one result per cycle: the unit accepts operands when its register is empty or is being emptied. Ports
are as in rtl/units/pseudo_mul.py; the port `modulus` is not read, as the modulus is a parameter.
"""

from ..fl.compression.compression import BEST
from ..rtl.units.pseudo_mul import modulus_of
from .one_at_a_time import stepped_cl
from .timing import FixedTiming

PSEUDO_MUL_TIMING = FixedTiming(1)  # a second result follows a cycle later


def PseudoMulCL(nbits, modulus, strategy=BEST, adder="brent-kung"):
    m = modulus_of(modulus, nbits).value

    def work(a, b, _):
        yield  # the product is stored
        return a * b % m

    return stepped_cl(nbits, work)
