"""ModHalve: x / 2^halvings modulo an odd n, by additions of n that make x even, and shifts (Montgomery 1985,
radix 2).

Each halving is an AddRed (paper 001, Algorithm 4) without a multiplicand; `per_cycle` of them are chained. It
is how a number leaves Montgomery form (halvings = log2 R), and how 2^-w mod n, the constant of a scaled
modulus, is made from 1.

Ports: istream x -> ostream; `modulus` (nbits) is static while the unit is busy. x may be wider than the
modulus (value_nbits): the result is x / 2^halvings + n or less, so at most n for x < 2^halvings; it is below
n for 0 < x < n. `counted`: as in ModDouble; `held` then is the register, what the steps before made. Cycles:
halvings / per_cycle, whatever the operands. Area order: per_cycle adders, one register of value_nbits. Takes
the next operand in the cycle in which its result is taken.
"""

from pymtl3 import *

from ..messages import declare_streams
from .add_red import AddRedTextbook
from .serial_ctrl import connect_pass


class ModHalve(Component):
    def construct(s, value_nbits, nbits, halvings, per_cycle, counted=None):
        declare_streams(s, mk_bits(value_nbits), mk_bits(value_nbits))
        s.modulus = InPort(nbits)

        assert counted or halvings % per_cycle == 0
        s.x = Wire(value_nbits)
        extended = value_nbits + 1
        s.first = Wire(extended)
        s.n = Wire(value_nbits)

        @update
        def extend():
            s.first @= zext(s.x, extended)
            s.n @= zext(s.modulus, value_nbits)

        s.steps = [AddRedTextbook(value_nbits) for _ in range(per_cycle)]
        for i, step in enumerate(s.steps):
            step.state //= s.first if i == 0 else s.steps[i - 1].out
            step.x_i //= 0
            step.y //= 0
            step.n //= s.n
        s.ostream.msg //= s.steps[per_cycle - 1].out[0:value_nbits]

        connect_pass(s, 0 if counted else halvings // per_cycle, counted or 0)
        if counted:
            s.held = OutPort(value_nbits)
            s.held //= s.x

    def line_trace(s):
        return f"{s.istream}{s.ctrl.line_trace()}{s.ostream}"
