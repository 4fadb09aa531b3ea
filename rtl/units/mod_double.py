"""ModDouble: x * 2^doublings mod n by doubling and conditional subtraction, with no multiplier and no
divider.

Each doubling is one shift and one CondSub; `per_cycle` of them are chained. It is how a Montgomery machine
gets its constants: R mod n or b*R mod n (doublings = nbits), or 2^k * R mod n, which k-fold squaring takes to
R^2.

Ports: istream x (below n) -> ostream; `modulus` is static while the unit is busy. With
`counted` (bits of a count) the static port `last` gives the number of cycles less one, and `doublings` is
ignored. Cycles: doublings / per_cycle, whatever the operands. Area order: per_cycle subtractors, one register
of n bits. Takes the next operand in the cycle in which its result is taken.
"""

from pymtl3 import *

from ..messages import declare_streams
from .cond_sub import CondSub
from .serial_ctrl import connect_pass


class ModDouble(Component):
    """x * 2^doublings mod n by doublings and conditional subtractions."""

    def construct(s, nbits, doublings, per_cycle, counted=0):
        declare_streams(s, mk_bits(nbits), mk_bits(nbits))
        s.modulus = InPort(nbits)

        assert counted or doublings % per_cycle == 0
        s.x = Wire(nbits)

        s.steps = [CondSub(nbits) for _ in range(per_cycle)]
        for i, step in enumerate(s.steps):
            step.value[0] //= 0
            step.value[1 : nbits + 1] //= s.x if i == 0 else s.steps[i - 1].out
            step.n //= s.modulus
        s.ostream.msg //= s.steps[per_cycle - 1].out

        connect_pass(s, 0 if counted else doublings // per_cycle, counted)

    def line_trace(s):
        return f"{s.istream}{s.ctrl.line_trace()}{s.ostream}"
