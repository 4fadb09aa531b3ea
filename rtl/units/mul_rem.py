"""MulRem: a * b mod n by a full product and a division (paper 001, section 3.1 and Figure 5).

A Multiplier feeds a divider of 2n by n bits; each works on its own product, so a second one may follow.
`divider`: "aligned" is the paper's (Figure 2, data-dependent), "restoring" takes `quotient_bits_per_cycle`
whatever the operands. `multiplier_bits_per_cycle` = 0 is a combinational multiplier. `gated`: whether the
aligned divider's registers can be gated.

Ports: istream {a, b} -> ostream; `modulus` is static while the unit is busy; any operands, any modulus but 0.
Cycles: multiplier + divider. Area order: n^2 full adders for a combinational product, 7n register bits.
"""

from pymtl3 import *

from ..messages import connect_handshake, declare_product_ports
from .div_rem import AlignedDivRem, DivRem
from .multiplier import Multiplier


class MulRem(Component):
    def construct(
        s, nbits, divider="restoring", quotient_bits_per_cycle=1, multiplier_bits_per_cycle=0, gated=True
    ):
        declare_product_ports(s, nbits)

        s.multiplier = Multiplier(nbits, multiplier_bits_per_cycle)
        if divider == "aligned":
            s.divider = AlignedDivRem(2 * nbits, nbits, gated)
        else:
            s.divider = DivRem(2 * nbits, nbits, quotient_bits_per_cycle)

        s.istream //= s.multiplier.istream
        connect_handshake(s.multiplier.ostream, s.divider.istream)
        s.multiplier.ostream.msg //= s.divider.istream.msg.dividend
        s.divider.istream.msg.divisor //= s.modulus
        connect_handshake(s.divider.ostream, s.ostream)
        s.ostream.msg //= s.divider.ostream.msg.remainder

    def line_trace(s):
        return f"{s.istream}|{s.multiplier.line_trace()}|{s.divider.line_trace()}|{s.ostream}"
