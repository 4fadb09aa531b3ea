"""ModQuadruple: (4 x + d) mod n for x < n and a two-bit digit d: two doublings, or two steps of a division by
n.

4x + d < 4n, so three subtractions side by side say which multiple of n is too much. `thrice` is 3n; as long
as that is not there, all ones in its place do for 4x < 3n. Ports: x, digit, modulus, thrice -> out;
combinational. Area order: three subtractors of n + 2 bits.
"""

from pymtl3 import *


class ModQuadruple(Component):
    def construct(s, nbits):
        wide = nbits + 3
        BORROW = nbits + 2
        s.x = InPort(nbits)
        s.digit = InPort(2)
        s.modulus = InPort(nbits)
        s.thrice = InPort(nbits + 2)
        s.out = OutPort(nbits)

        s.value = Wire(wide)
        s.less_one = Wire(wide)
        s.less_two = Wire(wide)
        s.less_three = Wire(wide)

        @update
        def subtract():
            s.value @= zext(concat(s.x, s.digit), wide)
            s.less_one @= s.value - zext(s.modulus, wide)
            s.less_two @= s.value - (zext(s.modulus, wide) << 1)
            s.less_three @= s.value - zext(s.thrice, wide)

        # in parallel, as two of these units are chained in a cycle
        s.none = Wire()
        s.one = Wire()
        s.two = Wire()
        s.three = Wire()

        @update
        def choose():
            s.none @= s.less_one[BORROW]
            s.one @= s.less_two[BORROW] & ~s.less_one[BORROW]
            s.two @= s.less_three[BORROW] & ~s.less_two[BORROW]
            s.three @= ~s.less_three[BORROW]
            s.out @= (
                (s.value[0:nbits] & sext(s.none, nbits))
                | (s.less_one[0:nbits] & sext(s.one, nbits))
                | (s.less_two[0:nbits] & sext(s.two, nbits))
                | (s.less_three[0:nbits] & sext(s.three, nbits))
            )
