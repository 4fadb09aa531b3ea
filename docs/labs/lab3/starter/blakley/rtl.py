"""Blakley's modular product, from the highest bit of a: p = (2 p + a_i b) mod m.

Ports: istream {a, b} -> ostream; `modulus` stays while the unit is busy.
"""

from modexlab.rtl.messages import declare_product_ports
from pymtl3 import *


class BlakleyStep(Component):
    """One bit of a. p and b are below m, so 2 p + b is below 3 m."""

    def construct(s, nbits):
        s.p, s.b, s.m = InPort(nbits), InPort(nbits), InPort(nbits)
        s.a_i = InPort()
        s.out = OutPort(nbits)
        wide = nbits + 2
        s.grown, s.once, s.twice = Wire(wide), Wire(wide), Wire(wide)

        @update
        def step():
            # STEP 3: double p, add b if a_i is 1, subtract m up to two times
            s.grown @= zext(s.p, wide)
            s.once @= s.grown
            s.twice @= s.once
            s.out @= s.twice[0:nbits]


class Blakley(Component):
    def construct(s, nbits, bits_per_cycle):
        declare_product_ports(s, nbits)
        IDLE, CALC, DONE = (b2(i) for i in range(3))
        last = nbits // bits_per_cycle - 1

        s.state = Wire(2)
        s.count = Wire(clog2(nbits) + 1)
        s.a, s.b, s.p = Wire(nbits), Wire(nbits), Wire(nbits)
        s.ostream.msg //= s.p

        s.steps = [BlakleyStep(nbits) for _ in range(bits_per_cycle)]
        for i, step in enumerate(s.steps):
            step.p //= s.p if i == 0 else s.steps[i - 1].out
            step.a_i //= s.a[nbits - 1 - i]
            step.b //= s.b
            step.m //= s.modulus

        @update
        def handshakes():
            s.istream.rdy @= (s.state == IDLE) | ((s.state == DONE) & s.ostream.rdy)
            s.ostream.val @= s.state == DONE

        @update_ff
        def control():
            if s.reset:
                s.state <<= IDLE
            elif s.istream.val & s.istream.rdy:
                s.state <<= CALC
            elif s.state == CALC:
                if s.count == last:
                    s.state <<= DONE
            elif s.ostream.rdy:
                s.state <<= IDLE

        @update_ff
        def datapath():
            if s.istream.val & s.istream.rdy:
                s.count <<= 0
                s.a <<= s.istream.msg.a
                s.b <<= s.istream.msg.b
                s.p <<= 0
            elif s.state == CALC:
                s.count <<= s.count + 1
                s.a <<= s.a << bits_per_cycle
                s.p <<= s.steps[bits_per_cycle - 1].out

    def line_trace(s):
        return f"{s.istream}({s.state}:{s.count}:{s.p}){s.ostream}"
