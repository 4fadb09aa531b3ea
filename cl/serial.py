"""Cycle-level twins of the units that work through a factor bit by bit: ShiftSub, ShiftSubCarrySave, MMMul,
MMRed.
"""

from pymtl3 import *

from ..fl.multipliers.montgomery import Montgomery
from ..fl.multipliers.mul_rem import mul_rem
from ..rtl.messages import mk_product_req
from .one_at_a_time import OneAtATimeCL
from .timing import SerialMontTiming, ShiftSubTiming


def serial_cl(nbits, timing, product):
    """A unit of nbits bits that answers with `product(a, b, mod)`."""
    Product = mk_bits(nbits)

    def serve(msg, modulus):
        a, b = int(msg.a), int(msg.b)
        return Product(product(a, b, modulus)), timing.latency(a, b, modulus)

    return OneAtATimeCL(mk_product_req(nbits), Product, serve, True, nbits)


def SerialMontCL(nbits, bits_per_cycle=1):
    """The twin of MMMul and of MMRed."""
    timing = SerialMontTiming(nbits, bits_per_cycle)
    return serial_cl(nbits, timing, lambda a, b, mod: Montgomery(mod, nbits).product(a, b))


def ShiftSubCL(nbits, bits_per_cycle=1, until="count", carry_save=False, fits=None):
    """The twin of ShiftSub and of ShiftSubCarrySave."""
    timing = ShiftSubTiming(nbits, bits_per_cycle, until, carry_save, bool(fits))
    if not fits:
        return serial_cl(nbits, timing, mul_rem)
    Product = mk_bits(nbits)

    def serve(msg, modulus, nblocks):
        taken = int(msg.b) % (1 << nblocks * timing.block_nbits)
        return Product(mul_rem(int(msg.a), taken, modulus)), timing.product_cycles(nblocks)

    most_blocks = nbits // timing.block_nbits
    return OneAtATimeCL(mk_product_req(nbits), Product, serve, True, nbits, most_blocks=most_blocks)
