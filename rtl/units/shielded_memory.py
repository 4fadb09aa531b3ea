"""ShieldedMemory: a ResidueMemory whose idle words cause no switching: reads and writes toggle only the
addressed word.

The words of a plain one stand before a multiplexer, which moves by what all of them hold whenever another
address is read: a number of the key that lies there shows on a netlist, though nobody asks for it (`modexlab
leak --netlist`). Here each word has a gate of its own, and what is chosen is the OR of all. Flip-flops open
the gates, to read and to write, and not the addresses themselves: these change bit by bit, and would open
others for a moment. While nothing is read, all are shut. On an FPGA that is flip-flops, and no block RAM.

Ports: read, read_at -> data, in the next cycle (0 if nothing was read); write, write_at, in_data. What is
read in the cycle in which it is written is the old word. Area order: depth * nbits flip-flops with a gate
each, two flip-flops for each word, and a register of nbits bits behind the port that writes. Data comes out
of the words' flip-flops by a gate and an OR of depth words.
"""

from pymtl3 import *

from .residue_memory import declare_memory


class ShieldedMemory(Component):
    def construct(s, depth, nbits):
        s.read = InPort()
        declare_memory(s, depth, nbits)
        s.opened = [Wire() for _ in range(depth)]  # one per word: it is read
        s.taking = [Wire() for _ in range(depth)]  # one per word: it is written at the end of the cycle
        s.arrived = Wire(nbits)  # the word to be written

        opened, taking = (
            f"{{{', '.join(f'{name}[{i}]' for i in reversed(range(depth)))}}}"
            for name in ("opened", "taking")
        )
        if depth > 1:
            s.assertions = {
                "OneWordIsRead": f"({opened} & ({opened} - 1)) == 0",
                "OneWordIsWritten": f"({taking} & ({taking} - 1)) == 0",
            }

        @update
        def choose():
            s.data @= 0
            for i in range(depth):
                s.data @= s.data | (s.words[i] & sext(s.opened[i], nbits))

        @update_ff
        def ports():
            if s.write:
                s.arrived <<= s.in_data
            for i in range(depth):
                s.opened[i] <<= s.read & (s.read_at == i)
                s.taking[i] <<= s.write & (s.write_at == i)
                if s.taking[i]:
                    s.words[i] <<= s.arrived
