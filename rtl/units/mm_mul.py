"""MMMul: Montgomery's product, one bit of b after another (paper 004, Algorithm 3).

b_i * a is added to the sum, which is then halved, with the modulus added where it is odd: the steps are
AddReds (add_red.py). A last cycle subtracts the modulus where the sum reaches it (the paper has p >= m here,
which is right). Without `subtracts` there is no such cycle, but one step more, for a b of nbits + 1 bits
whose top bit is 0 (paper 000, Algorithm 2 and Figure 7): R = 2^(nbits + 1), the modulus is below 2^(nbits -
1), factors and product are below twice the modulus.

Ports: istream {a, b} -> ostream a * b / 2^nbits mod n; `modulus` odd, static while the unit is busy; a <
modulus, b any word. Cycles: nbits / bits_per_cycle + 2, whatever the operands; nbits + 2 without subtraction
(a bit a cycle). Area order: 2 * bits_per_cycle adders of n bits, 3n registers.
"""

from pymtl3 import *

from ..messages import declare_product_ports
from .add_red import AddRedTextbook
from .cond_sub import CondSub
from .serial_ctrl import SerialCtrl, connect_serial


class MMMul(Component):
    """Montgomery's product, bits_per_cycle bits of b at a time (paper 004, Algorithm 3)."""

    def construct(s, nbits, bits_per_cycle=1, subtracts=True):
        declare_product_ports(s, nbits)

        s.a = Wire(nbits)
        s.b = Wire(nbits)
        s.sum = Wire(nbits + 1)
        s.ostream.msg //= s.sum[0:nbits]

        s.steps = [AddRedTextbook(nbits) for _ in range(bits_per_cycle)]
        for i, step in enumerate(s.steps):
            step.state //= s.sum if i == 0 else s.steps[i - 1].out
            step.x_i //= s.b[i]
            step.y //= s.a
            step.n //= s.modulus

        nsteps = nbits if subtracts else nbits + 1
        assert nsteps % bits_per_cycle == 0
        s.ctrl = SerialCtrl(nsteps // bits_per_cycle, has_last=subtracts)
        connect_serial(s)
        LAST_STEP = bits_per_cycle - 1
        after_sum = nbits + 1

        @update_ff
        def factors():
            if s.ctrl.load:
                s.a <<= s.istream.msg.a
                s.b <<= s.istream.msg.b
            elif s.ctrl.step:
                s.b <<= s.b >> bits_per_cycle

        s.last = Wire()
        s.reduced = Wire(nbits)
        if subtracts:
            s.reduction = CondSub(nbits)
            s.reduction.value //= s.sum
            s.reduction.n //= s.modulus
            s.reduction.out //= s.reduced
            s.last //= s.ctrl.last
            s.assertions = {"ProductBelowModulus": "!ostream__val || a >= modulus || ostream__msg < modulus"}
        else:
            s.last //= 0

        @update_ff
        def sums():
            if s.ctrl.load:
                s.sum <<= 0
            elif s.ctrl.step:
                s.sum <<= s.steps[LAST_STEP].out
            elif s.last:
                s.sum <<= zext(s.reduced, after_sum)

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.ostream}"
