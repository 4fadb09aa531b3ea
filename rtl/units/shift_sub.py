"""ShiftSub: a * b mod n by shifting and subtracting, least significant bit of b first (paper 004, Algorithm
5).

    p = 0, c = a;  for each bit of b:  p = (p + b_i * c) mod n,  c = 2 * c mod n

where each mod is one conditional subtraction

The paper subtracts where p > m and c > m; it must be >=, or a product that is 0 modulo m comes out as m.
`bits_per_cycle` steps are chained in a cycle. `until`: "count" takes all bits of b, whatever they are
(constant time); "spent" ends with the highest 1 of b, and "noticed" a cycle later, as the paper's Verilog
does. In a ShiftSubCarrySave no carry runs across the word.

Ports: istream {a, b} -> ostream; `modulus` static while the unit is busy; a < modulus, b may be any word.
Cycles: steps + 1, or + 2 with "noticed". Area order: 3 adders of n bits a step, 3n registers.
"""

from pymtl3 import *

from ..messages import declare_product_ports
from .cond_sub import CondSub
from .serial_ctrl import SerialCtrl, connect_serial


class ShiftSubStep(Component):
    """One step of a shift-and-subtract multiplier: adds a multiple for one bit of b, reduced modulo n."""

    def construct(s, nbits):
        s.p = InPort(nbits)
        s.c = InPort(nbits)
        s.b_i = InPort()
        s.n = InPort(nbits)
        s.p_out = OutPort(nbits)
        s.c_out = OutPort(nbits)

        wide = nbits + 1
        s.sum = Wire(wide)

        @update
        def add():
            s.sum @= zext(s.p, wide) + zext(s.c, wide) if s.b_i else zext(s.p, wide)

        s.reduce_p = CondSub(nbits)
        s.reduce_p.value //= s.sum
        s.reduce_p.n //= s.n
        s.reduce_p.out //= s.p_out
        s.reduce_c = CondSub(nbits)
        s.reduce_c.value[0] //= 0
        s.reduce_c.value[1:wide] //= s.c
        s.reduce_c.n //= s.n
        s.reduce_c.out //= s.c_out


class ShiftSub(Component):
    def construct(s, nbits, bits_per_cycle=1, until="count"):
        declare_product_ports(s, nbits)

        s.b = Wire(nbits)
        s.c = Wire(nbits)
        s.p = Wire(nbits)
        s.b_n = Wire(nbits)
        s.ostream.msg //= s.p
        s.assertions = {"ProductBelowModulus": "!ostream__val || c >= modulus || ostream__msg < modulus"}

        s.steps = [ShiftSubStep(nbits) for _ in range(bits_per_cycle)]
        for i, step in enumerate(s.steps):
            step.p //= s.p if i == 0 else s.steps[i - 1].p_out
            step.c //= s.c if i == 0 else s.steps[i - 1].c_out
            step.b_i //= s.b[i]
            step.n //= s.modulus

        s.ctrl = SerialCtrl(nbits // bits_per_cycle, until)
        connect_serial(s)
        LAST_STEP = bits_per_cycle - 1

        @update
        def next_b():
            s.b_n @= s.b >> bits_per_cycle

        if until == "noticed":

            @update
            def notice():
                s.ctrl.spent @= s.b == 0

        elif until == "spent":

            @update
            def foresee():
                s.ctrl.spent_n @= s.b_n == 0

        @update_ff
        def data():
            if s.ctrl.load:
                s.b <<= s.istream.msg.b
                s.c <<= s.istream.msg.a
                s.p <<= 0
            elif s.ctrl.step:
                s.b <<= s.b_n
                s.c <<= s.steps[LAST_STEP].c_out
                s.p <<= s.steps[LAST_STEP].p_out

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.ostream}"
