"""PseudoMulCL: the cycle-level twin of the compression-tree multiplier, and its timing.

One result a cycle: the unit takes operands when its register is empty or is being emptied. Ports as in
rtl/units/pseudo_mul.py; the port `modulus` is not read, as the modulus is a parameter.
"""

from dataclasses import dataclass

from pymtl3 import *

from ..fl.compression.compression import BEST
from ..fl.multipliers.mul_rem import mul_rem
from ..rtl.messages import mk_product_req
from ..rtl.units.pseudo_mul import modulus_of
from .one_at_a_time import OneAtATimeCL
from .timing import OneBlock


@dataclass(frozen=True)
class PseudoMulTiming(OneBlock):
    """A result a cycle after its operands, whatever they are; a second one a cycle later."""

    fixed: int = 1


def PseudoMulCL(nbits, modulus, strategy=BEST, adder="brent-kung"):
    m = modulus_of(modulus, nbits).value
    Word = mk_bits(nbits)

    def serve(msg, _):
        return Word(mul_rem(int(msg.a), int(msg.b), m)), PseudoMulTiming().fixed

    return OneAtATimeCL(mk_product_req(nbits), Word, serve, True, nbits)
