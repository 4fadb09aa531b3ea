"""CondSub: the final step of a modular operation, out = value - n if value >= n else value, for value < 2n.

Paper 001, Algorithm 4 lines 9 to 11, subtracts only when S > N and so returns N for a product that is 0
modulo N (a = p, b = q); here the borrow of value - n decides, which is right for value = n. Combinational;
one subtractor and one row of multiplexers.
"""

from pymtl3 import *


class CondSub(Component):
    """The final subtraction of a modular operation: value, or value - n if that is not negative."""

    PARAMETERS = ("nbits",)

    def construct(s, nbits):
        s.value = InPort(nbits + 1)
        s.n = InPort(nbits)
        s.out = OutPort(nbits)

        wide = nbits + 2
        BORROW = nbits + 1  # place of the top bit
        s.difference = Wire(wide)

        # countermeasure ALWAYS_SUBTRACT: the difference is always computed, and its borrow selects
        @update
        def subtract():
            s.difference @= zext(s.value, wide) - zext(s.n, wide)
            if s.difference[BORROW]:
                s.out @= s.value[0:nbits]
            else:
                s.out @= s.difference[0:nbits]
