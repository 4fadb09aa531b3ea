"""QuotientUnit: u_i = (a_0 + x_i * y_0) * m' modulo a word (paper 002, Figure 5, its "CU"): two multipliers.

x_i * y_0 is registered, a cycle before a_0 is there (`take`); the rest is combinational. Area order: a k x k
multiplier of which the low word counts, two of them, k registers.
"""

from pymtl3 import *


class QuotientUnit(Component):
    def construct(s, k):
        s.take = InPort()
        s.x = InPort(k)
        s.y_0 = InPort(k)
        s.a_0 = InPort(k)
        s.n_prime = InPort(k)  # m' = -m^-1 modulo 2^k
        s.u = OutPort(k)

        s.xy = Wire(k)

        @update_ff
        def first_product():
            if s.take:
                s.xy <<= s.x * s.y_0

        @update
        def second_product():
            s.u @= (s.xy + s.a_0) * s.n_prime
