"""DigitMemory: the digits of a number; one write per cycle, and a combinational read.

An FPGA tool makes it distributed RAM, an ASIC flow registers. Ports: write, write_index, write_digit; index
-> digit. Area order: ndigits * nbits of memory.
"""

from pymtl3 import *


class DigitMemory(Component):
    def construct(s, ndigits, nbits):
        s.write = InPort()
        s.write_index = InPort(clog2(ndigits))
        s.write_digit = InPort(nbits)
        s.index = InPort(clog2(ndigits))
        s.digit = OutPort(nbits)

        s.digits = [Wire(nbits) for _ in range(ndigits)]

        @update
        def reads():
            s.digit @= s.digits[s.index]

        @update_ff
        def writes():
            if s.write:
                s.digits[s.write_index] <<= s.write_digit
