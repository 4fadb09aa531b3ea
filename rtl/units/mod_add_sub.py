"""ModAddSub: x + y or x - y modulo n, for x and y below n. Combinational.

Ports: x, y, n, subtract -> out. One adder, one conditional correction. Area order: two adders of n + 2 bits.
"""

from pymtl3 import *


class ModAddSub(Component):
    def construct(s, nbits):
        s.x = InPort(nbits)
        s.y = InPort(nbits)
        s.n = InPort(nbits)
        s.subtract = InPort()
        s.out = OutPort(nbits)

        wide = nbits + 2
        SIGN = nbits + 1
        s.first = Wire(wide)
        s.second = Wire(wide)

        @update
        def add():
            s.first @= zext(s.x, wide) + zext(s.y, wide)
            s.second @= s.first - zext(s.n, wide)
            if s.subtract:
                s.first @= zext(s.x, wide) - zext(s.y, wide)
                s.second @= s.first + zext(s.n, wide)

        # a sum is reduced where the difference is not negative, a difference where it is
        @update
        def correct():
            s.out @= (
                s.second[0:nbits]
                if (s.subtract & s.first[SIGN]) | (~s.subtract & ~s.second[SIGN])
                else s.first[0:nbits]
            )
