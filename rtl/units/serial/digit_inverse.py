"""DigitInverse: c = -n^-1 modulo 2^k for an odd n, one bit per cycle: each cycle clears the lowest 1 of c * n
+ 1.

Ports: load (n); c, k cycles later. Cycles: k. Area order: an adder of k bits, 3k register bits.
"""

from pymtl3 import *


class DigitInverse(Component):
    def construct(s, k):
        s.load = InPort()
        s.n = InPort(k)
        s.c = OutPort(k)

        s.shifted = Wire(k)  # n * 2^i
        s.rest = Wire(k)  # c * n + 1
        s.place = Wire(k)  # 2^i
        s.take = Wire()

        @update
        def takes():
            s.take @= (s.rest & s.place) != 0

        @update_ff
        def lift():
            if s.load:
                s.shifted <<= s.n
                s.rest <<= 1
                s.place <<= 1
                s.c <<= 0
            else:
                s.shifted <<= s.shifted << 1
                s.place <<= s.place << 1
                if s.take:
                    s.rest <<= s.rest + s.shifted
                    s.c <<= s.c | s.place
