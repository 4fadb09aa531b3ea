"""MMRed: Montgomery's product by a full product and a bit-serial reduction (paper 004, Algorithm 1).

One combinational n x n product (the paper's "big multiplier"), then n times: add the modulus if the value is
odd, halve. A last cycle subtracts the modulus where the value reaches it.

Ports: istream {a, b} -> ostream a * b / 2^nbits mod n; `modulus` odd, static while the unit is busy; a * b <
modulus * 2^nbits. Cycles: nbits / bits_per_cycle + 2, whatever the operands. Area order: n^2 full adders, 2n
* bits_per_cycle, 2n registers.
"""

from pymtl3 import *

from ..messages import declare_product_ports
from .cond_sub import CondSub
from .serial_ctrl import SerialCtrl, connect_serial


class Halve(Component):
    """out = value / 2, or (value + n) / 2 where value is odd; value < 2^nbits * n."""

    def construct(s, nbits):
        double = 2 * nbits
        wide = double + 1
        s.value = InPort(double)
        s.n = InPort(nbits)
        s.out = OutPort(double)
        s.even = Wire(wide)

        @update
        def make_even():
            s.even @= zext(s.value, wide) + zext(s.n, wide) if s.value[0] else zext(s.value, wide)

        s.out //= s.even[1:wide]


class MMRed(Component):
    def construct(s, nbits, bits_per_cycle=1):
        declare_product_ports(s, nbits)

        double = 2 * nbits
        s.value = Wire(double)  # the product, halved again and again; below 2n in the end
        s.ostream.msg //= s.value[0:nbits]

        s.steps = [Halve(nbits) for _ in range(bits_per_cycle)]
        for i, step in enumerate(s.steps):
            step.value //= s.value if i == 0 else s.steps[i - 1].out
            step.n //= s.modulus
        s.reduction = CondSub(nbits)
        s.reduction.value //= s.value[0 : nbits + 1]
        s.reduction.n //= s.modulus

        s.ctrl = SerialCtrl(nbits // bits_per_cycle, has_last=True)
        connect_serial(s)
        LAST_STEP = bits_per_cycle - 1

        @update_ff
        def data():
            if s.ctrl.load:
                s.value <<= zext(s.istream.msg.a, double) * zext(s.istream.msg.b, double)
            elif s.ctrl.step:
                s.value <<= s.steps[LAST_STEP].out
            elif s.ctrl.last:
                s.value <<= zext(s.reduction.out, double)

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.ostream}"
