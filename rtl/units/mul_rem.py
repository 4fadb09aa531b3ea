"""MulRem: a * b mod n by a full product and a division (paper 001, section 3.1 and Figure 5).

A Multiplier feeds a divider of 2n by n bits; each works on its own product, so a second one may follow.
`divider`: "aligned" is the paper's (Figure 2, data-dependent), "restoring" takes `quotient_bits_per_cycle`
whatever the operands. `multiplier_bits_per_cycle` = 0 is a combinational multiplier. `gated`: whether the
aligned divider's registers can be gated. `fits` (with "restoring"): the divider takes as many quotient bits
as two numbers of `nblocks` blocks give; the multiplier is as it was.

Ports: istream {a, b} -> ostream; `modulus` is static while the unit is busy; any operands, any modulus but 0.
`fits`: `nblocks`, 1 to all blocks of the width (of `div_rem_block_nbits` bits), static as the modulus is; a *
b below 2^(2 * block * nblocks). Cycles: multiplier + divider. Area order: n^2 full adders for a combinational
product, 7n register bits.
"""

from pymtl3 import *

from ..messages import connect_handshake, declare_product_ports
from .div_rem import AlignedDivRem, DivRem, div_rem_block_nbits
from .multiplier import Multiplier


class MulRem(Component):
    def construct(
        s,
        nbits,
        divider="restoring",
        quotient_bits_per_cycle=1,
        multiplier_bits_per_cycle=0,
        gated=True,
        fits=None,
    ):
        declare_product_ports(s, nbits)

        s.multiplier = Multiplier(nbits, multiplier_bits_per_cycle)
        if divider == "aligned":
            s.divider = AlignedDivRem(2 * nbits, nbits, gated)
        else:
            s.divider = DivRem(2 * nbits, nbits, quotient_bits_per_cycle, fits)
        if fits:
            assert divider == "restoring"
            most_blocks = nbits // div_rem_block_nbits(nbits, quotient_bits_per_cycle)
            s.nblocks = InPort(clog2(most_blocks + 1))
            s.divider.nblocks //= s.nblocks

        s.istream //= s.multiplier.istream
        connect_handshake(s.multiplier.ostream, s.divider.istream)
        s.multiplier.ostream.msg //= s.divider.istream.msg.dividend
        s.divider.istream.msg.divisor //= s.modulus
        connect_handshake(s.divider.ostream, s.ostream)
        s.ostream.msg //= s.divider.ostream.msg.remainder

    def line_trace(s):
        return f"{s.istream}|{s.multiplier.line_trace()}|{s.divider.line_trace()}|{s.ostream}"
