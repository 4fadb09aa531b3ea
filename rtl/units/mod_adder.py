"""ModAdder: (A + B) mod m for the two rows of a compression tree (paper 000, equation 5 and Figure 6).

A + B and, as far as the rows can make them necessary (fl/mod_sum.py), A + B - m, - 2m, - 3m are computed in
parallel; the carries out select the last one that is not negative. Each subtraction is a row of half adders
that adds the constant 2^(n+1) - jm, and a PrefixAdder. If the two largest rows sum to a multiple of m, a
detector replaces the last subtraction.

Equation 6 of the paper selects A + B - m where nothing has to be subtracted (it has D + not(C and B) for D +
B and not C).

Ports: a, b -> out, a residue; combinational. Area order: up to four adders of n + 1 bits, and a multiplexer.
"""

from pymtl3 import *

from ...fl.mod_sum import ModSum
from .prefix_adder import PrefixAdder


class ModAdder(Component):
    def construct(s, m, nbits, most_a, most_b, adder):
        mod_sum = ModSum(m, nbits, most_a, most_b)
        out_nbits = (m - 1).bit_length()
        s.a = InPort(nbits)
        s.b = InPort(nbits)
        s.out = OutPort(out_nbits)

        s.adder = PrefixAdder(nbits, adder)
        s.adder.x //= s.a
        s.adder.y //= s.b
        s.total = Wire(nbits + 1)
        s.total[0:nbits] //= s.adder.sum
        s.total[nbits] //= s.adder.carry_out

        nmultiples = len(mod_sum.multiples)
        s.is_zero = Wire()
        if mod_sum.zero_at is None:
            s.is_zero //= 0
        else:
            MOST_A = mk_bits(nbits)(most_a)
            MOST_B = mk_bits(nbits)(most_b)

            @update
            def detect_largest():
                s.is_zero @= (s.a == MOST_A) & (s.b == MOST_B)

        s.chosen = Wire(out_nbits)
        if nmultiples == 0:
            s.chosen //= s.total[0:out_nbits]
        else:
            s.minus = [SumMinus(nbits, multiple, adder) for multiple in mod_sum.multiples]
            for minus in s.minus:
                minus.a //= s.a
                minus.b //= s.b

            @update
            def choose():
                s.chosen @= s.total[0:out_nbits]
                for i in range(nmultiples):
                    if s.minus[i].fits:
                        s.chosen @= s.minus[i].difference[0:out_nbits]

        @update
        def answer():
            s.out @= s.chosen
            if s.is_zero:
                s.out @= 0


class SumMinus(Component):
    """a + b - multiple, with a carry out of 1 if it is not negative."""

    PARAMETERS = ("nbits",)

    def construct(s, nbits, multiple, adder):
        wide = nbits + 1
        s.a = InPort(nbits)
        s.b = InPort(nbits)
        s.difference = OutPort(wide)
        s.fits = OutPort()
        s.partial = Wire(wide)
        s.carry = Wire(wide)
        CONSTANT = mk_bits(wide)((1 << wide) - multiple)

        @update
        def add_constant():
            s.partial @= zext(s.a ^ s.b, wide) ^ CONSTANT
            s.carry @= (zext(s.a & s.b, wide) | (zext(s.a | s.b, wide) & CONSTANT)) << 1

        s.adder = PrefixAdder(wide, adder)
        s.adder.x //= s.partial
        s.adder.y //= s.carry
        s.difference //= s.adder.sum
        s.fits //= s.adder.carry_out
