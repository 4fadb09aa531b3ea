"""BlockCount: the number of `block_nbits`-bit blocks up to the highest 1 of a word; 1 for the word 0.

A MontMulRem made with `fits` has its width at run time: its static port `nblocks` is the number of blocks
that the modulus fills.

Ports: value -> nblocks; combinational. An OR for each block, then a tree of choices between halves
(`HighestOne`). Area order: nbits gates and a multiplexer of clog2(number of blocks) bits for each block; the
delay grows with log nbits.
"""

from pymtl3 import *

from ..wires import connect_low


class BlockCount(Component):
    UNREAD = (("value", "there is one block, whatever is in it"),)

    def construct(s, nbits, block_nbits):
        nblocks = -(-nbits // block_nbits)
        out_nbits = clog2(nblocks + 1)
        s.value = InPort(nbits)
        s.nblocks = OutPort(out_nbits)

        if nblocks == 1:
            s.nblocks //= 1
        else:
            # the highest block may be shorter, and blocks fill up to a power of two
            s.padded = Wire(nblocks * block_nbits)
            connect_low(s.padded, s.value)
            s.filled = Wire(nblocks)
            s.highest = HighestOne(1 << clog2(nblocks))
            connect_low(s.highest.value, s.filled)

            @update
            def fill():
                for i in range(nblocks):
                    s.filled[i] @= s.padded[i * block_nbits : i * block_nbits + block_nbits] != 0

            @update
            def count():
                s.nblocks @= zext(s.highest.index, out_nbits) + 1


class HighestOne(Component):
    """The index of the highest one in a word of a power of two bits, 0 where there is none: of its upper
    half, if a one is there.
    """

    def construct(s, nbits):
        s.value = InPort(nbits)
        s.index = OutPort(clog2(nbits))

        if nbits == 2:
            s.index //= s.value[1]
        else:
            half = nbits // 2
            # by way of wires: a block cannot be translated that reads a port of a component of its own class
            s.in_low = Wire(clog2(half))
            s.in_high = Wire(clog2(half))
            s.low = HighestOne(half)
            s.low.value //= s.value[0:half]
            s.low.index //= s.in_low
            s.high = HighestOne(half)
            s.high.value //= s.value[half:nbits]
            s.high.index //= s.in_high

            @update
            def choose():
                s.index @= concat(b1(0), s.in_low)
                if s.value[half:nbits] != 0:
                    s.index @= concat(b1(1), s.in_high)
