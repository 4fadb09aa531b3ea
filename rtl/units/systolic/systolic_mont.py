"""SystolicMont: a systolic array with operand registers, as a unit of its own (paper 002, Figure 1 with
Algorithm 4).

Words of the product are registered over those of b, where they arrive.

Ports: istream {a, b} -> ostream a * b / 2^(k*s) modulo n, all below 2n; `modulus` (odd, of up to k*s - 2
bits) and `n_prime` (-n^-1 modulo 2^k), static while the unit is busy. Cycles: 4s + 1, whatever the operands;
the next ones are taken in the cycle in which a product leaves. (A SystolicModExp, which takes the words as
they arrive, starts a product every 3s + 2 cycles.) Area order: the array and 2 k s register bits. `array`: or
a ScaledArray, whose modulus is M', without n_prime.
"""

from pymtl3 import *

from ...messages import answer_stays, declare_product_ports
from ...states import states
from .systolic_array import SystolicArray


class SystolicMont(Component):
    def construct(s, shape, array=SystolicArray):
        k, nwords, wide = shape.digit_nbits, shape.nwords, shape.wide
        declare_product_ports(s, wide)

        s.array = array(k, nwords)
        s.a = [Wire(k) for _ in range(nwords)]
        s.b = [Wire(k) for _ in range(nwords)]
        if array is SystolicArray:
            s.n_prime = InPort(k)
            s.array.n_prime //= s.n_prime
        s.in_a = Wire(wide)
        s.in_b = Wire(wide)
        s.in_a //= s.istream.msg.a
        s.in_b //= s.istream.msg.b
        for j in range(nwords):
            s.array.m[j] //= s.modulus[j * k : j * k + k]
            s.array.y[j] //= s.b[j]
            s.ostream.msg[j * k : j * k + k] //= s.b[j]

        s.add_controller(array, nwords)
        s.add_registers(k, nwords)
        answer_stays(s)

    def add_controller(s, array, nwords):
        """The states, the handshakes, and the start of the array."""
        LAST_WORD = nwords - 1
        s.st = Wire(2)
        IDLE, RUN, DRAIN, DONE = states(s.st, IDLE=0, RUN=1, DRAIN=2, DONE=3)
        s.load = Wire()

        @update
        def handshakes():
            s.istream.rdy @= (s.st == IDLE) | ((s.st == DONE) & s.ostream.rdy)
            s.load @= s.istream.rdy & s.istream.val
            s.array.x @= s.a[s.array.index]

        if array is SystolicArray:

            @update
            def starts():
                s.array.start @= s.st == RUN

        else:  # the other one would start again

            @update
            def starts_once():
                s.array.start @= (s.st == RUN) & ~s.array.returns

        @update
        def offers():
            s.ostream.val @= s.st == DONE

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.load:
                s.st <<= RUN
            elif ((s.st == RUN) & s.array.returns & s.array.done[LAST_WORD]) | (
                (s.st == DRAIN) & s.array.done[LAST_WORD]
            ):
                s.st <<= DONE
            elif (s.st == RUN) & s.array.returns:
                s.st <<= DRAIN
            elif (s.st == DONE) & s.ostream.rdy:
                s.st <<= IDLE

    def add_registers(s, k, nwords):
        """The words of the operands; those of the product replace b as they arrive."""

        @update_ff
        def words():
            for j in range(nwords):
                if s.load:
                    s.a[j] <<= s.in_a[j * k : j * k + k]
                    s.b[j] <<= s.in_b[j * k : j * k + k]
                elif s.array.done[j]:
                    s.b[j] <<= s.array.result[j]

    def line_trace(s):
        return f"{s.istream}|{s.array.line_trace()}|{s.ostream}"
