"""ShieldedMemory: a ResidueMemory in which a word that is not read moves nothing behind it.

The words of a plain one stand before a multiplexer, which moves by what all of them hold whenever another address is read: a number of the
key that lies there shows on a netlist, though nobody asks for it (`modexlab leak --netlist`). Here each word has a gate of its own, which
its address opens, and what is chosen is the OR of all. On an FPGA that is flip-flops, and no block RAM.

Ports: read_at -> data, in the next cycle; write, write_at, in_data. What is read in the cycle in which it is written is the old word.
Area order: depth * nbits flip-flops with a gate each, and a register of nbits bits behind the port.
"""

from pymtl3 import *


class ShieldedMemory(Component):
    def construct(s, depth, nbits):
        at = mk_bits(max(1, clog2(depth)))
        s.read_at = InPort(at)
        s.data = OutPort(nbits)
        s.write = InPort()
        s.write_at = InPort(at)
        s.in_data = InPort(nbits)

        s.words = [Wire(nbits) for _ in range(depth)]
        s.opened = [Wire() for _ in range(depth)]
        s.gated = [Wire(nbits) for _ in range(depth)]
        s.chosen = [Wire(nbits) for _ in range(depth + 1)]  # the OR of those before

        @update
        def choose():
            s.chosen[0] @= 0
            for i in range(depth):
                s.opened[i] @= s.read_at == i
                s.gated[i] @= s.words[i] & sext(s.opened[i], nbits)
                s.chosen[i + 1] @= s.chosen[i] | s.gated[i]

        @update_ff
        def ports():
            s.data <<= s.chosen[depth]
            if s.write:
                s.words[s.write_at] <<= s.in_data
